"""Records of a file in parts that fit into memory: which part a record belongs to, and files for the parts.

Strata that are small share a part; a larger one is halved at medians of a sample (`methods/distances/partition`).
Every part holds whole strata, or 2k records or more of a stratum, counted after the deal: no group is smaller than k.
"""

import hashlib
import pathlib
import shutil
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.number import number_rows
from mag.frames import Frame, frame_of
from mag.frames.units import RefusedColumnError
from mag.methods.distances import partition
from mag.methods.distances.partition import PER_PART, ChunkFacts, Records, SplitTree, Transform


@dataclass(frozen=True)
class Measured:
    """Results of the first two reads of a file: units of the columns, strata with their sizes, and a sample."""

    transform: Transform
    strata: "StratumNumbers"
    sample: np.ndarray
    sampled_strata: np.ndarray


class StratumNumbers:
    """Numbers for the combinations of values of `by`, the same in every block."""

    def __init__(self, by: Sequence[Hashable]) -> None:
        self.by = list(by)
        self._numbers: dict[Any, int] = {}
        self.sizes = np.zeros(0, np.int64)

    def number(self, frame: Frame) -> np.ndarray:
        """The stratum of every record of a block."""
        if not self.by:
            self._numbers.setdefault((), 0)
            return np.zeros(frame.n, np.int64)
        local = number_rows([frame.column(name).codes() for name in self.by])
        _, first = np.unique(local, return_index=True)
        few = frame_of(frame.native.select(self.by).take(first))
        cells = [few.column(name).exact_cells() for name in self.by]  # type: ignore[attr-defined]
        keys = zip(*[[_key(cell) for cell in column] for column in cells], strict=True)
        return np.array([self._numbers.setdefault(key, len(self._numbers)) for key in keys], np.int64)[local]

    def count(self, frame: Frame) -> None:
        """Add the records of a block to the sizes."""
        found = np.bincount(self.number(frame), minlength=len(self._numbers))
        found[: self.sizes.size] += self.sizes
        self.sizes = found


def _key(cell: Any) -> Any:
    if isinstance(cell, list):
        return tuple(map(_key, cell))
    if isinstance(cell, dict):
        return tuple((name, _key(value)) for name, value in cell.items())
    return cell.hex() if isinstance(cell, float) else (type(cell), cell)


def read_records(frame: Frame, names: Sequence[Hashable]) -> Records:
    """The columns to mask of a block, as numbers."""
    records = []
    for name in names:
        try:
            units = frame.column(name).units()
        except RefusedColumnError as refused:
            raise InputTypeError(f"columns must hold numbers, dates or times; {name!r} holds {refused}.") from None
        if units.missing is not None:
            raise InputValueError(f"column {name!r} has missing values; files that are masked jointly must have none.")
        if units.values.dtype not in (np.float64, np.int64, np.uint64):
            raise InputValueError(
                f"column {name!r} must hold numbers of at most 64 bits where a file is masked jointly."
            )
        records.append(units.values)
    return records


def examine(
    blocks: Iterator[Any], names: list[Any], by: Sequence[Hashable], k: int
) -> tuple[Transform, StratumNumbers]:
    """The range of every column and the strata; raise one error if they are not supported."""
    strata = StratumNumbers(by)
    facts: list[ChunkFacts] = []
    for block in blocks:
        frame = frame_of(block)
        facts.append(partition.examine_chunk(read_records(frame, names)))
        strata.count(frame)
    transform = partition.locate_columns(facts, names, k)
    partition.require_strata(strata.sizes, k)
    return transform, strata


def measure(
    blocks: Iterator[Any], names: list[Any], transform: Transform, strata: StratumNumbers, standardize: bool, most: int
) -> Measured:
    """Deviations of the columns, and some records at random."""
    moments, rows, records, numbers = [], [], [], []
    share = min(1.0, 2 * PER_PART / most)
    for chunk, block in enumerate(blocks):
        frame = frame_of(block)
        own = read_records(frame, names)
        moments.append(partition.compute_moments(own, transform))
        count = -int(-frame.n * share // 1)
        some = np.sort(np.random.default_rng([0, chunk]).choice(frame.n, count, replace=False))
        records.append([column[some] for column in own])
        numbers.append(strata.number(frame)[some])
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


class Partitioning:
    """The leaf of every record; a part is one leaf or several."""

    def __init__(self, measured: Measured, k: int, most: int) -> None:
        self.transform, self.strata, self.k = measured.transform, measured.strata, k
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

    def assign(self, frame: Frame, records: Records, first: int) -> np.ndarray:
        """Assign the records of a block to leaves, and count them."""
        stratum = self.strata.number(frame)
        leaf = self._shared[stratum].astype(np.int64)
        for whole in self.split_strata:
            rows = np.flatnonzero(stratum == whole.stratum)
            z = partition.standardize_records([column[rows] for column in records], self.transform)
            leaf[rows] = whole.first + partition.find_leaves(partition.add_chance(z, first + rows), whole.tree)
        self.counts += np.bincount(leaf, minlength=self.counts.size)
        return leaf

    def parts(self) -> Iterator[tuple[list[int], int | None]]:
        """The leaves of every part, and how many records its stratum has; None where a part has several strata."""
        for leaf in range(self.n_shared):
            if self.counts[leaf]:
                yield [leaf], None
        for whole in self.split_strata:
            own = self.counts[whole.first : whole.first + whole.leaves]
            part = partition.repair_parts([own], whole.tree, self.k)
            for p in range(int(part.max()) + 1):
                yield (whole.first + np.flatnonzero(part == p)).tolist(), int(self.strata.sizes[whole.stratum])


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
