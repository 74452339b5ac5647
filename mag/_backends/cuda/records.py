"""Records that are on a device and stay there: what is asked of them, and the result of grouping them.

Of the data, numbers cross the bus that there is one of per column, or per group where those are looked at.
"""

from typing import Any

import numpy as np

from mag._backends.cuda.launch import Device
from mag._backends.cuda.results import OriginByDevice, on_device, restore
from mag._backends.cuda.totals import group_means, integer_means, squares_within, sums_fit, total_of
from mag._backends.protocol import ToCaller
from mag._compiled.groups import record_means
from mag._lib.arrays import warn_about_copy
from mag.results import RecordGrouping, as_data_dtype


class DeviceArithmetic:
    """Where columns are centered: `mag.methods.distances.standard.HostArithmetic` on a device."""

    def __init__(self, device: Device) -> None:
        self.device, self.active = device, device.active

    def reals(self, *shape: int) -> Any:
        """Memory for float64."""
        return self.device.empty(*shape, dtype=np.float64)

    def number(self, value: Any) -> Any:
        """A number of NumPy from an array that holds nothing else."""
        return self.device.host(value)

    def array(self, array: np.ndarray) -> Any:
        """An array of NumPy, there."""
        with self.active():
            return self.device.xp.asarray(array)

    def total(self, y: Any, squared: bool = False) -> float:
        """The sum, or that of squares, in NumPy's order."""
        return total_of(self.device, y, squared=squared)


class DeviceRecordGrouping(RecordGrouping):
    """A `RecordGrouping` of records on a device: sums over them are computed there."""

    _device: Device
    _stream: Any
    _origin: ToCaller
    _order: np.ndarray

    def __init__(self, *args: Any, device: Device, **options: Any) -> None:
        super().__init__(*args, **options)
        self._device, self._stream = device, device.stream()

    def _hold(self) -> None:
        with self._device.active():
            self._device.defer_reuse(self._stream)

    def _streams(self) -> Any:
        return self._device.stream()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (RecordGrouping, self.__getstate__() | {"_origin": OriginByDevice(self._origin)})

    def _to_caller(self, array: Any) -> Any:
        with self._device.active():
            return super()._to_caller(self._device.xp.asarray(array))

    @on_device
    def _cut(self) -> tuple[Any, Any]:
        """The order of the records and where groups start in it."""
        return tuple(self._device.xp.asarray(part.astype(np.int32)) for part in (self._order, self._starts))

    @on_device
    def _device_representatives(self) -> Any:
        device, x = self._device, self._x
        if x.dtype.kind == "f":
            return as_data_dtype(group_means(device, x, *self._cut), self._dtype)
        if sums_fit(device, x, int(self._sizes.max())):
            return as_data_dtype(integer_means(device, x, *self._cut), self._dtype)
        warn_about_copy("X, {:.0f} MB of integers whose sums 64 bits cannot hold, is copied", x.nbytes)
        means = record_means(device.host(x)[self._order], self._starts, self._sizes)
        return device.xp.asarray(as_data_dtype(means, self._dtype))

    @on_device
    def _representatives(self) -> np.ndarray:
        return self._device.host(self._device_representatives)

    @on_device
    def _squares(self) -> float:
        return squares_within(self._device, self._z, *self._cut)

    @on_device
    def _total(self) -> float:
        return total_of(self._device, self._z, squared=True)

    @on_device
    def labels(self) -> Any:
        """The group of every record."""
        return self._to_caller(self._labels)

    @on_device
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._to_caller(self._sizes)

    @on_device
    def small_groups(self) -> Any:
        """The groups that have fewer than k records: none."""
        return self._to_caller(np.empty(0, np.int64))

    @on_device
    def representatives(self) -> Any:
        """The mean of each group in the units of the data."""
        return self._to_caller(self._device_representatives)

    @on_device
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._to_caller(self._device_representatives[self._device.xp.asarray(self._labels)])
