"""`mag compare`."""

import pathlib
from typing import Annotated, Any

import typer

from mag._lib.atomic import check_target, writing
from mag._lib.errors import ValueMistake
from mag.commands._options import (
    Aggregate,
    By,
    DecimalComma,
    Delimiter,
    Encoding,
    Json,
    Missing,
    Null,
    Quiet,
    SmallStrata,
    Threads,
    layout,
    open_files,
)
from mag.commands._output import bar, dump, say, table

PLOTS = (".pdf", ".png", ".svg")
SHOWN = {  # how columns are called here, and those that are printed in percent
    "information_loss": "information loss, %",
    "correlation_difference": "correlations",
    "distance_linkage": "linkage, %",
    "sd_interval_disclosure": "intervals, %",
}


def compare(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to try methods on.")],
    column: Annotated[list[str], typer.Option("--column", "-c", help="A column to mask; repeatable.", metavar="NAME")],
    k: Annotated[list[int], typer.Option("-k", help="A group size; repeatable.")],
    method: Annotated[list[str] | None, typer.Option("--method", "-m", help="Repeatable (default: auto).")] = None,
    by: By = None,
    aggregate: Aggregate = None,
    missing: Missing = "error",
    small_strata: SmallStrata = "error",
    seed: Annotated[int | None, typer.Option(help="For methods that draw random numbers.")] = None,
    threads: Threads = None,
    plot: Annotated[pathlib.Path | None, typer.Option(help="Draw risk against loss: .png, .svg or .pdf.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a plot that exists.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    encoding: Encoding = "utf-8",
    null: Null = None,
) -> None:
    """Try several methods and group sizes on one file: what they lose, what they give away.  Masks no file.

    Loss is the share of the squares of the standardized columns; linkage the share of records that an intruder who
    knows the original values expects to find by the nearest masked ones; intervals the share of values that lie within
    a tenth of a standard deviation of their masked ones.
    """
    if plot is not None:
        if plot.suffix.lower() not in PLOTS:
            raise ValueMistake(f"the ending of --plot must be one of {', '.join(PLOTS)}; got {plot.name!r}.")
        check_target(plot, [source], overwrite)
    [file] = open_files([source], layout(delimiter, decimal_comma, encoding, null))
    frame, _ = file.read(column, by or [])
    from mag.comparison import compare as compare_methods
    from mag.methods import METHODS

    methods: list[Any] = list(dict.fromkeys(method or ["auto"]))
    if seed is not None and not any(name in METHODS and METHODS[name].takes("random_state") for name in methods):
        raise ValueMistake("--seed is not used: none of the methods draws random numbers.")
    options: dict[str, Any] = {
        "by": by or None,
        "aggregate": aggregate,
        "missing": missing,
        "small_strata": small_strata,
    }
    with bar("comparing", quiet) as progress:
        comparison = compare_methods(
            frame, k, column, methods=methods, random_state=seed, threads=threads, progress=progress, **options
        )
    rows = [_in_percent(row) for row in comparison.rows]
    if plot is not None:
        with writing(plot, sources=[source], overwrite=overwrite) as [draft]:
            _figure(comparison).savefig(draft, dpi=150)
    if as_json:
        dump({"file": source.name, "columns": column, "by": by or [], "rows": rows})
    elif not quiet:
        table(list(rows[0]), [list(row.values()) for row in rows])
        if plot is not None:
            say(f"Written: {plot}")


def _in_percent(row: dict[str, Any]) -> dict[str, Any]:
    """As it is printed: shares in percent."""
    named = {SHOWN.get(name, name): fact for name, fact in row.items() if name != "complete"}
    return {name: 100 * fact if name.endswith("%") else fact for name, fact in named.items()}


def _figure(comparison: Any) -> Any:
    """The plot, on a canvas that needs no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    comparison.plot(figure.add_subplot())
    return figure
