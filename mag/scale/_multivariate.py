"""Records jointly, more than fit into memory: parts that lie close together, grouped each by itself."""

import itertools
from collections.abc import Hashable, Sequence
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from mag._lib.checks import flag, fraction, integer, one_of, unused
from mag._lib.errors import ValueMistake
from mag.costs import COSTS
from mag.scale import _frames, _parts
from mag.scale._graph import Tasks
from mag.scale._inputs import no_frame, real_chunks
from mag.scale._parts import Frame, Records
from mag.scale._results import ScaledRecords
from mag.scale.kernels import label_records, mask_records

PART = {"mona": 2**18, "ona_star": 2**13}  # records of a part, about


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
    """Group the records of a dask array or dataframe jointly into groups of at least k that lose little.

    Records are halved, and halves of halves, at the median of the column with the largest variance, as Mondrian does,
    medians and variances being those of a sample.  Halves with fewer than 2k records, counted, are joined with their
    neighbours.  Each part is then grouped by itself, so that k holds by construction.

    Parameters
    ----------
    X : dask array, shape (n, d), or dask dataframe
        The records, two columns or more; numbers of any dtype up to 64 bits.  NaN, infinity and missing values are
        refused, when it is computed.  Arrays must have chunks of known sizes.
    k : int
        The smallest group size.
    method : {"mona", "ona_star"}
        How a part is grouped: "mona" goes on halving it until parts have at most n**rho records, n being all records
        of `X`, and groups these by "ona_star"; "ona_star" groups the whole part, in a time that grows with its square.
    rho : float, optional
        For "mona"; 0.5 by default.
    parts : int, optional
        How many parts, a power of two; by default such that parts have at most 2**18 records ("mona") or 2**13
        ("ona_star"), and one for every chunk or partition at least.  The number of records of a dataframe is not known:
        there it is one for every partition.
    standardize : bool
        Measure each column in its standard deviations, computed in two passes over the chunks.
    columns, keep : list of names
        Of a dataframe, the columns to group, by default all that are not kept, and those to hand on as they are.
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
    records meanwhile, and spill what they cannot hold.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> import mag.scale
    >>> X = da.from_array(np.random.default_rng(0).normal(size=(1000, 3)), chunks=(300, 3))
    >>> scaled = mag.scale.multivariate(X, k=5)
    >>> scaled.masked
    dask.array<masked-of-mag-multivariate, shape=(1000, 3), dtype=float64, chunksize=(300, 3), chunktype=numpy.ndarray>
    >>> mag.scale.verify(scaled.masked, 5)
    5
    """
    one_of("method", method, PART)
    if method == "mona":
        rho = fraction("rho", 0.5 if rho is None else rho)
    else:
        unused("rho", rho, f"method {method!r}")
    flag("standardize", standardize)
    seed = integer("random_state", random_state, 0, 2**64 - 1, "2**64-1")
    asked: list[Any] = [method, rho, parts, standardize, seed]
    if isinstance(X, da.Array):
        for option, given in (("columns", columns), ("keep", keep if keep != () else None)):
            unused(option, given, "dask arrays")
        return _array(X, k, *asked)
    if isinstance(X, dd.DataFrame):
        return _frame(X, k, _frames.roles(X, columns, keep), *asked)
    raise no_frame(X)


