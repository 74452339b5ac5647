"""Units and households of classes, counted by dictionaries of texts."""

import numpy as np


def text_of(cell):
    return "missing" if cell is None or cell != cell else repr(cell)


def least_owners(published, owners, columns):
    """The smallest number of different owners of a class."""
    found = {}
    cells = [[text_of(cell) for cell in np.asarray(published[name]).tolist()] for name in columns]
    for row, owner in zip(zip(*cells, strict=True), owners, strict=True):
        found.setdefault(row, set()).add(owner)
    return min(map(len, found.values()))
