"""Records jointly, more than fit into memory: parts that lie close together, grouped each by itself."""

import itertools
from collections.abc import Hashable, Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from mag._lib.checks import flag, fraction, integer, one_of, unused
from mag._lib.errors import InputValueError
from mag.costs import COSTS
from mag.distributed._results import ScaledRecords
from mag.distributed.dask import _frames
from mag.distributed.dask._graph import Key, Tasks
from mag.distributed.dask._inputs import no_frame, real_chunks
from mag.distributed.kernels import label_records, mask_records
from mag.methods.distances import partition as tasks
from mag.methods.distances.partition import Records, Transform

RECORDS_PER_PART = {"mona": 2**18, "ona_star": 2**13}  # records of a part, about


def multivariate(
    X: Any,
    k: int,
    *,
    method: str = "mona",
    rho: float | None = None,
    parts: int | None = None,
    standardize: bool = True,
    columns: Sequence[Hashable] | Hashable | None = None,
    keep: Sequence[Hashable] | Hashable = (),
    random_state: int = 0,
) -> ScaledRecords:
    """Group the records of a dask array or dataframe jointly into groups of at least k, with a small information loss.

    Records are halved, and halves of halves, at the median of the column with the largest variance, as Mondrian does,
    medians and variances being those of a sample.  Halves with fewer than 2k records, counted, are joined with their
    neighbors.  Each part is then grouped by itself, so that k holds by construction.

    Parameters
    ----------
    X : dask array, shape (n, d), or dask dataframe
        The records, two columns or more; numbers of any dtype up to 64 bits.  NaN, infinity and missing values are
        refused, when it is computed.  Arrays must have chunks of known sizes.
    k : int
        The smallest group size.
    method : {"mona", "ona_star"}
        How a part is grouped: "mona" halves it further until parts have at most n**rho records, n being all records
        of `X`, and groups these by "ona_star"; "ona_star" groups the whole part, in a time that grows with its square.
    rho : float, optional
        For "mona"; 0.5 by default.
    parts : int, optional
        The number of parts, a power of two; by default such that parts have at most 2**18 records ("mona") or 2**13
        ("ona_star"), and at least one for every chunk or partition.  The number of records of a dataframe is not known:
        there it is one for every partition.
    standardize : bool
        Measure each column in its standard deviations, computed in two passes over the chunks.
    columns, keep : list of names
        Of a dataframe, the columns to group, by default every column that is not kept, and those to publish unchanged.
        A column that is neither is an error.
    random_state : int
        Seeds the sample; the same seed and chunks give the same groups.

    Returns
    -------
    ScaledRecords
        Lazy labels, one per record, and masked records.  Arrays have the chunks of `X`; dataframes its partitions,
        divisions and index, and `masked` has its dtypes: means of integers are rounded, half away from zero.

    Notes
    -----
    Chunks are read in several passes, and every chunk meets every part: chunks · parts small tasks.  Workers hold the
    records meanwhile, and spill those that do not fit.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import mag.distributed
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(1000, 3)), chunks=(300, 3))
    >>> scaled = mag.distributed.multivariate(X, k=5)
    >>> scaled.masked
    dask.array<masked-of-mag-multivariate, shape=(1000, 3), dtype=float64, chunksize=(300, 3), chunktype=numpy.ndarray>
    >>> mag.distributed.verify(scaled.masked, 5)
    5
    """
    one_of("method", method, RECORDS_PER_PART)
    if method == "mona":
        rho = fraction("rho", 0.5 if rho is None else rho)
    else:
        unused("rho", rho, f"method {method!r}")
    flag("standardize", standardize)
    seed = integer("random_state", random_state, 0, 2**64 - 1, "2**64-1")
    options: list[Any] = [method, rho, parts, standardize, seed]
    if isinstance(X, da.Array):
        for option, value in (("columns", columns), ("keep", keep if keep != () else None)):
            unused(option, value, "dask arrays")
        return _array(X, k, *options)
    if isinstance(X, dd.DataFrame):
        return _frame(X, k, _frames.columns_to_group(X, columns, keep), *options)
    raise no_frame(X)


