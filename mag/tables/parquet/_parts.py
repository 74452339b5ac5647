"""Records of a file in parts that fit into memory: which part a record belongs to, and files for the parts.

Strata that are small share a part; a larger one is halved at medians of a sample (`methods/distances/partition`).
Every part holds whole strata, or 2k records, units and households or more of a stratum, counted after the deal: no
group is smaller than k.
"""

import hashlib
import pathlib
import shutil
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mag._lib.cells import hash_rows
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.number import find_first_rows, number_rows
from mag._lib.wording import named
from mag.frames import Frame, frame_of
from mag.frames.units import RefusedColumnError
from mag.methods.distances import partition
from mag.methods.distances.partition import (
    PER_PART,
    ChunkFacts,
    LeafUnits,
    Records,
    SplitTree,
    Transform,
    list_owners,
    list_units,
)


@dataclass(frozen=True)
class Measured:
    """Results of the first two reads of a file: units of the columns, strata with their sizes, and a sample."""

    transform: Transform
    strata: "StratumNumbers"
    sample: np.ndarray
    sampled_strata: np.ndarray


@dataclass(frozen=True)
class Block:
    """Some records of a file: the columns to mask as numbers, and which of their cells are missing, (n, d).

    `missing` is None if no cell is.
    """

    frame: Frame
    records: Records
    missing: np.ndarray | None = None

    def present(self) -> Records:
        """The cells of every column that are not missing."""
        if self.missing is None:
            return self.records
        return [column[~absent] for column, absent in zip(self.records, self.missing.T, strict=True)]

    def fill(self, transform: Transform) -> Records:
        """The columns; a missing cell is the smallest value, the same in all records of its stratum: no cut sees it."""
        if self.missing is None:
            return self.records
        columns = zip(self.records, self.missing.T, transform.low, strict=True)
        return [np.where(absent, low, column).astype(column.dtype) for column, absent, low in columns]


class StratumNumbers:
    """Numbers for the combinations of values of `by` and of missing cells, the same in every block."""

    def __init__(self, by: Sequence[Hashable]) -> None:
        self.by = list(by)
        self._numbers: dict[Any, int] = {}
        self.sizes = np.zeros(0, np.int64)
        self.by_missing = False  # whether any cell is missing

    def number(self, block: Block) -> np.ndarray:
        """The stratum of every record of a block."""
        frame = block.frame
        parts = [frame.column(name).codes() for name in self.by]
        bits = np.packbits(np.zeros((frame.n, 0), bool) if block.missing is None else block.missing, axis=1)
        local = number_rows([*parts, *bits.T.astype(np.int64)] or [np.zeros(frame.n, np.int64)])
        first = find_first_rows(local)
        patterns = [row.tobytes().rstrip(b"\0") for row in bits[first]]  # none missing: the same with and without bits
        few = frame_of(frame.native.select(self.by).take(first))
        cells = [few.column(name).exact_cells() for name in self.by]  # type: ignore[attr-defined]
        keys = zip(patterns, *[[_key(cell) for cell in column] for column in cells], strict=True)
        return np.array([self._numbers.setdefault(key, len(self._numbers)) for key in keys], np.int64)[local]

    def count(self, block: Block) -> None:
        """Add the records of a block to the sizes."""
        found = np.bincount(self.number(block), minlength=len(self._numbers))
        found[: self.sizes.size] += self.sizes
        self.sizes, self.by_missing = found, self.by_missing or block.missing is not None


def _key(cell: Any) -> Any:
    if isinstance(cell, list):
        return tuple(map(_key, cell))
    if isinstance(cell, dict):
        return tuple((name, _key(value)) for name, value in cell.items())
    return cell.hex() if isinstance(cell, float) else (type(cell), cell)


def read_block(table: Any, names: Sequence[Hashable], missing: str) -> Block:
    """A block with its columns to mask as numbers; missing cells are an error unless `missing` is "group"."""
    frame, records, masks = frame_of(table), [], []
    for name in names:
        try:
            units = frame.column(name).units()
        except RefusedColumnError as refused:
            raise InputTypeError(f"columns must hold numbers, dates or times; {name!r} holds {refused}.") from None
        if units.missing is not None and missing != "group":
            raise InputValueError(
                f"column {name!r} has missing values; pass {named('missing', 'group')} to group records that miss the "
                "same cells."
            )
        if units.values.dtype not in (np.float64, np.int64, np.uint64):
            raise InputValueError(
                f"column {name!r} must hold numbers of at most 64 bits where a file is masked jointly."
            )
        records.append(units.values)
        masks.append(np.zeros(frame.n, bool) if units.missing is None else units.missing)
    absent = np.column_stack(masks)
    return Block(frame, records, absent if absent.any() else None)


