"""Facts about groups whose data are in the memory of the host: see `mag.results.GroupingFacts`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from mag._compiled.groups import Groups, distance, record_means, sizes_of
from mag._compiled.sort import sort
from mag._lib.lazy import cached_property
from mag.costs import Cost
from mag.results import GroupingFacts, TableFacts, as_data_dtype

VALUES_PER_BLOCK = 2**17  # values that a table's facts are computed from at a time

Value = TypeVar("Value")


class HostFacts:
    """Arrays of NumPy; `origin` makes those of the caller's library from them, None leaves them as they are."""

    origin: Callable[[Any], Any] | None

    def read(self, key: str, compute: Callable[[], Value]) -> Value:
        """What `compute` makes of the facts, computed once and kept under a key."""
        kept = self.__dict__
        return kept[key] if key in kept else kept.setdefault(key, compute())

    def to_caller(self, array: np.ndarray) -> Any:
        """An array of the caller's library."""
        return array if self.origin is None else self.origin(array)

    def host(self, array: np.ndarray) -> np.ndarray:
        """The array itself."""
        return array

    @property
    def masked(self: GroupingFacts) -> Any:
        """The data with each record replaced."""
        return self.representatives[self.labels]

    def stored(self: GroupingFacts) -> GroupingFacts:
        """The same facts without the data."""
        return store(self, self.origin)


