"""Two releases of the same people: the classes that are left to someone who links their records."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mag._lib.errors import InputValueError


class LinkedCounts(NamedTuple):
    """What someone with two releases learns, as counts; a linked class is equal in both.

    `both`, `only_new`, `only_old` : records of both releases, or of one; `smallest` : the smallest linked class;
    `below_k` : records of the new release in linked classes of fewer than k; `alone` : those of them in a linked class
    of their own; `gone_below_k` : records of the old release alone, which fewer than k of a class have left.
    """

    both: int
    only_new: int
    only_old: int
    smallest: int
    below_k: int
    alone: int
    gone_below_k: int


def count_linked_classes(
    new: Sequence[int], new_keys: Sequence[Hashable], old: Sequence[int], old_keys: Sequence[Hashable], k: int
) -> LinkedCounts:
    """From the class number of every record of both releases, and the key that links it."""
    old_class = _by_key(old, old_keys, "old")
    known = _by_key(new, new_keys, "new")
    pairs = [(own, old_class.get(key)) for key, own in known.items()]
    gone = [own for key, own in old_class.items() if key not in known]
    sizes, left = _sizes(pairs), _sizes(gone)
    only_new = sum(other is None for _, other in pairs)
    return LinkedCounts(
        both=len(pairs) - only_new,
        only_new=only_new,
        only_old=len(gone),
        smallest=int(min([*sizes, *left], default=0)),
        below_k=int((sizes < k).sum()),
        alone=int((sizes == 1).sum()),
        gone_below_k=int((left < k).sum()),
    )


def _by_key(classes: Sequence[int], keys: Sequence[Hashable], release: str) -> dict[Hashable, int]:
    found = dict(zip(keys, classes, strict=True))
    if len(found) < len(keys):
        raise InputValueError(
            f"id must have a different value in every record of the {release} release; {len(keys) - len(found)} "
            "records repeat one."
        )
    return found


def _sizes(members: Sequence[Any]) -> np.ndarray:
    """The size of the class of every member."""
    numbers = {member: number for number, member in enumerate(dict.fromkeys(members))}
    own = np.fromiter((numbers[member] for member in members), np.int64, len(members))
    return np.bincount(own)[own] if own.size else own
