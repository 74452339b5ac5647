"""Out of core: a Parquet file masked into another; the steps around the masking, which `FileJob` shares.

The output is locked and written as a draft.  Masked cells wait in a folder next to it, and are put together with the
other columns row group by row group; the draft is read back and counted, and only then gets its name.
"""

import abc
import json
import os
import pathlib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from mag._lib import checks, workspace
from mag._lib.atomic import MANIFEST, digest, reserving
from mag._lib.errors import InputRuntimeError, InputTypeError, InputValueError
from mag._lib.fresh import bare_field
from mag._lib.notice import working_on
from mag._lib.progress import Progress
from mag._lib.roles import is_name
from mag.api.options import progress_of
from mag.api.table_options import Options
from mag.api.types import ProgressReport
from mag.report import Audience
from mag.tables._guarantee import Guarantee
from mag.tables._manifest import Provenance, make_manifest
from mag.tables._request import ColumnRoles, check_choices, record_options
from mag.tables.group_sample import GroupSample
from mag.tables.parquet import _source
from mag.tables.parquet._parts import PartsFolder, parts_of
from mag.tables.parquet._source import Copies, ParquetSource, check_agreement, hexadecimal

Parts = TypeVar("Parts", bound=PartsFolder)
MASKED, WRITTEN = 0.85, 0.95  # shares of the work, for the progress


@dataclass(frozen=True)
class FileRelease:
    """A published file with its guarantee, as returned by `mag.microaggregate` for Parquet files.

    Attributes
    ----------
    path : pathlib.Path
        The published file.
    guarantee : Guarantee
        The promises, counted on the file.
    warnings : tuple of str
        Advice for the publisher.
    resumed : int
        The number of columns that an earlier, unfinished run had completed.
    """

    path: pathlib.Path
    guarantee: Guarantee
    warnings: tuple[str, ...]
    resumed: int
    _manifest: dict[str, Any]
    _sample: GroupSample | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_sample": None}  # which holds originals

    def __repr__(self) -> str:
        return "\n".join([str(self.guarantee), *(f"Note: {warning}" for warning in self.warnings)])

    @property
    def data(self) -> Any:
        """The published file as a `pyarrow.dataset.Dataset`."""
        return ParquetSource(self.path).dataset

    def manifest(self) -> dict[str, Any]:
        """The manifest, which is also written next to the published file."""
        return self._manifest

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        overwrite: bool = False,
        about: Mapping[str, str] | None = None,
        progress: ProgressReport = None,
        audience: Audience = "internal",
    ) -> pathlib.Path:
        """Write a report on a file that was masked jointly; parameters and result are those of `Release.report`.

        Classes are counted on the whole file; distributions, losses and risks are those of a sample of its groups.
        """
        if self._sample is None:
            raise InputRuntimeError(
                "report needs the release of a file with scope='joint' that mag.microaggregate returned, not a copy."
            )
        return self._sample.write(
            path, self.guarantee, self._manifest, (self.path,),
            title=title, overwrite=overwrite, about=about, progress=progress, audience=audience,
        )  # fmt: skip


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


@dataclass(frozen=True)
class Masked:
    """Facts about the masked cells: `contents` are the hashes of the columns that were read."""

    contents: dict[str, str]
    n_groups: int | dict[Hashable, int]
    method: str
    warnings: tuple[str, ...] = ()
    resumed: int = 0
    sample: GroupSample | None = None


