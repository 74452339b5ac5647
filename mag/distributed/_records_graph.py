"""Records jointly, in chunks: parts that lie close together, grouped each by itself."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from operator import getitem
from typing import Any

import numpy as np

from mag._lib.checks import flag, fraction, integer, one_of, unused
from mag._lib.errors import InputValueError
from mag._lib.roles import name_of_one, names_of
from mag.costs import COSTS
from mag.distributed import _frames, _strata
from mag.distributed._graph import Key, Tasks
from mag.distributed.kernels import label_records, mask_records
from mag.methods.distances import partition as tasks
from mag.methods.distances.partition import Records, Transform

CARRIED = ("strata", "weights", "units")  # arrays that go with records to their parts
RECORDS_PER_PART = {"mona": 2**18, "ona_star": 2**13}  # records of a part, about


@dataclass(frozen=True)
class Settings:
    """The options of `multivariate` but for columns; `seed` is its `random_state`.

    `sampled` is how many records, about, a report samples; 0 without one.
    """

    k: int
    method: str
    rho: float | None
    parts: Any
    standardize: bool
    seed: int
    sampled: int = 0


@dataclass(frozen=True)
class Input:
    """Keys of records, strata, weights and units, chunk by chunk (None without these), and of the sizes of all strata.

    `keep` rounds means of integers.
    """

    records: list[Any]
    names: list[Any]
    strata: list[Any]
    sizes: Key | None
    weights: list[Any]
    units: list[Any]
    keep: bool = False


@dataclass(frozen=True)
class JoinedPart:
    """The columns of the records of a part, how many come from each chunk, and their strata, weights and units."""

    records: Records
    edges: list[int]
    strata: np.ndarray | None
    weights: np.ndarray | None
    units: np.ndarray | None


@dataclass(frozen=True)
class RecordKeys:
    """Of the labels and the masked columns of every chunk, of the number of groups, and of the information loss.

    `sample` is that of the number of records, and of some groups of every part as `_sample_part` gives them.
    """

    labels: list[Key]
    masked: list[Key]
    n_groups: Key
    loss: Key
    sample: Key


def check_settings(k: Any, method: str, rho: Any, parts: Any, standardize: Any, random_state: Any) -> Settings:
    """Checked options, but for k and `parts`, whose limits depend on the table."""
    one_of("method", method, RECORDS_PER_PART)
    if method == "mona":
        rho = fraction("rho", 0.5 if rho is None else rho)
    else:
        unused("rho", rho, f"method {method!r}")
    flag("standardize", standardize)
    seed = integer("random_state", random_state, 0, 2**64 - 1, "2**64-1")
    return Settings(k, method, rho, parts, standardize, seed)


@dataclass(frozen=True)
class RecordRoles:
    """The columns of a frame: those to mask, strata, weights and units, and all that are published."""

    names: list[Any]
    by: list[Any]
    weights: Any
    unit: Any
    published: list[Any]


def check_roles(dtypes: Mapping[Any, Any], roles: dict[str, Any], publish_unit: bool) -> RecordRoles:
    """Roles of the columns of a frame; every column has one, and masked ones are numbers."""
    known, keep, by, weights, unit = list(dtypes), roles["keep"], roles["by"], roles["weights"], roles["unit"]
    unit = None if unit is None else name_of_one("unit", unit, known, "X")
    if weights is not None:
        _frames.check_weights(weights, dtypes)
        keep = list(dict.fromkeys([*names_of(keep, known), weights]))
    names = _frames.columns_to_group(known, roles["columns"], keep, by, unit)
    require_two(len(names))
    for name in names:
        _frames.number_type(name, dtypes[name], COSTS["sse"])
    published = [name for name in known if publish_unit or name != unit]
    return RecordRoles(names, names_of(by, known), weights, unit, published)


def group_partitions(t: Tasks, keys: list[Any], roles: RecordRoles, dtypes: Any, settings: Settings) -> RecordKeys:
    """Group the records of partitions, which are frames of pandas."""
    pieces, checked = _pick(t, "", keys, roles.names, [dtypes[name] for name in roles.names])
    data = Input(
        t.each("records", _frames.take_values, pieces, checked),
        roles.names,
        *_number_strata(t, keys, roles.by, settings.k),
        _read_weights(t, keys, roles.weights, None if roles.weights is None else dtypes[roles.weights]),
        _frames.read_units(t, keys, roles.unit),
        keep=True,
    )
    return group_records(t, data, settings)


def require_two(d: int) -> None:
    if d < 2:
        raise InputValueError(
            "X must have two columns or more; got one, use mag.distributed.univariate or mag.distributed.columns."
        )


def power_of_two(option: str, number: Any, least: int) -> int:
    """A power of two; by default the next one from `least` on."""
    if number is None:
        return 1 << (integer(option, least, 1, 2**20, "most") - 1).bit_length()
    number = integer(option, number, 1, 2**20, "most")
    if number & (number - 1):
        raise InputValueError(f"{option} must be a power of two; got {number}.")
    return number


def group_records(t: Tasks, data: Input, settings: Settings) -> RecordKeys:
    """Group records in chunks."""
    k, parts = settings.k, settings.parts
    chunks = list(enumerate(data.records))
    bare = t.decide("bare", [], tasks.locate_columns, t.each("facts", tasks.examine_chunk, data.records), data.names, k)
    moments = t.each("moments", tasks.compute_moments, data.records, bare)
    transform = t.decide("transform", [], tasks.measure_units, moments, bare, settings.standardize)
    ordered = _order_records(t, data, settings, transform)
    carried = [t.add("carried", [c], _carry, key, data.strata[c], data.weights[c], data.units[c]) for c, key in chunks]
    pieces = [[t.add("piece", [c, p], tasks.take_part, key, ordered[c], p) for c, key in enumerate(carried)]
              for p in range(parts)]  # fmt: skip
    joined = t.each("joined", tasks.join_pieces, pieces)
    others = [name for name in CARRIED if getattr(data, name)[0] is not None]
    joined = t.each("part", _read_part, joined, len(data.names), others)
    grouped = t.each("grouped", _group, joined, transform, k, settings.method, settings.rho)
    numbering = t.decide("numbering", [], _number_groups, t.entries("groups", grouped, 1), moments, transform)

    def each_part(what: str, function: Any, *others: Any) -> list[Key]:
        """Apply a function to the records of every part."""
        return [t.add(what, [p], function, key, grouped[p], p, *others) for p, key in enumerate(joined)]

    def back(what: str, results: list[Key]) -> list[Key]:
        """Return the results of parts chunk by chunk."""
        pieces = t.exchange(f"{what}-piece", results, len(chunks))
        return [t.add(f"{what}-back", [c], tasks.restore_order, ordered[c], piece) for c, piece in enumerate(pieces)]

    n_groups, loss = (t.decide("numbering", [i], getitem, numbering, i) for i in (1, 2))
    masked = each_part("masked", _mask_part, data.keep)
    chosen = [
        t.add("chosen", [p], _sample_part, key, grouped[p], masked[p], p, settings.sampled, transform)
        for p, key in enumerate(joined)
    ]
    sample = t.decide("sample", [], _with_count, transform, chosen)
    labels = back("labels", each_part("labels", _labels, numbering))
    return RecordKeys(t.entries("label-chunk", labels, 0), back("masked", masked), n_groups, loss, sample)


def _order_records(t: Tasks, data: Input, settings: Settings, transform: Key) -> list[Key]:
    """Keys of the order of the records of each chunk, part by part."""
    k, parts, strata = settings.k, settings.parts, data.strata
    chunks = list(enumerate(data.records))
    sampled = [
        t.add("sampled", [c], tasks.sample_records, key, c, transform, parts, settings.seed, strata[c])
        for c, key in chunks
    ]
    if data.sizes is None:
        tree = t.decide("tree", [], tasks.grow_tree, sampled, transform, parts, k)
    else:
        tree = t.decide("tree", [], tasks.grow_forest, sampled, data.sizes, transform, parts, k)
    leaves = [t.add("leaf", [c], tasks.assign_leaves, key, c, transform, tree, strata[c]) for c, key in chunks]
    counts = t.each("count", tasks.count_leaves, leaves, parts, data.sizes)
    units = None
    if data.units[0] is not None:
        units = [t.add("listed", [c], tasks.list_units, key, data.units[c], k) for c, key in enumerate(leaves)]
    repaired = t.decide("repaired", [], tasks.repair_parts, counts, tree, k, units)
    if data.sizes is not None:
        repaired = t.decide("filled", [], tasks.fill_parts, counts, repaired, parts)
    return t.each("order", tasks.order_by_part, leaves, repaired, parts)


def columns_of(block: np.ndarray) -> Records:
    block = np.asarray(block)
    block = block.view(np.uint8) if block.dtype.kind == "b" else block
    return [np.ascontiguousarray(block[:, j]) for j in range(block.shape[1])]


def _carry(records: Records, *others: np.ndarray | None) -> Records:
    """Arrays that go with the records of a chunk to their parts, in the order of `CARRIED`."""
    return [*records, *(array for array in others if array is not None)]


def _read_part(joined: tuple[Records, list[int]], d: int, others: list[str]) -> JoinedPart:
    """A part, of the arrays that `_carry` has made."""
    arrays, edges = joined
    return JoinedPart(arrays[:d], edges, **dict.fromkeys(CARRIED) | dict(zip(others, arrays[d:], strict=True)))


def _group(
    part: JoinedPart, transform: Transform, k: int, method: str, rho: float | None
) -> tuple[np.ndarray, tuple[int, float]]:
    """Labels of a part; how many groups, and the squared distances to their means."""
    z = tasks.standardize_records(part.records, transform)
    labels = label_records(z, k, method, 0 if rho is None else int(transform.n**rho), part.strata, part.units)
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


def _sample_part(
    part: JoinedPart, grouped: tuple[Any, ...], masked: list[Records], p: int, sampled: int, transform: Transform
) -> tuple[np.ndarray, Records, Records]:
    """Some groups of a part: labels from 0, and their records before and after as float64."""
    rows, labels = tasks.sample_groups(grouped[0], p, sampled / transform.n)
    after = [np.concatenate(pieces) for pieces in zip(*masked, strict=True)]
    before, after = ([column[rows].astype(np.float64) for column in columns] for columns in (part.records, after))
    return labels, before, after


def _with_count(transform: Transform, samples: list[Any]) -> tuple[int, list[Any]]:
    return transform.n, samples


def _pieces(columns: Records, edges: list[int]) -> list[Records]:
    """Columns of a part, as the pieces that it was put together from."""
    return [[column[begin:end] for column in columns] for begin, end in itertools.pairwise(edges)]


def _pick(t: Tasks, what: str, keys: list[Any], names: list[Any], dtypes: list[Any]) -> tuple[list[Any], Key]:
    """Keys of columns as numbers, partition by partition, and of their check."""
    pieces = t.each(f"{what}picked", _frames.pick_columns, keys, names, dtypes)
    dropped = t.each(f"{what}dropped", _frames.drop_values, pieces)
    return pieces, t.decide(f"{what}checked", [], _frames.check_pieces, dropped, names, dtypes)


def _number_strata(t: Tasks, keys: list[Any], by: list[Any], k: int) -> tuple[list[Any], Key | None]:
    """Keys of the strata of records, partition by partition, and of the sizes of all strata."""
    if not by:
        return [None] * len(keys), None
    found = t.each("found", _strata.find_strata, keys, by)
    sizes = t.decide("strata", [], _strata.number_strata, t.each("found-sizes", _strata.drop_numbers, found), k)
    return t.each("stratum", _strata.take_numbers, found, sizes), t.decide("sizes", [], _strata.take_sizes, sizes)


def _read_weights(t: Tasks, keys: list[Any], name: Any, dtype: Any) -> list[Any]:
    """Keys of the weights of records, partition by partition."""
    if name is None:
        return [None] * len(keys)
    pieces, checked = _pick(t, "weights-", keys, [name], [dtype])
    taken = t.each("weights-taken", _frames.take_values, pieces, checked)
    signs = t.decide("signs", [], _frames.check_signs, t.each("sign", _frames.count_signs, taken))
    return t.each("weights", _frames.take_weights, taken, signs)