class HostTable(HostFacts):
    """Arrays of NumPy with a row for each column of a table."""

    labels: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data."""
        return self.labels.shape[::-1]

    @property
    def masked(self: GroupingFacts) -> np.ndarray:
        """The data with each value replaced, in blocks of bounded memory."""
        labels, representatives = self.labels, self.representatives
        masked = np.empty(labels.shape, representatives.dtype)
        for rows in _blocks(np.arange(len(labels)), labels.shape[1]):
            masked[rows] = np.take_along_axis(representatives[rows], labels[rows], axis=1)
        return masked

    def stored(self: TableFacts) -> TableFacts:
        """The same facts without the data."""
        return store_table(self, self.origin)


@dataclass(eq=False)
class StoredFacts(HostFacts):
    """Facts without the data, for pickles and copies of one column or of records."""

    shape: tuple[int, ...]
    labels: np.ndarray
    sizes: np.ndarray
    representatives: np.ndarray
    cost: float | int
    information_loss: float
    origin: Callable[[Any], Any] | None

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.sizes.size


@dataclass(eq=False)
class StoredTableFacts(HostTable):
    """Facts without the data, for pickles and copies of a table whose columns have groups of their own."""

    labels: np.ndarray
    sizes: np.ndarray
    representatives: np.ndarray
    cost: np.ndarray
    information_loss: np.ndarray
    origin: Callable[[Any], Any] | None

    @property
    def n_groups(self) -> np.ndarray:
        """The number of groups of each column."""
        return (self.sizes > 0).sum(axis=1)

    def column(self, j: int) -> StoredFacts:
        """The facts of column j."""
        n_groups = self.n_groups[j]
        return StoredFacts(
            self.shape[:1],
            self.labels[j],
            self.sizes[j, :n_groups],
            self.representatives[j, :n_groups],
            self.cost[j].item(),
            float(self.information_loss[j]),
            self.origin,
        )


@dataclass(eq=False)
class HostColumnFacts(HostFacts):
    """Of one column: `order` sorts x, None where it is sorted, and groups start there at `starts`."""

    labels: np.ndarray
    x: np.ndarray
    dtype: np.dtype
    order: np.ndarray | None
    starts: np.ndarray
    weights: np.ndarray | None
    kind: Cost
    origin: Callable[[Any], Any] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data."""
        return self.labels.shape

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return self.starts.size

    @cached_property
    def _values(self) -> np.ndarray:
        return in_order(self.x, self.order)

    @cached_property
    def _groups(self) -> Groups:
        weights = None if self.weights is None else in_order(self.weights, self.order)
        return Groups(self._values, self.starts, weights)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of records in each group."""
        return sizes_of(self.starts, self.labels.size)

    @cached_property
    def representatives(self) -> np.ndarray:
        """The value that replaces each group."""
        return as_data_dtype(self.kind.representatives(self._groups), self.dtype)

    @cached_property
    def cost(self) -> float | int:
        """The cost of the grouping, recomputed from the data."""
        with np.errstate(over="ignore"):
            # summed as `HostTableFacts` sums: the same bits
            (total,) = np.add.reduceat(self.kind.losses(self._groups, self._values), [0])
        return int(total) if self.kind.integer else float(total)

    @cached_property
    def information_loss(self) -> float:
        """SSE / SST."""
        everyone = Groups(self._values, np.zeros(1, np.int64), self._groups.weights)
        return float(self._groups.information_loss(self.kind.centers(self._groups), everyone)[0])


@dataclass(eq=False)
class HostTableFacts(HostTable):
    """Of a table whose columns have groups of their own: `labels` are rows of `n_groups` groups each."""

    labels: np.ndarray
    n_groups: np.ndarray
    x: np.ndarray
    dtype: np.dtype
    weights: np.ndarray | None
    costs: list[Cost]
    origin: Callable[[Any], Any] | None = None

    def column(self, j: int) -> HostColumnFacts:
        """The facts of column j."""
        x = np.ascontiguousarray(self.x[:, j], np.float64 if self.dtype.kind == "f" else None)
        sizes = self.sizes[j, : self.n_groups[j]]
        starts = np.cumsum(sizes) - sizes
        return HostColumnFacts(
            self.labels[j], x, self.dtype, sort(x)[1], starts, self.weights, self.costs[j], self.origin
        )

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of records in each group of each column, in rows."""
        m, n = self.labels.shape
        most = int(self.n_groups.max())
        sizes = np.empty((m, most), np.int64)
        for rows in _blocks(np.arange(m), n):
            names = self.labels[rows] + most * np.arange(rows.size)[:, None]
            sizes[rows] = np.bincount(names.ravel(), minlength=rows.size * most).reshape(rows.size, most)
        return sizes

    def _evaluated(self) -> Iterator[tuple[np.ndarray, Groups, Cost]]:
        """Some columns of one cost, their groups one after the other, and that cost."""
        m, n = self.labels.shape
        for cost in dict.fromkeys(self.costs):
            columns = np.array([j for j in range(m) if self.costs[j] is cost])
            together = cost.built_in and self.weights is None
            for block in _blocks(columns, n) if together else columns.reshape(-1, 1):
                values = self.x[:, block].T.astype(np.float64 if self.dtype.kind == "f" else self.x.dtype, order="C")
                weights = None if self.weights is None else in_order(self.weights, sort(values[0])[1])
                values.sort(axis=1)
                sizes = self.sizes[block]
                starts = (np.cumsum(sizes, axis=1) - sizes + n * np.arange(block.size)[:, None])[sizes > 0]
                yield block, Groups(values.ravel(), starts, weights), cost

    @cached_property
    def representatives(self) -> np.ndarray:
        """The value that replaces each group."""
        centers = [
            (block, as_data_dtype(cost.representatives(groups), self.dtype))
            for block, groups, cost in self._evaluated()
        ]
        representatives = np.zeros(self.sizes.shape, np.result_type(*(values.dtype for _, values in centers)))
        for block, values in centers:
            rows = np.zeros((block.size, representatives.shape[1]), representatives.dtype)
            rows[self.sizes[block] > 0] = values
            representatives[block] = rows
        return representatives

    @cached_property
    def cost(self) -> np.ndarray:
        """The information loss of each column, from the data themselves."""
        integer = all(cost.integer for cost in self.costs)
        total = np.zeros(len(self.labels), object if integer else np.float64)
        for block, groups, cost in self._evaluated():
            first = np.cumsum(self.n_groups[block]) - self.n_groups[block]
            with np.errstate(over="ignore"):
                total[block] = np.add.reduceat(cost.losses(groups, groups.values), first)
        return total.astype(np.int64 if integer and total.max() < 2**63 else np.float64)

    @cached_property
    def information_loss(self) -> np.ndarray:
        """SSE / SST of each column."""
        m, n = self.labels.shape
        loss = np.empty(m)
        for block, groups, cost in self._evaluated():
            wholes = Groups(groups.values, n * np.arange(block.size), groups.weights)
            loss[block] = groups.information_loss(cost.centers(groups), wholes)
        return loss


