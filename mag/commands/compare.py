"""`mag compare`."""

import pathlib
import time
from typing import TYPE_CHECKING, Annotated, Any

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
    opened,
)
from mag.commands._output import bar, dump, say, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS = (".pdf", ".png", ".svg")
LOSS, LINKAGE = "information loss, %", "linkage, %"
MARKERS = "osDhp8^vH<"  # with room for a number


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

    Loss is the share of the squares of the standardised columns; linkage the share of records that an intruder who
    knows the original values expects to find by the nearest masked ones; intervals the share of values that lie within
    a tenth of a standard deviation of their masked ones.
    """
    if plot is not None:
        if plot.suffix.lower() not in PLOTS:
            raise ValueMistake(f"the ending of --plot must be one of {', '.join(PLOTS)}; got {plot.name!r}.")
        check_target(plot, [source], overwrite)
    [file] = opened([source], layout(delimiter, decimal_comma, encoding, null))
    frame, _ = file.read(column, by or [])
    given = {"by": by or None, "aggregate": aggregate, "missing": missing, "small_strata": small_strata}
    from mag.methods import METHODS

    methods = list(dict.fromkeys(method or ["auto"]))
    draws = {name for name in methods if name in METHODS and METHODS[name].takes("random_state")}
    if seed is not None and not draws:
        raise ValueMistake("--seed is not used: none of the methods draws random numbers.")
    rows = []
    sizes = sorted(set(k))
    with bar("comparing", quiet) as progress:
        for name in methods:
            for size in sizes:
                chosen = given | {"threads": threads, "random_state": seed if name in draws else None}
                rows.append(_tried(frame, size, column, name, chosen))
                if progress is not None:
                    progress(len(rows) / len(methods) / len(sizes))
    if plot is not None:
        with writing(plot, sources=[source], overwrite=overwrite) as [draft]:
            drawn(rows).savefig(draft, dpi=150)
    if as_json:
        dump({"file": source.name, "columns": column, "by": by or [], "rows": rows})
    elif not quiet:
        table(list(rows[0]), [list(row.values()) for row in rows])
        if plot is not None:
            say(f"Written: {plot}")


def _tried(frame: Any, k: int, columns: list[str], method: str, given: dict[str, Any]) -> dict[str, Any]:
    from mag.table import microaggregate

    began = time.perf_counter()
    release = microaggregate(frame, k, columns, method=method, **given)
    took = time.perf_counter() - began
    loss, risk = release.utility(), release.risk()
    return {
        "method": method if method != "auto" else f"auto ({release.grouping.method})",
        "k": k,
        "groups": release.guarantee.n_groups,
        "smallest": release.guarantee.smallest,
        LOSS: 100 * loss["information_loss"],
        "correlations": loss["correlation_difference"],
        LINKAGE: 100 * risk["distance_linkage"],
        "intervals, %": 100 * risk["sd_interval_disclosure"],
        "withheld": release.withheld,
        "seconds": took,
    }


def drawn(rows: list[dict[str, Any]]) -> "Figure":
    """Risk against loss, one line per method, one point per k; markers and dashes tell lines apart without colour."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
    for place, name in enumerate(dict.fromkeys(row["method"] for row in rows)):
        points = [row for row in rows if row["method"] == name]
        looks: dict[str, Any] = {"linestyle": ("-", "--", "-.", ":")[place % 4], "color": str(0.55 * (place % 3) / 2)}
        marker: dict[str, Any] = {"marker": MARKERS[place % len(MARKERS)], "markersize": 15, "markerfacecolor": "white"}
        axes.plot([row[LOSS] for row in points], [row[LINKAGE] for row in points], **looks, **marker, label=name)
        for row in points:
            axes.annotate(str(row["k"]), (row[LOSS], row[LINKAGE]), ha="center", va="center", fontsize=7)
    axes.set_xlabel("information loss: share of the squares, %")
    axes.set_ylabel("risk: records linked by an intruder, %")
    axes.set_title("Numbers are k; down and left is better", fontsize=10, loc="left")
    axes.margins(0.1)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(color="0.9")
    axes.legend(frameon=False, markerscale=0.6)
    plt.close(figure)
    return figure