def examine(
    blocks: Iterator[Block], names: list[Any], by: Sequence[Hashable], k: int
) -> tuple[Transform, StratumNumbers]:
    """The range of every column and the strata; raise one error if they are not supported."""
    strata = StratumNumbers(by)
    facts: list[ChunkFacts] = []
    for block in blocks:
        facts.append(partition.examine_chunk(block.present(), block.frame.n))
        strata.count(block)
    transform = partition.locate_columns(facts, names, k)
    partition.require_strata(strata.sizes, k, strata.by_missing)
    return transform, strata


def measure(
    blocks: Iterator[Block], transform: Transform, strata: StratumNumbers, standardize: bool, most: int
) -> Measured:
    """Deviations of the columns, and some records at random."""
    moments, rows, records, numbers = [], [], [], []
    share = min(1.0, 2 * PER_PART / most)
    for chunk, block in enumerate(blocks):
        own, n = block.fill(transform), block.frame.n
        present = True if block.missing is None else ~block.missing
        moments.append(partition.compute_moments(own, transform, present))
        count = -int(-n * share // 1)
        some = np.sort(np.random.default_rng([0, chunk]).choice(n, count, replace=False))
        records.append([column[some] for column in own])
        numbers.append(strata.number(block)[some])
        rows.append(transform.before[chunk] + some)
    transform = partition.measure_units(moments, transform, standardize)
    columns = [np.concatenate(column) for column in zip(*records, strict=True)]
    sample = partition.add_chance(partition.standardize_records(columns, transform), np.concatenate(rows))
    return Measured(transform, strata, sample, np.concatenate(numbers))


@dataclass(frozen=True)
class SplitStratum:
    """A stratum with records of its own parts: where its leaves begin, and its halves."""

    stratum: int
    first: int
    tree: SplitTree | None
    leaves: int


class ListedOwners:
    """Different units, or households, of every leaf and of every stratum, at most 2k of each: enough to count 2k.

    `option` names what they are, and `least` the option whose value is k.
    """

    def __init__(self, name: Hashable, option: str, least: str, k: int) -> None:
        self.name, self._option, self._least, self._k = name, option, least, k
        self._of_leaves = self._of_strata = LeafUnits(np.zeros(0, np.int64), np.zeros(0, np.uint64))

    def add(self, block: Block, leaf: np.ndarray, stratum: np.ndarray) -> None:
        """Add the records of a block, with their leaves and strata."""
        numbers = hash_rows(block.frame.native, [self.name])[0]
        self._of_leaves, self._of_strata = (
            list_units(np.append(listed.leaf, place), np.append(listed.unit, numbers), self._k)
            for listed, place in ((self._of_leaves, leaf), (self._of_strata, stratum))
        )

    def by_leaf(self, n: int) -> list[np.ndarray]:
        """Those of each of n leaves."""
        return list_owners([self._of_leaves], n)

    def has_few(self, owners: list[np.ndarray], leaves: list[int]) -> bool:
        """Whether these leaves together have fewer than 2k."""
        return np.unique(np.concatenate([owners[leaf] for leaf in leaves])).size < 2 * self._k

    def require_strata(self) -> None:
        """Raise an error where a stratum has fewer than k."""
        counts, k = np.bincount(self._of_strata.leaf), self._k
        if small := int((counts < k).sum()):
            if counts.size == 1:
                raise InputValueError(
                    f"{self._least} must be an integer in [1, the number of {self._option}s={counts[0]}]; got {k}."
                )
            raise InputValueError(
                f"every stratum must have at least {self._least}={k} {self._option}s: {small} of {counts.size} strata "
                f"{'has' if small == 1 else 'have'} fewer; use fewer columns in by, or a smaller {self._least}."
            )


class Partitioning:
    """The leaf of every record; a part is one leaf or several."""

    def __init__(self, measured: Measured, k: int, most: int, owners: Sequence[ListedOwners] = ()) -> None:
        self.transform, self.strata, self.k, self.owners = measured.transform, measured.strata, k, owners
        sizes = self.strata.sizes
        large = np.flatnonzero(sizes > most)
        self._shared, self.n_shared = _fill_parts(sizes, most)
        self.split_strata: list[SplitStratum] = []
        first = self.n_shared
        for s in large.tolist():
            own = measured.sample[measured.sampled_strata == s]
            halves = (
                partition.grow_tree([own], replace(self.transform, n=int(sizes[s])), 2**30, k, most)
                if own.size
                else None
            )
            self.split_strata.append(SplitStratum(s, first, halves, _count(halves)))
            first += self.split_strata[-1].leaves
        self.counts = np.zeros(first, np.int64)

    def assign(self, block: Block, first: int) -> np.ndarray:
        """Assign the records of a block to leaves, and count them."""
        stratum, records = self.strata.number(block), block.fill(self.transform)
        leaf = self._shared[stratum].astype(np.int64)
        for whole in self.split_strata:
            rows = np.flatnonzero(stratum == whole.stratum)
            z = partition.standardize_records([column[rows] for column in records], self.transform)
            leaf[rows] = whole.first + partition.find_leaves(partition.add_chance(z, first + rows), whole.tree)
        self.counts += np.bincount(leaf, minlength=self.counts.size)
        for own in self.owners:
            own.add(block, leaf, stratum)
        return leaf

    def parts(self) -> Iterator[tuple[list[int], int | None]]:
        """The leaves of every part, and how many records its stratum has; None where a part has several strata."""
        for own in self.owners:
            own.require_strata()
        for leaf in range(self.n_shared):
            if self.counts[leaf]:
                yield [leaf], None
        listed = [(own, own.by_leaf(self.counts.size)) for own in self.owners]
        for whole in self.split_strata:
            leaves = np.arange(whole.first, whole.first + whole.leaves)

            def is_small(places: list[int], leaves: np.ndarray = leaves) -> bool:
                few = self.counts[leaves[places]].sum() < 2 * self.k
                return bool(few) or any(own.has_few(owners, leaves[places].tolist()) for own, owners in listed)

            for places in partition.settle_parts(whole.tree, is_small):
                yield leaves[places].tolist(), int(self.strata.sizes[whole.stratum])


def _fill_parts(sizes: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """The leaf of every stratum that fits into one, strata one after the other, and how many leaves that takes."""
    leaf, have, full = np.zeros(sizes.size, np.int64), 0, -1
    for s, size in enumerate(sizes.tolist()):
        if size <= most:
            if full < 0 or have + size > most:
                have, full = 0, full + 1
            leaf[s], have = full, have + size
    return leaf, full + 1


def _count(tree: SplitTree | None) -> int:
    return 1 if tree is None else sum(map(_count, tree.halves))


def parts_of(output: pathlib.Path) -> pathlib.Path:
    """The folder next to an output that holds its parts."""
    return output.with_name(f".{output.name}.parts")


class PartsFolder:
    """A folder that parts wait in, readable by the data holder alone; removed when the block ends."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def new_hash(self) -> Any:
        """A hash for the content of a column."""
        return hashlib.sha256()

    def remove(self) -> None:
        """Forget all parts; a link in place of the folder is not followed."""
        if self.folder.is_symlink() or self.folder.is_file():
            self.folder.unlink()
        shutil.rmtree(self.folder, ignore_errors=True)


class PartFiles(PartsFolder):
    """Tables that wait in files of a folder, one or several in each."""

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.remove()
        folder.mkdir(mode=0o700)

    def _file(self, kind: str, number: int) -> pathlib.Path:
        return self.folder / f"{kind}{number}.arrow"

    def add(self, kind: str, numbers: np.ndarray, table: Any) -> None:
        """Append every row of a table to the file of its number."""
        import pyarrow as pa

        order = np.argsort(numbers, kind="stable")
        table = table.take(pa.array(order)).combine_chunks()
        starts = np.flatnonzero(np.append(True, np.diff(numbers[order]) != 0)) if order.size else order
        for start, end in zip(starts.tolist(), [*starts[1:].tolist(), order.size], strict=True):
            path = self._file(kind, int(numbers[order[start]]))
            with open(path, "ab") as file, pa.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table.slice(start, end - start))

    def take(self, kind: str, numbers: Sequence[int], schema: Any) -> Any:
        """Read the rows of some files and remove the files."""
        import pyarrow as pa

        tables = [schema.empty_table()]
        for number in numbers:
            path = self._file(kind, number)
            if not path.exists():
                continue
            with pa.OSFile(str(path)) as file:
                while file.tell() < file.size():
                    tables.append(pa.ipc.open_stream(file).read_all())
            path.unlink()
        return pa.concat_tables(tables).combine_chunks()
