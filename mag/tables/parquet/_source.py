"""Parquet in the memory of a row group: a file, folder or data set that is read, and columns of it that are copied."""

import contextlib
import json
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mag._lib.content import update_hash
from mag._lib.errors import InputValueError
from mag._lib.fresh import arrow_table, fresh_column
from mag._lib.roles import repeated_names

ROWS_PER_GROUP = 2**18  # rows per row group of a written file, and rows of all columns that are in memory at once
NewHash = Callable[[], Any]


def is_source(table: Any) -> bool:
    """Whether this is a path, a source, or a data set, which only pyarrow's own module can have made."""
    known = isinstance(table, (str, os.PathLike, ParquetSource))
    return known or type(table).__module__.startswith("pyarrow._dataset")


def source_of(table: Any) -> "ParquetSource":
    """The source at a path or of a data set."""
    return table if isinstance(table, ParquetSource) else ParquetSource(table)


class ParquetSource:
    """A Parquet file, a folder of them or a `pyarrow.dataset`, read in row order and column by column.

    Folders named like ``year=2024`` are a column, as in Hive.  `text` are options of the file for the manifest.
    """

    text: Mapping[str, Any] = {}

    def __init__(self, source: Any) -> None:
        import pyarrow.dataset as pads

        with naming_the_file(source):
            if isinstance(source, pads.Dataset):
                self.dataset = source
            else:  # do not interpret parent folders of a single file as partition columns
                path = os.path.abspath(source) if os.path.exists(source) else os.fspath(source)  # or an address
                folders = "hive" if os.path.isdir(path) else None
                self.dataset = pads.dataset(path, format="parquet", partitioning=folders)
            self.schema = self.dataset.schema
            self._stored = list(_stored_files(self.dataset))
            self.files = [file for system, file in self._stored if system.type_name == "local"]
            self._opened = self._stamp()
            try:
                self.fragments = list(self.dataset.get_fragments())
            except ValueError:  # a filtered data set has no fragments in pyarrow: scan it as a whole
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
        return table, hexadecimal(hashes)

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
        return hexadecimal(hashes)

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
        """System metadata of the files, which cannot be derived from their cells; None unless all are local files."""
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
    """The error if two reads of the input differ."""
    return InputValueError("the input has changed while it was read; nothing was written.")


@contextlib.contextmanager
def naming_the_file(path: Any, names: Sequence[str] = ()) -> Iterator[None]:
    """Rephrase Arrow's error about an unreadable file in one sentence."""
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


def hexadecimal(hashes: Mapping[str, Any]) -> dict[str, str]:
    """The hashes of columns as text."""
    return {name: hashed.hexdigest() for name, hashed in hashes.items()}


def check_agreement(seen: dict[str, str], contents: dict[str, str]) -> None:
    """Every column has the content that it had when it was `seen` before, where those seen now are added."""
    for name, content in contents.items():
        if seen.setdefault(name, content) != content:
            raise input_changed()


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

    def row_groups(self, hashes: Mapping[str, Any]) -> Iterator[list[Any]]:
        """The columns of every row group, as they are to be written."""
        if not self.names:
            yield from ([] for _ in range(0, self.source.n, ROWS_PER_GROUP))
            return
        for group in self.source.row_groups(self.names, hashes):
            fresh = [self._fresh(name, group.column(name)) for name in self.names]
            yield arrow_table(group.schema, fresh).columns

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