def _array(X: da.Array, k: Any, method: str, rho: Any, parts: Any, standardize: bool, seed: int) -> ScaledRecords:
    real_chunks("X", X, 2)
    n, d = X.shape
    _two(d)
    table = X.rechunk({1: -1})
    k = integer("k", k, 1, n, "n")
    sizes = table.chunks[0]
    parts = _power(
        "parts", max(len(sizes), -(-n // RECORDS_PER_PART[method])) if parts is None else parts, parts is None
    )
    t = Tasks("multivariate", [table], table.name, k, method, rho, parts, standardize, seed)
    records = [t.add("records", [c], _columns_of, (table.name, c, 0)) for c in range(len(sizes))]
    labels, masked, groups, loss = _group_records(
        t, records, list(range(d)), k, method, rho, parts, standardize, seed, False
    )
    dtype = X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)
    label_keys = {(c,): key for c, key in enumerate(t.entries("label-chunk", labels, 0))}
    mask_keys = {(c, 0): key for c, key in enumerate(t.each("masked-chunk", np.column_stack, masked))}
    return ScaledRecords(
        t.array("labels", label_keys, (sizes,), np.int32),
        t.array("masked", mask_keys, table.chunks, dtype).rechunk(X.chunks),
        k,
        t.value("n_groups", groups),
        method,
        t.value("loss", loss),
    )


def _frame(
    X: Any, k: Any, names: list[Any], method: str, rho: Any, parts: Any, standardize: bool, seed: int
) -> ScaledRecords:
    k = integer("k", k, 1, 2**63 - 1, "n")
    _two(len(names))
    dtypes = [X.dtypes[name] for name in names]
    for name, dtype in zip(names, dtypes, strict=True):
        _frames.number_type(name, dtype, COSTS["sse"])
    partitions = X.to_delayed()
    parts = _power("parts", len(partitions) if parts is None else parts, parts is None)
    t = Tasks("multivariate", partitions, X, names, k, method, rho, parts, standardize, seed)
    keys = [partition.key for partition in partitions]
    pieces = t.each("picked", _frames.pick_columns, keys, names, dtypes)
    checked = t.add("checked", [], _frames.check_pieces, t.each("dropped", _frames.drop_values, pieces), names, dtypes)
    records = t.each("records", _frames.take_values, pieces, checked)
    labels, masked, groups, loss = _group_records(t, records, names, k, method, rho, parts, standardize, seed, True)
    series = [t.value(f"labels-{p}", t.add("labeled", [p], _series, key, labels[p])) for p, key in enumerate(keys)]
    frames = [
        t.value(f"masked-{p}", t.add("assembled", [p], _frames.assemble_partition, key, [masked[p]], names, True))
        for p, key in enumerate(keys)
    ]
    meta = pd.Series(np.empty(0, np.int32), index=X._meta.index, name="group")
    return ScaledRecords(
        dd.from_delayed(series, meta=meta, divisions=X.divisions, verify_meta=False),
        dd.from_delayed(frames, meta=X._meta, divisions=X.divisions, verify_meta=False),
        k,
        t.value("n_groups", groups),
        method,
        t.value("loss", loss),
    )


def _two(d: int) -> None:
    if d < 2:
        raise InputValueError(
            "X must have two columns or more; got one, use mag.distributed.univariate or mag.distributed.columns."
        )


def _power(option: str, number: Any, default: bool) -> int:
    """A power of two; the next one by default."""
    number = integer(option, number, 1, 2**20, "most")
    if default:
        return 1 << (number - 1).bit_length()
    if number & (number - 1):
        raise InputValueError(f"{option} must be a power of two; got {number}.")
    return number


def _group_records(
    t: Tasks,
    records: list[Any],
    names: list[Any],
    k: int,
    method: str,
    rho: float | None,
    parts: int,
    standardize: bool,
    seed: int,
    keep: bool,
) -> tuple[list[Any], list[Any], Key, Key]:
    """Keys of labels and of masked columns, chunk by chunk, of the number of groups and of the information loss."""
    chunks = list(enumerate(records))
    bare = t.add("bare", [], tasks.locate_columns, t.each("facts", tasks.examine_chunk, records), names, k)
    moments = t.each("moments", tasks.compute_moments, records, bare)
    transform = t.add("transform", [], tasks.measure_units, moments, bare, standardize)
    sampled = [t.add("sampled", [c], tasks.sample_records, key, c, transform, parts, seed) for c, key in chunks]
    tree = t.add("tree", [], tasks.grow_tree, sampled, transform, parts, k)
    leaves = [t.add("leaf", [c], tasks.assign_leaves, key, c, transform, tree) for c, key in chunks]
    repaired = t.add("repaired", [], tasks.repair_parts, t.each("count", tasks.count_leaves, leaves, parts), tree, k)
    ordered = t.each("order", tasks.order_by_part, leaves, repaired, parts)
    pieces = [[t.add("piece", [c, p], tasks.take_part, key, ordered[c], p) for c, key in chunks] for p in range(parts)]
    joined = t.each("part", tasks.join_pieces, pieces)
    grouped = t.each("grouped", _group, joined, transform, k, method, rho)
    numbering = t.add("numbering", [], _number_groups, t.entries("groups", grouped, 1), moments, transform)

    def back(what: str, function: Any, *others: Any) -> list[Any]:
        """Apply a function to the records of every part, and return the results chunk by chunk."""
        results = [t.add(what, [p], function, key, grouped[p], p, *others) for p, key in enumerate(joined)]
        pieces = t.exchange(f"{what}-piece", results, len(records))
        return [t.add(f"{what}-back", [c], tasks.restore_order, ordered[c], piece) for c, piece in enumerate(pieces)]

    n_groups, loss = t.entries("numbering", [numbering], 1)[0], t.entries("numbering", [numbering], 2)[0]
    return back("labels", _labels, numbering), back("masked", _mask_part, keep), n_groups, loss


def _columns_of(block: np.ndarray) -> Records:
    block = np.asarray(block)
    block = block.view(np.uint8) if block.dtype.kind == "b" else block
    return [np.ascontiguousarray(block[:, j]) for j in range(block.shape[1])]


def _group(
    part: tuple[Records, list[int]], transform: Transform, k: int, method: str, rho: float | None
) -> tuple[np.ndarray, tuple[int, float]]:
    """Labels of a part; how many groups, and the squared distances to their means."""
    z = tasks.standardize_records(part[0], transform)
    labels = label_records(z, k, method, 0 if rho is None else int(transform.n**rho))
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    if not labels.size:
        return labels, (0, 0.0)
    z, starts = z[order], np.cumsum(sizes) - sizes
    z -= np.repeat(z[starts], sizes, axis=0)
    z -= np.repeat(np.add.reduceat(z, starts, axis=0) / sizes[:, None], sizes, axis=0)
    return labels, (sizes.size, float(np.square(z).sum()))


def _number_groups(
    groups_of_parts: list[tuple[int, float]], moments: list[tuple[int, np.ndarray, np.ndarray]], transform: Transform
) -> tuple[list[int], int, float]:
    """The number of groups before each part, the number of all groups, and SSE / SST."""
    before = np.concatenate([[0], np.cumsum([groups for groups, _ in groups_of_parts])])
    if before[-1] >= 2**31:
        raise InputValueError(f"X must make fewer than 2**31 groups; got {before[-1]}, use a larger k.")
    around = [squares + n * np.square(mean - transform.mean) for n, mean, squares in moments]
    total = float((np.sum(around, axis=0) * np.square(transform.unit)).sum())
    lost = sum(squares for _, squares in groups_of_parts)
    return before[:-1].tolist(), int(before[-1]), lost / total if total else 0.0


def _labels(
    part: tuple[Records, list[int]], grouped: tuple[Any, ...], p: int, numbering: tuple[Any, ...]
) -> list[Records]:
    return _pieces([grouped[0] + np.int32(numbering[0][p])], part[1])


def _mask_part(part: tuple[Records, list[int]], grouped: tuple[Any, ...], p: int, keep: bool) -> list[Records]:
    return _pieces([mask_records(column, grouped[0], keep) for column in part[0]], part[1])


def _pieces(columns: Records, edges: list[int]) -> list[Records]:
    """Columns of a part, as the pieces that it was put together from."""
    return [[column[begin:end] for column in columns] for begin, end in itertools.pairwise(edges)]


def _series(partition: pd.DataFrame, labels: Records) -> pd.Series:
    return pd.Series(labels[0], index=partition.index, name="group")