class HostRecordFacts(HostFacts):
    """Of records of several columns; `standard` are the columns that distances are measured in."""

    def __init__(
        self,
        labels: np.ndarray,
        n_groups: int,
        *,
        x: Any,
        dtype: np.dtype,
        standard: Any,
        integer: bool,
        origin: Callable[[Any], Any] | None,
    ) -> None:
        self.labels, self.n_groups, self.x, self.dtype = labels, n_groups, x, dtype
        self.standard, self.integer, self.origin = standard, integer, origin

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the data."""
        return self.x.shape

    @cached_property
    def order(self) -> np.ndarray:
        """The records of each group one after the other."""
        return np.argsort(self.labels, kind="stable")

    @cached_property
    def starts(self) -> np.ndarray:
        """Where groups start in that order."""
        return np.searchsorted(self.labels[self.order], np.arange(self.n_groups))

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of records in each group."""
        return sizes_of(self.starts, self.labels.size)

    @cached_property
    def representatives(self) -> Any:
        """The mean of each group in the units of the data, or the integer nearest to it."""
        values = self.x[self.order]
        if self.integer:  # half away from zero (Mortazavi 2020)
            groups = [Groups.unsorted(column, self.starts, None) for column in values.T]
            return np.column_stack([one.placed(one.rounded_mean()) for one in groups]).astype(self.dtype)
        return as_data_dtype(record_means(values, self.starts, self.sizes), self.dtype)

    def _spread(self, per_group: np.ndarray) -> np.ndarray:
        return np.repeat(per_group, self.sizes, axis=0)

    @cached_property
    def squares(self) -> float:
        """Squared distances to the representatives, in units of `standard.z`."""
        if self.integer:  # relative to the smallest of a column, float64 is exact
            base = self.x.min(axis=0)
            x, centers = (distance(rows, base).astype(np.float64) for rows in (self.x, self.representatives))
            away = (x[self.order] - self._spread(centers)) * self.standard.unit
        else:
            z = self.standard.z[self.order]
            away = z - self._spread(z[self.starts])
            away -= self._spread(np.add.reduceat(away, self.starts, axis=0) / self.sizes[:, None])
        return float(np.square(away).sum())

    @cached_property
    def total(self) -> float:
        """Squared distances to the mean, in units of `standard.z`."""
        return float(np.square(self.standard.z).sum())

    @property
    def cost(self) -> float:
        """The sum of squared distances to the representatives, in the units that `standardize` chose."""
        with np.errstate(over="ignore"):
            return float(np.ldexp(self.squares, 2 * self.standard.scale))

    @property
    def information_loss(self) -> float:
        """SSE / SST."""
        return self.share(self.squares)

    def share(self, squares: float) -> float:
        """Squared distances in units of `standard.z`, relative to those to the mean."""
        return squares / self.total if self.total else 0.0


def store(facts: GroupingFacts, origin: Callable[[Any], Any] | None) -> StoredFacts:
    """Facts about a column or records, without the data; `origin` is for arrays of NumPy."""
    labels, sizes, values = map(facts.host, (facts.labels, facts.sizes, facts.representatives))
    return StoredFacts(facts.shape, labels, sizes, values, facts.cost, facts.information_loss, origin)


def store_table(facts: TableFacts, origin: Callable[[Any], Any] | None) -> StoredTableFacts:
    """Facts about a table whose columns have groups of their own, without the data."""
    labels, sizes, values = map(facts.host, (facts.labels, facts.sizes, facts.representatives))
    return StoredTableFacts(labels, sizes, values, facts.host(facts.cost), facts.host(facts.information_loss), origin)


def in_order(per_record: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    """In the order of sorted values; None where they are sorted already."""
    return per_record if order is None else per_record[order]


def _blocks(columns: np.ndarray, n: int) -> list[np.ndarray]:
    """The columns in blocks of bounded memory."""
    width = max(1, VALUES_PER_BLOCK // n)
    return [columns[i : i + width] for i in range(0, columns.size, width)]
