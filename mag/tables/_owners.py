"""Units of several records (people, households, firms), which k counts: their numbers, and groups of enough of them."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import find_first_rows, number_rows
from mag.api.method import number_groups
from mag.frames import Frame
from mag.tables._grouping import Comparable, StratumIndex, TableGroups, constrain_groups, group_jointly, group_points
from mag.tables._request import Request
from mag.tables._strata import Strata
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.enforce import Constraint


def read_owners(frame: Frame, name: Hashable) -> np.ndarray:
    """The number of each record's unit; equal values of different types are one unit."""
    cells = frame.column(name).cells()
    if missing := sum(map(is_missing, cells)):
        raise InputValueError(f"unit must not be missing; got {missing} missing in {name!r}.")
    numbers: dict[Hashable, int] = {}
    try:
        return np.fromiter((numbers.setdefault(cell, len(numbers)) for cell in cells), np.int64, len(cells))
    except TypeError:
        raise InputTypeError(f"unit must hold values that can be hashed; {name!r} holds lists or similar.") from None


def count_owners(stratum: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """How many units each stratum has."""
    return np.bincount(stratum[find_first_rows(number_rows([stratum, owners]))])


def group_owners(
    comparable: Comparable, strata: Strata, owners: np.ndarray, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """Groups of records of at least k units, in the way that loses less.

    Records are grouped and groups of too few units changed; or, if all columns are numbers, units are grouped, each of
    them with all of its records in a stratum.  The first suits units whose records differ, the second those whose
    records are alike.
    """
    limit, k = request.options.time_limit, next(iter(request.plan.ks.values()))
    half = replace(request, options=replace(request.options, time_limit=limit and limit / 2))
    enough = [Constraint.of("unit", Distinct(k), number_rows([owners]))]
    groups = group_jointly(comparable, strata, weights, half, enough)
    found = [constrain_groups(groups, comparable, strata, enough, half)]
    z, trees = comparable.read(places=True)
    if trees is None:
        found.append(_group_together(z, strata, owners, weights, replace(half, progress=None)))
    return min(found, key=lambda groups: _squares(z, groups.labels))


def _group_together(
    z: np.ndarray, strata: Strata, owners: np.ndarray, weights: np.ndarray | None, request: Request
) -> TableGroups:
    """Groups of units; the unit's row is the mean of its records in the stratum.

    For one column this is the optimum: squares within units do not depend on the groups, and others are those of the
    means, weighted by the number of records.
    """
    row = number_rows([strata.stratum, owners])
    on_a_line = z.shape[1] == 1  # weights of records do not count otherwise
    means, totals = _mean_rows(z, row, weights if on_a_line else None)
    index = StratumIndex(strata.stratum[find_first_rows(row)])
    groups = group_points(means, None, index, None if (totals == totals[0]).all() else totals, request)
    labels, n_groups = number_groups(groups.labels[row], row.size)
    return TableGroups(labels, [n_groups], groups.method, groups.complete)


def _squares(z: np.ndarray, labels: np.ndarray) -> float:
    means, _ = _mean_rows(z, labels, None)
    return float(np.square(z - means[labels]).sum())


def _mean_rows(z: np.ndarray, row: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the records of each row, and their total weight; without any weight, all records count the same."""
    own = np.ones(row.size) if weights is None else weights
    totals = np.bincount(row, own)
    own = np.where(totals[row] > 0, own, 1.0)
    sums = np.stack([np.bincount(row, own * column) for column in z.T], axis=1)
    return sums / np.bincount(row, own)[:, None], totals
