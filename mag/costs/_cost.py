"""What a cost is: its compiled kernel, the properties that decide which solvers are valid, and its representative."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mag._compiled.cost import Kernel, kernel_of
from mag._compiled.groups import Groups
from mag._lib.checks import one_of
from mag._lib.errors import InputTypeError

# What the values of a group are replaced by, as a distance from the group's base: losses are computed from this.
CENTERS: dict[str, Callable[[Groups], np.ndarray]] = {
    "max": Groups.last,
    "mean": Groups.mean,
    "median": Groups.median,
    "mid-range": Groups.middle,
    "min": lambda groups: np.zeros_like(groups.last()),
    "rounded mean": Groups.rounded_mean,
}

# The same in the data's own terms, which are published: entries of the data are copied.
REPRESENTATIVES: dict[str, Callable[[Groups], np.ndarray]] = {
    "max": lambda groups: groups.final,
    "mean": lambda groups: groups.placed(groups.mean()),
    "median": Groups.placed_median,
    "mid-range": Groups.placed_middle,
    "min": lambda groups: groups.first,
    "rounded mean": lambda groups: groups.placed(groups.rounded_mean()),
}


class Cost:
    """What one group costs, for ``mag.univariate(..., cost=...)``.

    Parameters
    ----------
    name : str
        Its name in results and messages.
    group : callable
        ``group(x, i, j)``, the cost of the group of sorted values ``x[i:j]``.  It is compiled by numba.
    prepare : callable, optional
        ``prepare(x)`` gets the sorted values once and returns the array that `group` sees in place of ``x``,
        for instance their running sums.
    concave : bool
        Whether ``C(a, c) + C(b, d) <= C(a, d) + C(b, c)`` for all ``a < b < c < d`` (the quadrangle inequality).
    splitting : bool
        Whether splitting is beneficial: ``C(a, b) + C(b, c) <= C(a, c)``.
    representative : {"max", "mean", "median", "mid-range", "min"}
        The value that replaces a group.

    Notes
    -----
    There must be an optimal grouping that does not interleave groups of the sorted values ("ordered minimizable").
    `concave` and `splitting` are promises: if one is false, groupings are not optimal.

    A function is compiled when it is first used, and its code, about 27 MB, stays until the process ends: numba frees
    none.  Functions with the same code, and the same numbers from outside of it, share theirs, so a cost may be
    recreated for every call; a parameter that takes many values belongs in what `prepare` returns.

    Examples
    --------
    The discount cost of Stamm & Schaub (2024), appendix B.7: the dearer half of the items in a group is paid for,
    at a price that falls with the size of the group.  It is not concave and splitting does not help.

    >>> import mag, numpy as np
    >>> discount = mag.Cost(
    ...     "discount",
    ...     prepare=lambda x: np.concatenate((np.zeros(1), np.cumsum(x))),
    ...     group=lambda sums, i, j: 2.0 * (sums[j] - sums[j - (j - i) // 2]) / (j - i) ** 0.5,
    ...     representative="max",
    ... )
    >>> mag.univariate([1.0, 2.0, 3.0, 4.0, 50.0, 60.0], k=2, cost=discount).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    integer = False
    blocks = False  # whether it is a function of prefix sums, for many groups at once
    kernel: Kernel | None
    weighted: Kernel | None = None
    wide: Kernel | None = None
    paired: Kernel | None = None
    pair: Callable[[Any], Any] | None = None
    degree: int  # of the built-in ones

    def __init__(
        self,
        name: str,
        *,
        group: Callable[..., Any],
        prepare: Callable[..., Any] | None = None,
        concave: bool = False,
        splitting: bool = False,
        representative: str = "mean",
    ) -> None:
        if not callable(group):
            raise InputTypeError(f"group must be a function of (x, i, j); got {type(group).__name__}.")
        if not (prepare is None or callable(prepare)):
            raise InputTypeError(f"prepare must be a function of x; got {type(prepare).__name__}.")
        self._describe(name, concave, splitting, representative)
        self.kernel = kernel_of(name, group)
        self._prepare, self._group = prepare, group

    def _describe(self, name: Any, concave: Any, splitting: Any, representative: Any) -> None:
        if not isinstance(name, str) or not name:
            raise InputTypeError(f"name must be a string that is not empty; got {name!r}.")
        for option, promise in (("concave", concave), ("splitting", splitting)):
            if not isinstance(promise, bool):
                raise InputTypeError(f"{option} must be True or False; got {promise!r}.")
        self.name, self.concave, self.splitting = name, concave, splitting
        self.representative = one_of("representative", representative, sorted(set(REPRESENTATIVES) - {"rounded mean"}))

    @staticmethod
    def from_blocks(
        function: Callable[..., Any],
        *,
        powers: int = 2,
        name: str | None = None,
        concave: bool = False,
        splitting: bool = False,
        representative: str = "mean",
    ) -> "Cost":
        """A cost as a function of prefix sums, for many groups at once: for every array library and device.

        It is called with arrays of the library of the data, on their device, in float64, and needs neither numba nor
        CUDA: arithmetic, comparison, indexing and functions of the array API do.

        Parameters
        ----------
        function : callable
            ``function(sums, i, j)``, the cost of all groups ``[i, j)``.  `i` and `j` are arrays of positions that
            broadcast to one shape, ``j - i`` are the sizes of groups; ``sums[p]`` holds the sums of ``y**p`` up to each
            position, so that ``sums[p][j] - sums[p][i]`` is the sum over the groups.  ``y`` are the values as
            distances from a value inside of the groups: whatever their offset, no digits are lost, and the cost must
            not depend on where zero lies.  With ``weights=``, sums are of ``weight * y**p``.
        powers : int
            The highest power, from 0 to 8.
        name : str, optional
            How results and messages call it; the name of the function by default.
        concave, splitting : bool
            Promises, as of `mag.Cost`.
        representative : {"max", "mean", "median", "mid-range", "min"}
            What the values of a group are replaced by.

        Returns
        -------
        Cost
            For ``solver="staggered"`` if the cost is concave and splitting is beneficial, which is what "auto" takes
            then; for ``solver="quadratic"`` in any case.

        Notes
        -----
        Blocks of some 2**18 groups are evaluated at a time, always of the same shape, so that `function` may be
        compiled by its library.  With JAX, it is called in 64 bits, whatever ``jax_enable_x64`` says.

        Examples
        --------
        >>> import mag
        >>> def sse(sums, i, j):
        ...     count, total, squares = (s[j] - s[i] for s in sums)
        ...     return squares - total**2 / count
        >>> cost = mag.Cost.from_blocks(sse, powers=2, concave=True, splitting=True)
        >>> mag.univariate([1.0, 10.0, 2.0, 11.0, 3.0], k=2, cost=cost)
        <Grouping: 5 records in 2 groups of 2 to 3, k=2, sse 2.5>
        """
        from mag.costs._blocks import BlockCost  # which derives from this class

        return BlockCost(function, powers, name, concave, splitting, representative)

    def __repr__(self) -> str:
        return f"<mag.Cost {self.name!r}>"

    @property
    def built_in(self) -> bool:
        return isinstance(self, BuiltIn)

    @property
    def keeps_integers(self) -> bool:
        """Whether the representative of integers is an integer; means and the like are float64."""
        return self.representative in ("max", "min", "rounded mean")

    @property
    def takes_weights(self) -> bool:
        """Whether records may be weighted."""
        return self.weighted is not None

    def in_library(self, origin: Any) -> "Cost":
        """The cost for data that came from there."""
        return self

    def prepare(self, x: np.ndarray) -> np.ndarray:
        """What the kernel sees in place of the sorted values."""
        return x if self._prepare is None else np.ascontiguousarray(self._prepare(x))

    def centers(self, groups: Groups) -> np.ndarray:
        """The representative of each group, as a distance from the group's base."""
        return CENTERS[self.representative](groups)

    def representatives(self, groups: Groups) -> np.ndarray:
        """The representative of each group."""
        return REPRESENTATIVES[self.representative](groups)

    def losses(self, groups: Groups, x: np.ndarray) -> np.ndarray:
        """The cost of each group of the sorted values x."""
        prepared, stops = self.prepare(x), groups.starts + groups.sizes
        ends = zip(groups.starts.tolist(), stops.tolist(), strict=True)
        return np.array([self._group(prepared, i, j) for i, j in ends], dtype=np.float64)


class BuiltIn(Cost):
    """A cost of the table: concave, splitting is beneficial, and every kernel in the anchored frame.

    `summary` is one line for tables of costs.  `loss(groups)` is the cost of each group from the data themselves;
    `pair(gap)` the cost of two values that far apart, which is the least that a group across such a gap can cost;
    `mirror` names the cost of the negated values.

    Two more functions know no float: `exact(sums, i, j)` is the cost of a group in Python's integers, numerator and
    denominator, for `mag.solvers.extensions.exact`; `rational(x, w)` is the definition of the cost in fractions, for
    `mag.reference`, of ascending values and their weights.  Neither has a default: no cost is taken for another.  On
    a GPU, the cost is the struct of `kernels/costs/NAME.cuh`.
    """

    kernel: Kernel
    pair: Callable[[Any], Any]

    def __init__(
        self,
        name: str,
        *,
        kernel: Kernel,
        summary: str,
        representative: str,
        loss: Callable[[Groups], np.ndarray],
        pair: Callable[[Any], Any],
        exact: Callable[[Any, int, int], tuple[int, int]],
        rational: Callable[[Sequence[Fraction], Sequence[Fraction]], Fraction],
        weighted: Kernel | None = None,
        paired: Kernel | None = None,
        integer: bool = False,
        mirror: str | None = None,
    ) -> None:
        self.mirror = mirror or name
        self.name, self.kernel, self.weighted, self.integer = name, kernel, weighted, integer
        self.summary, self.exact, self.rational = summary, exact, rational
        self.wide, self.paired = kernel.wide() if integer else None, paired
        self.representative, self.pair, self._loss = representative, pair, loss
        self.concave = self.splitting = True
        self.degree = int(np.log2(pair(2.0) / pair(1.0)))  # values twice as large cost 2**degree as much

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_the_table, (self.name,)  # results are pickled between processes; a cost of the table is its name

    def prepare(self, x: np.ndarray) -> np.ndarray:
        """The sorted values themselves."""
        return x

    def losses(self, groups: Groups, x: np.ndarray) -> np.ndarray:
        """The cost of each group."""
        loss = self._loss(groups)
        scale = self.degree * groups.scale + groups.heft
        return np.ldexp(loss, scale) if scale.any() else loss


def _of_the_table(name: str) -> Cost:
    from mag.costs import COSTS

    return COSTS[name]
