"""The sections of the page, in their order."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from mag.report import _bins, _columns, _groups, _svg, _words
from mag.report._facts import Facts
from mag.report._html import Content, Element, element, name, names, table
from mag.report._text import figure, several, share, signed, span, whole

MATRIX = 24  # columns that a matrix of correlations can show
PAIRS = 10  # rows of the table of correlations


def groups(facts: Facts) -> Element:
    """How large the groups are."""
    every = [
        _groups.sizes(facts.labels_of(place)) for place in range(1 if facts.scope == "joint" else len(facts.masked))
    ]
    pooled = np.concatenate(every)
    if pooled.size == 0:
        return _section("Groups", element("p", "There are no groups: every cell is missing."))
    low, middle, high = int(pooled.min()), np.median(pooled), int(pooled.max())
    said = f"{several(pooled.size, 'group', 'groups')} of {span(low, high)} records"
    said += f", half of them of at most {whole(middle)}." if low < high else "."
    if facts.scope == "per-column":
        said = f"All columns together: {said}"
    drawn = element(
        "figure",
        _svg.sizes(f"Bars: {said}", _groups.histogram(pooled)),
        element("figcaption", element("p", "Records in a group, and how many groups have that size.")),
        class_="single",
    )
    rows = [
        (
            [name(column)],
            [whole(facts.k_of(column))],
            [whole(sizes.size)],
            [_smallest(sizes)],
            [whole(sizes.max(initial=0))],
        )
        for column, sizes in zip(facts.masked, every, strict=False)
    ]
    listed = (
        table("Groups of each column", ("Column", "k", "Groups", "Smallest", "Largest"), rows, class_="numbers")
        if facts.scope == "per-column"
        else None
    )
    return _section("Groups", element("p", said), drawn, listed)


def _smallest(sizes: np.ndarray) -> str:
    return whole(sizes.min()) if sizes.size else "–"


def columns(facts: Facts) -> Element:
    """Each column before and after."""
    key = element(
        "ul",
        element("li", element("svg", element("rect", width=28, height=14, class_="before"), viewBox="0 0 28 14", aria_hidden="true"), "before"),
        element("li", element("svg", element("path", d="M0 9H10V3H18V9H28", class_="after"), viewBox="0 0 28 14", aria_hidden="true"), "after, as published"),
        class_="key",
    )  # fmt: skip
    cards = (_card(facts, column) for column in facts.masked)
    intro = "Share of the records along the range of the published values. Bars of fewer than k original values are joined with their neighbours."
    return _section(
        "Distributions before and after", element("p", intro, class_="soft"), key, element("div", *cards, class_="grid")
    )


def _card(facts: Facts, column: Any) -> Element:
    original, masked, k = facts.original[column], facts.masked[column], facts.k_of(column)
    found, change = _bins.bins(original, masked, k), _columns.change(original, masked, k)
    drawn: Element | None = None
    notes: list[str] = []
    if found is not None:
        drawn = _svg.distributions(
            f"Distribution of {column} before and after: {share(change.spread)} of the standard deviation is kept.",
            found, facts.kinds.get(column, "number"),
        )  # fmt: skip
        mean = (
            "mean kept"
            if abs(change.shift) < 0.01
            else f"mean moved by {figure(abs(change.shift))} standard deviations"
        )
        notes.append(f"Spread kept {share(change.spread)}, {mean}.")
    elif change.values == 1:
        notes.append("One and the same value is published for all records.")
    else:
        notes.append("Too few values to draw.")
    notes.append(
        f"{whole(change.values)} distinct values published"
        + (f", {whole(change.missing)} cells missing." if change.missing else ".")
    )
    if found is not None and max(found.beyond) > 0:
        notes.append(f"Beyond the axis: {share(found.beyond[0])} of the values before, {share(found.beyond[1])} after.")
    return element(
        "figure", element("h3", name(column)), drawn, element("figcaption", *(element("p", note) for note in notes))
    )


def losses(facts: Facts) -> Element:
    """Information loss, overall and by column."""
    changes = {
        column: _columns.change(facts.original[column], facts.masked[column], facts.k_of(column))
        for column in facts.masked
    }
    largest = max((change.loss for change in changes.values() if np.isfinite(change.loss)), default=0.0) or 1.0
    order = sorted(changes, key=lambda column: -np.nan_to_num(changes[column].loss, nan=-1.0, posinf=np.inf))
    rows = [
        ([name(column)], [share(changes[column].loss)], [_svg.share_bar(changes[column].loss / largest)])
        for column in order
    ]
    overall = facts.utility.get("information_loss")
    said = "Averaging within groups loses a part of the variation between records: the information loss, SSE / SST."
    if overall is not None:
        said += f" Over all columns, each in its standard deviations, it is {share(overall)}."
    return _section(
        "Information loss",
        element("p", said),
        table("By column, largest first", ("Column", "Loss", "Compared"), rows, class_="losses"),
    )


def correlations(facts: Facts) -> Element | None:
    """Correlations before, after, and their difference."""
    if len(facts.masked) < 2:
        return None
    least = max(facts.k_of(column) for column in facts.masked)
    before, after = (_columns.correlations(list(part.values()), least) for part in (facts.original, facts.masked))
    i, j = np.tril_indices(len(facts.masked), -1)
    known = ~np.isnan(before[i, j] + after[i, j])
    i, j = i[known], j[known]
    if i.size == 0:
        return _section("Correlations", element("p", "No two columns vary and have enough records in common."))
    change = after - before
    labels = list(facts.masked)
    first = np.argsort(-np.abs(change[i, j]), kind="stable")[:PAIRS]
    rows = [
        (
            [name(labels[b]), " and ", name(labels[a])],
            [signed(before[a, b])],
            [signed(after[a, b])],
            [signed(change[a, b])],
        )
        for a, b in zip(i[first], j[first], strict=True)
    ]
    caption = (
        "All pairs, largest change first"
        if first.size == i.size
        else f"The {first.size} of {whole(i.size)} pairs that changed most"
    )
    said = f"Pearson's correlation of two columns. The largest change is {figure(float(np.abs(change[i, j]).max().round(3)))}, the mean change {figure(float(np.abs(change[i, j]).mean().round(4)))}."
    drawn = _matrices(labels, before, after) if len(labels) <= MATRIX else _agreement(before[i, j], after[i, j])
    return _section(
        "Correlations",
        element("p", said),
        *(drawn if len(labels) > 2 else ()),
        table(caption, ("Columns", "Before", "After", "Change"), rows, class_="numbers"),
    )


def _matrices(labels: list, before: np.ndarray, after: np.ndarray) -> list[Element]:
    parts = (("Before", before), ("After", after), ("Difference", after - before))
    drawn = []
    for title, values in parts:
        texts = [[f"{labels[a]}, {labels[b]}: {signed(values[a, b])}" for b in range(a)] for a in range(len(labels))]
        drawn.append(
            element("figure", element("h3", title), _svg.matrix(f"Correlations, {title.lower()}", values, texts))
        )
    key = element("ul", *(element("li", f"{at} ", name(label)) for at, label in enumerate(labels, 1)), class_="key")
    intro = "The area of a square is the size of the number, a full square is 1; hollow squares are negative."
    return [element("p", intro, class_="soft"), element("div", *drawn, class_="three"), key]


def _agreement(before: np.ndarray, after: np.ndarray) -> list[Element]:
    caption = element(
        "figcaption", element("p", "Each dot is a pair of columns; on the line the correlation was kept.")
    )
    return [
        element(
            "figure",
            _svg.agreement("Correlations of all pairs before and after", before, after),
            caption,
            class_="single",
        )
    ]


def risk(facts: Facts) -> Element | None:
    """What the table still gives away."""
    return _measures("Risk", "What is left for an intruder.", facts.risk, _words.RISK)


def utility(facts: Facts) -> Element | None:
    """What the table is still good for."""
    return _measures("Utility", "What is left for an analyst. Smaller is better.", facts.utility, _words.UTILITY)


def _measures(title: str, intro: str, found: Mapping[str, Any], words: Mapping[str, _words.Measure]) -> Element | None:
    rows = [(_meaning(word), [word.text(found[key])]) for key, word in words.items() if key in found]
    return _section(title, table(intro, ("Measure", "Value"), rows, class_="numbers")) if rows else None


def _meaning(word: _words.Measure) -> list[Content]:
    return [
        word.label,
        element("span", f"{word.meaning} ", element("span", f"({word.source})", class_="source"), class_="meaning"),
    ]


def reveals(facts: Facts) -> Element:
    """What the page itself tells about the original."""
    return _section(
        "What this page reveals",
        element("p", "The page shows no value of a person. Its axes span published values only, no bar counts fewer than k original values, and no quantile of the original is given."),
        element("p", "Beyond the published table it tells counts in bars of at least k records, losses, correlations and risks of the original. They are statistics of many records, but "
                "statistics of the original: publish the page only where those may be published too."),
    )  # fmt: skip


def manifest(facts: Facts) -> Element | None:
    """How the release was made."""
    options = facts.manifest.get("options") or {}
    shuffled = bool(facts.manifest.get("shuffle") or (isinstance(options, Mapping) and options.get("shuffle")))
    rows = [([key.replace("_", " ")], [text]) for key, text in _lines(facts.manifest, shuffled)]
    return (
        _section("How it was made", table("From the manifest of the release", ("What", "Value"), rows))
        if rows
        else None
    )


def _lines(part: Mapping[str, Any], shuffled: bool, prefix: str = "") -> list[tuple[str, str]]:
    """Keys and values, inner keys behind their outer one; without what the page says elsewhere."""
    lines: list[tuple[str, str]] = []
    for key, value in part.items():
        if key in ("guarantee", "warnings", "hashes", "untouched"):
            continue
        if isinstance(value, Mapping):
            lines += _lines(value, shuffled, f"{prefix}{key} ")
        elif shuffled and key in ("seed", "random_state"):
            lines.append((f"{prefix}{key}", "not shown: it would undo the shuffle"))
        elif value is not None:
            shown = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            lines.append((f"{prefix}{key}", shown))
    return lines


def _section(title: str, *content: Content) -> Element:
    return element("section", element("h2", title), *content)
