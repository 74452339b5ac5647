"""Small charts as inline SVG.

Written by hand rather than by matplotlib: a chart has 2 kB instead of 20, so that a page of 200 columns stays small;
colors are the page's own, light, dark and printed; text keeps its size on a phone and finds its glyphs in any script;
and a report needs no extra package.
"""

from collections.abc import Sequence

import numpy as np

from mag.report._bins import Bins
from mag.report._html import Content, Element, element, short
from mag.report._levels import ShareBar
from mag.report._text import date_ticks, number_ticks, share, tally

CHART_WIDTH, CHART_HEIGHT, FOOT, SIDE = 320, 132, 20, 8
LETTER = 6  # about as wide as a digit
LEVEL_HEIGHT, LEVEL_LETTERS = 35, 26  # height and letters of a level
Ticks = Sequence[tuple[float, str]]


def chart(label: str, *content: Content, width: int = CHART_WIDTH, height: int = CHART_HEIGHT) -> Element:
    """A drawing with a text that describes it to screen readers."""
    return element("svg", *content, viewBox=f"0 0 {width} {height}", role="img", aria_label=label)


def distributions(label: str, bins: Bins, kind: str) -> Element:
    """Before as an area, after as a line: densities, so that joined bins do not look larger."""
    low, high = float(bins.edges[0]), float(bins.edges[-1])
    x = _across(bins.edges, low, high)
    widths = np.diff(x)
    before, after = bins.before / widths, bins.after / widths
    top = max(before.max(), after.max())
    ticks = date_ticks(low, high) if kind == "datetime" else number_ticks(low, high)
    return chart(
        label,
        element("path", d=_steps(x, _up(before / top)) + "Z", class_="before"),
        element("path", d=_steps(x, _up(after / top)), class_="after"),
        *_axis(
            [(float(at), text) for (_, text), at in zip(ticks, _across([t for t, _ in ticks], low, high), strict=True)]
        ),
    )


def levels(label: str, bars: Sequence[ShareBar], between: str = " → ") -> Element:
    """Two bars for every level, before and after, below its label and their shares with `between` in the middle."""
    top = max(max(bar.before, bar.after) for bar in bars)
    wide = CHART_WIDTH - 2 * SIDE - 8 * LETTER
    shapes: list[Content] = []
    for place, bar in enumerate(bars):
        up = place * LEVEL_HEIGHT
        cut = short(bar.label, LEVEL_LETTERS)
        shapes.append(element("text", cut, element("title", bar.label), x=SIDE, y=up + 11, text_anchor="start"))
        for down, part, kind in ((15, bar.before, "before"), (23, bar.after, "bar")):
            room = {"x": SIDE, "y": up + down, "height": 7}
            shapes.append(element("rect", width=_n(wide * part / top), class_=kind, **room))
            if kind == "bar":
                shapes.append(_label(f"{share(bar.before)}{between}{share(part)}", CHART_WIDTH - SIDE, up + 11, "end"))
    return chart(label, *shapes, height=len(bars) * LEVEL_HEIGHT)


