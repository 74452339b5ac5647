"""Results: one class for each kind of grouping, over facts that a backend computes on first use."""

from collections.abc import Callable
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

import numpy as np

from mag._lib.checks import integer
from mag._lib.pictures import (
    Drawable,
    facts_table,
    new_axes,
    put_legend_beside,
    space_ticks,
    use_whole_ticks,
)

Value = TypeVar("Value")


MAX_LINES, MAX_SPANS = 400, 100  # groups that are drawn one by one, and spans of more

OPTIMAL_GAP = 1e-7  # relative to the loss: the gap that a proof of the least loss may leave


class GroupingFacts(Protocol):
    """Facts that follow from labels and data: arrays are where they were computed, `to_caller` and `host` move them.

    Read facts inside of `read` only, which makes their device the current one.
    """

    @property
    def origin(self) -> Callable[[Any], Any] | None:
        """Makes an array of the caller's library; None leaves arrays of NumPy as they are."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data; never waits for a device."""

    @property
    def n_groups(self) -> Any:
        """The number of groups; of a table, one for each column."""

    @property
    def labels(self) -> Any:
        """The group of every record; of a table, a row for each column, as all arrays below."""

    @property
    def sizes(self) -> Any:
        """The number of records in each group; of a table, 0 after the last group of a column."""

    @property
    def representatives(self) -> Any:
        """The value that replaces each group; of a table, 0 after the last group of a column."""

    @property
    def masked(self) -> Any:
        """The data with each record replaced."""

    @property
    def cost(self) -> Any:
        """The cost of the grouping, recomputed from the data; of a table, one for each column."""

    @property
    def information_loss(self) -> Any:
        """SSE / SST; of a table, one for each column."""

    def read(self, key: str, compute: Callable[[], Value]) -> Value:
        """What `compute` makes of the facts, computed once and kept under a key."""

    def to_caller(self, array: Any) -> Any:
        """An array of the caller's library, on the device of the data."""

    def host(self, array: Any) -> np.ndarray:
        """An array of NumPy."""

    def stored(self) -> "GroupingFacts":
        """The same facts without the data, for pickles and copies."""


class TableFacts(GroupingFacts, Protocol):
    """Facts of a table whose columns have groups of their own."""

    def column(self, j: int) -> GroupingFacts:
        """The facts of column j."""

    def stored(self) -> "TableFacts":
        """The same facts without the data, for pickles and copies."""


if TYPE_CHECKING:
    from mag._lib.lazy import cached_property

    fact = cached_property
else:

    class fact:  # noqa: N801 - reads like cached_property
        """A property of a result, computed by its facts where they are, and kept there."""

        def __init__(self, compute):
            self._compute, self.__doc__ = compute, compute.__doc__

        def __set_name__(self, owner, name):
            self._key = f"{name} of the result"

        def __get__(self, result, owner=None):
            if result is None:
                return self
            return result._facts.read(self._key, lambda: self._compute(result))


