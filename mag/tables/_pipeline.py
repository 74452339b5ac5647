"""A table in memory: check, then read → stratify → group → mask → build → recount → publish."""

import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.notice import working_on
from mag._lib.number import count_distinct, find_first_rows, number_by_first_row, number_rows
from mag._lib.progress import Progress, is_quiet
from mag._lib.roles import is_name, list_names, names_of
from mag._lib.wording import named
from mag.api.table_options import MICROAGGREGATE, Options
from mag.frames import Frame, collect_frame
from mag.frames.categories import CategoryCodes, categories_of, describe_category, is_category, order_of
from mag.frames.units import RefusedColumnError, Units
from mag.hierarchy import Hierarchy, hierarchy_of
from mag.tables._aggregate import representatives
from mag.tables._categories import ALLOWED, generalized_columns, mask_categories, mask_range
from mag.tables._codes import describe_lost_zeros, warn_of_codes
from mag.tables._compared import Original
from mag.tables._derived import publish_sum
from mag.tables._grouping import Comparable, TableGroups, constrain_groups, group_each, group_jointly
from mag.tables._guarantee import Guarantee, describe_kept
from mag.tables._households import check_one_value, group_households
from mag.tables._linked import describe_linked, warn_of_linked
from mag.tables._manifest import Provenance
from mag.tables._owners import Owners, group_columns_of_owners, group_owners, read_owners
from mag.tables._recount import recount
from mag.tables._release import Release, TableGrouping
from mag.tables._request import (
    GroupingPlan,
    Request,
    check_request,
    decimals_by_column,
    left_out,
    record_options,
)
from mag.tables._round import round_floats
from mag.tables._sensitive import check_feasible, constrain, failing_strata, orders_of, promises_of
from mag.tables._sets import group_sets
from mag.tables._special import SpecialCells, require_others, split_special
from mag.tables._strata import SmallStrataError, Strata, form_strata, sizes_of
from mag.tables.criteria.enforce import Constraint
from mag.tables.plan import plan_of
from mag.tables.repeats import warn_of_units


@dataclass(frozen=True)
class TableColumns:
    """The columns to mask as exact numbers, the decimals that floats are rounded to, and the records' weights.

    `owners` are the units and households of the records; `special` cells are missing in `units`.
    """

    units: dict[Hashable, Units | CategoryCodes]
    decimals: dict[Hashable, int]
    weights: np.ndarray | None
    owners: Owners = field(default_factory=Owners)
    special: dict[Hashable, SpecialCells] = field(default_factory=dict)
    sums: dict[Hashable, Units] = field(default_factory=dict)  # of all records of the table

    def select(self, rows: np.ndarray) -> "TableColumns":
        """The same of some records."""
        units = {name: unit.select(rows) for name, unit in self.units.items()}
        weights = None if self.weights is None else self.weights[rows]
        special = {name: own.select(rows) for name, own in self.special.items()}
        return TableColumns(units, self.decimals, weights, self.owners.select(rows), special, self.sums)

    def missing(self) -> dict[Hashable, np.ndarray]:
        """By column: which cells are missing, but for special ones; columns without any are left out."""
        found: dict[Hashable, np.ndarray] = {}
        for name, unit in self.units.items():
            if unit.missing is not None:
                absent = unit.missing & (self.special[name].place == 0) if name in self.special else unit.missing
                found |= {name: absent} if absent.any() else {}
        return found


@dataclass(frozen=True)
class Published:
    """The table to publish.

    `rows` are its records' positions in the original, None if they are the same; `permutation` is the shuffle of the
    published records, None without one.
    """

    data: Any
    rows: np.ndarray | None
    permutation: np.ndarray | None


