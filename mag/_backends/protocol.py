"""The interface of a backend: a package of this folder, with a line in the table, that has these functions."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from mag._backends.problem import Problem
from mag.costs import Cost
from mag.results import ColumnGroupings, Grouping

Jobs = list[tuple[Problem, np.ndarray]]  # problems, and the columns that each is for
ToCaller = Callable[[Any], Any]  # makes an array of the caller's library, on its device


class Backend(Protocol):
    """Groups arrays of NumPy.  All backends find the same labels, bit by bit."""

    on_device: bool  # whether a device works, which belongs to the thread that chose it

    def why_not(self) -> str | None:
        """The reason why this backend cannot be used here, in one sentence; None if it can."""

    def group(
        self, x: np.ndarray, weights: np.ndarray | None, problem: Problem, assume_sorted: bool, threads: int
    ) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
        """Order of the values (None if they are sorted), where groups start in it, and the label of every record."""

    def group_columns(
        self, X: np.ndarray, jobs: Jobs, threads: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """Labels of every column, in rows, how many groups each has, and the size of the smallest, counted from labels.

        None if values are not finite.
        """

    def supports_lines(self, n: int, d: int, problem: Problem) -> bool:
        """Whether n records of d columns can be projected, grouped and scored on a device."""

    def supports_halving(self, n: int, d: int, k: int, rule: int) -> bool:
        """Whether a device can divide n records of d columns by a rule of mag/methods/mondrian/halving.py."""

    def supports_lists(self, n: int, d: int, length: int) -> bool:
        """Whether a device can make lists of this length for n records of d columns."""


class Boxes(NamedTuple):
    """Records in blocks of 64 that lie close together, and the boxes around them: mag/methods/distances/blocks.py."""

    x: np.ndarray  # float64 [blocks][d][64]
    low: np.ndarray  # [d][blocks, or some more]
    high: np.ndarray
    ids: np.ndarray  # int32 [blocks · 64], the numbers of the records, n of them
    n: int
    d: int


class NeighborSearch(Protocol):
    """Records on a device, all free at first; places count in blocks."""

    def take(self, places: np.ndarray) -> None:
        """The records at these places are not free any more."""

    def lists(self, places: np.ndarray, m: int, sign: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each place, the m free records with the smallest (sign · squared distance, number): both, and how many."""


class Projections(Protocol):
    """Records on a device, projected on directions; the groups of one of these are kept."""

    total: float  # the sum of squares of all records
    problem: Problem

    @property
    def width(self) -> int:
        """How many directions should be scored at once."""

    def score(self, directions: np.ndarray) -> np.ndarray:
        """The loss, over all columns, of the optimal groups of each direction, a row."""

    def keep(self, row: int) -> None:
        """Keep the labels of this direction of the last batch."""

    def labels(self) -> np.ndarray:
        """The labels that were kept."""

    def labels_in_orders(self, directions: np.ndarray) -> np.ndarray:
        """Labels of the best groups of records that are consecutive on one of the lines; of equals, on the first."""

    def products(self) -> np.ndarray:
        """The products of the columns with each other; of the records, if these are fewer."""

    def combined(self, shares: np.ndarray) -> np.ndarray:
        """The sum of all records, each times its share."""


class DeviceBackend(Backend, Protocol):
    """Also groups arrays that are resident on its device, and leaves data and results there."""

    def resident(self, x: Any) -> tuple[Any, ToCaller] | None:
        """Data on the device as arrays of the backend, and their conversion back; None if they are elsewhere."""

    def supports(self, n: int, problem: Problem, weights: np.ndarray | None = None) -> bool:
        """Whether columns of n resident values can be grouped without the host."""

    def refuse(self, problem: Problem, weights: np.ndarray | None) -> None:
        """Raise one sentence where the problem is for the CPU alone."""

    def group_resident(
        self, x: Any, problem: Problem, weights: np.ndarray | None, *, dtype: np.dtype, origin: ToCaller
    ) -> Grouping:
        """The result for resident values; waiting and checks happen on first access."""

    def group_columns(
        self,
        X: np.ndarray,
        jobs: Jobs,
        threads: int,
        weights: np.ndarray | None = None,
        devices: Sequence[int] | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """As every backend; `devices` are the numbers of the devices that share the columns."""

    def group_resident_columns(
        self,
        X: Any,
        jobs: Jobs,
        k: int | tuple[int, ...],
        weights: np.ndarray | None,
        *,
        dtype: np.dtype,
        costs: list[Cost],
        origin: ToCaller,
        devices: Sequence[int] | None = None,
    ) -> ColumnGroupings:
        """The same for the columns of a resident table."""

    def lines(self, X: Any, problem: Problem) -> Projections:
        """Records of several columns, copied to the device once, unless they are there."""

    def record_context(self, X: Any) -> tuple[Any, Callable[..., Any]]:
        """The device of resident records, for `center_columns`, and a function that makes facts about their groups."""

    def halve(
        self,
        X: np.ndarray,
        rule: int,
        clearly: float,
        divisible: Callable[[np.ndarray], np.ndarray],
        step: Callable[[], Any],
    ) -> tuple[np.ndarray, np.ndarray]:
        """The order of the records and where parts start in it; parts of `divisible` sizes are halved."""

    def neighbors(self, boxes: Boxes) -> NeighborSearch:
        """Records of several columns, copied to the device once."""
