"""The page about the risk of a table before masking: figures and names of columns, and no cell."""

import os
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from mag._lib.atomic import writing
from mag.report import _svg
from mag.report._html import Content, Element, Row, element, name, names, section, short, table
from mag.report._levels import ShareBar
from mag.report._page import document
from mag.report._text import figure, several, share, tally


class ColumnFigures(Protocol):
    """What a quasi-identifier does to the classes: counts of records, and its share of the SUDA points."""

    @property
    def column(self) -> Any: ...
    @property
    def values(self) -> int: ...
    @property
    def missing(self) -> int: ...
    @property
    def unique_alone(self) -> int: ...
    @property
    def unique_without(self) -> int: ...
    @property
    def suda_share(self) -> float: ...


class SubsetRisk(NamedTuple):
    """Columns, and the records that are in classes of 1 and below 5 on them, and minimal sample uniques."""

    columns: tuple[Any, ...]
    uniques: int
    below_5: int
    minimal_uniques: int


class SummaryLine(NamedTuple):
    """A figure of the summary as text, and its share of all, which may be empty."""

    label: str
    number: str
    share: str


@dataclass(frozen=True, kw_only=True)
class AssessmentFacts:
    """The content of the page: the summary of `mag.assess`, the columns, and some subsets of them."""

    title: str
    summary: Mapping[str, Any]
    columns: Sequence[ColumnFigures]
    subsets: Sequence[SubsetRisk] = ()

    @property
    def exposed(self) -> list[tuple[ColumnFigures, float]]:
        """The columns, and the share of the unique records that would not be unique without each."""
        uniques = self.summary["uniques"]
        return [(row, 1 - row.unique_without / uniques if uniques else 0.0) for row in self.columns]


def describe_assessment(summary: Mapping[str, Any]) -> list[SummaryLine]:
    """The figures of the whole table, a line each."""
    n, people = summary["records"], summary.get("units", summary["records"])
    lines = [SummaryLine("smallest class", _number(summary["smallest"]), "")]
    for label, key in (("of 1", "uniques"), ("below 3", "below_3"), ("below 5", "below_5")):
        lines.append(SummaryLine(f"records in classes {label}", str(summary[key]), percent(summary[key] / n)))
    for label, key in (("", "expected_reidentifications"), (", households", "household_reidentifications")):
        if key in summary:
            number = summary[key]
            lines.append(SummaryLine(f"expected re-identifications{label}", _number(number), percent(number / people)))
    lines.append(SummaryLine("largest individual risk", _number(summary["largest_risk"]), ""))
    for model in ("Zayatz", "Pitman"):
        uniques = summary.get(f"population_uniques_{model.lower()}")
        if uniques is not None:
            own = percent(uniques / summary["population"])
            lines.append(SummaryLine(f"population uniques, {model}", _number(uniques), own))
    for column, single in summary["sensitive"].items():
        label = f"records whose class has one {short(column)}"
        lines.append(SummaryLine(label, str(single["records"]), percent(single["records"] / n)))
    return lines


def _number(number: float) -> str:
    return f"{number:.0f}" if number >= 100 or float(number).is_integer() else f"{number:.3g}"


def percent(fraction: float) -> str:
    """A share of two digits, never rounded to 100 %."""
    if fraction >= 1:
        return "100 %"
    return f"{100 * fraction:.2g} %" if fraction < 0.995 else "> 99 %"


def draw_exposure(axes: Any, facts: AssessmentFacts) -> None:
    """Two bars for every column on matplotlib's axes."""
    places = np.arange(len(facts.columns))
    lost, shares = [lost for _, lost in facts.exposed], [row.suda_share for row in facts.columns]
    axes.barh(places - 0.2, 100 * np.array(lost), 0.4, color="0.75", label="unique records that it makes unique")
    axes.barh(places + 0.2, 100 * np.array(shares), 0.4, label="share of the SUDA points")
    axes.set_yticks(places, [short(row.column) for row in facts.columns])
    axes.invert_yaxis()
    axes.set_xlabel("%")
    axes.set_title("Which columns make people unique", fontsize=10, loc="left")
    axes.legend(frameon=False)


