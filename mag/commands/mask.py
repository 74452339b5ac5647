"""`mag mask`."""

import contextlib
import pathlib
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.atomic import SECRET, reserving
from mag._lib.errors import InputValueError
from mag.api.table_options import MASK
from mag.commands import _options as opt
from mag.commands._codes import note_codes, note_units
from mag.commands._output import bar
from mag.commands._parse import (
    Demands,
    parse_categories,
    parse_follow,
    parse_integers,
    parse_method_options,
    parse_sets,
    parse_special,
    parse_sums,
)
from mag.commands._plan import apply_plan, text_of
from mag.commands._publish import REPORTS, Cells, Drafts, FileRoles, Files, Summary, write_release, write_reports
from mag.commands._table import check_layout, read_table, read_weights
from mag.files import FORMATS, Layout, Meta

if TYPE_CHECKING:
    from mag.tables import FileRelease, Release

Options = dict[str, Any]


@opt.with_text_layout_and_dates
@opt.with_table_options(MASK)
def mask(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to mask.")],
    column: opt.ToMask,
    k: Annotated[
        list[str],
        typer.Option(
            "-k",
            help="Smallest group size; with --scope per-column also NAME=K. Repeatable.",
            metavar="K",
            rich_help_panel=opt.GROUPING_PANEL,
        ),
    ],
    out: opt.Out = None,
    plan: Annotated[
        pathlib.Path | None,
        typer.Option(
            "--plan",
            help="A plan in TOML, as mag plan writes it: roles and options, where the command line sets none.",
            metavar="FILE",
            is_eager=True,
            callback=apply_plan,
            rich_help_panel=opt.COLUMNS_PANEL,
        ),
    ] = None,
    by: opt.By = None,
    keep: opt.Keep = None,
    sensitive: opt.Sensitive = None,
    diversity: opt.Diversity = None,
    closeness: opt.Closeness = None,
    drop: opt.Drop = None,
    unit: opt.Unit = None,
    household: opt.Household = None,
    sets: opt.Sets = None,
    rest: opt.Rest = "error",
    option: opt.MethodOption = None,
    aggregate: opt.Aggregate = None,
    hierarchy: opt.Hierarchies = None,
    order: opt.Order = None,
    importance: opt.Importance = None,
    other: opt.Other = "error",
    special: Annotated[list[str] | None, opt.table_option("special")] = None,
    follow: Annotated[list[str] | None, opt.table_option("follow")] = None,
    sums: Annotated[list[str] | None, opt.table_option("sums")] = None,
    weights: opt.Weights = None,
    decimals: Annotated[list[str] | None, opt.table_option("round")] = None,
    report: opt.Report = None,
    external_report: opt.ExternalReport = None,
    prove_input: Annotated[
        bool,
        typer.Option(
            "--prove-input",
            help=f"Put a salted hash of IN into the manifest and the salt into OUT{SECRET}.",
            rich_help_panel=opt.OUTPUT_PANEL,
        ),
    ] = False,
    withheld: opt.Withheld = None,
    memory: Annotated[str | None, opt.table_option("memory")] = None,
    overwrite: opt.Overwrite = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    *,
    table_options: Options,
    text_layout: Layout,
) -> None:
    """Mask a file so that every record equals at least k-1 others, and verify that on the written file.

    Every column of IN needs a role: -c, --by, --keep, --sensitive, --unit, --household or --drop, one for all others by
    --rest, or that of a --plan; columns of --diversity and --closeness are sensitive.  A manifest next to OUT records
    options, versions, the hash of OUT and the counts of its classes.

    Examples:
    mag mask people.csv -o out.csv -k 5 -c age -c income --by region --keep answer --drop name
    mag mask survey.sav -o out.csv -k 3 -c income --null income=-9,-8 --missing group --small-strata suppress
    mag mask people.csv -o out.csv -k 5 -c age -c job -c degree --hierarchy job=jobs.csv --order degree=low,mid,high
    mag mask people.csv -o out.csv -k 5 -c age --diversity disease=3 --closeness income=0.2 --drop name
    mag mask wide.parquet -o out.parquet -k 10 -c x1 -c x2 --scope per-column --report report.html
    mag mask visits.csv -o out.csv -k 5 -c age -c cost --unit patient --rest drop
    mag mask survey.csv -o out.csv -k 5 -c age -c rent --household hid --household-column rent --k-household 3
    mag mask people.csv -o out.csv -k 5 -c age -c income -c job --set age+income --set income+job=3 --rest drop
    mag mask people.csv -o out.csv --plan plan.toml
    mag mask long.parquet -o out.parquet -k 5 -c age -c income --drop name --memory 2GB
    """
    others = {"report": report, "external_report": external_report, "withheld": withheld}
    sources = opt.read_files(mask, locals())
    files = Files.checked(source, sources, out, text_layout, others, prove_input, overwrite, dry_run)
    demands = Demands.parsed(files.source, diversity, closeness, order, sensitive or [], column)
    names = files.source.names() if follow or sums else []
    derived: Options = {"follow": parse_follow(follow or [], names), "sums": parse_sums(sums or [], names)}
    every = [*column, *derived["follow"], *derived["sums"]]
    roles = FileRoles.assigned(files.source, every, by, keep, drop, sensitive, demands, rest, unit, household)
    categories, by_column = parse_categories(column, aggregate, hierarchy, demands.order, importance, other)
    if weights is not None and weights not in [*roles.keep, *roles.drop]:
        raise InputValueError(f"--weights must name a column of --keep or --drop; got {weights!r}.")
    options: Options = roles.options() | table_options | by_column | parse_method_options(option or [])
    options |= {"sets": parse_sets(sets, column) if sets else None}
    options |= {"round": parse_integers("--round", decimals) if decimals else None, "other": other}
    options |= {"special": parse_special(special, column)} if special else {}
    options |= {option: setting for option, setting in derived.items() if setting}
    group_size = parse_integers("-k", k)
    if _is_streamed(files, options, memory, has_codes=text_layout.has_codes):
        options |= {"weights": weights, "memory": memory}
        summary = _mask_stream(files, roles, group_size, options, quiet)
    else:
        numbers = [name for name in every if name not in categories]
        cells = Cells([*numbers, *demands.ranked], categories)
        summary = write_release(
            files, roles, cells, lambda: _mask_table(files, roles, cells, weights, group_size, options, quiet), quiet
        )
    summary.print(files, as_json, quiet)


