"""Group columns on the CPU: order, solve, label."""

import itertools
from dataclasses import replace

import numpy as np

from mag._backends.cpu import batch
from mag._backends.cpu.halves import from_both_ends
from mag._backends.cpu.labels import label, label_sorted, smallest_count
from mag._backends.problem import Problem
from mag._backends.protocol import Jobs
from mag._backends.safety import NEGLIGIBLE, is_even, prepare, scale_to_fit, unspannable
from mag._compiled.sort import sort, take
from mag._compiled.starts import trace
from mag._lib.interrupt import interruptible
from mag._lib.threads import each, in_parts
from mag._lib.workspace import borrow
from mag.solvers import Solution, SolverInput, block
from mag.solvers.block import PAD
from mag.solvers.extensions import columnwise, exact
from mag.solvers.extensions.max_groups import at_most

VALUES_PER_THREAD = 2**14  # values that are worth a thread
BOTH_ENDS_FROM_N = 2**21  # values from which on a column is solved from both ends, and everything is done in parts


def why_not() -> str | None:
    """Why this cannot be used: it always can."""
    return None


def group(
    x: np.ndarray, weights: np.ndarray | None, problem: Problem, assume_sorted: bool, threads: int
) -> tuple[np.ndarray | None, np.ndarray, np.ndarray]:
    """Order of the values (None if they are sorted), where groups start in it, and the label of every record."""
    solver, *others = problem.solvers.values()
    if not (others or solver.lanes or problem.cost.blocks):  # memory for the sort and for the solver at once
        kernel = problem.cost.kernel if weights is None else problem.cost.weighted
        borrow("work", solver.memory(kernel, x.size, problem.k), np.float64)
    column, order = (padded(x, threads=threads), None) if assume_sorted else sort(x, PAD, threads)
    if weights is not None:
        weights = padded(weights, "weights", order, threads)
    starts = solve(column, weights, problem, threads)
    labels = np.empty(x.size, np.int32 if starts.size < 2**31 else np.int64)

    def write(first: int, last: int) -> None:
        if order is None:
            label_sorted(starts, first, last, labels)
        else:
            label(starts, first, last, order, labels)

    if threads == 1 or x.size < BOTH_ENDS_FROM_N:
        write(0, starts.size)
    else:
        in_parts(lambda *part: write(*np.searchsorted(starts, part).tolist()), x.size, threads)
    return order, starts, labels


