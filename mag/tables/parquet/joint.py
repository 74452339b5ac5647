"""Out of core: the records of a Parquet file masked jointly, in the memory that the caller allows.

The file is read three times: for the ranges of its columns, for their deviations and a sample, and to assign the
records to parts (`_parts`), which are stored in files next to the output.  Every part is masked like a table in memory;
its records return to their positions, in files of as many rows as a row group has.  The written file is read back, and
its records are counted by 128-bit hashes, one range of hashes after the other; only then does the file get its name.
"""

import math
import pathlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks, rowhash
from mag._lib.cells import hash_rows
from mag._lib.class_counter import ClassCounter
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputRuntimeError, InputTypeError, InputValueError
from mag._lib.wording import named
from mag.api.table_options import PARQUET_JOINTLY, Options
from mag.methods import automatic
from mag.tables._pipeline import release_table
from mag.tables._request import Request, check_request
from mag.tables.group_sample import GroupSample, records_of_sample
from mag.tables.parquet import _source
from mag.tables.parquet._job import MASKED, FileJob, FileRelease, Masked, check_options, give_back_memory
from mag.tables.parquet._parts import Block, ListedOwners, PartFiles, Partitioning, examine, measure, read_block
from mag.tables.parquet._source import ParquetSource, check_agreement, hexadecimal, source_of

MEMORY = 2**30  # bytes, by default
MEMORY_PATTERN = r"(\d+|\d+\.\d*) *([kmgt]?)(i?)b?"
COPIES, RECORD = 6, 400  # masking needs at most 6 copies of a part's cells plus 400 bytes per record
COPIES_PER_BLOCK = 14  # copies of a block of rows while it is read or written
DEALT = 0.1  # share of the work, for the progress
PART_FILES, ROW_FILES = "part", "rows"  # kinds of files


def bytes_of(memory: Any) -> int:
    """A number of bytes, or text such as "2GB"."""
    if memory is None:
        return MEMORY
    found = None if isinstance(memory, bool) else re.fullmatch(MEMORY_PATTERN, str(memory).strip(), re.IGNORECASE)
    size = 0.0
    if found is not None:
        number, prefix, binary = found.groups()
        size = float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix.lower() or " ")
    if not 1 <= size < 2**63:
        raise InputValueError(f"memory must be a number of bytes, or text such as '2GB' or '500MB'; got {memory!r}.")
    return int(size)


def _refused_settings(options: Options) -> list[str]:
    """Settings of options that are not supported for files that are masked jointly."""
    used = {
        named("missing", "drop"): options.missing == "drop",
        named("standardize", "range"): options.standardize == "range",
        "init": "init" in options.of_method, "aggregate 'range'": "range" in _aggregates(options.aggregate),
    }  # fmt: skip
    return [setting for setting in used if used[setting]]


def _aggregates(aggregate: Any) -> list[Any]:
    return list(aggregate.values()) if isinstance(aggregate, Mapping) else [aggregate]


def release_joint_file(table: Any, options: Options) -> FileRelease:
    """Mask the records of a Parquet file jointly into another one."""
    check_options(options, PARQUET_JOINTLY, _refused_settings(options))
    source = source_of(table)
    request = check_request(source.names, options)
    if request.plan.single:
        raise InputValueError(
            f"columns must name two columns or more of a file; use {named('scope', 'per-column')} for a single one."
        )
    return JointJob(source, options, request).write()