def sizes(label: str, counts: Sequence[tuple[int, int, int]]) -> Element:
    """Bars of how many groups have a size, or a size from first to last."""
    top = max(count for *_, count in counts)
    room = (CHART_WIDTH - 2 * SIDE) / max(len(counts), 4)
    bars: list[Content] = []
    every = -(-len(counts) // 9)
    ticks = []
    for place, (first, last, count) in enumerate(counts):
        left, high = SIDE + place * room, (CHART_HEIGHT - FOOT - 16) * count / top
        middle = left + room / 2
        if count:
            bars.append(
                element(
                    "rect",
                    x=_n(left + room * 0.08),
                    y=_n(CHART_HEIGHT - FOOT - high),
                    width=_n(room * 0.84),
                    height=_n(high),
                    class_="bar",
                )
            )
            if len(counts) <= 9:
                bars.append(_label(tally(count), middle, CHART_HEIGHT - FOOT - high - 4))
        if place % every == 0:
            ticks.append((middle, str(first) if first == last or every > 1 else f"{first}–{last}"))
    return chart(label, *bars, *_axis(ticks))


def gauge(label: str, required: float, counted: float) -> Element:
    """A bar of the counted figure from 0 on, and a line where the required one is."""
    finite = counted if np.isfinite(counted) else 2 * required
    end = 1.15 * max(required, finite) or 1.0
    across = (CHART_WIDTH - 2 * SIDE) / end
    line = SIDE + required * across
    return chart(
        label,
        element("rect", x=SIDE, y=10, width=_n(finite * across), height=14, class_="bar"),
        element("path", d=f"M{_n(line)} 4V30", class_="axis"),
        _label(f"required {required:.3g}", min(line, CHART_WIDTH - 48), 42),
        height=48,
    )


def share_bar(fraction: float) -> Element:
    """A bar in a cell of a table, 0 to 1."""
    bar = element("rect", width=_n(100 * min(max(fraction, 0.0), 1.0)), height=8, class_="bar")
    return element("svg", bar, viewBox="0 0 100 8", preserveAspectRatio="none", class_="share", aria_hidden="true")


def matrix(label: str, values: np.ndarray, texts: Sequence[Sequence[str]], names: Sequence[str]) -> Element:
    """Squares below the diagonal, their area the size of a number in [−1, 1]; hollow ones are negative.

    Rows have names, columns the numbers of the rows.
    """
    m, wide = values.shape[0] - 1, 240
    headings = [f"{name} {place}" for place, name in enumerate(names, 1)]
    edge = LETTER * max(map(len, headings)) + 8
    room = wide / m
    lines = [f"M{edge} {_n(t * room)}h{_n(min(t + 1, m) * room)}" for t in range(m + 1)]
    lines += [f"M{_n(edge + t * room)} {_n(max(t - 1, 0) * room)}V{wide}" for t in range(m + 1)]
    shapes: list[Content] = [element("path", d="".join(lines), class_="guide")]
    every = -(-m // 12)
    for row in range(0, m, every):
        shapes.append(_label(headings[row + 1], edge - 5, (row + 0.5) * room + 4, "end"))
        shapes.append(_label(str(row + 1), edge + (row + 0.5) * room, wide + 14))
    for row in range(m):
        for column in range(row + 1):
            value = values[row + 1, column]
            if np.isnan(value):
                continue
            half = max(0.47 * room * np.sqrt(abs(value)), 0.6)
            shapes.append(
                element(
                    "rect",
                    element("title", texts[row + 1][column]),
                    x=_n(edge + (column + 0.5) * room - half),
                    y=_n((row + 0.5) * room - half),
                    width=_n(2 * half),
                    height=_n(2 * half),
                    class_="less" if value < 0 else "more",
                )
            )
    return chart(label, *shapes, width=edge + wide + 2, height=wide + 18)


def agreement(label: str, before: np.ndarray, after: np.ndarray) -> Element:
    """Dots of pairs of correlations in [−1, 1]; those on the diagonal were kept."""

    def place(r: np.ndarray) -> np.ndarray:
        return 30 + 110 * (r + 1)

    dots = "".join(
        f"M{_n(x)} {_n(y)}h0"
        for x, y in sorted(
            set(zip(place(before).round(0).tolist(), (280 - place(after)).round(0).tolist(), strict=True))
        )
    )
    marks = [(30.0, "−1"), (140.0, "0"), (250.0, "1")]
    return chart(
        label,
        element("path", d="M30 250L250 30", class_="guide"),
        element("path", d="M30 30V250H250", class_="axis"),
        element("path", d=dots, class_="dots"),
        *(_label(text, at, 264) for at, text in marks),
        *(_label(text, 24, 283.5 - at, "end") for at, text in marks),
        _label("before", 200, 264),
        _label("after", 34, 26, "start"),
        width=280,
        height=272,
    )


def _across(values: Sequence[float] | np.ndarray, low: float, high: float) -> np.ndarray:
    """Where values lie on the axis; halves, since the span of finite numbers may not be finite."""
    halves = np.asarray(values, dtype=np.float64) / 2
    return SIDE + (CHART_WIDTH - 2 * SIDE) * ((halves - low / 2) / (high / 2 - low / 2))


def _up(parts: np.ndarray) -> np.ndarray:
    return (CHART_HEIGHT - FOOT) - (CHART_HEIGHT - FOOT - 6) * parts


def _steps(x: np.ndarray, y: np.ndarray) -> str:
    """A staircase from the ground to the ground."""
    stairs = "".join(f"V{_n(level)}H{_n(right)}" for level, right in zip(y, x[1:], strict=True))
    return f"M{_n(x[0])} {CHART_HEIGHT - FOOT}{stairs}V{CHART_HEIGHT - FOOT}"


def _axis(ticks: Ticks) -> list[Content]:
    """A line with marks, and the labels that do not run into each other."""
    ground = CHART_HEIGHT - FOOT
    marks = "".join(f"M{_n(at)} {ground}v4" for at, _ in ticks)
    shapes: list[Content] = [element("path", d=f"M{SIDE} {ground}H{CHART_WIDTH - SIDE}{marks}", class_="axis")]
    free = 0.0
    for at, text in ticks:
        half = LETTER * len(text) / 2
        middle = min(max(at, half), CHART_WIDTH - half)
        if middle - half >= free:
            shapes.append(_label(text, middle, CHART_HEIGHT - 4))
            free = middle + half + LETTER
    return shapes


def _label(text: str, x: float, y: float, anchor: str = "middle") -> Element:
    return element("text", text, x=_n(x), y=_n(y), text_anchor=anchor)


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
