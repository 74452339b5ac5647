"""What is returned: labels, and whatever follows from them and the data, computed when asked for."""

from collections.abc import Callable, Iterator
from inspect import get_annotations
from typing import Any, ClassVar

import numpy as np

from mag._compiled.groups import Groups, distance, record_means, sizes_of
from mag._compiled.sort import sort
from mag._lib.checks import integer
from mag._lib.lazy import cached_property
from mag._lib.pictures import Drawable, facts_table, new_axes
from mag.costs import Cost

VALUES_PER_BLOCK = 2**17  # values that a table's results are computed from at a time


class _Result(Drawable):
    """Read-only: every field that is declared can be set once, when the result is built.

    `_origin` makes an array of the caller's library from one of NumPy's, None leaves it as it is.  A pickle or copy
    holds what `_state` names, computed by then, and nothing of the data.
    """

    _origin: Callable[[Any], Any] | None
    _state: ClassVar[tuple[str, ...]]
    _fields: ClassVar[frozenset[str]]

    def __init_subclass__(cls) -> None:
        cls._fields = frozenset().union(*(get_annotations(base) for base in cls.__mro__))

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if name in fields or name not in self._fields:
            raise AttributeError(f"a {type(self).__name__} cannot be changed: {name} is read-only.")
        fields[name] = value

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _to_caller(self, array: np.ndarray) -> Any:
        return array if self._origin is None else self._origin(array)

    def _facts(self) -> dict[str, object]:
        """What a notebook shows: nothing but what is published with the groups."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return facts_table(type(self).__name__.removeprefix("Device"), self._facts())


class Grouping(_Result):
    """Records in groups, as returned by `mag.univariate`.  Groups are numbered by ascending value.

    Arrays belong to the library of the data, on their device.  Pickles and copies hold these attributes, not the data.
    `plot` draws the groups, what each is replaced by and its size: nothing that is not published.

    Attributes
    ----------
    labels : array of int, shape (n,)
        The group of every record.
    k : int
        The requested group size.
    n_groups : int
        The number of groups.
    sizes : array of int, shape (n_groups,)
        The number of records in each group.
    cost : float or int
        The cost of the grouping, recomputed from the data; an exact int for ``cost="sse_int"``.  It is infinite if it
        exceeds float64.
    representatives : array, shape (n_groups,)
        The value that replaces each group.
    masked : array, shape (n,)
        The data with each record replaced.
    information_loss : float
        ``SSE / SST``: squared distances to the representatives, relative to those to the mean of all records.
    k_guaranteed : bool
        Whether every group has at least k records by construction; False with ``soft=``.
    small_groups : array of int
        The groups that have fewer than k records; always empty where k is guaranteed.
    """

    k: int
    n_groups: int
    k_guaranteed: bool
    _labels: np.ndarray
    _x: np.ndarray
    _dtype: np.dtype
    _order: np.ndarray | None
    _starts: np.ndarray
    _weights: np.ndarray | None
    _cost: Cost
    _name: str
    _state: ClassVar[tuple[str, ...]] = (
        "k", "n_groups", "k_guaranteed", "_labels", "_sizes", "_representatives", "cost", "information_loss", "_name",
        "_origin",
    )  # fmt: skip

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
        cost: Cost,
        origin: Callable[[Any], Any] | None = None,
    ) -> None:
        self.k, self.n_groups, self.k_guaranteed = k, starts.size, k_guaranteed
        self._labels, self._x, self._dtype, self._weights = labels, x, dtype, weights
        self._order, self._starts = order, starts
        self._cost, self._name, self._origin = cost, cost.name, origin

    def __repr__(self) -> str:
        least, most = int(self._sizes.min()), int(self._sizes.max())
        note = "" if self.k_guaranteed else f", {int((self._sizes < self.k).sum())} below k: k is not guaranteed"
        records = f"{self._n_records} records in {self.n_groups} groups of {least} to {most}"
        return f"<Grouping: {records}, k={self.k}, {self._name} {self.cost:.6g}{note}>"

    def _facts(self) -> dict[str, object]:
        small = int((self._sizes < self.k).sum())
        return {
            "records": self._n_records,
            "groups": _groups_of(self._sizes),
            "k": self.k if self.k_guaranteed else f"{self.k}, not guaranteed: {small} groups have fewer records",
            f"cost ({self._name})": f"{self.cost:.6g}",
            "information loss": f"{self.information_loss:.4%}",
        }

    def _draw(self, axes: Any) -> None:
        axes.vlines(self._representatives, 0, self._sizes)
        axes.axhline(self.k, color="0.6", linestyle=":", label=f"k={self.k}")
        axes.set_xlabel("published value")
        axes.set_ylabel("records")
        axes.set_title(f"{self.n_groups} groups of {self._n_records} records", fontsize=10, loc="left")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False)

    @property
    def _n_records(self) -> int:
        return self._labels.size

    @cached_property
    def _values(self) -> np.ndarray:
        return in_order(self._x, self._order)

    @cached_property
    def _groups(self) -> Any:
        weights = None if self._weights is None else in_order(self._weights, self._order)
        return Groups(self._values, self._starts, weights)

    @cached_property
    def _sizes(self) -> np.ndarray:
        return sizes_of(self._starts, self._labels.size)

    @cached_property
    def _representatives(self) -> np.ndarray:
        return as_data_dtype(self._cost.representatives(self._groups), self._dtype)

    @cached_property
    def labels(self) -> Any:
        """The group of every record."""
        return self._to_caller(self._labels)

    @cached_property
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._to_caller(self._sizes)

    @cached_property
    def small_groups(self) -> Any:
        """The groups that have fewer than k records."""
        return self._to_caller(np.flatnonzero(self._sizes < self.k))

    @cached_property
    def cost(self) -> float | int:
        """The cost of the grouping, recomputed from the data."""
        with np.errstate(over="ignore"):
            # summed as `ColumnGroupings` sums: the same bits
            (total,) = np.add.reduceat(self._cost.losses(self._groups, self._values), [0])
        return int(total) if self._cost.integer else float(total)

    @cached_property
    def representatives(self) -> Any:
        """The value that replaces each group."""
        return self._to_caller(self._representatives)

    @cached_property
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._to_caller(self._representatives[self._labels])

    @cached_property
    def information_loss(self) -> float:
        """SSE / SST."""
        everyone = Groups(self._values, np.zeros(1, np.int64), self._groups.weights)
        return float(self._groups.information_loss(self._cost.centers(self._groups), everyone)[0])


class ColumnGroupings(_Result):
    """Columns of a table, each in groups of its own, as returned by `mag.columns`.

    ``groupings[j]`` is the `Grouping` of column j; `plot` draws the information loss of every column.  Arrays belong to
    the library of the data, on their device.  Pickles and copies hold these attributes, not the data.

    Attributes
    ----------
    labels : array of int, shape (n, m)
        The group of every record in every column; groups are numbered by ascending value.
    k : int or tuple of int
        The requested group size, one for all columns or one for each.
    n_groups : array of int, shape (m,)
        The number of groups of each column.
    sizes : array of int, shape (max(n_groups), m)
        The number of records in each group; 0 after the last group of a column.
    cost : array, shape (m,)
        What each column loses, recomputed from the data.
    representatives : array, shape (max(n_groups), m)
        The values that replace the groups; 0 after the last group of a column.
    masked : array, shape (n, m)
        The data with each value replaced.
    information_loss : array, shape (m,)
        ``SSE / SST`` of each column.
    k_guaranteed : bool
        Whether every group has at least k records by construction; False with ``soft=``.

    Notes
    -----
    Every value of a column is published at least k times in that column.  This does not make whole records alike: see
    `mag.multivariate` for groups of records.
    """

    k: int | tuple[int, ...]
    k_guaranteed: bool
    _labels: np.ndarray
    _n_groups: np.ndarray
    _x: np.ndarray
    _dtype: np.dtype
    _weights: np.ndarray | None
    _costs: list[Cost]
    _names: list[str]
    _state: ClassVar[tuple[str, ...]] = (
        "k",
        "k_guaranteed",
        "_labels",
        "_n_groups",
        "_sizes",
        "_representatives",
        "_losses",
        "_shares",
        "_names",
        "_origin",
    )

    def __init__(
        self,
        labels: np.ndarray,
        k: int | tuple[int, ...],
        n_groups: np.ndarray,
        k_guaranteed: bool,
        *,
        x: np.ndarray,
        dtype: np.dtype,
        weights: np.ndarray | None,
        costs: list[Cost],
        origin: Callable[[Any], Any] | None = None,
    ) -> None:
        self.k, self.k_guaranteed, self._labels, self._n_groups = k, k_guaranteed, labels, n_groups
        self._x, self._dtype, self._weights = x, dtype, weights
        self._costs, self._names, self._origin = costs, [cost.name for cost in costs], origin

    def __len__(self) -> int:
        return len(self._labels)

    @property
    def _n_records(self) -> int:
        return self._labels.shape[1]

    def __getitem__(self, j: int) -> Grouping:
        j = range(len(self))[j]
        if "_x" not in vars(self):
            return self._without_data(j)
        x = np.ascontiguousarray(self._x[:, j], np.float64 if self._dtype.kind == "f" else None)
        sizes = self._sizes[j, : self._n_groups[j]]
        return Grouping(
            self._labels[j],
            self.k if isinstance(self.k, int) else self.k[j],
            self.k_guaranteed,
            x=x,
            dtype=self._dtype,
            order=sort(x)[1],
            starts=np.cumsum(sizes) - sizes,
            weights=self._weights,
            cost=self._costs[j],
            origin=self._origin,
        )

    def _without_data(self, j: int) -> Grouping:
        """Column j of a pickle or copy: what its `Grouping` would hold."""
        n_groups, single = int(self._n_groups[j]), Grouping.__new__(Grouping)
        state = {
            "k": self.k if isinstance(self.k, int) else self.k[j], "n_groups": n_groups,
            "k_guaranteed": self.k_guaranteed, "_labels": self._labels[j], "_sizes": self._sizes[j, :n_groups],
            "_representatives": self._representatives[j, :n_groups], "cost": self._losses[j].item(),
            "information_loss": float(self._shares[j]), "_name": self._names[j], "_origin": self._origin,
        }  # fmt: skip
        single.__setstate__(state)
        return single

    def __repr__(self) -> str:
        m, n = len(self), self._n_records
        fewest, most = int(self._n_groups.min()), int(self._n_groups.max())
        k = self.k if isinstance(self.k, int) else f"{min(self.k)} to {max(self.k)}"
        names = ", ".join(sorted(set(self._names))) + ("" if self.k_guaranteed else ", k is not guaranteed")
        return f"<ColumnGroupings: {m} columns of {n} records, each in {fewest} to {most} groups, k={k}, {names}>"

    def _facts(self) -> dict[str, object]:
        low, middle, high = np.quantile(self._shares, [0, 0.5, 1])
        k = self.k if isinstance(self.k, int) else _span(min(self.k), max(self.k))
        return {
            "columns": len(self),
            "records": self._n_records,
            "groups in a column": _span(int(self._n_groups.min()), int(self._n_groups.max())),
            "k": k if self.k_guaranteed else f"{k}, not guaranteed",
            "cost": ", ".join(sorted(set(self._names))),
            "information loss of a column": f"{low:.4%} to {high:.4%}, median {middle:.4%}",
        }

    def _draw(self, axes: Any) -> None:
        axes.plot(np.arange(len(self)), 100 * self._shares, "o", markersize=4)
        axes.set_xlabel("column")
        axes.set_ylabel("information loss: SSE / SST, %")
        axes.set_title(f"{len(self)} columns of {self._n_records} records", fontsize=10, loc="left")
        axes.set_ylim(bottom=0)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Of every column's groups, in rows."""
        m, n = self._labels.shape
        most = int(self._n_groups.max())
        sizes = np.empty((m, most), np.int64)
        for rows in _blocks(np.arange(m), n):
            names = self._labels[rows] + most * np.arange(rows.size)[:, None]
            sizes[rows] = np.bincount(names.ravel(), minlength=rows.size * most).reshape(rows.size, most)
        return sizes

    def _evaluated(self) -> Iterator[tuple[np.ndarray, Groups, Cost]]:
        """Some columns of one cost, their groups one after the other, and that cost."""
        m, n = self._labels.shape
        for cost in dict.fromkeys(self._costs):
            columns = np.array([j for j in range(m) if self._costs[j] is cost])
            together = cost.built_in and self._weights is None
            for block in _blocks(columns, n) if together else columns.reshape(-1, 1):
                values = self._x[:, block].T.astype(np.float64 if self._dtype.kind == "f" else self._x.dtype, order="C")
                weights = None if self._weights is None else in_order(self._weights, sort(values[0])[1])
                values.sort(axis=1)
                sizes = self._sizes[block]
                starts = (np.cumsum(sizes, axis=1) - sizes + n * np.arange(block.size)[:, None])[sizes > 0]
                yield block, Groups(values.ravel(), starts, weights), cost

    @cached_property
    def _representatives(self) -> np.ndarray:
        centers = [
            (block, as_data_dtype(cost.representatives(groups), self._dtype))
            for block, groups, cost in self._evaluated()
        ]
        representatives = np.zeros(self._sizes.shape, np.result_type(*(values.dtype for _, values in centers)))
        for block, values in centers:
            rows = np.zeros((block.size, representatives.shape[1]), representatives.dtype)
            rows[self._sizes[block] > 0] = values
            representatives[block] = rows
        return representatives

    @cached_property
    def labels(self) -> Any:
        """The group of every record in every column."""
        return self._to_caller(self._labels.T)

    @cached_property
    def n_groups(self) -> Any:
        """The number of groups of each column."""
        return self._to_caller(self._n_groups)

    @cached_property
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._to_caller(self._sizes.T)

    @cached_property
    def cost(self) -> Any:
        """What each column loses, from the data themselves."""
        return self._to_caller(self._losses)

    @cached_property
    def _losses(self) -> np.ndarray:
        integer = all(cost.integer for cost in self._costs)
        total = np.zeros(len(self), object if integer else np.float64)
        for block, groups, cost in self._evaluated():
            first = np.cumsum(self._n_groups[block]) - self._n_groups[block]
            with np.errstate(over="ignore"):
                total[block] = np.add.reduceat(cost.losses(groups, groups.values), first)
        return total.astype(np.int64 if integer and total.max() < 2**63 else np.float64)

    @cached_property
    def representatives(self) -> Any:
        """The value that replaces each group."""
        return self._to_caller(self._representatives.T)

    @cached_property
    def masked(self) -> Any:
        """The data with each value replaced."""
        masked = np.empty(self._labels.shape, self._representatives.dtype)
        for rows in _blocks(np.arange(len(self)), masked.shape[1]):
            masked[rows] = np.take_along_axis(self._representatives[rows], self._labels[rows], axis=1)
        return self._to_caller(masked.T)

    @cached_property
    def information_loss(self) -> Any:
        """SSE / SST of each column."""
        return self._to_caller(self._shares)

    @cached_property
    def _shares(self) -> np.ndarray:
        m, n = self._labels.shape
        loss = np.empty(m)
        for block, groups, cost in self._evaluated():
            wholes = Groups(groups.values, n * np.arange(block.size), groups.weights)
            loss[block] = groups.information_loss(cost.centers(groups), wholes)
        return loss


