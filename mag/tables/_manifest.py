"""The manifest of a published table or file, in the types of JSON: input, options, versions and guarantee."""

import hashlib
import json
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from mag import __version__
from mag._lib.json_types import to_json_types
from mag.frames import Frame
from mag.tables._guarantee import Guarantee
from mag.tables.suppression.guarantee import SuppressionGuarantee

NOT_PUBLISHED = "not published"  # in place of the name of a column


@dataclass(frozen=True)
class Provenance:
    """Options, input shape, versions and timings of a release, as JSON types for the manifest."""

    options: dict[str, Any]
    table: dict[str, Any]
    versions: dict[str, str]
    seconds: dict[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, options: dict[str, Any], n: int, names: Iterable[Hashable], seconds: dict[str, float] | None = None
    ) -> "Provenance":
        """Of a release of a table of n records with these columns."""
        unpublished = frozenset([*options["drop"], options.get("unit"), options.get("household")])
        published = [name for name in names if name not in unpublished]
        table = {"records": n, "columns": [*map(str, published)]}
        return cls(public_options(options, published), table, installed_versions(), seconds or {})


def make_manifest(
    provenance: Provenance,
    guarantee: Guarantee | SuppressionGuarantee,
    published: dict[str, Any],
    method: str,
    complete: bool,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """The manifest of a release; `published` is the number of its records, and its hashes."""
    return {
        "mag": __version__,
        "versions": dict(provenance.versions),
        "options": dict(provenance.options),
        "table": dict(provenance.table),
        "published": published,
        "guarantee": to_json_types(guarantee.facts()),
        "untouched": [str(name) for name in guarantee.kept],
        "method": method,
        "complete": complete,
        "warnings": list(warnings),
    }


def digest_column(frame: Frame, name: Hashable) -> str:
    """SHA-256 of a column of any library: numbers and times in 64 bits, little-endian, other cells as JSON."""
    column = frame.column(name)
    try:
        units = column.units()
    except TypeError:
        units = None
    if units is None or units.values.dtype == object:
        return hashlib.sha256(json.dumps(column.cells(), default=repr).encode()).hexdigest()
    hashed = hashlib.sha256(units.values.astype(units.values.dtype.newbyteorder("<"), copy=False).tobytes())
    if units.missing is not None:
        hashed.update(np.packbits(units.missing).tobytes())
    return hashed.hexdigest()


def public_options(options: dict[str, Any], published: Iterable[Hashable]) -> dict[str, Any]:
    """Options in the types of JSON: how many columns are dropped, and no name of a column that is not published."""
    public = options | {"drop": len(options["drop"])}
    if options.get("weights") is not None and str(options["weights"]) not in map(str, published):
        public["weights"] = NOT_PUBLISHED
    return to_json_types(public)


@cache  # reading them took a third of the time of a small table
def installed_versions() -> dict[str, str]:
    """Of the libraries that results may depend on."""
    versions = {}
    for name in ("narwhals", "numba", "numpy", "pandas", "polars", "pyarrow"):
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return versions
