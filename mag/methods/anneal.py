"""Annealing: any grouping, changed at random, uphill less and less often as heat falls (Kirkpatrick et al. 1983)."""

import numpy as np

from mag._checks import integer, members_of, not_negative, one_of
from mag.backends import cpu
from mag.methods._polish import split_large
from mag.methods._recombine import best_parts
from mag.methods._regions import PART, Chains, Parts
from mag.methods._schedule import Schedule
from mag.methods._search import sum_of_squares

ITERATIONS = 2000  # steps per record, unless there is a time limit
CHAINS, MOST = 2, 1000  # restarts
DIRECT = 6000  # records that are annealed as a whole
ROUNDS, FEWEST = 32, 4
SEARCH = 0.03  # steps that take as long as one record and column of a search for neighbours
SPEED = 8e6  # steps a second and thread, about
QUICK = 2**30  # n·n·d that ONA* does in a second, about
TINY = 1e-290  # squared standard deviations: rounding
START = 0.1  # of the progress


def group(X, k, *, init="auto", iterations=None, restarts=None, random_state, threads, watch):
    """The best parts of the groups of `init` and of what annealing makes of them."""
    n, d = X.shape
    limited = watch.left() < np.inf
    budget = None if iterations is None else not_negative("iterations", iterations)
    if budget is None and not limited:
        budget = float(ITERATIONS)
    if restarts is not None:
        restarts = integer("restarts", restarts, 1, MOST, "most")
    first = _start(X, k, init, random_state, threads, watch.part(0.0, START))
    mean = sum_of_squares(X, first) / n
    if mean < TINY or first.max() == 0 or watch.step(1.0):
        return first
    if n <= DIRECT or restarts is not None:
        rounds, regions = ROUNDS, Chains(X, k, first, restarts or CHAINS, random_state, threads)
    else:
        expected = budget if budget is not None else watch.left() * threads * SPEED / n
        rounds = int(np.clip(expected / (3 * SEARCH * PART * d), FEWEST, ROUNDS))
        regions = Parts(X, k, first, random_state, threads)
    watch.part(START, 1.0)
    schedule, hurried = Schedule(regions.scale, mean, rounds, budget), False
    for turn in range(rounds):
        plan = schedule.plan(turn, watch.left())
        hurried |= plan.hurried
        regions.run(plan, watch)
        if watch.step((turn + 1) / rounds):
            break
    watch.stopped |= hurried
    return best_parts(X, [first, *regions.groupings()])


def _start(X, k, init, random_state, threads, watch):
    """The groups to begin with, of k to 2k-1 records: those of a method that leaves time to anneal them, or given."""
    from mag.methods import METHODS, automatic  # which name this file

    n, d = X.shape
    if isinstance(init, str):
        name = one_of("init", init, ["auto", *(name for name in METHODS if name != "anneal")])
        if name == "auto":
            name = automatic(n, d, k, False) if n * n * d <= QUICK * watch.left() else "mona"
        given = {"engine": cpu, "random_state": random_state, "threads": threads, "watch": watch, "whole": None}
        found = METHODS[name].group(X, k, **{what: one for what, one in given.items() if METHODS[name].takes(what)})
        labels = np.unique(found[0] if isinstance(found, tuple) else found, return_inverse=True)[1]
    else:
        labels = members_of("init", init, n, k)
    return split_large(X, k, labels, threads, watch)
