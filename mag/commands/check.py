"""`mag check`."""

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mag._lib.class_sizes import CountedDemand, SizeDemand
from mag._lib.errors import InputValueError
from mag.commands._options import (
    Closeness,
    Delimiter,
    Diversity,
    Encoding,
    HouseholdToCount,
    Json,
    KOfHouseholds,
    OptionalQuasiIdentifiers,
    OrderOfSensitive,
    Quiet,
    Sets,
    UnitToCount,
    column_option,
    layout_of,
    open_files,
)
from mag.commands._output import dump, say
from mag.commands._parse import Demands, parse_sets
from mag.files import File

if TYPE_CHECKING:
    from mag.tables import Promise
    from mag.verify import LinkedCounts


def check(
    path: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file to publish.")],
    qi: OptionalQuasiIdentifiers = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Smallest class size allowed.", metavar="K")] = None,
    manifest: Annotated[
        pathlib.Path | None,
        typer.Option(help="The manifest of FILE: its columns, k and demands are checked.", metavar="FILE"),
    ] = None,
    unit: UnitToCount = None,
    household: HouseholdToCount = None,
    k_household: KOfHouseholds = None,
    sets: Sets = None,
    diversity: Diversity = None,
    closeness: Closeness = None,
    order: OrderOfSensitive = None,
    against: Annotated[
        pathlib.Path | None, typer.Option(help="An earlier release, linked to FILE by --id.", metavar="OLD")
    ] = None,
    link: Annotated[
        str | None, column_option("A column of FILE and OLD that names the record, such as a pseudonym.", "--id")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> int:
    """Check that a file is k-anonymous: exits with 1 if a class has fewer than k records, or fails another demand.

    With --against, classes of records that are equal in both files are counted, as someone sees them who has both.
    With --unit, k counts the distinct values of that column of FILE in a class instead of records; with --household
    also the households of a class are counted.  With --set, the classes of each set of columns are counted, and the
    smallest of all columns together is reported.

    A class is a set of records with equal quasi-identifiers.  A missing cell is a value.  Text files are compared as
    text: 1.0 is not 1.

    Examples:
    mag check out.csv --qi region --qi age --qi income -k 5
    mag check out.csv --qi age -k 5 --diversity disease=3 --closeness income=0.2
    mag check out.csv --qi age -k 5 --quiet || echo "do not publish"
    mag check visits.csv --qi age --qi cost -k 5 --unit patient
    mag check survey.csv --qi age --qi rent -k 5 --household hid --k-household 3
    mag check out.csv --set age+sex+region=5 --set income+job=3
    mag check out.csv --manifest out.csv.manifest.json
    mag check new.csv --qi age --qi income -k 5 --against old.csv --id pseudonym
    """
    promised = Promised(qi or [], k, diversity or [], [])
    if manifest is not None:
        if qi or k is not None or diversity or closeness or sets:
            raise InputValueError("--manifest says what to check; leave --qi, -k, --set, --diversity, --closeness out.")
        for option, setting in (("--unit", unit), ("--household", household)):
            if setting is not None:
                raise InputValueError(f"{option} is not used with --manifest, which says what to check; leave it out.")
        promised = _read_manifest(manifest)
        if promised.units and not (quiet or as_json):
            say(
                f"Note: k was promised in units of {' and '.join(promised.units)}, which FILE does not hold: records "
                "are counted."
            )
    if household is None and k_household is not None:
        raise InputValueError("--k-household is not used without --household; leave it out.")
    text = dict(promised.text) if File(path).format.text else {}
    text |= {"delimiter": delimiter} if delimiter else {}
    text |= {"encoding": encoding} if encoding != "utf-8" else {}
    [file] = open_files([path], layout_of(**text))
    asked = _list_demands(file, promised, sets or [], unit, household, k_household)
    counts = _count(file, asked)
    together = _count(file, [SizeDemand(_union(asked), 1)])[0].smallest if promised.sets or sets else None
    demands = Demands.parsed(file, promised.diversity, closeness, order)
    promises = _promises(file, asked[0].columns, demands) if counts[0].records else []
    linked = None if against is None and link is None else _count_linked(file, against, link, asked[0])
    holds = all(count.holds for count in counts) and all(promise.holds for promise in promises)
    holds = holds and (linked is None or linked.below_k + linked.gone_below_k == 0)
    if as_json:
        linked_counts = {} if linked is None else {"linked": linked._asdict()}
        dump(_summarize(path, file, counts, together, unit, holds, promises) | linked_counts)
    elif not counts[0].records:
        say(f"FAIL k={counts[0].demand.k}: {path.name} has no records.")
    elif not quiet:
        for count in counts:
            say(count.describe("" if together is None else f" in {', '.join(count.demand.columns)}"))
        if together is not None:
            say(f"In all of these columns together, the smallest class is {together}.")
        for promise in promises:
            kind = "closeness" if promise.is_closeness else "diversity"
            say(f"PASS {kind}: {promise}." if promise.holds else f"FAIL {kind}, required: {promise}.")
        if linked is not None:
            say(_describe_linked(linked, counts[0].demand.k))
    return 0 if holds else 1


def _count_linked(file: File, against: pathlib.Path | None, link: str | None, demand: SizeDemand) -> "LinkedCounts":
    """The classes of records that are equal in FILE and in an earlier release."""
    from mag.verify import count_linked

    if against is None or link is None:
        raise InputValueError("--against and --id are used together: an earlier release, and the column that links it.")
    old = File(against, file.layout)
    names = [name for name in demand.columns if name in old.names()]
    if not names or link in demand.columns:
        raise InputValueError(f"--against must be a file with some of the --qi, and --id another column; got {link!r}.")
    new_table, old_table = (
        own.read([], [*columns, link])[0] for own, columns in ((file, demand.columns), (old, names))
    )
    return count_linked(new_table, old_table, demand.columns, link, demand.k)


def _describe_linked(linked: "LinkedCounts", k: int) -> str:
    few = linked.below_k + linked.gone_below_k
    records = linked.both + linked.only_new + linked.only_old
    others = f"{k - 1} {'other' if k == 2 else 'others'}"
    return (
        f"{'FAIL' if few else 'PASS'} k={k}, linked: {few} of {records} records of either file match fewer than "
        f"{others} in both files; smallest linked class {linked.smallest}; {linked.only_new} records are only "
        f"in the new file, {linked.only_old} only in the old one."
    )


class Promised(NamedTuple):
    """What a manifest, or the command line, says of classes of all columns.

    `units` are what k counted, `text` says how text files are read.
    """

    columns: list[str]
    k: int | None
    diversity: list[str]
    units: list[str]
    sets: Sequence[SizeDemand] = ()
    text: Mapping[str, Any] = {}


def _list_demands(
    file: File, promised: Promised, sets: list[str], unit: str | None, household: str | None, k_household: int | None
) -> list[SizeDemand]:
    """Everything that is counted: of one set of columns or of several, records or units, and households."""
    columns, k = list(dict.fromkeys(promised.columns)), promised.k
    asked = [*promised.sets]
    if sets:
        for own in parse_sets(sets, file.names(), "FILE"):
            names, own_k = own if isinstance(own, tuple) else (own, k)
            if own_k is None:
                raise InputValueError("--set must end in =K, unless -k says it for all sets.")
            asked.append(SizeDemand([*columns, *(name for name in names if name not in columns)], own_k, unit))
    elif not asked:
        if not columns or k is None:
            raise InputValueError("--qi and -k, --set or --manifest must say what to check; got none of them.")
        asked = [SizeDemand(columns, k, unit)]
    if household is not None:
        asked += [SizeDemand(own.columns, own.k if k_household is None else k_household, household) for own in asked]
    for option, name in (("--unit", unit), ("--household", household)):
        if name is not None and any(name in own.columns for own in asked):
            raise InputValueError(f"{option} must not be one of --qi; got {name!r}.")
    return asked


def _union(asked: Sequence[SizeDemand]) -> list[str]:
    return list(dict.fromkeys(name for own in asked for name in own.columns))


def _count(file: File, asked: Sequence[SizeDemand]) -> list[CountedDemand]:
    """The classes of every demand."""
    from mag.files import below, smallest

    found = []
    for own, sizes in zip(asked, file.counts(*(own.columns for own in asked)), strict=True):
        least, few = smallest(sizes), below(sizes, own.k)
        if own.counted_by is not None:
            least, few = _count_units(file, own.columns, own.counted_by, own.k)
        found.append(CountedDemand(own, least, few, sum(size * count for size, count in sizes.items())))
    return found


def _summarize(
    path: pathlib.Path,
    file: File,
    counts: Sequence[CountedDemand],
    together: int | None,
    unit: str | None,
    holds: bool,
    promises: "Sequence[Promise]",
) -> dict[str, Any]:
    """One JSON object; of several counts, those after the first in a list."""
    first = counts[0]
    summary = {"file": str(path), "qi": first.demand.columns} | first.facts()
    summary.pop("counted_by", None)
    [sizes] = file.counts(first.demand.columns)
    summary |= {"holds": holds, "records": first.records, "classes": sum(sizes.values())}
    if unit is not None:
        summary["unit"] = unit
    if len(counts) > 1:
        summary["counts"] = [{"qi": count.demand.columns} | count.facts() for count in counts]
    if together is not None:
        summary["together"] = together
    if promises:
        summary["sensitive"] = [
            {"column": promise.name, "holds": promise.holds, **promise.facts()} for promise in promises
        ]
    return summary


def _count_units(file: File, qi: list[str], unit: str, k: int) -> tuple[int, int]:
    """The smallest number of units of a class, and how many records are in classes of fewer than k."""
    from mag.frames import frame_of
    from mag.verify import cells_of_unit, count_units

    least, few = [], 0
    with file.class_parts(qi, others=[unit]) as parts:
        for part in parts:
            units, records = count_units(part, qi, cells_of_unit(frame_of(part), unit))
            few += sum(count for own, count in zip(units, records, strict=True) if own < k)
            least += [min(units)] if units else []
    return min(least, default=0), few


def _read_manifest(path: pathlib.Path) -> Promised:
    """The columns that classes are of, k, the diversity, as options say it, units and sets that a manifest promises."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        guarantee, text = manifest["guarantee"], manifest.get("text", {})
        columns, k = [*guarantee["by"], *guarantee["columns"]], guarantee["k"]
        sets = [SizeDemand([*guarantee["by"], *own["columns"]], own["k"]) for own in guarantee.get("sets", ())]
    except (KeyError, TypeError, ValueError):
        raise InputValueError(f"{path.name!r} must be the manifest of a masked file.") from None
    if guarantee.get("missing") == "wildcard":
        raise InputValueError(
            f"{path.name!r} promises k where a missing cell equals every value; mag check counts missing cells as a "
            "value of their own: pass --qi and -k."
        )
    if guarantee["scope"] == "per-column" or guarantee.get("closeness"):
        raise InputValueError(
            f"{path.name!r} promises k of each column alone, or closeness; check them by --qi, -k and --closeness."
        )
    forms = {"distinct": "{l}", "entropy": "entropy:{l}", "recursive": "recursive:{c},{l}"}
    demands = guarantee.get("diversity", {}).items()
    wishes = [f"{name}={forms[wish['criterion']].format(**wish)}" for name, wish in demands]
    units = [guarantee[option] for option in ("unit", "household") if option in guarantee]
    return Promised(columns, k, wishes, units, sets, text)


def _promises(file: File, qi: list[str], demands: Demands) -> "list[Promise]":
    """The criteria on sensitive columns, counted on the file; numbers among them are ordered."""
    if not demands.columns:
        return []
    from mag.tables import recount_promises

    if both := [repr(name) for name in qi if name in demands.columns]:
        raise InputValueError(f"a sensitive column must not be one of --qi; got {', '.join(both)}.")
    texts = [name for name in demands.columns if name not in demands.ranked]
    wishes = demands.diversity or None, demands.closeness or None, demands.order
    with file.class_parts(qi, demands.ranked, texts) as parts:
        return recount_promises(parts.distinct(demands.columns), qi, *wishes, parts)
