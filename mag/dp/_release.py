"""The result: the published table, and a sentence that states the guarantee and its assumptions."""

import json
import os
import pathlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from mag import __version__
from mag._lib import checks
from mag._lib.atomic import MANIFEST, digest, writing
from mag._lib.errors import InputValueError
from mag._lib.json_types import to_json_types
from mag.dp._budget import NEIGHBORS, Entry, written, written_up
from mag.dp._random import Noise, source
from mag.frames.build import build_frame

SEEDED = "NOT PRIVATE: drawn with a known seed. "
PUBLIC = "Bounds, categories and options count as public."
ADVISED = Fraction(1, 10**6)  # the largest δ without a warning where the number of records is secret


@dataclass(frozen=True)
class PrivacyGuarantee:
    """The guarantee, whom it protects, and its assumptions; `str` is the sentence to publish."""

    mechanism: str
    epsilon: Fraction
    delta: Fraction
    neighbors: str
    contributions: int
    public: tuple[str, ...]
    sentence: str
    holds: bool

    def __str__(self) -> str:
        return f"{'' if self.holds else SEEDED}{self.sentence} {PUBLIC}"


@dataclass(frozen=True, repr=False)
class PrivateRelease:
    """A table that may be published, with its guarantee.

    Attributes
    ----------
    data : frame or dict
        The published table, in the library of the table that it was made of; rows are sorted by value, or in an order
        that is random.
    guarantee : PrivacyGuarantee
        The guarantee.
    ledger : tuple of Entry
        The charges.
    warnings : tuple of str
        Advice for the publisher, based on options alone.

    Examples
    --------
    >>> import mag.dp
    >>> ages = {"age": [31, 33, 35, 38, 52, 57]}
    >>> release = mag.dp.sample(ages, {"age": mag.dp.Numbers(0, 120, 30)}, epsilon=1, delta=1e-6)
    >>> release.guarantee.epsilon, release.guarantee.neighbors
    (Fraction(1, 1), 'add_remove')
    """

    data: Any
    guarantee: PrivacyGuarantee
    ledger: tuple[Entry, ...]
    options: Mapping[str, Any]
    noise: tuple[Noise, ...] = ()
    warnings: tuple[str, ...] = field(default=())

    def __repr__(self) -> str:
        return f"PrivateRelease: {self.guarantee}"

    def columns(self) -> dict[Hashable, npt.NDArray[Any]]:
        """The published columns as NumPy arrays."""
        if isinstance(self.data, Mapping):
            return dict(self.data)
        read = nw.from_native(self.data, eager_only=True)
        return {name: _array(read.get_column(name)) for name in read.columns}

    def manifest(self) -> dict[str, Any]:
        """A record of the release, as JSON types: options, guarantee, ledger and noise; nothing is taken from the data.

        Examples
        --------
        >>> import mag.dp
        >>> ages = {"age": [31, 33, 35, 38, 52, 57]}
        >>> release = mag.dp.sample(ages, {"age": mag.dp.Numbers(0, 120, 30)}, epsilon=1, delta=1e-6)
        >>> release.manifest()["options"]["k"]
        58
        """
        promised = self.guarantee
        return {
            "mag": __version__,
            "mechanism": promised.mechanism,
            "guarantee": str(promised),
            "holds": promised.holds,
            "epsilon": str(promised.epsilon),
            "delta": str(promised.delta),
            "neighbors": promised.neighbors,
            "contributions": promised.contributions,
            "public": list(promised.public),
            "options": to_json_types(dict(self.options)),
            "noise": _describe(self.noise),
            "ledger": [entry.to_json() for entry in self.ledger],
            "warnings": list(self.warnings),
        }

    def report(self, path: str | os.PathLike[str] | None = None, overwrite: bool = False) -> str:
        """One HTML page with the guarantee and how it was obtained; without any figure of the original.

        Parameters
        ----------
        path : path, optional
            A file to write the page to.
        overwrite : bool
            Replace a file that exists.

        Returns
        -------
        str
            The page.
        """
        from mag.report import page_of_entries

        entries = {key: _shown(value) for key, value in self.manifest().items() if key != "guarantee"}
        page = page_of_entries("Private release", str(self.guarantee), entries)
        if path is not None:
            self._check_private()
            with writing(path, overwrite=overwrite) as [draft]:
                draft.write_text(page, encoding="utf-8")
        return page

    def write(
        self, path: str | os.PathLike[str], overwrite: bool = False, sources: tuple[os.PathLike[str], ...] = ()
    ) -> list[pathlib.Path]:
        """Write the table and its manifest, both or none.

        Parameters
        ----------
        path : path
            The file, of a format by its ending, as .csv or .parquet.
        overwrite : bool
            Replace files that exist.
        sources : tuple of paths
            Files that are never replaced.

        Returns
        -------
        list of pathlib.Path
            The files.
        """
        self._check_private()
        target = pathlib.Path(path)
        names = [target, target.with_name(target.name + MANIFEST)]
        with writing(*names, sources=sources, overwrite=overwrite) as drafts:
            self.write_drafts(target.name, drafts)
        return names

    def write_drafts(self, name: str, drafts: Sequence[pathlib.Path]) -> None:
        """Write the table and its manifest into drafts of a file of this name."""
        self._check_private()
        import polars as pl

        from mag.files import File, Meta

        table, note = drafts
        frame = build_frame(self.columns(), pl.DataFrame())
        File(name, to_write=True).write(frame, frame.columns, Meta(), table)
        hashed = {"name": name, "bytes": table.stat().st_size, "sha256": digest(table)}
        note.write_text(json.dumps(self.manifest() | {"files": {"output": hashed}}, indent=1) + "\n")

    def _check_private(self) -> None:
        if not self.guarantee.holds:
            raise InputValueError("a release that was drawn with a known seed is not private and is not written.")


