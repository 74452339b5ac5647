"""`mag.compare`: methods and group sizes side by side on one table."""

import html
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mag._backends import cpu
from mag._lib.checks import integer, one_of, seconds
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.pictures import Drawable, put_legend_beside
from mag._lib.progress import Progress
from mag._lib.roles import assign_roles
from mag.api.columns import columns as group_columns
from mag.api.method import check_options
from mag.api.options import progress_of
from mag.api.table_options import COMPARE, accepted
from mag.api.types import MethodName, ProgressReport, RandomState
from mag.api.warm_up import warm_up_method
from mag.frames import Frame, frame_of
from mag.frames.categories import is_category
from mag.methods import METHODS
from mag.tables import Release, microaggregate
from mag.tables.types import Aggregate, Missing, Names, SmallStrata

LOSSES = {"information_loss": "information loss: SSE / SST, %", "ncp": "normalized certainty penalty, %"}
LABEL_POINTS = 8  # size of the text next to a point
DASHES, MARKERS = ("-", "--", "-.", ":"), "osD^vph<>"  # distinguish lines without color


@dataclass(frozen=True)
class Comparison(Mapping[str, np.ndarray], Drawable):
    """Loss, risk and time of several methods, as returned by `mag.compare`: a mapping of names to columns.

    ``comparison["information_loss"]`` is a column; `rows` are dictionaries, which `pandas.DataFrame` and
    `polars.DataFrame` take.  `plot` draws risk against loss, a line for every method and a point for every k.

    Attributes
    ----------
    rows : tuple of dict
        One for every method and k, with

        ``method``
            Its name; for "auto" the method that was chosen.
        ``k``
            The group size.
        ``groups``, ``smallest``, ``withheld``
            The number of groups, the smallest number of records alike, the number of records not published.
        ``units``, ``households``
            With `unit` and `household`: the smallest number of them whose records are alike.
        ``information_loss``, ``correlation_difference``
            See `mag.metrics`; the former is a fraction.  For columns of numbers: left out if there are no such columns.
        ``ncp``, ``total_variation``
            See `mag.metrics`; where columns hold categories or ranges are published.
        ``distance_linkage``, ``sd_interval_disclosure``
            See `mag.privacy`; fractions of the records and of the values.  The latter is for numbers only.
        ``seconds``
            The time of `mag.microaggregate`, without compiling and loading code.
        ``complete``
            False if `time_limit` ended the search.
    """

    rows: tuple[dict[str, Any], ...]

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array([row[name] for row in self.rows])

    def __iter__(self) -> Iterator[str]:
        return iter(self.rows[0])

    def __len__(self) -> int:
        return len(self.rows[0])

    def __repr__(self) -> str:
        cells = [[*self], *([_cell_text(cell) for cell in row.values()] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)).rstrip() for line in cells)

    def _repr_html_(self) -> str:
        def line(tag: str, cells: Iterable[object]) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", map(_cell_text, row.values())) for row in self.rows)
        return f"<table><thead>{line('th', self)}</thead><tbody>{body}</tbody></table>"

    def to_pandas(self) -> Any:
        """The same as a frame of pandas."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def to_polars(self) -> Any:
        """The same as a frame of polars."""
        import polars as pl

        return pl.DataFrame(list(self.rows))

    def _draw(self, axes: Any) -> None:
        measure = "ncp" if "ncp" in self else "information_loss"
        marks: list[tuple[float, float, str, Any]] = []
        for place, name in enumerate(dict.fromkeys(row["method"] for row in self.rows)):
            points = [row for row in self.rows if row["method"] == name]
            loss, risk = ([100 * row[axis] for row in points] for axis in (measure, "distance_linkage"))
            looks = {"linestyle": DASHES[place % 4], "marker": MARKERS[place % 9], "markersize": 5}
            (line,) = axes.plot(loss, risk, **looks, label=name)
            marks += [(x, y, f"k={row['k']}", line.get_color()) for row, x, y in zip(points, loss, risk, strict=True)]
        axes.set_xlabel(LOSSES[measure])
        axes.set_ylabel("distance linkage: records linked correctly, %")
        axes.set_title("Risk against loss; down and left is better", fontsize=10, loc="left")
        axes.margins(0.12)
        for axis, shares in (("x", self[measure]), ("y", self["distance_linkage"])):
            if shares.min() > 0:  # lines of methods that lose little would lie on each other
                _scale_by_ratios(axes, axis)
        axes.grid(color="0.9")
        put_legend_beside(axes, len({row["method"] for row in self.rows}))
        _label_points(axes, marks)


def compare(
    table: Any,
    k: int | Iterable[int],
    columns: Names,
    *,
    methods: MethodName | Iterable[MethodName] = "auto",
    options: Mapping[MethodName, Mapping[str, Any]] | None = None,
    # options: written by tools.names from mag.api.table_options
    by: Names | None = None,
    unit: Any = None,
    household: Any = None,
    k_household: int | None = None,
    aggregate: Aggregate | None = None,
    hierarchies: Mapping[Any, Any] | None = None,
    order: Mapping[Any, Sequence[Any]] | None = None,
    importance: Mapping[Any, float] | None = None,
    weights: Any = None,
    standardize: bool | Literal["range"] | None = None,
    missing: Missing = "error",
    small_strata: SmallStrata = "error",
    random_state: RandomState = 0,
    threads: int | None = None,
    progress: ProgressReport = None,
    time_limit: float | None = None,
    # end of options
) -> Comparison:
    """Compare methods and group sizes on one table: information loss, disclosure risk and time.

    Nothing is published.  Times exclude compilation.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original.  Columns that no argument names are ignored.
    k : int or list of int
        The group sizes.
    columns : column name or list of them
        The columns to mask jointly.
    methods : str or list of str
        The methods, see `mag.multivariate`; a single column is always grouped at the optimum, "auto".
    options : dict, optional
        Options of methods, such as ``{"mona": {"rho": 0.4}}``.
    by, unit, household, k_household, aggregate, hierarchies, order, importance, weights, standardize, missing
        As in `mag.microaggregate`.
    small_strata, random_state, threads
        As in `mag.microaggregate`.
    progress : bool or callable, optional
        As in `mag.multivariate`, of all runs together.
    time_limit : float, optional
        Seconds for each run of a method that can be limited.

    Returns
    -------
    Comparison
        A row for every method and k; ``plot()`` draws them.

    Examples
    --------
    >>> import mag
    >>> people = {"age": [31, 52, 30, 33, 29, 55, 50], "income": [2.5, 4.0, 2.0, 3.0, 2.5, 4.5, 5.0]}
    >>> comparison = mag.compare(people, [2, 3], ["age", "income"], methods=["mdav", "ona_star"])
    >>> comparison["method"], comparison["k"]
    (array(['mdav', 'mdav', 'ona_star', 'ona_star'], dtype='<U8'), array([2, 3, 2, 3]))
    >>> comparison["information_loss"].round(3)
    array([0.263, 0.077, 0.057, 0.077])
    """
    arguments = locals()
    of_runs = ("progress", "time_limit")  # each run has its own
    settings = {name: arguments[name] for name in accepted(COMPARE) if name not in of_runs} | {"rest": "drop"}
    frame = frame_of(table)
    sizes = sorted({integer("k", size, 1, frame.n, "n") for size in _entries("k", k)})
    listed = [one_of("methods", name, ["auto", *METHODS]) for name in _entries("methods", methods)]
    names: list[Any] = list(dict.fromkeys(listed))
    own = _options(options, names)
    for name in names:
        for size in [] if name == "auto" else sizes:
            check_options(name, size, own.get(name, {}), None, cpu, "cpu")
    seconds("time_limit", time_limit)
    masked = assign_roles({"columns": columns, "drop": None}, frame.names, rest="drop")["columns"]
    single = len(masked) == 1 and _is_number(frame, masked[0], aggregate, {*(hierarchies or ()), *(order or ())})
    tracker, rows = Progress(progress_of(progress)), []
    runs = [(name, size) for name in names for size in sizes]
    for turn, (name, size) in enumerate(runs):
        limited = time_limit is not None and _can_be_limited(name, single)
        call: dict[str, Any] = {**settings, **own.get(name, {}), "time_limit": time_limit if limited else None}
        _warm_up(name, size, single, limited, own.get(name, {}), tracker.quiet)

        def report(fraction: float, turn: int = turn) -> None:
            tracker.step((turn + fraction) / len(runs))

        began = time.perf_counter()
        release: Release = microaggregate(table, size, columns, method=name, progress=report, **call)
        rows.append(_row(name, size, release, time.perf_counter() - began))
    tracker.finish()
    return Comparison(tuple(rows))


def _label_points(axes: Any, marks: Sequence[tuple[float, float, str, Any]]) -> None:
    """A text next to every point, where it covers no other one; none where there is no room."""
    axes.figure.draw_without_rendering()  # places of points are known from here on
    unit = axes.figure.dpi / 72  # pixels of a point
    points = axes.transData.transform([(x, y) for x, y, *_ in marks])
    taken = [(px - 3 * unit, py - 3 * unit, px + 3 * unit, py + 3 * unit) for px, py in points]
    for (x, y, text, color), (px, py) in zip(marks, points, strict=True):
        wide, high = LABEL_POINTS * 0.62 * len(text) * unit, LABEL_POINTS * 1.2 * unit
        for right, up in ((6, 4), (-6, -4), (6, -4), (-6, 4), (6, 14), (-6, -14), (6, -14), (-6, 14)):
            left = px + right * unit - (wide if right < 0 else 0)
            bottom = py + up * unit - (high if up < 0 else 0)
            box = (left, bottom, left + wide, bottom + high)
            if all(box[2] < a or c < box[0] or box[3] < b or d < box[1] for a, b, c, d in taken):
                taken.append(box)
                side = {"ha": "right" if right < 0 else "left", "va": "top" if up < 0 else "bottom"}
                away = {"textcoords": "offset points", "fontsize": LABEL_POINTS, "color": color}
                axes.annotate(text, (x, y), (right, up), **away, **side)
                break


def _scale_by_ratios(axes: Any, axis: str) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import LogLocator

    axes.set(**{f"{axis}scale": "log"})
    ticks = getattr(axes, f"{axis}axis")
    ticks.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ticks.set_major_formatter("{x:g}")
    ticks.set_minor_formatter("")


def _entries(option: str, entries: Any) -> list[Any]:
    """One entry or several as a list."""
    listed = [entries] if isinstance(entries, str) or not isinstance(entries, Iterable) else list(entries)
    if not listed:
        raise InputValueError(f"{option} must hold at least one entry; got none.")
    return listed


def _options(options: Mapping[Any, Mapping[str, Any]] | None, names: list[MethodName]) -> dict[str, dict[str, Any]]:
    """Options of each method; reject options without effect."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(own, Mapping) for own in options.values()):
        raise InputTypeError("options must be a dictionary of dictionaries, by method.")
    for name in options:
        if name not in names:
            raise InputValueError(f"options must be of methods that are compared; got {name!r}.")
    return {name: dict(own) for name, own in options.items()}


