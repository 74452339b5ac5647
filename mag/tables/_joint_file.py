"""Out of core: the records of a Parquet file masked jointly, in the memory that the caller allows.

The file is read three times: for the ranges of its columns, for their deviations and a sample, and to deal the records
into parts (`_parts`), which wait in files beside the output.  Every part is masked as a table in memory is; its records
go back to their places in files of as many rows as a row group has.  What was written is read back, and its records are
counted by 128-bit hashes, range of hashes by range of hashes; only then the file gets its name.
"""

import hashlib
import json
import math
import pathlib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mag import __version__, verify
from mag._lib import checks, rowhash, workspace
from mag._lib.atomic import MANIFEST, digest, reserving
from mag._lib.cells import words_of_arrow
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputRuntimeError, InputTypeError, InputValueError
from mag._lib.fresh import bare_field
from mag._lib.json_types import to_json_types
from mag._lib.notice import working_on
from mag._lib.progress import Progress
from mag._lib.roles import is_name
from mag.api.options import progress_of
from mag.api.table_options import PARQUET_JOINTLY, Options
from mag.frames import frame_of
from mag.methods import automatic
from mag.tables import _parquet
from mag.tables._parquet import Copies, FileRelease, ParquetSource, check_options
from mag.tables._parts import PartFiles, Partitioning, examine, measure, parts_of, read_records
from mag.tables._pipeline import release_table
from mag.tables._release import Guarantee, installed_versions, public_options
from mag.tables._request import ColumnRoles, check_request, record_options

MEMORY = 2**30  # bytes, where the caller does not say
SIZE = r"(\d+|\d+\.\d*) *([kmgt]?)(i?)b?"
COPIES, RECORD = 6, 400  # of the cells of a part, and bytes of a record beside them, that masking takes at most
COPIES_PER_BLOCK = 14  # copies of a block of rows while it is read or written
COUNTED = 128  # bytes of a record that is counted: its hash, copied and sorted
PART_FILES, ROW_FILES = "part", "rows"  # kinds of files


def bytes_of(memory: Any) -> int:
    """A number of bytes, or text such as "2GB"."""
    if memory is None:
        return MEMORY
    found = None if isinstance(memory, bool) else re.fullmatch(SIZE, str(memory).strip(), re.IGNORECASE)
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
        "missing": options.missing != "error", "standardize='range'": options.standardize == "range",
        "init": "init" in options.of_method, "aggregate 'range'": "range" in _aggregates(options.aggregate),
    }  # fmt: skip
    return [setting for setting in used if used[setting]]


def _aggregates(aggregate: Any) -> list[Any]:
    return list(aggregate.values()) if isinstance(aggregate, Mapping) else [aggregate]


def release_joint_file(table: Any, options: Options) -> FileRelease:
    """Mask the records of a Parquet file jointly into another one."""
    check_options(options, PARQUET_JOINTLY, _refused_settings(options))
    source = ParquetSource(table)
    request = check_request(source.names, options)
    if request.plan.single:
        raise InputValueError(
            "columns must name two columns or more of a file; use scope='per-column' for a single one."
        )
    if options.weights is not None and not is_name(options.weights, source.names):
        raise InputValueError("weights must name a column of the file.")
    checks.integer("k", options.k, 1, max(source.n, 1), "n")
    overwrite, bar = checks.flag("overwrite", options.overwrite), Progress(progress_of(options.progress))
    job = Job(source, options, request.roles, bytes_of(options.memory), bar)
    with working_on(quiet=bar.quiet):
        return job.write(pathlib.Path(options.output), overwrite)


