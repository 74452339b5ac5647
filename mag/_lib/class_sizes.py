"""Demands on the sizes of classes and the sentences on what was counted, for the command and for Python."""

from typing import Any, NamedTuple


class SizeDemand(NamedTuple):
    """Classes of columns that must have at least k records, or values of the column that they are `counted_by`."""

    columns: list[str]
    k: int
    counted_by: str | None = None


class CountedDemand(NamedTuple):
    """The smallest class, and how many of all records are in classes that are too small."""

    demand: SizeDemand
    smallest: int
    violating: int
    records: int

    @property
    def holds(self) -> bool:
        """Whether no class is too small."""
        return self.violating == 0 and self.records > 0

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        counted_by = {} if self.demand.counted_by is None else {"counted_by": self.demand.counted_by}
        return {"k": self.demand.k, "holds": self.holds, "smallest": self.smallest, "violating": self.violating} | (
            counted_by
        )

    def describe(self, columns: str = "") -> str:
        """As a sentence; `columns` say which, if there are several sets."""
        k = self.demand.k
        others = f"{k - 1} {'other' if k == 2 else 'others'}{columns}"
        if self.demand.counted_by is not None:
            others += f", counted by {self.demand.counted_by}"
        if self.holds:
            return (
                f"PASS k={k}: each of {self.records} records matches at least {others}; smallest class {self.smallest}."
            )
        return (
            f"FAIL k={k}: {self.violating} of {self.records} records match fewer than {others}; smallest class "
            f"{self.smallest}."
        )
