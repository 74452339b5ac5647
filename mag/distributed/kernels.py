"""The work of a task, without an engine: NumPy arrays in, NumPy arrays out, on one thread.

These functions pickle, take no more memory than a few copies of their block, and raise one sentence; so Spark, Ray,
joblib or a batch system can run them as dask does (docs/guide/distributed.md).
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mag._backends.cpu.labels import at_least
from mag._compiled.groups import Groups
from mag._lib.checks import not_finite, one_of, per_column, refuse
from mag._lib.errors import group_below
from mag._lib.number import number_by_first_row, number_rows
from mag._lib.progress import Progress
from mag.api.columns import columns as group_columns
from mag.api.method import number_groups
from mag.api.types import CostName, SolverName
from mag.costs import COSTS
from mag.distributed._representatives import find_representatives
from mag.methods import METHODS, Resources
from mag.results import as_data_dtype

UNITS_OF_HALF = 2  # times k, the least that a half keeps


def label_columns(
    block: np.ndarray,
    k: int | Sequence[int],
    cost: CostName | Sequence[CostName] = "sse",
    solver: SolverName = "auto",
    names: Sequence[Any] | None = None,
) -> np.ndarray:
    """The group of every value in every column of a block, columns grouped by themselves.

    Parameters
    ----------
    block : array of real numbers, shape (n, m)
        All rows of some columns.
    k, cost, solver
        As in `mag.columns`.
    names : sequence, optional
        How messages call the columns; by their numbers in the block by default.

    Returns
    -------
    array of int, shape (n, m)
        Groups are numbered by ascending value, in every column.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.distributed import kernels
    >>> block = np.array([[1.0, 70], [10.0, 20], [2.0, 30], [11.0, 80]])
    >>> labels = kernels.label_columns(block, k=2)
    >>> labels
    array([[0, 1],
           [1, 0],
           [0, 0],
           [1, 1]], dtype=int32)
    >>> kernels.mask_columns(block, labels)
    array([[ 1.5, 75. ],
           [10.5, 25. ],
           [ 1.5, 25. ],
           [10.5, 75. ]])
    """
    counts = {j: not_finite(block[:, j]) for j in range(block.shape[1])}
    if wrong := [j for j, wrong_values in counts.items() if any(wrong_values)]:
        nans, infinities = (sum(counts[j][i] for j in wrong) for i in (0, 1))
        listing = ", ".join(str(j if names is None else names[j]) for j in wrong)
        refuse("X", nans, infinities, f" in column{'s' if len(wrong) > 1 else ''} {listing}")
    return group_columns(block, k, cost=cost, solver=solver, backend="cpu", threads=1).labels


def mask_columns(block: np.ndarray, labels: np.ndarray, cost: str | Sequence[str] = "sse") -> np.ndarray:
    """The block with every value replaced by its group's representative; see `label_columns`."""
    costs = per_column("cost", cost, block.shape[1])
    masked = [mask_column(block[:, j], labels[:, j], costs[j]) for j in range(block.shape[1])]
    return np.column_stack(masked)


def mask_column(values: np.ndarray, labels: np.ndarray, cost: str = "sse", keep: bool = False) -> np.ndarray:
    """Values replaced by their groups' representatives; `keep` rounds those of integers, half away from zero."""
    one_of("cost", cost, COSTS)
    dtype = values.dtype
    numbers = values.view(np.uint8) if dtype.kind == "b" else values
    sizes = np.bincount(labels)
    groups = Groups(np.sort(numbers.astype(np.float64) if dtype.kind == "f" else numbers), np.cumsum(sizes) - sizes)
    return find_representatives(groups, cost, dtype, keep)[labels]


