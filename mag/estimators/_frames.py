"""Frames with categories: masked by `mag.microaggregate`, and compared with the published representatives."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from mag._lib.checks import same_rows
from mag._lib.errors import InputTypeError
from mag.frames import Frame, frame_of
from mag.frames.categories import is_category, order_of
from mag.hierarchy import Hierarchy, hierarchy_of
from mag.measures.scales import nearest_records, read_scales
from mag.tables import Release, microaggregate

Hierarchies = dict[Any, Hierarchy]


def is_frame(X: Any) -> bool:
    """Whether X has columns with names."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def has_categories(X: Any) -> bool:
    """Whether a column of the frame does not hold numbers."""
    frame = frame_of(X)
    return any(is_category(frame.column(name)) for name in frame.names)


def read_trees(hierarchies: Mapping[Any, Any] | None) -> Hierarchies:
    """The hierarchies of columns; a function would need the values, which a fitted estimator does not hold."""
    for name, tree in (hierarchies or {}).items():
        if callable(tree) and not isinstance(tree, Hierarchy):
            raise InputTypeError(
                f"hierarchies[{name!r}] must not be a function here: the fitted estimator would hold the values."
            )
    return {name: hierarchy_of(f"hierarchies[{name!r}]", tree) for name, tree in (hierarchies or {}).items()}


def read_orders(frame: Frame, order: Mapping[Any, Any] | None) -> dict[Any, list[Any]]:
    """The orders of columns, from the parameter or from the dtypes."""
    own = {name: order_of(frame.column(name)) for name in frame.names if name not in (order or ())}
    return {name: order for name, order in own.items() if order is not None} | {
        name: list(listed) for name, listed in (order or {}).items()
    }


def release_frame(
    X: Any, k: int, sensitive: Any, demands: Mapping[str, Any], owners: Mapping[str, Any], options: dict[str, Any]
) -> "tuple[Any, Release[Any]]":
    """The published frame, and the release, which also holds the sensitive values.

    `demands` are those on the sensitive values, `owners` the cells of units and households.
    """
    names, table = frame_of(X).names, X
    roles: dict[str, Any] = {}
    for option, cells in owners.items():
        roles[option] = _free_name(option, names)
        table = _with_column(table, roles[option], cells)
    if sensitive is not None:
        same_rows("sensitive", len(sensitive), "X", len(X))
        name = _free_name("sensitive", names)
        table = _with_column(table, name, sensitive)
        roles |= {option: {name: wish} for option, wish in demands.items() if wish is not None}
    release = microaggregate(table, k, names, **roles, **options)
    return release.data if sensitive is None else release.data[names], release


def _free_name(name: str, names: Collection[Any]) -> str:
    """A name that no column has."""
    while name in names:
        name += "_"
    return name


def _with_column(X: Any, name: str, values: Any) -> Any:
    """A frame of pandas or polars with one more column."""
    if hasattr(X, "assign"):
        return X.assign(**{name: getattr(values, "array", values)})  # by place: pandas aligns a Series by its index
    import polars as pl

    return X.with_columns(pl.Series(name, values))


def read_units(X: Any, trees: Hierarchies, order: Mapping[Any, Any] | None, standardize: Any) -> dict[Any, float]:
    """The unit in which the distances of each column are measured."""
    scales = read_scales(X, X, trees, read_orders(frame_of(X), order))
    return {scale.name: scale.unit(standardize) for scale in scales}


def nearest_representatives(
    X: Any, representatives: Any, units: Any, trees: Hierarchies, order: Mapping[Any, Any] | None
) -> np.ndarray:
    """For every record of X the number of the nearest representative."""
    if not hasattr(X, "columns"):
        raise InputTypeError("X must be a frame with the columns that fit has seen; got an array.")
    return nearest_records(X, representatives, units, trees, read_orders(frame_of(X), order))


def take_rows(frame: Any, places: np.ndarray, index: Any = None) -> Any:
    """Rows of a frame in fresh memory, with this index where it has one."""
    own = frame_of(frame)
    rows = own.build(places, own.names, {}, True)
    if index is not None and hasattr(rows, "index"):
        rows.index = index
    return rows
