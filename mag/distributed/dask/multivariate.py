"""Records jointly, more than fit into memory: parts that lie close together, grouped each by itself."""

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from mag._lib.checks import flag, fraction, integer, one_of, unused
from mag._lib.errors import InputValueError
from mag._lib.roles import names_of
from mag.costs import COSTS
from mag.distributed import _strata
from mag.distributed._results import ScaledRecords
from mag.distributed.dask import _frames
from mag.distributed.dask._graph import Key, Tasks
from mag.distributed.dask._inputs import no_frame, real_chunks
from mag.distributed.kernels import label_records, mask_records
from mag.methods.distances import partition as tasks
from mag.methods.distances.partition import Records, Transform

RECORDS_PER_PART = {"mona": 2**18, "ona_star": 2**13}  # records of a part, about


@dataclass(frozen=True)
class Settings:
    """The options of `multivariate` but for columns; `seed` is its `random_state`."""

    k: int
    method: str
    rho: float | None
    parts: Any
    standardize: bool
    seed: int


@dataclass(frozen=True)
class Input:
    """Keys of records, strata and weights, chunk by chunk (None without these), and of the sizes of all strata.

    `keep` rounds means of integers.
    """

    records: list[Any]
    names: list[Any]
    strata: list[Any]
    sizes: Key | None
    weights: list[Any]
    keep: bool = False


@dataclass(frozen=True)
class JoinedPart:
    """The columns of the records of a part, how many come from each chunk, and their strata and weights."""

    records: Records
    edges: list[int]
    strata: np.ndarray | None
    weights: np.ndarray | None


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
    by: Sequence[Hashable] | Hashable = (),
    weights: Hashable | None = None,
    random_state: int = 0,
) -> ScaledRecords:
    """Group the records of a dask array or dataframe jointly into groups of at least k, with a small information loss.

    Records are halved, and halves of halves, at the median of the column with the largest variance, as Mondrian does,
    medians and variances being those of a sample.  Halves with fewer than 2k records, counted, are joined with their
    neighbors.  Each part is then grouped by itself, so that k holds by construction.  Strata are separated before any
    halves are, and those that are too small for a part of their own share one, where each is grouped by itself.

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
        A column that is neither, nor in `by`, is an error.
    by : list of names
        Strata, of a dataframe: groups never mix combinations of values of these columns, which may be of any dtype that
        `mag.distributed.verify` counts, and are published unchanged.  A missing value is a value.  Strata of fewer than
        k records are an error, when it is computed.
    weights : name, optional
        Of a dataframe, the column of the records' weights in means, not negative; published unchanged.  k does not
        count them, and neither groups nor information loss depend on them but through the means.
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

    Groups within regions, with weighted means:

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> table = {"age": [20, 22, 60, 24, 62, 68], "income": [1.0, 2.0, 5.0, 6.0, 5.0, 7.0],
    ...          "region": list("NNSNSS"), "weight": [1, 2, 1, 1, 1, 2]}
    >>> frame = dd.from_pandas(pd.DataFrame(table), npartitions=2)
    >>> mag.distributed.multivariate(frame, k=3, by="region", weights="weight").masked.compute()
       age  income region  weight
    0   22    2.75      N       1
    1   22    2.75      N       2
    2   65    6.00      S       1
    3   22    2.75      N       1
    4   65    6.00      S       1
    5   65    6.00      S       2
    """
    one_of("method", method, RECORDS_PER_PART)
    if method == "mona":
        rho = fraction("rho", 0.5 if rho is None else rho)
    else:
        unused("rho", rho, f"method {method!r}")
    flag("standardize", standardize)
    seed = integer("random_state", random_state, 0, 2**64 - 1, "2**64-1")
    settings = Settings(k, method, rho, parts, standardize, seed)
    if isinstance(X, da.Array):
        named = {"columns": columns, "keep": keep, "by": by, "weights": weights}
        for option, value in named.items():
            unused(option, value if value != () else None, "dask arrays")
        return _array(X, settings)
    if isinstance(X, dd.DataFrame):
        if weights is not None:
            _frames.check_weights(weights, X)
            keep = list(dict.fromkeys([*names_of(keep, list(X.columns)), weights]))
        names = _frames.columns_to_group(X, columns, keep, by)
        return _frame(X, names, names_of(by, list(X.columns)), weights, settings)
    raise no_frame(X)


