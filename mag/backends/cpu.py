"""Group one column on the CPU: order, solve, label."""

from dataclasses import dataclass

import numpy as np

from mag._jit import called, jit
from mag.backends._sort import sort
from mag.costs import Cost
from mag.costs._groups import Groups, distance
from mag.solvers import SOLVERS, Solver
from mag.solvers._limit import at_most

NO_WEIGHTS = np.empty(0)
EXACT = 2**53  # float64 holds every integer up to here
MODERATE = 300  # binary exponents within ±MODERATE need no scaling: their squares are far from both ends of float64
TINY = 2.0**-900  # costs below this may have lost bits to underflow


@dataclass(frozen=True)
class Problem:
    """What is to be solved: groups of at least `least` values; `fixed` is added per group, `short` per value below k.

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


def group(x, weights, problem, assume_sorted):
    """Order of the values (None if they are sorted), where groups start in it, and the label of every record."""
    order = None
    if not assume_sorted:
        x, order = sort(x)
        weights = weights if weights is None or order is None else weights[order]
    starts = solve(x, weights, problem)
    labels = np.empty(x.size, np.int32 if starts.size < 2**31 else np.int64)
    if order is None:
        label_sorted(starts, labels)
    else:
        label(starts, order, labels)
    return order, starts, labels


def solve(x, weights, problem):
    """Where the groups of the sorted values start, in an optimal grouping."""
    n, least = x.size, problem.least
    if n < 2 * least:
        return np.zeros(1, np.int64)
    if problem.plain and least == 1:
        return np.arange(n)
    if problem.max_groups is not None:
        return at_most(
            problem.max_groups,
            n,
            lambda price: _optimum(x, weights, problem, problem.fixed + price)[0],
            lambda starts: _cost(x, weights, problem, starts),
        )
    # Parts that no optimal group can span are solved again by themselves, each at its own scale.
    parts, starts = [(0, n)], []
    while parts:
        begin, end = parts.pop()
        part, part_weights = x[begin:end], None if weights is None else weights[begin:end]
        if part.size < 2 * least:
            found, cuts = np.zeros(1, np.int64), ()
        else:
            found, total, scale = _optimum(part, part_weights, problem, problem.fixed)
            cuts = _unspannable(part, part_weights, problem, found, total, scale)
        if len(cuts):
            edges = [0, *cuts, end - begin]
            parts += [(begin + a, begin + b) for a, b in zip(edges[-2::-1], edges[:0:-1], strict=True)]
        else:
            starts.append(found + begin)
    return np.concatenate(starts)


def _optimum(x, weights, problem, fixed):
    """Starts, their cost as the solver summed it, and the power of two that the values were scaled by."""
    kernel, values, weights, scale = _prepared(x, weights, problem)
    solver = _solver_for(kernel, values, problem)
    n, k = x.size, problem.k
    run = solver.module.solve if problem.cost.built_in else _uncached(solver.module.solve)
    work = solver.module.memory(kernel, n, k)
    if solver.lanes:
        sizes = solver.module.sizes_for(n, k)
        padded = solver.module.padded(values)
        total = run(kernel, padded, solver.module.padded(weights) if weights.size else padded, k, sizes, work)
        return starts_of(sizes[: n + 1], k, problem.plain), total, scale
    sizes = np.empty(n + 1, np.int32 if n < 2**31 else np.int64)
    if solver.bounded:
        total = run(kernel, values, weights, k, sizes, work)
    else:
        fixed, short = _scaled(problem, fixed, scale), _scaled(problem, problem.short, scale)
        total = run(kernel, values, weights, k, problem.least, fixed, short, sizes, work)
    return starts_of(sizes, k, problem.plain), total, scale


def _solver_for(kernel, values, problem):
    """The first of the solvers that can read the values: lanes are float64."""
    real = kernel.lanes and values.dtype == np.float64
    for solver in problem.solvers.values():
        if real or not solver.lanes:
            return solver
    (name,) = problem.solvers
    valid = ", ".join(repr(other) for other, solver in SOLVERS.items() if not solver.lanes)
    why = "integers whose sums float64 cannot hold exactly"
    raise ValueError(f"solver must be one of 'auto', {valid} for {why}; got {name!r}.")


def _prepared(x, weights, problem):
    """The kernel and what it reads: float64 near 1, or unsigned integers where float64 would round them."""
    cost, scale = problem.cost, 0
    kernel = cost.kernel if weights is None else cost.weighted
    weights = NO_WEIGHTS if weights is None else np.ldexp(weights, -np.frexp(weights.max())[1])
    if not cost.built_in:
        return kernel, cost.prepare(x.astype(np.float64)), NO_WEIGHTS, scale
    if x.dtype.kind == "f":
        values = np.ascontiguousarray(x, dtype=np.float64)
        largest = max(abs(values[0]), abs(values[-1]))
        exponent = int(np.frexp(largest)[1])
        if largest and abs(exponent) > MODERATE:
            scale = exponent
            values = np.ldexp(values, -scale)
        elif not values.flags.writeable:
            values = values.copy()
        return kernel, values, weights, scale
    values = distance(x, x[:1])
    if int(values[-1]) >= EXACT:
        exact = False
    elif cost.integer:
        reach = 4 * problem.k if problem.bounded else x.size
        span = int((values[reach:] - values[:-reach]).max()) if reach < x.size else int(values[-1])
        exact = 16 * min(reach, x.size) * span**2 < EXACT
    else:
        exact = True
    if exact:
        return kernel, values.astype(np.float64), weights, scale
    return cost.wide if cost.integer else kernel, values, weights, scale


def _scaled(problem, penalty, scale):
    """A penalty beside values that were divided by 2**scale."""
    if not penalty or not scale:
        return penalty
    degree = int(np.log2(problem.cost.pair(2.0) / problem.cost.pair(1.0)))
    fraction, exponent = np.frexp(penalty)
    return float(np.ldexp(fraction, min(int(exponent) - degree * scale, 600)))  # beside values below 1, more is no more


def _unspannable(x, weights, problem, starts, total, scale):
    """Where to cut: gaps that would cost any group across them more than all of the grouping found.

    Solvers without a bound on the size see all scales of the data at once, and float64 squares underflow: where the
    cost is tiny beside the widest gap, what lies between such gaps is better solved by itself.
    """
    cost = problem.cost
    if not cost.built_in or cost.integer or (problem.bounded and total >= TINY):
        return ()
    first, last = x[starts], x[np.append(starts[1:], x.size) - 1]
    if (first == last).all():
        return ()
    gaps = (distance(x[1:], x[:-1]) if x.dtype.kind != "f" else np.diff(np.ldexp(x, -scale))).astype(np.float64)
    least_cost = cost.pair(gaps) * (1.0 if weights is None else float(weights.min() / weights.max()) / 2)
    if total >= TINY and least_cost.max() < 2.0**20 * total:
        return ()
    cuts = np.flatnonzero(least_cost > max(2 * total, 2**10 * TINY)) + 1
    return cuts.tolist() if np.isin(cuts, starts).all() else ()


def _cost(x, weights, problem, starts):
    """What a grouping costs, without what is added per group."""
    groups = Groups(x, starts, weights)
    below = np.maximum(problem.k - groups.sizes, 0).sum()
    return float(problem.cost.losses(groups, x).sum()) + problem.short * float(below) + problem.fixed * starts.size


_compiled_for_users: dict = {}


def _uncached(function):
    """The same function, compiled without the disk cache, which could not know a user's cost again."""
    if function not in _compiled_for_users:
        _compiled_for_users[function] = called(function.py_func)
    return _compiled_for_users[function]


@jit
def starts_of(sizes, k, plain):
    """Follow the last groups back from the end; where the problem is plain, groups of 2k values or more are split."""
    n = len(sizes) - 1
    count, j = 0, n
    while j > 0:
        count += max(1, sizes[j] // k) if plain else 1
        j -= sizes[j]
    starts = np.empty(count, np.int64)
    j = n
    while j > 0:
        i = j - sizes[j]
        while plain and j - i >= 2 * k:
            j -= k
            count -= 1
            starts[count] = j
        count -= 1
        starts[count] = i
        j = i
    return starts


@jit
def label(starts, order, labels):
    """labels[order[l]] = the group of sorted value l."""
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else len(order)
        for i in range(starts[g], end):
            labels[order[i]] = g


@jit
def label_sorted(starts, labels):
    """As `label`, for values that are sorted already."""
    for g in range(len(starts)):
        end = starts[g + 1] if g + 1 < len(starts) else len(labels)
        for i in range(starts[g], end):
            labels[i] = g


@jit
def smallest_group(labels, n_groups):
    """The size of the smallest group, counted from the labels alone."""
    counts = np.zeros(n_groups, np.int64)
    for i in range(len(labels)):
        counts[labels[i]] += 1
    return counts.min()
