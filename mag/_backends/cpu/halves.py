"""One long column on several threads: from both ends, and each half in stretches."""

from typing import Any

import numpy as np

from mag._backends.cpu import stretches
from mag._backends.problem import Problem
from mag._compiled.starts import trace
from mag._lib.threads import both, in_parts
from mag._lib.workspace import borrow
from mag.costs import COSTS
from mag.solvers import Solution, SolverInput, block
from mag.solvers.block import PAD

Half = tuple[np.ndarray, float, np.ndarray]  # sizes, the cost of the last column, and F of the last 2k-1
ROOM = 4  # how many times as long as its run ahead a stretch is at least


def from_both_ends(column: SolverInput, problem: Problem, threads: int) -> Solution:
    """The left half forwards, the right half backwards on mirrored values; every grouping has a cut where they overlap.

    The halves depend on n and k alone, so that the result is the same for any number of threads.
    """
    kernel, values, weights = column[:3]
    if not weights.size:
        weights = values
    n, k = values.size - 2 * PAD, problem.k
    middle = n // 2
    ahead = slice(0, middle + 2 * k - 2 + 2 * PAD)
    back = slice(n + 2 * PAD - 1, middle - 1 if middle else None, -1)
    mirror = COSTS[COSTS[problem.cost.name].mirror]
    mirrored = mirror.kernel if weights is values else mirror.weighted

    parts = _stretches_of(n // 2, k, threads) if weights is values else 1

    def solve(kernel: Any, cost: str, values: np.ndarray, weights: np.ndarray, which: str) -> Half:
        if parts > 1:
            return stretches.solve_all(values, -PAD, values.size - 2 * PAD, cost, k, parts, parts)
        return block.run_lanes(kernel, values, weights, k, which)

    def forwards() -> Half:
        return solve(kernel, problem.cost.name, values[ahead], weights[ahead], " forwards")

    def backwards() -> Half:
        turned_back, negated = values[back], borrow("mirror", n - middle + 2 * PAD, np.float64)
        in_parts(lambda *part: np.negative(turned_back[slice(*part)], out=negated[slice(*part)]), negated.size, parts)
        turned = negated if weights is values else np.ascontiguousarray(weights[back])
        return solve(mirrored, mirror.name, negated, turned, " backwards")

    (left_sizes, left_cost, left_ending), (right_sizes, right_cost, right_ending) = both(forwards, backwards, threads)
    cut = middle + int(np.argmin(left_ending + right_ending[::-1]))
    left, right = both(
        lambda: trace(left_sizes[: cut + 1], problem), lambda: trace(right_sizes[: n - cut + 1], problem), threads
    )
    starts = np.empty(left.size + right.size, np.int64)
    starts[: left.size] = left
    starts[left.size] = cut
    np.subtract(n, right[:0:-1], out=starts[left.size + 1 :])
    return Solution(starts, left_cost + right_cost)


def _stretches_of(length: int, k: int, threads: int) -> int:
    """How many stretches a half of this length has: one for each of its threads, unless they would start too early."""
    return max(min(threads // 2, length // (ROOM * stretches.run_ahead(k))), 1)
