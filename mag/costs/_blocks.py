"""Costs as functions of prefix sums, for many groups at once, in the array library of the data."""

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from mag._compiled.groups import Groups
from mag._compiled.prefix import away_from, power_sums
from mag._lib.arrays import Origin, read
from mag._lib.checks import describe
from mag._lib.errors import InputTypeError, InputValueError
from mag.costs._cost import Cost

MAX_POWER = 8  # the highest power


class BlockCost(Cost):
    """A cost that `Cost.from_blocks` makes."""

    blocks = True
    kernel = None
    _origin: Origin | None = None

    def __init__(
        self, function: Callable, powers: int, name: str | None, concave: bool, splitting: bool, representative: str
    ) -> None:
        if not callable(function):
            raise InputTypeError(f"function must be a function of (sums, i, j); got {type(function).__name__}.")
        if type(powers) is not int:
            raise InputTypeError(f"powers must be an integer from 0 to {MAX_POWER}; got {describe(powers)}.")
        if not 0 <= powers <= MAX_POWER:
            raise InputValueError(f"powers must be an integer from 0 to {MAX_POWER}; got {powers}.")
        self._describe(
            getattr(function, "__name__", None) if name is None else name, concave, splitting, representative
        )
        self.powers, self._function = powers, function

    def __repr__(self) -> str:
        return f"<mag.Cost {self.name!r} from blocks, powers={self.powers}>"

    @property
    def takes_weights(self) -> bool:
        """Sums are weighted where records are."""
        return True

    def in_library(self, origin: Origin | None) -> Cost:
        """The same cost, evaluated where the data came from."""
        bound = copy(self)
        bound._origin = origin
        return bound

    def moved(self, array: np.ndarray) -> Any:
        """An array in the library of the data, on their device, with all of its 64 bits."""
        if self._origin is None:
            return array
        with self._origin.active():
            return self._origin(array)

    def evaluate(self, sums: Sequence[Any], i: Any, j: Any) -> Callable[[], np.ndarray]:
        """Start computing the costs of groups [i, j); call the returned function to wait for them."""
        shape = tuple(i.shape)
        if self._origin is None:
            with np.errstate(all="ignore"):  # groups that no solver uses are evaluated as well
                costs = self._function(tuple(sums), i, j)
        else:
            with self._origin.active():
                costs = self._function(tuple(sums), i, j)
        return lambda: self._read(costs, shape)

    def _read(self, costs: Any, shape: tuple[int, ...]) -> np.ndarray:
        values = read(f"the costs that {self.name!r} returns", costs)[0]
        if values.dtype.kind not in "biuf":
            raise InputTypeError(f"cost {self.name!r} must return real numbers; got dtype {values.dtype.name}.")
        try:
            values = np.broadcast_to(values, shape) if values.shape != shape else values
            return np.require(values, np.float64, "CW")  # one type for compiled code, for any owner of the memory
        except ValueError:
            wrong = f"an array of shape {shape}; got {values.shape}"
            raise InputValueError(f"cost {self.name!r} must return a number for each group, {wrong}.") from None

    def check(self, costs: np.ndarray) -> np.ndarray:
        """The costs of groups that may be formed, if all are finite."""
        wrong = costs.size - int(np.isfinite(costs).sum())
        if wrong:
            raise InputValueError(
                f"cost {self.name!r} must be finite for every group; got {wrong} of {costs.size} that are not."
            )
        return costs

    def losses(self, groups: Groups, x: np.ndarray) -> np.ndarray:
        """The cost of each group of the sorted values x, from sums that start at its own smallest value."""
        with np.errstate(all="ignore"):
            y = away_from(groups.values, groups.spread(groups.first))
            edges = np.append(groups.starts, groups.values.size)
            sums = power_sums(y, groups.weights, self.powers, edges, 0)
        start = groups.starts + np.arange(groups.sizes.size)
        sums, i, j = [self.moved(line) for line in sums], self.moved(start), self.moved(start + groups.sizes)
        return self.check(self.evaluate(sums, i, j)())
