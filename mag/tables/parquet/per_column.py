"""Out of core: a Parquet file masked column by column, in the memory of a few copies of one column.

Masked columns wait in files of their own next to the output, so that the next run continues after them if this one is
killed; every other end removes them.  A journal holds their hashes and those of the columns that they were made from: a
part is used again only if its source column, read again, has the same content.  These hashes are keyed with the
system's identity of the input files: nobody without it can test guesses of the original on them.
"""

import contextlib
import hashlib
import hmac
import json
import pathlib
import secrets
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mag import __version__, verify
from mag._lib import rowhash
from mag._lib.atomic import Reserved, digest
from mag._lib.cells import numbers_of_arrow
from mag._lib.errors import InputRuntimeError
from mag._lib.json_types import to_json_types
from mag._lib.wording import named
from mag.api.table_options import PARQUET_BY_COLUMN, Options
from mag.tables._manifest import installed_versions
from mag.tables._pipeline import release_table
from mag.tables._request import ColumnRoles, decimals_by_column, roles_of, sizes_by_column
from mag.tables._sensitive import demands_of
from mag.tables.parquet import _source
from mag.tables.parquet._job import MASKED, FileJob, FileRelease, Masked, check_options, give_back_memory
from mag.tables.parquet._parts import PartsFolder
from mag.tables.parquet._source import ParquetSource, check_agreement, source_of

SALT = 16  # bytes
SCRYPT = 2**14  # blocks of 1 KB that a guess of the key has to fill: some 50 ms


def release_file(table: Any, options: Options) -> FileRelease:
    """Mask a Parquet file into another, one column after the other."""
    dropped = [named("missing", "drop")] if options.missing == "drop" else []
    check_options(options, PARQUET_BY_COLUMN, [*dropped, *options.of_method])
    source = source_of(table)
    roles = roles_of(source.names, options, demands_of(options.diversity, options.closeness, source.names))
    return ColumnJob(source, options, roles).write()


class ColumnJob(FileJob["ColumnFiles"]):
    """One file whose columns are masked one after the other, with the `k` and the decimals of each."""

    engine, scope = PARQUET_BY_COLUMN, "per-column"

    def __init__(self, source: ParquetSource, options: Options, roles: ColumnRoles) -> None:
        from pyarrow.types import is_floating

        self.ks: dict[Any, int] = sizes_by_column(options.k, roles.columns, options.scope)
        super().__init__(source, options, roles)
        floats = [name for name in roles.columns if is_floating(source.schema.field(name).type)]
        self.decimals = decimals_by_column(options.round, floats)
        weights = [] if options.weights is None else [options.weights]
        self.beside: list[Any] = list(dict.fromkeys([*roles.by, *roles.unit, *weights]))  # read with every column

    def open_parts(self, folder: pathlib.Path) -> "ColumnFiles":
        """The columns of this run, or of an earlier one: a cost that the caller wrote may have changed."""
        types = [[field.name, str(field.type)] for field in self.source.schema]
        run = [__version__, installed_versions(), self.recorded(), self.source.n, types]
        resumable = self.options.cost is None or isinstance(self.options.cost, str)
        return ColumnFiles(folder, run, self.source.identity() if resumable else None)

    def mask(self, parts: "ColumnFiles") -> Masked:
        """Mask the columns that no earlier run had completed."""
        seen: dict[str, str] = {}
        resumed = 0
        for step, name in enumerate(self.ks, 1):
            names = list(dict.fromkeys([name, *self.beside]))
            contents = self.source.contents(names, parts.new_hash) if parts.intact(name) else {}
            if contents and contents == parts.done[name]["made_of"]:
                resumed += 1
            else:
                table, contents = self.source.table(names, parts.new_hash)
                column, n_groups = self.mask_column(name, table)
                del table
                parts.add(name, column, n_groups, contents)
                del column
                give_back_memory()  # sorting a column takes the memory of several copies
            check_agreement(seen, contents)
            self.progress.step(MASKED * step / len(self.ks))
        groups = {name: parts.done[name]["n_groups"] for name in self.ks}
        notes = (f"{resumed} of {len(self.ks)} columns were masked by an earlier run.",) if resumed else ()
        return Masked(seen, groups, "univariate", notes, resumed)

    def mask_column(self, name: Any, table: Any) -> tuple[Any, int]:
        """A column of this table, masked within its strata, and the number of its groups."""
        used = [name, *self.roles.by, *self.roles.unit]
        aside = [other for other in self.beside if other not in used]
        own = {"k": self.ks[name], "columns": name, "keep": (), "drop": aside, "round": self.decimals.get(name)}
        release = release_table(table, replace(self.options, by=self.roles.by, progress=None, **own))
        return release.data.column(name), release.guarantee.n_groups[name]  # type: ignore[index]

    def masked_columns(self, parts: "ColumnFiles", schema: Any) -> Iterator[list[Any]]:
        """The masked columns of every row group."""
        for tables in zip(*map(parts.row_groups, self.ks), strict=True):
            yield [table.column(0) for table in tables]

    def recount(self, file: ParquetSource, parts: "ColumnFiles") -> dict[str, Any]:
        """By all columns, and by each."""
        smallest, by_column = recount_file(file, self.ks, self.roles.by)
        counts: dict[str, Any] = {"smallest": smallest, "smallest_by_column": by_column}
        for unit in self.roles.unit:
            owners = rowhash.classes(numbers_of_arrow(self.source.column(str(unit))))
            least, units_by_column = recount_units(file, self.ks, self.roles.by, owners)
            counts |= {"unit": unit, "smallest_units": least, "smallest_units_by_column": units_by_column}
        return counts


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


def recount_units(
    file: ParquetSource, ks: Mapping[Any, int], by: Sequence[Any], owners: np.ndarray
) -> tuple[int, dict[Hashable, int]]:
    """The same in units; `owners` number those of the records."""
    strata = [token for name in by for token in numbers_of_arrow(file.column(name))]
    rows = rowhash.classes(strata) if strata else np.zeros(file.n, np.int64)
    by_column: dict[Hashable, int] = {}
    for name, k in ks.items():
        tokens = numbers_of_arrow(file.column(name))
        by_column[name] = verify.require_enough(_fewest([*strata, *tokens], owners), k, [*by, name])
        rows = rowhash.classes([rows, *tokens])
    return _fewest([rows], owners), by_column


def _fewest(tokens: list[np.ndarray], owners: np.ndarray) -> int:
    """The smallest number of owners of a class of equal rows."""
    span = int(owners.max()) + 1
    pairs = np.unique(rowhash.classes(tokens) * span + owners)
    return int(np.bincount(pairs // span).min())


class ColumnFiles(PartsFolder):
    """Finished columns, each in a file of its own next to the output, with a journal.

    The journal holds the hashes of these files and of the columns that they were made from.  The latter are keyed with
    the `identity` of the source; a source without one is not continued.
    """

    def __init__(self, folder: pathlib.Path, run: list[Any], identity: bytes | None) -> None:
        super().__init__(folder)
        self._run = json.dumps(to_json_types(run), sort_keys=True).encode()
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

    def _take_salt(self, salt: bytes) -> None:
        """Make the key slowly, so that guessing the source's identity takes long."""
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
            pq.write_table(pa.table({"column": column}), draft, row_group_size=_source.ROWS_PER_GROUP)
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
