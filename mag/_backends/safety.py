"""What float64 can hold: values as solvers can compute with them safely, and whether rounding may have misled one."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from mag._backends.problem import Problem
from mag._compiled.groups import distance
from mag._lib.workspace import borrow
from mag.solvers import SolverInput
from mag.solvers.block import PAD
from mag.solvers.extensions.columnwise import EVEN as EVEN
from mag.solvers.extensions.columnwise import at_stake

NO_WEIGHTS = np.empty(0)
FLOAT64_EXACT = 2**53  # float64 holds every integer up to here
PAIRED = 2**103  # so do pairs of float64
LEAST_K = 4  # from here on blocks have columns for all lanes
MODERATE = 300  # binary exponents within ±MODERATE need no scaling: their squares are far from both ends of float64
UNDERFLOW_COST = 2.0**-900  # costs below this may have lost bits to underflow
LIGHT = 2.0**-200  # weights below this share of the largest may lose bits to underflow
NEGLIGIBLE = 2.5e-13  # of a total; there are a few such errors to 1e-12


def prepare(x: np.ndarray, weights: np.ndarray | None, problem: Problem) -> SolverInput:
    """Sorted values as the kernel of the problem reads them."""
    cost = problem.cost
    kernel = cost.kernel if weights is None else cost.weighted
    weights = NO_WEIGHTS if weights is None else weights
    if cost.blocks:
        return SolverInput(kernel, x, weights)
    if not cost.built_in:
        return SolverInput(kernel, x.astype(np.float64, copy=False), NO_WEIGHTS)
    if x.dtype.kind == "f":
        largest, exponent = math.frexp(max(-x[0], x[-1]))
        if largest and abs(exponent) > MODERATE:
            return SolverInput(kernel, np.ldexp(x, -exponent), weights, exponent)
        return SolverInput(kernel, x, weights)
    values = distance(x, x[:1])
    if cost.integer and int(values[-1]) < FLOAT64_EXACT:
        kernel = _summing(values, problem)
    elif cost.integer:
        kernel = cost.wide
    if int(values[-1]) >= FLOAT64_EXACT or kernel is cost.wide:
        return SolverInput(kernel, values, weights)
    return SolverInput(kernel, values.astype(np.float64), weights)


def scale_to_fit(x: np.ndarray, weights: np.ndarray | None, problem: Problem) -> tuple[SolverInput, Problem] | None:
    """As `prepare`, and the problem; None if float64 cannot hold all that solvers look at.

    Distances, weights and penalties are 0 or so moderate that no product of them leaves float64.
    """
    kernel, values, light, scale, unevenness = prepare(x, weights, problem)
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
        exact = (
            problem.max_groups is None if wide else max(problem.fixed, problem.short * problem.k) < FLOAT64_EXACT / 8
        )
        return (SolverInput(kernel, values, light, scale, unevenness), problem) if exact else None
    if x.dtype.kind == "f" and not _apart(x, math.ldexp(1.0, scale - MODERATE)):
        return None
    if heft:
        light = np.ldexp(light, -heft)
    if shift and (problem.fixed or problem.short):
        fixed, short = math.ldexp(problem.fixed, -shift), math.ldexp(problem.short, -shift)
        problem = replace(problem, fixed=fixed, short=short)
    return SolverInput(kernel, values, light, scale, unevenness), problem


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


def is_even(column: SolverInput, problem: Problem, starts: np.ndarray, total: float) -> bool:
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


def _summing(values: np.ndarray, problem: Problem) -> Any:
    """The kernel of an integer cost whose numbers hold every sum that a solver looks at.

    Those are sums of distances and of squares over `reach` values.  Means are rounded as they should be where twice
    the sum of distances is below 2⁵²: then float64 tells every sum from those whose mean is half an integer.
    """
    cost, first = problem.cost, next(iter(problem.solvers.values()))
    reach = min(4 * problem.k if problem.bounded else values.size, values.size)
    widest = int((values[reach:] - values[:-reach]).max(initial=0)) if reach < values.size else int(values[-1])
    if 8 * reach * widest**2 < FLOAT64_EXACT:
        return cost.kernel
    in_blocks = first.lanes and first.bounded and problem.k >= LEAST_K
    if in_blocks and reach * widest < FLOAT64_EXACT / 4 and 8 * reach * widest**2 < PAIRED:
        return cost.paired
    return cost.wide


def unspannable(x: np.ndarray, problem: Problem, starts: np.ndarray, total: float, scale: int) -> list[int]:
    """Where to cut: gaps that would cost any group across them more than all of the grouping found.

    Solvers without a bound on the size see all scales of the data at once, and float64 squares underflow: where the
    cost is tiny beside the widest gap, what lies between such gaps is better solved by itself.
    """
    cost = problem.cost
    if cost.pair is None or cost.integer or (problem.bounded and total >= UNDERFLOW_COST):
        return []
    with np.errstate(over="ignore"):
        gaps = np.diff(x) if x.dtype.kind == "f" else distance(x[1:], x[:-1])
    if total >= UNDERFLOW_COST and cost.pair(np.ldexp(float(gaps.max()), -scale)) < 2.0**20 * total:
        return []
    first, last = x[starts], x[np.append(starts[1:], x.size) - 1]
    if (first == last).all():  # no group costs anything
        return []
    least_cost = cost.pair(np.ldexp(gaps.astype(np.float64), -scale))
    cuts = np.flatnonzero(least_cost > max(2 * total, 2**10 * UNDERFLOW_COST)) + 1
    return cuts.tolist() if np.isin(cuts, starts).all() else []
