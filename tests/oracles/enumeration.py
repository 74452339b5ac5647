"""The oracle of private mechanisms: every outcome of a mechanism with its probability, and every pair of neighbors.

A mechanism runs once for every outcome of its draws, which a source of this file plays; what it publishes is the
outcome.  The hockey-stick divergence of two laws, Σ max(0, P - e^ε Q), is the least δ for which they are close.

Noise on integers is played as the noisy value itself, from one end of a window to the other, where both ends stand for
all beyond: as long as true values lie between them, all outcomes beyond an end have the same ratio of probabilities,
and nothing is lost.
"""

import itertools
import math
from collections import Counter
from functools import cache

import numpy as np

from mag.dp._random import using


class Branch(Exception):  # noqa: N818 - it is none
    def __init__(self, outcomes):
        self.outcomes = outcomes


class Player:
    """A source that plays outcomes, and knows how probable they were."""

    holds = True

    def __init__(self, outcomes, window, windows):
        self.outcomes, self.window, self.windows, self.probability = iter(outcomes), window, windows, 1.0

    def check(self, *largest):
        pass

    def next(self, every):
        try:
            return next(self.outcomes)
        except StopIteration:
            raise Branch(list(every)) from None

    def keep(self, n, chance):
        kept = self.next(itertools.product([False, True], repeat=n))
        beta = chance / 2**53
        self.probability *= math.prod(beta if one else 1 - beta for one in kept)
        return np.array(kept, bool)

    def add_noise(self, values, noise):
        low, high = self.windows.get(noise.what, self.window)
        noisy = self.next(itertools.product(range(low, high + 1), repeat=len(values)))
        scale = noise.sensitivity / noise.epsilon
        for value, seen in zip(values.tolist(), noisy, strict=True):
            self.probability *= noisy_value(value, seen, float(scale), low, high)
        return np.array(noisy, np.int64)

    def choose(self, scores, noise):
        place = self.next(range(len(scores)))
        rate = float(noise.epsilon / (noise.sensitivity * (1 if noise.monotonic else 2)))
        self.probability *= permute_and_flip(tuple(scores.tolist()), rate)[place]
        return place


def noisy_value(value, seen, scale, low, high):
    """The probability of a value with discrete Laplace noise, in closed form."""
    assert low <= value <= high
    a = math.exp(-1 / scale)
    tail = lambda distance: a**distance / (1 + a)  # noqa: E731 - of all at least so far away, on one side
    if seen in (low, high):
        distance = abs(seen - value)
        return tail(distance) if distance else 1 - tail(1)
    return (1 - a) / (1 + a) * a ** abs(seen - value)


@cache
def permute_and_flip(scores, rate):
    """The probability of every place (McKenna & Sheldon 2020), over all orders."""
    best, law = max(scores), [0.0] * len(scores)
    for order in itertools.permutations(range(len(scores))):
        rest = 1.0
        for place in order:
            coin = math.exp((scores[place] - best) * rate)
            law[place] += rest * coin
            rest *= 1 - coin
    return [share / math.factorial(len(scores)) for share in law]


def law_of(run, window=(0, 4), windows=None):
    """The tables that a mechanism publishes, and their probabilities."""
    law, prefixes = Counter(), [()]
    while prefixes:
        prefix = prefixes.pop()
        player = Player(prefix, window, windows or {})
        with using(player):
            try:
                published = run()
            except Branch as branch:
                prefixes += [(*prefix, outcome) for outcome in branch.outcomes]
                continue
        law[frozen(published)] += player.probability
    assert math.isclose(sum(law.values()), 1)
    return law


def frozen(published):
    """Something to count by."""
    data = getattr(published, "data", published)
    if isinstance(data, dict):
        return tuple((name, tuple(np.asarray(cells).tolist())) for name, cells in data.items())
    return data


def divergence(p, q, epsilon):
    return sum(max(0.0, share - math.exp(epsilon) * q[outcome]) for outcome, share in p.items())


def multisets(values, n):
    return [rows for size in range(n + 1) for rows in itertools.combinations_with_replacement(values, size)]


def neighbors(databases, kind):
    """All pairs, both ways: one record more or fewer, or one replaced."""
    known = set(databases)
    for rows in databases:
        for place in range(len(rows)):
            rest = rows[:place] + rows[place + 1 :]
            others = [rest] if kind == "add_remove" else [other for other in known if _replaces(other, rest)]
            for other in others:
                if other in known and other != rows:
                    yield rows, other
                    yield other, rows


def _replaces(rows, rest):
    left = Counter(rows)
    left.subtract(Counter(rest))
    return len(rows) == len(rest) + 1 and min(left.values()) >= 0


def laws_of(run, databases, window=(0, 4), windows=None):
    return {rows: law_of(lambda rows=rows: run(rows), window, windows) for rows in databases}


def worst_of(laws, epsilon, kind="add_remove"):
    return max(divergence(laws[one], laws[other], epsilon) for one, other in neighbors(list(laws), kind))


def worst(run, databases, epsilon, kind="add_remove", window=(0, 4), windows=None):
    """The largest divergence of all neighbors: the δ that a mechanism really has."""
    return worst_of(laws_of(run, databases, window, windows), epsilon, kind)
