"""Columns of households and of their members: households are grouped first, and members within groups of households.

Every household gets one value in a household column, and the records of a class have the same values in all columns.
Strata may divide households, such as those of a sex: households that share a stratum are grouped with each other, and
their groups grow until the members in each stratum are enough for a class.
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from mag._lib.errors import InputValueError
from mag._lib.number import find_first_rows, number_rows
from mag._lib.wording import named
from mag.frames.categories import CategoryCodes
from mag.frames.units import Units
from mag.tables._grouping import Comparable, TableGroups
from mag.tables._nested import Nested, assemble, connect, group_part, try_sizes
from mag.tables._owners import Owners, least_households, squares
from mag.tables._request import GroupingPlan, Request
from mag.tables._strata import Strata

ColumnUnits = dict[Hashable, Units | CategoryCodes]


def check_one_value(units: ColumnUnits, homes: np.ndarray, names: Sequence[Hashable]) -> None:
    """Raise if a column of households has several values in one household."""
    first = find_first_rows(homes)[homes]
    for name in names:
        unit = units[name]
        differ = unit.values != unit.values[first]
        if unit.missing is not None:
            differ = np.where(unit.missing, ~unit.missing[first], differ & ~unit.missing[first] | unit.missing[first])
        if several := np.unique(homes[differ]).size:
            raise InputValueError(
                f"{named('household_columns')} must have one value in every household; {name!r} has several in "
                f"{several}."
            )


def group_households(
    units: ColumnUnits, strata: Strata, owners: Owners, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """The groups of every column, the coarse ones of household columns first; those of members are the classes."""
    assert owners.homes is not None
    plan, homes = request.plan, number_rows([owners.homes])
    first = find_first_rows(homes)
    shared: ColumnUnits = {name: units[name].select(first) for name in plan.household_columns}
    members: ColumnUnits = {name: unit for name, unit in units.items() if name not in shared}
    z, _ = Comparable(shared, plan).read(places=True)
    z_members = Comparable(members, plan).read(places=True)[0] if members else None
    linked = connect(homes, strata.stratum)[first]
    apart = Strata(first.size, np.arange(first.size), number_rows([linked]), [])

    def attempt(size: int) -> Nested:
        found = group_part(shared, apart, Owners(), None, request, size)
        outer = _join_short(found.labels, z, apart.stratum, homes, strata.stratum, owners, plan)[homes]
        coarse = TableGroups(outer, [int(outer.max()) + 1], found.method, found.complete)
        cell = Strata(strata.n, strata.rows, number_rows([outer, strata.stratum]), strata.blank)
        inner = TableGroups(cell.stratum, [int(cell.stratum.max()) + 1], found.method, found.complete)
        loss = squares(z[homes], outer)
        if z_members is not None:
            inner = group_part(members, cell, owners, weights, request, max(plan.ks.values()))
            loss += squares(z_members, inner.labels)
        return Nested({name: coarse if name in shared else inner for name in (*units, None)}, loss)

    nested = try_sizes(least_households(owners, plan), first.size // 2, attempt)
    return replace(assemble([*units], nested.parts), classes=nested.parts[None].labels)


def _join_short(
    outer: np.ndarray,
    z: np.ndarray,
    linked: np.ndarray,
    homes: np.ndarray,
    stratum: np.ndarray,
    owners: Owners,
    plan: GroupingPlan,
) -> np.ndarray:
    """Groups of households that have enough for a class in each stratum of their members: others join the nearest."""
    while True:
        cell = number_rows([outer[homes], stratum])
        few = owners.are_few(cell, plan)
        if not few.any():
            return number_rows([outer])
        outer = number_rows([outer])
        short = np.unique(outer[homes[few[cell]]])
        sizes = np.bincount(outer)
        centers = np.stack([np.bincount(outer, column) / sizes for column in z.T], axis=1)
        component = linked[find_first_rows(outer)]
        nearest = [_find_nearest(group, centers, component) for group in short.tolist()]
        every = np.arange(sizes.size)
        joined = connect(np.append(every, short), np.append(every, nearest))
        outer = joined[: sizes.size][outer]


def _find_nearest(group: int, centers: np.ndarray, component: np.ndarray) -> int:
    """The group of the same component whose center is nearest."""
    others = np.flatnonzero(component == component[group])
    others = others[others != group]
    away = np.square(centers[others] - centers[group]).sum(axis=1)
    return int(others[np.argmin(away)])
