"""Units and households of the records of an array: their cells, groups of enough of them, and the recount."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from mag import verify
from mag._lib.checks import describe, same_rows
from mag._lib.errors import CodesWarning, InputTypeError
from mag.tables import TableGrouping, microaggregate


def read_cells(option: str, cells: Any, X: Any) -> np.ndarray:
    """One cell of any kind for each record, as objects."""
    listed = getattr(cells, "to_list", None) or getattr(cells, "tolist", None)
    if isinstance(cells, (str, bytes, Mapping)) or not (listed or hasattr(cells, "__iter__")):
        raise InputTypeError(f"{option} must hold a value for each record of X; got {describe(cells)}.")
    found = list(listed() if listed else cells)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    same_rows(option, len(found), "X", n)
    column = np.empty(n, object)
    for place, cell in enumerate(found):
        column[place] = cell
    return column


def group(
    values: np.ndarray, k: int, owners: Mapping[str, np.ndarray], standardize: bool, options: dict[str, Any]
) -> TableGrouping:
    """The groups of `mag.microaggregate`; a single column is grouped at its optimum, whatever the method."""
    names = [f"column {j}" for j in range(values.shape[1])]
    table: dict[Any, Any] = {**dict(zip(names, values.T, strict=True)), **owners}
    if len(names) == 1:
        options = options | {"method": "auto", "standardize": None, "time_limit": None}
    else:
        options = options | {"standardize": standardize}
    options |= {option: option for option in owners}
    with warnings.catch_warnings():  # their advice names columns and options that the caller does not have
        warnings.simplefilter("ignore", CodesWarning)
        return microaggregate(table, k, names, **options).grouping


def recount(masked: np.ndarray, option: str, cells: np.ndarray, k: int) -> int:
    """The smallest number of units, or households, of a class of masked records."""
    columns = {f"column {j}": column for j, column in enumerate(masked.T)}
    return verify.require_units(columns, [*columns], cells.tolist(), k, f"{option}s")
