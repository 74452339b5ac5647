"""The request for a table: the role of every column, and how to group; all checks before it is read."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.nearest import ask_nearest
from mag._lib.roles import assign_roles, is_name, name_of_one, names_of, repeated_names
from mag._lib.wording import named
from mag.api.method import check_keywords
from mag.api.options import cost_of, generator_of, progress_of
from mag.api.table_options import ALWAYS, IF_USED, MICROAGGREGATE, OPTIONS, Options, accepted
from mag.costs import Cost
from mag.hierarchy import hierarchy_of
from mag.methods import METHODS
from mag.tables._aggregate import AGGREGATES
from mag.tables._categories import ALLOWED, WEIGHTED
from mag.tables._column_sets import ColumnSet, largest_k, read_sets
from mag.tables._derived import check_sources, derived_columns
from mag.tables._sensitive import SensitiveDemand, demands_of, sensitive_columns
from mag.tables._special import check_special
from mag.tables._words import is_name_of_units

WITHHELD = "withheld: it would undo the shuffle"
OF_COST = {"mid-range": "mid_range", "rounded mean": "mean"}  # representatives of costs that are called otherwise here


@dataclass(frozen=True)
class ColumnRoles:
    """The role of every column."""

    columns: list[Hashable]
    by: list[Hashable]
    keep: list[Hashable]
    drop: list[Hashable]
    sensitive: list[Hashable] = field(default_factory=list)
    unit: list[Hashable] = field(default_factory=list)  # the column that k counts the values of, or no column
    household: list[Hashable] = field(default_factory=list)  # the column of households, or no column

    @property
    def unpublished(self) -> frozenset[Hashable]:
        """Columns that are not published."""
        return frozenset([*self.drop, *self.unit, *self.household])


@dataclass(frozen=True)
class GroupingPlan:
    """How columns are grouped; `single` where each is grouped by itself, at the least cost that is possible."""

    scope: str
    single: bool
    ks: dict[Hashable, int]
    k_is_one: bool
    scales: dict[Hashable, str]
    cost: Cost
    aggregates: dict[Hashable, str]
    standardize: bool | Literal["range"]
    method: str
    importance: dict[Hashable, float] = field(default_factory=dict)
    sets: Sequence[ColumnSet] = ()
    household_columns: Sequence[Hashable] = ()
    k_household: int = 1

    def of(self, names: Sequence[Hashable], k: int) -> "GroupingPlan":
        """The same for some columns, by themselves, and another k."""
        single = len(names) == 1 and self.scales[names[0]] == "number"
        return replace(self, single=single, ks=dict.fromkeys(names, k))

    @property
    def per_column(self) -> bool:
        """Whether every column has groups of its own."""
        return self.scope == "per-column"

    @property
    def k(self) -> int | dict[Hashable, int]:
        """As the caller wrote it."""
        return next(iter(self.ks.values())) if self.k_is_one else dict(self.ks)


@dataclass(frozen=True)
class Request:
    """Checked options; `scales` are those of the masked columns."""

    options: Options
    roles: ColumnRoles
    plan: GroupingPlan
    scales: dict[Hashable, str]
    demands: Sequence[SensitiveDemand]
    generator: np.random.Generator
    threads: int
    progress: bool | Callable[[float], Any] | None


def check_request(
    names: Sequence[Hashable], options: Options, scale_of: Callable[[Hashable], str] = lambda name: "number"
) -> Request:
    """Make all checks that need no column; `scale_of` gives the scale of each column."""
    check_choices(options)
    check_keywords("microaggregate", options.of_method, accepted(MICROAGGREGATE))
    demands = demands_of(options.diversity, options.closeness, names)
    roles = roles_of(names, options, demands)
    follow_or_sum = {*(options.follow or ()), *(options.sums or ())}
    grouped = [name for name in roles.columns if name not in follow_or_sum]
    check_names_of("hierarchies", options.hierarchies, grouped)
    ranked = [demand.columns[0] for demand in demands if demand.follows_ranks]
    check_names_of("order", options.order, [*grouped, *ranked], "masked, or compared by closeness over ranks")
    _check_entries(options)
    if options.enforce != "auto" and not demands:
        raise InputValueError(f"enforce is not used without diversity= or closeness=; got {options.enforce!r}.")
    check_names_of("importance", options.importance, grouped)
    check_names_of("special", options.special, grouped)
    if options.other != "error" and not options.hierarchies:
        raise InputValueError(f"other is not used without hierarchies; got {options.other!r}.")
    scales = {name: "number" if options.scope == "per-column" else scale_of(name) for name in grouped}
    plan = plan_of(grouped, options, scales)
    check_sources(options, scales, plan.aggregates)
    if roles.unit or roles.household or plan.sets:
        _check_counts_used(plan, demands, "sets" if plan.sets else "unit" if roles.unit else "household")
    if options.special and plan.per_column:
        raise InputValueError(f"special is for {named('scope', 'joint')}; got {named('scope', 'per-column')}.")
    check_special(options.special, scales, plan.aggregates)
    if derived := roles.columns[len(grouped) :]:
        plan = replace(
            plan,
            aggregates=plan.aggregates | dict.fromkeys(derived, "mean"),
            ks=plan.ks | dict.fromkeys(derived, max(plan.ks.values())),
        )
        scales |= dict.fromkeys(derived, "number")
    checks.flag("shuffle", options.shuffle)
    generator = generator_of(options.random_state)
    threads = checks.thread_count("threads", options.threads)
    if plan.single:
        checks.unused("time_limit", options.time_limit, "columns that are grouped by themselves")
    checks.seconds("time_limit", options.time_limit)
    progress = progress_of(options.progress)
    if options.small_strata != "error" and not (roles.by or options.special or options.missing == "group"):
        option, group = named("small_strata"), named("missing", "group")
        raise InputValueError(f"{option} is not used without by= or {group}; got {options.small_strata!r}.")
    return Request(options, roles, plan, scales, demands, generator, threads, progress)


def check_choices(options: Options) -> None:
    """Every option that is one of a few words."""
    for name, option in OPTIONS.items():
        if option.choices:
            checks.one_of(name, getattr(options, name), option.choices)


def record_options(options: Options, roles: ColumnRoles, function: str) -> dict[str, Any]:
    """The options for the manifest: names instead of objects, and no seed that would undo a shuffle."""
    own = accepted(function)
    names = [name for when in (ALWAYS, IF_USED) for name in own if own[name].recorded == when]
    recorded = {name: getattr(options, name) for name in ("k", "columns", *names)} | vars(roles)
    derived = {*(options.follow or ()), *(options.sums or ())}
    recorded["columns"] = [name for name in roles.columns if name not in derived]
    used = {name for name in names if own[name].recorded == ALWAYS or options.is_used(name)}
    if roles.sensitive:
        used.add("sensitive")
    if options.diversity is not None or options.closeness is not None:
        used.add("enforce")
    for name in ("unit", "household"):
        if name in used:
            (recorded[name],) = getattr(roles, name)
    if "household_columns" in used:
        recorded["household_columns"] = names_of(options.household_columns, roles.columns)
    if "sets" in used:
        recorded["sets"] = [[[*own.columns], own.k] for own in read_sets(options.sets, roles.columns, options.k)]
    for name in ("cost", "weights"):  # objects and arrays
        if name in used:
            recorded[name] = _name_of(recorded[name])
    for name in ("hierarchies", "order"):  # which columns have one: trees may be made of the values
        if name in used:
            recorded[name] = list(recorded[name])
    if options.shuffle:
        recorded["random_state"] = WITHHELD
    return {name: recorded[name] for name in recorded if name in used or name in ("k", "columns")} | options.of_method


def _name_of(option: Any) -> Any:
    """The value of an option in a manifest: an object's name, any other value as it is."""
    if option is None or isinstance(option, (str, int)):
        return option
    return getattr(option, "name", type(option).__name__)