def _is_number(frame: Frame, name: Any, aggregate: Any, categories: set[Any]) -> bool:
    """Whether a column holds numbers; a single one is grouped optimally."""
    how = aggregate.get(name) if isinstance(aggregate, Mapping) else None
    return name not in categories and how not in ("medoid", "mode") and not is_category(frame.column(name))


def _can_be_limited(name: str, single: bool) -> bool:
    return not single and (name == "auto" or "time_limit" in METHODS[name].options)


def _warm_up(name: str, k: int, single: bool, limited: bool, options: Mapping[str, Any], quiet: bool) -> None:
    """Compile or load the code that a run will use."""
    if single:
        group_columns(np.arange(8.0 * k)[:, None], k)
        return
    automatic = ["anneal", "ona_local"] if limited else ["ona_star", "ona_local", "mona"]
    for one in automatic if name == "auto" else [name]:
        warm_up_method(one, k, options, quiet=quiet)


MEASURE_NAMES = (
    "information_loss",
    "ncp",
    "total_variation",
    "correlation_difference",
    "distance_linkage",
    "sd_interval_disclosure",
)  # as far as the columns have them


def _row(name: str, k: int, release: Release, seconds: float) -> dict[str, Any]:
    measures = release.utility(propensity=False) | release.risk()
    owners = {"units": release.guarantee.smallest_units, "households": release.guarantee.smallest_households}
    return {
        "method": name if name != "auto" else f"auto ({release.grouping.method})",
        "k": k,
        "groups": release.guarantee.n_groups,
        "smallest": release.guarantee.smallest,
        **{name: count for name, count in owners.items() if count is not None},
        **{key: measures[key] for key in MEASURE_NAMES if key in measures},
        "withheld": release.withheld,
        "seconds": seconds,
        "complete": release.grouping.complete,
    }


def _cell_text(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
