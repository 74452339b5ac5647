"""The risk and the loss of a release: one dictionary each, from two tables of numbers and categories."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag._lib.missing import find_missing
from mag.hierarchy import ranks_of
from mag.measures.changes import gower_distance, il1s, total_variation
from mag.measures.correlation import both_differences
from mag.measures.equal import classes, columns
from mag.measures.intervals import rank_interval_disclosure, sd_interval_disclosure
from mag.measures.linkage import distance_linkage, rank_linkage
from mag.measures.penalty import ncp
from mag.measures.propensity import propensity_mse
from mag.measures.scales import as_numbers, is_plain, names_of
from mag.measures.shares import share_changes
from mag.measures.squares import information_loss

RISKS = (
    "k_anonymity",
    "uniques",
    "distance_linkage",
    "rank_linkage",
    "sd_interval_disclosure",
    "rank_interval_disclosure",
)
LINKED = 10_000  # records that linkage, which compares all with all, looks at
LINKED_WORK = 2**31  # differences of cells, so that it looks at fewer records of many columns
FITTED = 100_000  # records that the logistic regression of the propensity score looks at
FITTED_WORK = 2**31  # records times squared terms: fewer records where there are many terms
MAX_PRODUCT_COLUMNS = 40  # up to which it looks at products too; their number grows with the square
MAX_FITTED_COLUMNS = 200  # of more, it looks at as many, evenly spaced


def risk(
    original: Any, masked: Any, k: int | None = None, *, hierarchies: Any = None, order: Any = None
) -> dict[str, Any]:
    """Disclosure risk of a masked table.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,), or frame
        Row i of both is the same record.  Records with missing cells are left out, and counted.
    k : int, optional
        Adds how many records fewer than k records are like, as ``below_k``.
    hierarchies, order : dict, optional
        Of columns of categories, as in `mag.privacy.distance_linkage`.

    Returns
    -------
    dict
        Counts are integers.
        ``records``, ``incomplete_records``, ``linkage_sample`` (the records used by linkage, in whole classes),
        ``k_anonymity``, ``uniques``, ``distance_linkage``, ``rank_linkage`` (expected shares of right links),
        ``sd_interval_disclosure``, ``rank_interval_disclosure`` (shares of values).  Where columns hold categories or
        ranges, ranks use the columns that have an order, intervals those of numbers, and ``notes`` states that.

    Examples
    --------
    >>> from mag.measures import assess
    >>> measures = assess.risk([1.0, 2.0, 7.0, 9.0], [1.5, 1.5, 8.0, 8.0])
    >>> measures["k_anonymity"], measures["uniques"], measures["distance_linkage"]
    (2, 0, 0.5)
    """
    pair = _read(original, masked, hierarchies, order)
    measures = pair.counts()
    if k is not None:
        checks.integer("k", k, 1, pair.n + 1, "n+1")
    if not pair.n:
        return measures
    labels, ordered = classes("masked", pair.masked), pair.ordered()
    sizes = np.bincount(labels)
    some = _whole_classes(labels, sizes.size, min(LINKED, math.isqrt(LINKED_WORK // len(pair.names))))
    near = distance_linkage(*pair.part(some), **pair.options)
    measures |= {
        "linkage_sample": int(some.size),
        "k_anonymity": int(sizes.min()),
        "uniques": int((sizes == 1).sum()),
        "distance_linkage": near.expected,
    }
    if ordered is None or ordered:
        ranks = {name: ranks for name, ranks in (pair.options.get("order") or {}).items() if name in (ordered or ())}
        measures["rank_linkage"] = rank_linkage(*pair.part(some, ordered), order=ranks or None).expected
    if pair.numbers:
        measures |= {
            "sd_interval_disclosure": sd_interval_disclosure(pair.X, pair.Y).values,
            "rank_interval_disclosure": rank_interval_disclosure(pair.X, pair.Y).values,
        }
    if k is not None:
        measures["below_k"] = int(sizes[sizes < k].sum())
    notes = [
        *_note("Ranks use values with an order", ordered, pair.names),
        *_note("Intervals use numbers", None if pair.plain else pair.numbers, pair.names),
    ]
    return measures | ({"notes": notes} if notes else {})


def unmasked_risk(columns: Sequence[np.ndarray]) -> dict[str, float]:
    """The result of `risk` if the columns were published unchanged, on the records without missing cells.

    Each record is then at no distance from itself: one of c equal records is linked with probability 1/c, and every
    value lies in its own interval.
    """
    complete = ~np.logical_or.reduce([find_missing(column) for column in columns])
    if not complete.any():
        return dict.fromkeys(RISKS, np.nan)
    sizes = np.bincount(classes("original", {place: column[complete] for place, column in enumerate(columns)}))
    linked = sizes.size / int(complete.sum())
    return dict(zip(RISKS, (int(sizes.min()), int((sizes == 1).sum()), linked, linked, 1.0, 1.0), strict=True))


def utility(
    original: Any, masked: Any, propensity: bool = True, *, hierarchies: Any = None, order: Any = None
) -> dict[str, Any]:
    """The loss of a masked table.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,), or frame
        Row i of both is the same record.  Records with missing cells are left out, and counted.
    propensity : bool
        Whether to fit the model of the propensity score, which takes most of the time.
    hierarchies, order : dict, optional
        Of columns of categories, as in `mag.metrics.gower_distance`.

    Returns
    -------
    dict
        ``records``, ``incomplete_records``, ``information_loss``, ``il1s``, ``correlation_difference``,
        ``eigenvalue_difference`` (infinite where columns depended on each other linearly and no longer do),
        ``propensity_mse`` (of ``propensity_records`` evenly spaced records, fewer of many columns; without products of
        columns beyond 40 columns, and of 200 evenly spaced ones beyond 200), ``share_change``, and by column, as lists,
        ``information_loss_by_column`` and ``share_change_by_column``.

        Where columns hold categories or ranges, these measures use the numbers alone, with their losses as a
        dictionary, and ``notes`` states that.  For all columns there are ``gower_distance``,
        ``gower_distance_by_column`` and ``ncp`` (normalized, of equal published records); for the categories
        ``total_variation`` and ``total_variation_by_column``.

    Examples
    --------
    >>> from mag.measures import assess
    >>> measures = assess.utility([1.0, 3.0, 10.0, 14.0], [2.0, 2.0, 12.0, 12.0])
    >>> round(measures["information_loss"], 6)
    0.090909
    """
    pair = _read(original, masked, hierarchies, order)
    measures = pair.counts()
    if not pair.n:
        return measures
    by_column: dict[str, Any] = {}
    if pair.numbers:
        X, Y = pair.X, pair.Y
        measures |= {
            "information_loss": information_loss(X, Y),
            "il1s": il1s(X, Y),
            **dict(zip(("correlation_difference", "eigenvalue_difference"), both_differences(X, Y), strict=True)),
        }
        if propensity:
            those = _sample(X.shape[1], MAX_FITTED_COLUMNS)
            quadratic: bool | Literal["squares"] = True if those.size <= MAX_PRODUCT_COLUMNS else "squares"
            terms = 2 * those.size if quadratic == "squares" else those.size * (those.size + 3) // 2
            some = _sample(len(X), min(FITTED, FITTED_WORK // terms**2))
            measures["propensity_records"] = int(some.size)
            measures["propensity_mse"] = propensity_mse(
                X[np.ix_(some, those)], Y[np.ix_(some, those)], quadratic=quadratic
            )
        losses, changes = [information_loss(X[:, j], Y[:, j]) for j in range(X.shape[1])], share_changes(X, Y)
        measures["share_change"] = max(changes)
        for key, figures in (("information_loss", losses), ("share_change", changes)):
            by_column[f"{key}_by_column"] = figures if pair.plain else dict(zip(pair.numbers, figures, strict=True))
    if pair.plain:
        return measures | by_column
    far = {name: gower_distance(*pair.of_column(name), **pair.options_of(name)) for name in pair.names}
    moved = {name: total_variation(*pair.of_column(name), **pair.options_of(name)) for name in pair.categories()}
    measures["gower_distance"] = float(np.mean([*far.values()]))
    if moved:
        measures["total_variation"] = float(np.mean([*moved.values()]))
    measures["ncp"] = ncp(pair.original, classes("masked", pair.masked), normalized=True, **pair.options)
    notes = _note(
        "Information loss, IL1s, correlations, eigenvalues, the propensity score and shares use numbers",
        pair.numbers,
        pair.names,
    )
    by_column |= {"gower_distance_by_column": far, "total_variation_by_column": moved}
    return measures | by_column | ({"notes": notes} if notes else {})


@dataclass(frozen=True)
class _Pair:
    """The complete records of two tables: all columns, and as float64 those that are numbers before and after."""

    n: int
    incomplete: int
    original: Any
    masked: Any
    numbers: list[Hashable]
    X: np.ndarray
    Y: np.ndarray
    options: dict[str, Any] = field(default_factory=dict)
    plain: bool = True

    @property
    def names(self) -> list[Hashable]:
        return self.numbers if self.plain else list(self.original)

    def counts(self) -> dict[str, Any]:
        """The numbers of records."""
        return {"records": self.n, "incomplete_records": self.incomplete}

    def part(self, rows: np.ndarray, names: list[Hashable] | None = None) -> tuple[Any, Any]:
        """Some records, of some columns."""
        if self.plain:
            return self.X[rows], self.Y[rows]
        names = self.names if names is None else names
        return tuple({name: table[name][rows] for name in names} for table in (self.original, self.masked))  # type: ignore[return-value]

    def of_column(self, name: Hashable) -> tuple[dict[Hashable, Any], dict[Hashable, Any]]:
        """One column."""
        return {name: self.original[name]}, {name: self.masked[name]}

    def options_of(self, name: Hashable) -> dict[str, Any]:
        """The hierarchy and the order of one column."""
        return {option: {name: by[name]} for option, by in self.options.items() if name in (by or ())}

    def ordered(self) -> list[Hashable] | None:
        """Columns whose values have an order and are published as single values; None for all."""
        if self.plain:
            return None
        order, trees = self.options.get("order") or {}, self.options.get("hierarchies") or {}
        known = {name: listed for name, listed in order.items() if name not in trees}
        ranks = {name: ranks_of(f"order[{name!r}]", known[name], [*{*self.masked[name].tolist()}]) for name in known}
        whole = [name for name, own in ranks.items() if (own >= 0).all()]
        return [name for name in self.names if name in self.numbers or name in whole]

    def categories(self) -> list[Hashable]:
        """Columns that do not hold numbers before masking."""
        known = {*(self.options.get("order") or ()), *(self.options.get("hierarchies") or ())}
        return [name for name in self.names if name in known or as_numbers(self.original[name]) is None]


def _note(what: str, looked_at: list[Hashable] | None, names: list[Hashable]) -> list[str]:
    """A note if a measure does not use all columns."""
    if looked_at is None or len(looked_at) == len(names):
        return []
    rest = ", ".join(str(name) for name in names if name not in looked_at)
    return [f"{what} only: {rest} {'is' if len(names) - len(looked_at) == 1 else 'are'} left out."]


def _read(original: Any, masked: Any, hierarchies: Any, order: Any) -> _Pair:
    """The records without missing cells."""
    if not hierarchies and not order and (plain := _numbers(original, masked)):
        complete = ~(np.isnan(plain[0]).any(axis=1) | np.isnan(plain[1]).any(axis=1))
        before, after = plain if complete.all() else (plain[0][complete], plain[1][complete])
        n = len(before)
        return _Pair(n, complete.size - n, before, after, list(range(before.shape[1])), before, after)
    tables = columns("original", original), columns("masked", masked)
    checks.same_rows("masked", tables[1][0].size, "original", tables[0][0].size)
    checks.same_columns("masked", len(tables[1]), "original", len(tables[0]))
    names = names_of(original, len(tables[0]))
    complete = ~np.logical_or.reduce([find_missing(cells) for table in tables for cells in table])
    X, Y = (dict(zip(names, (cells[complete] for cells in table), strict=True)) for table in tables)
    options = {"hierarchies": hierarchies, "order": order}
    for option, by in options.items():
        if unknown := [repr(name) for name in by or () if name not in names]:
            raise InputValueError(f"{option} must name columns of original; got {', '.join(unknown)}.")
    special = {*(hierarchies or ()), *(order or ())}
    numbers, floats = [], []
    for name in names:
        both = as_numbers(X[name]), as_numbers(Y[name])
        if name not in special and both[0] is not None and both[1] is not None:
            numbers.append(name)
            floats.append(both)
    sides = [np.column_stack(side) for side in zip(*floats, strict=True)] if floats else [np.zeros((0, 0))] * 2
    n = int(complete.sum())
    return _Pair(n, int(complete.size - n), X, Y, numbers, sides[0], sides[1], options, False)


def _numbers(original: Any, masked: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Both tables as float64; None where a column holds anything else."""
    if not is_plain(original, masked):
        every = [
            cells for option, table in (("original", original), ("masked", masked)) for cells in columns(option, table)
        ]
        if not all(cells.dtype.kind in "biuf" for cells in every):
            return None
        X, Y = (np.column_stack(columns("table", table)).astype(np.float64) for table in (original, masked))
    else:
        X, Y = (np.asarray(table, np.float64) for table in (original, masked))
    X, Y = (table[:, None] if table.ndim == 1 else table for table in (X, Y))
    checks.same_rows("masked", len(Y), "original", len(X))
    checks.same_columns("masked", Y.shape[1], "original", X.shape[1])
    return X, Y


def _sample(n: int, most: int) -> np.ndarray:
    """Evenly spaced records, so that two calls use the same ones."""
    return np.arange(n) if n <= most else np.arange(most) * n // most


def _whole_classes(labels: np.ndarray, n_classes: int, most: int) -> np.ndarray:
    """About as many records in whole classes of equal masked ones: a part of a class would be easier to link."""
    n = labels.size
    some = _sample(n_classes, n_classes if n <= most else max(1, most * n_classes // n))
    return np.flatnonzero(np.isin(labels, some))
