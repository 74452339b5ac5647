"""Records in chunks, dealt into parts that lie close together: Mondrian's halves, at medians of a sample.

Records are lists of columns, each a NumPy array of its own dtype.  A worker groups each part by itself; a part has
2k records or more, counted after the deal, so that no group can be smaller than k.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag._backends.safety import MODERATE
from mag._lib.checks import not_finite, refuse
from mag._lib.errors import InputValueError
from mag.methods.distances.standard import divide_column, magnitude

Records = list[np.ndarray]
Moments = tuple[np.ndarray, np.ndarray, np.ndarray]
PER_PART = 1024  # records of the sample, for each part
SCRAMBLE = (  # by MurmurHash3 (Appleby 2011), and then by SplitMix64 (Steele, Lea & Flood 2014)
    (33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1),
    (30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1),
)  # fmt: skip
STRATUM = -1  # the last column of records with strata, by which trees separate these
EVEN = 0.25  # of a part that the smaller half of a column with ties must have; else another column is tried


@dataclass(frozen=True)
class ChunkFacts:
    """Of the columns of a chunk: NaN and infinite values, the smallest and the largest value, None without any."""

    n: int
    wrong: list[tuple[int, int]]
    low: list[Any]
    high: list[Any]


@dataclass(frozen=True)
class Transform:
    """How records are read: y = (x - low) / 2**exponent, z = (y - mean) · unit; `before` are those before a chunk."""

    n: int
    before: list[int]
    low: list[Any]
    exponent: list[int]
    mean: np.ndarray
    unit: np.ndarray


@dataclass(frozen=True)
class SplitTree:
    """Halves: records whose z[column] is below `threshold` go on to the first; None is a part.

    Column d is chance; column `STRATUM` is the number of the stratum, and such halves are never joined again.
    """

    column: int
    threshold: float
    halves: "tuple[SplitTree | None, SplitTree | None]"


def examine_chunk(records: Records, n: int | None = None) -> ChunkFacts:
    """Look at a chunk, of `n` records if some columns have fewer cells."""
    wrong = [not_finite(column) for column in records]
    low, high = (
        [extreme(column) if column.size and not any(own) else None for column, own in zip(records, wrong, strict=True)]
        for extreme in (np.min, np.max)
    )
    return ChunkFacts(records[0].size if n is None else n, wrong, low, high)


def locate_columns(chunks: list[ChunkFacts], names: list[Any], k: int) -> Transform:
    """The origin and the magnitude of each column; raise one error for invalid columns."""
    n = sum(chunk.n for chunk in chunks)
    for j, name in enumerate(names):
        nans, infinities = (sum(chunk.wrong[j][i] for chunk in chunks) for i in (0, 1))
        if nans or infinities:
            refuse(f"column {name!r}", nans, infinities)
    if n < k:
        raise InputValueError(f"k must be an integer in [1, n={n}]; got {k}.")
    nothing = np.int64(0)  # of a column without any cell
    low = [min((c.low[j] for c in chunks if c.low[j] is not None), default=nothing) for j in range(len(names))]
    high = [max((c.high[j] for c in chunks if c.high[j] is not None), default=nothing) for j in range(len(names))]
    exponent = [magnitude(a, b) for a, b in zip(low, high, strict=True)]
    before = np.concatenate([[0], np.cumsum([chunk.n for chunk in chunks])])[:-1].tolist()
    return Transform(n, before, low, exponent, np.zeros(len(names)), np.ones(len(names)))


def compute_moments(records: Records, transform: Transform, present: Any = True) -> Moments:
    """How many cells each column has, their means, and the sums of squares around these; only `present` cells count."""
    y = standardize_records(records, transform)
    n = np.broadcast_to(present, y.shape).sum(axis=0)
    some = np.maximum(n, 1)
    mean = y.sum(axis=0, where=present) / some
    mean += (y - mean).sum(axis=0, where=present) / some
    return n, mean, np.square(y - mean).sum(axis=0, where=present)


def measure_units(chunks: list[Moments], transform: Transform, standardize: bool) -> Transform:
    """Means and deviations of whole columns, from those of the chunks  (Chan, Golub & LeVeque 1983)."""
    n, mean, squares = chunks[0]
    for size, other, more in chunks[1:]:
        step, some = other - mean, np.maximum(n + size, 1)
        mean = mean + step * (size / some)
        squares = squares + more + step * step * (n * size / some)
        n = n + size
    if standardize:
        deviation = np.sqrt(squares / np.maximum(n, 1))
        unit = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    else:
        largest = max((e for e, square in zip(transform.exponent, squares, strict=True) if square), default=0)
        scale = largest if abs(largest) > MODERATE else 0
        unit = np.ldexp(1.0, np.array(transform.exponent) - scale)
    return Transform(transform.n, transform.before, transform.low, transform.exponent, mean, unit)


def standardize_records(records: Records, transform: Transform) -> np.ndarray:
    """z, (n, d)."""
    z = np.empty((records[0].size, len(records)))
    for j, (x, low, exponent) in enumerate(zip(records, transform.low, transform.exponent, strict=True)):
        y = divide_column(x, low, exponent)
        if x.dtype.kind == "f":  # offsets cost no digits
            y -= np.ldexp(float(low), -exponent)
        z[:, j] = (y - transform.mean[j]) * transform.unit[j]
    return z


def add_chance(z: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The records with one more column, from 0 to 1, that depends on the number of the record alone."""
    bits = numbers.astype(np.uint64) + np.uint64(1)
    for shift, factor in SCRAMBLE:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return np.column_stack([z, bits * 2.0**-64])


