"""`Release.compare`: estimates of analysts on the original and on the published table, side by side."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mag._lib.errors import InputValueError
from mag._lib.keys import as_key
from mag._lib.missing import is_missing
from mag._lib.roles import is_name, names_of, offer_columns
from mag._lib.terminal import printable
from mag.frames import Column, Frame, RefusedColumnError
from mag.measures import assess
from mag.measures.estimates import CONFIDENCE, fit_linear, gini, interval_overlap, weighted_quantiles
from mag.measures.formula import Formula, design_columns, evaluate_factor, find_levels, parse_formula
from mag.measures.propensity import propensity_ratio
from mag.measures.scales import middles

if TYPE_CHECKING:
    from mag.tables._compared import Original

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of quantiles
MAX_LEVEL_ROWS = 20  # of a table of domains or categories that is printed


class Estimate(NamedTuple):
    """An estimate on the original and on the published table; `overlap` is that of confidence intervals of 95 %."""

    before: float
    after: float
    overlap: float = float("nan")


@dataclass(frozen=True, repr=False)
class AnalysisComparison:
    """Estimates before and after masking, as returned by `Release.compare`; prints as tables.  For the data's holder.

    Attributes
    ----------
    records : int
        Published records that are compared.
    coefficients : dict
        By term of the formula: ``before``, ``after`` and ``overlap``, that of their confidence intervals (1 if equal,
        negative if apart).
    means, gini : dict
        By masked column of numbers: the mean, and the Gini coefficient where no amount is negative.
    quantiles : dict
        By column and share of the records, such as ``("income", 0.5)``.
    domains : dict
        By domain and column: the mean of the column among the records of the domain.
    shares : dict
        By masked column of categories and category: the share of the records.
    propensity_ratio : float
        pMSE divided by the value that is expected if masked records were drawn like the original ones.
    """

    records: int
    coefficients: dict[str, Estimate] = field(default_factory=dict)
    means: dict[Hashable, Estimate] = field(default_factory=dict)
    gini: dict[Hashable, Estimate] = field(default_factory=dict)
    quantiles: dict[tuple[Hashable, float], Estimate] = field(default_factory=dict)
    domains: dict[tuple[tuple[Hashable, ...], Hashable], Estimate] = field(default_factory=dict)
    shares: dict[tuple[Hashable, Hashable], Estimate] = field(default_factory=dict)
    propensity_ratio: float = float("nan")

    def __repr__(self) -> str:
        lines = [f"{self.records} records, before and after masking"]
        if np.isfinite(self.propensity_ratio):
            lines.append(f"pMSE relative to its null: {self.propensity_ratio:.3g}")
        lines += _format("coefficient", self.coefficients, overlap=True) + _format("mean", self.means)
        lines += _format("quantile", {f"{name} {share:.0%}": own for (name, share), own in self.quantiles.items()})
        lines += _format("Gini coefficient", self.gini)
        domains = {f"{name}, {', '.join(map(str, of))}": own for (of, name), own in self.domains.items()}
        lines += _format("mean of a domain", domains)
        return "\n".join(
            lines + _format("share", {f"{name}={level}": own for (name, level), own in self.shares.items()})
        )


def _format(title: str, estimates: Mapping[Any, Estimate], overlap: bool = False) -> list[str]:
    """A table with a heading, of the first rows."""
    if not estimates:
        return []
    heads = [title, "before", "after", *(["overlap"] if overlap else [])]
    rows = [
        [printable(name), f"{own.before:.6g}", f"{own.after:.6g}", *([f"{own.overlap:.3f}"] if overlap else [])]
        for name, own in list(estimates.items())[:MAX_LEVEL_ROWS]
    ]
    widths = [max(map(len, cells)) for cells in zip(heads, *rows, strict=True)]
    lines = [""] + [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in (heads, *rows)
    ]
    more = len(estimates) - len(rows)
    return [*lines, f"… and {more} more"] if more else lines


class Sides(NamedTuple):
    """Columns of the original and of the published table, record by record: numbers, or categories as objects."""

    before: Mapping[Hashable, np.ndarray]
    after: Mapping[Hashable, np.ndarray]


def fit_both(formula: Formula, sides: Sides, weights: np.ndarray | None) -> dict[str, Estimate]:
    """The coefficients of a linear model on both tables, from records without missing cells and with common levels."""
    levels = {}
    for name in formula.columns:
        kinds = {side[name].dtype == object for side in sides}
        if len(kinds) > 1:
            raise InputValueError(
                f"formula needs numbers, or categories, in both tables; {name!r} holds numbers before and labels after."
            )
        if kinds == {True}:
            levels[name] = find_levels(name, [side[name] for side in sides])
    fits = [_fit(formula, side, levels, weights) for side in sides]
    estimates = {}
    for term, both in zip(fits[0], zip(*(fit.values() for fit in fits), strict=True), strict=True):
        ends = [(x - CONFIDENCE * error, x + CONFIDENCE * error) for x, error in both]
        estimates[term] = Estimate(both[0][0], both[1][0], interval_overlap(*ends))
    return estimates


def _fit(
    formula: Formula,
    columns: Mapping[Hashable, np.ndarray],
    levels: Mapping[str, Sequence[Hashable]],
    weights: np.ndarray | None,
) -> dict[str, tuple[float, float]]:
    """Coefficients and standard errors by term."""
    design = design_columns(formula, columns, levels)
    table = np.column_stack([evaluate_factor(formula.response, columns[formula.response.column]), *design.values()])
    known = np.isfinite(table).all(axis=1)
    for name, own in levels.items():
        known &= np.isin(columns[name], np.array(own, object))
    if known.sum() <= len(design):
        raise InputValueError(
            f"formula must have fewer terms than records without missing cells; got {len(design)} terms, and "
            f"{known.sum()} records."
        )
    fitted = fit_linear(table[known, 1:], table[known, 0], None if weights is None else weights[known])
    return {name: (float(x), float(error)) for name, x, error in zip(design, *fitted, strict=True)}


def read_values(column: Column) -> np.ndarray:
    """The numbers of a column, or its categories as objects with None for missing cells."""
    try:
        return column.units().floats()
    except RefusedColumnError:
        values = np.empty(len(column), object)
        values[:] = [None if is_missing(cell) else as_key(cell) for cell in column.cells()]
        return values


def compare_columns(
    original: "Original", published: Frame, masked: Sequence[Hashable], formula: Any, by: Any, weights: Any
) -> AnalysisComparison:
    """All estimates on both tables: of masked columns, of the domains `by`, and of the formula."""
    model = None if formula is None else parse_formula(formula)
    domains, names = names_of(by, published.names), list(masked)
    for option, asked in {"by": domains, "formula": model.columns if model else ()}.items():
        for name in asked:
            if not is_name(name, published.names):
                offer = offer_columns(name, published.names)
                raise InputValueError(f"{option} must name columns that are published; got {name!r}{offer}")
            names.append(name)
    before, after = (
        {name: read(name) for name in dict.fromkeys(names)} for read in (original.values, _reader(published))
    )
    after |= {name: middles(after[name]) for name in original.ranges(masked) if after[name].dtype == object}
    sides, own = Sides(before, after), original.weights(weights)
    kinds = {name: {side[name].dtype == object for side in sides} for name in masked}
    numbers = [name for name, kind in kinds.items() if kind == {False}]
    result = AnalysisComparison(next(iter(sides.before.values())).size)
    for name in numbers:
        _add_numbers(result, name, sides, own)
    for name in (name for name, kind in kinds.items() if kind == {True}):
        for level in dict.fromkeys([*sides.before[name].tolist(), *sides.after[name].tolist()]):
            shares = (np.average(side[name] == level, weights=own) for side in sides)
            result.shares[name, level] = Estimate(*map(float, shares))
    if domains:
        _add_domains(result, sides, numbers, domains, own)
    if model is not None:
        result.coefficients.update(fit_both(model, sides, own))
    return replace(result, propensity_ratio=_relate_propensity(sides, numbers))


def _reader(frame: Frame) -> Callable[[Hashable], np.ndarray]:
    return lambda name: read_values(frame.column(name))


def _relate_propensity(sides: Sides, numbers: Sequence[Hashable]) -> float:
    """Of records without missing cells, evenly spaced ones if they are many."""
    if not numbers:
        return float("nan")
    tables = [np.column_stack([side[name] for name in numbers]) for side in sides]
    known = np.flatnonzero(np.isfinite(tables[0]).all(axis=1) & np.isfinite(tables[1]).all(axis=1))
    if not known.size:
        return float("nan")
    rows = known[np.unique(np.linspace(0, known.size - 1, min(known.size, assess.FITTED)).astype(np.int64))]
    quadratic: Any = True if len(numbers) <= assess.MAX_PRODUCT_COLUMNS else "squares"
    return propensity_ratio(tables[0][rows], tables[1][rows], quadratic=quadratic)


def _add_numbers(result: AnalysisComparison, name: Hashable, sides: Sides, weights: np.ndarray | None) -> None:
    """The mean, quantiles and the Gini coefficient of a column; masking keeps missing cells."""
    known = np.isfinite(sides.before[name])
    if not known.any():
        return
    own = None if weights is None else weights[known]
    pair = [side[name][known] for side in sides]
    result.means[name] = Estimate(*(float(np.average(x, weights=own)) for x in pair))
    quantiles = [weighted_quantiles(x, np.array(SHARES), own).tolist() for x in pair]
    result.quantiles.update({(name, share): Estimate(*both) for share, *both in zip(SHARES, *quantiles, strict=True)})
    if pair[0].min() >= 0:
        result.gini[name] = Estimate(*(gini(x, own) for x in pair))


def _add_domains(
    result: AnalysisComparison,
    sides: Sides,
    numbers: Sequence[Hashable],
    by: Sequence[Hashable],
    weights: np.ndarray | None,
) -> None:
    """Means by domain: the records with equal cells of `by`, in each table by its own cells."""
    domains = [list(zip(*(side[name].tolist() for name in by), strict=True)) for side in sides]
    for domain in sorted(set(domains[0]) | set(domains[1]), key=str):
        rows = [np.fromiter((own == domain for own in side), bool, len(side)) for side in domains]
        for name in numbers:
            means = (_mean(side[name], inside, weights) for side, inside in zip(sides, rows, strict=True))
            result.domains[domain, name] = Estimate(*means)


def _mean(x: np.ndarray, rows: np.ndarray, weights: np.ndarray | None) -> float:
    rows = rows & np.isfinite(x)
    return (
        float(np.average(x[rows], weights=None if weights is None else weights[rows])) if rows.any() else float("nan")
    )
