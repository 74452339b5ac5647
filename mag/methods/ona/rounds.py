"""Rounds of ONA on any grouping: short compiled steps, and memories brought up to date on several threads between."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mag._compiled.work import Work, work_for
from mag._lib.progress import Progress
from mag._lib.threads import each_in_time
from mag.methods._best_of import sum_of_squares
from mag.methods._split import split_large
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.distances.metric import metric_of
from mag.methods.distances.mixed import Mixed
from mag.methods.mdav import mdav_plus
from mag.methods.ona.one_by_one import visit_records
from mag.methods.ona.phases import form_groups, groups_now, refresh, rounds_at, visit

MAX_ONA_ROUNDS = 30  # as in section 6.5
GROUPS_PER_STEP = 512  # groups, or records, a step
EXPECTED_LATER_GAIN = 0.05  # of its cost that a grouping is expected to lose after the first round
SLOWER = 0.7  # share of the remaining work that is left after a round: a guess for the progress bar


def polish(
    X: np.ndarray, k: int, labels: np.ndarray, threads: int, progress: Progress, trees: CategoryColumns | None = None
) -> np.ndarray:
    """ONA* on a grouping: dissolve and reassign (algorithm 15) until nothing changes or the time is up."""
    labels = split_large(X, k, labels, mdav_plus, threads, progress)
    records = X if trees is None else trees.records(X)
    return _rounds(records, k, labels, _dissolve_and_reassign(records, k, threads, progress), progress)


def polish_below(X: np.ndarray, k: int, least: float, progress: Progress, labels: np.ndarray) -> np.ndarray | None:
    """`polish`, or None as soon as it seems not to get below the `least` cost of another one.

    As a rule, a round gains less than the one before, and all later ones together about as much as the last one.
    """
    labels = split_large(X, k, labels, mdav_plus, 1, progress)
    return _rounds(X, k, labels, _dissolve_and_reassign(X, k, 1, progress), progress, least)


def _dissolve_and_reassign(
    X: np.ndarray | Mixed, k: int, threads: int, progress: Progress
) -> Callable[[Work], Iterator[None]]:
    def turn(work: Work) -> Iterator[None]:
        for phase in range(2):
            _refresh(work, X, k, threads, progress)
            yield
            cursor = 0
            while cursor >= 0:
                cursor = visit(work, X, k, phase, cursor, GROUPS_PER_STEP)
                yield

    return turn


def shuffle(X: np.ndarray, k: int, labels: np.ndarray, seed: int, threads: int, progress: Progress) -> np.ndarray:
    """ONA on a grouping (algorithm 14): records one by one, until nothing changes or the time is up."""
    seeds = np.array([seed])

    def turn(work: Work) -> Iterator[None]:
        _refresh(work, X, k, threads, progress)
        yield
        for a in range(0, len(X), GROUPS_PER_STEP):
            visit_records(work, X, k, a, min(a + GROUPS_PER_STEP, len(X)), seeds)
            yield

    return _rounds(X, k, labels, turn, progress)


def _refresh(work: Work, X: np.ndarray | Mixed, k: int, threads: int, progress: Progress) -> None:
    """Bring all memories up to date, or as many as there is time for: `visit` updates the others."""
    n = metric_of(X).n
    parts = [(a, min(a + GROUPS_PER_STEP, n)) for a in range(0, n, GROUPS_PER_STEP)]
    each_in_time(lambda part: refresh(work, X, k, *part), parts, threads, lambda: progress.seconds_left() <= 0)


def _rounds(
    X: np.ndarray | Mixed,
    k: int,
    labels: np.ndarray,
    turn: Callable[[Work], Iterator[None]],
    progress: Progress,
    least: float = np.inf,
) -> Any:
    """Labels; None with a `least` cost that seems out of reach."""
    if progress.step(0.0):
        return labels
    work = work_for(rounds_at, metric_of(X), k)
    form_groups(work, X, k, labels)
    before = np.inf
    for number in range(MAX_ONA_ROUNDS):
        for _ in turn(work):  # between two steps the groups are always valid
            if progress.step(1.0 - SLOWER**number):
                groups_now(work, X, k, labels)
                return labels
        _, changes = groups_now(work, X, k, labels)
        if not changes:
            break
        if least < np.inf:
            cost = sum_of_squares(metric_of(X).points, labels)
            if cost - min(before - cost, EXPECTED_LATER_GAIN * cost) > least:
                return None
            before = cost
    return labels
