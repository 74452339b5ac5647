"""What is to be solved, and how the data are prepared for it: numbers that the solvers can compute with safely."""

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mag._compiled.groups import Groups, distance
from mag._lib.errors import ValueMistake
from mag._lib.lazy import cached_property
from mag._lib.workspace import borrow
from mag.costs import Cost
from mag.solvers import SOLVERS, Solver
from mag.solvers.block import PAD
from mag.solvers.extensions.columnwise import at_stake

NO_WEIGHTS = np.empty(0)
EXACT = 2**53  # float64 holds every integer up to here
PAIRED = 2**103  # so do pairs of float64
LEAST_K = 4  # from here on blocks have columns for all lanes
MODERATE = 300  # binary exponents within ±MODERATE need no scaling: their squares are far from both ends of float64
TINY = 2.0**-900  # costs below this may have lost bits to underflow
LIGHT = 2.0**-200  # weights below this share of the largest may lose bits to underflow
NEGLIGIBLE = 2.5e-13  # of a total; there are a few such errors to 1e-12
EVEN = 2**10  # how many times as large as the cost of a group sums from its anchor may be


@dataclass
class Problem:
    """Groups of `least` values or more, at the least cost; `fixed` is added per group, `short` per value below k.

    `solvers` are all exact here; the first that can read the values is used.
    """

    cost: Cost
    solvers: dict[str, Solver]
    k: int
    least: int
    fixed: float = 0.0
    short: float = 0.0
    max_groups: int | None = None

    @property
    def extended(self) -> bool:
        """Whether "auto" chose solvers without a bound on the size although splitting pays: for a penalty of 0."""
        return self.cost.splitting and self.cost.built_in and not self.bounded and len(self.solvers) > 1

    @property
    def bounded(self) -> bool:
        """Whether groups have fewer than 2k values."""
        return all(solver.bounded for solver in self.solvers.values())

    @cached_property
    def plain(self) -> bool:
        """Whether nothing speaks against splitting groups of 2k values or more."""
        return self.cost.splitting and self.least == self.k and not self.fixed and self.max_groups is None

    def solver_for(self, kernel: Any, values: np.ndarray) -> Solver:
        """The first of the solvers that can read the values: lanes are float64."""
        real = kernel.lanes and values.dtype == np.float64
        for solver in self.solvers.values():
            if real or not solver.lanes:
                return solver
        (name,) = self.solvers
        able = [other for other, solver in SOLVERS.items() if not solver.lanes]
        valid = ", ".join(repr(other) for other in able if SOLVERS[other].valid(self.cost, bounded=self.plain))
        why = "integers whose sums float64 cannot hold exactly"
        raise ValueMistake(f"solver must be one of 'auto', {valid} for {why}; got {name!r}.")

    def in_turn(self, column: "Column") -> list["Problem"]:
        """The problem for one solver after the other, as long as rounding may have misled those before."""
        if self.bounded:
            return [self]
        first = list(self.solvers.values()).index(self.solver_for(column.kernel, column.values))
        return [replace(self, solvers={name: self.solvers[name]}) for name in list(self.solvers)[first:]]

    def in_lanes(self, values: np.ndarray) -> bool:
        """Whether lanes will do: solvers behind them are for integers that float64 cannot hold, or lost precision."""
        first, *others = self.solvers.values()
        return first.lanes and (not others or values.dtype.kind == "f")

    @property
    def squares(self) -> bool:
        """Whether the cost grows with the square of the values, not in proportion to them."""
        return self.cost.degree == 2

    def cost_of(self, x: np.ndarray, weights: np.ndarray | None, starts: np.ndarray) -> float:
        """What a grouping of sorted values costs, with what is added per group."""
        groups = Groups(x, starts, weights)
        below = float(np.maximum(self.k - groups.sizes, 0).sum())
        return float(self.cost.losses(groups, x).sum()) + self.short * below + self.fixed * starts.size


class Column(NamedTuple):
    """The kernel, the values and weights that it reads, and the power of two that the values were divided by.

    Values are float64 of moderate size, or unsigned integers where float64 would round them, between PAD copies at both
    ends.  So are weights; or there are none.
    """

    kernel: Any
    values: np.ndarray
    weights: np.ndarray
    scale: int = 0
    unevenness: float = 1.0  # the heaviest weight over the lightest


def prepared(x: np.ndarray, weights: np.ndarray | None, problem: Problem) -> Column:
    """Sorted values as the kernel of the problem reads them."""
    cost = problem.cost
    kernel = cost.kernel if weights is None else cost.weighted
    weights = NO_WEIGHTS if weights is None else weights
    if not cost.built_in:
        return Column(kernel, x.astype(np.float64, copy=False), NO_WEIGHTS)
    if x.dtype.kind == "f":
        largest, exponent = math.frexp(max(-x[0], x[-1]))
        if largest and abs(exponent) > MODERATE:
            return Column(kernel, np.ldexp(x, -exponent), weights, exponent)
        return Column(kernel, x, weights)
    values = distance(x, x[:1])
    if cost.integer and int(values[-1]) < EXACT:
        kernel = _summing(values, problem)
    elif cost.integer:
        kernel = cost.wide
    if int(values[-1]) >= EXACT or kernel is cost.wide:
        return Column(kernel, values, weights)
    return Column(kernel, values.astype(np.float64), weights)


