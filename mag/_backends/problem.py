"""The problem to solve."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag._compiled.groups import Groups
from mag._lib.errors import InputValueError
from mag._lib.lazy import cached_property
from mag.costs import Cost
from mag.solvers import SOLVERS, Solver, SolverInput


@dataclass
class Problem:
    """Groups of `least` values or more, at the least cost; `fixed` is added per group, `short` per value below k.

    `solvers` are all exact here; the first that can read the values is used.
    """

    cost: Cost
    solvers: dict[str, Solver]
    k: int
    least: int
    fixed: float = 0.0
    short: float = 0.0
    max_groups: int | None = None

    @property
    def extended(self) -> bool:
        """Whether "auto" chose solvers without a bound on the size although splitting pays: for a penalty of 0."""
        return self.cost.splitting and self.cost.built_in and not self.bounded and len(self.solvers) > 1

    @property
    def bounded(self) -> bool:
        """Whether groups have fewer than 2k values."""
        return all(solver.bounded for solver in self.solvers.values())

    @cached_property
    def plain(self) -> bool:
        """Whether nothing speaks against splitting groups of 2k values or more."""
        return self.cost.splitting and self.least == self.k and not self.fixed and self.max_groups is None

    def solver_for(self, kernel: Any, values: np.ndarray) -> Solver:
        """The first of the solvers that can read the values: lanes are float64."""
        real = kernel is not None and kernel.lanes and values.dtype == np.float64
        for solver in self.solvers.values():
            if real or not solver.lanes:
                return solver
        (name,) = self.solvers
        able = [other for other, solver in SOLVERS.items() if not solver.lanes]
        valid = ", ".join(repr(other) for other in able if SOLVERS[other].valid(self.cost, bounded=self.plain))
        why = "integers whose sums float64 cannot hold exactly"
        raise InputValueError(f"solver must be one of 'auto', {valid} for {why}; got {name!r}.")

    def in_turn(self, column: SolverInput) -> list["Problem"]:
        """The problem for one solver after the other, as long as rounding may have misled those before."""
        if self.bounded:
            return [self]
        first = list(self.solvers.values()).index(self.solver_for(column.kernel, column.values))
        return [replace(self, solvers={name: self.solvers[name]}) for name in list(self.solvers)[first:]]

    def in_lanes(self, values: np.ndarray) -> bool:
        """Whether lanes suffice: later solvers are for integers beyond float64, or for lost precision."""
        first, *others = self.solvers.values()
        return first.lanes and (not others or values.dtype.kind == "f")

    @property
    def squares(self) -> bool:
        """Whether the cost grows with the square of the values, not in proportion to them."""
        return self.cost.degree == 2

    def cost_of(self, x: np.ndarray, weights: np.ndarray | None, starts: np.ndarray) -> float:
        """The cost of a grouping of sorted values, including the charges per group."""
        groups = Groups(x, starts, weights)
        below = float(np.maximum(self.k - groups.sizes, 0).sum())
        return float(self.cost.losses(groups, x).sum()) + self.short * below + self.fixed * starts.size