def label_records(
    z: np.ndarray,
    k: int,
    method: str = "mona",
    limit: int = 0,
    strata: np.ndarray | None = None,
    units: np.ndarray | None = None,
) -> np.ndarray:
    """The group of every record of a part, numbered from 0 in the order of their first records, in every stratum.

    Parameters
    ----------
    z : array of float64, shape (n, d)
        The records, columns in comparable units; of a part of the table, at least 2k of them unless that is all.
    k : int
        The smallest group size.
    method : {"mona", "ona_star"}
        "ona_star" groups the part; "mona" first halves it until parts have at most `limit` records.
    limit : int
        For "mona": n**rho, of all records of the table.
    strata : array of int, shape (n,), optional
        The number of each record's stratum; groups do not mix them, and each needs k records or more.
    units : array of int, shape (n,), optional
        The number of each record's unit, such as a person.  k then counts units, which are grouped by the means of
        their records, in the whole part or in halves of halves of it.  Strata need k units or more.

    Returns
    -------
    array of int32, shape (n,)
        Every group has k records or more.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.distributed import kernels
    >>> z = np.array([[0.0, 0.1], [5.0, 5.1], [0.1, 0.0], [5.1, 5.0]])
    >>> kernels.label_records(z, k=2, method="ona_star")
    array([0, 1, 0, 1], dtype=int32)
    """
    if strata is not None:
        return _label_strata(z, k, method, limit, strata, units)
    if units is not None:
        return _label_units(z, k, method, limit, units)
    n = len(z)
    if n < 2 * k:
        labels = np.zeros(n, np.int64)
    elif k == 1:
        labels = np.arange(n)
    else:
        z = np.ascontiguousarray(z - z.mean(axis=0))
        options = {}
        if method == "mona" and limit < n:
            options["rho"] = math.log(limit + 0.5) / math.log(n)  # int(n**rho) is the limit
        else:
            method = "ona_star"
        resources = Resources(np.random.default_rng(0), Progress(None, None))  # one thread; nothing is drawn
        labels, _ = METHODS[method].run(z, k, resources, options)
    labels, n_groups = number_groups(labels, n)
    if n_groups and not at_least(k, labels, n_groups, False):
        raise group_below(k)
    return labels


def _label_units(z: np.ndarray, k: int, method: str, limit: int, units: np.ndarray) -> np.ndarray:
    """Units grouped by the means of their records, in the whole part or in halves of halves of it.

    The first suits units whose records are alike, the second those whose records differ: there the records of a unit
    may be in several groups.
    """
    own = np.unique(units, return_inverse=True)[1].reshape(-1)
    whole, cut = np.zeros(len(z), np.int32), np.zeros(len(z), np.int32)
    for labels, cells in ((whole, [np.arange(len(z))]), (cut, _halve(z, k, own))):
        n_groups = 0
        for rows in cells:
            labels[rows] = n_groups + _label_means(z[rows], k, method, limit, own[rows])
            n_groups = int(labels[rows].max(initial=-1)) + 1
    return min(whole, cut, key=lambda labels: _squares(z, labels))


def _label_means(z: np.ndarray, k: int, method: str, limit: int, units: np.ndarray) -> np.ndarray:
    """As `label_records` of the means of units; all records of a unit are in one group."""
    row = number_by_first_row(number_rows([units]))
    counts = np.bincount(row)
    means = np.stack([np.bincount(row, column) / counts for column in z.T], axis=1)
    return label_records(means, k, method, limit)[row]


def _halve(z: np.ndarray, k: int, units: np.ndarray) -> Iterator[np.ndarray]:
    """Records in halves of halves, at medians of the widest columns, while each has units enough."""
    todo = [np.arange(len(z))]
    while todo:
        rows = todo.pop()
        for column in np.argsort(-z[rows].var(axis=0), kind="stable") if rows.size >= 4 * k else ():
            values = z[rows, column]
            below = values < np.median(values)
            halves = rows[below], rows[~below]
            if min(np.unique(units[half]).size for half in halves) >= UNITS_OF_HALF * k:
                todo += halves
                break
        else:
            yield rows


def _squares(z: np.ndarray, labels: np.ndarray) -> float:
    sizes = np.bincount(labels)
    means = np.stack([np.bincount(labels, column) / sizes for column in z.T], axis=1)
    return float(np.square(z - means[labels]).sum())


def _label_strata(
    z: np.ndarray, k: int, method: str, limit: int, strata: np.ndarray, units: np.ndarray | None
) -> np.ndarray:
    """As `label_records` of each stratum, numbered on."""
    labels, n_groups = np.zeros(len(z), np.int32), 0
    order = np.argsort(strata, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        own = None if units is None else units[rows]
        labels[rows] = n_groups + label_records(z[rows], k, method, limit, units=own)
        n_groups = int(labels[rows].max(initial=-1)) + 1
    return labels


def mask_records(
    column: np.ndarray, labels: np.ndarray, keep: bool = False, weights: np.ndarray | None = None
) -> np.ndarray:
    """A column of records replaced by the means of their groups, weighted where there are `weights`.

    `keep` rounds means of integers, as `mask_column`.
    """
    dtype = column.dtype
    numbers = column.view(np.uint8) if dtype.kind == "b" else column
    numbers = numbers.astype(np.float64) if dtype.kind == "f" else numbers
    sizes = np.bincount(labels)
    weights = weights if weights is not None and weights.size else None  # a part may be empty
    order = np.lexsort([numbers, labels] if weights is None else [weights, numbers, labels])
    groups = Groups(numbers[order], np.cumsum(sizes) - sizes, None if weights is None else weights[order])
    rounded = keep and dtype.kind in "iu"
    means = groups.placed_rounded_mean() if rounded else groups.placed(groups.mean())
    return as_data_dtype(means, dtype)[labels]
