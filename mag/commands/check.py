"""`mag check`."""

import json
import pathlib
from typing import TYPE_CHECKING, Annotated

import typer

from mag._lib.errors import InputValueError
from mag.commands._options import (
    Closeness,
    Delimiter,
    Diversity,
    Encoding,
    Json,
    OptionalQuasiIdentifiers,
    OrderOfSensitive,
    Quiet,
    UnitToCount,
    layout,
    open_files,
)
from mag.commands._output import dump, say
from mag.commands._parse import Demands
from mag.files import File

if TYPE_CHECKING:
    from mag.tables import Promise


def check(
    path: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file to publish.")],
    qi: OptionalQuasiIdentifiers = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Smallest class size allowed.", metavar="K")] = None,
    manifest: Annotated[
        pathlib.Path | None,
        typer.Option(help="The manifest of FILE: its columns, k and demands are checked.", metavar="FILE"),
    ] = None,
    unit: UnitToCount = None,
    diversity: Diversity = None,
    closeness: Closeness = None,
    order: OrderOfSensitive = None,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> int:
    """Check that a file is k-anonymous: exits with 1 if a class has fewer than k records, or fails another demand.

    With --unit, k counts the distinct values of that column of FILE in a class instead of records.

    A class is a set of records with equal quasi-identifiers.  A missing cell is a value.  Text files are compared as
    text: 1.0 is not 1.

    Examples:
    mag check out.csv --qi region --qi age --qi income -k 5
    mag check out.csv --qi age -k 5 --diversity disease=3 --closeness income=0.2
    mag check out.csv --qi age -k 5 --quiet || echo "do not publish"
    mag check visits.csv --qi age --qi cost -k 5 --unit patient
    mag check out.csv --manifest out.csv.manifest.json
    """
    from mag.files import below, smallest

    if manifest is not None:
        if qi or k is not None or diversity or closeness:
            raise InputValueError("--manifest says what to check; leave --qi, -k, --diversity and --closeness out.")
        if unit is not None:
            raise InputValueError("--unit is not used with --manifest, which says what to check; leave it out.")
        qi, k, diversity, promised = _read_manifest(manifest)
        if promised is not None and not (quiet or as_json):
            say(f"Note: k was promised in units of {promised}, which FILE does not hold: records are counted.")
    if not qi or k is None:
        raise InputValueError("--qi and -k must say what to check, unless --manifest FILE does.")
    [file] = open_files([path], layout(delimiter, False, encoding, None))
    qi = list(dict.fromkeys(qi))
    [sizes] = file.counts(qi)
    records, least, few = sum(size * count for size, count in sizes.items()), smallest(sizes), below(sizes, k)
    if unit is not None:
        least, few = _count_units(file, qi, unit, k)
    demands = Demands.parsed(file, diversity, closeness, order)
    promises = _promises(file, qi, demands) if records else []
    anonymous = few == 0 and records > 0
    holds = anonymous and all(promise.holds for promise in promises)
    if as_json:
        summary = {"file": str(path), "qi": qi, "k": k, "holds": holds, "smallest": least, "violating": few}
        summary |= {"records": records, "classes": sum(sizes.values())}
        if unit is not None:
            summary["unit"] = unit
        if promises:
            summary["sensitive"] = [
                {"column": promise.name, "holds": promise.holds, **promise.facts()} for promise in promises
            ]
        dump(summary)
    elif not records:
        say(f"FAIL k={k}: {path.name} has no records.")
    elif not quiet:
        others = "other" if k == 2 else "others"
        if unit is not None:
            others += f", counted by {unit}"
        if anonymous:
            say(f"PASS k={k}: each of {records} records matches at least {k - 1} {others}; smallest class {least}.")
        else:
            say(f"FAIL k={k}: {few} of {records} records match fewer than {k - 1} {others}; smallest class {least}.")
        for promise in promises:
            kind = "closeness" if promise.is_closeness else "diversity"
            say(f"PASS {kind}: {promise}." if promise.holds else f"FAIL {kind}, required: {promise}.")
    return 0 if holds else 1


def _count_units(file: File, qi: list[str], unit: str, k: int) -> tuple[int, int]:
    """The smallest number of units of a class, and how many records are in classes of fewer than k."""
    from mag.frames import frame_of
    from mag.verify import cells_of_unit, count_units

    if unit in qi:
        raise InputValueError(f"--unit must not be one of --qi; got {unit!r}.")
    frame, _ = file.read([], qi, [unit])
    units, records = count_units(frame, qi, cells_of_unit(frame_of(frame), unit))
    few = sum(count for own, count in zip(units, records, strict=True) if own < k)
    return min(units, default=0), few


def _read_manifest(path: pathlib.Path) -> tuple[list[str], int, list[str], str | None]:
    """The columns that classes are of, k, the diversity, as options say it, and the unit that a manifest promises."""
    try:
        guarantee = json.loads(path.read_text(encoding="utf-8"))["guarantee"]
        columns, k = [*guarantee["by"], *guarantee["columns"]], guarantee["k"]
    except (KeyError, TypeError, ValueError):
        raise InputValueError(f"{path.name!r} must be the manifest of a masked file.") from None
    if guarantee["scope"] != "joint" or guarantee.get("closeness"):
        raise InputValueError(
            f"{path.name!r} promises k of each column alone, or closeness; check them by --qi, -k and --closeness."
        )
    forms = {"distinct": "{l}", "entropy": "entropy:{l}", "recursive": "recursive:{c},{l}"}
    demands = guarantee.get("diversity", {}).items()
    wishes = [f"{name}={forms[wish['criterion']].format(**wish)}" for name, wish in demands]
    return columns, k, wishes, guarantee.get("unit")


def _promises(file: File, qi: list[str], demands: Demands) -> "list[Promise]":
    """The criteria on sensitive columns, counted on the file; numbers among them are ordered."""
    if not demands.columns:
        return []
    from mag.tables import recount_promises

    if both := [repr(name) for name in qi if name in demands.columns]:
        raise InputValueError(f"a sensitive column must be none of --qi; got {', '.join(both)}.")
    others = [name for name in [*qi, *demands.columns] if name not in demands.ranked]
    frame, _ = file.read(demands.ranked, others)
    return recount_promises(frame, qi, demands.diversity or None, demands.closeness or None, demands.order)
