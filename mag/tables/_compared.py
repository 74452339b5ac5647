"""The masked columns of a release before and after, categories and ranges among them, as risk and utility take them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mag._lib.keys import as_key
from mag.frames import Frame
from mag.frames.categories import CategoryCodes
from mag.hierarchy import Hierarchy
from mag.measures.scales import labels_in_order, middles

if TYPE_CHECKING:
    from mag.report import Category

Numbers = Mapping[Hashable, np.ndarray]


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
        """Columns of categories as the report takes them; `levels` are those that `mag.generalize` has chosen."""
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

    def with_notes(self, measures: dict[str, Any]) -> dict[str, Any]:
        """Measures and what is to be said of them."""
        notes = [*self.notes, *measures.get("notes", ())]
        return measures | ({"notes": notes} if notes else {})


def _recode(cells: np.ndarray, tree: Hierarchy, level: int) -> np.ndarray:
    """The label of every cell on this level; missing cells stay."""
    distinct = list(dict.fromkeys(cell for cell in cells.tolist() if cell is not None))
    nodes = tree.levels[tree.find(distinct), level].tolist()
    labels = {cell: tree.labels[node] for cell, node in zip(distinct, nodes, strict=True)}
    return _objects([labels.get(cell) for cell in cells.tolist()])


def compare_cells(
    source: Frame,
    rows: Any,
    published: Frame,
    names: Sequence[Hashable],
    categories: Mapping[Hashable, CategoryCodes],
    numbers: tuple[Numbers, Numbers],
) -> BeforeAfter:
    """Columns of a release that holds more than numbers; missing cells are NaN or None, nested ones tuples."""
    before, after = dict(numbers[0]), dict(numbers[1])
    trees: dict[Hashable, Any] = {}
    order: dict[Hashable, Any] = {}
    ranges: dict[Hashable, tuple[np.ndarray, np.ndarray]] = {}
    left_out = []
    for name in names:
        if name in numbers[0]:
            continue
        cells = _objects(published.column(name).cells())
        if name not in categories:
            units = source.column(name).units()
            if units.kind == "duration":
                left_out.append(str(name))
                continue
            before[name], after[name] = units.floats()[rows], cells
            ranges[name] = before[name], middles(cells)
            continue
        own = categories[name]
        before[name], after[name] = (_objects([as_key(cell) for cell in column]) for column in (own.cells(), cells))
        known = [cell for cell in dict.fromkeys(after[name].tolist()) if cell is not None]
        if own.tree is not None and (own.tree.find_nodes(known) >= 0).all():
            trees[name] = own.tree
        elif own.ordered:
            order[name] = own.labels
    kept = [name for name in names if name in before]
    notes = (f"Ranges of durations are left out: {', '.join(left_out)}.",) if left_out else ()
    options = {"hierarchies": trees, "order": order}
    original, masked = ({name: table[name] for name in kept} for table in (before, after))
    return BeforeAfter(original, masked, options, notes, categories, ranges)


def _objects(cells: Sequence[Any]) -> np.ndarray:
    column = np.empty(len(cells), object)
    for place, cell in enumerate(cells):  # a list of lists of one length would be a table to NumPy
        column[place] = cell
    return column