def _is_streamed(files: Files, options: Options, memory: str | None, has_codes: bool) -> bool:
    """Whether the file is never whole in memory: from Parquet to Parquet, in parts or one column at a time."""
    both = [file.format for file in (files.source, files.target) if file is not None]
    from_parquet = all(form is FORMATS["parquet"] for form in both)
    if memory is not None:
        if options["scope"] != "joint" or not from_parquet:
            raise InputValueError("--memory is for --scope joint from Parquet to Parquet; leave it out.")
        others = {
            "--withheld": "withheld" in files.paths,
            "--prove-input": "secret" in files.paths,
        }
        if used := [option for option, is_used in others.items() if is_used]:
            raise InputValueError(f"{', '.join(used)} cannot be used with --memory; leave one of them out.")
        return True
    in_memory = files.dry_run or has_codes or not {*files.paths} <= {"out", "manifest"}
    every_record = options["missing"] != "drop" and options["small_strata"] == "error" and not options["shuffle"]
    return not in_memory and every_record and options["scope"] == "per-column" and from_parquet


def _mask_stream(files: Files, roles: FileRoles, k: Any, options: Options, quiet: bool) -> Summary:
    """Column by column, or in parts; `mag.microaggregate` writes the file and its manifest."""
    from mag.tables import CodedFile, microaggregate

    source, weights = files.source, options["weights"]
    read = [*roles.columns, *roles.owners.values(), *([] if weights is None else [weights])]
    check_layout(source, roles.columns, weights, [*roles.owners.values()])
    text = text_of(source.layout, [*roles.columns, *roles.keep])
    coded = CodedFile(source.path, source.layout, read, text) if source.layout.has_codes else source.path
    for name in () if quiet or options["memory"] is not None else roles.columns:  # one at a time, as they are masked
        note_codes(source.read([name])[0], [name], k, quiet)
    with _outputs(files) as (out, reports):
        options = options | {"drop": roles.drop, "output": out, "overwrite": files.overwrite}
        with bar(f"masking {len(roles.columns)} columns", quiet) as progress:
            release: FileRelease = microaggregate(coded, k, roles.columns, progress=progress, **options)
        write_reports(release, files, roles, reports, quiet)
    return Summary(release.guarantee, [*release.warnings], release.manifest())


@contextlib.contextmanager
def _outputs(files: Files) -> Iterator[tuple[pathlib.Path, Drafts]]:
    """Where the file and reports are written: drafts of a dry run are removed, reports get their names at the end."""
    wanted = {name: files.paths[name] for name in REPORTS if name in files.paths}
    if files.dry_run:
        with tempfile.TemporaryDirectory() as folder:
            yield pathlib.Path(folder, "out.parquet"), {}
    else:
        with (
            reserving(*wanted.values(), sources=files.sources, overwrite=files.overwrite) as reserved,
            reserved.drafts() as drafts,
        ):
            yield files.paths["out"], dict(zip(wanted, drafts, strict=True))


def _mask_table(
    files: Files, roles: FileRoles, cells: Cells, weights: str | None, k: Any, options: Options, quiet: bool
) -> "tuple[Release, Meta]":
    """The whole table at once, in memory."""
    from mag.tables import microaggregate

    owners = [*roles.owners.values()]
    frame, meta = read_table(files.source, cells.computed, roles.untouched, weights, cells.categories, owners)
    told = [*options.get("special", ()), *options.get("sums", ())]  # codes that are declared, and columns of no groups
    note_codes(frame, [name for name in cells.computed if name in roles.columns and name not in told], k, quiet)
    if not owners:
        note_units(files.source, roles.drop, roles.keep, quiet)
    if weights is not None:
        options = options | {"weights": read_weights(files.source, weights)}
    with bar(f"grouping {frame.height} records", quiet) as progress:
        derived = [*options.get("follow", ()), *options.get("sums", ())]
        grouped = [name for name in roles.columns if name not in derived]
        release: Any = microaggregate(frame, k, grouped, progress=progress, **options)
    unread = {"drop": len(roles.drop)} | ({"weights": weights} if weights in roles.keep else {})
    return release.with_options(**unread), meta