def roles_of(names: Sequence[Hashable], options: Options, demands: Sequence[SensitiveDemand]) -> ColumnRoles:
    """The role of every column; each has exactly one."""
    requested = {"columns": options.columns, "by": options.by, "keep": options.keep, "drop": options.drop}
    masked, listed = names_of(options.columns, names), names_of(options.sensitive, names)
    requested["columns"] = [*masked, *derived_columns(options, names, masked)] if masked else options.columns
    if sensitive := sensitive_columns(demands, listed, masked):
        if options.scope == "per-column":
            raise InputValueError(
                f"sensitive, diversity and closeness are for {named('scope', 'joint')}; got "
                f"{named('scope', 'per-column')}."
            )
        kept = names_of(options.keep, names)  # a column of diversity or closeness may be listed there as well
        requested["keep"] = [name for name in kept if name in listed or name not in sensitive]
        requested["sensitive"] = sensitive
    for option in ("unit", "household"):
        if getattr(options, option) is not None:
            own = [name_of_one(option, getattr(options, option), names)]
            if options.scope == "per-column" and option == "household":
                raise InputValueError(f"{option} is for {named('scope', 'joint')}; got {named('scope', 'per-column')}.")
            requested["drop"] = [name for name in names_of(requested["drop"], names) if name != own[0]]
            requested[option] = own
    return ColumnRoles(**assign_roles(requested, names, rest=None if options.rest == "error" else options.rest))


