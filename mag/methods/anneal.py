"""Annealing: any grouping, changed at random, uphill less and less often, until it costs less."""

import time

import numpy as np

from mag._checks import integer, not_negative
from mag.backends._threads import each
from mag.methods._chain import cool, enter, leave, room_for_chain
from mag.methods._memory import work_for
from mag.methods._neighbours import neighbours
from mag.methods._partition import VARIANCE, parts_of
from mag.methods._polish import split_large
from mag.methods._recombine import best_parts
from mag.methods._search import sum_of_squares

ITERATIONS = 2000  # per record, unless there is a time limit
DIRECT = 8192  # records that are annealed as a whole
PART = 2048  # records of a part otherwise
NEAR = 24  # neighbours that are tried
ROUNDS = 32
LEVELS = 16  # heats of a round
HOT, COLD = 3.0, 5e-4  # heats, of the mean cost per record
REACH = 3.0  # records whose own cost is at least heat / REACH take part
FEW = 32  # at least so many do
PACE = 1e6  # steps a second, until it is known


class Schedule:
    """Which heats there are, how many records take part in each, and which share of the steps it gets."""

    def __init__(self, scale, mean):
        hot = max(HOT * mean, scale.max())
        self.heats = np.geomspace(hot, COLD * mean, ROUNDS * LEVELS)
        self.active = np.clip(np.searchsorted(-scale, -self.heats / REACH, side="right"), min(FEW, scale.size), None)
        share = np.sqrt(self.active)
        # heats so that every level has the same share
        self.share = share / share.sum()


def group(X, k, *, init="auto", iterations=None, restarts=2, random_state, threads, watch):
    n, d = X.shape
    restarts = integer("restarts", restarts, 1, 10**6, "most")
    first = _start(X, k, init, threads, watch)
    mean = sum_of_squares(X, first) / n
    if mean == 0.0 or first.max() == 0 or watch.left() <= 0:
        return first
    padded = np.zeros((n, -(-d // 4) * 4))
    padded[:, :d] = X
    chains = [Whole(padded, k, first, random_state, threads) for _ in range(restarts)]
    return _anneal(X, first, chains, mean, iterations, threads, watch)


class Whole:
    def __init__(self, X, k, labels, random_state, threads):
        n = len(X)
        near = neighbours(X, min(max(NEAR, 2 * k), n - 1), threads)
        away = [np.square(X - X[near[:, rank]]).sum(axis=1) for rank in range(min(k - 1, near.shape[1]))]
        scale = sum(away) / (2 * k)
        self.order = np.argsort(-scale, kind="stable")
        place = np.empty(n, np.int32)
        place[self.order] = np.arange(n)
        self.scale, self.k, self.n = scale[self.order], k, n
        self.near, self.X = place[near[self.order]], X[self.order]
        self.work = work_for(room_for_chain, self.X, self.near, k)
        enter(self.work, self.X, self.near, k, labels[self.order], random_state.integers(1, 2**62))

    def run(self, plan):
        for heat, active, steps in zip(*plan):
            cool(self.work, self.X, self.near, self.k, heat, active, steps)

    def labels(self):
        labels = np.empty(self.n, np.int64)
        leave(self.work, self.X, self.near, self.k, labels)
        out = np.empty(self.n, np.int64)
        out[self.order] = labels
        return out


def _anneal(X, first, chains, mean, iterations, threads, watch):
    schedule = Schedule(chains[0].scale, mean)
    pace = PACE
    total = (ITERATIONS if iterations is None else iterations) * len(X)
    limited = watch.left() < np.inf and iterations is None
    for r in range(ROUNDS):
        levels = slice(r * LEVELS, r * LEVELS + LEVELS)
        share = schedule.share[levels]
        steps = total * share
        if limited:
            steps = pace * watch.left() * 0.97 * share / schedule.share[r * LEVELS :].sum()
        steps = np.maximum(steps, 1).astype(np.int64)
        began = time.monotonic()
        each(lambda chain: chain.run((schedule.heats[levels], schedule.active[levels], steps)), chains, threads)
        pace = steps.sum() / (time.monotonic() - began)
        if watch.step(r / ROUNDS):
            break
    return best_parts(X, [first, *(np.unique(chain.labels(), return_inverse=True)[1] for chain in chains)])


def _start(X, k, init, threads, watch):
    from mag.methods import METHODS, automatic

    name = automatic(*X.shape, k) if init == "auto" else init
    labels = METHODS[name].group(X, k, threads=threads, watch=watch)
    return split_large(X, k, np.unique(labels, return_inverse=True)[1], threads, watch)
