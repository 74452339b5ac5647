"""Out of core: a Parquet file masked column by column, in the memory of a few copies of one column.

Masked columns wait in files of their own beside the output, whose hashes a journal tells, so that a run that was killed
goes on behind them.  Then the columns are put together row group by row group; what was written is read back, counted
column by column, and only then gets its name.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import shutil
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag import __version__, verify
from mag._atomic import MANIFEST, digest, writing
from mag.backends import _workspace
from mag.methods._watch import Watch
from mag.release import Guarantee

ROWS = 2**18  # of a row group of what is written, and of what is held of all columns at once


def is_source(table: Any) -> bool:
    """Whether this is a path or a data set, which only pyarrow's own module can have made."""
    return isinstance(table, (str, os.PathLike)) or type(table).__module__.startswith("pyarrow._dataset")


class Source:
    """A Parquet file, a folder of them or a `pyarrow.dataset`, read in row order and column by column."""

    def __init__(self, source: Any) -> None:
        import pyarrow.dataset as pads

        with told(source):
            given = isinstance(source, pads.Dataset)
            self.dataset = source if given else pads.dataset(os.fspath(source), format="parquet")
            self.schema = self.dataset.schema
            self.files = [os.fspath(file) for file in getattr(self.dataset, "files", [])]
            self.n = self.dataset.count_rows()
        self.names: list[Any] = list(self.schema.names)
        twice = sorted({str(name) for name in self.names if self.names.count(name) > 1})
        if twice:
            raise ValueError(f"table must have columns of different names; got {', '.join(twice)} more than once.")

    def table(self, names: Sequence[str]) -> Any:
        """All rows of some columns."""
        import pyarrow as pa

        parts = list(self._parts(names, ROWS))
        return pa.concat_tables(parts) if parts else self.schema.empty_table().select(names)

    def _parts(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """The rows as they are stored, at most `rows` at a time, in the types of the whole."""
        import pyarrow as pa
        import pyarrow.dataset as pads
        import pyarrow.parquet as pq

        schema = pa.schema([self.schema.field(name) for name in names])
        for fragment in self.dataset.get_fragments():
            with told(getattr(fragment, "path", "the data set"), names):
                stored = fragment.physical_schema.names
                if isinstance(fragment, pads.ParquetFileFragment) and all(stored.count(name) == 1 for name in names):
                    # A scan would read ahead many columns' worth of memory.
                    file = pq.ParquetFile(fragment.open(), pre_buffer=False)
                    batches = file.iter_batches(rows, columns=list(names), use_threads=False)
                else:  # columns that only the names of folders tell
                    batches = fragment.to_batches(self.schema, columns=list(names), batch_size=rows, batch_readahead=1)
                for batch in batches:
                    yield pa.Table.from_batches([batch]).cast(schema)

    def groups(self, names: Sequence[str], rows: int) -> Iterator[Any]:
        """The same rows, exactly `rows` at a time, fewer at the end."""
        import pyarrow as pa

        held: list[Any] = []
        have = 0
        for part in self._parts(names, rows):
            held.append(part)
            have += part.num_rows
            while have >= rows:
                whole = pa.concat_tables(held)
                yield whole.slice(0, rows)
                held, have = [whole.slice(rows)], have - rows
        if have:
            yield pa.concat_tables(held)

    def stamp(self) -> list[Any]:
        """What tells these data from others: files with their sizes and times, or the number of rows."""
        files = [
            (file, os.stat(file).st_size, os.stat(file).st_mtime_ns) for file in self.files if os.path.exists(file)
        ]
        return [self.n, str(self.schema), files]


@contextlib.contextmanager
def told(path: Any, names: Sequence[str] = ()) -> Iterator[None]:
    """What Arrow says of a file it cannot read, in one sentence."""
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
        raise ValueError(f"{pathlib.Path(str(path)).name!r} could not be read:{which} {kind}.") from error


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
        What its publisher should look at.
    resumed : int
        How many columns an earlier run, which did not end, had finished.
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
        return Source(self.path).dataset

    def manifest(self) -> dict[str, Any]:
        """What was done, for the record: what stands in the file beside the published one."""
        return self._manifest


def columnwise(
    masked: Callable[[str, Any], tuple[Any, int]],
    source: Source,
    output: Any,
    *,
    ks: dict[Any, int],
    k: Any,
    by: list[Any],
    keep: list[Any],
    drop: list[Any],
    reads: list[Any],
    options: dict[str, Any],
    versions: dict[str, str],
    overwrite: bool,
    watch: Watch,
) -> FileRelease:
    """Mask the columns that `ks` names, one after the other: `masked` gives a column and its number of groups.

    Beside its own column it is handed those of `reads`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    output = pathlib.Path(output)
    published = [name for name in source.names if name not in drop]
    steps = len(ks) + 2
    beside = output.with_name(output.name + MANIFEST)
    with writing(output, beside, sources=source.files, overwrite=overwrite) as [draft, note]:
        parts = Parts(output, [source.stamp(), options])
        resumed = len(parts.done)
        for step, name in enumerate(ks):
            if name not in parts.done:
                column, n_groups = masked(name, source.table([name, *reads]))
                parts.add(name, column, n_groups)
                del column
                _workspace.release()  # what a column takes to sort is several of its copies
            watch.step((step + 1) / steps)
        untouched = [name for name in published if name not in ks]
        streams = [parts.groups(name) for name in ks] + ([source.groups(untouched, ROWS)] if untouched else [])
        schema = pa.schema([source.schema.field(name) for name in published], metadata=source.schema.metadata)
        with pq.ParquetWriter(draft, schema) as writer:
            for group in zip(*streams, strict=True):
                cells = [column for part in group for column in part.columns]
                found = dict(zip([*ks, *untouched], cells, strict=True))
                writer.write_table(pa.table([found[name] for name in published], schema=schema), row_group_size=ROWS)
        watch.step((len(ks) + 1) / steps)
        smallest, by_column = recounted(Source(draft), ks, by)
        counts: dict[Any, int] = {name: parts.done[name]["n_groups"] for name in ks}
        guarantee = Guarantee(
            "per-column", k, tuple(ks), tuple(by), tuple(keep), source.n, 0, counts, smallest, by_column
        )  # fmt: skip
        warnings = (f"{resumed} of {len(ks)} columns were masked by an earlier run.",) if resumed else ()
        told = {
            "mag": __version__, "versions": versions, "options": options, "method": "univariate", "complete": True,
            "table": {"records": source.n, "columns": source.names, "files": source.stamp()[-1]},
            "published": {"records": source.n, "name": output.name, "sha256": digest(draft)},
            "guarantee": vars(guarantee) | {"text": str(guarantee)}, "untouched": keep, "warnings": warnings,
        }  # fmt: skip
        note.write_text(json.dumps(told, indent=1) + "\n")
    parts.remove()
    watch.done()
    return FileRelease(output, guarantee, warnings, resumed, told)


def recounted(written: Source, ks: Mapping[str, int], by: Sequence[str]) -> tuple[int, dict[Hashable, int]]:
    """The smallest class of a file, and that of every column; one below k is an error.

    Whole records are told apart by two hashes, 128 bits, so that no more than one column is held at a time.
    """
    strata = [token for name in by for token in verify.of_arrow(written.table([name]).column(0))]
    hashes = [np.zeros(written.n, np.uint64), np.zeros(written.n, np.uint64)]
    found: dict[Hashable, int] = {}
    for name, k in ks.items():
        tokens = verify.of_arrow(written.table([name]).column(0))
        found[name] = verify.smallest([*strata, *tokens])
        verify.require(found[name], k, [*by, name], written.n)
        for token in tokens:
            verify.mix(hashes[0], token, 0)
            verify.mix(hashes[1], token, 1)
    return verify.smallest([*strata, *hashes]), found


class Parts:
    """Finished columns, each in a file of its own beside the output; a journal tells their hashes."""

    def __init__(self, output: pathlib.Path, made_of: list[Any]) -> None:
        self.folder = output.with_name(f".{output.name}.parts")
        self.key = hashlib.sha256(json.dumps(made_of, sort_keys=True, default=str).encode()).hexdigest()
        self.done: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError):
            journal = json.loads((self.folder / "journal.json").read_text())
            if journal["key"] == self.key:
                self.done = {name: one for name, one in journal["columns"].items() if self._intact(one)}
        if not self.done:
            self.remove()

    def _intact(self, one: dict[str, Any]) -> bool:
        with contextlib.suppress(OSError):
            return digest(self.folder / one["file"]) == one["sha256"]
        return False

    def add(self, name: str, column: Any, n_groups: int) -> None:
        """Keep a column; the journal names it once its bytes are on disk."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.folder.mkdir(exist_ok=True)
        file = hashlib.sha256(name.encode()).hexdigest()[:32] + ".parquet"
        with writing(self.folder / file, overwrite=True) as [draft]:
            pq.write_table(pa.table({"column": column}), draft, row_group_size=ROWS)
        self.done[name] = {"file": file, "sha256": digest(self.folder / file), "n_groups": n_groups}
        with writing(self.folder / "journal.json", overwrite=True) as [draft]:
            draft.write_text(json.dumps({"key": self.key, "columns": self.done}))

    def groups(self, name: str) -> Iterator[Any]:
        """A column's row groups."""
        return Source(self.folder / self.done[name]["file"]).groups(["column"], ROWS)

    def remove(self) -> None:
        """Forget the columns."""
        shutil.rmtree(self.folder, ignore_errors=True)