def left_out(names: Sequence[Hashable], options: Options) -> list[Hashable]:
    """The columns of a lazy frame that are not read: dropped ones but for weights and columns called like units."""
    demands = demands_of(options.diversity, options.closeness, names)
    dropped = roles_of(names, options, demands).drop
    return [name for name in dropped if not is_name(options.weights, [name]) and not is_name_of_units(name)]


def _check_counts_used(plan: GroupingPlan, demands: Sequence[SensitiveDemand], option: str) -> None:
    """Reject options that count records in classes of all columns, and costs whose groups could not be compared."""
    if demands:
        raise InputValueError(f"{option} is not used with diversity or closeness, which count records; leave one out.")
    if plan.cost.name != "sse":
        raise InputValueError(f"{option} is for the cost 'sse'; got cost {plan.cost.name!r}.")


def _household_of(options: Options, columns: list[Hashable]) -> tuple[list[Hashable], int]:
    """The columns of households, and the smallest number of households of a class; 1 without households."""
    own = names_of(options.household_columns, columns)
    if options.household is None:
        for name in ("household_columns", "k_household"):
            if options.is_used(name):
                raise InputValueError(f"{named(name)} is not used without household=; leave it out.")
        return [], 1
    if repeated := repeated_names(own):
        raise InputValueError(
            f"{named('household_columns')} must name every column once; got {repeated[0]!r} more than once."
        )
    if wrong := [name for name in own if name not in columns]:
        question = ask_nearest(wrong[0], columns) or "."
        raise InputValueError(
            f"{named('household_columns')} must name columns that are masked; got "
            f"{', '.join(map(repr, wrong))}{question}"
        )
    return own, options.k if options.k_household is None else options.k_household


def _sets_of(options: Options, columns: list[Hashable]) -> list[ColumnSet]:
    if options.sets is None:
        return []
    for name in ("household", "cost"):
        checks.unused(name, getattr(options, name), "sets=")
    if options.scope != "joint":
        raise InputValueError(f"sets is for {named('scope', 'joint')}; got {named('scope', options.scope)}.")
    return read_sets(options.sets, columns, options.k)


def check_names_of(option: str, setting: Any, columns: list[Hashable], role: str = "masked") -> None:
    """An option by column, of columns that are used so."""
    if setting is None:
        return
    if not isinstance(setting, Mapping):
        raise InputTypeError(f"{option} must be a dictionary by column; got {checks.describe(setting)}.")
    if wrong := [name for name in setting if name not in columns]:
        question = ask_nearest(wrong[0], columns) or "."
        raise InputValueError(
            f"{option} must name columns that are {role}; got {', '.join(map(repr, wrong))}{question}"
        )


