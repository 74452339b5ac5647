"""Out of core: a Parquet file masked column by column, in the memory of a few copies of one column.

Masked columns wait in files of their own beside the output, so that a run that was killed goes on behind them; every
other end removes them.  A journal holds their hashes and those of the columns that they were made of: a part is used
again only where what it was made of, read again, has the same content.  These hashes are keyed with what the system
knows of the input's files: without that, nobody can try guesses of the original on them.  Then the columns are put
together row group by row group; what was written is read back, counted column by column, and only then gets its name.
"""

import contextlib
import hashlib
import hmac
import json
import os
import pathlib
import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mag import __version__, verify
from mag._lib import checks, rowhash, workspace
from mag._lib.atomic import MANIFEST, Reserved, digest, reserving
from mag._lib.cells import numbers_of_arrow
from mag._lib.content import update_hash
from mag._lib.errors import InputRuntimeError, InputTypeError, InputValueError
from mag._lib.fresh import arrow_table, bare_field, fresh_column
from mag._lib.json_types import to_json_types
from mag._lib.notice import working_on
from mag._lib.progress import Progress
from mag._lib.roles import is_name, repeated_names
from mag.api.options import progress_of
from mag.api.table_options import PARQUET_BY_COLUMN, Options
from mag.tables._parts import parts_of, remove_parts
from mag.tables._pipeline import release_table
from mag.tables._release import Guarantee, installed_versions, public_options
from mag.tables._request import (
    ColumnRoles,
    check_choices,
    decimals_by_column,
    record_options,
    roles_of,
    sizes_by_column,
)
from mag.tables._sensitive import demands_of

ROWS_PER_GROUP = 2**18  # of a row group of what is written, and of what is held of all columns at once
SALT = 16  # bytes
SCRYPT = 2**14  # blocks of 1 KB that a guess of the key has to fill: some 50 ms
NewHash = Callable[[], Any]


def is_source(table: Any) -> bool:
    """Whether this is a path or a data set, which only pyarrow's own module can have made."""
    return isinstance(table, (str, os.PathLike)) or type(table).__module__.startswith("pyarrow._dataset")


