"""`mag generalize`."""

import math
import pathlib
from collections.abc import Mapping, Sequence
from fractions import Fraction
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.errors import InputValueError
from mag.api.table_options import GENERALIZE
from mag.commands import _options as opt
from mag.commands._codes import note_units
from mag.commands._output import say
from mag.commands._parse import Demands, parse_hierarchies, parse_importance, parse_pairs, take_others
from mag.commands._publish import Cells, FileRoles, Files, write_release
from mag.commands._table import read_table
from mag.files import Meta

if TYPE_CHECKING:
    import polars as pl

    from mag.tables import Release


def _of_columns(help_text: str, name: str, metavar: str) -> Any:
    return typer.Option(name, help=f"{help_text} Repeatable.", metavar=metavar, rich_help_panel=opt.LEVELS_PANEL)


@opt.with_table_options(GENERALIZE)
def generalize(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to recode.")],
    column: Annotated[list[str], opt.column_option("A quasi-identifier to recode. Repeatable.", "--column", "-c")],
    k: Annotated[int, typer.Option("-k", help="Smallest class size.", metavar="K", rich_help_panel=opt.LEVELS_PANEL)],
    out: opt.Out = None,
    by: Annotated[list[str] | None, opt.table_option("by", GENERALIZE)] = None,
    keep: opt.Keep = None,
    sensitive: opt.Sensitive = None,
    diversity: opt.Diversity = None,
    closeness: opt.Closeness = None,
    order: opt.OrderOfSensitive = None,
    drop: opt.Drop = None,
    unit: opt.Unit = None,
    household: opt.Household = None,
    rest: opt.Rest = "error",
    hierarchy: Annotated[list[str] | None, opt.table_option("hierarchies", GENERALIZE)] = None,
    other: Annotated[str, opt.table_option("other", GENERALIZE)] = "error",
    intervals: Annotated[
        list[str] | None,
        _of_columns(
            "A column of numbers and its intervals, e.g. age=0:120:5,10,20.", "--intervals", "NAME=LOW:HIGH:WIDTHS"
        ),
    ] = None,
    flat: Annotated[
        list[str] | None,
        _of_columns("A column of numeric codes, published unchanged or as *.", "--flat", "NAME"),
    ] = None,
    importance: Annotated[list[str] | None, opt.table_option("importance", GENERALIZE)] = None,
    level: Annotated[list[str] | None, opt.table_option("levels", GENERALIZE)] = None,
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
    """Recode columns of a file, each to one level of its hierarchy, so that every record equals at least k-1 others.

    Full-domain recoding: equal values get equal labels, and the levels are those with the least information loss.  Each
    column of IN needs a role: -c, --by, --keep, --sensitive, --unit, --household or --drop; columns of --diversity and
    --closeness are sensitive.  Text without --hierarchy is published unchanged or as *.  A manifest next to OUT records
    levels, options, versions, the hash of OUT and the recount of OUT.

    Examples:
    mag generalize people.csv -o out.csv -k 5 -c age -c job --hierarchy age=age.csv --hierarchy job=job.csv --drop name
    mag generalize people.csv -o out.csv -k 5 -c age --intervals age=0:120:5,10,20 --by region --max-suppressed 0
    mag generalize people.csv --dry-run -k 10 -c education --hierarchy education=education.csv --diversity disease=3
    """
    others = {"report": report, "external_report": external_report, "withheld": withheld}
    sources = opt.read_files(generalize, locals())
    layout = opt.layout_of(delimiter, False, encoding, null)
    files = Files.checked(source, sources, out, layout, others, False, overwrite, dry_run)
    demands = Demands.parsed(files.source, diversity, closeness, order, sensitive or [])
    roles = FileRoles.assigned(files.source, column, by, keep, drop, sensitive, demands, rest, unit, household)
    trees = parse_trees(column, hierarchy or [], intervals or [], flat or [], other)
    options: dict[str, Any] = roles.options() | table_options | {
        "hierarchies": trees or None, "importance": parse_importance(importance or [], column) or None,
        "levels": _parse_levels(level or [], column) or None,
    }  # fmt: skip
    searched = "" if as_json or quiet else _describe_search(trees, column, options["max_nodes"])
    cells = Cells([*column, *demands.ranked], column)
    is_quiet = as_json or quiet
    summary = write_release(files, roles, cells, lambda: _recode(files, roles, k, options, searched, is_quiet), quiet)
    summary.print(files, as_json, quiet)


def _recode(
    files: Files, roles: FileRoles, k: int, options: dict[str, Any], searched: str, quiet: bool
) -> "tuple[Release, Meta]":
    """The whole table at once; codes for missing cells are missing."""
    from mag.tables import generalize as recode

    owners = [*roles.owners.values()]
    frame, meta = read_table(files.source, roles.demands.ranked, roles.untouched, None, roles.columns, owners)
    _check_numbers(frame, [name for name in roles.columns if name not in (options["hierarchies"] or ())])
    if searched:
        say(searched)
    if not owners:
        note_units(files.source, roles.drop, roles.keep, quiet)
    return recode(frame, k, roles.columns, **options).with_options(drop=len(roles.drop)), meta


# ---- hierarchies


def parse_trees(
    columns: Sequence[str], hierarchy: Sequence[str], intervals: Sequence[str], flat: Sequence[str], other: str
) -> dict[str, Any]:
    """The hierarchy of every column that has one: of a file, of intervals, or of the codes themselves."""
    from mag.hierarchy import Hierarchy

    trees = parse_hierarchies(hierarchy, columns)
    for name, text in parse_pairs("--intervals", "NAME=LOW:HIGH:WIDTHS", intervals, columns).items():
        _check_one_tree(name, trees)
        trees[name] = _parse_intervals(text)
    trees = take_others(trees, other, "--hierarchy or --intervals")
    for name in flat:
        if name not in columns:
            raise InputValueError(f"--flat must name a column of -c; got {name!r}.")
        _check_one_tree(name, trees)
        trees[name] = Hierarchy.flat
    return trees


def _check_one_tree(name: str, trees: Mapping[str, Any]) -> None:
    if name in trees:
        raise InputValueError(f"a column must have one hierarchy; {name!r} has two.")


def _parse_intervals(text: str) -> Any:
    from mag.hierarchy import Hierarchy

    try:
        low, high, widths = text.split(":")
        return Hierarchy.intervals(_number(low), _number(high), [_number(width) for width in widths.split(",")])
    except InputValueError:
        raise
    except ValueError:
        raise InputValueError(f"--intervals must be NAME=LOW:HIGH:WIDTH,WIDTH,...; got {text!r}.") from None


def _parse_levels(words: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
    """A level, or the least and the largest one, of every column that has some."""
    levels: dict[str, Any] = {}
    for name, text in parse_pairs("--level", "NAME=LEVEL or NAME=LEAST:LARGEST", words, columns).items():
        bounds = text.split(":")
        if len(bounds) > 2 or not all(bound.isdecimal() for bound in bounds):
            raise InputValueError(f"--level must be NAME=LEVEL or NAME=LEAST:LARGEST; got '{name}={text}'.")
        levels[name] = tuple(map(int, bounds)) if len(bounds) == 2 else int(text)
    return levels


def _number(word: str) -> Fraction:
    """All digits count: a float would not hold those of long integers."""
    if "/" in word:
        raise ValueError
    return Fraction(word)


def _describe_search(trees: dict[str, Any], columns: Sequence[str], max_nodes: int) -> str:
    """The number of combinations of levels and, if there are too many, an alternative."""
    n_nodes = math.prod(trees[name].levels.shape[1] if hasattr(trees.get(name), "levels") else 2 for name in columns)
    if n_nodes <= max_nodes:
        return f"Searching {n_nodes} combinations of levels."
    return (
        f"There are {n_nodes} combinations of levels, more than --max-nodes {max_nodes}, so that the best found will "
        "not be proven best; mag mask recodes locally, which needs no search and loses less."
    )


def _check_numbers(frame: "pl.DataFrame", columns: Sequence[str]) -> None:
    """Reject numbers in columns without a hierarchy: hardly any two of them are equal."""
    import polars as pl

    for name in columns:
        cells = frame[name].alias("").drop_nulls()
        if cells.dtype == pl.String:
            is_number = cells.len() > 0 and cells.cast(pl.Float64, strict=False).null_count() == 0
        else:
            is_number = not isinstance(cells.dtype, (pl.Boolean, pl.Categorical, pl.Enum))
        if is_number:
            raise InputValueError(
                f"column {name!r} holds no categories, and needs --hierarchy {quote(f'{name}=FILE')} or, for numbers, "
                f"--intervals {quote(f'{name}=LOW:HIGH:WIDTHS')}; --flat {quote(name)} if they are codes."
            )
