"""The classes of all subsets of the quasi-identifiers up to a size, and the minimal sample uniques (see `suda`)."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mag._compiled.work import work_for
from mag._lib.number import find_first_rows, number_rows
from mag.risk._walk import FIGURES, Entries, Found, walk_at, walk_subsets
from mag.risk.frequencies import match_kinds

MAX_SUBSETS_UNASKED = 5000  # which are looked at where no size is given


@dataclass(frozen=True)
class Subsets:
    """Figures of every subset, small subsets first, and scores of every record.

    `members` : which columns a subset has; `figures` : by name, the number of classes, the size of the smallest, and
    the records in classes of one, of fewer than 3 and of fewer than 5; `minimal` : records whose minimal sample unique
    the subset is; `scores` : of records; `shares` : for every record and column, the points of MSUs with the column.
    """

    members: np.ndarray
    figures: dict[str, np.ndarray]
    minimal: np.ndarray
    scores: np.ndarray
    shares: np.ndarray


def largest_size(m: int) -> int:
    """The largest size up to which m columns have at most `MAX_SUBSETS_UNASKED` subsets.

    Examples
    --------
    >>> from mag.risk.subsets import largest_size
    >>> [largest_size(m) for m in (6, 12, 20, 200)]
    [6, 12, 3, 1]
    """
    sums = itertools.accumulate(math.comb(m, size) for size in range(1, m + 1))
    return max(1, sum(total <= MAX_SUBSETS_UNASKED for total in sums))


def walk(codes: Sequence[np.ndarray], units: np.ndarray | None, max_size: int, points: np.ndarray) -> Subsets:
    """All subsets of up to `max_size` columns, of codes from 0 on; a missing cell is a value.

    With units, sizes count distinct ones, and a record is unique in a class of one unit.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.subsets import walk
    >>> from mag.risk.suda import points_by_size
    >>> sex, age = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2])
    >>> found = walk([sex, age], None, 2, points_by_size(2))
    >>> found.members.astype(int).tolist(), found.minimal.tolist(), found.scores.tolist()
    ([[1, 0], [0, 1], [1, 1]], [0, 2, 2], [1.0, 1.0, 1.0, 1.0])
    """
    m = len(codes)
    classes = number_rows(codes)
    entry = classes if units is None else number_rows([units, classes])
    first, records = find_first_rows(entry), np.bincount(entry)
    values = [int(column.max(initial=0)) + 1 for column in codes]
    order = np.argsort(values, kind="stable")  # columns of many values are split first, those of few values last
    owners = np.arange(first.size) if units is None else units[first]
    counts = records if units is None else np.ones(first.size, np.int64)
    table = np.stack([codes[j][first] for j in order]).astype(np.int32)
    entries = Entries(table, owners.astype(np.int64), counts, records)
    number = sum(math.comb(m, size) for size in range(1, max_size + 1))
    found = Found(
        masks=np.zeros(number, np.int64),
        figures=np.zeros((number, len(FIGURES)), np.int64),
        minimal=np.zeros(number, np.int64),
        scores=np.zeros(first.size),
        shares=np.zeros((first.size, m)),
    )
    walk_subsets(
        entries, max(values), max_size, found, points, work_for(walk_at, max_size + 1, first.size, max(values))
    )
    members = np.empty((number, m), bool)
    members[:, order] = found.masks[:, None] >> np.arange(m) & 1
    shares = np.empty_like(found.shares)
    shares[:, order] = found.shares
    ranked = _small_first(members)
    figures = dict(zip(FIGURES, found.figures[ranked].T, strict=True))
    return Subsets(members[ranked], figures, found.minimal[ranked], found.scores[entry], shares[entry])


def _small_first(members: np.ndarray) -> np.ndarray:
    """Small subsets first, those of a size by their columns."""
    return np.lexsort((*~members.T[::-1], members.sum(axis=1)))


def match(
    codes: Sequence[np.ndarray], missing: Sequence[int], alpha: float, max_size: int, points: np.ndarray
) -> Subsets:
    """The same as `walk`, where a missing cell matches every value, as in `frequencies.count_matches`.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.subsets import match
    >>> from mag.risk.suda import points_by_size
    >>> sex, age = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 2])      # the last age is missing
    >>> match([sex, age], [-1, 2], 1.0, 2, points_by_size(2)).scores.tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    m, classes = len(codes), number_rows(codes)
    first, counts = find_first_rows(classes), np.bincount(classes).astype(np.float64)
    kinds = [column[first] for column in codes]
    blank = np.stack([kind == code for kind, code in zip(kinds, missing, strict=True)], axis=1)
    scores, shares = np.zeros(first.size), np.zeros((first.size, m))
    members, rows, minimal = [], [], []
    smaller: dict[tuple[int, ...], np.ndarray] = {(): np.zeros(first.size, bool)}
    for size in range(1, max_size + 1):
        unique: dict[tuple[int, ...], np.ndarray] = {}
        for subset in itertools.combinations(range(m), size):
            own, chosen = [kinds[j] for j in subset], list(subset)
            f = match_kinds(own, blank[:, chosen], counts[:, None], alpha)[:, 0]
            unique[subset] = f == 1
            below = np.logical_or.reduce([smaller[subset[:j] + subset[j + 1 :]] for j in range(size)])
            new = unique[subset] & ~below
            scores[new] += points[size]
            shares[np.ix_(new, chosen)] += points[size]
            members.append(np.isin(np.arange(m), chosen))
            few = [int(counts[f < limit].sum()) for limit in (2, 3, 5)]
            rows.append((int(number_rows(own).max()) + 1, f.min(), *few))
            minimal.append(int(counts[new].sum()))
        smaller = unique
    figures = {name: np.array(column) for name, column in zip(FIGURES, zip(*rows, strict=True), strict=True)}
    return Subsets(np.array(members), figures, np.array(minimal), scores[classes], shares[classes])
