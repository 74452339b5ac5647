"""Every column by itself: one task for a block of columns with all of its rows."""

from collections.abc import Hashable, Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np

from mag._lib.checks import integer, one_of, per_column, unused
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError
from mag.api.types import CostName, SolverName
from mag.api.univariate import univariate
from mag.costs import COSTS
from mag.distributed._results import Scaled, representative_type
from mag.distributed.dask import _frames
from mag.distributed.dask._graph import Tasks
from mag.distributed.dask._inputs import no_frame, real_chunks
from mag.distributed.kernels import label_columns, mask_column, mask_columns
from mag.solvers import SOLVERS

BYTES = 2**26  # of a block, if it has more than one column
TASKS = 16  # the least number of tasks, if there are as many columns


def columns(
    X: Any,
    k: int | Sequence[int],
    *,
    cost: CostName | Sequence[CostName] = "sse",
    solver: SolverName = "auto",
    columns: Sequence[Hashable] | Hashable | None = None,
    keep: Sequence[Hashable] | Hashable = (),
    columns_per_task: int | None = None,
) -> Scaled:
    """Group every column of a dask array or dataframe by itself, each with the smallest possible cost.

    The same groups as `mag.columns` gives.  One task groups one column, or a block of columns, and holds all its rows.

    Parameters
    ----------
    X : dask array, shape (n, m), or dask dataframe
        The table; numbers of any dtype up to 64 bits.  NaN, infinity and missing values are refused, when it is
        computed.  Arrays must have chunks of known sizes.
    k : int or sequence of int
        The smallest group size: one for all columns, or one for each.
    cost : str or sequence of str
        The cost of a group, a name of `mag.univariate`: one for all columns, or one for each.
    solver : {"auto", "block", "galil_park", "growing", "quadratic", "simple", "simple_plus", "staggered", "wilber"}
        The algorithm, for all columns.
    columns, keep : list of names
        Of a dataframe, the columns to group, by default every column that is not kept, and those to publish unchanged.
        A column that is neither is an error.
    columns_per_task : int, optional
        The number of columns per task; by default as many as 64 MB hold, at least one, and fewer if that makes fewer
        than 16 tasks.  For a dataframe, one by default.

    Returns
    -------
    Scaled
        Lazy labels and masked values.  Arrays have the chunks of `X`; dataframes its partitions, divisions and index,
        and `masked` has its dtypes: means, medians and mid-ranges of integers are rounded, half away from zero.

    Notes
    -----
    Each column is k-anonymous by itself; records are not, since a combination of values may be unique.

    Examples
    --------
    >>> import dask.array as da
    >>> import mag.distributed
    >>> X = da.from_array([[1.0, 70.0], [10.0, 20.0], [2.0, 30.0], [11.0, 80.0]], chunks=(2, 1))
    >>> scaled = mag.distributed.columns(X, k=2)
    >>> scaled.masked.chunks
    ((2, 2), (1, 1))
    >>> scaled.masked.compute()
    array([[ 1.5, 75. ],
           [10.5, 25. ],
           [ 1.5, 25. ],
           [10.5, 75. ]])
    """
    one_of("solver", solver, ["auto", *SOLVERS])
    if isinstance(X, da.Array):
        for option, value in (("columns", columns), ("keep", keep if keep != () else None)):
            unused(option, value, "dask arrays")
        return _array(X, k, cost, solver, columns_per_task)
    if isinstance(X, dd.DataFrame):
        return _frame(X, k, cost, solver, _frames.columns_to_group(X, columns, keep), columns_per_task)
    raise no_frame(X)


def _costs(cost: Any, m: int) -> list[str]:
    return [one_of("cost", one, COSTS) for one in per_column("cost", cost, m)]


