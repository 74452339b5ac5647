"""The guarantee of a table with suppressed cells."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
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
    columns, by, kept : tuple of column names
        The quasi-identifiers, stratum columns, whose values no class mixes, and columns published unchanged.
    sets : tuple of CountedSet
        The sets of quasi-identifiers that hold by themselves, each with its columns, its k, and its smallest class: the
        least number of records that equal a record, itself included; with a unit also the least number of units.
    suppressed : dict, optional
        By column: how many cells were suppressed.  None in pickles: the published table alone does not tell these cells
        from those that were missing before.
    n_records, withheld : int
        Published records, and records that are not published.
    changed : int, optional
        Records with a suppressed cell; None in pickles.
    below_k : int
        Records in classes of fewer than k that are equal cell by cell; 0 if a missing cell is a value.
    unit : column name, optional
        The column of persons or other units that k counts; None where k counts records.
    """

    missing: str
    k: int
    columns: tuple[Hashable, ...]
    by: tuple[Hashable, ...]
    kept: tuple[Hashable, ...]
    sets: tuple[CountedSet, ...]
    suppressed: dict[Hashable, int] | None
    n_records: int
    withheld: int
    changed: int | None
    below_k: int
    unit: Hashable | None = None

    @property
    def scope(self) -> str:
        """ "joint" where all columns are one set, otherwise "sets"."""
        return "joint" if len(self.sets) == 1 and len(self.sets[0].columns) == len(self.columns) else "sets"

    @property
    def cells(self) -> int:
        """The number of suppressed cells; 0 in pickles."""
        return sum((self.suppressed or {}).values())

    def facts(self) -> dict[str, Any]:
        """For the manifest, which goes with the published table: what can be counted on it."""
        unknown = ["suppressed", "changed", *(["unit"] if self.unit is None else [])]
        facts = {name: fact for name, fact in vars(self).items() if name not in unknown}
        return {"scope": self.scope} | facts | {"sets": [_facts_of(own) for own in self.sets], "text": self.promise}

    def published(self) -> "SuppressionGuarantee":
        """The same without the numbers of suppressed cells."""
        return replace(self, suppressed=None, changed=None)

    @property
    def promise(self) -> str:
        """The guarantee without the number of suppressed cells, which the published table need not tell."""
        sets = [*map(str, self.sets[:LISTED_SETS])]
        if more := len(self.sets) - LISTED_SETS if len(self.sets) > LISTED_SETS else 0:
            sets.append(f"and {more} more sets of columns")
        each = "; ".join(sets)
        others = "at least k-1 others" if self.unit is None else f"records of at least k-1 other units ({self.unit})"
        within = f" with the same {', '.join(map(str, self.by))}" if self.by else ""
        withheld = f" {self.withheld} are withheld." if self.withheld else ""
        text = (
            f"Every record equals {others}{within} where {READING_SENTENCES[self.missing]}: {each}, counted on the "
            f"published table of {self.n_records} records.{withheld}"
        )
        if self.below_k:
            what = "" if self.unit is None else " units"
            text += (
                f" This is weaker than k-anonymity: {self.below_k} records are in classes of fewer than k{what} that "
                "are equal cell by cell."
            )
        return f"{text} Kept unchanged and not covered: {', '.join(map(str, self.kept))}." if self.kept else text

    def __str__(self) -> str:
        if self.suppressed is None:
            return self.promise
        listed = ", ".join(f"{name} {count}" for name, count in self.suppressed.items() if count) or "none"
        cells = "cell is" if self.cells == 1 else "cells are"
        return f"{self.promise} {self.cells} {cells} suppressed in {self.changed} records: {listed}."


def _facts_of(own: CountedSet) -> dict[str, Any]:
    units = {} if own.smallest_units is None else {"smallest_units": own.smallest_units}
    return {"columns": own.columns, "k": own.k, "smallest": own.smallest} | units
