"""The guarantee of a published table or file."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mag._lib.roles import list_names
from mag.tables._sensitive import Promise


@dataclass(frozen=True)
class CountedSet:
    """A set of columns and the smallest class of it, counted on the published table.

    Attributes
    ----------
    columns : tuple of column names
    k : int
        The requested smallest class size.
    smallest : int
        The smallest number of records that are alike in `columns` and the stratum columns.
    smallest_units : int, optional
        With a unit: the smallest number of units of such a class.
    """

    columns: tuple[Hashable, ...]
    k: int
    smallest: int
    smallest_units: int | None = None

    def __str__(self) -> str:
        what = "records" if self.smallest_units is None else "units"
        least = self.smallest if self.smallest_units is None else self.smallest_units
        return f"{', '.join(map(str, self.columns))}: k = {self.k} {what}, smallest class {least}"


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a published table, counted on the table itself.

    Attributes
    ----------
    scope : {"joint", "per-column", "sets"}
        Whether whole records are alike, or the values of each column by itself, or of each of `sets`.
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
    smallest_units_by_column : dict
        With a unit and ``scope="per-column"``: the same for `by` and one column.
    household, household_columns, k_household
        The column of households, the columns that have one value in each of them, and the requested number of
        households of a class.
    smallest_households : int, optional
        The smallest number of households whose records are alike in all of `by` and `columns`.
    sets : tuple of CountedSet
        With several sets of columns: what was counted for each.  `smallest` is then that of all columns together, for
        which nothing is promised.
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
    smallest_units_by_column: dict[Hashable, int] = field(default_factory=dict)
    household: Hashable | None = None
    household_columns: tuple[Hashable, ...] = ()
    k_household: int | None = None
    smallest_households: int | None = None
    sets: tuple[CountedSet, ...] = ()
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
            "smallest_units_by_column",
            "household",
            "household_columns",
            "k_household",
            "smallest_households",
            "sets",
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
        if "sets" in facts:
            facts["sets"] = [{name: fact for name, fact in vars(own).items() if fact is not None} for own in self.sets]
        return facts | {"text": str(self)}

    def __str__(self) -> str:
        names, strata = list_names(self.columns), f" (with {list_names(self.by)})" if self.by else ""
        if self.scope == "joint":
            text = self._describe_classes(names, strata)
        elif self.scope == "sets":
            who = "" if self.unit is None else f", where k counts units ({self.unit})"
            text = f"Records are alike in every set of columns{strata}{who}: {'; '.join(map(str, self.sets))}. "
            text += self._describe_union()
        elif isinstance(self.k, dict):
            many = list_names([f"{name} by at least {k}" for name, k in self.k.items()])
            what = "records" if self.unit is None else f"units ({self.unit})"
            text = f"Each published value{strata} is shared by a minimum number of {what}: {many}. "
            text += self._describe_union()
        else:
            what = "records" if self.unit is None else f"units ({self.unit})"
            text = f"Every published value of {names}{strata} is shared by at least {self.k} {what}. "
            text += self._describe_union()
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

    def _describe_classes(self, names: str, strata: str) -> str:
        """What whole records share."""
        least = self.k if isinstance(self.k, int) else min(self.k.values())
        who = "records" if self.unit is None else f"units ({self.unit})"
        counted = "counted on the published table, smallest class"
        if self.household is not None:
            fewest = f"{self.smallest if self.unit is None else self.smallest_units} {who.partition(' ')[0]}"
            text = (
                f"Every published combination of {names}{strata} has at least {least} {who} of at least "
                f"{self.k_household} {'household' if self.k_household == 1 else 'households'} ({self.household}), "
                f"{counted} {fewest}, and {self.smallest_households} households, of {self.n_records} records."
            )
            if self.household_columns:
                text += f" Every household has one value of {list_names(self.household_columns)}."
            return text
        shares = f"Every record shares its values of {names}{strata} with"
        if self.unit is not None:
            others = "unit" if least == 2 else "units"
            return (
                f"{shares} records of at least {least - 1} other {others} ({self.unit}): k = {least} units, {counted} "
                f"{self.smallest_units} units, of {self.n_records} records."
            )
        others = "other" if least == 2 else "others"
        return (
            f"{shares} at least {least - 1} {others}: k = {least}, {counted} {self.smallest} of {self.n_records} "
            "records."
        )

    def _describe_union(self) -> str:
        """The classes of all columns, of which nothing is promised."""
        return (
            "This is not joint k-anonymity: the smallest number of records alike in all of them is "
            f"{self.smallest}, of {self.n_records} records."
        )

    def promises(self) -> str:
        """The promises for sensitive columns, as a sentence."""
        text = "; ".join(map(str, [*self.diversity.values(), *self.closeness.values()]))
        return f"{text[:1].upper()}{text[1:]}."


def describe_kept(names: Sequence[Hashable]) -> str:
    """A warning about columns that are published as they are."""
    which = "it" if len(names) == 1 else "them"
    return f"Published unchanged: {list_names(names)}; the guarantee does not cover {which}."