class RecordGrouping(Grouping):
    """Records in groups, as returned by `mag.multivariate`.  Groups are numbered in the order of their first records.

    Attributes
    ----------
    labels, k, n_groups, sizes, masked
        As in `mag.Grouping`; `masked` has the shape of the data, (n, d).
    method : str
        The method that found the groups; with one column the optimum is known, and "univariate" found it.
    cost : float
        The sum of squared distances to the representatives, in standard deviations of each column, or in the
        units of the data with ``standardize=False``.
    information_loss : float
        ``SSE / SST`` in these units: `cost` relative to what a single group would cost.
    representatives : array, shape (n_groups, d)
        The mean of each group in the units of the data; the nearest integers with ``integer=True``.
    complete : bool
        False if `time_limit` ended the search; this is then the best grouping so far.
    bound : float or None
        A proven lower bound: what any grouping with at least k records per group loses at least, in the unit of
        `information_loss`; None unless requested.  With one column it is the information loss itself.
    gap : float or None
        ``(information_loss - bound) / information_loss``: no grouping can lower the loss by more than this fraction.
        0 is optimal.
    details : dict
        What the method reports besides the groups, such as ``"scores"`` of method "projection".
    """

    method: str
    complete: bool
    details: dict[str, Any]
    _z: np.ndarray
    _unit: np.ndarray
    _scale: int
    _integer: bool
    _shape: tuple[int, ...]
    _bound: float | None
    _state: ClassVar[tuple[str, ...]] = (
        "k", "n_groups", "k_guaranteed", "_labels", "_sizes", "_representatives", "cost", "information_loss", "method",
        "complete", "details", "_shape", "_bound", "_total", "_origin",
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
        bound: float | None = None,
        origin: Callable[[Any], Any] | None = None,
    ) -> None:
        """`bound` is what any grouping costs at least, in units of `standard.z`."""
        order = np.argsort(labels, kind="stable")
        self.k, self.n_groups, self.k_guaranteed = k, n_groups, True
        self.method, self.complete, self.details = method, complete, details
        self._labels, self._x, self._shape, self._dtype = labels, x, x.shape, dtype
        self._order, self._starts = order, np.searchsorted(labels[order], np.arange(n_groups))
        self._z, self._unit, self._scale, self._integer = standard.z, standard.unit, standard.scale, integer
        self._bound, self._origin = bound, origin

    def __repr__(self) -> str:
        n, d = self._shape
        groups = f"{self.n_groups} groups of {int(self._sizes.min())} to {int(self._sizes.max())}"
        note = "" if self.complete else ", stopped by time_limit"
        loss = f"information loss {self.information_loss:.4g}" + ("" if self.gap is None else f", gap {self.gap:.2g}")
        return f"<RecordGrouping: {n} records of {d} columns in {groups}, k={self.k}, {self.method}, {loss}{note}>"

    def _facts(self) -> dict[str, object]:
        return {
            "records": self._shape[0],
            "columns": self._shape[1],
            "groups": _groups_of(self._sizes),
            "k": self.k,
            "method": self.method + ("" if self.complete else ", stopped by time_limit"),
            "information loss": f"{self.information_loss:.4%}",
            "bound": None if self.bound is None else f"{self.bound:.4%}, the least loss of any grouping",
            "gap": None if self.gap is None else f"{self.gap:.2%}, the largest possible improvement",
        }

    def plot(self, ax: Any = None, columns: tuple[int, int] = (0, 1)) -> Any:
        """Draw the representatives in two of the columns, as large as their groups; needs matplotlib, extra ``plot``.

        Nothing is drawn that is not published.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        columns : pair of int
            The columns, counted from 0; a single column is drawn as by `mag.Grouping`.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        d = self._shape[1]
        axes = new_axes()[0] if ax is None else ax
        if d == 1:
            axes.vlines(self._representatives[:, 0], 0, self._sizes)
            across, up = "published value", "records"
        else:
            i, j = (integer("columns", column, 0, d - 1, "d-1") for column in columns)
            axes.scatter(self._representatives[:, i], self._representatives[:, j], 4.0 * self._sizes, alpha=0.5)
            across, up = f"column {i}", f"column {j}"
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_title(f"{self.n_groups} groups of {self._shape[0]} records", fontsize=10, loc="left")
        return axes

    def _add(self, per_record: np.ndarray) -> np.ndarray:
        return np.add.reduceat(per_record, self._starts, axis=0)

    def _spread(self, per_group: np.ndarray) -> np.ndarray:
        return np.repeat(per_group, self._sizes, axis=0)

    @cached_property
    def _representatives(self) -> np.ndarray:
        values = self._x[self._order]
        if self._integer:  # the nearest to the means, half away from zero (Mortazavi 2020)
            groups = [Groups.unsorted(column, self._starts, None) for column in values.T]
            return np.column_stack([one.placed(one.rounded_mean()) for one in groups]).astype(self._dtype)
        return as_data_dtype(record_means(values, self._starts, self._sizes), self._dtype)

    @cached_property
    def _squares(self) -> float:
        """Squared distances to the representatives, in units of `_z`."""
        if self._integer:  # relative to the smallest of a column, float64 is exact
            base = self._x.min(axis=0)
            x, centers = (distance(rows, base).astype(np.float64) for rows in (self._x, self._representatives))
            away = (x[self._order] - self._spread(centers)) * self._unit
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


def in_order(per_record: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    """In the order of sorted values; None where they are sorted already."""
    return per_record if order is None else per_record[order]


def as_data_dtype(representatives: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """In the dtype of the data, except that a mean of integers is no integer: it stays float64.

    Zero has one sign: that of −0.0 would depend on the order of records, and tell of one of them.
    """
    keeps = representatives.dtype.kind == "f" != dtype.kind
    values = representatives if keeps else representatives.astype(dtype)
    return values + 0.0 if values.dtype.kind == "f" else values


def _groups_of(sizes: np.ndarray) -> str:
    return f"{sizes.size} of {_span(int(sizes.min()), int(sizes.max()))} records"


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _blocks(columns: np.ndarray, n: int) -> list[np.ndarray]:
    """The columns in blocks of bounded memory."""
    width = max(1, VALUES_PER_BLOCK // n)
    return [columns[i : i + width] for i in range(0, columns.size, width)]