def _array(series: Any) -> npt.NDArray[Any]:
    return np.array(series.to_list(), object) if series.dtype == nw.String else series.to_numpy()


def _describe(drawn: tuple[Noise, ...]) -> list[dict[str, Any]]:
    """The draws, with the ε that OpenDP computes for each."""
    if not drawn:
        return []
    from mag.dp._opendp import measure

    return [
        {"of": noise.what, "sensitivity": noise.sensitivity, "epsilon": str(noise.epsilon), "measured": measure(noise)}
        for noise in drawn
    ]


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=1)


def promise(epsilon: Fraction, delta: Fraction, neighbors: str, contributions: int) -> str:
    """1-differentially private (one record more or fewer)."""
    price = written_up(epsilon) if not delta else f"({written_up(epsilon)}, {written_up(delta)})"
    unit = NEIGHBORS[neighbors]
    if contributions > 1:
        unit = f"one person with at most {contributions} records " + (
            "more or fewer" if neighbors == "add_remove" else "replaced"
        )
    return f"{price}-differentially private ({unit})"


def make_guarantee(
    mechanism: str,
    price: tuple[Fraction, Fraction],
    neighbors: str,
    contributions: int,
    public: tuple[str, ...],
    sentence: str,
) -> PrivacyGuarantee:
    """A guarantee, which holds only if the draws cannot be reproduced."""
    return PrivacyGuarantee(mechanism, *price, neighbors, contributions, public, sentence, source().holds)


def warn_about_delta(delta: Fraction, n: int | None = None) -> tuple[str, ...]:
    """Warn if δ is so large that the record of some person may be published unchanged."""
    if n is None and delta > ADVISED:
        return (f"delta is {written(delta)}; take at most 1e-06, well below one in the number of records.",)
    if n is not None and delta * n >= 1:
        return (f"delta is {written(delta)}, not below 1/n; take a much smaller one.",)
    return ()


def check_neighbors(neighbors: Any) -> str:
    """Validate `neighbors`."""
    return checks.one_of("neighbors", neighbors, NEIGHBORS)


def check_contributions(contributions: Any) -> int:
    """How many records one person may have."""
    return checks.integer("contributions", contributions, 1, 10**6, "10**6")