class _Result(Drawable):
    """Read-only: every field that is declared can be set once, when the result is built.

    A pickle or copy holds the facts, computed by then, and nothing of the data.
    """

    _facts: GroupingFacts
    _fields: ClassVar[frozenset[str]]

    def __init_subclass__(cls) -> None:
        cls._fields = frozenset().union(*(get_annotations(base) for base in cls.__mro__))

    def __setattr__(self, name: str, value: Any) -> None:
        fields = self.__dict__
        if name in fields or name not in self._fields:
            raise AttributeError(f"a {type(self).__name__} cannot be changed: {name} is read-only.")
        fields[name] = value

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_facts": self._facts.stored()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _summary(self) -> dict[str, object]:
        """The text in a notebook: only facts that are published with the groups."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return facts_table(type(self).__name__, self._summary())

    @property
    def _n_records(self) -> int:
        return self._facts.shape[0]

    @fact
    def _labels(self) -> np.ndarray:
        """Those of NumPy, as all arrays with an underscore."""
        return self._facts.host(self._facts.labels)

    @fact
    def _sizes(self) -> np.ndarray:
        return self._facts.host(self._facts.sizes)

    @fact
    def _representatives(self) -> np.ndarray:
        return self._facts.host(self._facts.representatives)


class Grouping(_Result):
    """Records in groups, as returned by `mag.univariate`.  Groups are numbered by ascending value.

    Arrays belong to the library of the data, on their device.  Pickles and copies hold these attributes, not the data.
    `plot` draws the groups with their representatives and sizes: only published values.

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
    k_guaranteed: bool
    _cost_name: str

    def __init__(self, facts: GroupingFacts, k: int, k_guaranteed: bool, cost_name: str) -> None:
        self._facts, self.k, self.k_guaranteed, self._cost_name = facts, k, k_guaranteed, cost_name

    def __repr__(self) -> str:
        least, most = int(self._sizes.min()), int(self._sizes.max())
        note = "" if self.k_guaranteed else f", {int((self._sizes < self.k).sum())} below k: k is not guaranteed"
        records = f"{self._n_records} records in {self.n_groups} groups of {least} to {most}"
        return f"<Grouping: {records}, k={self.k}, {self._cost_name} {self.cost:.6g}{note}>"

    def _summary(self) -> dict[str, object]:
        small = int((self._sizes < self.k).sum())
        return {
            "records": self._n_records,
            "groups": _groups_of(self._sizes),
            "k": self.k if self.k_guaranteed else f"{self.k}, not guaranteed: {small} groups have fewer records",
            f"cost ({self._cost_name})": f"{self.cost:.6g}",
            "information loss": f"{self.information_loss:.4%}",
        }

    def _draw(self, axes: Any) -> None:
        _draw_sizes(axes, np.asarray(self._representatives), np.asarray(self._sizes))
        axes.axhline(self.k, color="0.6", linestyle=":", label=f"k={self.k}")
        axes.set_xlabel("published value")
        axes.set_ylabel("records")
        axes.set_title(f"{self.n_groups} groups of {self._n_records} records", fontsize=10, loc="left")
        axes.set_ylim(bottom=0)
        use_whole_ticks(axes.yaxis)
        put_legend_beside(axes, 2)

    @fact
    def labels(self) -> Any:
        """The group of every record."""
        return self._facts.to_caller(self._facts.labels)

    @fact
    def n_groups(self) -> int:
        """The number of groups."""
        return self._facts.n_groups

    @fact
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._facts.to_caller(self._facts.sizes)

    @fact
    def small_groups(self) -> Any:
        """The groups that have fewer than k records."""
        return self._facts.to_caller(np.flatnonzero(self._sizes < self.k))

    @fact
    def cost(self) -> float | int:
        """The cost of the grouping, recomputed from the data."""
        return self._facts.cost

    @fact
    def representatives(self) -> Any:
        """The value that replaces each group."""
        return self._facts.to_caller(self._facts.representatives)

    @fact
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._facts.to_caller(self._facts.masked)

    @fact
    def information_loss(self) -> float:
        """SSE / SST."""
        return self._facts.information_loss


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
        The cost of each column, recomputed from the data.
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
    _cost_names: list[str]
    _facts: TableFacts

    def __init__(self, facts: TableFacts, k: int | tuple[int, ...], k_guaranteed: bool, cost_names: list[str]) -> None:
        self._facts, self.k, self.k_guaranteed, self._cost_names = facts, k, k_guaranteed, cost_names

    def __len__(self) -> int:
        return self._facts.shape[1]

    def __getitem__(self, j: int) -> Grouping:
        j = range(len(self))[j]
        k = self.k if isinstance(self.k, int) else self.k[j]
        return Grouping(self._facts.column(j), k, self.k_guaranteed, self._cost_names[j])

    def __repr__(self) -> str:
        m, n = len(self), self._n_records
        fewest, most = int(self._n_groups.min()), int(self._n_groups.max())
        k = self.k if isinstance(self.k, int) else f"{min(self.k)} to {max(self.k)}"
        names = ", ".join(sorted(set(self._cost_names))) + ("" if self.k_guaranteed else ", k is not guaranteed")
        return f"<ColumnGroupings: {m} columns of {n} records, each in {fewest} to {most} groups, k={k}, {names}>"

    def _summary(self) -> dict[str, object]:
        low, middle, high = np.quantile(self._shares, [0, 0.5, 1])
        k = self.k if isinstance(self.k, int) else _span(min(self.k), max(self.k))
        return {
            "columns": len(self),
            "records": self._n_records,
            "groups in a column": _span(int(self._n_groups.min()), int(self._n_groups.max())),
            "k": k if self.k_guaranteed else f"{k}, not guaranteed",
            "cost": ", ".join(sorted(set(self._cost_names))),
            "information loss of a column": f"{low:.4%} to {high:.4%}, median {middle:.4%}",
        }

    def _draw(self, axes: Any) -> None:
        axes.plot(np.arange(len(self)), 100 * self._shares, "o", markersize=4)
        axes.set_xlabel("column")
        axes.set_ylabel("information loss: SSE / SST, %")
        axes.set_title(f"{len(self)} columns of {self._n_records} records", fontsize=10, loc="left")
        axes.set_ylim(bottom=0)

    @fact
    def _n_groups(self) -> np.ndarray:
        return self._facts.host(self._facts.n_groups)

    @fact
    def _shares(self) -> np.ndarray:
        return self._facts.host(self._facts.information_loss)

    @fact
    def labels(self) -> Any:
        """The group of every record in every column."""
        return self._facts.to_caller(self._facts.labels.T)

    @fact
    def n_groups(self) -> Any:
        """The number of groups of each column."""
        return self._facts.to_caller(self._facts.n_groups)

    @fact
    def sizes(self) -> Any:
        """The number of records in each group."""
        return self._facts.to_caller(self._facts.sizes.T)

    @fact
    def cost(self) -> Any:
        """The information loss of each column, from the data themselves."""
        return self._facts.to_caller(self._facts.cost)

    @fact
    def representatives(self) -> Any:
        """The value that replaces each group."""
        return self._facts.to_caller(self._facts.representatives.T)

    @fact
    def masked(self) -> Any:
        """The data with each value replaced."""
        return self._facts.to_caller(self._facts.masked.T)

    @fact
    def information_loss(self) -> Any:
        """SSE / SST of each column."""
        return self._facts.to_caller(self._facts.information_loss)


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
        ``SSE / SST`` in these units: `cost` relative to the cost of a single group.
    representatives : array, shape (n_groups, d)
        The mean of each group in the units of the data; the nearest integers with ``integer=True``.
    complete : bool
        False if `time_limit` ended the search; this is then the best grouping so far.
    bound : float or None
        A proven lower bound on the loss of every grouping with at least k records per group, in the unit of
        `information_loss`; None unless requested.  With one column it is the information loss itself.
    gap : float or None
        ``(information_loss - bound) / information_loss``: no grouping can lower the loss by more than this fraction.
        0 is optimal.
    optimal : bool or None
        Whether this is proven to be the least loss: no other grouping loses less, by more than one part in 10⁷.
    details : dict
        Further results of the method, such as ``"scores"`` of method "projection".
    """

    method: str
    complete: bool
    bound: float | None
    details: dict[str, Any]

    def __init__(
        self,
        facts: GroupingFacts,
        k: int,
        *,
        method: str,
        complete: bool,
        details: dict[str, Any],
        bound: float | None = None,
    ) -> None:
        self._facts, self.k, self.k_guaranteed = facts, k, True
        self.method, self.complete, self.details, self.bound = method, complete, details, bound

    def __repr__(self) -> str:
        n, d = self._facts.shape
        groups = f"{self.n_groups} groups of {int(self._sizes.min())} to {int(self._sizes.max())}"
        note = "" if self.complete else ", stopped by time_limit"
        loss = f"information loss {self.information_loss:.4g}" + ("" if self.gap is None else f", gap {self.gap:.2g}")
        return f"<RecordGrouping: {n} records of {d} columns in {groups}, k={self.k}, {self.method}, {loss}{note}>"

    def _summary(self) -> dict[str, object]:
        return {
            "records": self._n_records,
            "columns": self._facts.shape[1],
            "groups": _groups_of(self._sizes),
            "k": self.k,
            "method": self.method + ("" if self.complete else ", stopped by time_limit"),
            "information loss": f"{self.information_loss:.4%}",
            "bound": None if self.bound is None else f"{self.bound:.4%}, lower bound on the loss of any grouping",
            "gap": None if self.gap is None else f"{self.gap:.2%}, largest possible improvement",
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
        d = self._facts.shape[1]
        axes = new_axes()[0] if ax is None else ax
        if d == 1:
            _draw_sizes(axes, self._representatives[:, 0], self._sizes)
            across, up = "published value", "records"
        else:
            i, j = (integer("columns", column, 0, d - 1, "d-1") for column in columns)
            axes.scatter(self._representatives[:, i], self._representatives[:, j], 4.0 * self._sizes, alpha=0.5)
            across, up = f"column {i}", f"column {j}"
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.set_title(f"{self.n_groups} groups of {self._n_records} records", fontsize=10, loc="left")
        return axes

    @property
    def gap(self) -> float | None:
        """The largest possible improvement of the loss, relative to it."""
        if self.bound is None:
            return None
        return (self.information_loss - self.bound) / self.information_loss if self.information_loss else 0.0

    @property
    def optimal(self) -> bool | None:
        """Whether no grouping loses less, by more than one part in 10⁷."""
        return None if self.gap is None else self.gap <= OPTIMAL_GAP


def as_data_dtype(representatives: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert to the dtype of the data; means of integers stay float64, because they need not be integers.

    Zero is always +0.0: the sign of −0.0 would depend on the order of records and reveal one of them.
    """
    keeps = representatives.dtype.kind == "f" != dtype.kind
    values = representatives if keeps else representatives.astype(dtype)
    return values + 0.0 if values.dtype.kind == "f" else values


def _draw_sizes(axes: Any, values: np.ndarray, sizes: np.ndarray) -> None:
    """A line for each group; of very many, the span of sizes of neighbors."""
    space_ticks(axes.xaxis)
    if sizes.size <= MAX_LINES:
        axes.vlines(values, 0, sizes)
        return
    order = np.argsort(values, kind="stable")
    starts = np.arange(MAX_SPANS) * sizes.size // MAX_SPANS
    values, sizes = values[order], sizes[order]
    ends = np.append(values[starts], values[-1])
    low, high = np.minimum.reduceat(sizes, starts), np.maximum.reduceat(sizes, starts)
    axes.stairs(high, ends, baseline=low, fill=True, color="0.8", label="smallest to largest")
    axes.stairs(np.add.reduceat(sizes, starts) / np.diff(starts, append=sizes.size), ends, baseline=None, label="mean")


def _groups_of(sizes: np.ndarray) -> str:
    return f"{sizes.size} of {_span(int(sizes.min()), int(sizes.max()))} records"


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"