class Job:
    """One file, and what is done to it."""

    def __init__(
        self, source: ParquetSource, options: Options, roles: ColumnRoles, memory: int, progress: Progress
    ) -> None:
        self.source, self.options, self.roles, self.memory, self.progress = source, options, roles, memory, progress
        weights = [] if options.weights is None else [options.weights]
        self.names: list[Any] = list(dict.fromkeys([*roles.columns, *roles.by, *weights]))
        self.k: int = options.k
        for name in [*roles.by, *roles.columns]:
            verify.require_words(source.schema.field(name))
            if "view" in str(source.schema.field(name).type):  # Arrow cannot take rows of them
                kind = describe_dtype(source.schema.field(name).type)
                raise InputTypeError(
                    f"column {name!r} holds {kind}, which files that are masked jointly must not; cast it to text."
                )
        width, every = (self._width(names) for names in (self.names, {*self.names, *roles.keep}))
        least = COPIES_PER_BLOCK * min(_parquet.ROWS_PER_GROUP, source.n) * every
        if memory < least:
            raise InputValueError(
                f"memory must be {least} bytes or more for this file, for blocks of rows; got {memory}."
            )
        self.most = max(memory // (COPIES * width + RECORD), 8 * self.k, 2)  # records of a part
        self.methods: dict[str, None] = {}

    def _width(self, names: Collection[Any]) -> int:
        return sum(_width(self.source.schema.field(name).type) for name in names)

    def write(self, output: pathlib.Path, overwrite: bool) -> FileRelease:
        """Cut, group, put together, count, and give the file its name."""
        source, roles, versions = self.source, self.roles, installed_versions()
        beside = output.with_name(output.name + MANIFEST)
        read = [*map(pathlib.Path, source.files), *self.options.files()]
        dropped = frozenset(roles.drop)
        published = [name for name in source.names if name not in dropped]
        with reserving(output, beside, sources=read, overwrite=overwrite) as reserved:
            spool = PartFiles(parts_of(reserved.places[0]))
            try:
                with reserved.drafts() as [draft, note]:
                    n_groups, n_parts, hashes = self._group(spool)
                    self._put_together(draft, spool, published, hashes)
                    source.check_unchanged()
                    self.progress.step(0.95)
                    smallest = count_smallest(
                        ParquetSource(draft), [*roles.by, *roles.columns], spool.folder, self.memory
                    )
                    verify.require(smallest, self.k, [*roles.by, *roles.columns], source.n)
                    guarantee = Guarantee(
                        scope="joint",
                        k=self.k,
                        columns=tuple(roles.columns),
                        by=tuple(roles.by),
                        kept=tuple(roles.keep),
                        n_records=source.n,
                        withheld=0,
                        n_groups=n_groups,
                        smallest=smallest,
                        smallest_by_column={},
                    )
                    warnings = (f"Records were grouped in {n_parts} parts.",) if n_parts > 1 else ()
                    recorded = record_options(self.options, roles, PARQUET_JOINTLY) | {"memory": self.memory}
                    options = public_options(recorded, published)
                    manifest = to_json_types({
                        "mag": __version__, "versions": versions, "options": options,
                        "method": ", ".join(self.methods), "complete": True,
                        "table": {"records": source.n, "columns": published},
                        "published": {"records": source.n, "name": output.name, "sha256": digest(draft)},
                        "guarantee": guarantee.facts() | {"text": str(guarantee)},
                        "untouched": roles.keep, "warnings": warnings,
                    })  # fmt: skip
                    note.write_text(json.dumps(manifest, indent=1) + "\n")
            finally:
                spool.remove()
        self.progress.finish()
        return FileRelease(output, guarantee, warnings, 0, manifest)

    # ---- parts

    def _group(self, spool: PartFiles) -> tuple[int, int, dict[str, str]]:
        """Mask all parts: how many groups and parts there are, and the hashes of the columns that were read."""
        columns, k = self.roles.columns, self.k
        hashes = [{name: hashlib.sha256() for name in self.names} for _ in range(3)]
        transform, strata = examine(self.source.row_groups(self.names, hashes[0]), columns, self.roles.by, k)
        self.progress.step(0.03)
        standardize = self.options.standardize is not False
        blocks = self.source.row_groups(self.names, hashes[1])
        cut = Partitioning(measure(blocks, columns, transform, strata, standardize, self.most), k, self.most)
        self.progress.step(0.06)
        for block, first in zip(self.source.row_groups(self.names, hashes[2]), transform.before, strict=True):
            frame = frame_of(block)
            leaf = cut.assign(frame, read_records(frame, columns), first)
            spool.add(PART_FILES, leaf, _numbered(self._bare(block), first + np.arange(frame.n)))
        contents = [{name: hashed.hexdigest() for name, hashed in every.items()} for every in hashes]
        if contents[0] != contents[1] or contents[0] != contents[2]:
            raise _parquet.input_changed()
        self.progress.step(0.1)
        factors = self._factors(cut.transform)
        n_groups, n_parts, done = 0, 0, 0
        schema = _numbered(self._bare(self.source.schema.empty_table().select(self.names)), np.arange(0)).schema
        for leaves, size in cut.parts():
            part = spool.take(PART_FILES, leaves, schema)
            rows, part = part.column(0).to_numpy(), part.select(range(1, part.num_columns)).rename_columns(self.names)
            release = release_table(part, self._part_options(len(rows), size, factors))
            del part
            masked, found = release.data.select(columns), int(release.grouping.sizes.size)  # type: ignore[union-attr]
            self.methods |= dict.fromkeys(release.grouping.method.split(", "))
            del release
            spool.add(ROW_FILES, rows // _parquet.ROWS_PER_GROUP, _numbered(masked, rows))
            del masked
            _give_back()
            n_groups, n_parts, done = n_groups + found, n_parts + 1, done + len(rows)
            self.progress.step(0.1 + 0.75 * done / self.source.n)
        if done != self.source.n:
            raise InputRuntimeError(f"{done} of {self.source.n} records were grouped: nothing is published.")
        return n_groups, n_parts, contents[0]

    def _bare(self, block: Any) -> Any:
        """The columns of a block without dictionaries, which may differ between blocks."""
        import pyarrow as pa

        fields = [pa.field(field.name, getattr(field.type, "value_type", field.type)) for field in block.schema]
        return block.cast(pa.schema(fields))

    def _factors(self, transform: Any) -> dict[Any, float]:
        """What distances of each column are multiplied by in every part: deviations are those of the whole file."""
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

    def _put_together(
        self, draft: pathlib.Path, spool: PartFiles, published: list[Any], contents: dict[str, str]
    ) -> None:
        """Write row group by row group; columns that were read before must have the same content."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        copies = Copies(self.source, [name for name in published if name not in self.roles.columns])
        hashes = {name: hashlib.sha256() for name in copies.names if name in contents}
        schema = pa.schema([bare_field(self.source.schema.field(name)) for name in published])
        steps = -(-self.source.n // _parquet.ROWS_PER_GROUP)
        copied = copies.row_groups(hashes) if copies.names else [None] * steps
        with pq.ParquetWriter(draft, schema) as writer:
            for step, (group, masked) in enumerate(zip(copied, self._row_groups(spool, schema), strict=True)):
                cells: dict[Any, Any] = {name: masked.column(name) for name in self.roles.columns}
                cells |= {name: group.column(name) for name in copies.names} if group is not None else {}
                writer.write_table(pa.table([cells[name] for name in published], schema=schema))
                _give_back()
                self.progress.step(0.85 + 0.1 * (step + 1) / steps)
        if any(hashed.hexdigest() != contents[name] for name, hashed in hashes.items()):
            raise _parquet.input_changed()

    def _row_groups(self, spool: PartFiles, schema: Any) -> Iterator[Any]:
        """The masked columns in the order of the file; every record must have come back once."""
        import pyarrow as pa

        own = pa.schema([schema.field(name) for name in self.roles.columns])
        numbered = _numbered(own.empty_table(), np.arange(0)).schema
        for first in range(0, self.source.n, _parquet.ROWS_PER_GROUP):
            table = spool.take(ROW_FILES, [first // _parquet.ROWS_PER_GROUP], numbered)
            rows = table.column(0).to_numpy()
            order = np.argsort(rows)
            if not np.array_equal(rows[order], np.arange(first, min(first + _parquet.ROWS_PER_GROUP, self.source.n))):
                raise InputRuntimeError("Records were lost or doubled on the way: nothing is published.")
            table = table.take(pa.array(order))
            yield table.select(range(1, table.num_columns)).rename_columns(own.names).cast(own)


def _numbered(table: Any, rows: np.ndarray) -> Any:
    """The table with the numbers of its rows, under names that no column can have twice."""
    import pyarrow as pa

    columns = [pa.chunked_array([pa.array(rows, pa.int64())]), *table.columns]
    return pa.table(columns, names=[str(j) for j in range(len(columns))])


def _give_back() -> None:
    """Memory that is kept for the next call, ours and pyarrow's."""
    import pyarrow as pa

    workspace.release()
    pa.default_memory_pool().release_unused()


def _width(kind: Any) -> int:
    """Bytes of a cell, about."""
    try:
        return max(8, kind.bit_width // 8)
    except ValueError:
        return 32  # text


def count_smallest(file: ParquetSource, names: list[Any], folder: pathlib.Path, memory: int) -> int:
    """The size of the smallest class of equal records of a file, of which only hashes are kept, in this memory."""
    ranges = min(-(-COUNTED * file.n // memory), 2**10)
    kept: list[tuple[np.ndarray, ...]] = []
    for group in file.row_groups(names):
        hashes = rowhash.new_hashes(group.num_rows)
        for name in names:
            for word in words_of_arrow(group.column(name)):
                rowhash.add_cells(hashes, word)
        if ranges == 1:
            kept.append(hashes)
            continue
        own = (hashes[0] >> np.uint64(32)) * np.uint64(ranges) >> np.uint64(32)
        order = np.argsort(own, kind="stable")
        cuts = np.searchsorted(own[order], np.arange(1, ranges, dtype=np.uint64))
        for r, rows in enumerate(np.split(order, cuts)):
            with open(folder / f"hashes{r}", "ab") as out:
                np.stack([word[rows] for word in hashes], axis=1).tofile(out)
    smallest, counted = file.n, 0
    for r in range(ranges):
        if ranges > 1:
            path = folder / f"hashes{r}"
            kept = [tuple(np.fromfile(path, np.uint64).reshape(-1, 2).T)]
            path.unlink()
        sizes = rowhash.sizes_of_classes([rowhash.uncounted(pair) for pair in kept])
        smallest, counted = min(smallest, int(sizes.min(initial=file.n))), counted + int(sizes.sum())
    if counted != file.n:
        raise InputRuntimeError(f"{counted} of {file.n} records were counted: nothing is published.")
    return smallest