def group_columns(
    X: np.ndarray, jobs: Jobs, threads: int, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Labels of every column, in rows, how many groups each has, and the size of the smallest, counted from the labels.

    `jobs` are pairs of a problem and the columns that it is for; `weights` are of records.  None if values are not
    finite.
    """
    n, m = X.shape
    # a user's function runs on the caller's thread, whose settings its library may keep
    threads = 1 if any(problem.cost.blocks for problem, _ in jobs) else min(threads, 1 + X.size // VALUES_PER_THREAD)
    labels = np.empty((m, n), np.int32 if n < 2**31 else np.int64)
    n_groups, least = np.empty(m, np.int64), np.empty(m, np.int64)
    tasks = []
    for problem, columns in jobs:
        batched = n < BOTH_ENDS_FROM_N and weights is None and batch.supports(n, problem)
        parts = batch.chunks(n, columns, threads) if batched else columns.reshape(-1, 1)
        tasks += [(problem, part, batched) for part in parts]

    def run(task: tuple[Problem, np.ndarray, bool]) -> bool:
        problem, columns, batched = task
        left = batch.group(X, columns, problem, labels, n_groups, least) if batched else columns
        if left is None:
            return False
        for j in left:
            x = np.ascontiguousarray(X[:, j], np.float64 if X.dtype.kind == "f" else None)
            if x.dtype.kind == "f" and not np.isfinite(x).all():
                return False
            # few columns share the threads
            _, starts, labels[j] = group(x, weights, problem, False, -(-threads // len(tasks)))
            n_groups[j], least[j] = starts.size, smallest_count(labels[j], np.zeros(starts.size, np.int64))
        return True

    finite = each(run, tasks, threads)
    return (labels, n_groups, least) if all(finite) else None


def padded(values: np.ndarray, name: str = "column", order: np.ndarray | None = None, threads: int = 1) -> np.ndarray:
    """The values, in that order, between PAD copies of the first and of the last, in memory that is borrowed."""
    column = borrow(name, values.size + 2 * PAD, values.dtype)

    def fill(first: int, last: int) -> None:
        if order is None:
            column[PAD + first : PAD + last] = values[first:last]
        else:
            take(values, order[first:last], PAD + first, column)

    if threads == 1:
        fill(0, values.size)
    else:
        in_parts(fill, values.size, threads)
    column[:PAD], column[-PAD:] = column[PAD], column[-PAD - 1]
    return column


def solve(column: np.ndarray, weights: np.ndarray | None, problem: Problem, threads: int) -> np.ndarray:
    """Where the groups of sorted values start in an optimal grouping; PAD copies stand around values and weights."""
    x = column[PAD:-PAD]
    n, least = x.size, problem.least
    if n < 2 * least:
        return np.zeros(1, np.int64)
    if problem.plain and least == 1:
        return np.arange(n)
    if problem.cost.built_in and (weights is not None or not problem.plain):
        return _weighed(column, weights, problem, threads)
    if problem.max_groups is not None:
        return _at_most(prepare(column, weights, problem), problem, threads)[0]
    ready = prepare(column, weights, problem)
    starts, total, _ = _optimum(ready, problem, threads)
    cuts = unspannable(x, problem, starts, total, ready.scale)
    if not cuts:
        return starts
    # The parts that no optimal group can span are solved by themselves, each at its own scale.
    edges = [0, *cuts, n]
    parts = [slice(begin, end) for begin, end in itertools.pairwise(edges)]
    solved = [solve(block.padded(x[part]), None, problem, threads) for part in parts]
    return np.concatenate([starts_of_part + part.start for starts_of_part, part in zip(solved, parts, strict=True)])


def _weighed(column: np.ndarray, weights: np.ndarray | None, problem: Problem, threads: int) -> np.ndarray:
    """As `solve`, with weights or penalties: in float64 where that decides, else by costs without any cancellation."""
    fitting = scale_to_fit(column, weights, problem)
    if fitting is not None:
        near, moderate = fitting
        for attempt in moderate.in_turn(near):
            starts, sure = _attempt(near, attempt, threads)
            if sure:
                return starts
        if problem.plain:  # it may outlive this call, and the memory that was borrowed for it
            return interruptible(
                _columnwise_starts, near.values[PAD:-PAD].copy(), near.weights[PAD:-PAD].copy(), moderate
            )
    return exact.solve(column[PAD:-PAD], None if weights is None else weights[PAD:-PAD], problem)


def _attempt(column: SolverInput, problem: Problem, threads: int) -> tuple[np.ndarray, bool]:
    """Starts by the first solver, and whether they are surely the best."""
    if problem.max_groups is not None:
        return _at_most(column, problem, threads)
    starts, total, doubt = _optimum(column, problem, threads)
    return starts, is_even(column, problem, starts, total) if problem.bounded else doubt <= NEGLIGIBLE * total


def _at_most(column: SolverInput, problem: Problem, threads: int) -> tuple[np.ndarray, bool]:
    """Starts of at most `max_groups` groups, and whether they are surely the best."""
    values, weights = column.values[PAD:-PAD], column.weights[PAD:-PAD] if column.weights.size else None
    doubts = []

    def optimum(price: float) -> np.ndarray:
        starts, _, doubt = _optimum(column, replace(problem, fixed=problem.fixed + price), threads)
        doubts.append(doubt)
        return starts

    def cost_of(starts: np.ndarray) -> float:
        return problem.cost_of(values, weights, starts)

    starts, sure = at_most(problem.max_groups, values.size, optimum, cost_of)
    return starts, sure and doubts[-1] <= NEGLIGIBLE * cost_of(starts)


def _optimum(column: SolverInput, problem: Problem, threads: int) -> Solution:
    """What the first solver finds that can read the values; in long columns, that of lanes starts at both ends."""
    solver, n = problem.solver_for(column.kernel, column.values), column.values.size - 2 * PAD
    if solver.lanes and solver.bounded and n >= max(BOTH_ENDS_FROM_N, 8 * problem.k) and column.kernel.number == "real":
        return from_both_ends(column, problem, threads)
    return solver.solve(column, problem)


def _columnwise_starts(x: np.ndarray, weights: np.ndarray, problem: Problem) -> np.ndarray:
    """Starts, by the solver that no weight can mislead."""
    sizes = borrow("sizes", x.size + 1, np.int32 if x.size < 2**31 else np.int64)
    columnwise.solve(x, weights, problem.k, problem.squares, borrow("work", x.size + 1, np.float64), sizes)
    return trace(sizes, problem)