def require_strata(sizes: np.ndarray, k: int, missing: bool = False) -> None:
    """Raise an error where a stratum has fewer than k records; `missing` cells may be what tells strata apart."""
    small = sizes[sizes < k]
    if small.size:
        are = "is" if small.size == 1 else "are"
        also = " (records that miss the same cells are one)" if missing else ""
        fewer = ", fewer to mask that miss cells" if missing else ""
        raise InputValueError(
            f"every stratum{also} must have at least k={k} records: {small.size} of {sizes.size} strata {are} too "
            f"small, with {small.sum()} of {sizes.sum()} records in all; use fewer columns in by{fewer}, or a "
            "smaller k."
        )


def sample_records(
    records: Records, chunk: int, transform: Transform, parts: int, seed: int, strata: np.ndarray | None = None
) -> np.ndarray:
    """Some records of a chunk at random."""
    n, size = records[0].size, min(PER_PART * parts, transform.n)
    count = min(-(-size * n // transform.n), n)
    rows = np.sort(np.random.default_rng([seed, chunk]).choice(n, count, replace=False))
    z = add_chance(standardize_records([column[rows] for column in records], transform), transform.before[chunk] + rows)
    return z if strata is None else np.column_stack([z, strata[rows]])


def sample_groups(labels: np.ndarray, part: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The rows of about this share of the groups of a part, chosen at random, and their groups, numbered from 0."""
    chance = np.random.default_rng([0, part]).random(int(labels.max(initial=-1)) + 1)
    rows = np.flatnonzero((chance < share)[labels])
    return rows, np.unique(labels[rows], return_inverse=True)[1]


def grow_tree(samples: list[np.ndarray], transform: Transform, parts: int, k: int, most: int = 0) -> SplitTree | None:
    """Halves of halves until there are as many parts, as long as both halves can be expected to have 2k records.

    Parts that can be expected to have no more than `most` records are not halved.
    """
    z = np.concatenate(samples)

    def halve(rows: np.ndarray, parts: int) -> SplitTree | None:
        expected = transform.n * (rows.size / len(z))
        if parts == 1 or rows.size < 2 or expected < 8 * k or expected <= most:
            return None
        column, threshold = _median(z[rows])
        below = z[rows, column] < threshold
        return SplitTree(column, threshold, (halve(rows[below], parts // 2), halve(rows[~below], parts // 2)))

    return halve(np.arange(len(z)), parts)


def grow_forest(
    samples: list[np.ndarray], sizes: np.ndarray, transform: Transform, parts: int, k: int
) -> SplitTree | None:
    """A tree that separates the strata first, and then halves each of them, into parts by its share of the records."""
    z = np.concatenate(samples)
    z = z[np.argsort(z[:, STRATUM], kind="stable")]
    edges = np.searchsorted(z[:, STRATUM], np.arange(sizes.size + 1))

    def separate(first: int, end: int) -> SplitTree | None:
        if end - first > 1:
            middle = (first + end) // 2
            return SplitTree(STRATUM, float(middle), (separate(first, middle), separate(middle, end)))
        own, n = z[edges[first] : edges[end], :STRATUM], int(sizes[first])
        share = max(parts * n // transform.n, 1)
        largest_power = 1 << (share.bit_length() - 1)
        return grow_tree([own], replace(transform, n=n), largest_power, k) if len(own) else None

    return separate(0, sizes.size)


def _median(z: np.ndarray) -> tuple[int, float]:
    """The column with the largest variance of those with distinguishable values, and the median of its values."""
    chance = z.shape[1] - 1
    for column in [*np.argsort(-z[:, :-1].var(axis=0), kind="stable").tolist(), chance]:
        values = np.sort(z[:, column])
        middle = values[values.size // 2]
        above = np.searchsorted(values, middle, "right")
        places = [np.searchsorted(values, middle)] + ([above] if above < values.size else [])
        place = min(places, key=lambda i: abs(i - values.size / 2))
        if EVEN * values.size <= place <= (1 - EVEN) * values.size or column == chance:
            break
    return column, float(values[place])


def assign_leaves(
    records: Records, chunk: int, transform: Transform, tree: SplitTree | None, strata: np.ndarray | None = None
) -> np.ndarray:
    """The leaf of every record, numbered from left to right."""
    numbers = transform.before[chunk] + np.arange(records[0].size)
    z = add_chance(standardize_records(records, transform), numbers)
    return find_leaves(z if strata is None else np.column_stack([z, strata]), tree)


def find_leaves(z: np.ndarray, tree: SplitTree | None) -> np.ndarray:
    """The leaf of every record, of standardized columns and chance."""
    leaf = np.empty(len(z), np.int32)
    for number, rows in enumerate(_leaves(z, np.arange(len(z)), tree)):
        leaf[rows] = number
    return leaf


def _leaves(z: np.ndarray, rows: np.ndarray, tree: SplitTree | None) -> Iterator[np.ndarray]:
    if tree is None:
        yield rows
        return
    below = z[rows, tree.column] < tree.threshold
    yield from _leaves(z, rows[below], tree.halves[0])
    yield from _leaves(z, rows[~below], tree.halves[1])


def repair_parts(
    leaves: list[np.ndarray], tree: SplitTree | None, k: int, units: "list[LeafUnits] | None" = None
) -> np.ndarray:
    """The part of every leaf: a leaf, or several if a half received fewer than 2k records; counted, not expected.

    Halves of different strata are not joined.  With `units`, 2k of these are counted in place of records.
    """
    counts = np.sum(leaves, axis=0)
    owners = [] if units is None else list_owners(units, len(counts))

    def count(members: list[int]) -> int:
        if units is None:
            return int(counts[members].sum())
        return np.unique(np.concatenate([owners[leaf] for leaf in members])).size

    part, settled = np.zeros(len(counts), np.int32), settle_parts(tree, lambda members: count(members) < 2 * k)
    for p, members in enumerate(settled):
        part[members] = p
    if units is not None:
        _require_owners([count(members) for members in settled], k, tree)
    return part


def settle_parts(tree: SplitTree | None, is_small: Callable[[list[int]], bool]) -> list[list[int]]:
    """The leaves of every part: none of them is small, unless a stratum is."""
    numbers = itertools.count()

    def settle(tree: SplitTree | None) -> list[list[int]]:
        if tree is None:
            return [[next(numbers)]]
        first, second = settle(tree.halves[0]), settle(tree.halves[1])
        if tree.column == STRATUM:
            return first + second
        # a small half is one part, even if it was divided
        if is_small(first[0]):
            return [first[0] + second[0], *second[1:]]
        if is_small(second[0]):
            return [*first[:-1], first[-1] + second[0]]
        return first + second

    return settle(tree)


@dataclass(frozen=True)
class LeafUnits:
    """Units of the leaves of a chunk: which unit, in which leaf."""

    leaf: np.ndarray
    unit: np.ndarray


def list_units(leaf: np.ndarray, units: np.ndarray, k: int) -> LeafUnits:
    """Different units of each leaf, at most 2k of them: enough to tell whether parts of leaves have 2k."""
    order = np.lexsort([units, leaf])
    leaf, units = leaf[order], units[order]
    first = np.append(np.ones(min(leaf.size, 1), bool), (leaf[1:] != leaf[:-1]) | (units[1:] != units[:-1]))
    leaf, units = leaf[first], units[first]
    few = np.arange(leaf.size) - np.searchsorted(leaf, leaf) < 2 * k
    return LeafUnits(leaf[few], units[few])


def list_owners(units: list[LeafUnits], n: int) -> list[np.ndarray]:
    """The listed units of each of n leaves, of all chunks together."""
    leaf, own = (np.concatenate(words) for words in zip(*((one.leaf, one.unit) for one in units), strict=True))
    order = np.argsort(leaf, kind="stable")
    return np.split(own[order], np.searchsorted(leaf[order], np.arange(1, n)))


def _require_owners(counts: list[int], k: int, tree: SplitTree | None) -> None:
    """Raise an error where a stratum, which is one part then, has fewer than k units."""
    if small := sum(0 < count < k for count in counts):
        if tree is None or tree.column != STRATUM:
            raise InputValueError(f"k must be an integer in [1, the number of units={min(counts)}]; got {k}.")
        have = "has" if small == 1 else "have"
        raise InputValueError(
            f"every stratum must have at least k={k} units: {small} {have} fewer; use fewer columns in by, or a "
            "smaller k."
        )


def count_leaves(leaf: np.ndarray, parts: int, strata: np.ndarray | None = None) -> np.ndarray:
    """The number of records of a chunk in each leaf: at most `parts` leaves, and one more for each stratum."""
    return np.bincount(leaf, minlength=parts if strata is None else parts + strata.size)


def fill_parts(leaves: list[np.ndarray], part: np.ndarray, parts: int) -> np.ndarray:
    """The part of every leaf, where there are more strata than parts: neighbors share one."""
    sizes = np.bincount(part, np.sum(leaves, axis=0))
    middles = np.cumsum(sizes) - sizes / 2
    return np.minimum(middles * parts / sizes.sum(), parts - 1).astype(np.int32)[part]


def order_by_part(leaf: np.ndarray, part: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """The records of a chunk part by part, and where parts begin and end among them."""
    own = part[leaf]
    return np.argsort(own, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(own, minlength=parts))])


def take_part(records: Records, ordered: tuple[np.ndarray, np.ndarray], p: int) -> Records:
    """The records of a chunk that go to part p."""
    rows = ordered[0][ordered[1][p] : ordered[1][p + 1]]
    return [column[rows] for column in records]


def join_pieces(pieces: list[Records]) -> tuple[Records, list[int]]:
    """The records of a part, chunk by chunk, and how many come from each."""
    joined = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
    return joined, np.cumsum([0, *(piece[0].size for piece in pieces)]).tolist()


def restore_order(ordered: tuple[np.ndarray, np.ndarray], pieces: list[Records]) -> Records:
    """Results for the records of a chunk, in their order, from the pieces of all parts."""
    restored = []
    for columns in zip(*pieces, strict=True):
        joined = np.concatenate(columns)
        column = np.empty_like(joined)
        column[ordered[0]] = joined
        restored.append(column)
    return restored
