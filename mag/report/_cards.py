"""Distributions before and after: a card for every column, those that changed most first."""

from collections.abc import Hashable, Iterable

import numpy as np

from mag.report import _bins, _groups, _levels, _svg
from mag.report._facts import ReportFacts
from mag.report._html import Element, element, name, short
from mag.report._text import figure, several, share

MAX_CARDS = 12  # columns that are shown at once


def columns(facts: ReportFacts) -> Element | None:
    """Each column before and after."""
    if facts.is_external:
        return None
    intro = (
        "Share of the records along the range of the published values. "
        "Bars of fewer than k original values are joined with their neighbors."
    )
    if facts.categories:
        intro += " Categories have bars of the published labels; all other values are \u201cothers\u201d."
    area = element("rect", width=28, height=14, class_="before")
    line = element("path", d="M0 9H10V3H18V9H28", class_="after")
    marks = [(area, "before"), (line, "after, as published")]
    if facts.categories:
        marks.append((element("rect", width=28, height=14, class_="bar"), "categories after, as published"))
    key = (element("li", element("svg", mark, viewBox="0 0 28 14", aria_hidden="true"), text) for mark, text in marks)
    shown, others = choose_columns(facts)
    more = None
    if others:
        summary = element("summary", f"The other {several(len(others), 'column', 'columns')}, largest change first")
        more = element("details", summary, _grid(facts, others))
        intro += f" The {several(len(shown), 'column', 'columns')} that changed most come first."
    title = element("h2", "Distributions before and after")
    soft = element("p", intro, class_="soft")
    return element("section", title, soft, element("ul", *key, class_="key"), _grid(facts, shown), more)


def choose_columns(facts: ReportFacts) -> tuple[list[Hashable], list[Hashable]]:
    """The columns that changed most, and all others; where there are few, all in their order."""
    if len(facts.names) <= MAX_CARDS:
        return facts.names, []
    falling = sorted(facts.names, key=lambda column: -_change_of(facts, column))
    return falling[:MAX_CARDS], falling[MAX_CARDS:]


def _change_of(facts: ReportFacts, column: Hashable) -> float:
    """The largest change of a share of a column, or the change of its frequencies; else the loss of its spread."""
    for key in ("share_change_by_column", "total_variation_by_column"):
        if column in facts.utility.get(key, {}):
            return float(facts.utility[key][column])
    return abs(1 - facts.changes[column].spread) if column in facts.changes else 0.0


def _grid(facts: ReportFacts, columns: Iterable[Hashable]) -> Element:
    places = {column: place for place, column in enumerate(facts.masked)}
    cards = []
    for column in columns:
        if column in places:
            cards.append(_card(facts, places[column], column))
        else:
            cards.append((_range_card if column in facts.ranges else _level_card)(facts, column))
    return element("div", *cards, class_="grid")


def _card(facts: ReportFacts, place: int, column: Hashable) -> Element:
    original, masked, k = facts.original[column], facts.masked[column], facts.k_of(column)
    histogram, change = _bins.bins(original, masked, k), facts.changes[column]
    chart: Element | None = None
    notes: list[str] = []
    if histogram is not None:
        label = f"Distribution of {short(column)} before and after, {share(change.spread)} of its spread kept"
        chart = _svg.distributions(label, histogram, facts.kinds.get(column, "number"))
        shift = f"mean moved by {figure(abs(change.shift))} standard deviations"
        notes.append(f"Spread kept {share(change.spread)}, {'mean kept' if abs(change.shift) < 0.01 else shift}.")
    elif change.values == 1:
        notes.append("One and the same value is published for all records.")
    else:
        notes.append("Too few values to draw.")
    if facts.kinds.get(column) == "duration":
        notes.append("In seconds.")
    values = several(change.values, "distinct value", "distinct values")
    missing = several(change.missing, "cell", "cells")
    notes.append(f"{values} published" + (f", {missing} missing." if change.missing else "."))
    labels = facts.labels_of(place)
    same = _groups.of_one_value([original], labels).groups / max(_groups.sizes(labels).size, 1)
    if same >= 0.01:
        notes.append(f"In {share(same)} of the groups all records had the same value, and it is published.")
    if histogram is not None and max(histogram.beyond) > 0:
        before, after = (share(fraction) if fraction else "none" for fraction in histogram.beyond)
        notes.append(f"Beyond the axis: {before} of the values before, {after} after.")
    caption = element("figcaption", *(element("p", note) for note in notes))
    return element("figure", element("h3", name(column)), chart, caption)


def _range_card(facts: ReportFacts, column: Hashable) -> Element:
    original, middles = facts.ranges[column]
    histogram = _bins.bins(original, middles, facts.k_of(column))
    drawn = None
    if histogram is not None:
        label = f"Distribution of {short(column)} before, and of the middles of the published ranges"
        drawn = _svg.distributions(label, histogram, facts.kinds.get(column, "number"))
    missing = int(np.isnan(middles).sum())
    notes = ["Published as ranges, true for every record; drawn at their middles."]
    notes += [f"{several(missing, 'cell', 'cells')} missing."] if missing else []
    return element("figure", element("h3", name(column)), drawn, element("figcaption", *_paragraphs(notes)))


def _level_card(facts: ReportFacts, column: Hashable) -> Element:
    own, k = facts.categories[column], facts.k_of(column)
    levels = _levels.bars(own.compared, own.after, own.order, k, own.generalized)
    drawn = None
    if levels is not None:
        drawn = _svg.levels(f"Shares of the levels of {short(column)} before and after", levels)
    published = _levels.texts(own.after)
    missing = len(own.after) - published.size
    values = several(len(set(published.tolist())), "distinct label", "distinct labels")
    notes = [] if levels is not None else ["Levels are not shown: they would reveal fewer than k records."]
    if own.recoded is not None:
        notes.append("Values before are counted on the level that is published.")
    how = "true for every record" if own.generalized else "one value for each group"
    notes.append(f"{values} published, {how}" + (f", {several(missing, 'cell', 'cells')} missing." if missing else "."))
    labels = facts.labels_of(facts.names.index(column))
    same = _groups.of_one_value([own.codes], labels).groups / max(_groups.sizes(labels).size, 1)
    if same >= 0.01 and facts.suppression is None:
        notes.append(f"In {share(same)} of the groups all had the same value.")
    return element("figure", element("h3", name(column)), drawn, element("figcaption", *_paragraphs(notes)))


def _paragraphs(notes: Iterable[str]) -> list[Element]:
    return [element("p", note) for note in notes]