def _array(X: da.Array, k: Any, cost: Any, solver: str, width: int | None) -> Scaled:
    real_chunks("X", X, 2)
    n, m = X.shape
    costs = _costs(cost, m)
    for one in dict.fromkeys(costs):
        if COSTS[one].integer and X.dtype.kind == "f":
            raise InputTypeError(f"cost {one!r} needs integers; got {X.dtype.name}, round X to integers first.")
    ks = [integer("k", one, 1, n, "n") for one in per_column("k", k, m)]
    if width is None:
        width = max(1, min(BYTES // (n * X.dtype.itemsize), -(-m // TASKS)))
    width = integer("columns_per_task", width, 1, m, "m")
    blocks = X.rechunk({0: -1, 1: width})
    t = Tasks("columns", [blocks], blocks.name, ks, costs, solver)
    dtype = np.result_type(*(representative_type(one, X.dtype) for one in dict.fromkeys(costs)))
    labels, masked = {}, {}
    for b, first in enumerate(range(0, m, width)):
        here, key = slice(first, first + width), (blocks.name, 0, b)
        names = list(range(m))[here]
        labels[0, b] = t.add("grouped", [b], label_columns, key, ks[here], costs[here], solver, names)
        masked[0, b] = t.add("replaced", [b], _mask_block, key, labels[0, b], costs[here], dtype)
    counts = t.add("counts", [], np.concatenate, t.each("count", _groups, list(labels.values())))
    chunks = blocks.chunks
    return Scaled(
        t.array("labels", labels, chunks, np.int32 if n < 2**31 else np.int64).rechunk(X.chunks),
        t.array("masked", masked, chunks, dtype).rechunk(X.chunks),
        tuple(ks) if isinstance(k, (list, tuple)) else ks[0],
        t.value("n_groups", counts),
    )


def _mask_block(block: np.ndarray, labels: np.ndarray, costs: list[str], dtype: Any) -> np.ndarray:
    return mask_columns(block, labels, costs).astype(dtype, copy=False)


def _groups(labels: np.ndarray) -> np.ndarray:
    return labels.max(axis=0).astype(np.int64) + 1


# ---- frames


def _frame(X: Any, k: Any, cost: Any, solver: str, names: list[Any], width: int | None) -> Scaled:
    m = len(names)
    costs, ks = _costs(cost, m), per_column("k", k, m)
    for one in ks:
        integer("k", one, 1, 2**63 - 1, "n")
    dtypes = [X.dtypes[name] for name in names]
    for name, dtype, one in zip(names, dtypes, costs, strict=True):
        plain = _frames.number_type(name, dtype, COSTS[one])
        if COSTS[one].integer and plain.kind == "f":
            raise InputTypeError(
                f"cost {one!r} needs integers; got {describe_dtype(dtype)} in column {name!r}, round it first."
            )
    width = integer("columns_per_task", 1 if width is None else width, 1, m, "m")
    partitions = X.to_delayed()
    t = Tasks("columns", partitions, X, names, ks, costs, solver, width)
    keys = [partition.key for partition in partitions]
    label_pieces, mask_pieces, counts = [], [], []
    for b, first in enumerate(range(0, m, width)):
        here = slice(first, first + width)
        which = [names[here], dtypes[here]]
        pieces = [t.add("picked", [p, b], _frames.pick_columns, key, *which) for p, key in enumerate(keys)]
        values = t.add("joined", [b], _frames.join_columns, pieces, *which)
        lengths = t.add("lengths", [b], _lengths, pieces)
        labels = t.add("grouped", [b], _labels, values, ks[here], costs[here], solver)
        masked = t.add("replaced", [b], _replace, values, labels, costs[here])
        label_pieces.append([t.add("labels-piece", [p, b], _rows, labels, lengths, p) for p in range(len(keys))])
        mask_pieces.append([t.add("masked-piece", [p, b], _rows, masked, lengths, p) for p in range(len(keys))])
        counts.append(t.add("count", [b], _frame_groups, labels))

    def frame(what: str, pieces: list[list[Any]], with_rest: bool) -> Any:
        """A dataframe with the partitions of X."""
        frames = [
            t.value(
                f"{what}-{p}",
                t.add(what, [p], _frames.assemble_partition, key, [block[p] for block in pieces], names, with_rest),
            )
            for p, key in enumerate(keys)
        ]
        meta = X._meta if with_rest else X._meta[names].astype(np.int32)
        return dd.from_delayed(frames, meta=meta, divisions=X.divisions, verify_meta=False)

    return Scaled(
        frame("labels", label_pieces, False),
        frame("masked", mask_pieces, True),
        tuple(ks) if isinstance(k, (list, tuple)) else k,
        t.value("n_groups", t.add("counts", [], np.concatenate, counts)),
    )


def _labels(values: list[np.ndarray], ks: list[int], costs: list[CostName], solver: SolverName) -> list[np.ndarray]:
    tasks = zip(values, ks, costs, strict=True)
    return [univariate(x, k, cost=cost, solver=solver, backend="cpu", threads=1).labels for x, k, cost in tasks]


def _replace(values: list[np.ndarray], labels: list[np.ndarray], costs: list[str]) -> list[np.ndarray]:
    return [mask_column(x, groups, cost, keep=True) for x, groups, cost in zip(values, labels, costs, strict=True)]


def _lengths(pieces: list[list[_frames.Piece]]) -> np.ndarray:
    return np.cumsum([0, *(piece[0].values.size for piece in pieces)])


def _rows(arrays: list[np.ndarray], lengths: np.ndarray, p: int) -> list[np.ndarray]:
    return [array[lengths[p] : lengths[p + 1]] for array in arrays]


def _frame_groups(labels: list[np.ndarray]) -> np.ndarray:
    return np.array([int(groups.max()) + 1 for groups in labels])
