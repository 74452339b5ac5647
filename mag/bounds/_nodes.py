"""The least cost of a grouping into some groups: branch and bound.

A node of the search is the linear program of those groups that put some pairs of records together, and some apart
(Ryan & Foster 1981).  In it no set of records may count too many groups: a group that has m records of a set C counts
⌊m / need⌋, all groups of a grouping at most ⌊|C| / need⌋; `need` is k (`_sets`), or 2 for sets of three records
(Jepsen et al. 2008).

What is proven does not rely on the solver: whatever records pay, and whatever the tolls are, records pay less where a
group of the node would cost less than is paid for it.  The sum of these payments, less tolls, is a bound.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from mag._lib.progress import Progress
from mag.bounds._integer import Columns, best_cover, cover_of
from mag.bounds._sets import crowded
from mag.bounds.neighbor import EPSILON
from mag.results import OPTIMAL_GAP

PROVEN = OPTIMAL_GAP / 2  # a bound that is closer to the cost, relative to it, proves that this is the least
MAX_BRANCH_NODES = 300
MAX_CUT_ROUNDS, MAX_STALE_CUT_ROUNDS = 30, 3
MAX_CUTS_PER_ROUND = 200  # sets of three records
LEAST_VIOLATION = 0.03  # groups that such a set counts too many
FIRST_PER_RECORD, NEW_PER_RECORD = 5, 2  # groups of the linear program
UNFAIR = 1e-8  # relative to the mean cost of a group
LEAST_CLOSED_SHARE = 1e-3  # of the gap, which a round of cuts has to close


class _Cuts(NamedTuple):
    """Sets of records, and how many records of one a group needs to count."""

    inside: np.ndarray
    need: np.ndarray

    @property
    def room(self) -> np.ndarray:
        return self.inside.sum(axis=1) // self.need

    def times(self, members: Any) -> Any:
        """How often each group counts, in each set: a sparse matrix."""
        from scipy.sparse import csr_array

        counts = (members @ csr_array(self.inside.T.astype(np.float64))).tocsr()
        counts.data //= self.need[counts.indices]
        return counts


class _Relaxed(NamedTuple):
    """A bound; the excess of every group of the node; shares of the groups."""

    bound: float
    excess: np.ndarray
    shares: np.ndarray


class Nodes:
    """The search; `cost` is that of the best grouping, `labels` are None until a better one is found."""

    def __init__(
        self,
        columns: Columns,
        excess: np.ndarray,
        full: np.ndarray,
        k: int,
        cost: float,
        bound: float,
        rounding: float,
        progress: Progress,
    ) -> None:
        self.columns, self.k, self.cost, self.bound, self.progress = columns, k, cost, bound, progress
        self.rounding = rounding  # errors of the costs, relative to them
        self.n = columns.members.shape[1]
        self.labels: np.ndarray | None = None
        self.excess = excess  # of every group, by the last payments
        self.cuts = _Cuts(full, np.full(len(full), k))
        self.unit = float(columns.costs.mean()) or 1.0
        self.nodes = 0

    def search(self) -> float:
        """A lower bound on the cost of any grouping into the groups, unless it is the cost of the best one."""
        everything = np.ones(len(self.columns.costs), np.bool_)
        waiting = [(self.bound, everything)]  # bounds of the parents, and the groups that are allowed
        closed = math.inf
        while waiting:
            bound, allowed = waiting.pop()
            if bound >= self._goal():
                closed = min(closed, bound)
                continue
            if self.nodes == MAX_BRANCH_NODES or self.progress.step(0.9):
                return min([closed, bound, *(other for other, _ in waiting)])
            self.nodes += 1
            relaxed = self._relax(allowed)
            bound = max(bound, relaxed.bound)
            if bound >= self._goal():
                closed = min(closed, bound)
                continue
            if self.nodes == 1:
                self._improve(self._useful(allowed, relaxed))
            parts = self._divide(self._useful(allowed, relaxed), relaxed.shares)
            if not parts:
                closed = min(closed, bound)  # nothing to divide by: the solver was not exact
            waiting += [(bound, part) for part in parts]
        return min(closed, self.cost * (1 - self.rounding))

    def _improve(self, wanted: np.ndarray) -> None:
        """Take the best grouping into some groups that HiGHS finds."""
        self._keep(best_cover(self.columns.only(wanted), self.progress))

    def _keep(self, cover: tuple[float, np.ndarray] | None) -> None:
        if cover is not None and cover[0] < self.cost:
            self.cost, self.labels = cover

    def _useful(self, allowed: np.ndarray, relaxed: _Relaxed) -> np.ndarray:
        """The groups that a better grouping of the node may have: whose excess is at most the gap."""
        return allowed & (relaxed.excess <= self.cost * (1 + self.rounding) - relaxed.bound)

    def _goal(self) -> float:
        return self.cost * (1 - PROVEN)

    def _relax(self, allowed: np.ndarray) -> _Relaxed:
        """The linear program of a node, with sets that are too full."""
        best, stale = self._solve(allowed), 0
        for _ in range(MAX_CUT_ROUNDS):
            self._keep(cover_of(self.columns, best.shares))
            if best.bound >= self._goal() or stale == MAX_STALE_CUT_ROUNDS or self.progress.step(0.9):
                break
            allowed = self._useful(allowed, best)
            if not self._cut(best.shares):
                break
            last, best = best, self._solve(allowed)
            stale = 0 if best.bound - last.bound > LEAST_CLOSED_SHARE * (self.cost - last.bound) else stale + 1
        return best

    def _solve(self, allowed: np.ndarray) -> _Relaxed:
        """The linear program of a node, with groups as they are needed, and the proof."""
        few = allowed & (self.excess <= self._rank(self.excess[allowed], FIRST_PER_RECORD * self.n))
        while True:
            y, toll, shares = self._solve_few(few)
            bound, excess, lacking = self._prove(allowed, y, toll)
            unfair = allowed & ~few & (excess < -UNFAIR * self.unit)
            if not unfair.any() or self.progress.step(0.9):
                break
            few |= unfair & (excess <= self._rank(excess[unfair], NEW_PER_RECORD * self.n))
        self.excess = excess - self.columns.members @ lacking
        return _Relaxed(bound, self.excess, shares)

    def _rank(self, values: np.ndarray, place: int) -> float:
        return float(np.partition(values, place)[place]) if place < len(values) else math.inf

    def _solve_few(self, few: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The payments, the tolls, and the shares of all groups."""
        from scipy.optimize import linprog
        from scipy.sparse import csc_array, eye_array, hstack

        columns, room = self.columns, self.cuts.room
        members, m = columns.members[few], int(few.sum())
        counts = hstack([self.cuts.times(members).T, csc_array((len(room), self.n))], format="csc")
        limits = {"A_ub": counts, "b_ub": room} if len(room) else {}
        solution = linprog(
            np.append(columns.costs[few], np.full(self.n, self.cost)) / self.unit,  # a record alone: never chosen
            A_eq=hstack([members.T, eye_array(self.n)], format="csc"),
            b_eq=np.ones(self.n),
            method="highs-ds",
            **limits,
        )
        if solution.x is None:  # no payments, no bound
            return np.zeros(self.n), np.zeros(len(room)), np.zeros(len(few))
        toll = np.maximum(-solution.ineqlin.marginals * self.unit, 0.0) if len(room) else np.empty(0)
        shares = np.zeros(len(few))
        shares[few] = solution.x[:m]
        return solution.eqlin.marginals * self.unit, toll, shares

    def _prove(self, allowed: np.ndarray, y: np.ndarray, toll: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """The bound of any payments, the excess of every group, and what records pay less than that."""
        members, sizes, costs = self.columns
        tolls = self.cuts.times(members) @ toll
        excess = costs - members @ y + tolls
        some = members[allowed]
        spare = np.repeat(np.minimum(excess[allowed] / sizes[allowed], 0.0), sizes[allowed])
        lacking = np.zeros(self.n)
        np.minimum.at(lacking, some.indices, spare)
        terms = (costs + members @ np.abs(y) + tolls)[allowed] / sizes[allowed]
        largest = np.zeros(self.n)
        np.maximum.at(largest, some.indices, np.repeat(terms, sizes[allowed]))
        errors = (self.rounding + (2 * self.k + len(toll) + 8) * EPSILON) * math.fsum(largest)
        bound = math.fsum([*y, *lacking, *(-toll * self.cuts.room)]) - errors
        return bound, excess, lacking

    def _cut(self, shares: np.ndarray) -> bool:
        """Add sets that count too many groups."""
        some = np.flatnonzero(shares > 1e-6)
        inside, surplus = _triples(self.columns.members[some], shares[some])
        order = np.argsort(-surplus, kind="stable")[:MAX_CUTS_PER_ROUND]
        full = self._full_sets(some, shares)
        new = np.vstack([inside[order], full])
        need = np.append(np.full(len(order), 2), np.full(len(full), self.k))
        self.cuts = _Cuts(np.vstack([self.cuts.inside, new]), np.append(self.cuts.need, need))
        return len(new) > 0

    def _full_sets(self, some: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Sets that have more groups in them than there is room for."""
        sizes = self.columns.sizes[some]
        groups = np.full((len(some), 2 * self.k - 1), self.n)
        groups[np.arange(groups.shape[1]) < sizes[:, None]] = self.columns.members[some].indices
        used = self.cuts.inside[self.cuts.need == self.k]
        return crowded(groups, sizes, shares[some], used, self.k, 2 * self.n)[0]

    def _divide(self, allowed: np.ndarray, shares: np.ndarray) -> list[np.ndarray]:
        """The groups that are left when a pair is apart, and when it is together."""
        some = allowed & (shares > 1e-6)
        members = self.columns.members[some].tocsc()
        together = (members.T @ (members * shares[some][:, None])).tocoo()
        i, j, value = together.row, together.col, together.data
        pairs = (i < j) & (value > 1e-6) & (value < 1 - 1e-6)
        if not pairs.any():
            return []
        at = np.argmin(np.where(pairs, np.abs(value - 0.5), np.inf))
        both = self.columns.members[:, [i[at], j[at]]].sum(axis=1)
        return [allowed & (both < 2), allowed & (both != 1)]


def _triples(members: Any, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sets of three records of which groups have two or three too often, and how much too often."""
    columns = members.tocsc()
    together = (columns.T @ (columns * shares[:, None])).tolil()
    near = [dict(zip(*row, strict=True)) for row in zip(together.rows, together.data, strict=True)]
    of = [set(groups) for groups in np.split(columns.indices, columns.indptr[1:-1])]
    found, surplus = [], []
    for a, others in enumerate(near):
        for b in (b for b in others if b > a):
            for c in (c for c in near[b].keys() & others.keys() if c > b):
                all_three = shares[list(of[a] & of[b] & of[c])].sum()
                total = others[b] + others[c] + near[b][c] - 2 * all_three
                if total > 1 + LEAST_VIOLATION:
                    found.append([a, b, c])
                    surplus.append(total)
    inside = np.zeros((len(found), members.shape[1]), np.bool_)
    for row, three in enumerate(found):
        inside[row, three] = True
    return inside, np.array(surplus)
