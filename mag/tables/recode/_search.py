"""The best nodes: all that can be among them are looked at, or, where there are too many, those along some paths."""

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from mag.tables.recode._lattice import Lattice, Levels, Outcome
from mag.tables.recode._rules import Rules

BEST = 10  # nodes that are told
ROUNDING = 1e-9  # relative, of sums of floats: far more than they can have


@dataclass(frozen=True)
class Recoding:
    """The best nodes, the best first; whether that is proven; how many nodes there are, and how many were looked at."""

    best: list[Outcome]
    is_proven: bool
    n_nodes: int
    n_seen: int


@dataclass
class Walk:
    """What is known of the nodes so far: what they come to, None for those that are not allowed."""

    lattice: Lattice
    rules: Rules
    seen: dict[Levels, Outcome | None] = field(default_factory=dict)

    def evaluate(self, levels: Levels) -> Outcome | None:
        """What a node comes to."""
        if levels not in self.seen:
            self.seen[levels] = self.lattice.judge(levels, self.rules)
        return self.seen[levels]

    def best(self) -> list[Outcome]:
        """The best nodes that were looked at."""
        return sorted(outcome for outcome in self.seen.values() if outcome is not None)[:BEST]


def search(lattice: Lattice, rules: Rules, max_nodes: int) -> Recoding:
    """The best nodes of a lattice: proven where it has at most `max_nodes`, otherwise the best along some paths."""
    walk = Walk(lattice, rules)
    is_small = lattice.n_nodes <= max_nodes
    if is_small:
        look_at_all(walk)
    else:
        look_along_paths(walk)
    return Recoding(walk.best(), is_small, lattice.n_nodes, len(walk.seen))


# ---- all nodes


def look_at_all(walk: Walk) -> None:
    """Look at nodes by rising base loss, which nothing above a node undercuts, until that exceeds the tenth best loss.

    A node that is not allowed rules out those below it, where rules are monotone: most of them follow from the highest
    such node of a path to the top.
    """
    lattice = walk.lattice
    base = lattice.every_base()
    is_out = np.zeros(lattice.shape, bool)
    values: list[float] = []
    for place in np.argsort(base, axis=None, kind="stable").tolist():
        if len(values) == BEST and base.flat[place] > values[-1] * (1 + ROUNDING):
            return
        if is_out.flat[place]:
            continue
        levels = tuple(int(level) for level in np.unravel_index(place, lattice.shape))
        outcome = walk.evaluate(levels)
        if outcome is not None:
            values = sorted([*values, float(outcome.value * lattice.unit)])[:BEST]
        elif walk.rules.is_monotone:
            highest = halve(walk, path_up(lattice, levels))
            is_out[tuple(slice(level + 1) for level in highest)] = True


def halve(walk: Walk, path: list[Levels]) -> Levels:
    """The highest node of a path that is not allowed, where the first is not, and all above an allowed one are."""
    low, high = 0, len(path)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if walk.evaluate(path[middle]) is None else (low, middle)
    return path[low]


# ---- paths


def path_up(lattice: Lattice, levels: Levels, first: Iterable[int] = (), last: int | None = None) -> list[Levels]:
    """A node after the other to the top: each time the column rises that adds least to the base loss.

    Columns `first` rise to their root before all others, and `last` after them.
    """
    path, now = [levels], levels
    early = list(first)
    while now != lattice.top:
        free = [j for j in range(len(now)) if now[j] < lattice.top[j]]
        choice = [j for j in early if j in free] or [j for j in free if j != last] or free
        now = min((_moved(now, j, 1) for j in choice), key=lambda node: (lattice.base(node), node))
        path.append(now)
    return path


def look_along_paths(walk: Walk) -> None:
    """Halve paths from the bottom to the top as Flash does, then go on from the best nodes to their neighbors."""
    lattice = walk.lattice
    paths = [path_up(lattice, lattice.bottom)]
    for j in range(len(lattice.shape)):
        paths += [path_up(lattice, lattice.bottom, first=[j]), path_up(lattice, lattice.bottom, last=j)]
    for path in paths:
        if walk.evaluate(path[0]) is None:
            halve(walk, path)
    if not walk.best() and not walk.rules.is_monotone:  # the top of the lattice does not decide the others
        for node in itertools.chain(*paths):
            walk.evaluate(node)
    while best := walk.best():
        for outcome in best[:3]:
            for node in _neighbors(lattice, outcome.levels):
                walk.evaluate(node)
        if walk.best()[0] == best[0]:
            return


def _neighbors(lattice: Lattice, levels: Levels) -> list[Levels]:
    """Nodes with one column a level lower or higher, or one lower and another higher."""
    columns = range(len(levels))
    down = [_moved(levels, j, -1) for j in columns if levels[j] > 0]
    moved = [_moved(node, j, 1) for node in (levels, *down) for j in columns if node[j] < lattice.top[j]]
    return [node for node in dict.fromkeys([*down, *moved]) if node != levels]


def _moved(levels: Levels, j: int, step: int) -> Levels:
    return (*levels[:j], levels[j] + step, *levels[j + 1 :])
