"""Annealing: any grouping, changed at random, uphill less and less often as heat falls (Kirkpatrick et al. 1983)."""

import numpy as np

from mag._lib.checks import integer, members_of, not_negative, one_of
from mag.methods._best_of import sum_of_squares
from mag.methods.anneal.recombine import numbered
from mag.methods.anneal.regions import TINY, Chains, Parts
from mag.methods.anneal.schedule import Schedule
from mag.methods.ona.rounds import split_large

ITERATIONS = 2000  # steps per record, unless there is a time limit
LONGEST = 1000  # steps per pair of records that are worth a wait
CHAINS, MOST = 2, 1000  # restarts
DIRECT = 6000  # records that are annealed as a whole first
WHOLE, ROUNDS = 0.9, 32  # of the steps, or of the time, is for that; looks at the clock
EFFORT = 150  # steps per record of a round in parts
FASTEST = 2**33  # n·n·d that ONA* does in a second at most: 2**30 to 2**32.3 were measured
MOSTLY = 0.8  # of the time is for ONA*, which gains more than annealing does in the same time
START = 0.1  # of the progress


def check(k, *, init="auto", iterations=None, restarts=None):
    """Refuse what the options cannot be; labels to begin with are for records, which are not here."""
    from mag.methods import METHODS  # which name this file

    if isinstance(init, str):
        fit = [name for name, method in METHODS.items() if name != "anneal" and method.k in (None, k)]
        one_of("init", init, ["auto", *fit])
    steps = not_negative("iterations", ITERATIONS if iterations is None else iterations)
    return steps, None if restarts is None else integer("restarts", restarts, 1, MOST, "most")


def group(X, k, *, init="auto", iterations=None, restarts=None, random_state, threads, progress):
    """The groups of `init`, annealed as a whole if that is small, then in parts; always the best that was found."""
    limited = progress.left() < np.inf
    steps, restarts = check(k, init=init, iterations=iterations, restarts=restarts)
    if iterations is None and limited:
        steps = float(LONGEST * len(X))
    beginning = progress.span(0.0, START)
    labels, start = _start(X, k, init, random_state, threads, beginning)
    details = {"init": start}
    if sum_of_squares(X, labels) < TINY * len(X) or labels.max() == 0 or beginning.step(1.0):
        return labels, details
    if len(X) <= DIRECT or restarts is not None:
        chains = Chains(X, k, labels, restarts or CHAINS, random_state, threads)
        labels = _as_a_whole(chains, WHOLE * steps, progress.span(START, WHOLE))
        steps *= 1.0 - WHOLE
    return _in_parts(Parts(X, k, labels, random_state, threads), steps, progress.span(WHOLE, 1.0)), details


def _as_a_whole(chains, steps, progress):
    """Heat falls once; a time limit leaves some for the parts."""
    schedule, reserve = Schedule(chains.scale, chains.mean, ROUNDS, steps), (1.0 - WHOLE) * progress.left()
    for turn in range(ROUNDS):
        chains.run(schedule.plan(turn, progress.left() - reserve), progress)
        if progress.step(turn / ROUNDS):
            break
    if schedule.hurried:
        progress.stop()
    return chains.labels()


def _in_parts(parts, steps, progress):
    """Rounds of parts, until all steps are done or the time is up."""
    rounds, left = int(np.ceil(steps / EFFORT)), progress.left()
    for turn in range(rounds):
        progress.step(max(turn / rounds, 1.0 - progress.left() / left if left < np.inf else 0.0))
        if progress.left() <= 0:
            break
        parts.run(steps / rounds, progress)
    return parts.labels


def _start(X, k, init, random_state, threads, progress):
    """The groups to begin with, of k to 2k-1 records, and their origin: a method that there is time for, or labels."""
    from mag.methods import METHODS, Resources, automatic  # which name this file

    n, d = X.shape

    def run(name, progress):
        labels, _ = METHODS[name].run(X, k, Resources(random_state, progress, threads))
        return split_large(X, k, numbered(labels), threads, progress)

    if not isinstance(init, str):
        return split_large(X, k, members_of("init", init, n, k), threads, progress), "labels"
    if init != "auto" or progress.left() == np.inf:
        name = automatic(n, d, k, False) if init == "auto" else init
        labels = run(name, progress)
        return labels, f"{name}, cut short" if progress.stopped else name
    found = []
    if n * n * d <= FASTEST * progress.left():
        most = progress.limited(MOSTLY * progress.left())
        found.append((run("ona_star", most), "ona_star"))
        if not most.stopped:
            return found[0]
        found[0] = found[0][0], "ona_star, cut short"
    labels = run("mona", progress)
    found.append((labels, "mona, cut short" if progress.stopped else "mona"))
    return min(found, key=lambda one: sum_of_squares(X, one[0]))
