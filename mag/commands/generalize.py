"""`mag generalize`."""

import json
import math
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.atomic import digest, writing
from mag._lib.errors import ValueMistake
from mag.commands import _options as opt
from mag.commands._output import dump, say
from mag.commands._table import write_withheld
from mag.commands.mask import (
    _check_roles,
    _describe_kept,
    _file,
    _manifest,
    _say,
    _stamp,
    _targets,
    verify_file,
    verify_sensitive,
)
from mag.files import File, Meta, columns_of

if TYPE_CHECKING:
    import polars as pl

LEVELS = "Levels"  # panel


def _of_columns(help_text: str, name: str, metavar: str) -> Any:
    return typer.Option(name, help=f"{help_text} Repeatable.", metavar=metavar, rich_help_panel=LEVELS)


def generalize(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to recode.")],
    column: Annotated[list[str], opt.column_option("A quasi-identifier to recode. Repeatable.", "--column", "-c")],
    k: Annotated[int, typer.Option("-k", help="Smallest class size.", metavar="K", rich_help_panel=LEVELS)],
    out: Annotated[
        pathlib.Path | None,
        typer.Option("--out", "-o", help="The file to write.", metavar="OUT", rich_help_panel=opt.OUTPUT),
    ] = None,
    by: Annotated[
        list[str] | None,
        opt.column_option("A quasi-identifier that is not recoded: classes never mix its values. Repeatable.", "--by"),
    ] = None,
    keep: Annotated[
        list[str] | None, opt.column_option("Publish this column unchanged: it is not protected. Repeatable.", "--keep")
    ] = None,
    sensitive: opt.Sensitive = None,
    diversity: opt.Diversity = None,
    closeness: opt.Closeness = None,
    drop: Annotated[list[str] | None, opt.column_option("Do not publish this column. Repeatable.", "--drop")] = None,
    hierarchy: Annotated[
        list[str] | None, _of_columns("A column and its hierarchy, a file of ARX.", "--hierarchy", "NAME=FILE")
    ] = None,
    intervals: Annotated[
        list[str] | None,
        _of_columns(
            "A column of numbers and its intervals, e.g. age=0:120:5,10,20.", "--intervals", "NAME=LOW:HIGH:WIDTHS"
        ),
    ] = None,
    flat: Annotated[
        list[str] | None,
        _of_columns("A column of number codes that shows them as they are, or nothing but *.", "--flat", "NAME"),
    ] = None,
    importance: Annotated[
        list[str] | None,
        _of_columns("How much the loss of a column counts (default: 1).", "--importance", "NAME=NUMBER"),
    ] = None,
    suppress: Annotated[
        float,
        typer.Option(help="The largest share of records that may be suppressed.", rich_help_panel=LEVELS),
    ] = 0.05,
    suppressed: Annotated[
        str,
        opt.choice_option(
            "Suppressed records: root (shows the most general label in every column) or withhold.",
            ["root", "withhold"],
            LEVELS,
        ),
    ] = "root",
    missing: Annotated[
        str,
        opt.choice_option(
            "Records with missing cells: error, group (missing is a value) or drop.",
            ["error", "group", "drop"],
            opt.MISSING,
        ),
    ] = "error",
    max_nodes: Annotated[
        int,
        typer.Option(
            help="The most combinations of levels that are searched with proof.", metavar="N", rich_help_panel=LEVELS
        ),
    ] = 10**6,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Publish the records in random order.", rich_help_panel=opt.OUTPUT)
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Seed of --shuffle.", rich_help_panel=opt.OUTPUT)] = None,
    report: Annotated[
        pathlib.Path | None,
        typer.Option(help="Write a report, one HTML page.", metavar="FILE", rich_help_panel=opt.OUTPUT),
    ] = None,
    withheld: Annotated[
        pathlib.Path | None,
        typer.Option(
            help="Write the numbers of the withheld records of IN; keep it with IN.",
            metavar="FILE",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    overwrite: opt.Overwrite = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    delimiter: opt.Delimiter = None,
    encoding: opt.Encoding = "utf-8",
    null: opt.Null = None,
) -> None:
    """Recode columns of a file, each to one level of its hierarchy, so that every record equals at least k-1 others.

    Full-domain recoding: a value is recoded alike wherever it stands, and the levels are those that lose least.  Every
    column of IN needs a role: -c, --by, --keep, --sensitive or --drop; columns of --diversity and --closeness are
    sensitive.  Text without --hierarchy shows its values, or nothing but *.  A manifest beside OUT records levels,
    options, versions, the hash of OUT and what was counted on it.

    Examples:
    mag generalize people.csv -o out.csv -k 5 -c age -c job --hierarchy age=age.csv --hierarchy job=job.csv --drop name
    mag generalize people.csv -o out.csv -k 5 -c age --intervals age=0:120:5,10,20 --by region --suppress 0
    mag generalize people.csv --dry-run -k 10 -c education --hierarchy education=education.csv --diversity disease=3
    """
    if out is None and not dry_run:
        raise ValueMistake("--out must name the file to write, unless --dry-run is passed.")
    layout = opt.layout(delimiter, False, encoding, null)
    read, *written = opt.open_files([source], layout, [] if out is None else [out])
    targets = _targets(out, {"report": report, "withheld": withheld}, False, source, overwrite)
    roles = {"-c": column, "--by": by or [], "--keep": keep or [], "--drop": drop or []}
    diverse, close = opt.parse_diversity(diversity or []), opt.parse_closeness(closeness or [])
    roles["--keep"] = [name for name in keep or [] if name not in {**diverse, **close} or name in (sensitive or [])]
    if hidden := list(dict.fromkeys([*(sensitive or []), *diverse, *close])):
        roles["--sensitive"] = hidden
    _check_roles(read, roles)
    ranked = opt.numbers_among(read, close)
    trees = parse_trees(column, hierarchy or [], intervals or [], flat or [])
    options: dict[str, Any] = {
        "by": by or None, "keep": roles["--keep"], "hierarchies": trees or None,
        "importance": _parse_importance(importance or [], column) or None, "suppress": suppress,
        "sensitive": hidden, "diversity": diverse or None, "closeness": close or None,
        "suppressed": suppressed, "missing": missing, "max_nodes": max_nodes, "shuffle": shuffle, "random_state": seed,
    }  # fmt: skip
    before = _stamp(source)
    untouched = [*roles["--by"], *roles["--keep"], *(name for name in hidden if name not in ranked)]
    frame, meta = _read(read, column, ranked, untouched)
    _check_numbers(frame, [name for name in column if name not in trees])
    if not (as_json or quiet):
        say(_describe_search(trees, column, max_nodes))
    from mag.table import generalize as recode

    release = recode(frame, k, column, **options).with_options(drop=len(roles["--drop"]))
    if _stamp(source) != before:
        raise ValueMistake(f"{source.name!r} has changed while it was read; nothing was written.")
    manifest, with_kept = _manifest(release), release.count_with_kept()
    if with_kept is not None:
        manifest["with_kept"] = {"smallest": with_kept[0], "below_k": with_kept[1]}
    if not dry_run:
        with writing(*targets.values(), sources=[source], overwrite=overwrite) as paths:
            [target], drafts = written, dict(zip(targets, paths, strict=True))
            stored = target.write(_with_codes(release.data, target, column), [*column, *ranked], meta, drafts["out"])
            if report is not None:
                release.report(drafts["report"])
            if withheld is not None:
                write_withheld(drafts["withheld"], release.withheld_rows().tolist())
            if target.format.text:
                stored = columns_of(stored, [*column, *untouched])
            manifest["verified"] = verify_file(target, drafts["out"], release.guarantee, stored)
            if diverse or close:
                classes = [*roles["--by"], *column]
                manifest["verified"]["sensitive"] = verify_sensitive(
                    target, drafts["out"], classes, [hidden, ranked], diverse, close
                )
            manifest["files"] = {"output": _file(targets["out"], drafts["out"], digest(drafts["out"]))}
            drafts["manifest"].write_text(json.dumps(manifest, indent=1) + "\n")
    if as_json:
        dump(manifest)
    elif not quiet:
        notes = [*release.warnings, *_describe_kept(with_kept, release.guarantee)]
        _say(release.guarantee, notes, targets.values(), dry_run)


# ---- hierarchies


def parse_trees(
    columns: Sequence[str], hierarchy: Sequence[str], intervals: Sequence[str], flat: Sequence[str]
) -> dict[str, Any]:
    """The hierarchy of every column that has one: of a file, of intervals, or of the codes themselves."""
    from mag.hierarchy import Hierarchy

    trees = opt.parse_hierarchies(hierarchy, columns)
    others: dict[str, Any] = {
        name: _parse_intervals(text) for name, text in _pairs("--intervals", intervals, columns).items()
    }
    for name in flat:
        if name not in columns:
            raise ValueMistake(f"--flat must name a column of -c; got {name!r}.")
        if name in others:
            raise ValueMistake(f"a column must have one hierarchy; {name!r} has two.")
        others[name] = Hierarchy.flat
    if twice := [name for name in others if name in trees]:
        raise ValueMistake(f"a column must have one hierarchy; {twice[0]!r} has two.")
    return trees | others


def _pairs(option: str, words: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """NAME=TEXT of columns of -c; a name may hold =."""
    pairs: dict[str, str] = {}
    for word in words:
        names = [name for name in columns if word.startswith(f"{name}=")]
        if not names:
            raise ValueMistake(f"{option} must be NAME=..., of a column of -c; got {word!r}.")
        name = max(names, key=len)
        if name in pairs:
            raise ValueMistake(f"{option} must name a column once; {name!r} is named twice.")
        pairs[name] = word[len(name) + 1 :]
    return pairs


def _parse_intervals(text: str) -> Any:
    from mag.hierarchy import Hierarchy

    try:
        low, high, widths = text.split(":")
        return Hierarchy.intervals(_number(low), _number(high), [_number(width) for width in widths.split(",")])
    except ValueMistake:
        raise
    except ValueError:
        raise ValueMistake(f"--intervals must be NAME=LOW:HIGH:WIDTH,WIDTH,...; got {text!r}.") from None


def _number(word: str) -> float:
    number = float(word)
    return int(number) if number.is_integer() else number


def _parse_importance(words: Sequence[str], columns: Sequence[str]) -> dict[str, float]:
    try:
        return {name: float(text) for name, text in _pairs("--importance", words, columns).items()}
    except ValueMistake:
        raise
    except ValueError:
        raise ValueMistake(f"--importance must be NAME=NUMBER; got {', '.join(map(repr, words))}.") from None


def _describe_search(trees: dict[str, Any], columns: Sequence[str], max_nodes: int) -> str:
    """How many nodes there are; of too many, what else there is."""
    n_nodes = math.prod(trees[name].levels.shape[1] if hasattr(trees.get(name), "levels") else 2 for name in columns)
    if n_nodes <= max_nodes:
        return f"Searching {n_nodes} combinations of levels."
    return (
        f"There are {n_nodes} combinations of levels, more than --max-nodes {max_nodes}, so that the best found will "
        "not be proven best; mag mask recodes locally, which needs no search and loses less."
    )


# ---- cells


def _read(
    file: File, columns: Sequence[str], ranked: Sequence[str], others: Sequence[str]
) -> "tuple[pl.DataFrame, Meta]":
    """The columns to recode, codes for missing cells as null; those whose numbers matter; the others as they are."""
    import polars as pl

    file.check_names(list(file.layout.null_of))
    if unused := [repr(name) for name in file.layout.null_of if name not in [*columns, *ranked]]:
        raise ValueMistake(f"--null: codes are for columns of -c; {', '.join(unused)} is none of them.")
    if not file.format.text:
        return file.read([*columns, *ranked], others)
    frame, meta = file.read(ranked, [*columns, *others])
    for name in columns:
        if codes := file.layout.codes(name):
            cells = frame[name].alias("")
            blank = cells.str.strip_chars().is_in(codes).fill_null(False)
            frame = frame.with_columns(cells.to_frame().select(pl.when(~blank).then(cells).alias(name)).to_series())
    return frame, meta


def _with_codes(frame: Any, file: File, columns: Sequence[str]) -> Any:
    """The table as text holds it: a missing cell as the first of the column's codes."""
    if not file.format.text:
        return frame
    filled = [frame[name].fill_null(file.layout.codes(name)[0]) for name in columns if file.layout.codes(name)]
    return frame.with_columns(filled)


def _check_numbers(frame: "pl.DataFrame", columns: Sequence[str]) -> None:
    """Columns without a hierarchy must not hold numbers, of which hardly two are equal."""
    import polars as pl

    for name in columns:
        cells = frame[name].alias("").drop_nulls()
        if cells.dtype == pl.String:
            is_number = cells.len() > 0 and cells.cast(pl.Float64, strict=False).null_count() == 0
        else:
            is_number = not isinstance(cells.dtype, (pl.Boolean, pl.Categorical, pl.Enum))
        if is_number:
            raise ValueMistake(
                f"column {name!r} holds no categories, and needs --hierarchy {name}=FILE or, for numbers, --intervals "
                f"{name}=LOW:HIGH:WIDTHS; --flat {name} if they are codes."
            )
