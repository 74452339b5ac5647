"""Parts of pages for other pages: the inside of a report, and pictures as text of HTML."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from mag.report import _svg
from mag.report._html import Content, Element, element, short
from mag.report._text import number_ticks

PLOT_WIDTH, PLOT_HEIGHT, BEFORE_AXIS, AFTER_AXIS, ABOVE, BELOW = 440, 320, 40, 92, 26, 44
LINE_DASHES, MARK_SHAPES = ("", "6 4", "2 3", "8 3 2 3"), 4  # distinguish methods without color
DECADE_MARKS = (1, 2, 5)


class TradeoffPoint(NamedTuple):
    """Loss and risk of a method and k, in percent; `attributes` make the point a link."""

    method: str
    k: int
    loss: float
    risk: float
    attributes: Mapping[str, str]
    is_chosen: bool = False

    @property
    def text(self) -> str:
        """The point in words."""
        return f"{self.method}, k = {self.k}: loss {self.loss:.3g} %, risk {self.risk:.3g} %"


def inner_html(page: str) -> str:
    """A report without its frame, to be put into another page below that page's heading."""
    inside = page.partition("<body>")[2].partition("<footer>")[0]
    for mine, yours in (("header", "div"), ("main", "div"), ("h3", "h4"), ("h2", "h3"), ("h1", "h2")):
        inside = inside.replace(f"<{mine}>", f'<{yours} class="{mine}">').replace(f"</{mine}>", f"</{yours}>")
    return re.sub(r"<table.*?<caption>(.*?)</caption>.*?</table>", _in_region, inside, flags=re.DOTALL)


def _in_region(table: re.Match[str]) -> str:
    """A table that scrolls in a narrow window, also by keyboard."""
    label = table[1].replace('"', "&quot;")
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{table[0]}</div>'


def split_section(inside: str, title: str) -> tuple[str, str]:
    """The section with this title, to be shown before the others, and all others of the inside of a report."""
    pattern = rf"(<section><h3[^>]*>{re.escape(title)}</h3>.*?</section>|$)"
    before, section, after = re.split(pattern, inside, maxsplit=1, flags=re.DOTALL)
    return section.replace("<h3", "<h2").replace("</h3>", "</h2>"), before + after


def draw_share(fraction: float) -> str:
    """A bar in a cell of a table."""
    return _write(_svg.share_bar(fraction))


def draw_class_sizes(records: Sequence[tuple[int, int, int]]) -> str:
    """How many records are in classes of a size, or of a size from first to last."""
    said = ", ".join(f"{count} in classes of {first}" for first, _, count in records if count)
    return _write(_svg.sizes(f"Records by the size of their class: {said}", records))


def draw_tradeoff(points: Sequence[TradeoffPoint], loss: str) -> str:
    """Risk against loss: a line for every method, a point for every k."""
    x, x_ticks = _scale([point.loss for point in points], BEFORE_AXIS, PLOT_WIDTH - AFTER_AXIS)
    y, y_ticks = _scale([point.risk for point in points], PLOT_HEIGHT - BELOW, ABOVE)
    ground, end = PLOT_HEIGHT - BELOW, PLOT_WIDTH - AFTER_AXIS
    grid = "".join(f"M{at:.1f} {ABOVE}V{ground}" for at, _ in x_ticks) + "".join(
        f"M{BEFORE_AXIS} {at:.1f}H{end}" for at, _ in y_ticks
    )
    shapes: list[Content] = [
        element("path", d=grid, class_="guide"),
        element("path", d=f"M{BEFORE_AXIS} {ABOVE}V{ground}H{end}", class_="axis"),
        *(_svg_text(text, at, ground + 16, "middle") for at, text in x_ticks),
        *(_svg_text(text, BEFORE_AXIS - 6, at + 4, "end") for at, text in y_ticks),
        _svg_text(loss, (BEFORE_AXIS + end) / 2, PLOT_HEIGHT - 8, "middle"),
        _svg_text("records that an intruder links correctly, %", BEFORE_AXIS - 36, 14, "start"),
    ]
    marks: list[Content] = []
    taken: list[float] = []
    names = list(dict.fromkeys(point.method for point in points))
    for place, method in sorted(enumerate(names), key=lambda named: _last_risk(points, named[1]), reverse=True):
        own = sorted((point for point in points if point.method == method), key=lambda point: point.k)
        line = "M" + "L".join(f"{x(point.loss):.1f} {y(point.risk):.1f}" for point in own)
        shapes.append(
            element("path", d=line, class_="curve", stroke_dasharray=LINE_DASHES[place % len(LINE_DASHES)] or None)
        )
        last = max(own, key=lambda point: point.loss)
        up = y(last.risk) + 4
        while any(abs(up - other) < 13 for other in taken):
            up += 13
        taken.append(up)
        line = f"M{x(last.loss) + 9:.1f} {y(last.risk):.1f}L{end + 4} {up - 4:.1f}"
        marks += [element("path", d=line, class_="guide"), _svg_text(short(method, 16), end + 8, up, "start")]
        marks += [_mark(point, x(point.loss), y(point.risk), place) for point in own]
    label = "Risk against loss; down and left is better. " + "; ".join(point.text for point in points)
    return _write(_plot(label, *shapes, *marks))


