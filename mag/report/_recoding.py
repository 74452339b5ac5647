"""The levels that columns are published on, where each has one."""

from collections.abc import Hashable
from dataclasses import dataclass

from mag.report._html import Element, Row, element, name, table
from mag.report._text import share, tally


@dataclass(frozen=True)
class Level:
    """A column's level of its hierarchy, the highest one, and how many labels of it are published."""

    level: int
    highest: int
    labels: int


@dataclass(frozen=True)
class RecodingFacts:
    """The level of every column, its loss from 0 to 1, and whether no other levels lose less."""

    levels: dict[Hashable, Level]
    loss: float
    is_proven: bool


def describe_recoding(recoding: RecodingFacts) -> Element:
    """A section with a row for every column."""
    unproven = "Other levels may lose less: not all were searched."
    proven = "No other levels lose less." if recoding.is_proven else unproven
    said = (
        "Records with one value have one label. The loss is the share of the hierarchy's leaves that is below "
        "the published label, on average over records and columns (by importance), where suppressed records lose all: "
        f"{share(recoding.loss)}. {proven}"
    )
    rows: list[Row] = [
        ([name(column)], [f"{own.level} of {own.highest}"], [tally(own.labels)])
        for column, own in recoding.levels.items()
    ]
    listed = table("Level 0 is the value itself", ("Column", "Level", "Labels published"), rows, class_="numbers")
    return element("section", element("h2", "Levels"), element("p", said), listed)
