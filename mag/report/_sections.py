"""The sections of the page, in their order."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from mag.measures.assess import unmasked_risk
from mag.report import _columns, _groups, _svg, _words
from mag.report._facts import ReportFacts
from mag.report._html import (
    Content,
    Element,
    Row,
    element,
    fold_table,
    join_parts,
    name,
    section,
    short,
    shorten_middle,
    table,
)
from mag.report._recoding import describe_recoding
from mag.report._sensitive import describe_sensitive
from mag.report._suppression import describe_suppression
from mag.report._text import figure, several, share, signed, span, tally

MATRIX = 24  # columns that a matrix of correlations can show
NAME = 11  # characters of a name next to a matrix
MAX_CORRELATION_ROWS = 10  # rows of the table of correlations
ELSEWHERE = ("columns", "guarantee", "sha256", "untouched", "warnings")  # parts of the manifest
ROUND_SHARES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
OF_PAIRS = ("correlation_difference", "eigenvalue_difference")  # measures that one column does not have
SEEDS = ("random_state", "seed")


def groups(facts: ReportFacts) -> Element | None:
    """How large the groups are; suppression makes none, and shows its classes itself."""
    if facts.suppression is not None:
        return None
    places = range(1 if facts.scope == "joint" else len(facts.names))
    every = [_groups.sizes(facts.labels_of(place)) for place in places]
    pooled = np.concatenate(every)
    if pooled.size == 0:
        return section("Groups", element("p", "There are no groups: every cell is missing."))
    low, middle, high = int(pooled.min()), np.median(pooled), int(pooled.max())
    said = f"{several(pooled.size, 'group', 'groups')} of {span(low, high)} records"
    said += f", median size {figure(float(middle))}." if low < high else "."
    chart = None
    if low < high:
        caption = element("p", "Records in a group, and how many groups have that size.")
        bars = _svg.sizes(f"Bars: {said}", _groups.histogram(pooled))
        chart = element("figure", bars, element("figcaption", caption), class_="single")
    if facts.scope == "joint":
        return section("Groups", element("p", said), chart)
    return section("Groups", element("p", f"All columns together: {said}"), chart, _groups_by_column(facts, every))


def _groups_by_column(facts: ReportFacts, every: list[np.ndarray]) -> Element:
    rows: list[Row] = []
    for column, sizes in zip(facts.names, every, strict=True):
        ends = [tally(sizes.min()), tally(sizes.max())] if sizes.size else ["–", "–"]
        rows.append(([name(column)], *([text] for text in (tally(facts.k_of(column)), tally(sizes.size), *ends))))
    heads = ("Column", "k", "Groups", "Smallest", "Largest")
    return fold_table("Groups of each column", heads, rows, class_="numbers")


def recoding(facts: ReportFacts) -> Element | None:
    """The level of each column."""
    return None if facts.recoding is None else describe_recoding(facts.recoding)


def suppression(facts: ReportFacts) -> Element | None:
    """The missing cells of each column."""
    return None if facts.suppression is None else describe_suppression(facts.suppression)


def sensitive(facts: ReportFacts) -> Element | None:
    """Diversity and closeness."""
    return describe_sensitive(facts.sensitive) if facts.sensitive else None


def categories(facts: ReportFacts) -> Element | None:
    """The loss of the columns, including categories."""
    far, changes = (facts.utility.get(f"{key}_by_column", {}) for key in ("gower_distance", "total_variation"))
    if not far or facts.utility.get("records", 0) < max(facts.k_of(column) for column in facts.names):
        return None
    scale = scale_of(far.values())
    rows: list[Row] = [
        (
            [name(column)],
            [share(far[column])],
            [share(changes[column]) if column in changes else "–"],
            [_svg.share_bar(far[column] / scale)],
        )
        for column in sorted(far, key=lambda column: -far[column])
    ]
    said = "How far published cells are from the values, and how the frequencies of categories have changed."
    heads = ("Column", "Distance", "Frequencies", f"Distance, 0 to {share(scale)}")
    listed = fold_table("Largest distance first", heads, rows, class_="losses")
    return section("Loss by column", element("p", said), listed)


def losses(facts: ReportFacts) -> Element | None:
    """Information loss, overall and by column."""
    if not facts.masked:
        return None
    least = max(facts.k_of(column) for column in facts.masked)
    shares = _columns.losses(list(facts.original.values()), list(facts.masked.values()), least)
    lost = dict(zip(facts.masked, shares, strict=True))
    scale = scale_of(loss for loss in lost.values() if np.isfinite(loss))
    order = sorted(lost, key=lambda column: -np.nan_to_num(lost[column], nan=-1.0))
    rows: list[Row] = [
        ([name(column)], [share(lost[column])], [_svg.share_bar(lost[column] / scale)]) for column in order
    ]
    said = "Averaging within groups loses a part of the variation between records: the information loss, SSE / SST."
    if "information_loss" in facts.utility:
        overall = share(facts.utility["information_loss"])
        whose = "columns of numbers" if facts.categories or facts.ranges else "columns"
        said += f" Over all {whose}, each in its standard deviations, it is {overall}."
    if facts.incomplete:
        without = several(facts.n - facts.incomplete, "record", "records")
        said += f" All of these figures are of the {without} without a missing cell."
    heads = ("Column", "Loss", f"Loss, 0 to {share(scale)}")
    listed = fold_table("By column, largest first", heads, rows, class_="losses")
    return section("Information loss", element("p", said), listed)


def scale_of(shares: Iterable[float]) -> float:
    """The round share that full bars are: the next one above all of these."""
    largest = max(shares, default=0.0)
    return next((end for end in ROUND_SHARES if end >= largest), 1.0)


def correlations(facts: ReportFacts) -> Element | None:
    """Correlations before, after, and their difference."""
    labels = list(facts.masked)
    if len(labels) < 2:
        return None
    least = max(facts.k_of(column) for column in labels)
    before, after = (_columns.correlations(list(table.values()), least) for table in (facts.original, facts.masked))
    change = after - before
    i, j = np.tril_indices(len(labels), -1)
    known = ~np.isnan(change[i, j])
    i, j = i[known], j[known]
    if i.size == 0:
        return section("Correlations", element("p", "No two columns vary and have enough records in common."))
    first = np.argsort(-np.abs(change[i, j]), kind="stable")[:MAX_CORRELATION_ROWS]
    rows: list[Row] = []
    for a, b in zip(i[first], j[first], strict=True):
        texts = signed(before[a, b], 2), signed(after[a, b], 2), signed(change[a, b], 3)
        rows.append(([name(labels[b]), " and ", name(labels[a])], *([text] for text in texts)))
    size = np.abs(change[i, j])
    said = (
        f"Pearson's correlation of two columns. Changed by {size.max():.3f} at most, by {size.mean():.3f} on average."
    )
    figures: list[Element] = []
    if len(labels) > MATRIX:
        figures = _agreement(before[i, j], after[i, j])
    elif len(labels) > 2:
        figures = _matrices(labels, before, after)
    most = f"The {first.size} of {tally(i.size)} pairs that changed most"
    caption = "All pairs, largest change first" if first.size == i.size else most
    listed = table(caption, ("Columns", "Before", "After", "Change"), rows, class_="numbers")
    return section("Correlations", element("p", said), *figures, listed)


def _matrices(labels: list[Hashable], before: np.ndarray, after: np.ndarray) -> list[Element]:
    figures = []
    for title, values in (("Before", before), ("After", after), ("Difference", after - before)):
        texts = [
            [f"{short(labels[a])}, {short(labels[b])}: {signed(values[a, b], 3)}" for b in range(a)]
            for a in range(len(labels))
        ]
        squares = _svg.matrix(
            f"Correlations, {title.lower()}", values, texts, [shorten_middle(label, NAME) for label in labels]
        )
        figures.append(element("figure", element("h3", title), squares))
    key = (element("li", f"{at} ", name(label)) for at, label in enumerate(labels, 1))
    intro = "The area of a square is the size of the number, a full square is 1; hollow squares are negative."
    return [
        element("p", intro, class_="soft"),
        element("div", *figures, class_="three"),
        element("ul", *key, class_="key"),
    ]


def _agreement(before: np.ndarray, after: np.ndarray) -> list[Element]:
    caption = element("p", "Each dot is a pair of columns; on the line the correlation was kept.")
    dots = _svg.agreement("Correlations of all pairs of columns before and after", before, after)
    return [element("figure", dots, element("figcaption", caption), class_="single")]


def risk(facts: ReportFacts) -> Element | None:
    """The remaining disclosure risk of the table."""
    if not facts.risk:
        return None
    unmasked = unmasked_risk(facts.values)
    rows: list[Row] = [
        (_meaning(word), [word.text(unmasked[key])], [word.text(facts.risk[key])])
        for key, word in _words.RISK.items()
        if key in facts.risk
    ]
    caption = "Remaining risk, and the risk of the same columns without masking"
    listed = table(caption, ("Measure", "Unmasked", "Published"), rows, class_="numbers")
    return section("Risk", listed, _looked_at(facts.risk), *_notes(facts.risk)) if rows else None


def utility(facts: ReportFacts) -> Element | None:
    """The remaining utility of the table."""
    rows: list[Row] = [
        (_meaning(word), [word.text(facts.utility[key])])
        for key, word in _words.UTILITY.items()
        if key in facts.utility and (len(facts.masked) > 1 or key not in OF_PAIRS)
    ]
    listed = table("Loss for an analyst: smaller is better", ("Measure", "Value"), rows, class_="numbers")
    return section("Utility", listed, _looked_at(facts.utility), *_notes(facts.utility)) if rows else None


def _notes(measures: Mapping[str, Any]) -> list[Element]:
    """Notes on data that a measure left out."""
    return [element("p", note, class_="soft") for note in measures.get("notes", ())]


def _looked_at(numbers: Mapping[str, Any]) -> Element | None:
    """The numbers of records that the measures are based on."""
    parts = [
        f"{name} {several(int(numbers[key]), 'record', 'records')}"
        for key, name in _words.LOOKED_AT.items()
        if numbers.get(key)
    ]
    return element("p", f"{', '.join(parts)}.", class_="soft") if parts else None


def _meaning(word: _words.Measure) -> list[Content]:
    source = element("span", f"({word.source})", class_="source")
    return [word.label, element("span", f"{word.meaning} ", source, class_="meaning")]


def reveals(facts: ReportFacts) -> Element:
    """The facts about the original table that the page itself publishes."""
    if facts.is_external:
        text = "The page is made of the published table, its groups and its manifest. It shows nothing of the original."
        return section("What this page reveals", element("p", text))
    text = (
        "The page shows no value of a person. Its axes span published values only, no bar counts fewer than k original "
        "values, and no quantile of the original is given."
    )
    if facts.categories:
        text += (
            " Bars of categories have published labels only, and where cells are generalized, the number of values of "
            "a bar that are in more general cells is 0 or at least k."
        )
    beware = (
        "In addition to the published table it reveals counts of at least k records, losses, correlations and risks. "
        "These are statistics of the original: share the page only with people who may know them."
    )
    return section("What this page reveals", element("p", text), element("p", beware))


def manifest(facts: ReportFacts) -> Element | None:
    """How the release was made: the entries of its manifest that the page does not show elsewhere."""
    secret = SEEDS if facts.manifest.get("options", {}).get("shuffle") else ()
    texts = {key: _describe_value(value, secret) for key, value in _select_entries(facts.manifest, secret).items()}
    rows: list[Row] = [([key.replace("_", " ")], [text]) for key, text in texts.items() if text]
    if secret:
        rows.append((["seed"], ["not shown: it would undo the shuffle"]))
    listed = table("From the manifest of the release", ("What", "Value"), rows)
    return section("How it was made", listed) if rows else None


def _select_entries(entries: Mapping[str, Any], secret: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None and key not in (*ELSEWHERE, *secret)}


def _describe_value(value: Any, secret: tuple[str, ...]) -> str:
    if isinstance(value, Mapping):
        inner = (
            (key.replace("_", " "), _describe_value(entry, secret))
            for key, entry in _select_entries(value, secret).items()
        )
        return "; ".join(f"{key}: {text}" for key, text in inner if text)
    if isinstance(value, (list, tuple)):
        return "".join(map(str, join_parts([[str(part)] for part in value])))
    return figure(value) if isinstance(value, float) else str(value)