def scaled(x: np.ndarray, weights: np.ndarray | None, problem: Problem) -> tuple[Column, Problem] | None:
    """As `prepared`, and the problem; None if float64 cannot hold all that solvers look at.

    Distances, weights and penalties are 0 or so moderate that no product of them leaves float64.
    """
    kernel, values, light, scale, unevenness = prepared(x, weights, problem)
    heft = 0
    if weights is not None:
        heaviest, lightest = float(weights.max()), float(weights.min())
        unevenness = heaviest / lightest if lightest else math.inf
        if not lightest:
            lightest = weights.min(where=weights > 0, initial=np.inf)
        exponent = math.frexp(heaviest)[1]
        if math.ldexp(lightest, -exponent) < LIGHT:
            return None
        heft = exponent if abs(exponent) > 64 else 0
    shift = heft + problem.cost.degree * scale
    for penalty in (problem.fixed, problem.short):
        if penalty and abs(math.frexp(penalty)[1] - shift) > 2 * MODERATE:
            return None
    if problem.cost.integer:
        wide = kernel.number == "wide"
        exact = problem.max_groups is None if wide else max(problem.fixed, problem.short * problem.k) < EXACT / 8
        return (Column(kernel, values, light, scale, unevenness), problem) if exact else None
    if x.dtype.kind == "f" and not _apart(x, math.ldexp(1.0, scale - MODERATE)):
        return None
    if heft:
        light = np.ldexp(light, -heft)
    if shift and (problem.fixed or problem.short):
        fixed, short = math.ldexp(problem.fixed, -shift), math.ldexp(problem.short, -shift)
        problem = replace(problem, fixed=fixed, short=short)
    return Column(kernel, values, light, scale, unevenness), problem


def _apart(x: np.ndarray, least: float) -> bool:
    """Whether values that differ differ by that much; they are sorted."""
    nearest = x[0]  # to 0
    if nearest <= 0:
        below, above = x.searchsorted(0.0), x.searchsorted(0.0, "right")
        nearest = min(-x[below - 1] if below else np.inf, x[above] if above < x.size else np.inf)
    if nearest * 2.0**-53 >= least:  # no float64 is closer to that one
        return True
    with np.errstate(over="ignore"):
        gaps = np.subtract(x[1:], x[:-1], out=borrow("work", x.size - 1, np.float64))
    return bool(gaps.min(where=gaps > 0, initial=np.inf) >= least)


def even(column: Column, problem: Problem, starts: np.ndarray, total: float) -> bool:
    """Whether weights are so even, or the total so large, that sums from anchors cannot have cost precision.

    A group's cost is the difference of sums from an anchor inside it.  Where the anchor is lighter than other values,
    those sums can be larger than the cost, by the ratio of the weights.
    """
    if 2 * problem.k * column.unevenness <= EVEN:
        return True
    x = column.values[PAD:-PAD]
    lost = 2.0**-50 * at_stake(x, column.weights[PAD:-PAD], 2 * problem.k - 2, problem.squares)
    if lost <= NEGLIGIBLE * total:
        return True
    return bool((x[starts] == x[np.append(starts[1:], x.size) - 1]).all())  # no group costs anything


def rounded(column: Column, problem: Problem, starts: np.ndarray, fixed: float, sums: float) -> float:
    """How much more than the least groups from "growing" may cost, since rounded costs were compared.

    `sums` are those behind their costs.  Groups that they were compared with have similar ones, unless weights differ
    too much.  F also holds what every group costs more, which is not part of the cost where groups are limited.
    """
    if problem.cost.integer:
        return 0.0
    longest = int(np.diff(starts, append=column.values.size - 2 * PAD).max())
    if column.weights.size and longest * column.unevenness > EVEN:
        sums += at_stake(column.values[PAD:-PAD], column.weights[PAD:-PAD], 2 * longest, problem.squares)
    return 2.0**-50 * sums + 2.0**-51 * fixed * starts.size


def _summing(values: np.ndarray, problem: Problem) -> Any:
    """The kernel of an integer cost whose numbers hold every sum that a solver looks at.

    Those are sums of distances and of squares over `reach` values.  Means are rounded as they should be where twice
    the sum of distances is below 2⁵²: then float64 tells every sum from those whose mean is half an integer.
    """
    cost, first = problem.cost, next(iter(problem.solvers.values()))
    reach = min(4 * problem.k if problem.bounded else values.size, values.size)
    widest = int((values[reach:] - values[:-reach]).max(initial=0)) if reach < values.size else int(values[-1])
    if 8 * reach * widest**2 < EXACT:
        return cost.kernel
    in_blocks = first.lanes and first.bounded and problem.k >= LEAST_K
    if in_blocks and reach * widest < EXACT / 4 and 8 * reach * widest**2 < PAIRED:
        return cost.paired
    return cost.wide


def unspannable(x: np.ndarray, problem: Problem, starts: np.ndarray, total: float, scale: int) -> list[int]:
    """Where to cut: gaps that would cost any group across them more than all of the grouping found.

    Solvers without a bound on the size see all scales of the data at once, and float64 squares underflow: where the
    cost is tiny beside the widest gap, what lies between such gaps is better solved by itself.
    """
    cost = problem.cost
    if cost.pair is None or cost.integer or (problem.bounded and total >= TINY):
        return []
    with np.errstate(over="ignore"):
        gaps = np.diff(x) if x.dtype.kind == "f" else distance(x[1:], x[:-1])
    if total >= TINY and cost.pair(np.ldexp(float(gaps.max()), -scale)) < 2.0**20 * total:
        return []
    first, last = x[starts], x[np.append(starts[1:], x.size) - 1]
    if (first == last).all():  # no group costs anything
        return []
    least_cost = cost.pair(np.ldexp(gaps.astype(np.float64), -scale))
    cuts = np.flatnonzero(least_cost > max(2 * total, 2**10 * TINY)) + 1
    return cuts.tolist() if np.isin(cuts, starts).all() else []
