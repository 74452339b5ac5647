"""The first lines: the guarantee, its limits, and warnings."""

from collections.abc import Mapping

from mag._lib.wording import named
from mag.measures.shares import BINS, VISIBLE_CHANGE
from mag.report import _groups
from mag.report._facts import ReportFacts
from mag.report._html import Content, Element, element, join_parts, name, names
from mag.report._text import several, share, span, tally

UNCHANGED_SENTENCE = "Masking changed nothing there: these values are published exactly."
DRAWN = (
    f"one record, far from the others, causes more than {100 * _groups.DOMINATED:.0f} % of the group's error. "
    "It pulls the published value of the group towards itself."
)
DISTORTED = (
    f"The share of the records in one of {BINS} bins of equal counts changed by more than {100 * VISIBLE_CHANGE:.1f} "
    "percentage points; compare the distributions of"
)
LOSS = "share of the variation between records that averaging lost; 0 means no loss"
PENALTY = "how much wider than a value published cells are; 0 means not at all"
MAX_TILES = 6  # figures side by side
MAX_HEADLINE_CHARACTERS = 300  # characters of a guarantee that are set in large type


def header(facts: ReportFacts) -> Element:
    """The guarantee and every warning and note about it."""
    size = "guarantee" if len(facts.guarantee) <= MAX_HEADLINE_CHARACTERS else None
    return element(
        "header",
        element("h1", facts.title),
        _about(facts),
        element("p", facts.guarantee.replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"), class_=size),
        _figures(facts),
        element("div", _state_promise(facts), _state_no_promise(facts), class_="promise"),
        _warnings(facts),
    )


def _figures(facts: ReportFacts) -> Element:
    """The numbers that everyone asks for first."""
    sizes = [*facts.k.values()] if isinstance(facts.k, Mapping) else [facts.k]
    counted = "records" if facts.unit is None else "units"
    pairs = [("k requested", span(min(sizes), max(sizes)), f"fewest {counted} that must be alike")]
    if facts.suppression is not None:
        what = "of the smallest class of the published table"
        if facts.suppression.is_wildcard:
            what = "that equal a record, at least"
        least = facts.smallest if facts.smallest_units is None else facts.smallest_units
        pairs.append(("k counted", tally(least), f"{counted} {what}"))
        cells = sum((facts.suppression.suppressed or facts.suppression.missing).values())
        word = "Cells suppressed" if facts.suppression.suppressed else "Cells missing"
        pairs.append((word, tally(cells), f"of {several(len(facts.names), 'quasi-identifier', 'quasi-identifiers')}"))
    elif facts.scope == "joint":
        pairs.append(("k counted", tally(facts.smallest), "records of the smallest class of the published table"))
        pairs.append(
            (
                "Groups",
                tally(facts.n_groups or _groups.sizes(facts.labels).size),
                "each is published with one value a column",
            )
        )
    else:
        pairs.append(("Alike in all columns", tally(facts.smallest), "records of the smallest class"))
    if facts.with_kept is not None:
        pairs.append(
            (
                "Smallest class with kept columns",
                tally(facts.with_kept[0]),
                f"{counted} alike in all published columns",
            )
        )
    pairs += [
        ("Records published", tally(facts.n_records or facts.n), "rows of the published table"),
        ("Records withheld", tally(facts.withheld), "rows that are not published"),
    ]
    if "information_loss" in facts.utility:
        of_which = " of complete records" if facts.incomplete else ""
        of_what = " (numbers)" if facts.categories or facts.ranges else ""
        pairs.append((f"Information loss{of_what}{of_which}", share(facts.utility["information_loss"]), LOSS))
    if "ncp" in facts.utility:
        pairs.append(("Certainty penalty", share(facts.utility["ncp"]), PENALTY))
    rows = (
        element("div", element("dt", label), element("dd", text), element("dd", meaning, class_="meaning"))
        for label, text, meaning in pairs
    )
    across = len(pairs) if len(pairs) <= MAX_TILES else -(-len(pairs) // 2)  # no row of a single one
    return element("dl", *rows, class_=f"figures across-{across}")


def _about(facts: ReportFacts) -> Element | None:
    """The name of the data, the date, who made the page, and how."""
    if not facts.about:
        return None
    rows = (element("div", element("dt", label), element("dd", text)) for label, text in facts.about.items())
    return element("dl", *rows, class_="about")


def _state_promise(facts: ReportFacts) -> Element:
    strata = [" within the same ", *names(facts.by)] if facts.by else []
    if facts.suppression is not None and facts.suppression.is_wildcard:
        what = "records" if facts.unit is None else f"units ({facts.unit})"
        points: list[list[Content]] = [
            [f"Every record equals this many {what}", *strata, ", itself included, if missing cells equal everything."]
        ]
        points += [[own] for own in facts.sets]
    elif facts.scope == "joint":
        k, what = facts.smallest, "records"
        if facts.unit is not None:
            k, what = facts.smallest_units or 0, f"units ({facts.unit})"
        if facts.household is not None:
            what += f" of at least {several(facts.smallest_households or 0, 'household', 'households')}"
        points = [
            [f"At least {k} {what} share each published combination of ", *names(facts.names), *strata, "."],
            [f"An intruder who knows these values of a person is left with at least {k} {what} that may be theirs."],
        ]
    elif facts.scope == "sets":
        points = [["Records are alike in each of these sets of columns", *strata, "."]]
        points += [[own] for own in facts.sets]
    else:
        sizes = [*facts.k.values()] if isinstance(facts.k, Mapping) else [facts.k]
        k, what = min(sizes), "records" if facts.unit is None else f"units ({facts.unit})"
        points = [
            [
                f"At least {span(k, max(sizes))} {what} share each published value of ",
                *names(facts.names),
                *strata,
                ", column by column.",
            ],
            [f"An intruder who knows one of these values of a person is left with at least {k} {what}."],
        ]
    points += [[f"{promise[:1].upper()}{promise[1:]}."] for promise in facts.promises]
    points.append(["The classes were counted on the published table, by code that is independent of the grouping."])
    return _list("Guaranteed", points)


def _state_no_promise(facts: ReportFacts) -> Element:
    points: list[list[Content]] = []
    if facts.suppression is not None and facts.suppression.is_wildcard:
        below = several(facts.suppression.below_k, "record is", "records are")
        points.append(
            [
                f"This is weaker than k-anonymity: {below} in classes of fewer than k that are equal cell by cell. Who "
                "knows a person's values may find the one published record that shows them."
            ]
        )
    if facts.scope != "joint":
        alike = f"The smallest number of records alike in all masked columns is {tally(facts.smallest)}."
        points.append([f"This is not joint k-anonymity. {alike}"])
    if facts.unit is None:
        points.append(
            [f"k counts records: several records of one person count as several, unless {named('unit')} is set."]
        )
    if facts.untouched:
        points.append(["Published unchanged, and not covered: ", *names(facts.untouched), ".", _exposure(facts)])
        points += [[sentence] for sentence in facts.linked]
    elif facts.suppression is None:
        points.append(["No column is published unchanged: only the columns named here are published."])
    same = "Records of one group may have had the same true value, which is disclosed without identifying the record."
    exact = "Cells that are not missing are true values: whoever knows the class of a person knows them."
    points.append([same if facts.suppression is None else exact])
    points.append(["Other tables about the same people, published before or after, are not taken into account."])
    return _list("Not guaranteed", points)


def _exposure(facts: ReportFacts) -> str:
    """The effect of kept columns on the classes."""
    if facts.with_kept is None:
        return ""
    k = min(facts.k.values()) if isinstance(facts.k, Mapping) else facts.k
    below = f"{tally(facts.with_kept[1])} of {several(facts.n, 'record', 'records')}"
    return f" An intruder who also knows these finds {below} in classes of fewer than {k}."


def _list(title: str, points: list[list[Content]]) -> Element:
    return element("section", element("h2", title), element("ul", *(element("li", *point) for point in points)))


def _warnings(facts: ReportFacts) -> Element | None:
    sentences = [[sentence] for sentence in facts.warnings] + computed(facts)
    if not sentences:
        return None if facts.is_external else element("p", "No warnings.", class_="soft")
    items = element("ul", *(element("li", *sentence) for sentence in sentences))
    title = "1 warning" if len(sentences) == 1 else f"{len(sentences)} warnings"
    return element("aside", element("h2", title), items, class_="warnings", aria_label="Warnings")


def computed(facts: ReportFacts) -> list[list[Content]]:
    """Warnings that follow from the numbers: sentences and names, never values."""
    sentences: list[list[Content]] = []
    if facts.scope != "joint" and facts.suppression is None:
        how = "one by one" if facts.scope == "per-column" else "in sets"
        sentences.append(
            [f"Columns were grouped {how}: a combination of published values may belong to a single person."]
        )
    changes = facts.utility.get("share_change_by_column", {})
    if visible := [[name(column)] for column, change in changes.items() if change > VISIBLE_CHANGE]:
        sentences.append([f"{DISTORTED} ", *join_parts(visible), "."])
    return sentences + (_of_groups(facts) if facts.scope == "joint" else _of_columns(facts))


def _of_groups(facts: ReportFacts) -> list[list[Content]]:
    columns, labels = list(facts.original.values()), facts.labels
    if not columns:
        return []
    total = several(_groups.sizes(labels).size, "group", "groups")
    sentences: list[list[Content]] = []
    same, one = _groups.of_one_value(facts.values, labels), _groups.dominated(columns, labels)
    if same.groups:
        where = f"In {tally(same.groups)} of {total} ({several(same.records, 'record', 'records')})"
        sentences.append([f"{where} all records had the same values. {UNCHANGED_SENTENCE}"])
    if one.groups:
        sentences.append([f"In {tally(one.groups)} of {total} {DRAWN}"])
    return sentences


def _of_columns(facts: ReportFacts) -> list[list[Content]]:
    sentences: list[list[Content]] = []
    for counted, words in (
        (_groups.of_one_value, f"In groups of these columns all records had the same value. {UNCHANGED_SENTENCE}"),
        (_groups.dominated, f"In groups of these columns {DRAWN}"),
    ):
        hits: list[list[Content]] = []
        for place, (column, values) in enumerate(facts.original.items()):
            labels = facts.labels_of(place)
            if groups := counted([values], labels).groups:
                hits.append([name(column), f" ({tally(groups)} of {tally(_groups.sizes(labels).size)})"])
        if hits:
            sentences.append([f"{words} ", *join_parts(hits), "."])
    return sentences