class FileJob(abc.ABC, Generic[Parts]):
    """One file and the steps that mask it."""

    engine: ClassVar[str]
    scope: ClassVar[str]

    def __init__(self, source: ParquetSource, options: Options, roles: ColumnRoles) -> None:
        if options.weights is not None and not is_name(options.weights, source.names):
            raise InputValueError("weights must name a column of the file.")
        self.source, self.options, self.roles = source, options, roles
        self.overwrite = checks.flag("overwrite", options.overwrite)
        self.progress = Progress(progress_of(options.progress))
        self.published: list[Any] = [name for name in source.names if name not in roles.unpublished]

    @abc.abstractmethod
    def open_parts(self, folder: pathlib.Path) -> Parts:
        """The folder that masked cells wait in."""

    @abc.abstractmethod
    def mask(self, parts: Parts) -> Masked:
        """Mask all columns."""

    @abc.abstractmethod
    def masked_columns(self, parts: Parts, schema: Any) -> Iterator[list[Any]]:
        """The masked columns of every row group, in the order of the roles."""

    @abc.abstractmethod
    def recount(self, file: ParquetSource, parts: Parts) -> dict[str, Any]:
        """The counts of the guarantee, of the written file; a class that is too small is an error."""

    def recorded(self) -> dict[str, Any]:
        """The options for the manifest."""
        return record_options(self.options, self.roles, self.engine)

    def write(self) -> FileRelease:
        """Mask, put together, count, and give the file its name."""
        output = pathlib.Path(self.options.output)
        beside = output.with_name(output.name + MANIFEST)
        read = [*map(pathlib.Path, self.source.files), *self.options.files()]
        with (
            working_on(quiet=self.progress.quiet),
            reserving(output, beside, sources=read, overwrite=self.overwrite) as reserved,
            reserved.drafts() as [draft, note],
            self.open_parts(parts_of(reserved.places[0])) as parts,
        ):
            masked = self.mask(parts)
            self._put_together(draft, parts, masked.contents)
            self.source.check_unchanged()
            self.progress.step(WRITTEN)
            guarantee = self._guarantee(masked, self.recount(ParquetSource(draft), parts))
            manifest = self._manifest(masked, guarantee, {"name": output.name, "sha256": digest(draft)})
            note.write_text(json.dumps(manifest, indent=1) + "\n")
        self.progress.finish()
        return FileRelease(output, guarantee, masked.warnings, masked.resumed, manifest, masked.sample)

    def _put_together(self, draft: pathlib.Path, parts: Parts, contents: dict[str, str]) -> None:
        """Write row group by row group; columns that were read before must have the same content."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        masked = self.roles.columns
        copies = Copies(self.source, [name for name in self.published if name not in masked])
        hashes = {name: parts.new_hash() for name in copies.names if name in contents}
        schema = pa.schema([bare_field(self.source.schema.field(name)) for name in self.published])
        groups = zip(copies.row_groups(hashes), self.masked_columns(parts, schema), strict=True)
        with pq.ParquetWriter(draft, schema) as writer:
            for step, (copied, columns) in enumerate(groups, 1):
                cells = dict(zip([*copies.names, *masked], [*copied, *columns], strict=True))
                writer.write_table(pa.table([cells[name] for name in self.published], schema=schema))
                give_back_memory()
                done = min(step * _source.ROWS_PER_GROUP / self.source.n, 1.0)
                self.progress.step(MASKED + (WRITTEN - MASKED) * done)
        check_agreement(contents, hexadecimal(hashes))

    def _guarantee(self, masked: Masked, counts: dict[str, Any]) -> Guarantee:
        return Guarantee(
            scope=self.scope,
            k=self.options.k,
            columns=tuple(self.roles.columns),
            by=tuple(self.roles.by),
            kept=tuple(self.roles.keep),
            n_records=self.source.n,
            withheld=0,
            n_groups=masked.n_groups,
            **counts,
        )

    def _manifest(self, masked: Masked, guarantee: Guarantee, file: dict[str, Any]) -> dict[str, Any]:
        provenance = Provenance.of(self.recorded(), self.source.n, self.source.names)
        published = {"records": self.source.n, **file}
        made = make_manifest(provenance, guarantee, published, masked.method, True, masked.warnings)
        return made | ({"text": dict(self.source.text)} if self.source.text else {})


def give_back_memory() -> None:
    """Memory that is kept for the next call, ours and pyarrow's."""
    import pyarrow as pa

    workspace.release()
    pa.default_memory_pool().release_unused()
