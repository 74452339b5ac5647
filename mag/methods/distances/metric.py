"""The metric of records, which methods ask for distances: `Euclidean`, or `Mixed` where there are categories.

Methods write `distances(metric, …)`; numba takes the function of that name from the file of the metric.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.extending import overload

from mag._compiled.jit import INLINE, JIT_OPTIONS
from mag._compiled.linking import INNER
from mag._compiled.memory import grid
from mag.methods.distances import euclidean, mixed

FILES = {euclidean.Euclidean: euclidean, mixed.Mixed: mixed}
INSIDE: dict[str, Any] = INLINE  # copied into callers
APART: dict[str, Any] = {"jit_options": {**JIT_OPTIONS, **INNER}}
Operation = TypeVar("Operation", bound=Callable[..., Any])


def metric_of(X: Any) -> Any:
    """The metric of an array of points, or of `CategoryColumns.records`, which are one."""
    return euclidean.euclidean(X, *X.shape) if isinstance(X, np.ndarray) else X


@overload(metric_of, strict=False, **INSIDE)  # strict: annotations, too, would have to be equal
def _metric_of(X: Any) -> Any:
    if isinstance(X, types.Array):
        points_of = euclidean.euclidean
        return lambda X: points_of(grid(X, X.shape[1]), X.shape[0], X.shape[1])
    in_memory = mixed.in_memory
    return lambda X: in_memory(X)


def _operation(options: dict[str, Any]) -> Callable[[Operation], Operation]:
    """Let compiled code call the function of this name in the metric's file."""

    def register(function: Operation) -> Operation:
        name = function.__name__
        overload(function, strict=False, **options)(lambda metric, *_: getattr(FILES[metric.instance_class], name))
        return function

    return register


@_operation(INSIDE)
def distances(metric: Any, block: Any, first: Any, i: Any) -> Any:
    """The squared distances of LANES_PER_STEP lanes of a block from record i; columns are added in order."""


@_operation(APART)
def distance_to(metric: Any, block: Any, lane: Any, i: Any) -> Any:
    """The squared distance of one lane from record i, rounded as in `distances`."""


@_operation(INSIDE)
def distances_to_boxes(metric: Any, low: Any, high: Any, first: Any, i: Any, sign: Any) -> Any:
    """The squared distances of BOXES_PER_STEP boxes from record i: of the near side if sign = 1, of the far if -1."""


@_operation(APART)
def write_record(metric: Any, block: Any, lane: Any, i: Any) -> Any:
    """Write record i into a lane of a block."""


@_operation(APART)
def write_centroid(metric: Any, block: Any, lane: Any, sums: Any, size: Any) -> Any:
    """Write the centroid of `size` records with these sums of coordinates into a lane of a block."""


@_operation(INSIDE)
def sort_keys(metric: Any) -> Any:
    """Few numbers for every record, and how many: records are near each other whose numbers are."""


@_operation(INSIDE)
def first_equal(metric: Any, i: Any) -> Any:
    """The first record that equals record i, where many do; otherwise i."""
