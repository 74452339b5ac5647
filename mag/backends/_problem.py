"""What is to be solved, and how the data are prepared for it: numbers that the solvers can compute with safely."""

import math
from dataclasses import dataclass

import numpy as np

from mag.costs import Cost
from mag.costs._groups import Groups, distance
from mag.solvers import SOLVERS, Solver

NO_WEIGHTS = np.empty(0)
EXACT = 2**53  # float64 holds every integer up to here
MODERATE = 300  # binary exponents within ±MODERATE need no scaling: their squares are far from both ends of float64
TINY = 2.0**-900  # costs below this may have lost bits to underflow


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
    def bounded(self) -> bool:
        """Whether groups have fewer than 2k values."""
        return all(solver.bounded for solver in self.solvers.values())

    @property
    def plain(self) -> bool:
        """Whether nothing speaks against splitting groups of 2k values or more."""
        return self.cost.splitting and self.least == self.k and not self.fixed and self.max_groups is None

    def solver_for(self, kernel, values) -> Solver:
        """The first of the solvers that can read the values: lanes are float64."""
        real = kernel.lanes and values.dtype == np.float64
        for solver in self.solvers.values():
            if real or not solver.lanes:
                return solver
        (name,) = self.solvers
        valid = ", ".join(repr(other) for other, solver in SOLVERS.items() if not solver.lanes)
        why = "integers whose sums float64 cannot hold exactly"
        raise ValueError(f"solver must be one of 'auto', {valid} for {why}; got {name!r}.")

    def penalties(self, fixed, scale):
        """`fixed` and `short` beside values that were divided by 2**scale."""
        if not scale or self.cost.pair is None:
            return fixed, self.short
        degree = int(np.log2(self.cost.pair(2.0) / self.cost.pair(1.0)))
        parts = (np.frexp(penalty) for penalty in (fixed, self.short))
        # beside values below 1, no penalty needs to be larger than 2**600
        return tuple(float(np.ldexp(part, min(int(exponent) - degree * scale, 600))) for part, exponent in parts)

    def cost_of(self, x, weights, starts):
        """What a grouping of sorted values costs, with what is added per group."""
        groups = Groups(x, starts, weights)
        below = float(np.maximum(self.k - groups.sizes, 0).sum())
        return float(self.cost.losses(groups, x).sum()) + self.short * below + self.fixed * starts.size


def moderate(weights, *penalties):
    """Weights and penalties, divided by one power of two if the weights are far from 1: products must not overflow."""
    exponent = math.frexp(weights.max())[1]
    if abs(exponent) <= MODERATE:
        return weights, *penalties
    return np.ldexp(weights, -exponent), *(float(np.ldexp(penalty, -exponent)) for penalty in penalties)


def prepared(x, weights, problem):
    """The kernel, the values and weights that it reads, and the power of two that the values were divided by.

    Values are float64 of moderate size, or unsigned integers where float64 would round them.
    """
    cost, scale = problem.cost, 0
    kernel = cost.kernel if weights is None else cost.weighted
    weights = NO_WEIGHTS if weights is None else weights
    if not cost.built_in:
        return kernel, x.astype(np.float64, copy=False), NO_WEIGHTS, scale
    if x.dtype.kind == "f":
        largest, exponent = math.frexp(max(-x[0], x[-1]))
        if largest and abs(exponent) > MODERATE:
            return kernel, np.ldexp(x, -exponent), weights, exponent
        return kernel, x, weights, scale
    values = distance(x, x[:1])
    if int(values[-1]) >= EXACT or (cost.integer and not _fits(values, problem)):
        return cost.wide if cost.integer else kernel, values, weights, scale
    return kernel, values.astype(np.float64), weights, scale


def uneven(x, weights, problem, total, scale):
    """Whether weights are so uneven beside the values that anchors without weight may have cost precision.

    A group's cost is the difference of sums from an anchor inside it.  Where the anchor weighs next to nothing, those
    sums can be larger than the cost by any factor: the widest window of values over the cost.
    """
    if weights.min() >= 2.0**-20 * weights.max():
        return False
    reach = min(3 * problem.k, x.size - 1) if problem.bounded else x.size - 1  # how far anchors may lie
    x = np.ldexp(x.astype(np.float64), -scale)
    widest = problem.cost.pair(float((x[reach:] - x[:-reach]).max()))
    return 6 * problem.k * widest * float(weights.max()) * 2.0**-52 > 1e-13 * total


def carried(x, weights):
    """Sorted values where those without weight, which cost nothing anywhere, repeat the last one that has some."""
    last = np.maximum.accumulate(np.where(weights > 0, np.arange(x.size), np.argmax(weights > 0)))
    return x[last]


def _fits(values, problem):
    """Whether float64 holds every sum of squares of integers that a solver looks at."""
    reach = min(4 * problem.k if problem.bounded else values.size, values.size)
    widest = int((values[reach:] - values[:-reach]).max(initial=0)) if reach < values.size else int(values[-1])
    return 8 * reach * widest**2 < EXACT


def unspannable(x, weights, problem, starts, total, scale):
    """Where to cut: gaps that would cost any group across them more than all of the grouping found.

    Solvers without a bound on the size see all scales of the data at once, and float64 squares underflow: where the
    cost is tiny beside the widest gap, what lies between such gaps is better solved by itself.
    """
    cost = problem.cost
    if not cost.built_in or cost.integer or (problem.bounded and total >= TINY):
        return ()
    with np.errstate(over="ignore"):
        gaps = np.diff(x) if x.dtype.kind == "f" else distance(x[1:], x[:-1])
    light = 1.0 if weights is None else float(weights.min() / weights.max()) / 2
    if total >= TINY and light * cost.pair(np.ldexp(float(gaps.max()), -scale)) < 2.0**20 * total:
        return ()
    first, last = x[starts], x[np.append(starts[1:], x.size) - 1]
    if (first == last).all():  # no group costs anything
        return ()
    least_cost = light * cost.pair(np.ldexp(gaps.astype(np.float64), -scale))
    cuts = np.flatnonzero(least_cost > max(2 * total, 2**10 * TINY)) + 1
    return cuts.tolist() if np.isin(cuts, starts).all() else ()
