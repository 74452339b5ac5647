"""Records that are on a device and stay there: operations on them, and the facts about their groups.

Of the data, numbers cross the bus that there is one of per column, or per group where those are looked at.
"""

from typing import Any

import numpy as np

from mag._backends.cpu.facts import HostRecordFacts
from mag._backends.cuda.facts import DeviceFacts
from mag._backends.cuda.launch import Device
from mag._backends.cuda.per_stream import per_stream
from mag._backends.cuda.totals import group_means, integer_means, squares_within, sums_fit, total_of
from mag._backends.protocol import ToCaller
from mag._compiled.groups import record_means
from mag._lib.arrays import warn_about_copy
from mag._lib.lazy import cached_property
from mag.results import as_data_dtype


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


class DeviceRecordFacts(DeviceFacts, HostRecordFacts):
    """Facts about records on a device: sums over them are computed there, labels are those of the host."""

    origin: ToCaller

    def __init__(self, *args: Any, device: Device, **options: Any) -> None:
        super().__init__(*args, **options)
        self.device = self.place = device
        self._stream = device.stream()

    def defer_reuse(self) -> None:
        """Let the stream of the call wait for the current one."""
        self.device.defer_reuse(self._stream)

    @per_stream
    def _cut(self) -> tuple[Any, Any]:
        """The order of the records and where groups start in it."""
        return tuple(self.device.xp.asarray(part.astype(np.int32)) for part in (self.order, self.starts))

    @per_stream
    def representatives(self) -> Any:
        """The mean of each group in the units of the data."""
        device, x = self.device, self.x
        if x.dtype.kind == "f":
            return as_data_dtype(group_means(device, x, *self._cut), self.dtype)
        if sums_fit(device, x, int(self.sizes.max())):
            return as_data_dtype(integer_means(device, x, *self._cut), self.dtype)
        warn_about_copy("X, {:.0f} MB of integers whose sums 64 bits cannot hold, is copied", x.nbytes)
        means = record_means(device.host(x)[self.order], self.starts, self.sizes)
        return device.xp.asarray(as_data_dtype(means, self.dtype))

    @property
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self.representatives[self.device.xp.asarray(self.labels)]

    @cached_property
    def squares(self) -> float:
        """Squared distances to the representatives, in units of `standard.z`."""
        return squares_within(self.device, self.standard.z, *self._cut)

    @cached_property
    def total(self) -> float:
        """Squared distances to the mean, in units of `standard.z`."""
        return total_of(self.device, self.standard.z, squared=True)