class ParquetSource:
    """A Parquet file, a folder of them or a `pyarrow.dataset`, read in row order and column by column.

    Folders that are called like ``year=2024`` are a column, as Hive has them.
    """

    def __init__(self, source: Any) -> None:
        import pyarrow.dataset as pads

        with naming_the_file(source):
            if isinstance(source, pads.Dataset):
                self.dataset = source
            else:  # the folders that lead to a single file are none of its columns
                path = os.path.abspath(source) if os.path.exists(source) else os.fspath(source)  # or an address
                folders = "hive" if os.path.isdir(path) else None
                self.dataset = pads.dataset(path, format="parquet", partitioning=folders)
            self.schema = self.dataset.schema
            self._stored = list(_stored_files(self.dataset))
            self.files = [file for system, file in self._stored if system.type_name == "local"]
            self._opened = self._stamp()
            try:
                self.fragments = list(self.dataset.get_fragments())
            except ValueError:  # pyarrow gives none of a filtered data set, which is scanned as a whole
                self.fragments = [self.dataset]
            self.n = sum(map(_rows, self.fragments))
        self.names: list[Any] = list(self.schema.names)
        twice = sorted(map(str, repeated_names(self.names)))
        if twice:
            raise InputValueError(f"table must have columns of different names; got {', '.join(twice)} more than once.")

    def table(self, names: Sequence[str], new_hash: NewHash) -> tuple[Any, dict[str, str]]:
        """All rows of some columns, and the hashes of these columns' cells."""
        import pyarrow as pa

        hashes = {name: new_hash() for name in names}
        tables = list(self.row_groups(names, hashes))
        table = pa.concat_tables(tables) if tables else self.schema.empty_table().select(names)
        return table, _hexadecimal(hashes)

    def column(self, name: str) -> Any:
        """All rows of a column."""
        import pyarrow as pa

        kind = self.schema.field(name).type
        return pa.chunked_array([chunk for group in self.row_groups([name]) for chunk in group.column(0).chunks], kind)

    def contents(self, names: Sequence[str], new_hash: NewHash) -> dict[str, str]:
        """The hashes of columns, in the memory of a row group."""
        hashes = {name: new_hash() for name in names}
        for _ in self.row_groups(names, hashes):
            pass
        return _hexadecimal(hashes)

    def row_groups(self, names: Sequence[str], hashes: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """The rows in their order, exactly `ROWS` at a time, fewer at the end; cells are added to the hashes."""
        import pyarrow as pa

        def out(group: Any) -> Any:
            for name, hashed in (hashes or {}).items():
                update_hash(hashed, group.column(name))
            return group

        buffer: list[Any] = []
        have = count = 0
        for piece in self._stored_tables(names):
            buffer.append(piece)
            have += piece.num_rows
            count += piece.num_rows
            if count > self.n:
                break
            while have >= ROWS_PER_GROUP:
                rows = pa.concat_tables(buffer)
                yield out(rows.slice(0, ROWS_PER_GROUP))
                buffer, have = [rows.slice(ROWS_PER_GROUP)], have - ROWS_PER_GROUP
        if count != self.n:
            raise input_changed()
        if have:
            yield out(pa.concat_tables(buffer))

    def _stored_tables(self, names: Sequence[str]) -> Iterator[Any]:
        """The rows as they are stored, at most `ROWS` at a time, in the types of the whole."""
        import pyarrow as pa

        schema = pa.schema([self.schema.field(name) for name in names])
        for fragment in self.fragments:
            with naming_the_file(getattr(fragment, "path", "the data set"), names):
                for batch in self._batches(fragment, names):
                    yield pa.Table.from_batches([batch]).cast(schema)

    def _batches(self, fragment: Any, names: Sequence[str]) -> Any:
        import pyarrow.dataset as pads
        import pyarrow.parquet as pq

        if isinstance(fragment, pads.ParquetFileFragment):
            stored, folders = fragment.physical_schema.names, pads.get_partition_keys(fragment.partition_expression)
            if all(stored.count(name) == 1 and name not in folders for name in names):
                # A scan would read ahead many columns' worth of memory.
                file = pq.ParquetFile(fragment.open(), pre_buffer=False)
                groups = [group.id for group in fragment.row_groups]
                return file.iter_batches(ROWS_PER_GROUP, row_groups=groups, columns=list(names), use_threads=False)
        schema = {} if fragment is self.dataset else {"schema": self.schema}
        columns = {name: pads.field(name) for name in names}
        scanner = fragment.scanner(
            columns=columns,
            batch_size=ROWS_PER_GROUP,
            batch_readahead=1,
            fragment_readahead=1,
            use_threads=False,
            **schema,
        )
        return scanner.to_batches()

    def _stamp(self) -> list[Any]:
        states = [system.get_file_info(file) for system, file in self._stored]
        return [(file.path, file.size, file.mtime_ns) for file in states]

    def identity(self) -> bytes | None:
        """What the system knows of the files, and nobody from their cells; None where not all are local files."""
        if not self._stored or len(self.files) < len(self._stored):
            return None
        states = [os.stat(file) for file in self.files]
        facts = [[state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns] for state in states]
        return json.dumps(facts).encode()

    def check_unchanged(self) -> None:
        """The files have the sizes and times that they had when they were opened."""
        if self._stamp() != self._opened:
            raise input_changed()


def _stored_files(dataset: Any) -> Iterator[tuple[Any, str]]:
    """The files of a data set, each with its file system; those of its children too."""
    for child in getattr(dataset, "children", []):
        yield from _stored_files(child)
    for file in getattr(dataset, "files", []):
        if file == "<Buffer>":  # in memory: pyarrow crashes where it is asked for the file system of such data
            continue
        system = dataset.filesystem
        while system.type_name == "subtree":
            file, system = os.path.join(system.base_path, file), system.base_fs
        yield system, file


def _rows(fragment: Any) -> int:
    """The rows of a fragment or of a whole data set.

    pyarrow's `count_rows` takes those of the whole file where a fragment has only some of its row groups.
    """
    import pyarrow.dataset as pads

    if isinstance(fragment, pads.ParquetFileFragment):
        fragment.ensure_complete_metadata()
        return sum(group.num_rows for group in fragment.row_groups)
    return sum(batch.num_rows for batch in fragment.scanner(columns=[]).to_batches())


def input_changed() -> InputValueError:
    """What to raise where two reads of the input differ."""
    return InputValueError("the input has changed while it was read; nothing was written.")


@contextlib.contextmanager
def naming_the_file(path: Any, names: Sequence[str] = ()) -> Iterator[None]:
    """Say in one sentence what Arrow says of a file that it cannot read."""
    import pyarrow as pa

    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        which = f" column {', '.join(map(repr, names))} of" if names else ""
        kind = (
            "a column whose type differs between files"
            if isinstance(error, (pa.ArrowTypeError, pa.ArrowNotImplementedError))
            else "a damaged or incomplete Parquet file, or a column whose type differs between files"
        )
        raise InputValueError(f"{pathlib.Path(str(path)).name!r} could not be read:{which} {kind}.") from error


@dataclass(frozen=True)
class FileRelease:
    """A published file with its guarantee, as returned by `mag.microaggregate` for Parquet files.

    Attributes
    ----------
    path : pathlib.Path
        The published file.
    guarantee : Guarantee
        What holds, counted on the file.
    warnings : tuple of str
        What the publisher should check.
    resumed : int
        The number of columns that an earlier, unfinished run had completed.
    """

    path: pathlib.Path
    guarantee: Guarantee
    warnings: tuple[str, ...]
    resumed: int
    _manifest: dict[str, Any]

    def __repr__(self) -> str:
        return "\n".join([str(self.guarantee), *(f"Note: {warning}" for warning in self.warnings)])

    @property
    def data(self) -> Any:
        """The published file as a `pyarrow.dataset.Dataset`."""
        return ParquetSource(self.path).dataset

    def manifest(self) -> dict[str, Any]:
        """The manifest, which is also written beside the published file."""
        return self._manifest


def check_options(options: Options, engine: str, settings: Sequence[str] = ()) -> None:
    """Reject options, and settings of options, that are not supported for files."""
    check_choices(options)
    checks.flag("shuffle", options.shuffle)
    if refused := [*settings, *options.refused_by(engine)]:
        raise InputTypeError(
            f"{', '.join(refused)} is not used for files; leave it out, or read the file into a frame."
        )
    if options.output is None:
        raise InputTypeError("output must be the path of the file to write; got None.")


def release_file(table: Any, options: Options) -> FileRelease:
    """Mask a Parquet file into another, one column after the other."""
    dropped = ["missing='drop'"] if options.missing == "drop" else []
    check_options(options, PARQUET_BY_COLUMN, [*dropped, *options.of_method])
    from pyarrow.types import is_floating

    source = ParquetSource(table)
    roles = roles_of(source.names, options, demands_of(options.diversity, options.closeness, source.names))
    ks = sizes_by_column(options.k, roles.columns, options.scope)
    if options.weights is not None and not is_name(options.weights, source.names):
        raise InputValueError("weights must name a column of the file.")
    floats = [name for name in roles.columns if is_floating(source.schema.field(name).type)]
    decimals = decimals_by_column(options.round, floats)
    overwrite, bar = checks.flag("overwrite", options.overwrite), Progress(progress_of(options.progress))
    with working_on(quiet=bar.quiet):
        return write_columns(source, Task(options, roles, ks, decimals), pathlib.Path(options.output), overwrite, bar)


@dataclass(frozen=True)
class Task:
    """What is done to every column of a file, with the `k` and the decimals of each."""

    options: Options
    roles: ColumnRoles
    ks: dict[Any, int]
    decimals: dict[Any, int]

    @property
    def beside(self) -> list[Any]:
        """What is read beside every column: strata and weights."""
        weights = self.options.weights
        return [*self.roles.by, *([weights] if weights is not None and weights not in self.roles.by else [])]

    @property
    def resumable(self) -> bool:
        """Whether parts of an earlier run may be used: a cost that the caller wrote may have changed."""
        return self.options.cost is None or isinstance(self.options.cost, str)

    def mask(self, name: Any, table: Any) -> tuple[Any, int]:
        """A column of this table, masked within its strata, and the number of its groups."""
        aside = [other for other in self.beside if other != name and other not in self.roles.by]
        own = {"k": self.ks[name], "columns": name, "keep": (), "drop": aside, "round": self.decimals.get(name)}
        release = release_table(table, replace(self.options, by=self.roles.by, progress=None, **own))
        return release.data.column(name), release.guarantee.n_groups[name]  # type: ignore[index]


def write_columns(
    source: ParquetSource, task: Task, output: pathlib.Path, overwrite: bool, progress: Progress
) -> FileRelease:
    """Mask the columns one after the other, put them together, count them on the file, and give it its name."""
    roles, ks, versions = task.roles, task.ks, installed_versions()
    options = record_options(task.options, roles, PARQUET_BY_COLUMN)
    beside, read = output.with_name(output.name + MANIFEST), [*map(pathlib.Path, source.files), *task.options.files()]
    dropped = frozenset(roles.drop)
    published = [name for name in source.names if name not in dropped]
    untouched = [name for name in published if name not in ks]
    steps = len(ks) + 2
    types = [[field.name, str(field.type)] for field in source.schema]
    run = [__version__, versions, options, source.n, types]
    identity = source.identity() if task.resumable else None
    with reserving(output, beside, sources=read, overwrite=overwrite) as reserved:
        [place, _] = reserved.places
        with reserved.drafts() as [draft, note], ColumnFiles(place, run, identity) as column_files:
            hashes: dict[str, str] = {}
            resumed = 0
            for step, name in enumerate(ks):
                names = list(dict.fromkeys([name, *task.beside]))
                contents = source.contents(names, column_files.new_hash) if column_files.intact(name) else {}
                if contents and contents == column_files.done[name]["made_of"]:
                    resumed += 1
                else:
                    table, contents = source.table(names, column_files.new_hash)
                    column, n_groups = task.mask(name, table)
                    del table
                    column_files.add(name, column, n_groups, contents)
                    del column
                    workspace.release()  # what a column takes to sort is several of its copies
                _agree(hashes, contents)
                progress.step((step + 1) / steps)
            _agree(
                hashes, _put_together(draft, Copies(source, untouched), column_files, list(ks), published, list(hashes))
            )
            source.check_unchanged()
            progress.step((len(ks) + 1) / steps)
            smallest, by_column = recount_file(ParquetSource(draft), ks, roles.by)
            guarantee = Guarantee(
                scope="per-column",
                k=task.options.k,
                columns=tuple(ks),
                by=tuple(roles.by),
                kept=tuple(roles.keep),
                n_records=source.n,
                withheld=0,
                n_groups={name: column_files.done[name]["n_groups"] for name in ks},
                smallest=smallest,
                smallest_by_column=by_column,
            )
            warnings = (f"{resumed} of {len(ks)} columns were masked by an earlier run.",) if resumed else ()
            manifest = to_json_types({
                "mag": __version__, "versions": versions, "options": public_options(options, published),
                "method": "univariate", "complete": True,
                "table": {"records": source.n, "columns": published},
                "published": {"records": source.n, "name": output.name, "sha256": digest(draft)},
                "guarantee": guarantee.facts() | {"text": str(guarantee)},
                "untouched": roles.keep, "warnings": warnings,
            })  # fmt: skip
            note.write_text(json.dumps(manifest, indent=1) + "\n")
    progress.finish()
    return FileRelease(output, guarantee, warnings, resumed, manifest)


def _put_together(
    draft: pathlib.Path,
    copies: "Copies",
    files: "ColumnFiles",
    masked: list[str],
    published: list[str],
    read: list[str],
) -> dict[str, str]:
    """Write the columns row group by row group; the hashes of those copied ones that were `read` before."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([bare_field(copies.source.schema.field(name)) for name in published])
    hashes = {name: files.new_hash() for name in copies.names if name in read}
    streams = [*([copies.row_groups(hashes)] if copies.names else []), *map(files.row_groups, masked)]
    with pq.ParquetWriter(draft, schema) as writer:
        for group in zip(*streams, strict=True):
            columns = [column for part in group for column in part.columns]
            cells = dict(zip([*copies.names, *masked], columns, strict=True))
            writer.write_table(
                pa.table([cells[name] for name in published], schema=schema), row_group_size=ROWS_PER_GROUP
            )
    return _hexadecimal(hashes)


def _hexadecimal(hashes: Mapping[str, Any]) -> dict[str, str]:
    return {name: hashed.hexdigest() for name, hashed in hashes.items()}


def _agree(seen: dict[str, str], contents: dict[str, str]) -> None:
    """Every column has the content that it had when it was read before."""
    for name, content in contents.items():
        if seen.setdefault(name, content) != content:
            raise input_changed()


def recount_file(file: ParquetSource, ks: Mapping[Any, int], by: Sequence[Any]) -> tuple[int, dict[Hashable, int]]:
    """The smallest class of a file, and that of every column; one below k is an error.

    Whole records are told apart by hashes, so that no more than one column is held at a time.
    """
    strata = [token for name in by for token in numbers_of_arrow(file.column(name))]
    hashes = rowhash.new_hashes(file.n)
    for token in strata:
        rowhash.add_cells(hashes, token)
    by_column: dict[Hashable, int] = {}
    for name, k in ks.items():
        tokens = numbers_of_arrow(file.column(name))
        by_column[name] = verify.smallest([*strata, *tokens])
        verify.require(by_column[name], k, [*by, name], file.n)
        for token in tokens:
            rowhash.add_cells(hashes, token)
    return int(rowhash.count_classes(hashes).sizes.min()), by_column


class Copies:
    """Columns of a source that are published as they are: their cells alone, in fresh memory.

    A dictionary holds the entries that are used anywhere in its column, in all row groups: such columns are read once
    more.
    """

    def __init__(self, source: ParquetSource, names: Sequence[str]) -> None:
        import pyarrow as pa

        self.source, self.names = source, list(names)
        kinds = {name: source.schema.field(name).type for name in names}
        encoded = [name for name, kind in kinds.items() if pa.types.is_dictionary(kind)]
        every = {name: pa.array([], kinds[name].value_type) for name in encoded}
        used = dict(every)
        for group in source.row_groups(encoded) if encoded else ():
            for name in encoded:
                for chunk in group.column(name).chunks:
                    entries, codes = chunk.dictionary, chunk.indices.drop_null().unique()
                    every[name] = pa.concat_arrays([every[name], entries]).unique()
                    used[name] = pa.concat_arrays([used[name], entries.take(codes)]).unique()
        self.entries = {name: _entries(every[name], used[name], kinds[name].ordered) for name in encoded}

    def row_groups(self, hashes: Mapping[str, Any]) -> Iterator[Any]:
        """The row groups, as they are to be written."""
        for group in self.source.row_groups(self.names, hashes):
            yield arrow_table(group.schema, [self._fresh(name, group.column(name)) for name in self.names])

    def _fresh(self, name: str, column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if name not in self.entries:
            return fresh_column(column)
        entries, kind = self.entries[name], column.type
        codes = [pc.index_in(chunk.dictionary, entries).take(chunk.indices) for chunk in column.chunks]
        from_arrays = pa.DictionaryArray.from_arrays
        chunks = [from_arrays(some.cast(kind.index_type), entries, ordered=kind.ordered) for some in codes]
        return pa.chunked_array(chunks, kind)


def _entries(every: Any, used: Any, ordered: bool) -> Any:
    """The used entries of a dictionary, in the order that a table in memory gets."""
    import pyarrow as pa
    import pyarrow.compute as pc

    some = every.filter(pc.is_in(every, used)).drop_null()
    return fresh_column(pa.DictionaryArray.from_arrays(pa.array(range(len(some))), some, ordered=ordered)).dictionary


class ColumnFiles:
    """Finished columns, each in a file of its own beside the output, with a journal; removed when the block ends.

    The journal holds the hashes of these files and of the columns that they were made of.  The latter are keyed with
    the `identity` of the source; a source without one is not continued.  The folder is the data holder's alone.
    """

    def __init__(self, output: pathlib.Path, run: list[Any], identity: bytes | None) -> None:
        self.folder, self._run = parts_of(output), json.dumps(to_json_types(run), sort_keys=True).encode()
        self.done: dict[str, dict[str, Any]] = {}
        self._identity = secrets.token_bytes(SALT) if identity is None else identity
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            journal = json.loads((self.folder / "journal.json").read_text())
            self._take_salt(bytes.fromhex(journal["salt"]))
            if hmac.compare_digest(journal["run"], self._signature()):
                facts = ("sha256", "n_groups", "made_of")
                self.done = {name: {fact: one[fact] for fact in facts} for name, one in journal["columns"].items()}
        if not self.done:
            self._take_salt(secrets.token_bytes(SALT))
            self.remove()

    def __enter__(self) -> "ColumnFiles":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()

    def _take_salt(self, salt: bytes) -> None:
        """Make the key, which takes a while: whoever does not know the source's identity has to guess it."""
        self._salt, self._key = salt, hashlib.scrypt(self._identity, salt=salt, n=SCRYPT, r=8, p=1, dklen=32)

    def new_hash(self) -> Any:
        """A hash that says nothing to those who do not know the source's identity."""
        return hmac.new(self._key, digestmod="sha256")

    def _signature(self) -> str:
        """Of the run, with its options: that of another run, or of another source, differs."""
        hashed = self.new_hash()
        hashed.update(self._run)
        return hashed.hexdigest()

    def _file(self, name: str) -> pathlib.Path:
        return self.folder / (hashlib.sha256(name.encode()).hexdigest()[:32] + ".parquet")

    def intact(self, name: str) -> bool:
        """Whether a column is there with the bytes that were written."""
        with contextlib.suppress(OSError):
            return name in self.done and digest(self._file(name)) == self.done[name]["sha256"]
        return False

    def add(self, name: str, column: Any, n_groups: int, made_of: dict[str, str]) -> None:
        """Keep a column; the journal names it once its bytes are on disk."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.folder.mkdir(mode=0o700, exist_ok=True)
        self.done.pop(name, None)
        with Reserved([self._file(name)], overwrite=True).drafts() as [draft]:
            pq.write_table(pa.table({"column": column}), draft, row_group_size=ROWS_PER_GROUP)
        self.done[name] = {"sha256": digest(self._file(name)), "n_groups": n_groups, "made_of": made_of}
        with Reserved([self.folder / "journal.json"], overwrite=True).drafts() as [draft]:
            signed = {"salt": self._salt.hex(), "run": self._signature()}
            draft.write_text(json.dumps(signed | {"columns": self.done}))

    def row_groups(self, name: str) -> Iterator[Any]:
        """A column's row groups, of the bytes that were written."""
        if not self.intact(name):
            raise InputRuntimeError(
                f"The part of column {name!r} has changed since it was written: nothing is published."
            )
        return ParquetSource(self._file(name)).row_groups(["column"])

    def remove(self) -> None:
        """Forget the columns."""
        remove_parts(self.folder)
