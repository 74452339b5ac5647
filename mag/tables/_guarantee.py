"""The guarantee of a published table or file."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from mag._lib.roles import list_names
from mag.tables._sensitive import Promise


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a published table, counted on the table itself.

    Attributes
    ----------
    scope : {"joint", "per-column"}
        Whether whole records are alike, or the values of each column by itself.
    k : int or dict
        The requested smallest class size; by column where columns differ.
    columns, by, kept : tuple of column names
        Masked columns, stratum columns, and columns published unchanged.
    n_records, withheld : int
        Published records, and records that are not published.
    n_groups : int or dict
        The number of groups; by column where each has its own.
    smallest : int
        The smallest number of records that are alike in all of `by` and `columns`.
    smallest_by_column : dict
        With ``scope="per-column"``: the same for `by` and one column.
    unit : column name, optional
        The column of persons or other units that k counts; None where k counts records.
    smallest_units : int, optional
        With a unit: the smallest number of units whose records are alike in all of `by` and `columns`.
    generalized, replaced : tuple of column names
        Where categories or ranges are published: columns whose cells are true for every record, and columns whose cells
        are one value for each group, which need not be a record's own.
    sensitive : tuple of column names
        TableColumns that are published as they are, and that classes should not reveal.
    diversity, closeness : dict
        By column: the promise for its values in every class, a `mag.tables.Promise`.
    levels : dict
        By `mag.generalize`: the level of its hierarchy that every column is published on, 0 for the values themselves.
    suppressed : int
        By `mag.generalize`: published records that show the most general label in every column.
    holds : bool
        Always True: a table that fails the count is never returned.
    """

    scope: str
    k: int | dict[Hashable, int]
    columns: tuple[Hashable, ...]
    by: tuple[Hashable, ...]
    kept: tuple[Hashable, ...]
    n_records: int
    withheld: int
    n_groups: int | dict[Hashable, int]
    smallest: int
    smallest_by_column: dict[Hashable, int] = field(default_factory=dict)
    unit: Hashable | None = None
    smallest_units: int | None = None
    generalized: tuple[Hashable, ...] = ()
    replaced: tuple[Hashable, ...] = ()
    sensitive: tuple[Hashable, ...] = ()
    diversity: dict[Hashable, Promise] = field(default_factory=dict)
    closeness: dict[Hashable, Promise] = field(default_factory=dict)
    levels: dict[Hashable, int] = field(default_factory=dict)
    suppressed: int = 0
    holds: bool = True

    def facts(self) -> dict[str, Any]:
        """For the manifest: all attributes; those about units, categories and sensitive columns only with content."""
        optional = (
            "unit",
            "smallest_units",
            "generalized",
            "replaced",
            "sensitive",
            "diversity",
            "closeness",
            "levels",
            "suppressed",
        )
        facts = {name: fact for name, fact in vars(self).items() if name not in optional or fact}
        for option in ("diversity", "closeness"):
            if option in facts:
                facts[option] = {promise.name: promise.facts() for promise in facts[option].values()}
        return facts

    def __str__(self) -> str:
        names, strata = list_names(self.columns), f" (with {list_names(self.by)})" if self.by else ""
        if self.scope == "joint":
            others = "other" if self.k == 2 else "others"
            least = self.k if isinstance(self.k, int) else min(self.k.values())
            shares = f"Every record shares its values of {names}{strata} with"
            text = (
                f"{shares} records of at least {least - 1} other {'unit' if self.k == 2 else 'units'} ({self.unit}): "
                f"k = {least} units, counted on the published table, smallest class {self.smallest_units} units, of "
                f"{self.n_records} records."
                if self.unit is not None
                else f"{shares} at least {least - 1} {others}: k = {least}, "
                f"counted on the published table, smallest class {self.smallest} of {self.n_records} records."
            )
        else:
            if isinstance(self.k, dict):
                many = list_names([f"{name} by at least {k}" for name, k in self.k.items()])
                text = f"Each published value{strata} is shared by a minimum number of records: {many}."
            else:
                text = f"Every published value of {names}{strata} is shared by at least {self.k} records."
            text += (
                " This is not joint k-anonymity: the smallest number of records alike in all of them is "
                f"{self.smallest}, of {self.n_records} records."
            )
        if self.diversity or self.closeness:
            text += f" {self.promises()}"
        if self.generalized:
            are = "is" if len(self.generalized) == 1 else "are"
            text += f" {list_names(self.generalized)} {are} generalized: true for every record."
        if self.replaced:
            are = "is" if len(self.replaced) == 1 else "are"
            text += f" {list_names(self.replaced)} {are} replaced by one value for each group."
        if self.levels:
            levels = list_names([f"{name} {level}" for name, level in self.levels.items()])
            text += f" Each column is published on one level of its hierarchy: {levels}."
        if self.suppressed:
            records = "record shows" if self.suppressed == 1 else "records show"
            text += f" Suppressed: {self.suppressed} {records} the most general label in every column."
        if self.withheld:
            text += f" Withheld: {self.withheld} {'record' if self.withheld == 1 else 'records'}."
        if self.sensitive:
            text += f" Sensitive and kept as they are: {list_names(self.sensitive)}."
        if self.kept:
            text += f" Kept unchanged and not covered: {list_names(self.kept)}."
        return text

    def promises(self) -> str:
        """The promises for sensitive columns, as a sentence."""
        text = "; ".join(map(str, [*self.diversity.values(), *self.closeness.values()]))
        return f"{text[:1].upper()}{text[1:]}."
