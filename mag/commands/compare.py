"""`mag compare`."""

import pathlib
from typing import Annotated, Any

import typer

from mag._lib.atomic import reserving
from mag._lib.errors import InputValueError
from mag.api.table_options import COMPARE
from mag.commands import _options as opt
from mag.commands._codes import note_codes
from mag.commands._output import bar, dump, say, table
from mag.commands._parse import parse_categories, parse_method_options, parse_orders
from mag.commands._table import read_table, read_weights
from mag.files import Layout

PLOTS = (".pdf", ".png", ".svg")
SHOWN = {  # printed headings
    "information_loss": "information loss, %",
    "ncp": "penalty, %",
    "total_variation": "frequencies, %",
    "correlation_difference": "correlations",
    "distance_linkage": "linkage, %",
    "sd_interval_disclosure": "intervals, %",
}


@opt.with_text_layout_and_dates
@opt.with_table_options(COMPARE)
def compare(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to try methods on.")],
    column: opt.ToMask,
    k: Annotated[
        list[int],
        typer.Option("-k", help="A group size to try. Repeatable.", metavar="K", rich_help_panel=opt.GROUPING_PANEL),
    ],
    method: opt.Methods = None,
    option: opt.MethodOption = None,
    by: opt.By = None,
    unit: opt.Unit = None,
    household: opt.Household = None,
    weights: opt.Weights = None,
    aggregate: opt.Aggregate = None,
    hierarchy: opt.Hierarchies = None,
    order: opt.Order = None,
    importance: opt.Importance = None,
    other: opt.Other = "error",
    plot: Annotated[
        pathlib.Path | None,
        typer.Option(
            help="Draw risk against loss: .png, .svg or .pdf.", metavar="FILE", rich_help_panel=opt.OUTPUT_PANEL
        ),
        opt.Written,
    ] = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    *,
    table_options: dict[str, Any],
    text_layout: Layout,
) -> None:
    """Try several methods and group sizes on one file: information loss, risk and seconds.  Writes no masked file.

    Information loss is SSE / SST of the standardized columns; linkage the share of records that an intruder who knows
    the original values expects to find by the nearest masked record; intervals the share of values within a tenth of a
    standard deviation of their masked value.  Records with missing cells are left out of all three.  Where columns are
    categories, penalty is the normalized certainty penalty of all columns, and frequencies how those of categories have
    changed; the others look at columns of numbers, linkage at all columns.  An --option, a
    --seed and a --time-limit go to the methods that take them; seconds do not contain compilation.

    Examples:
    mag compare people.csv -c age -c income -k 3 -k 5 -m mdav -m ona_star --plot tradeoff.png
    mag compare people.csv -c age -c income -k 5 -m auto -m anneal --time-limit 10 --weights weight
    mag compare people.csv -c age -c job -k 5 -m mdav -m ona_star --hierarchy job=jobs.csv
    """
    if plot is not None and plot.suffix.lower() not in PLOTS:
        raise InputValueError(f"the ending of --plot must be one of {', '.join(PLOTS)}; got {plot.name!r}.")
    targets, sources = [] if plot is None else [plot], opt.read_files(compare, locals())
    from mag.tables.compare import compare as compare_methods

    with reserving(*targets, sources=sources, overwrite=overwrite) as reserved:
        [file] = opt.open_files([source], text_layout)
        orders = parse_orders(order or [], column)
        categories, by_column = parse_categories(column, aggregate, hierarchy, orders, importance, other)
        numbers = [name for name in column if name not in categories]
        owners = {option: name for option, name in (("unit", unit), ("household", household)) if name is not None}
        frame, _ = read_table(file, numbers, by or [], weights, categories, [*owners.values()])
        note_codes(frame, numbers, min(k), quiet)
        methods: list[Any] = list(dict.fromkeys(method or ["auto"]))
        special = _special_options(methods, parse_method_options(option or []), table_options)
        choices: dict[str, Any] = by_column | table_options | owners
        with bar("comparing", quiet) as progress:
            comparison = compare_methods(
                frame,
                k,
                column,
                methods=methods,
                options=special,
                by=by or None,
                weights=None if weights is None else read_weights(file, weights),
                progress=progress,
                **choices,
            )
        rows = [_in_percent(row) for row in comparison.rows]
        if plot is not None:
            with reserved.drafts() as [draft]:
                _figure(comparison).savefig(draft, dpi=150)
    if as_json:
        dump({"file": source.name, "columns": column, "by": by or [], "rows": rows})
    elif not quiet:
        table(list(rows[0]), [list(row.values()) for row in rows])
        if plot is not None:
            say(f"Written: {plot}")


def _special_options(
    methods: list[Any], options: dict[str, Any], of_table: dict[str, Any]
) -> dict[Any, dict[str, Any]]:
    """Assign each --option to the methods that take it; reject an option, seed or limit that no method takes."""
    from mag.methods import METHODS

    limited = {name: "time_limit" in METHODS[name].options for name in methods if name in METHODS}
    used = {name for method in methods if method in METHODS for name in options if name in METHODS[method].options}
    unused = [f"--option {name}" for name in options if name not in used]
    if of_table["random_state"] is not None and not any(
        METHODS[name].accepts("random_state") for name in methods if name in METHODS
    ):
        unused.append("--seed")
    if of_table["time_limit"] is not None and "auto" not in methods and not any(limited.values()):
        unused.append("--time-limit")
    if unused:
        raise InputValueError(f"{', '.join(unused)}: not used by the methods {', '.join(methods)}; leave it out.")
    return {
        method: {name: value for name, value in options.items() if name in METHODS[method].options}
        for method in methods
        if method in METHODS
    }


def _in_percent(row: dict[str, Any]) -> dict[str, Any]:
    """As it is printed: shares in percent."""
    facts = {SHOWN.get(name, name): fact for name, fact in row.items() if name != "complete"}
    return {name: 100 * fact if name.endswith("%") else fact for name, fact in facts.items()}


def _figure(comparison: Any) -> Any:
    """The plot, on a canvas that needs no display."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained")
    comparison.plot(figure.add_subplot())
    return figure
