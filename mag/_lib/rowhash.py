"""Rows as 128 bits: equal rows have equal hashes, others differ but for one chance in 2**128 per pair.

Recounts that cannot hold all cells at once count hashes: of text block by block, of Parquet column by column, of Dask
partition by partition.  `mag.verify` only sorts by them, and then compares cells.  Nothing that groups records is here.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

ROWS_IN_CACHE = 2**14  # whose hashes stay in the cache
ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
MIXING_STEPS = (  # shifts and factors after which every bit depends on every bit
    ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53), (33, 1)),  # Appleby 2011, MurmurHash3
    ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)),  # Steele, Lea & Flood 2014, SplitMix64
)


def new_hashes(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The two words of n rows without cells."""
    return np.zeros(n, np.uint64), np.zeros(n, np.uint64)


def add_cells(hashes: Sequence[np.ndarray], *words: np.ndarray) -> None:
    """Give every row one cell more, in place: an integer, or one for each of the two words of the hash."""
    for lane, own in enumerate(hashes):
        cells = words[min(lane, len(words) - 1)]
        for start in range(0, own.size, ROWS_IN_CACHE):
            some = own[start : start + ROWS_IN_CACHE]
            some *= ODD[1]
            some += cells[start : start + ROWS_IN_CACHE].astype(np.uint64)
            some += ODD[0]
            for shift, factor in MIXING_STEPS[lane]:
                some ^= some >> np.uint64(shift)
                some *= np.uint64(factor)


class HashedClasses(NamedTuple):
    """The hashes of classes of equal rows, ascending, and how many rows each has."""

    first: np.ndarray
    second: np.ndarray
    sizes: np.ndarray


def count_classes(hashes: Sequence[np.ndarray]) -> HashedClasses:
    """The classes of equal rows."""
    first, second = hashes
    return _collect(HashedClasses(first, second, np.ones(first.size, np.int64)), "quicksort")


def shorten(hashes: Sequence[np.ndarray]) -> HashedClasses:
    """The classes of a block where rows repeat, so that few hashes stay in memory; its rows themselves where not."""
    if 2 * _class_sizes(hashes[0].copy()).size < hashes[0].size:
        return count_classes(hashes)
    return uncounted(hashes)


def uncounted(hashes: Sequence[np.ndarray]) -> HashedClasses:
    """Rows as classes of one, some of which may be equal."""
    first, second = hashes
    return HashedClasses(first, second, np.broadcast_to(np.int64(1), first.size))


def sizes_of_classes(several: Sequence[HashedClasses]) -> np.ndarray:
    """How many rows each class of several blocks has, in no order.

    Sorting words is faster than finding the order of pairs.  Rows that differ in one word alone make classes of one
    word more than of the other; that both words merge equally many is as unlikely as rows with equal hashes.
    """
    if all(block.sizes.strides == (0,) for block in several):
        first, second = (_class_sizes(np.concatenate(words)) for words in list(zip(*several, strict=True))[:2])
        if first.size == second.size:
            return first
    return add_classes(several).sizes


def _class_sizes(words: np.ndarray) -> np.ndarray:
    """How many equal words there are of each, which are sorted on the way."""
    words.sort()
    begins = np.flatnonzero(_changes(words)) + 1
    return np.diff(begins, prepend=0, append=words.size) if words.size else begins


def add_classes(several: Sequence[HashedClasses]) -> HashedClasses:
    """The classes of several counts, with the sizes of the same class added up."""
    return _collect(
        HashedClasses(*map(np.concatenate, zip(*several, strict=True))), "stable"
    )  # which merges what is sorted


def _collect(rows: HashedClasses, kind: Literal["quicksort", "stable"]) -> HashedClasses:
    order = np.argsort(rows.first, kind=kind)
    first, second = rows.first[order], rows.second[order]
    if (_changes(first) < _changes(second)).any():  # two classes may share their first word
        order = np.lexsort([rows.second, rows.first])
        first, second = rows.first[order], rows.second[order]
    starts = np.flatnonzero(np.append(np.ones(min(first.size, 1), bool), _changes(first) | _changes(second)))
    sizes = rows.sizes[order]
    return HashedClasses(first[starts], second[starts], np.add.reduceat(sizes, starts) if starts.size else sizes)


def _changes(ordered: np.ndarray) -> np.ndarray:
    """Whether each but the first differs from the one before."""
    return ordered[1:] != ordered[:-1]


# ---- rows whose cells are all in memory


def classes(tokens: list[np.ndarray]) -> np.ndarray:
    """The class of every row, as a number."""
    if tokens[0].size == 0:
        return np.empty(0, np.int64)
    order, begins = neighbors(tokens)
    classes = np.empty(order.size, np.int64)
    classes[order] = np.concatenate([[0], np.cumsum(begins)])
    return classes


def neighbors(tokens: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """An order in which equal rows stand together, and whether each row but the first differs from the one before.

    Rows are sorted by a hash of theirs, and then compared: two different rows with one hash are noticed.
    """
    hashes = np.zeros(tokens[0].size, np.uint64)
    for token in tokens:
        add_cells([hashes], token)
    order = np.argsort(hashes)
    begins = _differs(tokens, order)
    hashes = hashes[order]
    if (begins & (hashes[1:] == hashes[:-1])).any():
        order = np.lexsort(tokens)
        begins = _differs(tokens, order)
    return order, begins


def _differs(tokens: list[np.ndarray], order: np.ndarray) -> np.ndarray:
    begins = np.zeros(order.size - 1, bool)
    for token in tokens:
        ordered = token[order]
        begins |= ordered[1:] != ordered[:-1]
    return begins
