"""Annealing: any grouping, changed at random, uphill less and less often as heat falls (Kirkpatrick et al. 1983)."""

import time

import numpy as np

from mag._lib.checks import integer, not_negative
from mag._lib.progress import Progress
from mag.methods._best_of import sum_of_squares
from mag.methods.anneal.falling import fall
from mag.methods.anneal.regions import ROUNDING_COST, Chains, RegionParts
from mag.methods.anneal.schedule import PILOT_STEPS_PER_RECORD, melt, pilot_plan, warm

ITERATIONS = 2000  # steps per record, unless there is a time limit
MAX_STEPS_PER_PAIR = 1000  # steps per pair of records that are worth a wait
DEFAULT_RESTARTS, MAX_RESTARTS = 2, 1000  # restarts
DIRECT = 6000  # records that are annealed as a whole first, from a heat that erases the start
NEIGHBOR_WORK_PER_SECOND, NEIGHBOR_SEARCH_SHARE, MAX_NEIGHBOR_WORK = (
    2**33,
    0.1,
    2**36,
)  # n·n·d of neighbors found per second; share of the time; largest n·n·d
BEGUN, WHOLE, CLOCK_LOOKS = 0.1, 0.9, 32  # shares of the steps, or of the time; number of looks at the clock
EFFORT = 150  # steps per record of a round in parts


def check(k: int, *, iterations: float | None = None, restarts: int | None = None) -> tuple[float, int | None]:
    """Reject invalid options."""
    steps = not_negative("iterations", ITERATIONS if iterations is None else iterations)
    return steps, None if restarts is None else integer("restarts", restarts, 1, MAX_RESTARTS, "most")


def group(
    X: np.ndarray,
    k: int,
    *,
    iterations: float | None = None,
    restarts: int | None = None,
    start: np.ndarray,
    random_state: np.random.Generator,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """The groups of `start`, annealed as a whole if that is small, then in parts; always the best that was seen."""
    limited = progress.seconds_left() < np.inf
    steps, restarts = check(k, iterations=iterations, restarts=restarts)
    if iterations is None and limited:
        steps = float(MAX_STEPS_PER_PAIR * len(X))
    labels = start
    if sum_of_squares(X, labels) < ROUNDING_COST * len(X) or labels.max() == 0 or progress.step(BEGUN):
        return labels
    if len(X) > DIRECT and restarts is None and ((limited and iterations is None) or not _has_time(X, progress)):
        labels, complete = fall(X, k, labels, steps, random_state, threads, progress.span(BEGUN, 1.0))
        if not complete:
            progress.stop()
        return labels
    chains = Chains(X, k, labels, restarts or DEFAULT_RESTARTS, random_state, threads)
    labels = _as_a_whole(chains, WHOLE * steps, progress.span(BEGUN, WHOLE))
    steps *= 1.0 - WHOLE
    return _in_parts(RegionParts(X, k, labels, random_state, threads), steps, progress.span(WHOLE, 1.0))


def _as_a_whole(chains: Chains, steps: float, progress: Progress) -> np.ndarray:
    """Heat falls once; a time limit leaves some for the parts."""
    reserve, facts = (1.0 - WHOLE) * progress.seconds_left(), (chains.scale, chains.mean, CLOCK_LOOKS, steps)
    if chains.scale.size > DIRECT:
        began = time.monotonic()
        chains.run(pilot_plan(chains.mean), progress)
        pace = PILOT_STEPS_PER_RECORD / max(time.monotonic() - began, 1e-9)  # of one record
        schedule = warm(*facts, pace * WHOLE * progress.seconds_left())
    else:
        schedule = melt(*facts)
    for turn in range(CLOCK_LOOKS):
        chains.run(schedule.plan(turn, progress.seconds_left() - reserve), progress)
        if progress.step(turn / CLOCK_LOOKS):
            break
    if schedule.hurried:
        progress.stop()
    return chains.labels()


def _has_time(X: np.ndarray, progress: Progress) -> bool:
    """Whether the neighbors of all records can be found in a small part of the time."""
    return len(X) ** 2 * X.shape[1] <= min(
        NEIGHBOR_SEARCH_SHARE * NEIGHBOR_WORK_PER_SECOND * max(progress.seconds_left(), 0.0), MAX_NEIGHBOR_WORK
    )


def _in_parts(parts: RegionParts, steps: float, progress: Progress) -> np.ndarray:
    """Rounds of parts, until all steps are done or the time is up."""
    rounds, left = int(np.ceil(steps / EFFORT)), progress.seconds_left()
    for turn in range(rounds):
        progress.step(max(turn / rounds, 1.0 - progress.seconds_left() / left if left < np.inf else 0.0))
        if progress.seconds_left() <= 0:
            break
        parts.run(steps / rounds, progress)
    return parts.labels
