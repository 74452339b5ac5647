"""Classes of equal records in a file that was read back, counted by size."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from mag._lib.dtypes import describe_dtype

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from mag._lib.class_counter import ClassCounter
    from mag._lib.rowhash import HashedClasses

HASH_MEMORY, LEAST_HASH_MEMORY = 2**28, 2**24  # bytes for hashes of all sets of columns together, and of each
Histogram = dict[int, int]  # size of a class → how many classes have it
Sets = Sequence[Sequence[str]]  # of columns, each counted by itself


def count_texts(cells: "pl.DataFrame", sets: Sets) -> "list[HashedClasses]":
    """For each set of columns the classes of a block, by hashes, so that the cells need not stay in memory."""
    from mag._lib.rowhash import add_cells, new_hashes, shorten

    words = {name: [cells[name].alias("").hash(seed).to_numpy() for seed in (1, 2)] for name in cells.columns}
    counted = []
    for columns in sets:
        if len(columns) == 1:
            counted.append(shorten(words[columns[0]]))
            continue
        hashes = new_hashes(cells.height)
        for name in columns:
            add_cells(hashes, *words[name])
        counted.append(shorten(hashes))
    return counted


def count_rows(block: "pa.Table", sets: Sets) -> "list[HashedClasses]":
    """The same of a block of pyarrow, by the values as they are stored."""
    from mag._lib.cells import hash_rows
    from mag._lib.rowhash import shorten

    return [shorten(hash_rows(block, columns)) for columns in sets]


def add_blocks(blocks: "Iterable[list[HashedClasses]]", n_sets: int) -> list[Histogram]:
    """For each set of columns, the classes of all blocks' records."""
    from mag._lib.class_counter import ClassCounter

    counters = [ClassCounter(max(HASH_MEMORY // n_sets, LEAST_HASH_MEMORY)) for _ in range(n_sets)]
    for block in blocks:
        for counter, own in zip(counters, block, strict=True):
            counter.add(own)
    with ThreadPoolExecutor() as pool:
        return list(pool.map(_histogram, counters))


def _histogram(counter: "ClassCounter") -> Histogram:
    import numpy as np

    histogram: Histogram = {}
    for sizes in counter.sizes():
        counts = np.bincount(sizes)
        for size in np.flatnonzero(counts).tolist():
            histogram[size] = histogram.get(size, 0) + int(counts[size])
    return histogram


def of_frame(frame: "pl.DataFrame", columns: Sequence[str]) -> Histogram:
    """Of the values as they are stored: missing is a value, and floats are their bits, so that −0.0 is not 0.0."""
    import polars as pl

    cells = [_bits(frame.get_column(name)).alias(f"{place}") for place, name in enumerate(columns)]
    sizes = pl.DataFrame(cells).group_by(pl.all()).len()["len"]
    return {int(size): int(count) for size, count in sizes.value_counts().sort("len").iter_rows()}


def _bits(column: "pl.Series") -> "pl.Series":
    """The column with its floats, also those in lists and structures, as integers of the same bits."""
    import polars as pl

    kind = describe_dtype(column.dtype)
    if "Float" not in kind and "Map" not in kind:
        return column
    array = column.to_arrow()
    return pl.Series(array.view(_bit_type(array.type)))


def _bit_type(stored: "pa.DataType") -> "pa.DataType":
    import pyarrow as pa

    if pa.types.is_floating(stored):
        return {16: pa.uint16(), 32: pa.uint32(), 64: pa.uint64()}[stored.bit_width]
    if pa.types.is_struct(stored):
        return pa.struct([field.with_type(_bit_type(field.type)) for field in stored])
    if pa.types.is_map(stored):
        return pa.list_(stored.field(0).with_type(_bit_type(stored.field(0).type)))
    if pa.types.is_nested(stored):
        inner = stored.value_field.with_type(_bit_type(stored.value_type))
        return pa.list_(inner, stored.list_size) if pa.types.is_fixed_size_list(stored) else pa.large_list(inner)
    return stored


def smallest(histogram: Histogram) -> int:
    """The size of the smallest class; 0 without records."""
    return min(histogram, default=0)


def below(histogram: Histogram, k: int) -> int:
    """How many records are in classes of fewer than k."""
    return sum(size * count for size, count in histogram.items() if size < k)
