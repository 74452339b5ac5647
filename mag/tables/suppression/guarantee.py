"""The guarantee of a table with suppressed cells."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from mag.tables._guarantee import CountedSet

READING_SENTENCES = {
    "value": "a suppressed cell is a value of its own",
    "wildcard": "a missing cell counts as equal to every value",
}
LISTED_SETS = 3  # in the sentence; the manifest lists all


@dataclass(frozen=True)
class SuppressionGuarantee:
    """The guarantee of a table with suppressed cells, counted on the table itself.

    Attributes
    ----------
    missing : {"value", "wildcard"}
        The reading of a missing cell that all counts are of.
    k : int
        The largest k of any set.
    columns, kept : tuple of column names
        The quasi-identifiers, and columns published unchanged.
    sets : tuple of CountedSet
        The sets of quasi-identifiers that hold by themselves, each with its columns, its k, and its smallest class: the
        least number of records that equal a record, itself included.
    suppressed : dict
        By column: how many cells were suppressed.
    n_records : int
        The number of records.
    changed : int
        Records with a suppressed cell.
    below_k : int
        Records in classes of fewer than k that are equal cell by cell; 0 if a missing cell is a value.
    """

    missing: str
    k: int
    columns: tuple[Hashable, ...]
    kept: tuple[Hashable, ...]
    sets: tuple[CountedSet, ...]
    suppressed: dict[Hashable, int]
    n_records: int
    changed: int
    below_k: int
    unit: None = None

    @property
    def cells(self) -> int:
        """The number of suppressed cells."""
        return sum(self.suppressed.values())

    def facts(self) -> dict[str, Any]:
        """For the manifest."""
        facts = {name: fact for name, fact in vars(self).items() if name != "unit"}
        return facts | {"sets": [{"columns": own.columns, "k": own.k, "smallest": own.smallest} for own in self.sets]}

    def __str__(self) -> str:
        sets = [*map(str, self.sets[:LISTED_SETS])]
        if more := len(self.sets) - LISTED_SETS if len(self.sets) > LISTED_SETS else 0:
            sets.append(f"and {more} more sets of columns")
        each = "; ".join(sets)
        listed = ", ".join(f"{name} {count}" for name, count in self.suppressed.items() if count) or "none"
        cells = "cell is" if self.cells == 1 else "cells are"
        text = (
            f"Every record equals at least k-1 others where {READING_SENTENCES[self.missing]}: {each}, counted on the "
            f"published table of {self.n_records} records. {self.cells} {cells} suppressed in {self.changed} records: "
            f"{listed}."
        )
        if self.below_k:
            text += (
                f" This is weaker than k-anonymity: {self.below_k} records are in classes of fewer than k that "
                "are equal cell by cell."
            )
        return f"{text} Kept unchanged and not covered: {', '.join(map(str, self.kept))}." if self.kept else text
