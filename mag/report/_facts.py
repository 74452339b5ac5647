"""The content of a report, in plain types, so that the page needs nothing from the layers above it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag._lib.lazy import cached_property
from mag._lib.missing import is_missing
from mag.report._columns import Change, change
from mag.report._recoding import RecodingFacts
from mag.report._sensitive import SensitiveFacts
from mag.report._suppression import SuppressionFacts

NUMERIC_KINDS = ("datetime", "duration", "number")
SCOPES = ("joint", "per-column", "sets")
Audience = Literal["external", "internal"]


def is_external(audience: str) -> bool:
    """Whether a page is for others, who get nothing of the original."""
    return checks.one_of("audience", audience, get_args(Audience)) == "external"


@dataclass(frozen=True, kw_only=True)
class Category:
    """A masked column of categories.

    Parameters
    ----------
    before, after : object arrays of shape (n,)
        The values and the published labels, None where a cell is missing.
    order : sequence of str
        The published labels in the order to draw them in.
    generalized : bool
        Whether published cells are true for every record.
    recoded : object array of shape (n,), optional
        The values on the published level of the column, if it has one: the bars compare these.
    """

    before: np.ndarray
    after: np.ndarray
    order: Sequence[str]
    generalized: bool
    recoded: np.ndarray | None = None

    @property
    def compared(self) -> np.ndarray:
        """The values that bars count before masking."""
        return self.before if self.recoded is None else self.recoded

    @cached_property
    def codes(self) -> np.ndarray:
        """A number for every value, NaN where it is missing."""
        places: dict[Any, int] = {}
        cells = self.before.tolist()
        return np.array([np.nan if is_missing(x) else places.setdefault(x, len(places)) for x in cells], np.float64)


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """The content of one report.

    Parameters
    ----------
    title : str
    guarantee : str
        One or two sentences; the page begins with them.
    scope : {"joint", "per-column"}
    k : int or mapping of column to int
        The requested group size.
    smallest : int
        The smallest number of records that are alike in all masked columns (and `by`), counted on the published table.
    original, masked : mapping of column to float64 array of shape (n,)
        Published records, row i of both the same; missing is NaN, datetimes are seconds since 1970, durations seconds.
    columns : sequence of columns
        The masked columns of an external page, in the place of all facts that compare with the original.
    n_records, n_groups : int, optional
        Published records and their groups, where the arrays hold a sample of them.
    labels : int array of shape (n,), or (n, m) with another scope than "joint", in the order of `names`
        The group of every record, or of every cell; negative without a group.
    kinds : mapping of column to {"datetime", "duration", "number"}
        Columns that are not named are numbers.
    categories : mapping of column to Category
        Masked columns of categories.
    ranges : mapping of column to two float64 arrays of shape (n,)
        Masked columns of numbers that are published as ranges: values, and the middles of the ranges.
    utility, risk : mapping of str to number
        As `mag.measures.assess` gives them.
    by, untouched : sequence of columns
        Columns that groups do not cross, and columns that were published unchanged.
    unit : column, optional
        The column of persons or other units that k counts; otherwise k counts records.
    smallest_units : int, optional
        With a unit: the smallest number of units whose records are alike.
    household : column, optional
        The column of households that are counted besides.
    smallest_households : int, optional
        With a household: the smallest number of households whose records are alike.
    sets : sequence of str
        With the scope "sets": what holds for each set of columns.
    with_kept : tuple of two int, optional
        The smallest class in all published columns, untouched ones included, and the records in classes below k.
    withheld : int
        Records that were not published.
    promises : sequence of str
        Criteria that hold for sensitive columns.
    warnings : sequence of str
        Warnings of the code that made the release; the page adds its own.
    linked : sequence of str
        Sentences about columns that are published unchanged and nearly give a masked one.
    manifest : mapping
        How the release was made; the page shows an excerpt.
    sensitive : sequence of SensitiveFacts
        The demands of `promises` in numbers.
    about : mapping of str to str
        What the page is about: the name of the data, the date, who made it and by which command.
    recoding : RecodingFacts, optional
        The level of each column, where nothing is published as numbers: `original` and `masked` are empty then.
    suppression : SuppressionFacts, optional
        The missing cells of each column, where cells were suppressed: `original` and `masked` are empty then.
    """

    title: str
    guarantee: str
    scope: str
    k: int | Mapping[Hashable, int]
    smallest: int
    original: Mapping[Hashable, np.ndarray]
    masked: Mapping[Hashable, np.ndarray]
    labels: np.ndarray
    columns: Sequence[Hashable] = ()
    n_records: int | None = None
    n_groups: int | None = None
    kinds: Mapping[Hashable, str] = field(default_factory=dict)
    categories: Mapping[Hashable, Category] = field(default_factory=dict)
    ranges: Mapping[Hashable, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    utility: Mapping[str, Any] = field(default_factory=dict)
    risk: Mapping[str, Any] = field(default_factory=dict)
    by: Sequence[Hashable] = ()
    untouched: Sequence[Hashable] = ()
    unit: Hashable | None = None
    smallest_units: int | None = None
    household: Hashable | None = None
    smallest_households: int | None = None
    sets: Sequence[str] = ()
    with_kept: tuple[int, int] | None = None
    withheld: int = 0
    promises: Sequence[str] = ()
    warnings: Sequence[str] = ()
    linked: Sequence[str] = ()
    manifest: Mapping[str, Any] = field(default_factory=dict)
    sensitive: Sequence[SensitiveFacts] = ()
    about: Mapping[str, str] = field(default_factory=dict)
    recoding: RecodingFacts | None = None
    suppression: SuppressionFacts | None = None

    def __post_init__(self) -> None:
        checks.one_of("scope", self.scope, SCOPES)
        if not self.names or list(self.original) != list(self.masked):
            raise InputValueError("original and masked must hold the same columns, at least one, in one order.")
        compared = (self.original, self.categories, self.ranges, self.utility, self.risk, self.recoding)
        if self.columns and any((*compared, self.warnings, self.linked)):
            raise InputValueError("columns must be empty on a page that compares with the original or shows warnings.")
        for kind in self.kinds.values():
            checks.one_of("kinds", kind, NUMERIC_KINDS)
        for name, table in (("original", self.original), ("masked", self.masked)):
            for column in table.values():
                checks.same_rows(f"every column of {name}", len(column), "labels", len(self.labels))
        for option, columns in (("categories", self.categories), ("ranges", self.ranges)):
            for own in columns.values():
                before = own.before if isinstance(own, Category) else own[0]
                checks.same_rows(f"every column of {option}", len(before), "labels", len(self.labels))
        shape = (self.n,) if self.scope == "joint" else (self.n, len(self.names))
        if np.shape(self.labels) != shape:
            raise InputValueError(
                f"labels must be of shape {shape} with scope={self.scope!r}; got {np.shape(self.labels)}."
            )

    @property
    def names(self) -> list[Hashable]:
        """All masked columns."""
        return [*self.columns, *self.masked, *self.ranges, *self.categories]

    @property
    def is_external(self) -> bool:
        """Whether the page shows nothing of the original."""
        return bool(self.columns)

    @property
    def values(self) -> list[np.ndarray]:
        """All masked columns before, as float64; categories by codes."""
        ranges, codes = (before for before, _ in self.ranges.values()), (own.codes for own in self.categories.values())
        return [*self.original.values(), *ranges, *codes]

    @property
    def n(self) -> int:
        """Published records."""
        return len(self.labels)

    @property
    def incomplete(self) -> int:
        """Published records that miss a cell."""
        tables = (*self.values, *self.masked.values())
        return int(np.logical_or.reduce([np.isnan(column) for column in tables]).sum())

    @cached_property
    def changes(self) -> dict[Hashable, Change]:
        """The change of each column by masking."""
        return {column: change(self.original[column], self.masked[column], self.k_of(column)) for column in self.masked}

    def k_of(self, column: Hashable) -> int:
        """The smallest group size required in a column."""
        return self.k[column] if isinstance(self.k, Mapping) else self.k

    def labels_of(self, place: int) -> np.ndarray:
        """The groups of the column at a place."""
        return self.labels if self.scope == "joint" else self.labels[:, place]
