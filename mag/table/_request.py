"""What is requested of a table: the role of every column, and how to group; all that is checked before it is read."""

import pathlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.identity import find_files
from mag._lib.roles import assign_roles, names_of
from mag.api.options import cost_of, generator_of, progress_of
from mag.api.types import AnyCost, BackendName
from mag.costs import Cost
from mag.enforce import ENFORCE
from mag.methods import METHODS
from mag.table._aggregate import AGGREGATES
from mag.table._categories import ALLOWED, WEIGHTED
from mag.table._sensitive import Demand, demands_of, sensitive_columns

SCOPES = ("joint", "per-column")
MISSING_POLICIES = ("drop", "error", "group")
SMALL_STRATA = ("error", "merge", "suppress")
REST = ("drop", "error", "keep")
OTHER = ("error", "root")
OF_COST = {"mid-range": "mid_range", "rounded mean": "mean"}  # representatives of costs that are called otherwise here


@dataclass(frozen=True, kw_only=True)
class Options:
    """What the caller of `mag.microaggregate` wrote, unchecked; in the order of the manifest."""

    k: Any
    columns: Any
    by: Any
    method: str
    scope: str
    cost: AnyCost | None
    aggregate: Any
    weights: Any
    standardize: bool | Literal["range"] | None
    missing: str
    small_strata: str
    round: Any
    keep: Any
    drop: Any
    rest: str
    shuffle: bool
    random_state: Any
    backend: BackendName
    threads: int | None
    time_limit: float | None
    of_method: dict[str, Any]
    hierarchies: Any = None
    order: Any = None
    importance: Any = None
    sensitive: Any = ()
    diversity: Any = None
    closeness: Any = None
    enforce: str = "auto"
    other: str = "error"

    def files(self) -> list[pathlib.Path]:
        """The files that these options name, and the call reads."""
        trees = self.hierarchies.values() if isinstance(self.hierarchies, Mapping) else ()
        return [path.absolute() for path in find_files(*trees)]


@dataclass(frozen=True)
class Roles:
    """The role of every column."""

    columns: list[Hashable]
    by: list[Hashable]
    keep: list[Hashable]
    drop: list[Hashable]
    sensitive: list[Hashable] = field(default_factory=list)

    def recorded(self) -> dict[str, list[Hashable]]:
        """For the manifest: sensitive columns only where there are any."""
        return {role: names for role, names in vars(self).items() if names or role != "sensitive"}


@dataclass(frozen=True)
class Plan:
    """How columns are grouped; `single` where each is grouped by itself, at the least cost that is possible."""

    scope: str
    single: bool
    ks: dict[Hashable, int]
    k_is_one: bool
    cost: Cost
    aggregates: dict[Hashable, str]
    standardize: bool | Literal["range"]
    method: str
    importance: dict[Hashable, float] = field(default_factory=dict)

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
    """Checked options."""

    options: Options
    roles: Roles
    plan: Plan
    generator: np.random.Generator
    threads: int
    progress: bool | Callable[[float], Any] | None
    demands: Sequence[Demand] = ()


def check_request(
    names: Sequence[Hashable],
    options: Options,
    progress: Any = None,
    scale_of: Callable[[Hashable], str] = lambda name: "number",
) -> Request:
    """All that can be checked before a column is read; `scale_of` says which columns are no numbers."""
    roles = roles_of(names, options)
    check_names_of("hierarchies", options.hierarchies, roles.columns)
    demands = demands_of(options.diversity, options.closeness, names)
    ranked = [demand.columns[0] for demand in demands if demand.follows_ranks]
    check_names_of("order", options.order, [*roles.columns, *ranked], "masked, or compared by closeness over ranks")
    checks.one_of("enforce", options.enforce, ["auto", *ENFORCE])
    if options.enforce != "auto" and not demands:
        raise InputValueError(f"enforce is not used without diversity= or closeness=; got {options.enforce!r}.")
    check_names_of("importance", options.importance, roles.columns)
    if checks.one_of("other", options.other, OTHER) != "error" and not options.hierarchies:
        raise InputValueError(f"other is not used without hierarchies; got {options.other!r}.")
    checks.one_of("missing", options.missing, MISSING_POLICIES)
    checks.one_of("small_strata", options.small_strata, SMALL_STRATA)
    scales = {name: "number" if options.scope == "per-column" else scale_of(name) for name in roles.columns}
    plan = plan_of(roles.columns, options, scales)
    checks.flag("shuffle", options.shuffle)
    generator = generator_of(options.random_state)
    threads = checks.thread_count("threads", options.threads)
    if plan.single:
        checks.unused("time_limit", options.time_limit, "columns that are grouped by themselves")
    progress = progress_of(progress)
    if options.small_strata != "error" and not roles.by and options.missing != "group":
        raise InputValueError(f"small_strata is not used without by= or missing='group'; got {options.small_strata!r}.")
    return Request(options, roles, plan, generator, threads, progress, demands)