def _check_entries(options: Options) -> None:
    """Refuse an entry without a hierarchy, and one that is no list of values."""
    for name, source in (options.hierarchies or {}).items():
        if source is None:
            hierarchy_of(f"hierarchies[{name!r}]", source)  # says what it may be
    for name, values in (options.order or {}).items():
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise InputTypeError(f"order[{name!r}] must list the values in order; got {checks.describe(values)}.")


def plan_of(columns: list[Hashable], options: Options, scales: dict[Hashable, str]) -> GroupingPlan:
    """How these columns are grouped."""
    check_names_of("aggregate", options.aggregate if isinstance(options.aggregate, Mapping) else None, columns)
    numbers = set(scales.values()) == {"number"}
    sets, (household_columns, k_household) = _sets_of(options, columns), _household_of(options, columns)
    single = options.scope == "per-column" or (len(columns) == 1 and numbers)
    if single:
        _check_categories_unused(columns, options)
    aggregate = _one_aggregate(columns, options, single)
    ks = largest_k(sets) if sets else sizes_by_column(options.k, columns, options.scope)
    checks.one_of("method", options.method, ["auto", *METHODS])
    ranged = options.scope == "joint"  # whether ranges may be published
    if aggregate is not None and numbers and not (ranged and aggregate == "range"):
        checks.one_of("aggregate", aggregate, [*AGGREGATES, "range"] if ranged else AGGREGATES)
    if single:
        cost = _cost_of_single(options)
        aggregates = dict.fromkeys(columns, _aggregate_of_single(aggregate, cost, ranged))
        if options.weights is not None and not cost.takes_weights:
            raise InputValueError(f"weights are used by the costs 'sae' and 'sse' only; got cost {cost.name!r}.")
        standardize: bool | Literal["range"] = False
    else:
        cost, aggregates = cost_of("cost", "sse"), aggregates_of(options.aggregate, scales)
        averaged = any(scales[name] == "number" and how != "range" for name, how in aggregates.items())
        standardize = _standardize_jointly(options, averaged or numbers)
        if options.weights is not None:
            _check_weights_used(aggregates, numbers)
    importance = {name: checks.positive(f"importance[{name!r}]", x) for name, x in (options.importance or {}).items()}
    one_k = not isinstance(options.k, dict) and len({own.k for own in sets}) < 2
    return GroupingPlan(
        "sets" if sets else options.scope, single, ks, one_k, scales, cost, aggregates, standardize, options.method,
        importance, sets, household_columns, k_household,
    )  # fmt: skip


def _one_aggregate(columns: list[Hashable], options: Options, single: bool) -> Any:
    """The aggregate of all columns; None where each may have its own."""
    if not isinstance(options.aggregate, Mapping):
        return options.aggregate
    if single and len(columns) > 1:
        raise InputValueError(
            f"aggregate must be one for all columns with {named('scope', 'per-column')}; got a dictionary."
        )
    return options.aggregate.get(columns[0]) if len(columns) == 1 else None


# ---- columns that are grouped by themselves


def _check_categories_unused(columns: list[Hashable], options: Options) -> None:
    ordered = any(name in columns for name in options.order or ())  # sensitive columns may be, too
    unused = {"hierarchies": options.hierarchies, "importance": options.importance}
    for option, setting in (unused | {"order": options.order if ordered else None}).items():
        checks.unused(option, setting, "numbers that are grouped by themselves")


