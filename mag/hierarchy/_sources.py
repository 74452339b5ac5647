"""The forms in which callers may pass a hierarchy."""

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from mag._lib import checks
from mag._lib.errors import InputTypeError
from mag.hierarchy._rows import rows_of_parents
from mag.hierarchy._tree import Hierarchy


def hierarchy_of(option: str, source: Any) -> Hierarchy:
    """A hierarchy, the path of a file of ARX, a frame of levels, or a parent of every category."""
    if isinstance(source, Hierarchy):
        return source
    if hasattr(source, "columns"):
        return Hierarchy.from_columns(source, list(getattr(source, "column_names", source.columns)))
    if isinstance(source, (str, os.PathLike)):
        return Hierarchy.read(source)
    if not isinstance(source, Mapping):
        raise InputTypeError(
            f"{option} must be a mag.Hierarchy, the path of a file, a frame of levels, or a dictionary that maps every "
            f"category to its parent; got {checks.describe(source)}."
        )
    return Hierarchy(rows_of_parents(option, source))


def read_hierarchies(hierarchies: Any, d: int, names: Sequence[Hashable] = ()) -> dict[int, Hierarchy]:
    """One tree for each of some columns, by their names or places."""
    if hierarchies is None:
        return {}
    if not isinstance(hierarchies, Mapping):
        raise InputTypeError(f"hierarchies must map columns to trees; got {checks.describe(hierarchies)}.")
    places = {name: place for place, name in enumerate(names)}
    return {
        places[column] if column in places else checks.integer("a key of hierarchies", column, 0, d - 1, "d-1"): (
            hierarchy_of(f"hierarchies[{column!r}]", tree)
        )
        for column, tree in hierarchies.items()
    }