def _array(X: da.Array, k: Any, method: str, rho: Any, parts: Any, standardize: bool, seed: int) -> ScaledRecords:
    real_chunks("X", X, 2)
    n, d = X.shape
    _two(d)
    table = X.rechunk({1: -1})
    k = integer("k", k, 1, n, "n")
    sizes = table.chunks[0]
    parts = _power("parts", max(len(sizes), -(-n // PART[method])) if parts is None else parts, parts is None)
    t = Tasks("multivariate", [table], table.name, k, method, rho, parts, standardize, seed)
    records = [t.add("records", [c], _columns_of, (table.name, c, 0)) for c in range(len(sizes))]
    labels, masked, groups, loss = _grouped(t, records, list(range(d)), k, method, rho, parts, standardize, seed, False)
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
    X: Any, k: Any, names: list, method: str, rho: Any, parts: Any, standardize: bool, seed: int
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
    pieces = t.each("picked", _frames.pick, keys, names, dtypes)
    checked = t.add("checked", [], _frames.check, t.each("told-of", _frames.told, pieces), names, dtypes)
    records = t.each("records", _frames.values, pieces, checked)
    labels, masked, groups, loss = _grouped(t, records, names, k, method, rho, parts, standardize, seed, True)
    series = [t.value(f"labels-{p}", t.add("labelled", [p], _series, key, labels[p])) for p, key in enumerate(keys)]
    frames = [
        t.value(f"masked-{p}", t.add("assembled", [p], _frames.assemble, key, [masked[p]], names, True))
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
        raise ValueMistake("X must have two columns or more; got one, use mag.scale.univariate or mag.scale.columns.")


def _power(option: str, number: Any, default: bool) -> int:
    """A power of two; the next one by default."""
    number = integer(option, number, 1, 2**20, "most")
    if default:
        return 1 << (number - 1).bit_length()
    if number & (number - 1):
        raise ValueMistake(f"{option} must be a power of two; got {number}.")
    return number


def _grouped(
    t: Tasks,
    records: list,
    names: list,
    k: int,
    method: str,
    rho: float | None,
    parts: int,
    standardize: bool,
    seed: int,
    keep: bool,
) -> tuple[list, list, tuple, tuple]:
    """Keys of labels and of masked columns, chunk by chunk, of the number of groups and of the information loss."""
    chunks = list(enumerate(records))
    bare = t.add("bare", [], _parts.frame, t.each("facts", _parts.facts, records), names, k)
    moments = t.each("moments", _parts.moments, records, bare)
    read = t.add("read", [], _parts.units, moments, bare, standardize)
    sampled = [t.add("sampled", [c], _parts.sample, key, c, read, parts, seed) for c, key in chunks]
    tree = t.add("tree", [], _parts.grow, sampled, read, parts, k)
    leaves = [t.add("leaf", [c], _parts.assign, key, c, read, tree) for c, key in chunks]
    repaired = t.add("repaired", [], _parts.repair, t.each("count", _parts.count, leaves, parts), tree, k)
    ordered = t.each("order", _parts.order, leaves, repaired, parts)
    pieces = [[t.add("piece", [c, p], _parts.take, key, ordered[c], p) for c, key in chunks] for p in range(parts)]
    joined = t.each("part", _parts.together, pieces)
    grouped = t.each("grouped", _group, joined, read, k, method, rho)
    told = t.add("told", [], _number, t.entries("found", grouped, 1), moments, read)

    def back(what: str, function: Any, *others: Any) -> list:
        """What a function finds for the records of every part, chunk by chunk."""
        found = [t.add(what, [p], function, key, grouped[p], p, *others) for p, key in enumerate(joined)]
        pieces = t.exchange(f"{what}-piece", found, len(records))
        return [t.add(f"{what}-back", [c], _parts.restore, ordered[c], piece) for c, piece in enumerate(pieces)]

    n_groups, loss = t.entries("told", [told], 1)[0], t.entries("told", [told], 2)[0]
    return back("labels", _labels, told), back("masked", _masked, keep), n_groups, loss


def _columns_of(block: np.ndarray) -> Records:
    block = np.asarray(block)
    block = block.view(np.uint8) if block.dtype.kind == "b" else block
    return [np.ascontiguousarray(block[:, j]) for j in range(block.shape[1])]


def _group(
    part: tuple[Records, list[int]], read: Frame, k: int, method: str, rho: float | None
) -> tuple[np.ndarray, tuple[int, float]]:
    """Labels of a part; how many groups, and the squared distances to their means."""
    z = _parts.standardised(part[0], read)
    labels = label_records(z, k, method, 0 if rho is None else int(read.n**rho))
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    if not labels.size:
        return labels, (0, 0.0)
    z, starts = z[order], np.cumsum(sizes) - sizes
    z -= np.repeat(z[starts], sizes, axis=0)
    z -= np.repeat(np.add.reduceat(z, starts, axis=0) / sizes[:, None], sizes, axis=0)
    return labels, (sizes.size, float(np.square(z).sum()))


def _number(
    found: list[tuple[int, float]], moments: list[tuple[int, np.ndarray, np.ndarray]], read: Frame
) -> tuple[list[int], int, float]:
    """How many groups there are before each part, how many in all, and SSE / SST."""
    before = np.concatenate([[0], np.cumsum([groups for groups, _ in found])])
    if before[-1] >= 2**31:
        raise ValueMistake(f"X must make fewer than 2**31 groups; got {before[-1]}, use a larger k.")
    around = [squares + n * np.square(mean - read.mean) for n, mean, squares in moments]
    total = float((np.sum(around, axis=0) * np.square(read.unit)).sum())
    lost = sum(squares for _, squares in found)
    return before[:-1].tolist(), int(before[-1]), lost / total if total else 0.0


def _labels(part: tuple[Records, list[int]], grouped: tuple, p: int, told: tuple) -> list[Records]:
    return _pieces([grouped[0] + np.int32(told[0][p])], part[1])


def _masked(part: tuple[Records, list[int]], grouped: tuple, p: int, keep: bool) -> list[Records]:
    return _pieces([mask_records(column, grouped[0], keep) for column in part[0]], part[1])


def _pieces(found: Records, edges: list[int]) -> list[Records]:
    """What was found for a part, as the pieces that it was put together from."""
    return [[column[begin:end] for column in found] for begin, end in itertools.pairwise(edges)]


def _series(partition: pd.DataFrame, labels: Records) -> pd.Series:
    return pd.Series(labels[0], index=partition.index, name="group")