def _cost_of_single(options: Options) -> Cost:
    """The cost of a single column, whose optimum is known: neither a method nor its options are used."""
    why = named("scope", "per-column") if options.scope == "per-column" else "a single column"
    why += ", whose optimum is known"
    for name in ("method", "standardize"):
        if options.is_used(name):
            raise InputValueError(f"{name} is not used with {why}; leave it out.")
    if options.of_method:
        raise InputTypeError(f"{', '.join(options.of_method)} is not used with {why}; leave it out.")
    return cost_of("cost", "sse" if options.cost is None else options.cost)


def _aggregate_of_single(aggregate: str | None, cost: Cost, ranged: bool) -> str:
    if ranged and aggregate == "range":
        return aggregate
    how = OF_COST.get(cost.representative, cost.representative)
    if aggregate not in (None, how):
        raise InputValueError(f"aggregate must be {how!r} with cost {cost.name!r}; got {aggregate!r}.")
    return how


# ---- records that are grouped jointly


def _standardize_jointly(options: Options, averaged: bool) -> bool | Literal["range"]:
    """How columns are measured; neither a cost nor options of arrays are used.

    Where categories, and numbers only as ranges, are published, `Release.ncp` is the loss: standard deviations give 15
    to 35 % more of it.  Ranges and losses as units would double the information loss of numbers that are averaged.
    """
    checks.unused("cost", options.cost, "records of several columns that are grouped jointly")
    standardize = options.standardize
    if standardize is None:
        standardize = True if averaged else "range"
    elif standardize != "range":
        standardize = checks.flag("standardize", standardize)
    for option in ("integer", "return_scores"):
        if option in options.of_method:
            raise InputTypeError(f"{option} is not used by microaggregate; leave it out, or use mag.multivariate.")
    return standardize


def _check_weights_used(aggregates: dict[Hashable, str], numbers: bool) -> None:
    if set(WEIGHTED) & set(aggregates.values()):
        return
    got = ", ".join(map(repr, dict.fromkeys(aggregates.values())))
    names = "'mean' and 'median'" if numbers else "'mean', 'median', 'medoid', 'mode'"
    raise InputValueError(f"weights are used by the aggregates {names} only; got {got}.")


def aggregates_of(aggregate: Any, scales: dict[Hashable, str]) -> dict[Hashable, str]:
    """The aggregate of every column: one for all, or one for each, as far as its scale allows."""
    aggregates = {}
    for name, scale in scales.items():
        how = aggregate.get(name) if isinstance(aggregate, Mapping) else aggregate
        allowed = ALLOWED[scale]
        if how is not None and how not in allowed:
            listed = ", ".join(map(repr, sorted(allowed)))
            raise InputValueError(
                f"aggregate of {name!r} ({scale}) must be one of {listed}; got {checks.describe(how)}."
                if scale != "number" or isinstance(aggregate, Mapping)
                else f"aggregate must be one of {listed}; got {checks.describe(how)}."
            )
        aggregates[name] = how or allowed[0]
    return aggregates


def sizes_by_column(k: Any, columns: list[Hashable], scope: str) -> dict[Hashable, int]:
    """The k of every column."""
    if not isinstance(k, dict):
        return dict.fromkeys(columns, k)
    if scope != "per-column":
        raise InputTypeError(
            f"k must be an integer with {named('scope', 'joint')}; got a dictionary, which is for "
            f"{named('scope', 'per-column')}."
        )
    if set(k) != set(columns):
        listed = ", ".join(map(repr, k))
        raise InputValueError(f"k must have an entry for every one of columns and no other; got {listed}.")
    return {name: k[name] for name in columns}


def decimals_by_column(decimals: Any, floats: list[Hashable]) -> dict[Hashable, int]:
    """How many decimals each column of floats is rounded to."""
    if decimals is None:
        return {}
    each = decimals if isinstance(decimals, dict) else dict.fromkeys(floats, decimals)
    wrong = [repr(name) for name in each if name not in floats]
    if wrong or not each:
        listed = ", ".join(wrong) or "none"
        raise InputValueError(f"round is for columns of floats among columns; got {listed}.")
    return {name: checks.integer("round", digits, -300, 300, "most") for name, digits in each.items()}
