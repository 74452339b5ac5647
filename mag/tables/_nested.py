"""Groups within groups: some columns in coarse groups of records, others in finer groups inside of these.

A coarse group is published alike in its columns; what is grouped inside of it is alike in both.  The larger the coarse
groups, the more do their columns lose and the less do the others, so that several sizes are tried.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mag._lib.number import number_rows
from mag.frames.categories import CategoryCodes
from mag.frames.units import Units
from mag.tables._grouping import Comparable, TableGroups, group_jointly
from mag.tables._owners import Owners, group_owners
from mag.tables._request import Request
from mag.tables._strata import Strata

TURNS_WITHOUT_GAIN = 2  # sizes that may lose more, one after the other, before the search ends
SHARE_OF_TIME = 0.1  # of the time limit, for every call of a method


@dataclass(frozen=True)
class Nested:
    """Groups of each column, `parts` by its name, and what they lose."""

    parts: dict[Hashable, TableGroups]
    loss: float


def group_part(
    units: dict[Hashable, Units | CategoryCodes],
    strata: Strata,
    owners: Owners,
    weights: np.ndarray | None,
    request: Request,
    k: int,
) -> TableGroups:
    """Some columns of the table; strata that have not enough for two groups are one group."""
    limit = request.options.time_limit
    options = replace(request.options, time_limit=limit and limit * SHARE_OF_TIME)
    request = replace(request, plan=request.plan.of([*units], k), options=options, progress=None)
    counts, homes = owners.count(strata.stratum)
    large = ((counts >= 2 * k) & (homes >= 2 * request.plan.k_household))[strata.stratum]
    labels, method, complete = strata.stratum.copy(), "one group", True
    if large.any():
        rows = np.flatnonzero(large)
        some = Strata(strata.n, strata.rows[rows], number_rows([strata.stratum[rows]]), [])
        comparable = Comparable({name: unit.select(rows) for name, unit in units.items()}, request.plan)
        own = None if weights is None else weights[rows]
        groups = (
            group_owners(comparable, some, owners.select(rows), own, request)
            if owners
            else group_jointly(comparable, some, own, request)
        )
        labels[rows] = counts.size + groups.labels
        method, complete = groups.method, groups.complete
    labels = number_rows([labels])
    return TableGroups(labels, [int(labels.max()) + 1], method, complete)


def try_sizes(first: int, most: int, attempt: Callable[[int], Nested]) -> Nested:
    """The best of sizes that double, until they lose more twice in a row."""
    best, worse = attempt(first), 0
    while worse < TURNS_WITHOUT_GAIN and (first := 2 * first) <= most:
        found = attempt(first)
        best, worse = (found, 0) if found.loss < best.loss else (best, worse + 1)
    return best


def connect(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The number of the connected component of each edge; an edge joins a number of `left` with one of `right`.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.tables._nested import connect
    >>> connect(np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2])).tolist()
    [0, 0, 0, 1]
    """
    component = np.arange(int(left.max()) + 1)
    while True:
        least = np.full(int(right.max()) + 1, component.size)
        np.minimum.at(least, right, component[left])
        after = component.copy()
        np.minimum.at(after, left, least[right])
        after = after[after]
        if (after == component).all():
            return number_rows([component[left]])
        component = after


def assemble(names: Sequence[Hashable], parts: dict[Hashable, TableGroups]) -> TableGroups:
    """The groups of every column, side by side."""
    own = [parts[name] for name in names]
    methods = dict.fromkeys(method for groups in own for method in groups.method.split(", "))
    return TableGroups(
        np.stack([groups.labels for groups in own], axis=1),
        [groups.n_groups[0] for groups in own],
        ", ".join(methods),
        all(groups.complete for groups in own),
    )