def _last_risk(points: Sequence[TradeoffPoint], method: str) -> float:
    """The risk of the point with the largest loss, next to which the name is."""
    return max((point.loss, point.risk) for point in points if point.method == method)[1]


def _plot(label: str, *content: Content) -> Element:
    """A drawing whose points can be reached, so that it is a group and no image."""
    box = f"0 0 {PLOT_WIDTH} {PLOT_HEIGHT}"
    return element("svg", *content, viewBox=box, role="group", aria_label=label, class_="tradeoff")


def _mark(point: TradeoffPoint, x: float, y: float, place: int) -> Element:
    """A point: circle, square, diamond or triangle by method, with its k; filled if it is chosen."""
    shape = (
        f"M{x - 6:.1f} {y:.1f}a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
        f"M{x - 5:.1f} {y - 5:.1f}h10v10h-10z",
        f"M{x:.1f} {y - 7:.1f}l7 7l-7 7l-7 -7z",
        f"M{x:.1f} {y - 7:.1f}l7 12h-14z",
    )[place % MARK_SHAPES]
    return element(
        "a",
        element("title", point.text),
        element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="14", class_="reach"),
        element("path", d=shape, class_="point"),
        _svg_text(str(point.k), x, y - 10, "middle"),
        **{"aria_label": point.text, "class_": "chosen" if point.is_chosen else None, **point.attributes},
    )


def _scale(
    values: Sequence[float], start: float, end: float
) -> tuple[Callable[[float], float], list[tuple[float, str]]]:
    """Where values lie between two ends, by ratios if none is 0, and marks with their places."""
    low, high = min(values), max(values)
    if low > 0:
        low, high = math.log10(low), math.log10(high)
        pad = max(0.08 * (high - low), 0.08, 0.25 - (high - low) / 2)  # room for a mark, of a single value, too
        low, high = low - pad, high + pad

        def place(value: float) -> float:
            return start + (end - start) * (math.log10(value) - low) / (high - low)

        decades = range(math.floor(low), math.ceil(high) + 1)
        marks = [mark * 10.0**decade for decade in decades for mark in DECADE_MARKS]
        shown = [mark for mark in marks if low <= math.log10(mark) <= high]
        ticks = [(place(mark), f"{mark:g}") for mark in shown]
    else:
        high = 1.05 * high or 1.0

        def place(value: float) -> float:
            return start + (end - start) * value / high

        ticks = [(place(value), text) for value, text in number_ticks(0.0, high)]
    return place, ticks


def _svg_text(text: str, x: float, y: float, anchor: str) -> Element:
    return element("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


def _write(root: Element) -> str:
    return ElementTree.tostring(root, encoding="unicode", method="html")
