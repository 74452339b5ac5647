"""The original of a release, and its masked columns before and after, as risk, utility, plots and reports take them."""

import pathlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mag import metrics
from mag._lib import checks
from mag._lib.keys import as_key
from mag._lib.roles import is_name
from mag.frames import Frame
from mag.frames.categories import CategoryCodes
from mag.hierarchy import Hierarchy
from mag.measures import assess
from mag.measures.scales import labels_in_order, middles
from mag.tables._analysis import read_values
from mag.tables._guarantee import Guarantee

if TYPE_CHECKING:
    from mag.report import Category
    from mag.tables.plan import Plan

Numbers = dict[Hashable, np.ndarray]


@dataclass(frozen=True)
class BeforeAfter:
    """Two tables, arrays of numbers or columns by name, and the options of their categories."""

    original: Any
    masked: Any
    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    codes: Mapping[Hashable, CategoryCodes] = field(default_factory=dict)
    ranges: Mapping[Hashable, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def categories(
        self, generalized: Sequence[Hashable], levels: Mapping[Hashable, int] | None = None
    ) -> "dict[Hashable, Category]":
        """Columns of categories as the report takes them; `levels` are those chosen by `mag.generalize`."""
        from mag.report import Category

        return {
            name: Category(
                before=self.original[name],
                after=self.masked[name],
                order=labels_in_order(own.tree, own.labels if own.ordered else [], self.masked[name].tolist()),
                generalized=name in generalized,
                recoded=_recode(self.original[name], own.tree, levels[name]) if levels and own.tree else None,
            )
            for name, own in self.codes.items()
        }

    def risk(self) -> dict[str, Any]:
        """Disclosure risk."""
        return self._with_notes(assess.risk(self.original, self.masked, **self.options))

    def utility(self, propensity: bool, numbers: Sequence[Hashable], ncp: Callable[[], float]) -> dict[str, Any]:
        """Information loss; `numbers` are the names of columns that are published as such."""
        measures = assess.utility(self.original, self.masked, propensity, **self.options)
        for key in ("information_loss_by_column", "share_change_by_column"):
            if isinstance(figures := measures.get(key), list):
                measures[key] = dict(zip(numbers, figures, strict=True))
        if "ncp" in measures:
            measures["ncp"] = ncp()
        return self._with_notes(measures)

    def _with_notes(self, measures: dict[str, Any]) -> dict[str, Any]:
        """Measures and the notes about them."""
        notes = [*self.notes, *measures.get("notes", ())]
        return measures | ({"notes": notes} if notes else {})


def _recode(cells: np.ndarray, tree: Hierarchy, level: int) -> np.ndarray:
    """The label of every cell on this level; missing cells stay."""
    distinct = list(dict.fromkeys(cell for cell in cells.tolist() if cell is not None))
    nodes = tree.levels[tree.find(distinct), level].tolist()
    labels = {cell: tree.labels[node] for cell, node in zip(distinct, nodes, strict=True)}
    return as_objects([labels.get(cell) for cell in cells.tolist()])


@dataclass(frozen=True, eq=False)
class Original:
    """The table that a release was made of; `rows` are those that are published, None for all in their order."""

    frame: Frame
    rows: np.ndarray | None = None
    categories: Mapping[Hashable, CategoryCodes] = field(default_factory=dict)
    files: tuple[pathlib.Path, ...] = ()  # that were read, and are never replaced
    groups: Mapping[Hashable, np.ndarray] = field(default_factory=dict)  # of columns that have their own
    plan: "Callable[[], Plan] | None" = None  # of `mag.microaggregate`, made on demand

    @property
    def _published(self) -> Any:
        return slice(None) if self.rows is None else self.rows

    def withheld_rows(self) -> np.ndarray:
        """The row numbers of the records that are not published."""
        every = np.arange(self.frame.n)
        return np.setdiff1d(every, every[self._published])

    def numbers(self, published: Frame, guarantee: Guarantee) -> tuple[Numbers, Numbers]:
        """The masked columns that are published as numbers, before and after."""
        others = {*self.categories, *guarantee.generalized}
        names = [name for name in guarantee.columns if name not in others]
        before = {name: self._floats(name) for name in names}
        return before, {name: published.column(name).units().floats() for name in names}

    def _floats(self, name: Hashable) -> np.ndarray:
        return self.frame.column(name).units().floats()[self._published]

    def values(self, name: Hashable) -> np.ndarray:
        """A column of the published records: numbers, or categories as objects."""
        return read_values(self.frame.column(name))[self._published]

    def weights(self, weights: Any) -> np.ndarray | None:
        """Weights of the published records, of a column or an array for all records of the original."""
        if weights is None:
            return None
        own = self.frame.column(weights).units().floats() if is_name(weights, self.frame.names) else np.asarray(weights)
        return checks.weights_for(own, self.frame.n)[self._published]

    def kinds(self, names: Iterable[Hashable]) -> dict[Hashable, str]:
        """Of numbers: number, datetime or duration."""
        return {name: self.frame.column(name).units().kind for name in names}

    def ranges(self, masked: Iterable[Hashable]) -> list[Hashable]:
        """The masked columns of numbers or dates, which may be published as ranges."""
        numbers = [name for name in masked if name not in self.categories and self.values(name).dtype != object]
        return [name for name, kind in self.kinds(numbers).items() if kind != "duration"]

    def penalty(self, columns: Sequence[Hashable], labels: np.ndarray, used: bool) -> float:
        """The normalized certainty penalty of groups, of all leaves or of those that are `used`."""
        losses = []
        for name in columns:
            own_labels = self.groups.get(name, labels)
            if name in self.categories:
                losses.append(self.categories[name].penalty(own_labels, used))
                continue
            numbers = self._floats(name)
            there = ~np.isnan(numbers)
            own = metrics.ncp(numbers[there], own_labels[there]) if there.any() else 0.0
            losses.append(own / labels.shape[0])
        return float(np.mean(losses))

    def compare(self, published: Frame, columns: Sequence[Hashable], numbers: tuple[Numbers, Numbers]) -> BeforeAfter:
        """The masked columns before and after; missing cells are NaN or None, nested ones tuples."""
        if list(numbers[0]) == list(columns):
            first, second = (np.column_stack(list(table.values())) for table in numbers)
            return BeforeAfter(first, second)
        before, after = dict(numbers[0]), dict(numbers[1])
        trees: dict[Hashable, Any] = {}
        order: dict[Hashable, Any] = {}
        ranges: dict[Hashable, tuple[np.ndarray, np.ndarray]] = {}
        left_out = []
        for name in columns:
            if name in numbers[0]:
                continue
            cells = as_objects(published.column(name).cells())
            if name not in self.categories:
                units = self.frame.column(name).units()
                if units.kind == "duration":
                    left_out.append(str(name))
                    continue
                before[name], after[name] = units.floats()[self._published], cells
                ranges[name] = before[name], middles(cells)
                continue
            own = self.categories[name]
            before[name], after[name] = (
                as_objects([as_key(cell) for cell in column]) for column in (own.cells(), cells)
            )
            known = [cell for cell in dict.fromkeys(after[name].tolist()) if cell is not None]
            if own.tree is not None and (own.tree.find_nodes(known) >= 0).all():
                trees[name] = own.tree
            elif own.ordered:
                order[name] = own.labels
        kept = [name for name in columns if name in before]
        notes = (f"Ranges of durations are left out: {', '.join(left_out)}.",) if left_out else ()
        options = {"hierarchies": trees, "order": order}
        original, masked = ({name: table[name] for name in kept} for table in (before, after))
        return BeforeAfter(original, masked, options, notes, self.categories, ranges)


def as_objects(cells: Sequence[Any]) -> np.ndarray:
    column = np.empty(len(cells), object)
    for place, cell in enumerate(cells):  # a list of lists of one length would be a table to NumPy
        column[place] = cell
    return column
