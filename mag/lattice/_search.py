"""The best nodes: all that can be among them are looked at, or, where there are too many, those along some paths."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from mag.lattice._lattice import Lattice, Levels, Outcome
from mag.lattice._rules import Rules

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
    """What is known of the nodes so far.

    Where rules are monotone, a node that is not allowed rules out all nodes below it: `failed` holds such nodes.
    """

    lattice: Lattice
    rules: Rules
    seen: dict[Levels, Outcome | None] = field(default_factory=dict)
    failed: list[Levels] = field(default_factory=list)

    def look(self, levels: Levels) -> Outcome | None:
        """What a node comes to."""
        if levels not in self.seen:
            if self._is_ruled_out(levels):
                return None
            self.seen[levels] = self.lattice.judge(levels, self.rules)
            if self.seen[levels] is None and self.rules.is_monotone:
                self.failed.append(levels)
        return self.seen[levels]

    def _is_ruled_out(self, levels: Levels) -> bool:
        return any(all(low <= high for low, high in zip(levels, node, strict=True)) for node in self.failed)

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

    A node that is not allowed rules out those below it, so that the search goes on from the highest such node of a path
    to the top.
    """
    lattice, rules = walk.lattice, walk.rules
    base = lattice.every_base()
    is_out = np.zeros(lattice.shape, bool)
    values: list[float] = []
    for place in np.argsort(base, axis=None, kind="stable").tolist():
        if len(values) == BEST and base.flat[place] > values[-1] * (1 + ROUNDING):
            return
        if is_out.flat[place]:
            continue
        levels = tuple(int(level) for level in np.unravel_index(place, lattice.shape))
        outcome = walk.seen[levels] if levels in walk.seen else lattice.judge(levels, rules)
        walk.seen[levels] = outcome
        if outcome is not None:
            values = sorted([*values, float(outcome.value * lattice.unit)])[:BEST]
        elif rules.is_monotone:
            for node in _highest_failures(walk, levels):
                is_out[tuple(slice(level + 1) for level in node)] = True


def _highest_failures(walk: Walk, levels: Levels) -> list[Levels]:
    """The nodes of a path to the top, found by halving it, that are not allowed."""
    path = path_up(walk.lattice, levels)
    low, high, failures = 0, len(path), [levels]
    while high - low > 1:
        middle = (low + high) // 2
        node = path[middle]
        if node not in walk.seen:
            walk.seen[node] = walk.lattice.judge(node, walk.rules)
        if walk.seen[node] is None:
            low = middle
            failures.append(node)
        else:
            high = middle
    return failures[-1:]


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
        _halve(walk, path)
    while best := walk.best():
        for outcome in best[:3]:
            for node in _neighbors(lattice, outcome.levels):
                walk.look(node)
        if walk.best()[0] == best[0]:
            return


def _halve(walk: Walk, path: list[Levels]) -> None:
    """Look for the lowest node of a path that is allowed; at all of them where nothing follows from one for others."""
    if walk.look(path[-1]) is None:
        for node in () if walk.rules.is_monotone else path:
            walk.look(node)
        return
    low, high = -1, len(path) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if walk.look(path[middle]) is not None else (middle, high)


def _neighbors(lattice: Lattice, levels: Levels) -> list[Levels]:
    """Nodes with one column a level lower or higher, or one lower and another higher."""
    columns = range(len(levels))
    down = [_moved(levels, j, -1) for j in columns if levels[j] > 0]
    moved = [_moved(node, j, 1) for node in (levels, *down) for j in columns if node[j] < lattice.top[j]]
    return [node for node in dict.fromkeys([*down, *moved]) if node != levels]


def _moved(levels: Levels, j: int, step: int) -> Levels:
    return (*levels[:j], levels[j] + step, *levels[j + 1 :])
