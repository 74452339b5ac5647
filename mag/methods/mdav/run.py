# mypy: allow-untyped-defs, no-check-untyped-defs
"""How a maximum distance method is run from Python: short compiled steps, and lists made on several threads between."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from mag._backends import cpu
from mag._compiled.jit import jit
from mag._compiled.memory import grid
from mag._compiled.work import NEAREST, ZERO, work_for
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.distances.metric import metric_of
from mag.methods.mdav.ends import begin_ends, ends_at, make_farthest, reserve_farthest
from mag.methods.mdav.nearest_lists import copy_lists, make_lists, reserve_lists
from mag.methods.mdav.on_device import DeviceLists
from mag.methods.mdav.state import N_FREE, SPARE, begin_state, state_at, state_in
from mag.methods.mondrian.halving import RULE_VARIANCE, labels_of, parts_of

LISTS_PER_THREAD = 8  # lists that are worth a thread
GAMMA_TOLERANCE = 1e-12  # of a gain factor, far larger than its rounding error
COST_SLACK = 1e-9  # of the sum of squares of all records: far larger than the rounding error of a cost


@jit
def _begin(work, X, k):
    state = state_in(work, X, k, ZERO)
    begin_state(state)


@jit
def _reserve_nearest(work, X, k):
    """How many lists of nearest records are needed."""
    state = state_in(work, X, k, ZERO)
    return reserve_lists(state.near)


@jit
def _make_nearest(work, X, k, count, start, stop):
    """Make the reserved lists start .. stop."""
    state = state_in(work, X, k, ZERO)
    make_lists(state.field, state.near, NEAREST, count, start, stop)


@jit
def _count_free(work, X, k):
    state = state_in(work, X, k, ZERO)
    return state.status[N_FREE]


@jit
def _copy_labels(work, X, k, labels):
    """Negative for records without a group."""
    state = state_in(work, X, k, ZERO)
    for i in range(labels.size):
        labels[i] = state.label[i]


@jit
def _copy_nearest(work, X, k, near):
    """Begin with these lists of nearest records."""
    state = state_in(work, X, k, ZERO)
    copy_lists(state.near, grid(near, near.shape[1]), near.shape[1])


@jit
def _cost_by_now(work, X, k, squares):
    """The current cost of the groups: `squares` are those of the records, whose mean should be near 0."""
    state = state_in(work, X, k, ZERO)
    centroids, total = state.centroids, 0.0
    for i in range(squares.size):
        if state.label[i] >= 0:
            total += squares[i]
    for g in range(centroids.used[0]):
        for j in range(centroids.d):
            total -= centroids.sums[g, j] ** 2 / centroids.size[g]
    return total


@jit
def _limit_of(work, X, k):
    """The largest gain factor up to which all decisions would have been the same."""
    state = state_in(work, X, k, ZERO)
    return state.limit[0]


class Rivals:
    """State shared by competing runs: neighbor lists and the results of finished runs.

    `near` are lists of nearest records to begin with, None if there was no time for them, `gamma` the gain factor of a
    run, if it is seen from there.
    """

    def __init__(self, X: np.ndarray, near: np.ndarray | None) -> None:
        self.near, self.gamma = near, 0.0
        self.squares = np.square(X).sum(axis=1)
        self._slack = COST_SLACK * float(self.squares.sum())
        self._costs = [np.inf]
        self._alike: list[tuple[float, float]] = []

    def seen_from(self, gamma: float) -> "Rivals":
        """The same for a run with that gain factor."""
        rivals = copy.copy(self)
        rivals.gamma = gamma
        return rivals

    def beat(self, cost: float) -> bool:
        """Whether one of them costs less than this, by more than rounding errors."""
        return cost > min(self._costs) + self._slack

    def end(self, cost: float) -> None:
        """Record that a run has ended with groups of that cost."""
        self._costs.append(cost)

    def decide_up_to(self, limit: float) -> None:
        """The run would have decided alike with any gain factor from its own up to the limit."""
        self._alike.append((self.gamma, limit * (1 - GAMMA_TOLERANCE)))

    def run_alike(self) -> bool:
        """Whether a run that has ended had the same groups."""
        return any(first <= self.gamma < limit for first, limit in self._alike)


def run_steps(
    step: Callable[..., bool],
    points: np.ndarray,
    k: int,
    *options: Any,
    ends: bool = False,
    rivals: Rivals | None = None,
    engine: Any = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> Any:
    """Call step(work, X, k, *options) until it wants no more lists; when the time is up, Mondrian groups the rest.

    A step that searches for opposite records needs `ends`.  The engine makes the lists.  With `rivals`, None as soon as
    the groups cost more than those of another run: the cost never falls while records join.  If there are `trees`,
    distances come from them.
    """
    X: Any = points if trees is None or engine.on_device else trees.records(points)
    work = work_for(ends_at if ends else state_at, metric_of(X), k, ZERO)
    _begin(work, X, k)
    lists = [(_reserve_nearest, _make_nearest)]
    if ends:
        begin_ends(work, X, k)
        lists.append((reserve_farthest, make_farthest))
    if rivals is not None and rivals.near is not None:
        _copy_nearest(work, X, k, rivals.near)
    listed_there = engine.supports_lists(*points.shape, 2 * k + SPARE)
    device = DeviceLists(work, X, k, ends, engine) if listed_there else None
    while step(work, X, k, *options):  # ends: every step uses the list that it asked for, then assigns records
        if rivals is not None and rivals.beat(_cost_by_now(work, X, k, rivals.squares)):
            return None
        jobs = []
        if device:
            device.make()
            lists = []
        for reserve, make in lists:
            count = reserve(work, X, k)
            share = max(LISTS_PER_THREAD, -(-count // threads))
            jobs += [(make, count, a, min(a + share, count)) for a in range(0, count, share)]
        each(lambda job: job[0](work, X, k, *job[1:]), jobs, threads)
        if progress.step(1.0 - _count_free(work, X, k) / len(points)):
            break
    else:
        if rivals is not None:
            rivals.decide_up_to(_limit_of(work, X, k))
    labels = np.empty(len(points), np.int64)
    _copy_labels(work, X, k, labels)
    group_rest(points, k, labels, threads, progress)
    return labels


def group_rest(X: np.ndarray, k: int, labels: np.ndarray, threads: int, progress: Progress) -> None:
    """Groups for records without one; fewer than k of them join the group with the nearest centroid, one by one."""
    rest, used = np.flatnonzero(labels < 0), int(labels.max()) + 1
    if rest.size >= k:
        labels[rest] = used + labels_of(*parts_of(X[rest], k, 0, RULE_VARIANCE, threads, progress))
    elif rest.size:
        done = labels >= 0
        sizes = np.bincount(labels[done])
        sums = np.stack([np.bincount(labels[done], x) for x in X[done].T])
        for i in rest:
            away = np.zeros(used)
            for total, x in zip(sums, X[i], strict=True):
                away += np.square(total / sizes - x)
            g = np.argmin(away)
            labels[i], sizes[g] = g, sizes[g] + 1
            sums[:, g] += X[i]
