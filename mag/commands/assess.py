"""`mag assess`."""

import pathlib
from typing import Annotated, Literal

import typer

from mag._lib.atomic import reserving
from mag._lib.errors import InputValueError
from mag.commands import _options as opt
from mag.commands._output import dump
from mag.files import Layout


@opt.with_text_layout
def assess(
    source: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file, before masking.")],
    qi: opt.OptionalQuasiIdentifiers = None,
    weights: Annotated[
        str | None,
        opt.column_option("Sampling weights: how many persons of the population a record represents.", "--weights"),
    ] = None,
    unit: opt.UnitToCount = None,
    household: Annotated[
        str | None,
        opt.column_option("Households: an intruder who finds one member finds all.", "--household"),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        opt.column_option("A column whose distinct values are counted in every class. Repeatable.", "--sensitive"),
    ] = None,
    max_size: Annotated[
        int | None,
        typer.Option(
            "--max-size",
            min=1,
            help="Largest subset of the quasi-identifiers to look at (default: all, up to 5000 subsets).",
            metavar="N",
            rich_help_panel=opt.GROUPING_PANEL,
        ),
    ] = None,
    missing: Annotated[
        Literal["value", "wildcard"],
        typer.Option(
            help="Whether a missing quasi-identifier is a value of its own, or matches every value.",
            rich_help_panel=opt.MISSING_PANEL,
        ),
    ] = "value",
    sampling_fraction: Annotated[
        float | None,
        typer.Option(
            "--sampling-fraction",
            help="Share of the population that FILE holds (default: by --weights; without them 0.01 for DIS-SUDA).",
            metavar="NUMBER",
            rich_help_panel=opt.GROUPING_PANEL,
        ),
    ] = None,
    report: opt.Report = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    *,
    text_layout: Layout,
) -> None:
    """Assess the risk of a file before masking: unique records, re-identification risk, and the columns that cause it.

    A class is a set of records with equal quasi-identifiers.  Classes are counted on all subsets of them; SUDA scores
    the subsets on which a record is unique.  With --weights, risks are those in the population.

    No value of the data is printed.  --json also prints the figures of every column and subset.

    Examples:
    mag assess people.csv --qi region --qi age --qi job
    mag assess survey.csv --qi age --qi relat --weights weight --household hid --sensitive disease --report risk.html
    mag assess visits.parquet --qi age --qi region --unit patient --max-size 3
    """
    from mag.tables.assess import assess as assessed

    if not qi:
        raise InputValueError("--qi must name the quasi-identifiers of FILE; got none.")
    [file] = opt.open_files([source], text_layout)
    with reserving(*([] if report is None else [report]), sources=[source], overwrite=overwrite):
        names, others = list(dict.fromkeys(qi)), [*(sensitive or []), *(name for name in (unit, household) if name)]
        texts = list(dict.fromkeys([*names, *others]))
        numbers = [] if weights is None or weights in texts else [weights]
        frame, _ = file.read(numbers, [], texts)
        assessment = assessed(
            frame,
            names,
            weights=weights,
            unit=unit,
            household=household,
            sensitive=sensitive,
            missing=missing,
            max_size=max_size,
            sampling_fraction=sampling_fraction,
        )
    if report is not None:
        assessment.report(report, overwrite=overwrite)
    if as_json:
        tables = {name: getattr(assessment, name).to_dicts() for name in ("columns", "subsets")}
        dump({"file": source.name, **assessment.summary, **tables})
    else:
        print(assessment)
