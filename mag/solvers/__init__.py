"""How the optimal grouping is found.  One solver, one file, one line in the table; and the rule behind "auto"."""

from collections.abc import Callable
from dataclasses import dataclass

from mag._compiled.cost import Kernel
from mag.costs import Cost
from mag.solvers import block, galil_park, growing, quadratic, simple, simple_plus, staggered, wilber
from mag.solvers._contract import Solution, SolverDemand, SolverInput

__all__ = ["SOLVERS", "Solution", "Solver", "SolverDemand", "SolverInput", "automatic"]


@dataclass(frozen=True)
class Solver:
    """A solver and what it needs.

    `solve` is given values and the demands of a problem; `memory` says how many float64 that takes.

    `concave`: a concave cost; `bounded`: one where splitting is beneficial, so that groups have fewer than 2k values;
    `lanes`: a kernel that takes lanes, values in float64; `blocks` says that it also takes costs from blocks.
    """

    solve: Callable[[SolverInput, SolverDemand], Solution]
    memory: Callable[[Kernel | None, int, int], int]
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
    "block": Solver(block.run, block.memory, concave=True, bounded=True, lanes=True),
    "galil_park": Solver(galil_park.run, galil_park.memory, concave=True, bounded=False),
    "growing": Solver(growing.run, growing.memory, concave=True, bounded=False, lanes=True),
    "quadratic": Solver(quadratic.run, quadratic.memory, concave=False, bounded=False, blocks=True),
    "simple": Solver(simple.run, simple.memory, concave=False, bounded=True),
    "simple_plus": Solver(simple_plus.run, simple_plus.memory, concave=True, bounded=True),
    "staggered": Solver(staggered.run, staggered.memory, concave=True, bounded=True, blocks=True),
    "wilber": Solver(wilber.run, wilber.memory, concave=True, bounded=False),
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
