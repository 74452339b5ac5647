"""Records that may share a group: strata of `by`, patterns of missing cells, and the treatment of small strata."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mag._lib.errors import InputValueError
from mag._lib.number import number_rows


@dataclass(frozen=True)
class Strata:
    """`stratum` numbers, for each published record, the records that it may share a group with.

    `rows` are the published ones of `n` records; `blank` marks, for each column of `by`, the records that lose their
    value there.
    """

    n: int
    rows: np.ndarray
    stratum: np.ndarray
    blank: list[np.ndarray | None]

    @property
    def withheld(self) -> int:
        """How many records are not published."""
        return self.n - self.rows.size

    def without(self, strata: list[int]) -> "Strata":
        """The same without the records of these strata, which are withheld."""
        stays = ~np.isin(self.stratum, strata)
        blank = [None if one is None else one[stays] for one in self.blank]
        return Strata(self.n, self.rows[stays], number_rows([self.stratum[stays]]), blank)

    def members(self) -> list[np.ndarray]:
        """The places of the published records of each stratum."""
        order = np.argsort(self.stratum, kind="stable")
        return np.split(order, np.cumsum(sizes_of(self.stratum))[:-1])


def sizes_of(stratum: np.ndarray) -> np.ndarray:
    return np.bincount(stratum) if stratum.size else np.zeros(0, np.int64)


class SmallStrataError(InputValueError):
    """Strata of fewer than k records, or cells that only few records miss."""


def form_strata(
    n: int,
    by: list[np.ndarray],
    pattern: np.ndarray | None,
    rows: np.ndarray,
    too_small: Callable[[np.ndarray, np.ndarray], np.ndarray],
    policy: str,
) -> Strata:
    """Strata that are large enough.

    `too_small(rows, stratum)` says which strata are not.  They are an error, withheld, or pooled with each other (of
    one pattern), then with the next smallest.
    """
    parts = [codes[rows] for codes in by] + ([] if pattern is None else [pattern[rows]])
    stratum = number_rows(parts or [np.zeros(rows.size, np.int64)])
    blank: list[np.ndarray | None] = [None] * len(by)
    small = too_small(rows, stratum)
    if not small.any():
        return Strata(n, rows, stratum, blank)
    if policy == "suppress":
        while small.any():
            stays = ~small[stratum]
            rows, stratum = rows[stays], number_rows([stratum[stays]])
            small = too_small(rows, stratum)
        return Strata(n, rows, stratum, blank)
    if policy == "merge":
        stratum = _merge_small(pattern, rows, stratum, small, too_small)
        return Strata(n, rows, stratum, [_mixed_records(codes[rows], stratum) for codes in by])
    records = int(sizes_of(stratum)[small].sum())
    are = "is" if small.sum() == 1 else "are"
    raise SmallStrataError(
        f"{int(small.sum())} of {small.size} strata {are} too small, with {records} of {n} records in all"
    )


def _merge_small(
    pattern: np.ndarray | None,
    rows: np.ndarray,
    stratum: np.ndarray,
    small: np.ndarray,
    too_small: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Pools of small strata; a pool that is small itself takes the smallest other stratum of its pattern."""
    kind = np.zeros(small.size, np.int64)
    if pattern is not None:
        kind[stratum] = pattern[rows]
    sizes = sizes_of(stratum)
    pool = np.arange(small.size)
    for one in np.unique(kind[small]):
        members = np.flatnonzero(small & (kind == one))
        others = np.flatnonzero(~small & (kind == one))
        others = others[np.argsort(sizes[others], kind="stable")].tolist()
        while True:
            pool[members] = members[0]
            joint = pool[stratum]
            inside = np.isin(joint, members[:1])
            if not too_small(rows[inside], np.zeros(int(inside.sum()), np.int64))[0]:
                break
            if not others:
                raise SmallStrataError(
                    f"even together, {sizes[members].sum()} records that miss the same cells are too few"
                    if pattern is not None
                    else f"even all {sizes[members].sum()} records together are too few"
                )
            members = np.append(members, others.pop(0))
    return number_rows([pool[stratum]])


def _mixed_records(codes: np.ndarray, stratum: np.ndarray) -> np.ndarray | None:
    """Records of strata that hold more than one value; None if there is no such stratum."""
    low = np.full(int(stratum.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(low.size, -1)
    np.minimum.at(low, stratum, codes)
    np.maximum.at(high, stratum, codes)
    mixed = (low < high)[stratum]
    return mixed if mixed.any() else None
