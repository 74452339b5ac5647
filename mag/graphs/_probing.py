"""Degree sequences to try, one after the other, until one belongs to a graph (Liu & Terzi's probing)."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np

from mag._lib.interrupt import raise_if_abandoned
from mag.api.types import DegreeCost
from mag.graphs._sequence import excess_over_graphical
from mag.graphs.degrees import best_degrees

SHUFFLES = 20  # of vertices of equal degree, before another sequence is tried
STEPS_PER_DOUBLING = 64  # steps in which the degrees raised so far are doubled, once there are many


@dataclass
class Sequence:
    """New degrees for vertices sorted by their raised degrees; who of equal ones gets which is free."""

    raised: np.ndarray
    targets: np.ndarray

    def room(self) -> np.ndarray:
        """The largest degree that each vertex may be dealt."""
        most = np.zeros(self.raised.size, np.int64)
        np.maximum.at(most, np.sort(self.raised), self.targets)
        return most[self.raised]

    def deal(self, rank: np.ndarray) -> np.ndarray:
        """The new degree of every vertex; vertices of equal degree are taken by rank."""
        dealt = np.empty_like(self.targets)
        dealt[np.argsort(self.raised * rank.size + rank)] = self.targets
        return dealt

    def deals(self, generator: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Ranks and new degrees: by number, then at random."""
        n = self.raised.size
        yield np.arange(n), self.deal(np.arange(n))
        for _ in range(SHUFFLES):
            raise_if_abandoned()
            rank = generator.permutation(n)
            yield rank, self.deal(rank)


def probe(d: np.ndarray, k: int, cost: DegreeCost) -> Generator[Sequence, int, None]:
    """The best sequence of graphs for d, then for d with some degrees raised by one, by two, …

    Whoever tries a sequence sends what was missing.  Those that were raised least are raised first, then those of low
    degree, which are many and cheap.  In the end all degrees are n-1, those of the complete graph.
    """
    n, raised = d.size, d.copy()
    while True:
        raise_if_abandoned()
        v, tried, missing = np.sort(raised), None, n * n
        for late in (False, True):
            targets, _ = best_degrees(v, k, cost, late=late)
            if tried is None or (targets != tried).any():
                tried, excess = targets, excess_over_graphical(targets)
                # a degree that is raised by one raises those of a group at most
                missing = min(missing, excess // k if excess else (yield Sequence(raised, targets)))
        if (raised == n - 1).all():
            return
        raised = raise_degrees(
            d,
            raised,
            max(1, missing // (2 if missing > SHUFFLES else 4), int((raised - d).sum()) // STEPS_PER_DOUBLING),
        )


def raise_degrees(d: np.ndarray, raised: np.ndarray, steps: int) -> np.ndarray:
    """Raise as many degrees by one: those raised least so far, then the lowest of the original, then by number."""
    n, raised = d.size, raised.copy()
    while steps > 0 and (raised < n - 1).any():
        order = np.lexsort((d, raised - d))
        order = order[raised[order] < n - 1][:steps]
        level = (raised - d)[order]
        order = order[level == level[0]]  # a vertex is raised again only after all others
        raised[order] += 1
        steps -= order.size
    return raised
