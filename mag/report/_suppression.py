"""Cells that became missing: how many of each column, and the classes that they leave."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mag.report import _groups, _svg
from mag.report._html import Element, Row, element, fold_table, name
from mag.report._text import several, share, span, tally

MAX_PICTURES = 6  # sets of columns whose classes are drawn


@dataclass(frozen=True)
class SuppressionFacts:
    """Missing cells of a published table, and how they are read.

    `is_wildcard` if a missing cell counts as equal to every value; `missing` are the published cells of each column
    that are missing, `suppressed` those that were not missing before, which an external page does not know; `below_k`
    are records in classes of fewer than k that are equal cell by cell; `sizes` the records of each of these classes, by
    set of columns.
    """

    is_wildcard: bool
    n_records: int
    missing: Mapping[Hashable, int]
    suppressed: Mapping[Hashable, int]
    below_k: int
    sizes: Sequence[tuple[str, np.ndarray]]


def describe_suppression(facts: SuppressionFacts) -> Element:
    """A section with a row for every column, and the sizes of classes."""
    said = "A missing cell is a value of its own: records are alike only if they miss the same cells. "
    if facts.is_wildcard:
        said = "A missing cell counts as equal to every value. "
    said += "All other cells are published as they are."
    counts = facts.suppressed or facts.missing
    rows: list[Row] = [
        ([name(column)], [tally(counts[column])], *_others(facts, column), [_svg.share_bar(counts[column] / most)])
        for most in [max(facts.n_records, 1)]
        for column in sorted(counts, key=lambda column: -counts[column])
    ]
    counted = ("Suppressed", "Missing before") if facts.suppressed else ("Missing",)
    heads = ("Column", *counted, "Share", "0 to 100 %")
    listed = fold_table("Most cells first", heads, rows, class_="losses")
    drawn = [_draw_classes(*own) for own in facts.sizes[:MAX_PICTURES]]
    figures = element("div", *drawn, class_="grid") if drawn else None
    return element("section", element("h2", "Suppressed cells"), element("p", said), listed, figures)


def _others(facts: SuppressionFacts, column: Hashable) -> list[list[str]]:
    if not facts.suppressed:
        return [[share(facts.missing[column] / max(facts.n_records, 1))]]
    before = facts.missing[column] - facts.suppressed[column]
    return [[tally(before)], [share(facts.suppressed[column] / max(facts.n_records, 1))]]


def _draw_classes(title: str, sizes: np.ndarray) -> Element:
    low, high = int(sizes.min()), int(sizes.max())
    said = f"{several(sizes.size, 'class', 'classes')} of {span(low, high)} records that are equal cell by cell."
    picture = _svg.sizes(f"Bars: {said}", _groups.histogram(sizes)) if low < high else None
    return element("figure", element("h3", title), picture, element("figcaption", element("p", said)))
