"""The release of `mag.suppress`."""

import os
import pathlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mag import verify
from mag._lib.atomic import check_target
from mag._lib.errors import InputRuntimeError
from mag._lib.progress import Progress
from mag.api.options import progress_of
from mag.api.types import ProgressReport
from mag.frames import frame_of
from mag.frames.foreign import stream_of
from mag.tables._compared import Original
from mag.tables._manifest import Provenance, digest_column, make_manifest
from mag.tables.suppression.guarantee import SuppressionGuarantee

if TYPE_CHECKING:
    from mag.report import Audience


@dataclass(frozen=True, eq=False, repr=False)
class Suppression:
    """A published table with suppressed cells, as returned by `mag.suppress`.

    Pickles and copies hold only published facts: `suppressed`, `units`, `withheld_rows` and an internal `report` need
    the original and work on the release itself only.

    Attributes
    ----------
    data : frame or dict
        The published table, in the library of the original.
    guarantee : SuppressionGuarantee
        The guarantee, counted on `data`.
    warnings : tuple of str
        Advice for the publisher.
    """

    data: Any
    guarantee: SuppressionGuarantee
    warnings: tuple[str, ...]
    _provenance: Provenance
    _original: Original | None = None

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_original": None, "guarantee": self.guarantee.published()}

    @property
    def suppressed(self) -> dict[Hashable, int]:
        """By column: how many cells were suppressed; pickles do not know."""
        if self.guarantee.suppressed is None:
            self._need_original()
        return dict(self.guarantee.suppressed or {})

    @property
    def withheld(self) -> int:
        """The number of records that are not published."""
        return self.guarantee.withheld

    def count_with_kept(self) -> tuple[int, int] | None:
        """The smallest class in all published columns, and the records in classes of fewer than k, cell by cell.

        With a unit both are of units, and not known of pickles.  None if no column is kept.
        """
        if not self.guarantee.kept or (self.guarantee.unit is not None and self._original is None):
            return None
        units = None if self.guarantee.unit is None else self.units()
        sizes = verify.class_sizes(self.data, frame_of(self.data).names, units)
        return int(sizes.min()), int((sizes < self.guarantee.k).sum())

    def units(self) -> list[Any]:
        """The unit of every published record, for the holder of the data; pickles do not hold them."""
        original = self._need_original()
        return verify.cells_of_unit(original.frame, self.guarantee.unit, original.rows)

    def withheld_rows(self) -> np.ndarray:
        """The row numbers, in the original table, of the records that are not published; pickles do not hold them."""
        return self._need_original().withheld_rows()

    def _need_original(self) -> Original:
        if self._original is None:
            raise InputRuntimeError(
                "suppressed, units, withheld_rows and an internal report need the original table, which pickles and "
                "copies of a release do not hold; use the release that mag.suppress returned."
            )
        return self._original

    def report(
        self,
        path: str | os.PathLike[str],
        title: str | None = None,
        overwrite: bool = False,
        about: Mapping[str, str] | None = None,
        progress: ProgressReport = None,
        audience: "Audience" = "internal",
    ) -> pathlib.Path:
        """Write a report on the release, one self-contained HTML file, and return its path.

        Parameters
        ----------
        path : path
            A file in a folder that exists.
        title : str, optional
            The heading of the page.
        overwrite : bool
            Replace a file that exists; never one that was read for the release.
        about : dict of str, optional
            Lines below the title, such as ``{"Data": "Survey of 2026", "Made by": "A. Smith"}``; the date follows them.
        progress
            As in `mag.microaggregate`.
        audience : {"internal", "external"}
            Who reads the page.  An external one shows no values before suppression, and no warnings, which are for the
            publisher.

        Returns
        -------
        pathlib.Path
            The page.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import mag
        >>> people = {"age": [31, 31, 52, 52, 40], "job": ["nurse", "nurse", "cook", "cook", "cook"]}
        >>> release = mag.suppress(people, 2, ["age", "job"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = release.report(pathlib.Path(folder, "report.html")).read_text(encoding="utf-8")
        >>> "Suppressed cells" in page
        True
        """
        from mag.report import is_external, write
        from mag.tables.suppression.facts import facts_of, published_facts

        check_target(path, () if self._original is None else self._original.files, overwrite)
        steps = Progress(progress_of(progress))
        if is_external(audience):
            facts = published_facts(
                replace(self, _provenance=replace(self._provenance, seconds={})), title, about or {}
            )
        else:
            facts = facts_of(self, self._need_original(), title, about or {})
        page = write(path, facts, overwrite, steps.span(0.3, 1.0).step)
        steps.finish()
        return page

    def with_options(self, **options: Any) -> "Suppression":
        """The same release, with these options in its manifest, for columns that were not even read."""
        provenance = replace(self._provenance, options=self._provenance.options | options)
        return replace(self, _provenance=provenance)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """`data` for a library that reads Arrow, as by ``polars.DataFrame(release)``; of pandas without the index."""
        return stream_of(self.data, requested_schema)

    def manifest(self) -> dict[str, Any]:
        """Versions, options, shape, hashes and the guarantee, in the types of JSON."""
        published = frame_of(self.data)
        hashes = {str(name): digest_column(published, name) for name in published.names}
        facts = {"records": published.n, "sha256": hashes}
        manifest = make_manifest(self._provenance, self.guarantee, facts, "cell suppression", True, self.warnings)
        return manifest | {"seconds": self._provenance.seconds}

    def __repr__(self) -> str:
        return "\n".join([str(self.guarantee), *(f"Note: {warning}" for warning in self.warnings)])
