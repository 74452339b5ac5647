"""Records that may share a group: strata of `by`, patterns of missing cells, and what becomes of small ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mag._lib.errors import ValueMistake


@dataclass(frozen=True)
class Strata:
    """`cell` numbers, for each published record, the records that it may share a group with.

    `rows` are the published records; `blank` says, for each column of `by`, which of them lose their value there.
    """

    rows: np.ndarray
    cell: np.ndarray
    blank: list[np.ndarray | None]


def dense(codes: np.ndarray) -> np.ndarray:
    """The same classes, numbered 0, 1, … without gaps."""
    if codes.size == 0:
        return codes
    if (high := int(codes.max())) < 4 * codes.size:
        seen = np.zeros(high + 1, np.int64)
        seen[codes] = 1
        return (np.cumsum(seen) - 1)[codes]
    return np.unique(codes, return_inverse=True)[1]


def combined(parts: list[np.ndarray]) -> np.ndarray:
    """One number for every combination; pairs of numbers never collide, as strings put together could."""
    cell, *others = map(dense, parts)
    for codes in others:
        cell = dense(cell * (int(codes.max(initial=0)) + 1) + codes)
    return cell


def sizes_of(cell: np.ndarray) -> np.ndarray:
    return np.bincount(cell) if cell.size else np.zeros(0, np.int64)


class SmallStrata(ValueMistake):
    """Strata of fewer than k records, or cells that only few records miss."""


def settled(
    by: list[np.ndarray],
    pattern: np.ndarray | None,
    rows: np.ndarray,
    too_small: Callable[[np.ndarray, np.ndarray], np.ndarray],
    policy: str,
) -> Strata:
    """Strata that are large enough.

    `too_small(rows, cell)` says which cells are.  Small ones are an error, withheld, or pooled with each other (of one
    pattern), then with the next smallest.
    """
    n = by[0].size if by else (rows.max(initial=-1) + 1)
    parts = [codes[rows] for codes in by] + ([] if pattern is None else [pattern[rows]])
    cell = combined(parts or [np.zeros(rows.size, np.int64)])
    blank: list[np.ndarray | None] = [None] * len(by)
    small = too_small(rows, cell)
    if not small.any():
        return Strata(rows, cell, blank)
    if policy == "suppress":
        while small.any():
            stays = ~small[cell]
            rows, cell = rows[stays], dense(cell[stays])
            small = too_small(rows, cell)
        return Strata(rows, cell, blank)
    if policy == "merge":
        cell = _merged(pattern, rows, cell, small, too_small)
        return Strata(rows, cell, [_mixed(codes[rows], cell) for codes in by])
    records = int(sizes_of(cell)[small].sum())
    are = "is" if small.sum() == 1 else "are"
    raise SmallStrata(
        f"{int(small.sum())} of {small.size} strata {are} too small, with {records} of {n} records in all"
    )


def _merged(
    pattern: np.ndarray | None,
    rows: np.ndarray,
    cell: np.ndarray,
    small: np.ndarray,
    too_small: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Pools of small cells; a pool that is small itself takes the smallest other cell of its pattern."""
    kind = np.zeros(small.size, np.int64)
    if pattern is not None:
        kind[cell] = pattern[rows]
    sizes = sizes_of(cell)
    pool = np.arange(small.size)
    for one in np.unique(kind[small]):
        members = np.flatnonzero(small & (kind == one))
        others = np.flatnonzero(~small & (kind == one))
        others = others[np.argsort(sizes[others], kind="stable")].tolist()
        while True:
            pool[members] = members[0]
            joint = pool[cell]
            inside = np.isin(joint, members[:1])
            if not too_small(rows[inside], np.zeros(int(inside.sum()), np.int64))[0]:
                break
            if not others:
                raise SmallStrata(
                    f"even together, {sizes[members].sum()} records that miss the same cells are too few"
                    if pattern is not None
                    else f"even all {sizes[members].sum()} records together are too few"
                )
            members = np.append(members, others.pop(0))
    return dense(pool[cell])


def _mixed(codes: np.ndarray, cell: np.ndarray) -> np.ndarray | None:
    """Records of cells that hold more than one value; None if there are none."""
    low = np.full(int(cell.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(low.size, -1)
    np.minimum.at(low, cell, codes)
    np.maximum.at(high, cell, codes)
    mixed = (low < high)[cell]
    return mixed if mixed.any() else None