def _array(X: da.Array, settings: Settings) -> ScaledRecords:
    real_chunks("X", X, 2)
    n, d = X.shape
    _two(d)
    table = X.rechunk({1: -1})
    k = integer("k", settings.k, 1, n, "n")
    sizes = table.chunks[0]
    least = max(len(sizes), -(-n // RECORDS_PER_PART[settings.method]))
    settings = replace(settings, k=k, parts=_power("parts", settings.parts, least))
    t = Tasks("multivariate", [table], table.name, *astuple(settings))
    records = [t.add("records", [c], _columns_of, (table.name, c, 0)) for c in range(len(sizes))]
    without = [None] * len(sizes)
    labels, masked, groups, loss = _group_records(t, Input(records, list(range(d)), without, None, without), settings)
    dtype = X.dtype if X.dtype.kind == "f" else np.dtype(np.float64)
    label_keys = {(c,): key for c, key in enumerate(t.entries("label-chunk", labels, 0))}
    mask_keys = {(c, 0): key for c, key in enumerate(t.each("masked-chunk", np.column_stack, masked))}
    return ScaledRecords(
        t.array("labels", label_keys, (sizes,), np.int32),
        t.array("masked", mask_keys, table.chunks, dtype).rechunk(X.chunks),
        k,
        t.value("n_groups", groups),
        settings.method,
        t.value("loss", loss),
    )


def _frame(X: Any, names: list[Any], by: list[Any], weights: Any, settings: Settings) -> ScaledRecords:
    k = integer("k", settings.k, 1, 2**63 - 1, "n")
    _two(len(names))
    dtypes = [X.dtypes[name] for name in names]
    for name, dtype in zip(names, dtypes, strict=True):
        _frames.number_type(name, dtype, COSTS["sse"])
    partitions = X.to_delayed()
    settings = replace(settings, k=k, parts=_power("parts", settings.parts, len(partitions)))
    t = Tasks("multivariate", partitions, X, names, by, weights, *astuple(settings))
    keys = [partition.key for partition in partitions]
    pieces, checked = _pick(t, "", keys, names, dtypes)
    data = Input(
        t.each("records", _frames.take_values, pieces, checked),
        names,
        *_number_strata(t, keys, by, k),
        _read_weights(t, keys, weights, None if weights is None else X.dtypes[weights]),
        keep=True,
    )
    labels, masked, groups, loss = _group_records(t, data, settings)
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
        settings.method,
        t.value("loss", loss),
    )


def _pick(t: Tasks, what: str, keys: list[Any], names: list[Any], dtypes: list[Any]) -> tuple[list[Any], Key]:
    """Keys of columns as numbers, partition by partition, and of their check."""
    pieces = t.each(f"{what}picked", _frames.pick_columns, keys, names, dtypes)
    dropped = t.each(f"{what}dropped", _frames.drop_values, pieces)
    return pieces, t.add(f"{what}checked", [], _frames.check_pieces, dropped, names, dtypes)


def _number_strata(t: Tasks, keys: list[Any], by: list[Any], k: int) -> tuple[list[Any], Key | None]:
    """Keys of the strata of records, partition by partition, and of the sizes of all strata."""
    if not by:
        return [None] * len(keys), None
    found = t.each("found", _strata.find_strata, keys, by)
    sizes = t.add("strata", [], _strata.number_strata, t.each("found-sizes", _strata.drop_numbers, found), k)
    return t.each("stratum", _strata.take_numbers, found, sizes), t.add("sizes", [], _strata.take_sizes, sizes)


def _read_weights(t: Tasks, keys: list[Any], name: Any, dtype: Any) -> list[Any]:
    """Keys of the weights of records, partition by partition."""
    if name is None:
        return [None] * len(keys)
    pieces, checked = _pick(t, "weights-", keys, [name], [dtype])
    taken = t.each("weights-taken", _frames.take_values, pieces, checked)
    signs = t.add("signs", [], _frames.check_signs, t.each("sign", _frames.count_signs, taken))
    return t.each("weights", _frames.take_weights, taken, signs)


def _two(d: int) -> None:
    if d < 2:
        raise InputValueError(
            "X must have two columns or more; got one, use mag.distributed.univariate or mag.distributed.columns."
        )


def _power(option: str, number: Any, least: int) -> int:
    """A power of two; by default the next one from `least` on."""
    if number is None:
        return 1 << (integer(option, least, 1, 2**20, "most") - 1).bit_length()
    number = integer(option, number, 1, 2**20, "most")
    if number & (number - 1):
        raise InputValueError(f"{option} must be a power of two; got {number}.")
    return number


def _group_records(t: Tasks, data: Input, settings: Settings) -> tuple[list[Any], list[Any], Key, Key]:
    """Keys of labels and of masked columns, chunk by chunk, of the number of groups and of the information loss."""
    k, parts = settings.k, settings.parts
    chunks = list(enumerate(data.records))
    bare = t.add("bare", [], tasks.locate_columns, t.each("facts", tasks.examine_chunk, data.records), data.names, k)
    moments = t.each("moments", tasks.compute_moments, data.records, bare)
    transform = t.add("transform", [], tasks.measure_units, moments, bare, settings.standardize)
    ordered = _order_records(t, data, settings, transform)
    carried = [t.add("carried", [c], _carry, key, data.strata[c], data.weights[c]) for c, key in chunks]
    pieces = [[t.add("piece", [c, p], tasks.take_part, key, ordered[c], p) for c, key in enumerate(carried)]
              for p in range(parts)]  # fmt: skip
    joined = t.each("joined", tasks.join_pieces, pieces)
    joined = t.each("part", _read_part, joined, len(data.names), data.sizes is not None)
    grouped = t.each("grouped", _group, joined, transform, k, settings.method, settings.rho)
    numbering = t.add("numbering", [], _number_groups, t.entries("groups", grouped, 1), moments, transform)

    def back(what: str, function: Any, *others: Any) -> list[Any]:
        """Apply a function to the records of every part, and return the results chunk by chunk."""
        results = [t.add(what, [p], function, key, grouped[p], p, *others) for p, key in enumerate(joined)]
        pieces = t.exchange(f"{what}-piece", results, len(chunks))
        return [t.add(f"{what}-back", [c], tasks.restore_order, ordered[c], piece) for c, piece in enumerate(pieces)]

    n_groups, loss = t.entries("numbering", [numbering], 1)[0], t.entries("numbering", [numbering], 2)[0]
    return back("labels", _labels, numbering), back("masked", _mask_part, data.keep), n_groups, loss


def _order_records(t: Tasks, data: Input, settings: Settings, transform: Key) -> list[Key]:
    """Keys of the order of the records of each chunk, part by part."""
    k, parts, strata = settings.k, settings.parts, data.strata
    chunks = list(enumerate(data.records))
    sampled = [
        t.add("sampled", [c], tasks.sample_records, key, c, transform, parts, settings.seed, strata[c])
        for c, key in chunks
    ]
    if data.sizes is None:
        tree = t.add("tree", [], tasks.grow_tree, sampled, transform, parts, k)
    else:
        tree = t.add("tree", [], tasks.grow_forest, sampled, data.sizes, transform, parts, k)
    leaves = [t.add("leaf", [c], tasks.assign_leaves, key, c, transform, tree, strata[c]) for c, key in chunks]
    counts = t.each("count", tasks.count_leaves, leaves, parts, data.sizes)
    repaired = t.add("repaired", [], tasks.repair_parts, counts, tree, k)
    if data.sizes is not None:
        repaired = t.add("filled", [], tasks.fill_parts, counts, repaired, parts)
    return t.each("order", tasks.order_by_part, leaves, repaired, parts)


def _columns_of(block: np.ndarray) -> Records:
    block = np.asarray(block)
    block = block.view(np.uint8) if block.dtype.kind == "b" else block
    return [np.ascontiguousarray(block[:, j]) for j in range(block.shape[1])]


def _carry(records: Records, strata: np.ndarray | None, weights: np.ndarray | None) -> Records:
    """Arrays that go with the records of a chunk to their parts."""
    return [*records, *(array for array in (strata, weights) if array is not None)]


def _read_part(joined: tuple[Records, list[int]], d: int, by: bool) -> JoinedPart:
    """A part, of the arrays that `_carry` has made."""
    arrays, edges = joined
    others = arrays[d:]
    strata = others.pop(0) if by else None
    return JoinedPart(arrays[:d], edges, strata, others[0] if others else None)


def _group(
    part: JoinedPart, transform: Transform, k: int, method: str, rho: float | None
) -> tuple[np.ndarray, tuple[int, float]]:
    """Labels of a part; how many groups, and the squared distances to their means."""
    z = tasks.standardize_records(part.records, transform)
    labels = label_records(z, k, method, 0 if rho is None else int(transform.n**rho), part.strata)
    if not labels.size:
        return labels, (0, 0.0)
    sizes = np.bincount(labels)
    if part.weights is not None:
        means = [mask_records(column, labels, weights=part.weights) for column in z.T]
        return labels, (sizes.size, float(np.square(z - np.column_stack(means)).sum()))
    order = np.argsort(labels, kind="stable")
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


def _labels(part: JoinedPart, grouped: tuple[Any, ...], p: int, numbering: tuple[Any, ...]) -> list[Records]:
    return _pieces([grouped[0] + np.int32(numbering[0][p])], part.edges)


def _mask_part(part: JoinedPart, grouped: tuple[Any, ...], p: int, keep: bool) -> list[Records]:
    return _pieces([mask_records(column, grouped[0], keep, part.weights) for column in part.records], part.edges)


def _pieces(columns: Records, edges: list[int]) -> list[Records]:
    """Columns of a part, as the pieces that it was put together from."""
    return [[column[begin:end] for column in columns] for begin, end in itertools.pairwise(edges)]


def _series(partition: pd.DataFrame, labels: Records) -> pd.Series:
    return pd.Series(labels[0], index=partition.index, name="group")