@dataclass
class Clock:
    """Seconds that each stage took."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def lap(self, stage: str) -> None:
        """A stage ends now, and the next begins."""
        now = time.perf_counter()
        self.seconds[stage], self.last = now - self.last, now


def release_table(table: Any, options: Options) -> Release:
    """Mask a table, verify k on the published table, and return both."""
    clock = Clock()
    frame = collect_frame(table, lambda names: left_out(names, options))
    request = check_request(frame.names, options, lambda name: scale_of(frame, name, options))
    columns = read(frame, request)
    warn_of_codes(columns.units, request.plan.ks)
    if not (request.roles.unit or request.roles.household):
        warn_of_units(frame, request.roles.drop, request.roles.keep)
    strata = stratify(frame, columns, request)
    orders = orders_of(frame, request.roles.sensitive, request.options.order)
    constraints = constrain(frame, strata.rows, request.demands, orders)
    if request.options.small_strata == "suppress":
        while 0 < len(failing := failing_strata(constraints, strata.members())) < sizes_of(strata.stratum).size:
            strata = strata.without(failing)
            constraints = constrain(frame, strata.rows, request.demands, orders)
    check_feasible(request.demands, constraints, strata.members())
    if strata.withheld:
        columns = columns.select(strata.rows)
    clock.lap("read")
    groups = group(columns, strata, constraints, request)
    clock.lap("group")
    permutation = permute(strata.rows.size, request)
    masked = mask(frame, columns, groups, request, permutation)
    published = build(frame, masked, strata, request, permutation)
    clock.lap("mask")
    promises = promises_of(request.demands, constraints, orders)
    require_true(frame, published, columns.units, request)
    for name, values in (request.options.special or {}).items():
        verify.require_special(frame, published.data, published.rows, name, list(values))
    for name, parts in (request.options.sums or {}).items():
        own = columns.sums[name]
        decimals = columns.decimals.get(name, 0 if own.is_integer else None)
        step = None if decimals is None else own.step if own.is_integer else 10.0**-decimals
        verify.require_sum(published.data, name, names_of(parts, frame.names), step, own.precision)
    guarantee = recount(frame, published.data, published.rows, strata, groups, promises, request)
    clock.lap("recount")
    return make_release(frame, columns, published, strata, groups, guarantee, request, clock.seconds)


# ---- read


def read(frame: Frame, request: Request) -> TableColumns:
    """All numbers that are computed with, of all records."""
    verify.require_comparable(frame, request.roles.by)
    added = {name: _units(frame, name) for name in request.options.sums or ()}
    units = {name: _read_column(frame, name, request) for name in request.roles.columns if name not in added}
    floats = [name for name, unit in (units | added).items() if not unit.is_integer]
    decimals = decimals_by_column(request.options.round, floats)
    owners = read_owners(frame, request.roles.unit, request.roles.household)
    if request.plan.household_columns and owners.homes is not None:
        check_one_value(units, owners.homes, request.plan.household_columns)
    special = {}
    for name, values in (request.options.special or {}).items():
        units[name], special[name] = split_special(name, units[name], list(values))
    return TableColumns(units, decimals, read_weights(frame, request.options.weights), owners, special, added)


def scale_of(frame: Frame, name: Hashable, options: Options) -> str:
    """Numbers, or nominal or ordinal categories, with a hierarchy or without; numbers with a mode are codes."""
    tree = name in (options.hierarchies or ())
    ordered = name in (options.order or ())
    column = frame.column(name)
    how = options.aggregate.get(name) if isinstance(options.aggregate, Mapping) else None
    if not (tree or ordered or how in ALLOWED["nominal"] or is_category(column)):
        return "number"
    scale = "ordinal" if ordered or order_of(column) is not None else "nominal"
    asked = how if isinstance(options.aggregate, Mapping) else options.aggregate
    if scale == "nominal" and not tree and asked is None:
        raise InputTypeError(
            f"columns must hold numbers, dates or declared categories; {name!r} holds {describe_category(column)}, or "
            f"pass hierarchies=, order= or aggregate={{{name!r}: 'mode'}}, which publishes a value of each group."
        )
    return f"{scale} with a hierarchy" if tree else scale


def _read_column(frame: Frame, name: Hashable, request: Request) -> Units | CategoryCodes:
    options = request.options
    if request.plan.single or request.scales[name] == "number":
        return _units(frame, name)
    source, order = (options.hierarchies or {}).get(name), (options.order or {}).get(name)
    own = read_categories(frame, name, source, None if order is None else list(order), options.other == "root")
    if own.outside.any() and request.plan.aggregates[name] != "ancestor":
        how = request.plan.aggregates[name]
        raise InputValueError(f"values of {name!r} without a leaf need the aggregate 'ancestor'; got {how!r}.")
    return own


def read_categories(
    frame: Frame, name: Hashable, source: Any, order: list[Any] | None = None, other: bool = False, **remedy: str
) -> CategoryCodes:
    """A column of categories; `source` is the hierarchy that the caller passed.

    With `other`, values may be without a leaf.
    """
    option = f"hierarchies[{name!r}]"

    def finished(tree: Hierarchy) -> Hierarchy:
        return tree.with_other() if other else tree

    def make(values: list[Any]) -> Hierarchy:
        made = source(values)
        if not isinstance(made, Hierarchy):
            raise InputTypeError(
                f"{option} must make a mag.Hierarchy of the column's values; got {checks.describe(made)}."
            )
        return finished(made)

    is_rule = callable(source) and not isinstance(source, Hierarchy)
    tree = make if is_rule else None if source is None else finished(hierarchy_of(option, source))
    return categories_of(frame.column(name), name, tree, order, **remedy)


def _units(frame: Frame, name: Hashable, role: str = "columns") -> Units:
    try:
        units = frame.column(name).units()
    except RefusedColumnError as refused:
        raise InputTypeError(f"{role} must hold numbers, dates or times; {name!r} holds {refused}.") from None
    except InputValueError as error:
        raise InputValueError(f"column {name!r} has {error}") from None
    if not units.is_integer and not np.isfinite(units.values).all():
        count = int((~np.isfinite(units.values)).sum())
        raise InputValueError(f"column {name!r} has {count} infinite values; drop or replace them first.")
    return units


def read_weights(frame: Frame, weights: Any) -> np.ndarray | None:
    """The weight of every record, from a column or an array; None without any."""
    if weights is None:
        return None
    if is_name(weights, frame.names):
        units = _units(frame, weights, "weights")
        if units.missing is not None:
            raise InputValueError(
                f"weights must not have missing cells; got {int(units.missing.sum())} in {weights!r}."
            )
        values = units.values
    elif isinstance(weights, (str, bytes)):
        raise InputValueError(f"weights must name a column of the table or be an array; got {weights!r}.")
    else:
        from mag._lib.arrays import read

        values = read("weights", weights)[0]
    return checks.weights_for(values, frame.n).astype(np.float64)


# ---- stratify


def stratify(frame: Frame, columns: TableColumns, request: Request) -> Strata:
    """Which records are published, and which of them may share a group."""
    strata = _strata(frame, columns, request)
    n = strata.rows.size
    if n == 0:
        raise InputValueError("table must hold at least one record that can be published; got none.")
    most, of = n, "n"
    if columns.owners:
        units, homes = columns.owners.select(strata.rows).count(np.zeros(n, np.int64))
        most, of = int(units[0]), "n" if columns.owners.units is None else "the number of units"
        if columns.owners.homes is not None:
            checks.integer("k_household", request.plan.k_household, 1, int(homes[0]), "the number of households")
    for own in request.plan.sets:
        checks.integer(f"k of the set {own}", own.k, 1, most, of)
    for name, k in request.plan.ks.items():
        checks.integer("k" if request.plan.k_is_one else f"k[{name!r}]", k, 1, most, of)
    return strata


def _strata(frame: Frame, columns: TableColumns, request: Request) -> Strata:
    plan, policy, small_policy = request.plan, request.options.missing, request.options.small_strata
    missing = columns.missing()
    rows, pattern = np.arange(frame.n), None
    if missing and policy == "error":
        listed = ", ".join(f"{int(mask.sum())} in {name!r}" for name, mask in missing.items())
        raise InputValueError(
            f"columns have missing values: {listed}; pass {named('missing', 'group')} to group records that miss "
            f"the same cells, or {named('missing', 'drop')} to withhold them."
        )
    if missing and policy == "drop":
        rows = np.flatnonzero(~np.logical_or.reduce(list(missing.values())))
        missing = {}
    if (missing or columns.special) and not plan.per_column:
        masks = [mask.astype(np.int64) for mask in missing.values()]
        pattern = number_rows([*masks, *(own.place for own in columns.special.values())])
    least = max(plan.ks.values()) if _are_integers(plan) else 1
    by = [frame.column(name).codes() for name in request.roles.by]

    def too_small(rows: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        sizes = sizes_of(stratum)
        small = sizes < least
        if columns.owners and _are_integers(plan):
            small |= columns.owners.select(rows).are_few(stratum, plan)
        if plan.per_column:
            for name, mask in missing.items():
                for some in (np.flatnonzero(mask[rows]), np.flatnonzero(~mask[rows])):
                    own = stratum[some]
                    count = np.bincount(own, minlength=sizes.size)
                    if columns.owners.units is not None:
                        count = count_distinct(own, columns.owners.units[rows[some]], sizes.size)
                    small |= (count > 0) & (count < plan.ks[name])
        return small

    if not by and pattern is None and not (plan.per_column and missing):
        return Strata(frame.n, rows, np.zeros(rows.size, np.int64), [])
    try:
        return form_strata(frame.n, by, pattern, rows, too_small, small_policy)
    except SmallStrataError as error:
        least_k = f"k={plan.k}" if plan.k_is_one else "the k of each column"
        also = " (records that miss the same cells are one)" if missing else ""
        also = " (records with the same special values, and missing cells, are one)" if columns.special else also
        what = "records" if columns.owners.units is None else "units"
        what += "" if columns.owners.homes is None else f" of {plan.k_household} households"
        ways = ("suppress",) if small_policy == "merge" else ("merge", "suppress")
        remedy = f"pass {named('small_strata', *ways)}"
        if request.options.output is not None:  # of a file
            remedy = f"use fewer columns in by{', fewer to mask that miss cells' if missing else ''}"
        raise InputValueError(
            f"every stratum{also} must have at least {least_k} {what}: {error}; {remedy}, or a smaller k."
        ) from None


def _are_integers(plan: GroupingPlan) -> bool:
    """Whether k is a number; other forms are checked later."""
    return all(isinstance(k, (int, np.integer)) for k in (*plan.ks.values(), plan.k_household))


# ---- group


def group(columns: TableColumns, strata: Strata, constraints: list[Constraint], request: Request) -> TableGroups:
    """Groups of at least k records, or units, within the strata, for which the constraints hold."""
    followers = request.options.follow or ()
    comparable = Comparable({name: unit for name, unit in columns.units.items() if name not in followers}, request.plan)
    with working_on(quiet=is_quiet(request.progress)):
        if request.plan.per_column and columns.owners:
            groups = group_columns_of_owners(columns.units, strata, columns.owners, columns.weights, request)
        elif request.plan.per_column:
            groups = group_each(columns.units, strata, columns.weights, request)
        elif request.plan.sets:
            groups = group_sets(columns.units, strata, columns.owners, columns.weights, request)
        elif request.plan.household_columns:
            groups = group_households(columns.units, strata, columns.owners, columns.weights, request)
        elif columns.owners:
            groups = group_owners(comparable, strata, columns.owners, columns.weights, request)
        else:
            groups = group_jointly(comparable, strata, columns.weights, request, constraints)
        if constraints:
            groups = constrain_groups(groups, comparable, strata, constraints, request)
    if request.plan.single:
        Progress(request.progress).finish()  # compiled in one go, without progress in between
    return groups


# ---- mask


def permute(n: int, request: Request) -> np.ndarray | None:
    """The order to publish n records in; anyone who knows the seed can undo it."""
    if not request.options.shuffle:
        return None
    return (np.random.default_rng() if request.options.random_state is None else request.generator).permutation(n)


def mask(
    frame: Frame, columns: TableColumns, groups: TableGroups, request: Request, permutation: np.ndarray | None
) -> dict[Hashable, Any]:
    """The masked columns, in the dtypes and in the order that they are published in."""
    masked: dict[Hashable, Any] = {}
    homes = columns.owners.homes
    first = None if homes is None else find_first_rows(number_rows([homes]))  # the record that counts for a household
    for j, (name, unit) in enumerate(columns.units.items()):
        labels, n_groups = groups.of_column(j)
        aggregate, decimals = request.plan.aggregates[name], columns.decimals.get(name)
        column, weights = frame.column(name), columns.weights
        counted = first if name in request.plan.household_columns else None
        if isinstance(unit, CategoryCodes):
            if counted is not None:
                weights = _only(counted, labels.size, weights)
            masked[name] = mask_categories(column, unit, aggregate, labels, n_groups, weights, permutation)
            continue
        if aggregate == "range":
            masked[name] = mask_range(column, unit, labels, n_groups, decimals, permutation)
            continue
        own, of_own = unit, labels
        if counted is not None:
            own, of_own = unit.select(counted), labels[counted]
            weights = None if weights is None else weights[counted]
        values, missing = _representatives(own, of_own, n_groups, aggregate, weights, decimals), unit.missing
        if name in columns.special:
            require_others(name, unit, values[labels], request.options.special[name])
            values, labels, missing = columns.special[name].fill(values, labels, missing)
        if permutation is not None:
            labels, missing = labels[permutation], None if missing is None else missing[permutation]
        masked[name] = frame.column(name).to_column(values, labels, missing)
    for name, unit in columns.sums.items():
        parts = {part: masked[part] for part in names_of((request.options.sums or {})[name], frame.names)}
        masked[name] = publish_sum(frame.column(name), name, unit, parts, columns.decimals.get(name))
    return masked


def _only(rows: np.ndarray, n: int, weights: np.ndarray | None) -> np.ndarray:
    """Weights of n records, of which only these rows count."""
    own = np.zeros(n)
    own[rows] = 1.0 if weights is None else weights[rows]
    return own


def _representatives(
    unit: Units, labels: np.ndarray, n_groups: int, aggregate: str, weights: np.ndarray | None, decimals: int | None
) -> np.ndarray:
    values = unit.values
    if unit.missing is not None:
        there = ~unit.missing
        values, labels, weights = values[there], labels[there], None if weights is None else weights[there]
    if values.size == 0:
        return np.zeros(n_groups, values.dtype)
    short = representatives(aggregate, values, labels, n_groups, weights)
    return short if decimals is None else round_floats(short, decimals, unit.largest)


# ---- build


def build(
    frame: Frame, masked: dict[Hashable, Any], strata: Strata, request: Request, permutation: np.ndarray | None
) -> Published:
    """The table to publish, in fresh memory."""
    roles = request.roles
    order = strata.rows if permutation is None else strata.rows[permutation]
    rows = order if strata.withheld or permutation is not None else None
    for name, blank in zip(roles.by, strata.blank, strict=True):
        if blank is not None:
            masked[name] = blank_cells(frame, name, rows, blank if permutation is None else blank[permutation])
    names = [name for name in frame.names if name not in roles.unpublished]
    return Published(frame.build(rows, names, masked, request.options.shuffle), rows, permutation)


def blank_cells(frame: Frame, name: Hashable, rows: np.ndarray | None, blank: np.ndarray) -> Any:
    try:
        return frame.column(name).take(rows, blank)
    except RefusedColumnError as refused:
        raise InputValueError(
            f"{named('small_strata', 'merge')} would leave cells of {name!r} missing, but its dtype is {refused}; "
            f"convert it or pass {named('small_strata', 'suppress')}."
        ) from None


# ---- labels and ranges


def require_true(
    frame: Frame, published: Published, units: Mapping[Hashable, Units | CategoryCodes], request: Request
) -> None:
    """Reject a table in which a label or a range does not contain the original of a record."""
    aggregates = request.plan.aggregates
    for name in generalized_columns(aggregates):
        unit = units[name]
        is_label = aggregates[name] == "ancestor" and isinstance(unit, CategoryCodes)
        tree = unit.tree if is_label and isinstance(unit, CategoryCodes) else None
        order = (request.options.order or {}).get(name) or order_of(frame.column(name))
        is_number = isinstance(unit, Units)
        verify.require_true(
            frame, published.data, published.rows, name, tree, None if is_number or tree is not None else order
        )


# ---- publish


def make_release(
    frame: Frame,
    columns: TableColumns,
    published: Published,
    strata: Strata,
    groups: TableGroups,
    guarantee: Guarantee,
    request: Request,
    seconds: dict[str, float],
) -> Release:
    """The published table, with its groups, its guarantee, and advice for its publisher."""
    labels = groups.of_records
    if published.rows is not None:  # groups are numbered in the order of the original, which has changed
        labels = _number_groups(labels if published.permutation is None else labels[published.permutation])
    sizes: np.ndarray | dict[Hashable, np.ndarray]
    if labels.ndim == 2:
        sizes = {name: np.bincount(labels[:, j]) for j, name in enumerate(guarantee.columns)}
    else:
        sizes = np.bincount(labels)
    grouping = TableGrouping(
        labels=labels,
        sizes=sizes,
        n_groups=guarantee.n_groups,
        k=guarantee.k,
        scope=guarantee.scope,
        columns=guarantee.columns,
        by=guarantee.by,
        method=groups.method,
        complete=groups.complete,
    )
    linked = describe_linked(frame, strata.rows, request.roles.keep, columns.units)
    warn_of_linked(linked)
    of_original = linked | _describe_zeros(published.data, columns, request) | _describe_change(groups, request)
    warnings = (*_warnings(published.data, frame, columns, strata, groups, request), *of_original)
    recorded = record_options(request.options, request.roles, MICROAGGREGATE) | {"threads": request.threads}
    if set(request.plan.scales.values()) != {"number"}:  # chosen by the columns, unless the caller did
        recorded["standardize"] = request.plan.standardize
    provenance = Provenance.of(recorded, frame.n, frame.names, seconds)
    categories = {name: unit for name, unit in columns.units.items() if isinstance(unit, CategoryCodes)}
    if published.permutation is not None:
        categories = {name: unit.select(published.permutation) for name, unit in categories.items()}
    own = _groups_by_column(groups, published, request)
    plan = partial(plan_of, request.options, vars(request.roles), frame.names)
    original = Original(frame, published.rows, categories, tuple(request.options.files()), own, plan)
    return Release(
        published.data, guarantee, grouping, warnings, provenance, original, _linked=tuple(linked),
        _without_figures=tuple(of_original.items()),
    )  # fmt: skip


def _describe_zeros(data: Any, columns: TableColumns, request: Request) -> dict[str, str]:
    texts = generalized_columns(request.plan.aggregates)
    sentences: dict[str, str] = {}
    for name, unit in columns.units.items():
        if name not in texts:
            sentences |= describe_lost_zeros(name, unit, data, request.plan.ks[name])
    return sentences


def _describe_change(groups: TableGroups, request: Request) -> dict[str, str]:
    """That groups were changed for a criterion, with the numbers of groups and without."""
    if groups.n_before is None:
        return {}
    counted = [f"number of {option}s" for option in ("unit", "household") if getattr(request.roles, option)]
    what = " and ".join(dict.fromkeys(demand.option for demand in request.demands)) or " and ".join(counted)
    sentence = f"Groups were changed to meet the required {what}"
    return {f"{sentence}: {groups.n_before} before, {groups.n_groups[0]} after.": f"{sentence}."}


def _groups_by_column(groups: TableGroups, published: Published, request: Request) -> dict[Hashable, np.ndarray]:
    """The groups of columns of which each has its own, of the published records in their order."""
    if groups.labels.ndim == 1:
        return {}
    labels = groups.labels if published.permutation is None else groups.labels[published.permutation]
    return dict(zip(request.roles.columns, labels.T, strict=True))


def _warnings(
    data: Any, frame: Frame, columns: TableColumns, strata: Strata, groups: TableGroups, request: Request
) -> tuple[str, ...]:
    roles = request.roles
    warnings: list[str] = []
    for unit in columns.units.values():
        if isinstance(unit, CategoryCodes) and unit.tree is not None:
            warnings += unit.tree.warnings
    flat = [name for name, unit in columns.units.items() if isinstance(unit, CategoryCodes) and unit.tree is None]
    if flat := [str(name) for name in flat if not getattr(columns.units[name], "ordered", False)]:
        warnings.append(f"Values are treated as equally far apart, because there is no hierarchy: {', '.join(flat)}.")
    outside = [
        str(name) for name, unit in columns.units.items() if isinstance(unit, CategoryCodes) and unit.outside.any()
    ]
    if outside:
        warnings.append(f"Values without a leaf in their hierarchy are published as its root: {list_names(outside)}.")
    texts = [name for name in generalized_columns(request.plan.aggregates) if not is_category(frame.column(name))]
    if texts:
        warnings.append(f"Published as text: {list_names(texts)}.")
    published = [*roles.by, *roles.columns, *roles.keep, *roles.sensitive]
    if not request.options.shuffle and (note := frame.index_note(published, strata.withheld > 0)):
        warnings.append(note)
    if roles.keep:
        warnings.append(describe_kept(roles.keep))
    merged = [str(name) for name, blank in zip(roles.by, strata.blank, strict=True) if blank is not None]
    if merged:
        warnings.append(f"Small strata were pooled: cells of {list_names(merged)} are missing there.")
    free = [name for name in roles.sensitive if not any(name in demand.columns for demand in request.demands)]
    for name in free:
        least = verify.distinct(data, [*roles.by, *roles.columns], (name,))
        values = "a single value" if least == 1 else f"only {least} different values"
        warnings.append(f"No diversity or closeness was requested for {name}: at least one class has {values}.")
    if not groups.complete:
        warnings.append("time_limit ended the search: these are the best groups found until then.")
    return tuple(warnings)


def _number_groups(labels: np.ndarray) -> np.ndarray:
    """The same groups, numbered in the order of their first records; of every column where each has its own."""
    if labels.ndim == 2:
        return np.stack([number_by_first_row(own) for own in labels.T], axis=1)
    return number_by_first_row(labels)
