"""`mag suppress`."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.errors import InputValueError
from mag.api.table_options import SUPPRESS
from mag.commands import _options as opt
from mag.commands._codes import note_units
from mag.commands._parse import Demands, parse_importance, parse_sets
from mag.commands._publish import Cells, FileRoles, Files, write_release
from mag.commands._table import read_table
from mag.files import File, Meta

if TYPE_CHECKING:
    from mag.tables import Suppression, SuppressionGuarantee


@opt.with_table_options(SUPPRESS)
def suppress(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file whose cells are suppressed.")],
    column: Annotated[list[str], opt.column_option("A quasi-identifier. Repeatable.", "--column", "-c")],
    k: Annotated[int, typer.Option("-k", help="Smallest class size.", metavar="K", rich_help_panel=opt.GROUPING_PANEL)],
    out: opt.Out = None,
    by: Annotated[list[str] | None, opt.table_option("by", SUPPRESS)] = None,
    unit: opt.Unit = None,
    sets: Annotated[list[str] | None, opt.table_option("sets", SUPPRESS)] = None,
    subsets: Annotated[list[str] | None, opt.table_option("subsets", SUPPRESS)] = None,
    missing: Annotated[str, opt.table_option("missing", SUPPRESS)] = "value",
    importance: Annotated[list[str] | None, opt.table_option("importance", SUPPRESS)] = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    rest: opt.Rest = "error",
    report: opt.Report = None,
    external_report: opt.ExternalReport = None,
    withheld: opt.Withheld = None,
    overwrite: opt.Overwrite = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    delimiter: opt.Delimiter = None,
    encoding: opt.Encoding = "utf-8",
    null: opt.Null = None,
    *,
    table_options: dict[str, Any],
) -> None:
    """Suppress the fewest cells of quasi-identifiers so that every record equals at least k-1 others.

    Suppressed cells are missing in OUT, all others stay as they are.  Each column of IN needs a role: -c, --by,
    --unit, --keep or --drop.  k is counted on OUT, read back, under the reading of --missing.  A manifest next to OUT
    records options, versions, the hash of OUT and the recount of OUT.

    Examples:
    mag suppress people.csv -o out.csv -k 5 -c age -c sex -c job --drop name
    mag suppress people.csv -o out.csv -k 5 -c age -c sex -c job --importance job=3 --subsets 2=20 --rest drop
    mag suppress people.csv -o out.csv -k 3 -c age -c sex -c job --set age+sex --set sex+job=5 --rest drop
    mag suppress visits.csv -o out.csv -k 5 -c age -c job --by region --unit patient --report report.html --rest drop
    """
    sources = opt.read_files(suppress, locals())
    layout = opt.layout_of(delimiter, False, encoding, null)
    others = {"report": report, "external_report": external_report, "withheld": withheld}
    files = Files.checked(source, sources, out, layout, others, False, overwrite, dry_run)
    from mag._lib.checks import one_of

    one_of("--missing", missing, ("value", "wildcard"))
    demands = Demands([], [], {}, {}, {})
    roles = FileRoles.assigned(files.source, column, by, keep, drop, None, demands, rest, unit)
    options: dict[str, Any] = table_options | {
        "by": roles.by or None,
        "unit": unit,
        "keep": roles.keep,
        "missing": missing,
        "sets": parse_sets(sets, column) if sets else None,
        "subsets": _parse_subsets(subsets or []) or None,
        "importance": parse_importance(importance or [], column) or None,
    }
    summary = write_release(
        files, roles, Cells([], column), lambda: _suppress(files, roles, k, options, quiet), quiet, _verify_file
    )
    summary.print(files, as_json, quiet)


def _suppress(
    files: Files, roles: FileRoles, k: int, options: dict[str, Any], quiet: bool
) -> "tuple[Suppression, Meta]":
    """The whole table at once; codes for missing cells are missing."""
    from mag.tables import suppress as suppress_cells

    frame, meta = read_table(files.source, [], roles.untouched, None, roles.columns, [*roles.owners.values()])
    if not roles.owners:
        note_units(files.source, roles.drop, roles.keep, quiet)
    return suppress_cells(frame, k, roles.columns, **options).with_options(drop=len(roles.drop)), meta


def _parse_subsets(words: Sequence[str]) -> dict[int, int]:
    subsets: dict[int, int] = {}
    for word in words:
        size, equals, k = word.partition("=")
        if not (equals and size.isdecimal() and k.isdecimal()) or int(size) in subsets:
            raise InputValueError(f"--subsets must be SIZE=K, once for a size; got {word!r}.")
        subsets[int(size)] = int(k)
    return subsets


def _verify_file(
    file: File, draft: pathlib.Path, guarantee: "SuppressionGuarantee", stored: Any, owners: dict[str, list[Any]]
) -> dict[str, Any]:
    """Count every set on the file read back, and compare the cells that were written."""
    from mag.tables.suppression.cells import count_set

    by, every = [str(name) for name in guarantee.by], [str(name) for name in guarantee.columns]
    file.counts([*by, *every], draft=draft, written=stored)
    frame, _ = file.read([], [*by, *every], draft=draft)
    counted = [
        count_set(frame, [str(name) for name in own.columns], own.k, guarantee.missing, by, owners.get("unit"))
        for own in guarantee.sets
    ]
    facts = {"counted": "on the file read back", "records": frame.height, "smallest": [own.smallest for own in counted]}
    units = {"smallest_units": [own.smallest_units for own in counted]} if owners else {}
    return facts | units
