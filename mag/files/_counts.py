"""Classes of equal records in a file that was read back: how many there are of each size."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

Histogram = dict[int, int]  # size of a class → how many classes have it


def of_text(blocks: "Iterable[pl.DataFrame]") -> Histogram:
    """Of records that need not fit into memory: by two independent hashes, 128 bits, of their cells.

    Two of a million different records have the same hashes with a probability of 2**-89.
    """
    import polars as pl

    hashes = [pl.DataFrame({"a": cells.hash_rows(1), "b": cells.hash_rows(2)}) for cells in blocks]
    return of_frame(pl.concat(hashes), ["a", "b"])


def of_frame(frame: "pl.DataFrame", columns: Sequence[str]) -> Histogram:
    """Of the values as they are stored: missing is a value, and −0.0 is not 0.0."""
    import polars as pl

    keys = [pl.col(name) for name in columns]
    for name in columns:
        if frame[name].dtype.is_float():
            negative = (pl.col(name) == 0) & (1 / pl.col(name) < 0)
            keys += [negative.alias(f"-0 {name}")] if frame.select(negative.any()).item() else []
    sizes = frame.select(columns).group_by(keys).len()["len"]
    return {int(size): int(count) for size, count in sizes.value_counts().sort("len").iter_rows()}


def smallest(histogram: Histogram) -> int:
    """The size of the smallest class; 0 without records."""
    return min(histogram, default=0)


def below(histogram: Histogram, k: int) -> int:
    """How many records are in classes of fewer than k."""
    return sum(size * count for size, count in histogram.items() if size < k)
