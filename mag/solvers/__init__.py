"""How the optimal grouping is found.  One solver, one file, one line in the table; and the rule behind "auto"."""

from dataclasses import dataclass
from types import ModuleType

from mag.costs import Cost
from mag.solvers import block, galil_park, growing, quadratic, simple, simple_plus, staggered, wilber


@dataclass(frozen=True)
class Solver:
    """A solver's module and what it needs.

    `concave`: a concave cost; `bounded`: one where splitting is beneficial, so that groups have fewer than 2k values;
    `lanes`: a kernel that takes lanes, values in float64; `blocks` says that it also takes costs from blocks.
    """

    module: ModuleType
    concave: bool
    bounded: bool
    lanes: bool = False
    blocks: bool = False

    def valid(self, cost: Cost, *, bounded: bool, weighted: bool = False) -> bool:
        """Whether it is exact for the cost; `bounded` says that no group needs 2k values or more."""
        if cost.blocks and not self.blocks:
            return False
        kernel = cost.weighted if weighted else cost.kernel
        lanes = kernel is not None and kernel.lanes
        return (cost.concave or not self.concave) and (bounded or not self.bounded) and (lanes or not self.lanes)


SOLVERS = {
    "block": Solver(block, concave=True, bounded=True, lanes=True),
    "galil_park": Solver(galil_park, concave=True, bounded=False),
    "growing": Solver(growing, concave=True, bounded=False, lanes=True),
    "quadratic": Solver(quadratic, concave=False, bounded=False, blocks=True),
    "simple": Solver(simple, concave=False, bounded=True),
    "simple_plus": Solver(simple_plus, concave=True, bounded=True),
    "staggered": Solver(staggered, concave=True, bounded=True, blocks=True),
    "wilber": Solver(wilber, concave=True, bounded=False),
}

SMALL_K = 64  # up to here simple_plus is faster, and k·n is harmless where it degrades on tied values


def automatic(cost: Cost, k: int, *, bounded: bool, weighted: bool) -> list[str]:
    """The solvers of "auto", best first; those behind one in lanes serve integers that float64 cannot hold.

    "galil_park" also serves where "growing" may have lost precision.  docs/figures/speed.md has the measurements behind
    it.
    """
    if cost.blocks:
        return ["staggered" if bounded and cost.concave else "quadratic"]
    kernel = cost.weighted if weighted else cost.kernel
    lanes = kernel is not None and kernel.lanes
    if bounded and cost.concave:
        scalar = "simple_plus" if k <= SMALL_K else "staggered"
        return ["block", scalar] if lanes else [scalar]
    if bounded:
        return ["simple"]
    if not cost.concave:
        return ["quadratic"]
    return ["growing", "galil_park"] if lanes else ["galil_park"]
