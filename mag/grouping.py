"""What is returned: labels, and whatever follows from them and the data, computed when asked for."""

from functools import cached_property
from typing import Any

import numpy as np


class Grouping:
    """Records in groups, as returned by `mag.univariate`.  Groups are numbered by ascending value.

    Attributes
    ----------
    labels : array of int, shape (n,)
        The group of every record.
    k : int
        The group size that was asked for.
    n_groups : int
        The number of groups.
    sizes : array of int, shape (n_groups,)
        The number of records in each group.
    cost : float or int
        What the grouping loses, recomputed from the data; an exact int for ``cost="sse_int"``.  It is infinite
        where it exceeds float64.
    representatives : array, shape (n_groups,)
        What the records of each group are replaced by.
    masked : array, shape (n,)
        The data with each record replaced.
    information_loss : float
        ``SSE / SST``: squared distances to the representatives, relative to those to the mean of all records.
    k_guaranteed : bool
        Whether every group has at least k records by construction; False with ``soft=``.
    small_groups : array of int
        The groups that have fewer than k records; always empty where k is guaranteed.
    """

    labels: np.ndarray
    k: int
    n_groups: int
    k_guaranteed: bool
    _x: np.ndarray
    _dtype: np.dtype
    _order: np.ndarray | None
    _starts: np.ndarray
    _weights: np.ndarray | None
    _cost: Any
    _make_groups: Any

    def __init__(
        self,
        labels: np.ndarray,
        k: int,
        k_guaranteed: bool,
        *,
        x: np.ndarray,
        dtype: np.dtype,
        order: np.ndarray | None,
        starts: np.ndarray,
        weights: np.ndarray | None,
        cost: Any,
        make_groups: Any,
    ) -> None:
        public = {"labels": labels, "k": k, "n_groups": starts.size, "k_guaranteed": k_guaranteed}
        data = {"_x": x, "_dtype": dtype, "_order": order, "_starts": starts, "_weights": weights}
        vars(self).update(public | data, _cost=cost, _make_groups=make_groups)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a Grouping cannot be changed: {name} is read-only.")

    def __repr__(self) -> str:
        least, most = int(self.sizes.min()), int(self.sizes.max())
        note = "" if self.k_guaranteed else f", {self.small_groups.size} below k: k is not guaranteed"
        records = f"{self.labels.size} records in {self.n_groups} groups of {least} to {most}"
        return f"<Grouping: {records}, k={self.k}, {self._cost.name} {self.cost:.6g}{note}>"

    @cached_property
    def _values(self) -> np.ndarray:
        return self._x if self._order is None else self._x[self._order]

    @cached_property
    def _groups(self) -> Any:
        weights = self._weights
        if weights is not None and self._order is not None:
            weights = weights[self._order]
        return self._make_groups(self._values, self._starts, weights)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of records in each group."""
        return np.diff(np.append(self._starts, self.labels.size))

    @cached_property
    def small_groups(self) -> np.ndarray:
        """The groups that have fewer than k records."""
        return np.flatnonzero(self.sizes < self.k)

    @cached_property
    def cost(self) -> float | int:
        """What the grouping loses, from the data themselves."""
        with np.errstate(over="ignore"):
            total = self._cost.losses(self._groups, self._values).sum()
        return int(total) if self._cost.integer else float(total)

    @cached_property
    def representatives(self) -> np.ndarray:
        """What the records of each group are replaced by."""
        chosen = self._groups.placed(self._cost.centres(self._groups))
        # a mean of integers is no integer: it stays float64
        return chosen if chosen.dtype.kind == "f" != self._dtype.kind else chosen.astype(self._dtype)

    @cached_property
    def masked(self) -> np.ndarray:
        """The data with each record replaced."""
        return self.representatives[self.labels]

    @cached_property
    def information_loss(self) -> float:
        """SSE / SST."""
        everything = self._make_groups(self._values, np.zeros(1, np.int64), self._groups.weights)
        around = everything.distances(everything.mean(), everything.unit[0])
        within = self._groups.distances(self._cost.centres(self._groups), everything.unit[0])
        scale = float(np.abs(around).max())
        if scale == 0:
            return 0.0
        weights = self._groups.share
        return float((weights * (within / scale) ** 2).sum() / (weights * (around / scale) ** 2).sum())
