"""Groups for several sets of quasi-identifiers: the records are alike in the columns of each set.

Sets that share no column are grouped by themselves.  Of sets that do, a shared column has one published value: its
groups are coarse, by the shared columns or by all of them, and each set's own columns are grouped within these.  Coarse
groups by all columns that are as small as allowed are the classes of all columns together.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from mag._lib.number import number_rows
from mag.frames.categories import CategoryCodes
from mag.frames.units import Units
from mag.tables._column_sets import ColumnSet, join_overlapping
from mag.tables._grouping import Comparable, TableGroups
from mag.tables._nested import Nested, assemble, group_part, try_sizes
from mag.tables._owners import Owners, squares
from mag.tables._request import Request
from mag.tables._strata import Strata

ColumnUnits = dict[Hashable, Units | CategoryCodes]


def group_sets(
    units: ColumnUnits, strata: Strata, owners: Owners, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """The groups of every column, which are those of its set."""
    parts: dict[Hashable, TableGroups] = {}
    for family in join_overlapping(request.plan.sets):
        parts |= _group_family(units, family, strata, owners, weights, request)
    return assemble([*units], parts)


def _group_family(
    units: ColumnUnits,
    family: Sequence[ColumnSet],
    strata: Strata,
    owners: Owners,
    weights: np.ndarray | None,
    request: Request,
) -> dict[Hashable, TableGroups]:
    """Sets that share columns, or a single set."""
    used = Counter(name for own in family for name in own.columns)
    every: ColumnUnits = {name: units[name] for name in used}
    largest = max(own.k for own in family)
    if len(family) == 1:
        return dict.fromkeys(every, group_part(every, strata, owners, weights, request, largest))
    points = {name: Comparable({name: unit}, request.plan).read(places=True)[0] for name, unit in every.items()}
    shared: ColumnUnits = {name: units[name] for name, count in used.items() if count > 1}

    def attempt(by: ColumnUnits, size: int) -> Nested:
        coarse = group_part(by, strata, owners, weights, request, size)
        parts = dict.fromkeys(shared, coarse)
        cell = replace(strata, stratum=number_rows([coarse.labels, strata.stratum]))
        for own in family:
            alone: ColumnUnits = {name: units[name] for name in own.columns if name not in shared}
            if alone:
                parts |= dict.fromkeys(alone, group_part(alone, cell, owners, weights, request, own.k))
        return Nested(parts, sum(squares(z, parts[name].labels) for name, z in points.items()))

    most = int(owners.count(np.zeros_like(strata.stratum))[0][0]) // 2
    ways = [try_sizes(largest, most, partial(attempt, by)) for by in (every, shared)]
    return min(ways, key=lambda nested: nested.loss).parts