class JointJob(FileJob[PartFiles]):
    """One file whose records are masked jointly, in limited memory."""

    engine, scope = PARQUET_JOINTLY, "joint"

    def __init__(self, source: ParquetSource, options: Options, request: Request) -> None:
        roles = request.roles
        super().__init__(source, options, roles)
        self.k_household = request.plan.k_household
        self.k = checks.integer("k", options.k, 1, max(source.n, 1), "n")
        self.memory = bytes_of(options.memory)
        weights = [] if options.weights is None else [options.weights]
        self.names: list[Any] = list(
            dict.fromkeys([*roles.columns, *roles.by, *roles.unit, *roles.household, *weights])
        )
        for name in [*roles.by, *roles.columns, *roles.unit, *roles.household]:
            verify.require_words(source.schema.field(name))
            if "view" in str(source.schema.field(name).type):  # Arrow cannot take rows of them
                kind = describe_dtype(source.schema.field(name).type)
                raise InputTypeError(
                    f"column {name!r} holds {kind}, which cannot be masked jointly in a file; cast it to text."
                )
        width, every = (self._width(names) for names in (self.names, {*self.names, *roles.keep}))
        least = COPIES_PER_BLOCK * min(_source.ROWS_PER_GROUP, source.n) * every
        if self.memory < least:
            raise InputValueError(
                f"memory must be {least} bytes or more for this file, for blocks of rows; got {self.memory}."
            )
        self.most = max(self.memory // (COPIES * width + RECORD), 8 * self.k, 2)  # records of a part

    def _width(self, names: Collection[Any]) -> int:
        return sum(_width(self.source.schema.field(name).type) for name in names)

    def recorded(self) -> dict[str, Any]:
        """The options for the manifest, with the memory that decides how many parts there are."""
        return super().recorded() | {"memory": self.memory}

    def open_parts(self, folder: pathlib.Path) -> PartFiles:
        """An empty folder."""
        return PartFiles(folder)

    def recount(self, file: ParquetSource, parts: PartFiles) -> dict[str, Any]:
        """By all columns; units and households are those of the source, whose records are in the same order."""
        names = [*self.roles.by, *self.roles.columns]
        smallest = count_smallest(file, names, parts.folder, self.memory)
        verify.require(smallest, self.k, names, file.n)
        counts: dict[str, Any] = {"smallest": smallest}
        for option, k in (("unit", self.k), ("household", self.k_household)):
            if own := getattr(self.roles, option):
                least = count_units(file, names, self.source, own[0], parts.folder, self.memory)
                verify.require_enough(least, k, names, f"{option}s")
                counts |= {option: own[0], f"smallest_{option}s": least}
        return counts | ({"k_household": self.k_household} if self.roles.household else {})

    # ---- parts

    def mask(self, parts: PartFiles) -> Masked:
        """Deal the records into parts, and mask each."""
        cut, contents = self._deal(parts)
        factors = self._factors(cut.transform)
        n_groups, n_parts, done = 0, 0, 0
        methods: dict[str, None] = {}
        sample = GroupSample(self.source.n, records_of_sample(len(self.roles.columns), self.memory))
        schema = _numbered(self._bare(self.source.schema.empty_table().select(self.names)), np.arange(0)).schema
        for leaves, size in cut.parts():
            part = parts.take(PART_FILES, leaves, schema)
            rows, part = part.column(0).to_numpy(), part.select(range(1, part.num_columns)).rename_columns(self.names)
            release = release_table(part, self._part_options(len(rows), size, factors))
            masked = release.data.select(self.roles.columns)
            sample.add(part, masked, release.grouping.labels)
            del part
            found = int(release.grouping.sizes.size)  # type: ignore[union-attr]
            methods |= dict.fromkeys(release.grouping.method.split(", "))
            del release
            parts.add(ROW_FILES, rows // _source.ROWS_PER_GROUP, _numbered(masked, rows))
            del masked
            give_back_memory()
            n_groups, n_parts, done = n_groups + found, n_parts + 1, done + len(rows)
            self.progress.step(DEALT + (MASKED - DEALT) * done / self.source.n)
        if done != self.source.n:
            raise InputRuntimeError(f"{done} of {self.source.n} records were grouped: nothing is published.")
        notes = (f"Records were grouped in {n_parts} parts.",) if n_parts > 1 else ()
        return Masked(contents, n_groups, ", ".join(methods), notes, sample=sample)

    def _deal(self, parts: PartFiles) -> tuple[Partitioning, dict[str, str]]:
        """Read the file three times: the part of every record, and the hashes of the columns."""
        columns, k = self.roles.columns, self.k
        hashes = [{name: parts.new_hash() for name in self.names} for _ in range(3)]
        transform, strata = examine(self._blocks(hashes[0]), columns, self.roles.by, k)
        self.progress.step(DEALT / 3)
        standardize = self.options.standardize is not False
        measured = measure(self._blocks(hashes[1]), transform, strata, standardize, self.most)
        owners = [
            ListedOwners(name, option, least, of)
            for option, least, of in (("unit", "k", k), ("household", "k_household", self.k_household))
            for name in getattr(self.roles, option)
        ]
        cut = Partitioning(measured, k, self.most, owners)
        self.progress.step(DEALT * 2 / 3)
        for block, first in zip(self._blocks(hashes[2]), transform.before, strict=True):
            rows = _numbered(self._bare(block.frame.native), first + np.arange(block.frame.n))
            parts.add(PART_FILES, cut.assign(block, first), rows)
        contents, *again = map(hexadecimal, hashes)
        for others in again:
            check_agreement(contents, others)
        self.progress.step(DEALT)
        return cut, contents

    def _blocks(self, hashes: Mapping[str, Any]) -> Iterator[Block]:
        """The blocks of the file; their cells are added to the hashes."""
        for table in self.source.row_groups(self.names, hashes):
            yield read_block(table, self.roles.columns, self.options.missing)

    def _bare(self, block: Any) -> Any:
        """The columns of a block without dictionaries, which may differ between blocks."""
        import pyarrow as pa

        fields = [pa.field(field.name, getattr(field.type, "value_type", field.type)) for field in block.schema]
        return block.cast(pa.schema(fields))

    def _factors(self, transform: Any) -> dict[Any, float]:
        """The factor of the distances of each column in every part: deviations are those of the whole file."""
        factors = dict(self.options.importance or {})
        if self.options.standardize is False:
            return factors
        for name, unit, exponent in zip(self.roles.columns, transform.unit, transform.exponent, strict=True):
            factor = math.ldexp(float(unit), -exponent) * factors.get(name, 1.0) if abs(exponent) < 900 else 0.0
            if unit and not 0.0 < factor < math.inf:
                raise InputValueError(f"column {name!r} is too large or too small for a file that is masked jointly.")
            factors[name] = factor or 1.0  # a constant column
        return factors

    def _part_options(self, n: int, size: int | None, factors: dict[Any, float]) -> Options:
        """The options of a part; the method and its parts are those of the whole stratum."""
        options, aside = self.options, self.options.weights
        drop = [] if aside is None or aside in [*self.roles.columns, *self.roles.by] else [aside]
        method, of_method = options.method, dict(options.of_method)
        if size is not None:
            method = automatic(size, len(self.roles.columns), self.k, False) if method == "auto" else method
            if method in ("mona", "mona_2d"):
                limit = int(size ** of_method.get("rho", 0.5))
                of_method["rho"] = math.log(limit + 0.5) / math.log(n) if limit < n else 1.0
        return replace(
            options, columns=self.roles.columns, by=self.roles.by, keep=(), drop=drop, rest="error", standardize=False,
            importance=factors or None, method=method, of_method=of_method, progress=None,
        )  # fmt: skip

    # ---- the file

    def masked_columns(self, parts: PartFiles, schema: Any) -> Iterator[list[Any]]:
        """The masked columns in the order of the file; every record must have come back once."""
        import pyarrow as pa

        own = pa.schema([schema.field(name) for name in self.roles.columns])
        numbered = _numbered(own.empty_table(), np.arange(0)).schema
        for first in range(0, self.source.n, _source.ROWS_PER_GROUP):
            table = parts.take(ROW_FILES, [first // _source.ROWS_PER_GROUP], numbered)
            rows = table.column(0).to_numpy()
            order = np.argsort(rows)
            if not np.array_equal(rows[order], np.arange(first, min(first + _source.ROWS_PER_GROUP, self.source.n))):
                raise InputRuntimeError("Records were lost or doubled on the way: nothing is published.")
            table = table.take(pa.array(order))
            yield table.select(range(1, table.num_columns)).rename_columns(own.names).cast(own).columns


def _numbered(table: Any, rows: np.ndarray) -> Any:
    """The table with the numbers of its rows, under names that no column can have twice."""
    import pyarrow as pa

    columns = [pa.chunked_array([pa.array(rows, pa.int64())]), *table.columns]
    return pa.table(columns, names=[str(j) for j in range(len(columns))])


def _width(kind: Any) -> int:
    """Bytes of a cell, about."""
    try:
        return max(8, kind.bit_width // 8)
    except ValueError:
        return 32  # text


def count_smallest(file: ParquetSource, names: list[Any], folder: pathlib.Path, memory: int) -> int:
    """The size of the smallest class of equal records of a file; only hashes are kept, in this memory."""
    counter = ClassCounter(memory, folder)
    for group in file.row_groups(names):
        counter.add(rowhash.uncounted(hash_rows(group, names)))
    smallest, counted = file.n, 0
    for sizes in counter.sizes():
        smallest, counted = min(smallest, int(sizes.min(initial=file.n))), counted + int(sizes.sum())
    if counted != file.n:
        raise InputRuntimeError(f"{counted} of {file.n} records were counted: nothing is published.")
    return smallest


def count_units(
    file: ParquetSource, names: list[Any], source: ParquetSource, unit: Any, folder: pathlib.Path, memory: int
) -> int:
    """The smallest number of units of a class of the file; the source, whose records are in its order, has the units.

    Classes and units are hashes of 64 bits each.
    """
    counter, counted = ClassCounter(memory, folder), 0
    for group, own in zip(file.row_groups(names), source.row_groups([unit]), strict=True):
        counter.add(rowhash.uncounted((hash_rows(group, names)[0], hash_rows(own, [unit])[0])))
        counted += own.num_rows
    if counted != file.n:
        raise InputRuntimeError(f"{counted} of {file.n} records were counted: nothing is published.")
    return min((int(own.min()) for own in counter.seconds() if own.size), default=0)