def write_assessment(path: str | os.PathLike[str], facts: AssessmentFacts, overwrite: bool = False) -> pathlib.Path:
    """Write the page about the risk of a table, all of it or nothing."""
    with writing(path, overwrite=overwrite) as [draft]:
        draft.write_text(assessment_page(facts), encoding="utf-8")
    return pathlib.Path(path)


def assessment_page(facts: AssessmentFacts) -> str:
    """The page as a text of HTML."""
    summary = facts.summary
    uniques = f"{tally(summary['uniques'])} of {several(summary['records'], 'record', 'records')}"
    lead = f"{uniques} are unique on {several(len(facts.columns), 'quasi-identifier', 'quasi-identifiers')}."
    lead += f" {figure(summary['expected_reidentifications'])} re-identifications are expected."
    head = element(
        "header",
        element("h1", facts.title),
        element("p", lead, class_="guarantee"),
        _list_figures(describe_assessment(summary)),
    )
    sections = (_columns(facts), _subsets(facts), _reading(facts), _reveals())
    return document(facts.title, lead, head, sections)


def _list_figures(lines: Iterable[SummaryLine]) -> Element:
    pairs = (
        element(
            "div",
            element("dt", f"{line.label[:1].upper()}{line.label[1:]}"),
            element("dd", tally(int(line.number)) if line.number.isdecimal() else line.number),
            element("dt", line.share),
        )
        for line in lines
    )
    return element("dl", *pairs, class_="figures")


def _columns(facts: AssessmentFacts) -> Element:
    bars = [ShareBar(short(row.column), lost, row.suda_share) for row, lost in facts.exposed]
    marks = (
        ("before", "unique records that would not be unique without the column"),
        ("bar", "share of the SUDA points"),
    )
    key = (
        element("li", element("svg", element("rect", width=28, height=14, class_=kind), viewBox="0 0 28 14"), text)
        for kind, text in marks
    )
    label = "For every column, the share of the unique records that it makes unique, and its share of the SUDA points"
    rows: list[Row] = []
    for row, lost in facts.exposed:
        counts = (row.values, row.missing, row.unique_alone, row.unique_without)
        rows.append(([name(row.column)], *([tally(count)] for count in counts), [share(lost)], [share(row.suda_share)]))
    heads = ("Column", "Values", "Missing", "Unique alone", "Unique without", "Made unique", "SUDA share")
    drawn = _svg.levels(label, bars, ", ") if any(bar.before or bar.after for bar in bars) else None
    return section(
        "Which columns make people unique",
        element("ul", *key, class_="key"),
        None if drawn is None else element("figure", drawn, class_="single"),
        table("Largest share of the SUDA points first", heads, rows, class_="numbers"),
    )


def _subsets(facts: AssessmentFacts) -> Element:
    rows: list[Row] = [
        (names(row.columns), [tally(row.uniques)], [tally(row.below_5)], [tally(row.minimal_uniques)])
        for row in facts.subsets
    ]
    text = (
        "An intruder may know a few columns only. Of every number of columns, these make most records unique. A "
        "minimal unique record is unique on these columns, and on no part of them."
    )
    heads = ("Columns", "Records in classes of 1", "Below 5", "Minimal uniques")
    listed = table("Few columns first", heads, rows, class_="numbers")
    return section("What few columns reveal", element("p", text), listed)


def _reading(facts: AssessmentFacts) -> Element:
    summary = facts.summary
    points: list[list[Content]] = [["A class is a set of records with equal quasi-identifiers."]]
    if "units" in summary:
        points.append([f"Classes count units: the table has {tally(summary['units'])}."])
    if "population" in summary:
        points.append([f"The population is taken to have {tally(summary['population'])} members."])
    else:
        points.append(["Without weights, risks are those of an intruder who knows who is in the table."])
    points.append([f"DIS-SUDA takes {share(summary['sampling_fraction'])} of the population to be in the table."])
    points.append([f"Subsets of up to {summary['max_size']} of {len(facts.columns)} columns were counted."])
    return section("How to read the figures", element("ul", *(element("li", *point) for point in points)))


def _reveals() -> Element:
    text = (
        "The page shows no cell of the table, and no value of a column. Its counts and risks are of the original: "
        "share it only with people who may know them."
    )
    return section("What this page reveals", element("p", text))
