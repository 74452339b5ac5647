"""Classes of equal records in a file that was read back: how many there are of each size."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

Histogram = dict[int, int]  # size of a class → how many classes have it


def hashes(cells: "pl.DataFrame", sets: Sequence[Sequence[str]]) -> "list[np.ndarray]":
    """64 bits for every record and set of columns, so that the cells need not stay in memory.

    A record that is too rare is overlooked only if its hash is that of another class; with a million of them that has
    a probability of 2**-44.
    """
    import numpy as np

    once = {name: cells[name].alias("").hash(seed=1).to_numpy() for name in cells.columns}
    hashed = []
    for columns in sets:
        mixed = np.zeros(cells.height, np.uint64)
        for name in columns:  # a polynomial of hashes: the order of columns matters
            mixed *= np.uint64(0x9E3779B97F4A7C15)
            mixed += once[name]
        hashed.append(mixed)
    return hashed


def together(blocks: "Iterable[list[np.ndarray]]") -> list[Histogram]:
    """For each set of columns, the classes of all blocks' records."""
    with ThreadPoolExecutor() as pool:
        return list(pool.map(_classes, zip(*blocks, strict=True)))


def _classes(parts: "Sequence[np.ndarray]") -> Histogram:
    import numpy as np

    every = np.concatenate(parts)
    every.sort()
    ends = np.flatnonzero(np.append(every[1:] != every[:-1], np.ones(min(every.size, 1), bool)))
    counts = np.bincount(np.diff(ends, prepend=-1))
    return {size: int(counts[size]) for size in np.flatnonzero(counts).tolist()}


def of_frame(frame: "pl.DataFrame", columns: Sequence[str]) -> Histogram:
    """Of the values as they are stored: missing is a value, and −0.0 is not 0.0."""
    import polars as pl

    cells = [
        frame.get_column(name).alias(f"{place}") for place, name in enumerate(columns)
    ]  # whatever their names mean
    for column in cells[:]:
        if column.dtype.is_float():
            negative = (column == 0) & (1 / column < 0)
            cells += [negative.alias(f"-{column.name}")] if negative.any() else []
    sizes = pl.DataFrame(cells).group_by(pl.all()).len()["len"]
    return {int(size): int(count) for size, count in sizes.value_counts().sort("len").iter_rows()}


def smallest(histogram: Histogram) -> int:
    """The size of the smallest class; 0 without records."""
    return min(histogram, default=0)


def below(histogram: Histogram, k: int) -> int:
    """How many records are in classes of fewer than k."""
    return sum(size * count for size, count in histogram.items() if size < k)