def roles_of(names: Sequence[Hashable], options: Options) -> Roles:
    """The role of every column, each of which has one."""
    rest = checks.one_of("rest", options.rest, REST)
    requested = {"columns": options.columns, "by": options.by, "keep": options.keep, "drop": options.drop}
    demands = demands_of(options.diversity, options.closeness, names)
    masked, listed = names_of(options.columns, names), names_of(options.sensitive, names)
    if sensitive := sensitive_columns(demands, listed, masked):
        if options.scope == "per-column":
            raise InputValueError("sensitive, diversity and closeness are for scope='joint'; got scope='per-column'.")
        kept = names_of(options.keep, names)  # a column that something is demanded of may be listed there as well
        requested["keep"] = [name for name in kept if name in listed or name not in sensitive]
        requested["sensitive"] = sensitive
    return Roles(**assign_roles(requested, names, rest=None if rest == "error" else rest))


def check_names_of(option: str, setting: Any, columns: list[Hashable], role: str = "masked") -> None:
    """An option by column, of columns that are used so."""
    if setting is None:
        return
    if not isinstance(setting, Mapping):
        raise InputTypeError(f"{option} must be a dictionary by column; got {checks.describe(setting)}.")
    if wrong := [repr(name) for name in setting if name not in columns]:
        raise InputValueError(f"{option} must name columns that are {role}; got {', '.join(wrong)}.")


def plan_of(columns: list[Hashable], options: Options, scales: dict[Hashable, str]) -> Plan:
    """How these columns are grouped."""
    scope, method, standardize = options.scope, options.method, options.standardize
    weighted, numbers = options.weights is not None, set(scales.values()) == {"number"}
    checks.one_of("scope", scope, SCOPES)
    check_names_of("aggregate", options.aggregate if isinstance(options.aggregate, Mapping) else None, columns)
    single = scope == "per-column" or (len(columns) == 1 and numbers)
    if single:
        ordered = any(name in columns for name in options.order or ())  # sensitive columns may be, too
        unused = {"hierarchies": options.hierarchies, "importance": options.importance}
        for option, setting in (unused | {"order": options.order if ordered else None}).items():
            checks.unused(option, setting, "numbers that are grouped by themselves")
    ranged = not single or scope == "joint"
    aggregate = options.aggregate
    if isinstance(aggregate, Mapping):
        if single and len(columns) > 1:
            raise InputValueError("aggregate must be one for all columns with scope='per-column'; got a dictionary.")
        aggregate = aggregate.get(columns[0]) if len(columns) == 1 else None
    ks = sizes_by_column(options.k, columns, scope)
    checks.one_of("method", method, ["auto", *METHODS])
    if aggregate is not None and numbers and not (ranged and aggregate == "range"):
        checks.one_of("aggregate", aggregate, [*AGGREGATES, "range"] if ranged else AGGREGATES)
    if single:
        why = "scope='per-column'" if scope == "per-column" else "a single column"
        why += ", whose optimum is known"
        if method != "auto":
            raise InputValueError(f"method is not used with {why}; leave it out.")
        if standardize is not None:
            raise InputValueError(f"standardize is not used with {why}; leave it out.")
        if options.of_method:
            raise InputTypeError(f"{', '.join(options.of_method)} is not used with {why}; leave it out.")
        cost = cost_of("cost", "sse" if options.cost is None else options.cost)
        how = OF_COST.get(cost.representative, cost.representative)
        if aggregate not in (None, how) and not (ranged and aggregate == "range"):
            raise InputValueError(f"aggregate must be {how!r} with cost {cost.name!r}; got {aggregate!r}.")
        if weighted and not cost.takes_weights:
            raise InputValueError(f"weights are used by the costs 'sae' and 'sse' only; got cost {cost.name!r}.")
    else:
        checks.unused("cost", options.cost, "records of several columns that are grouped jointly")
        cost, how = cost_of("cost", "sse"), "mean"
        if standardize != "range":
            standardize = True if standardize is None else checks.flag("standardize", standardize)
        for option in ("integer", "return_scores"):
            if option in options.of_method:
                raise InputTypeError(f"{option} is not used by microaggregate; leave it out, or use mag.multivariate.")
    aggregates = dict.fromkeys(columns, "range" if aggregate == "range" and ranged else how)
    if not single:
        aggregates = aggregates_of(options.aggregate, scales)
        if weighted and not set(WEIGHTED) & set(aggregates.values()):
            got = ", ".join(map(repr, dict.fromkeys(aggregates.values())))
            also = "" if numbers else ", 'medoid', 'mode'"
            names = "'mean' and 'median'" if numbers else f"'mean', 'median'{also}"
            raise InputValueError(f"weights are used by the aggregates {names} only; got {got}.")
    importance = {name: checks.positive(f"importance[{name!r}]", x) for name, x in (options.importance or {}).items()}
    one_k = not isinstance(options.k, dict)
    return Plan(scope, single, ks, one_k, cost, aggregates, standardize or False, method, importance)


def aggregates_of(aggregate: Any, scales: dict[Hashable, str]) -> dict[Hashable, str]:
    """What the groups of every column are replaced by: one for all, or one for each, as far as its scale allows."""
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
            "k must be an integer with scope='joint'; got a dictionary, which is for scope='per-column'."
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
