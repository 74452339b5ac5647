"""Facts about groups whose data are on a device, computed and kept there: see `mag.results.GroupingFacts`.

Each fact is waited for, checked and copied when it is first read, and no other fact with it: data stay on the device,
and tables are processed in batches.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mag._backends.cpu.facts import store, store_table
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.launch import Device
from mag._backends.cuda.per_stream import kept, per_stream
from mag._backends.cuda.transfer import copy_to_device
from mag._backends.protocol import ToCaller
from mag._lib.checks import finite
from mag._lib.interrupt import surely
from mag.results import GroupingFacts, TableFacts

Value = TypeVar("Value")


@dataclass(frozen=True)
class OriginByDevice:
    """The way origin of an array of NumPy: by way of the device that CuPy works on when it is looked at."""

    origin: ToCaller

    def __call__(self, array: np.ndarray) -> Any:
        from mag._backends import cuda  # which imports this file

        return self.origin(cuda.current().xp.asarray(array))


class DeviceFacts:
    """Arrays of `device`; `origin` makes arrays of the caller's library, on `place`, where the data are."""

    device: Device
    place: Device
    origin: ToCaller

    def read(self, key: str, compute: Callable[[], Value]) -> Value:
        """The result of `compute`, called while the device of the facts is current, and kept for the reading stream."""
        with self.place.active():
            stream = self.place.stream()
        with self._reading():
            value: Value = kept(vars(self), key, stream, compute)
        return value

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """While the current stream reads: the stream of the call waits for it, before it uses memory again.

        Work that the reading stream has queued before an error or Ctrl-C still reads and writes that memory.
        """
        with self.device.active():
            try:
                yield
            finally:
                surely(self.defer_reuse)

    def defer_reuse(self) -> None:
        """Let the stream of the call wait for the current one."""
        raise NotImplementedError

    def to_caller(self, array: Any) -> Any:
        """An array of the caller's library, on the device of the data."""
        array = copy_to_device(self.place, self.device, self.device.xp.asarray(array))
        with self.place.active():
            return self.origin(array)

    def host(self, array: Any) -> np.ndarray:
        """A copy for NumPy."""
        return self.device.host(array)

    def stored(self: Any) -> GroupingFacts:
        """The same facts without the data, which the copies to the host wait for."""
        with self._reading():
            return store(self, OriginByDevice(self.origin))


