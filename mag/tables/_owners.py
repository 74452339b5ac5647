"""Units of several records (people, households, firms), which k counts: their numbers, and groups of enough of them."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import count_distinct, find_first_rows, number_rows
from mag.api.method import number_groups
from mag.frames import Frame
from mag.tables._grouping import Comparable, StratumIndex, TableGroups, constrain_groups, group_jointly, group_points
from mag.tables._request import GroupingPlan, Request
from mag.tables._strata import Strata
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.enforce import Constraint


@dataclass(frozen=True)
class Owners:
    """The number of each record's unit, and of its household; None where no column names them."""

    units: np.ndarray | None = None
    homes: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.units is not None or self.homes is not None

    def select(self, rows: np.ndarray) -> "Owners":
        """Those of some records."""
        return Owners(*(None if own is None else own[rows] for own in (self.units, self.homes)))

    def count(self, part: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many units, or records without any, and how many households each part has; the latter may be unknown."""
        units = np.bincount(part) if self.units is None else count_distinct(part, self.units)
        return units, np.full(units.size, np.inf) if self.homes is None else count_distinct(part, self.homes)

    def are_few(self, part: np.ndarray, plan: GroupingPlan) -> np.ndarray:
        """Whether each part has fewer units or households than a class needs."""
        units, homes = self.count(part)
        return (units < max(plan.ks.values())) | (homes < plan.k_household)

    def constrain(self, plan: GroupingPlan, records: int | None = None) -> list[Constraint]:
        """What groups have to satisfy; with a number of records and no units, enough records as well."""
        found, units = [], np.arange(records or 0) if self.units is None else self.units
        if units.size:
            found.append(Constraint.of("unit", Distinct(max(plan.ks.values())), number_rows([units])))
        if self.homes is not None:
            found.append(Constraint.of("household", Distinct(plan.k_household), number_rows([self.homes])))
        return found


def read_owners(frame: Frame, unit: list[Hashable], household: list[Hashable]) -> Owners:
    """The unit and the household of every record, where columns name them."""
    return Owners(
        *(_read_numbers(frame, own[0], option) if own else None
          for own, option in ((unit, "unit"), (household, "household")))
    )  # fmt: skip


def _read_numbers(frame: Frame, name: Hashable, option: str) -> np.ndarray:
    """The number of each record's unit; equal values of different types are one unit."""
    cells = frame.column(name).cells()
    if missing := sum(map(is_missing, cells)):
        raise InputValueError(f"{option} must not have missing cells; got {missing} in {name!r}.")
    numbers: dict[Hashable, int] = {}
    try:
        return np.fromiter((numbers.setdefault(cell, len(numbers)) for cell in cells), np.int64, len(cells))
    except TypeError:
        raise InputTypeError(
            f"{option} must hold values that can be hashed; {name!r} holds lists or similar."
        ) from None


def group_owners(
    comparable: Comparable, strata: Strata, owners: Owners, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """Groups of records of enough units and households, in the way that loses less.

    Records are grouped and groups of too few units changed; or, if all columns are numbers, units or households are
    grouped, each of them with all of its records in a stratum.  The first suits units whose records differ, the second
    those whose records are alike.
    """
    z, _ = comparable.read(places=True)
    found = list_ways(comparable, strata, owners, weights, request)
    return min(found, key=lambda groups: squares(z, groups.labels))


def group_columns_of_owners(
    units: dict[Hashable, Any], strata: Strata, owners: Owners, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """Every column by itself, in groups of enough units; its missing cells are groups of their own."""
    n, plan = strata.rows.size, request.plan
    labels, n_groups = np.empty((n, len(units)), np.int32, order="F"), []
    ways: dict[str, None] = {}
    for j, (name, unit) in enumerate(units.items()):
        absent = np.zeros(n, bool) if unit.missing is None else unit.missing
        there, count = np.flatnonzero(~absent), 0
        if there.size:
            inside = Strata(strata.n, strata.rows[there], number_rows([strata.stratum[there]]), [])
            own_weights = None if weights is None else weights[there]
            alone = replace(request, plan=plan.of([name], plan.ks[name]))
            comparable = Comparable({name: unit.select(there)}, alone.plan)
            groups = group_owners(comparable, inside, owners.select(there), own_weights, alone)
            labels[there, j], count = groups.labels, groups.n_groups[0]
            ways |= dict.fromkeys(groups.method.split(", "))
        if there.size < n:
            labels[absent, j] = count + number_rows([strata.stratum[absent]])
            count = int(labels[:, j].max()) + 1
        n_groups.append(count)
    return TableGroups(labels, n_groups, ", ".join(ways) or "univariate", True)


def list_ways(
    comparable: Comparable, strata: Strata, owners: Owners, weights: np.ndarray | None, request: Request
) -> Iterator[TableGroups]:
    """Records grouped and repaired; and, if all columns are numbers, units grouped by their means."""
    limit = request.options.time_limit
    half = replace(request, options=replace(request.options, time_limit=limit and limit / 2))
    enough = owners.constrain(request.plan, strata.rows.size)
    groups = group_jointly(comparable, strata, weights, half, enough)
    yield constrain_groups(groups, comparable, strata, enough, half)
    z, trees = comparable.read(places=True)
    if trees is None:
        groups = _group_together(z, strata, owners, weights, replace(half, progress=None))
        yield groups if owners.homes is None else constrain_groups(groups, comparable, strata, enough, half)


def _group_together(
    z: np.ndarray, strata: Strata, owners: Owners, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """Groups of units, or of households where these count; a unit's row is the mean of its records in the stratum.

    For one column of units this is the optimum: squares within units do not depend on the groups, and others are those
    of the means, weighted by the number of records.
    """
    plan = request.plan
    if owners.homes is None:
        own, k = owners.units, max(plan.ks.values())
    else:
        own, k = owners.homes, least_households(owners, plan)
    assert own is not None
    row = number_rows([strata.stratum, own])
    on_a_line = z.shape[1] == 1  # weights of records do not count otherwise
    means, totals = _mean_rows(z, row, weights if on_a_line else None)
    stratum = strata.stratum[find_first_rows(row)]
    k = min(k, int(np.bincount(stratum).min()))
    index, request = StratumIndex(stratum), replace(request, plan=plan.of([*plan.ks], k))
    groups = group_points(means, None, index, None if (totals == totals[0]).all() else totals, request)
    labels, n_groups = number_groups(groups.labels[row], row.size)
    return TableGroups(labels, [n_groups], groups.method, groups.complete)


def least_households(owners: Owners, plan: GroupingPlan) -> int:
    """How many households of mean size have the units and households that a class needs."""
    units, homes = (int(count[0]) for count in owners.count(np.zeros_like(owners.homes)))
    return max(plan.k_household, -(-max(plan.ks.values()) * homes // units))


def squares(z: np.ndarray, labels: np.ndarray) -> float:
    """What groups of these rows lose."""
    means, _ = _mean_rows(z, labels, None)
    return float(np.square(z - means[labels]).sum())


def _mean_rows(z: np.ndarray, row: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the records of each row, and their total weight; without any weight, all records count the same."""
    own = np.ones(row.size) if weights is None else weights
    totals = np.bincount(row, own)
    own = np.where(totals[row] > 0, own, 1.0)
    sums = np.stack([np.bincount(row, own * column) for column in z.T], axis=1)
    return sums / np.bincount(row, own)[:, None], totals
