"""Keys for cells that cannot be hashed: lists, dictionaries and sets become tuples."""

from typing import Any

import numpy as np

from mag._lib.missing import is_missing


def as_key(cell: Any) -> Any:
    """A cell that can be hashed: nested ones as tuples, missing ones as None, others as they are."""
    if isinstance(cell, (list, tuple, np.ndarray)):
        return tuple(map(as_key, cell))
    if isinstance(cell, dict):
        return tuple((name, as_key(value)) for name, value in cell.items())
    if isinstance(cell, (set, frozenset)):
        return frozenset(map(as_key, cell))
    return None if is_missing(cell) else cell
