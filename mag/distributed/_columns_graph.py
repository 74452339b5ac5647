"""Columns of partitions, each grouped by itself: one task for a block of columns with all of its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib.checks import integer, one_of, per_column
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError
from mag.api.types import CostName, SolverName
from mag.api.univariate import univariate
from mag.costs import COSTS
from mag.distributed import _frames
from mag.distributed._graph import Key, Tasks
from mag.distributed.kernels import mask_column


@dataclass(frozen=True)
class ColumnOptions:
    """The options of `columns` for a frame: of every column its name, dtype, k and cost; how many a task takes."""

    names: list[Any]
    dtypes: list[Any]
    ks: list[int]
    costs: list[str]
    solver: SolverName
    width: int


@dataclass(frozen=True)
class BlockKeys:
    """Of the labels and the masked values of every partition, block by block, and of the numbers of groups."""

    labels: list[list[Key]]
    masked: list[list[Key]]
    n_groups: Key


def column_costs(cost: Any, m: int) -> list[str]:
    """The cost of every column."""
    return [one_of("cost", one, COSTS) for one in per_column("cost", cost, m)]


def column_options(names: list[Any], dtypes: Any, k: Any, cost: Any, solver: SolverName, width: Any) -> ColumnOptions:
    """Checked options."""
    m = len(names)
    costs, ks = column_costs(cost, m), per_column("k", k, m)
    for one in ks:
        integer("k", one, 1, 2**63 - 1, "n")
    for name, one in zip(names, costs, strict=True):
        check_column(name, dtypes[name], one)
    width = integer("columns_per_task", 1 if width is None else width, 1, m, "m")
    return ColumnOptions(names, [dtypes[name] for name in names], ks, costs, solver, width)


def check_column(name: Any, dtype: Any, cost: str) -> None:
    """A column of numbers that the cost applies to."""
    plain = _frames.number_type(name, dtype, COSTS[cost])
    if COSTS[cost].integer and plain.kind == "f":
        raise InputTypeError(
            f"cost {cost!r} needs integers; got {describe_dtype(dtype)} in column {name!r}, round it first."
        )


def group_blocks(t: Tasks, keys: Sequence[Any], options: ColumnOptions) -> BlockKeys:
    """Group the columns of partitions, which are frames of pandas."""
    labels, masked, counts = [], [], []
    for b, first in enumerate(range(0, len(options.names), options.width)):
        here = slice(first, first + options.width)
        which = [options.names[here], options.dtypes[here]]
        pieces = [t.add("picked", [p, b], _frames.pick_columns, key, *which) for p, key in enumerate(keys)]
        values = t.add("joined", [b], _frames.join_columns, pieces, *which)
        sizes = [t.add("size", [p, b], _count_records, key) for p, key in enumerate(pieces)]
        lengths = t.decide("lengths", [b], _locate_partitions, sizes)
        grouped = t.add("grouped", [b], _labels, values, options.ks[here], options.costs[here], options.solver)
        replaced = t.add("replaced", [b], _replace, values, grouped, options.costs[here])
        labels.append([t.add("labels-piece", [p, b], _rows, grouped, lengths, p) for p in range(len(keys))])
        masked.append([t.add("masked-piece", [p, b], _rows, replaced, lengths, p) for p in range(len(keys))])
        counts.append(t.add("count", [b], _count_groups, grouped))
    return BlockKeys(labels, masked, t.decide("counts", [], np.concatenate, counts))


def _labels(values: list[np.ndarray], ks: list[int], costs: list[CostName], solver: SolverName) -> list[np.ndarray]:
    tasks = zip(values, ks, costs, strict=True)
    return [univariate(x, k, cost=cost, solver=solver, backend="cpu", threads=1).labels for x, k, cost in tasks]


def _replace(values: list[np.ndarray], labels: list[np.ndarray], costs: list[str]) -> list[np.ndarray]:
    return [mask_column(x, groups, cost, keep=True) for x, groups, cost in zip(values, labels, costs, strict=True)]


def _count_records(pieces: list[_frames.Piece]) -> int:
    return pieces[0].values.size


def _locate_partitions(sizes: list[int]) -> np.ndarray:
    return np.cumsum([0, *sizes])


def _rows(arrays: list[np.ndarray], lengths: np.ndarray, p: int) -> list[np.ndarray]:
    return [array[lengths[p] : lengths[p + 1]] for array in arrays]


def _count_groups(labels: list[np.ndarray]) -> np.ndarray:
    return np.array([int(groups.max()) + 1 for groups in labels])
