"""How the optimal grouping is found.  One solver, one file, one line in the table; and the rule behind "auto"."""

from dataclasses import dataclass
from types import ModuleType

from mag.costs import Cost
from mag.solvers import galil_park, quadratic, simple, simple_plus, staggered, wilber


@dataclass(frozen=True)
class Solver:
    """A solver's module and what it needs: a concave cost, or one where splitting is beneficial (groups below 2k)."""

    module: ModuleType
    concave: bool
    bounded: bool

    def valid(self, cost: Cost, *, bounded: bool) -> bool:
        """Whether it is exact for the cost; `bounded` says that no group needs 2k values or more."""
        return (cost.concave or not self.concave) and (bounded or not self.bounded)


SOLVERS = {
    "galil_park": Solver(galil_park, concave=True, bounded=False),
    "quadratic": Solver(quadratic, concave=False, bounded=False),
    "simple": Solver(simple, concave=False, bounded=True),
    "simple_plus": Solver(simple_plus, concave=True, bounded=True),
    "staggered": Solver(staggered, concave=True, bounded=True),
    "wilber": Solver(wilber, concave=True, bounded=False),
}

SMALL_K = 64  # up to here simple_plus is faster, and k·n is harmless where it degrades on tied values


def automatic(cost: Cost, k: int, *, bounded: bool) -> str:
    """The solver of "auto"; see the README for the measurements behind it."""
    if bounded and cost.concave:
        return "simple_plus" if k <= SMALL_K else "staggered"
    if bounded:
        return "simple"
    return "galil_park" if cost.concave else "quadratic"
