"""What `mag.multivariate` returns: records of several columns in groups."""

from typing import Any

import numpy as np

from mag._compiled.groups import distance, record_means
from mag._lib.lazy import cached_property
from mag.grouping import Grouping, published


class RecordGrouping(Grouping):
    """Records in groups, as returned by `mag.multivariate`.  Groups are numbered in the order of their first records.

    Attributes
    ----------
    labels, k, n_groups, sizes, masked
        As in `mag.Grouping`; `masked` has the shape of the data, (n, d).
    method : str
        The method that found the groups; with one column the optimum is known, and "univariate" found it.
    cost : float
        The sum of squared distances to the representatives, in the units that were asked for: standard deviations of
        each column, or those of the data with ``standardize=False``.
    information_loss : float
        ``SSE / SST`` in these units: `cost` relative to what a single group would cost.
    representatives : array, shape (n_groups, d)
        The mean of each group in the units of the data; the nearest integers with ``integer=True``.
    complete : bool
        False where `time_limit` ended the search and this is the best grouping found until then.
    bound : float or None
        What any grouping into groups of k records or more loses at least, in the unit of `information_loss`; None
        unless it was asked for.  With one column it is the information loss itself.
    gap : float or None
        ``(information_loss - bound) / information_loss``: no grouping loses less than this part less.  0 is optimal.
    details : dict
        What the method was asked to tell beside the groups, such as ``"scores"`` of method "projection".
    """

    method: str
    complete: bool
    details: dict[str, Any]
    _z: np.ndarray
    _unit: np.ndarray
    _scale: int
    _integer: bool
    _shape: tuple[int, int]
    _bound: float | None = None
    _held = (
        "k", "n_groups", "k_guaranteed", "_labels", "_sizes", "_representatives", "cost", "information_loss", "method",
        "complete", "details", "_shape", "_bound", "_total", "_home",
    )  # fmt: skip

    def __init__(
        self,
        labels: np.ndarray,
        k: int,
        n_groups: int,
        *,
        x: np.ndarray,
        dtype: np.dtype,
        standard: Any,
        integer: bool,
        method: str,
        complete: bool,
        details: dict[str, Any],
        home: Any = None,
    ) -> None:
        order = np.argsort(labels, kind="stable")
        starts = np.searchsorted(labels[order], np.arange(n_groups))
        public: dict[str, Any] = {"k": k, "n_groups": n_groups, "k_guaranteed": True}
        public |= {"method": method, "complete": complete, "details": details}
        data = {"_labels": labels, "_x": x, "_dtype": dtype, "_order": order, "_starts": starts, "_integer": integer}
        units = {"_z": standard.z, "_unit": standard.unit, "_scale": standard.scale}
        vars(self).update(public | data | units, _shape=x.shape, _home=home)

    def __repr__(self) -> str:
        n, d = self._shape
        groups = f"{self.n_groups} groups of {int(self._sizes.min())} to {int(self._sizes.max())}"
        note = "" if self.complete else ", stopped by time_limit"
        loss = f"information loss {self.information_loss:.4g}" + ("" if self.gap is None else f", gap {self.gap:.2g}")
        return f"<RecordGrouping: {n} records of {d} columns in {groups}, k={self.k}, {self.method}, {loss}{note}>"

    def _add(self, per_record: np.ndarray) -> np.ndarray:
        return np.add.reduceat(per_record, self._starts, axis=0)

    def _spread(self, per_group: np.ndarray) -> np.ndarray:
        return np.repeat(per_group, self._sizes, axis=0)

    @cached_property
    def _whole_centres(self) -> np.ndarray:
        """The integers nearest to the means, half away from zero (Mortazavi 2020), as float64 relative to `_base`."""
        total, sizes = self._add(self._ordered.astype(np.int64)), self._sizes[:, None]
        below, rest = total // sizes, total % sizes
        up = (2 * rest > sizes) | ((2 * rest == sizes) & (below + self._base >= 0))
        return (below + up).astype(np.float64)

    @cached_property
    def _base(self) -> np.ndarray:
        """Where columns of integers start."""
        return self._x.min(axis=0)

    @cached_property
    def _ordered(self) -> np.ndarray:
        """Integers group by group, as float64, relative to their column's smallest: exact where these are published."""
        return distance(self._x, self._base)[self._order].astype(np.float64)

    @cached_property
    def _representatives(self) -> np.ndarray:
        if self._integer:
            return (self._base + self._whole_centres.astype(self._base.dtype)).astype(self._dtype)
        return published(record_means(self._x[self._order], self._starts, self._sizes), self._dtype)

    @cached_property
    def _squares(self) -> float:
        """Squared distances to the representatives, in units of `_z`."""
        if self._integer:
            away = (self._ordered - self._spread(self._whole_centres)) * self._unit
        else:
            z = self._z[self._order]
            away = z - self._spread(z[self._starts])
            away -= self._spread(self._add(away) / self._sizes[:, None])
        return float(np.square(away).sum())

    @cached_property
    def cost(self) -> float:
        """The sum of squared distances to the representatives, in the units that were asked for."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self._squares, 2 * self._scale))

    @cached_property
    def _total(self) -> float:
        """Squared distances to the mean, in units of `_z`."""
        return float(np.square(self._z).sum())

    @cached_property
    def information_loss(self) -> float:
        """SSE / SST."""
        return self._squares / self._total if self._total else 0.0

    @property
    def bound(self) -> float | None:
        """What any grouping loses at least."""
        if self._bound is None:
            return None
        return self._bound / self._total if self._total else 0.0

    @property
    def gap(self) -> float | None:
        """How much less than this another grouping may lose, relative to it."""
        if self.bound is None:
            return None
        return (self.information_loss - self.bound) / self.information_loss if self.information_loss else 0.0

    def _bounded(self, squares: float) -> None:
        """Note what any grouping costs at least, in units of `_z`."""
        vars(self)["_bound"] = squares