class DeviceColumnFacts(DeviceFacts):
    """Of one of the columns that were grouped together; `place` is where x is, if not where the columns are."""

    def __init__(
        self, columns: ColumnBatch, row: int, *, x: Any, origin: ToCaller, place: Device | None = None
    ) -> None:
        self.columns, self.row, self.x = columns, row, x
        self.device, self.place, self.origin = columns.device, place or columns.device, origin

    def defer_reuse(self) -> None:
        """Let the stream of the call wait for the current one."""
        self.columns.defer_reuse()

    @property
    def _final(self) -> ColumnBatch:
        if not self.columns.finish():
            finite("x", self.x)
        return self.columns

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data."""
        return self.x.shape

    @per_stream
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self._final.n_groups[self.row])

    @property
    def labels(self) -> Any:
        """The group of every record."""
        return self._final.own(self._final.labels[self.row])

    @property
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._final.counts[self.row, : self.n_groups].astype(np.int64)

    @property
    def representatives(self) -> Any:
        """The value that replaces each group."""
        return self._final.representatives[self.row, : self.n_groups]

    @property
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._final.masked_rows(slice(self.row, self.row + 1))[0]

    @property
    def cost(self) -> float | int:
        """The cost of the grouping, recomputed from the data."""
        total = self._final.cost[self.row]
        return int(total) if self.columns.problem.cost.integer else float(total)

    @property
    def information_loss(self) -> float:
        """SSE / SST."""
        return float(self._final.shares[self.row])


class DeviceTableFacts(DeviceFacts):
    """Of a table on a device; `parts` are batches, which may be elsewhere, and their columns' numbers in the table."""

    def __init__(
        self, parts: list[tuple[ColumnBatch, np.ndarray]], *, x: Any, origin: ToCaller, device: Device
    ) -> None:
        self.parts, self.x = parts, x
        self.device = self.place = device
        self.origin = origin

    def defer_reuse(self) -> None:
        """Let the streams of the call wait for the current ones."""
        for columns, _ in self.parts:
            _there(columns, ColumnBatch.defer_reuse)

    @property
    def _final(self) -> list[tuple[ColumnBatch, np.ndarray]]:
        if not all(_there(columns, ColumnBatch.finish) for columns, _ in self.parts):
            finite("X", self.x)
        return self.parts

    def _gathered(self, per_part: Callable[[ColumnBatch], Any], *shape: int, dtype: Any) -> Any:
        """A row per column of the table, on the device, from those of the parts; 0 beyond the end of shorter rows."""
        device, parts = self.device, self._final
        whole = device.xp.zeros((self.x.shape[1], *shape), dtype)
        for columns, which in parts:
            rows = copy_to_device(device, columns.device, _there(columns, per_part))
            rows = rows[:, : shape[0]] if shape else rows
            whole[(device.xp.asarray(which), *(slice(0, size) for size in rows.shape[1:]))] = rows
        return whole

    def column(self, j: int) -> DeviceColumnFacts:
        """The facts of column j."""
        columns, row = next((columns, row) for columns, which in self.parts for row in np.flatnonzero(which == j))
        return DeviceColumnFacts(columns, int(row), x=self.x[:, j], origin=self.origin, place=self.place)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data."""
        return self.x.shape

    @per_stream
    def labels(self) -> Any:
        """The group of every record in every column, in rows."""
        return self._gathered(lambda columns: columns.labels, self.x.shape[0], dtype=np.int32)

    @per_stream
    def n_groups(self) -> Any:
        """The number of groups of each column."""
        return self._gathered(lambda columns: columns.n_groups, dtype=np.int64)

    @per_stream
    def _most(self) -> int:
        return int(self.n_groups.max())

    @property
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._gathered(lambda columns: columns.sizes, self._most, dtype=np.int64)

    @property
    def cost(self) -> Any:
        """The information loss of each column, from the data themselves."""
        whole = all(_there(columns, lambda one: one.cost.dtype) == np.int64 for columns, _ in self._final)
        dtype = np.int64 if whole else np.float64
        return self._gathered(lambda columns: columns.device.xp.asarray(columns.cost.astype(dtype)), dtype=dtype)

    @property
    def representatives(self) -> Any:
        """The value that replaces each group."""
        return self._gathered(lambda columns: columns.representatives, self._most, dtype=self._dtype)

    @property
    def information_loss(self) -> Any:
        """SSE / SST of each column."""
        return self._gathered(lambda columns: columns.shares, dtype=np.float64)

    @property
    def _dtype(self) -> np.dtype:
        """Of masked values."""
        return np.result_type(*(columns.published for columns, _ in self.parts))

    @property
    def masked(self) -> Any:
        """The data with each value replaced."""
        xp, whole = self.device.xp, self.device.empty(*self.x.shape[::-1], dtype=self._dtype)
        for columns, which in self._final:
            for rows in columns.batches():
                masked = _there(columns, lambda one, rows=rows: one.masked_rows(rows))
                whole[xp.asarray(which[rows])] = copy_to_device(self.device, columns.device, masked)
        return whole

    def stored(self) -> TableFacts:
        """The same facts without the data, which the copies to the host wait for."""
        with self._reading():
            return store_table(self, OriginByDevice(self.origin))


def _there(columns: ColumnBatch, function: Callable[..., Value]) -> Value:
    """Call a function of columns while their device is the current one."""
    with columns.device.active():
        return function(columns)
