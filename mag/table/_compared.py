"""The masked columns of a release before and after, categories and ranges among them, as risk and utility take them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mag.frames import Frame
from mag.frames.categories import Categories

Numbers = Mapping[Hashable, np.ndarray]


@dataclass(frozen=True)
class Compared:
    """Two tables, arrays of numbers or columns by name, and the options of their categories."""

    original: Any
    masked: Any
    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def with_notes(self, measures: dict[str, Any]) -> dict[str, Any]:
        """Measures and what is to be said of them."""
        notes = [*self.notes, *measures.get("notes", ())]
        return measures | ({"notes": notes} if notes else {})


def compare_cells(
    source: Frame,
    rows: Any,
    published: Frame,
    names: Sequence[Hashable],
    categories: Mapping[Hashable, Categories],
    numbers: tuple[Numbers, Numbers],
) -> Compared:
    """Columns of a release that holds more than numbers; missing cells are NaN or None."""
    before, after = dict(numbers[0]), dict(numbers[1])
    trees: dict[Hashable, Any] = {}
    order: dict[Hashable, Any] = {}
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
            continue
        own = categories[name]
        before[name], after[name] = own.cells(), cells
        known = [cell for cell in dict.fromkeys(cells.tolist()) if cell is not None and cell == cell]
        if own.tree is not None and (own.tree.find_nodes(known) >= 0).all():
            trees[name] = own.tree
        elif own.ordered:
            order[name] = own.labels
    kept = [name for name in names if name in before]
    notes = (f"Ranges of durations are left out: {', '.join(left_out)}.",) if left_out else ()
    options = {"hierarchies": trees, "order": order}
    return Compared({name: before[name] for name in kept}, {name: after[name] for name in kept}, options, notes)


def _objects(cells: Sequence[Any]) -> np.ndarray:
    column = np.empty(len(cells), object)
    column[:] = cells
    return column
