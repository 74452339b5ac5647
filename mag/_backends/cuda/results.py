"""What is returned for arrays that live on a device: the same results, computed and kept there.

Nothing is waited for, checked or copied before a result is looked at, and then no more than what is looked at: data
stay on the device, and tables are worked on in batches.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np

from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.launch import Device
from mag._backends.cuda.per_stream import kept
from mag._backends.cuda.rows import Row
from mag._backends.cuda.transfer import copy_to_device
from mag._backends.protocol import ToCaller
from mag._lib.checks import finite
from mag._lib.lazy import cached_property
from mag.costs import Cost
from mag.results import ColumnGroupings, Grouping, RecordGrouping

Result = TypeVar("Result", Grouping, ColumnGroupings, RecordGrouping)
Value = TypeVar("Value")


@dataclass(frozen=True)
class OriginByDevice:
    """The origin of an array of NumPy: by way of the device that CuPy works on when it is looked at."""

    origin: ToCaller

    def __call__(self, array: np.ndarray) -> Any:
        from mag._backends import cuda  # which imports this file

        return self.origin(cuda.current().xp.asarray(array))


class _OnDevice:
    """A property of a result, computed while its device is the current one, and kept for the stream that reads it.

    The stream of the call waits for the reading one, before it uses memory again.
    """

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = f"{name} of streams"

    def __get__(self, result: Any, owner: type | None = None) -> Any:
        if result is None:
            return self
        with result._device.active():
            value = kept(vars(result), self._key, result._streams(), lambda: self._compute(result))
            result._hold()
        return value


def on_device(compute: Callable[[Any], Value]) -> "cached_property[Value]":
    """A property of a result on a device: see `_OnDevice`."""
    return cast("cached_property[Value]", _OnDevice(compute))


def restore(kind: type[Result], state: dict[str, Any]) -> Result:
    """A result without data or device, from what a pickle or copy holds."""
    result = kind.__new__(kind)
    result.__setstate__(state)
    return result


def _there(columns: ColumnBatch | Row, function: Callable[..., Value]) -> Value:
    """What a function makes of columns, while their device is the current one."""
    with columns.device.active():
        return function(columns)


class DeviceGrouping(Grouping):
    """A `Grouping` of values on a device."""

    _origin: ToCaller
    _columns: ColumnBatch | Row
    _place: Device
    _device_x: Any

    def __init__(
        self, columns: ColumnBatch | Row, *, x: Any, dtype: np.dtype, origin: ToCaller, place: Device | None = None
    ) -> None:
        """`place` is where x is, if not where the columns are."""
        self.k, self.k_guaranteed, self._place = columns.problem.k, True, place or columns.device
        self._columns, self._device_x, self._dtype, self._weights = columns, x, dtype, None
        self._cost, self._name, self._origin = columns.problem.cost, columns.problem.cost.name, origin

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (Grouping, self.__getstate__() | {"_origin": OriginByDevice(self._origin)})

    @on_device
    def _final(self) -> ColumnBatch | Row:
        if not self._columns.finish():
            finite("x", self._device_x)
        return self._columns

    @property
    def _n_records(self) -> int:
        return self._device_x.shape[0]

    @property
    def _device(self) -> Device:
        return self._columns.device

    def _hold(self) -> None:
        _there(self._columns, ColumnBatch.defer_reuse if isinstance(self._columns, ColumnBatch) else Row.defer_reuse)

    def _host(self, array: Any) -> np.ndarray:
        return self._device.host(array)

    def _streams(self) -> Any:
        with self._place.active():
            return self._place.stream()

    def _to_caller(self, array: Any) -> Any:
        array = copy_to_device(self._place, self._device, array)
        with self._place.active():
            return self._origin(array)

    @on_device
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self._final.n_groups[0])

    @on_device
    def _labels(self) -> np.ndarray:
        return self._host(self._final.labels[0])

    @on_device
    def _sizes(self) -> np.ndarray:
        return self._host(self._final.counts[0, : self.n_groups]).astype(np.int64)

    @on_device
    def _representatives(self) -> np.ndarray:
        return self._host(self._final.representatives[0, : self.n_groups])

    @on_device
    def labels(self) -> Any:
        """The group of every record."""
        return self._to_caller(self._final.own(self._final.labels[0]))

    @on_device
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._to_caller(self._final.counts[0, : self.n_groups].astype(np.int64))

    @on_device
    def small_groups(self) -> Any:
        """The groups that have fewer than k records: none."""
        return self._to_caller(self._final.device.empty(0, dtype=np.int64))

    @on_device
    def cost(self) -> float | int:
        """What the grouping loses, from the data themselves."""
        total = self._final.cost[0]
        return int(total) if self._cost.integer else float(total)

    @on_device
    def representatives(self) -> Any:
        """What the records of each group are replaced by."""
        return self._to_caller(self._final.representatives[0, : self.n_groups])

    @on_device
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._to_caller(self._row.masked[0])

    @on_device
    def information_loss(self) -> float:
        """SSE / SST."""
        return float(self._row.shares[0])

    @property
    def _row(self) -> Row:
        return self._final if isinstance(self._final, Row) else Row(self._final, 0)


class DeviceColumnGroupings(ColumnGroupings):
    """The `ColumnGroupings` of a table on a device; `parts` are pairs of Columns and which of the table's they are."""

    _origin: ToCaller
    _parts: list[tuple[ColumnBatch, np.ndarray]]
    _device: Device
    _device_x: Any

    def __init__(
        self,
        parts: list[tuple[ColumnBatch, np.ndarray]],
        k: int | tuple[int, ...],
        *,
        x: Any,
        dtype: np.dtype,
        costs: list[Cost],
        origin: ToCaller,
        device: Device,
    ) -> None:
        """`device` is where x is; parts may be on others."""
        self.k, self.k_guaranteed, self._weights, self._device = k, True, None, device
        self._parts, self._device_x, self._dtype = parts, x, dtype
        self._costs, self._names, self._origin = costs, [cost.name for cost in costs], origin

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (ColumnGroupings, self.__getstate__() | {"_origin": OriginByDevice(self._origin)})

    @on_device
    def _final(self) -> list[tuple[ColumnBatch, np.ndarray]]:
        if not all(_there(columns, ColumnBatch.finish) for columns, _ in self._parts):
            finite("X", self._device_x)
        return self._parts

    def _gathered(self, per_part: Any, *shape: int, dtype: Any) -> Any:
        """A row per column of the table, on the device, from what each part gives; 0 where that is short."""
        device = self._device
        whole = device.xp.zeros((sum(which.size for _, which in self._final), *shape), dtype)
        for columns, which in self._final:
            rows = copy_to_device(device, columns.device, _there(columns, per_part))
            rows = rows[:, : shape[0]] if shape else rows
            whole[(device.xp.asarray(which), *(slice(0, size) for size in rows.shape[1:]))] = rows
        return whole

    def _hold(self) -> None:
        for columns, _ in self._parts:
            _there(columns, ColumnBatch.defer_reuse)

    def _host(self, array: Any) -> np.ndarray:
        return self._device.host(array)

    def _streams(self) -> Any:
        return self._device.stream()

    def _to_caller(self, array: Any) -> Any:
        return self._origin(array)

    def __len__(self) -> int:
        return self._device_x.shape[1]

    def __getitem__(self, j: int) -> Grouping:
        j = range(len(self))[j]
        for columns, which in self._parts:
            rows = np.flatnonzero(which == j)
            if rows.size:
                found, x = Row(columns, int(rows[0])), self._device_x[:, j]
        return DeviceGrouping(found, x=x, dtype=self._dtype, origin=self._origin, place=self._device)

    @property
    def _n_records(self) -> int:
        return self._device_x.shape[0]

    @on_device
    def _device_labels(self) -> Any:
        return self._gathered(lambda columns: columns.labels, self._device_x.shape[0], dtype=np.int32)

    @on_device
    def _labels(self) -> np.ndarray:
        return self._host(self._device_labels)

    @on_device
    def _n_groups(self) -> np.ndarray:
        return self._host(self._gathered(lambda columns: columns.n_groups, dtype=np.int64))

    @on_device
    def _sizes(self) -> np.ndarray:
        return self._host(self._device_sizes)

    @on_device
    def _representatives(self) -> np.ndarray:
        return self._host(self._device_representatives)

    @on_device
    def _losses(self) -> np.ndarray:
        return self._host(self._device_cost)

    @on_device
    def _shares(self) -> np.ndarray:
        return self._host(self._device_shares)

    @property
    def _most(self) -> int:
        return int(self._n_groups.max())

    @on_device
    def labels(self) -> Any:
        """The group of every record in every column."""
        return self._to_caller(self._device_labels.T)

    @on_device
    def n_groups(self) -> Any:
        """The number of groups of each column."""
        return self._to_caller(self._gathered(lambda columns: columns.n_groups, dtype=np.int64))

    @property
    def _device_sizes(self) -> Any:
        return self._gathered(lambda columns: columns.sizes, self._most, dtype=np.int64)

    @on_device
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._to_caller(self._device_sizes.T)

    @on_device
    def cost(self) -> Any:
        """What each column loses, from the data themselves."""
        return self._to_caller(self._device_cost)

    @property
    def _device_cost(self) -> Any:
        whole = all(_there(columns, lambda one: one.cost.dtype) == np.int64 for columns, _ in self._final)
        dtype = np.int64 if whole else np.float64
        return self._gathered(lambda columns: columns.device.xp.asarray(columns.cost.astype(dtype)), dtype=dtype)

    @property
    def _device_representatives(self) -> Any:
        return self._gathered(lambda columns: columns.representatives, self._most, dtype=self._type)

    @on_device
    def representatives(self) -> Any:
        """What the records of each group are replaced by."""
        return self._to_caller(self._device_representatives.T)

    @property
    def _device_shares(self) -> Any:
        return self._gathered(lambda columns: columns.shares, dtype=np.float64)

    @on_device
    def information_loss(self) -> Any:
        """SSE / SST of each column."""
        return self._to_caller(self._device_shares)

    @property
    def _type(self) -> np.dtype:
        return np.result_type(*(columns.published for columns, _ in self._parts))

    @on_device
    def masked(self) -> Any:
        """The data with each value replaced."""
        xp, whole = self._device.xp, self._device.empty(len(self), self._n_records, dtype=self._type)
        for columns, which in self._final:
            for rows in columns.batches():
                masked = _there(columns, lambda one, rows=rows: one.masked_rows(rows))
                whole[xp.asarray(which[rows])] = copy_to_device(self._device, columns.device, masked)
        return self._to_caller(whole.T)
