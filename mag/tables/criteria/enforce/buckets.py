"""Buckets first: every group draws records from several parts of the sensitive values, nearest to a seed.

For closeness (Soria-Comas et al. 2015, "t-closeness first"), records are sorted by their sensitive values into b
buckets of equal size, and a group takes equally many of each.  If all values differ and b divides n, its distance from
the table is at most (n − b) / (2b (n − 1)) for ordered values; with ties over distinct values (n − b) / (b n).  The
paper takes one record of each of max(k, b) buckets; ⌈k/b⌉ records of each of b buckets have the same bound, and groups
that lose less.  For diversity, the buckets are the values (Xiao & Tao 2006, "Anatomy").

Seeds are those of MDAV: the record farthest from the centroid of those that are left, then the one farthest from that.
Remaining records go to the nearest group; `merge` repairs groups that then fail.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.entropy import Entropy
from mag.tables.criteria.equal import Equal
from mag.tables.criteria.recursive import Recursive

Take: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray | None]  # records left, distances → places of a group
FIRST_SEARCH_TIMES_K = 16  # search this many times k records first for enough distinct values
TRIES = 4  # numbers of buckets, each half as many again as the one before


def group_by_buckets(z: np.ndarray, k: int, constraint: Constraint) -> list[np.ndarray]:
    """Some groupings of at least k records, by labels 0, 1, …; the caller picks the best."""
    criterion, rules = constraint.criterion, list[Take]()
    if isinstance(criterion, Distinct):
        rules = [take_values(constraint.codes, k, criterion.l)]
    elif isinstance(criterion, (Entropy, Recursive)):
        different = math.ceil(criterion.l)
        if isinstance(criterion, Recursive):
            different += math.floor(1 / criterion.c)
        rules = [take_values(constraint.codes, k, different), take_largest(constraint.codes, k, different)]
    else:
        rules = [take_each(buckets_of(constraint, b), b, -(-k // b)) for b in numbers_of_buckets(constraint, k)]
    drawn: list[np.ndarray] = []
    for rule in rules:
        drawn.append(draw_groups(z, k, rule))
        if constraint.judge_groups(drawn[-1])[0].all():
            break
    return drawn


# ---- which records a group takes


def take_values(codes: np.ndarray, k: int, different: int) -> Take:
    """The k nearest records that have at least this number of values: of all such sets the nearest to the seed."""

    def take(left: np.ndarray, away: np.ndarray) -> np.ndarray | None:
        order = _nearest(np.arange(left.size), away, min(left.size, FIRST_SEARCH_TIMES_K * max(k, different)))
        if np.unique(codes[left[order]]).size < different:
            order = np.argsort(away, kind="stable")
        firsts = np.sort(np.unique(codes[left[order]], return_index=True)[1])[:different]
        if firsts.size < different:
            return None
        others = np.delete(order, firsts)[: max(k - different, 0)]
        return np.concatenate([order[firsts], others])

    return take


def take_largest(codes: np.ndarray, k: int, different: int) -> Take:
    """Equally many records of each of the values that most of the records left have."""
    each = -(-k // different)

    def take(left: np.ndarray, away: np.ndarray) -> np.ndarray | None:
        own = codes[left]
        counts = np.bincount(own)
        largest = np.argsort(-counts, kind="stable")[:different]
        if largest.size < different or counts[largest[-1]] < each:
            return None
        return np.concatenate([_nearest(np.flatnonzero(own == value), away, each) for value in largest.tolist()])

    return take


def take_each(buckets: np.ndarray, b: int, each: int) -> Take:
    """Equally many records of each bucket."""

    def take(left: np.ndarray, away: np.ndarray) -> np.ndarray | None:
        own = buckets[left]
        places = [np.flatnonzero(own == bucket) for bucket in range(b)]
        if min(place.size for place in places) < each:
            return None
        return np.concatenate([_nearest(place, away, each) for place in places])

    return take


def _nearest(places: np.ndarray, away: np.ndarray, many: int) -> np.ndarray:
    """Of these places the nearest, in order; ties go to the first."""
    distances = away[places]
    if places.size > many:
        near = distances <= np.partition(distances, many - 1)[many - 1]
        places, distances = places[near], distances[near]
    return places[np.argsort(distances, kind="stable")[:many]]


def draw_groups(z: np.ndarray, k: int, take: Take) -> np.ndarray:
    """Form groups by a rule while it finds records; the rest is a group, or goes to the nearest groups."""
    n = len(z)
    labels, left, total, n_groups = np.zeros(n, np.int64), np.arange(n), z.sum(axis=0), 0
    means: list[np.ndarray] = []
    seed = z[0]
    while left.size >= k:  # a rule may take all records that are left
        rest = z[left]
        origin = total / left.size if n_groups % 2 == 0 else seed
        seed = rest[np.argmax(np.square(rest - origin).sum(axis=1))]
        places = take(left, np.square(rest - seed).sum(axis=1))
        if places is None:
            break
        labels[left[places]] = n_groups
        means.append(rest[places].mean(axis=0))
        total = total - rest[places].sum(axis=0)
        left = np.delete(left, places)
        n_groups += 1
    if left.size >= k or not n_groups:
        labels[left] = n_groups
    else:
        centers = np.stack(means)
        for record in left.tolist():
            labels[record] = np.argmin(np.square(centers - z[record]).sum(axis=1))
    return labels


# ---- buckets of equal size


def numbers_of_buckets(constraint: Constraint, k: int) -> list[int]:
    """From the fewest buckets that suffice if all values differ, to those that suffice with ties."""
    n = constraint.codes.size
    t: Fraction = constraint.criterion.t  # type: ignore[attr-defined]
    room = t - Fraction(constraint.whole[1])  # a stratum is apart from the table itself
    if room <= 0 or n < 2 * k:
        return []
    b = max(2, math.ceil(n / (2 * (n - 1) * room + 1)))
    most = math.ceil(n / (n * room + 1))
    if isinstance(constraint.criterion, Equal):
        most = max(most, math.ceil((int(np.count_nonzero(np.bincount(constraint.codes))) - 1) / room))
    tried: list[int] = []
    while len(tried) < TRIES and b <= n // 2:
        tried.append(b)
        if b >= most:
            break
        b = min(max(b + 1, 3 * b // 2), most)
    return tried


def buckets_of(constraint: Constraint, b: int) -> np.ndarray:
    """The bucket of every record: sizes differ by 1 at most, values are in order."""
    n = constraint.codes.size
    rank = np.empty(n, np.int64)
    rank[np.argsort(constraint.codes, kind="stable")] = np.arange(n)
    return rank * b // n
