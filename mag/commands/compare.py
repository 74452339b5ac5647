"""`mag compare`."""

import pathlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.atomic import check_target, writing
from mag._lib.errors import ValueMistake
from mag.commands._codes import note_codes
from mag.commands._options import (
    GROUPING,
    OUTPUT,
    Aggregate,
    By,
    DecimalComma,
    Delimiter,
    Encoding,
    Json,
    MethodOption,
    Methods,
    Missing,
    Null,
    Overwrite,
    Quiet,
    Seed,
    SmallStrata,
    Threads,
    TimeLimit,
    ToMask,
    Weights,
    layout,
    open_files,
    parse_method_options,
)
from mag.commands._output import bar, dump, say, table
from mag.commands._table import read_table, read_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLOTS = (".pdf", ".png", ".svg")
LOSS, LINKAGE = "information loss, %", "linkage, %"
SPELLED = {"random_state": "--seed", "time_limit": "--time-limit"}
MARKERS = "osDhp8^vH<"  # with room for a number


def compare(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to mask on trial.")],
    column: ToMask,
    k: Annotated[
        list[int], typer.Option("-k", help="A group size to try. Repeatable.", metavar="K", rich_help_panel=GROUPING)
    ],
    method: Methods = None,
    option: MethodOption = None,
    by: By = None,
    weights: Weights = None,
    aggregate: Aggregate = None,
    missing: Missing = "error",
    small_strata: SmallStrata = "error",
    seed: Seed = None,
    threads: Threads = None,
    time_limit: TimeLimit = None,
    plot: Annotated[
        pathlib.Path | None,
        typer.Option(help="Draw risk against loss: .png, .svg or .pdf.", metavar="FILE", rich_help_panel=OUTPUT),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    encoding: Encoding = "utf-8",
    null: Null = None,
) -> None:
    """Try several methods and group sizes on one file: information loss, risk and seconds.  Writes no masked file.

    Information loss is SSE / SST of the standardized columns; linkage the share of records that an intruder who knows
    the original values expects to find by the nearest masked record; intervals the share of values within a tenth of a
    standard deviation of their masked value.  Records with missing cells are left out of all three.  An --option, a
    --seed and a --time-limit go to the methods that take them; seconds do not contain compilation.

    Examples:
    mag compare people.csv -c age -c income -k 3 -k 5 -m mdav -m ona_star --plot tradeoff.png
    mag compare people.csv -c age -c income -k 5 -m auto -m anneal --time-limit 10 --weights weight
    """
    if plot is not None:
        if plot.suffix.lower() not in PLOTS:
            raise ValueMistake(f"the ending of --plot must be one of {', '.join(PLOTS)}; got {plot.name!r}.")
        check_target(plot, [source], overwrite)
    [file] = open_files([source], layout(delimiter, decimal_comma, encoding, null))
    frame, _ = read_table(file, column, by or [], weights)
    note_codes(frame, column, min(k), quiet)
    trial = _Trial(
        frame,
        column,
        {
            "by": by or None,
            "aggregate": aggregate,
            "missing": missing,
            "small_strata": small_strata,
            "threads": threads,
            "weights": None if weights is None else read_weights(file, weights),
        },
        parse_method_options(option or [])
        | ({} if seed is None else {"random_state": seed})
        | ({} if time_limit is None else {"time_limit": time_limit}),
    )
    methods, sizes = list(dict.fromkeys(method or ["auto"])), sorted(set(k))
    trial.check_options(methods)
    rows = []
    with bar("comparing", quiet) as progress:
        for name in methods:
            for size in sizes:
                rows.append(trial.run(name, size))
                if progress is not None:
                    progress(len(rows) / len(methods) / len(sizes))
    if plot is not None:
        with writing(plot, sources=[source], overwrite=overwrite) as [draft]:
            draw_plot(rows).savefig(draft, dpi=150)
    if as_json:
        dump({"file": source.name, "columns": column, "by": by or [], "rows": rows})
    elif not quiet:
        table(list(rows[0]), [list(row.values()) for row in rows])
        if plot is not None:
            say(f"Written: {plot}")


@dataclass(frozen=True)
class _Trial:
    """One table, and the options of all methods and of those that take them."""

    frame: Any
    columns: list[str]
    common: dict[str, Any]
    special: dict[str, Any]

    def check_options(self, methods: list[str]) -> None:
        """An option that none of the methods takes is a mistake."""
        used = {option for name in methods for option in self._taken(name)}
        unused = [SPELLED.get(name, f"--option {name}") for name in self.special if name not in used]
        if unused:
            raise ValueMistake(f"{', '.join(unused)}: not used by the methods {', '.join(methods)}; leave it out.")

    def run(self, method: str, k: int) -> dict[str, Any]:
        """Mask with a method, and measure."""
        from mag.table import microaggregate

        options = self.common | self._taken(method)
        self._compile(method, k, options)
        began = time.perf_counter()
        release = microaggregate(self.frame, k, self.columns, method=method, **options)
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

    def _taken(self, method: str) -> dict[str, Any]:
        """The special options that a method takes."""
        from mag.methods import METHODS, automatic

        if method == "auto":
            method = automatic(self.frame.height, len(self.columns), 0, "time_limit" in self.special)
        takes = METHODS[method].options if method in METHODS else {}
        return {name: value for name, value in self.special.items() if name in takes}

    def _compile(self, method: str, k: int, options: dict[str, Any]) -> None:
        """Run on a few made-up records of the same types, so that what is measured afterwards compiles nothing."""
        import numpy as np
        import polars as pl

        from mag.table import microaggregate

        numbers = np.random.default_rng(0).integers(1, 99, (len(self.columns), 16 * k))
        frame = pl.DataFrame(
            [pl.Series(name, row).cast(self.frame[name].dtype) for name, row in zip(self.columns, numbers, strict=True)]
        )
        unlike: dict[str, Any] = {"by": None, "missing": "error", "small_strata": "error", "weights": None}
        unlike |= {"time_limit": 1e-3} if "time_limit" in options else {}
        if k > 0:  # or else the run itself says what is wrong
            microaggregate(frame, k, self.columns, method=method, **options | unlike)


def draw_plot(rows: list[dict[str, Any]]) -> "Figure":
    """Risk against loss, one line per method, one point per k; markers and dashes tell lines apart without color."""
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
    axes.set_xlabel("information loss: SSE / SST, %")
    axes.set_ylabel("risk: records linked by an intruder, %")
    axes.set_title("Numbers are k; down and left is better", fontsize=10, loc="left")
    axes.margins(0.1)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(color="0.9")
    axes.legend(frameon=False, markerscale=0.6)
    plt.close(figure)
    return figure
