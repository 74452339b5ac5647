"""The number of equal records, counted on the table to be published: a distributed group-by of hashed records."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from mag._lib.errors import InputValueError, NotAnonymousError
from mag._lib.roles import assign_roles
from mag._lib.rowhash import HashedClasses, add_classes, count_classes
from mag.distributed import _units
from mag.distributed._cells import hash_records
from mag.distributed._frames import read_units
from mag.distributed._graph import Key, Tasks

Totals = tuple[int, int, int]  # the smallest class, the number of classes below k, and the number of all classes


def columns_to_compare(columns: Any, known: Sequence[Hashable], unit: Hashable | None = None) -> list[Hashable]:
    """The columns that records are compared in, at least one: by default all but that of units.

    Records without a cell would be equal, and pass for any k.
    """
    if columns is None:
        columns = [name for name in known if unit is None or name != unit]
        if columns:
            return columns
    return assign_roles({"columns": columns, "others": ()}, known, "X", rest="others")["columns"]


def count_records(t: Tasks, keys: list[Any], k: int) -> Key:
    """Key of the totals of blocks or partitions."""
    dealt = t.each("dealt", _deal, t.each("counted", _count, keys), len(keys))
    together = t.each("together", add_classes, t.exchange("piece", dealt, len(keys)))
    return _total(t, t.each("sizes", _sizes, together), k)


def count_records_of_units(t: Tasks, keys: list[Any], owners: list[Any], name: Any, k: int) -> Key:
    """As `count_records` of units: they are counted once in every class, whatever their partitions."""
    units = read_units(t, owners, name)
    counted = [t.add("counted", [p], _units.count_units, key, units[p]) for p, key in enumerate(keys)]
    dealt = t.each("dealt", _units.deal, counted, _edges(len(keys)))
    together = t.each("together", _units.unite, t.exchange("piece", dealt, len(keys)))
    return _total(t, t.each("sizes", _units.sizes, together), k)


def judge(totals: Totals, k: int, what: str) -> int:
    """The smallest of the sizes of all classes; raise an error below k."""
    smallest, below, classes = totals
    if not classes:
        raise InputValueError("X must hold at least one record; got none.")
    if smallest < k:
        where = f"in {below} of {classes} classes"
        raise NotAnonymousError(
            f"The smallest class of equal records must have k={k} {what} or more; got {smallest}, {where}."
        )
    return smallest


def _total(t: Tasks, sizes: list[Any], k: int) -> Key:
    return t.decide("all", [], _all, t.each("total", _summarize, sizes, k))


def _count(block: Any) -> HashedClasses:
    return count_classes(hash_records(block))


def _deal(counted: HashedClasses, ranges: int) -> list[HashedClasses]:
    """The classes by ranges of their first hashes."""
    cuts = np.searchsorted(counted.first, _edges(ranges))
    split = [np.split(array, cuts) for array in counted]
    return [HashedClasses(*arrays) for arrays in zip(*split, strict=True)]


def _edges(ranges: int) -> np.ndarray:
    """The first hash of every range but the first."""
    return np.array([np.uint64(r * 2**64 // ranges) for r in range(1, ranges)], np.uint64)


def _sizes(counted: HashedClasses) -> np.ndarray:
    return counted.sizes


def _summarize(sizes: np.ndarray, k: int) -> Totals:
    """The smallest class, the number of classes below k, and the number of all classes."""
    return int(sizes.min(initial=2**63 - 1)), int((sizes < k).sum()), sizes.size


def _all(totals: list[Totals]) -> Totals:
    return min(total[0] for total in totals), sum(total[1] for total in totals), sum(total[2] for total in totals)
