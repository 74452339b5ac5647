"""Groups that are known, as columns of an integer program: choose some, so that every record is in one."""

import math
from typing import Any, NamedTuple

import numpy as np

from mag._lib.progress import Progress
from mag.bounds._pool import Payments
from mag.bounds._sets import Sets

MAX_HIGHS_SECONDS, MAX_HIGHS_NODES = 120.0, 500  # of a search for a better grouping


class Columns(NamedTuple):
    """Groups: members[c, i], 1 where record i is in group c (sparse), their sizes and costs."""

    members: Any
    sizes: np.ndarray
    costs: np.ndarray

    def only(self, wanted: np.ndarray) -> "Columns":
        """Some of them."""
        return Columns(self.members[wanted], self.sizes[wanted], self.costs[wanted])

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Which of them are groups of these labels."""
        members, starts = labels[self.members.indices], self.members.indptr[:-1]
        first = np.minimum.reduceat(members, starts)
        return (first == np.maximum.reduceat(members, starts)) & (self.sizes == np.bincount(labels)[first])

    def excess(self, paid: Payments, sets: Sets, k: int) -> np.ndarray:
        """Their costs less the payments of their records, tolls added."""
        excess = self.costs - self.members @ paid.y
        tolled = paid.toll > 0
        return excess + (self.members @ sets.inside[tolled].T.astype(np.float64) >= k) @ paid.toll[tolled]


def columns_of(groups: np.ndarray, sizes: np.ndarray, costs: np.ndarray, n: int) -> Columns:
    """Columns of groups, each padded."""
    from scipy.sparse import csr_array

    starts = np.append(0, np.cumsum(sizes))
    records = groups[np.arange(groups.shape[1]) < sizes[:, None]]
    return Columns(csr_array((np.ones(len(records)), records, starts), shape=(len(sizes), n)), sizes, costs)


def best_cover(columns: Columns, progress: Progress) -> tuple[float, np.ndarray] | None:
    """The cost and the labels of the best grouping into these groups that HiGHS finds, if it finds one."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    seconds = min(MAX_HIGHS_SECONDS, progress.seconds_left() / 2)
    if seconds <= 0 or not len(columns.costs):
        return None
    solution = milp(
        columns.costs / (columns.costs.mean() or 1.0),
        integrality=np.ones(len(columns.costs)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(columns.members.T.tocsc(), 1, 1),
        options={"time_limit": seconds, "node_limit": MAX_HIGHS_NODES, "mip_rel_gap": 1e-9},
    )
    return None if solution.x is None else cover_of(columns, solution.x)


def cover_of(columns: Columns, x: np.ndarray) -> tuple[float, np.ndarray] | None:
    """The cost and the labels of a solution, if it is one."""
    members = columns.members[x > 0.5]
    if not (members.sum(axis=0) == 1).all():
        return None
    labels = members.T @ np.arange(members.shape[0])
    return math.fsum(columns.costs[x > 0.5]), labels.astype(np.int64)
