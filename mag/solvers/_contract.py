"""What every solver is given, and what it returns."""

from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from mag._compiled.jit import uncached
from mag._compiled.starts import trace
from mag._lib.workspace import borrow
from mag.costs import Cost
from mag.solvers._narrow import PAD


class SolverInput(NamedTuple):
    """The kernel, the values and weights that it reads, and the power of two that the values were divided by.

    Values are float64 of moderate size, or unsigned integers where float64 would round them, between PAD copies at both
    ends.  So are weights; or there are none.
    """

    kernel: Any
    values: np.ndarray
    weights: np.ndarray
    scale: int = 0
    unevenness: float = 1.0  # the heaviest weight over the lightest


class GroupLimits(NamedTuple):
    """The numbers of a `SolverDemand`, for compiled solvers of groups without a largest size."""

    k: int
    least: int
    fixed: float
    short: float


class SolverDemand(Protocol):
    """The part of a problem that solvers look at.

    Groups of `least` values or more; each costs `fixed` more, and `short` more per value below k.  Where the problem is
    plain, groups of 2k values or more may be split.
    """

    cost: Cost
    k: int
    least: int
    fixed: float
    short: float

    @property
    def plain(self) -> bool: ...

    @property
    def squares(self) -> bool: ...


class Solution(NamedTuple):
    """Where groups start, their cost as the solver summed it, and by how much rounding may have misled it."""

    starts: np.ndarray
    total: float
    doubt: float = 0.0


def room_for_sizes(n):
    """Memory for the size of the last group of every column."""
    return borrow("sizes", n + 1 + PAD, np.int32 if n < 2**31 else np.int64)[: n + 1]


def run_scalar(solve, memory, column, problem, limits):
    """Run a compiled solver of plain values; `limits` are k or `GroupLimits`.  Starts, total, and its memory."""
    kernel, values, weights = column.kernel, column.values[PAD:-PAD], column.weights[PAD:-PAD]
    sizes = room_for_sizes(values.size)
    work = borrow("work", memory(kernel, values.size, problem.k), np.float64)
    if not problem.cost.built_in:
        solve, values = _for_users(solve), problem.cost.prepare(values)
    total = solve(kernel, values, weights, limits, sizes, work)
    return trace(sizes, problem), total, work


@cache
def _for_users(solve):
    """The same function, compiled without the disk cache, which could not know a user's cost again."""
    return uncached(solve.py_func)
