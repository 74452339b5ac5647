"""The guarantee, counted on the published table by code that knows nothing of the groups."""

from collections.abc import Hashable, Sequence
from typing import Any

from mag import verify
from mag.frames import Frame
from mag.tables._aggregate import AGGREGATES
from mag.tables._categories import generalized_columns
from mag.tables._column_sets import ColumnSet
from mag.tables._grouping import TableGroups
from mag.tables._guarantee import CountedSet, Guarantee
from mag.tables._request import Request
from mag.tables._sensitive import Promise
from mag.tables._strata import Strata


def recount(
    frame: Frame,
    published: Any,
    rows: Any,
    strata: Strata,
    groups: TableGroups,
    promises: list[Promise],
    request: Request,
) -> Guarantee:
    """Count the guarantee on the published table, whose records are `rows` of the frame; raise if it is not so."""
    roles, plan, n = request.roles, request.plan, strata.rows.size
    true = generalized_columns(plan.aggregates)
    mixed = not set(plan.aggregates.values()) <= set(AGGREGATES)
    classes = [*roles.by, *roles.columns]
    smallest, by_column = verify.recounts(published, roles.by, roles.columns, each=plan.per_column)
    if plan.scope == "joint":
        verify.require(smallest, plan.ks[roles.columns[0]], classes, n)
    for name, least in by_column.items():
        verify.require(least, plan.ks[name], [*roles.by, name], n)
    cells = {option: _cells_of(frame, option, getattr(roles, option), rows) for option in ("unit", "household")}
    counts = {}
    for option, least in (("unit", plan.ks[roles.columns[0]]), ("household", plan.k_household)):
        if (own := cells[option]) is not None:
            needed = least if plan.scope == "joint" else 0
            counts[option] = verify.require_units(published, classes, own, needed, f"{option}s")
    units_by_column = {}
    if plan.per_column and (own := cells["unit"]) is not None:
        for name, k in plan.ks.items():
            units_by_column[name] = verify.require_units(published, [*roles.by, name], own, k)
    promises = [promise.recount([published], classes).require() for promise in promises]
    n_groups = groups.n_groups
    if groups.classes is not None:
        n_groups = [int(groups.classes.max()) + 1]
    return Guarantee(
        scope=plan.scope,
        k=plan.k,
        columns=tuple(roles.columns),
        by=tuple(roles.by),
        kept=tuple(roles.keep),
        n_records=n,
        withheld=strata.withheld,
        n_groups=n_groups[0] if plan.scope == "joint" else dict(zip(roles.columns, n_groups, strict=True)),
        smallest=smallest,
        smallest_by_column=by_column,
        unit=roles.unit[0] if roles.unit else None,
        smallest_units=counts.get("unit"),
        smallest_units_by_column=units_by_column,
        household=roles.household[0] if roles.household else None,
        household_columns=tuple(plan.household_columns),
        k_household=plan.k_household if roles.household else None,
        smallest_households=counts.get("household"),
        sets=tuple(_count_set(published, own, roles.by, cells["unit"], n) for own in plan.sets),
        generalized=true,
        replaced=tuple(name for name in roles.columns if name not in true) if true or mixed else (),
        sensitive=tuple(roles.sensitive),
        diversity={promise.key: promise for promise in promises if not promise.is_closeness},
        closeness={promise.key: promise for promise in promises if promise.is_closeness},
    )


def _cells_of(frame: Frame, option: str, names: list[Hashable], rows: Any) -> list[Any] | None:
    return verify.cells_of_unit(frame, names[0], rows, option) if names else None


def _count_set(published: Any, own: ColumnSet, by: Sequence[Hashable], units: list[Any] | None, n: int) -> CountedSet:
    """The classes of a set; raise if one has fewer records, or units, than promised."""
    smallest, _ = verify.recounts(published, by, own.columns)
    verify.require(smallest, own.k, [*by, *own.columns], n)
    least = None if units is None else verify.require_units(published, [*by, *own.columns], units, own.k)
    return CountedSet(own.columns, own.k, smallest, least)
