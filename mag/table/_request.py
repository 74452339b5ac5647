"""What is requested of a table: the role of every column, and how to group; all that is checked before it is read."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.roles import assign_roles
from mag.api.options import cost_of, generator_of, progress_of
from mag.api.types import AnyCost, BackendName
from mag.costs import Cost
from mag.methods import METHODS
from mag.table._aggregate import AGGREGATES, WEIGHTED

SCOPES = ("joint", "per-column")
MISSING = ("drop", "error", "group")
SMALL_STRATA = ("error", "merge", "suppress")
REST = ("drop", "error", "keep")
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
    aggregate: str | None
    weights: Any
    standardize: bool | None
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


@dataclass(frozen=True)
class Roles:
    """The role of every column."""

    columns: list[Hashable]
    by: list[Hashable]
    keep: list[Hashable]
    drop: list[Hashable]


@dataclass(frozen=True)
class Plan:
    """How columns are grouped; `single` where each is grouped by itself, at the least cost that is possible."""

    scope: str
    single: bool
    ks: dict[Hashable, int]
    k_is_one: bool
    cost: Cost
    aggregates: dict[Hashable, str]
    standardize: bool
    method: str

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


def check_request(names: Sequence[Hashable], options: Options, progress: Any = None) -> Request:
    """All that can be checked before a column is read."""
    roles = roles_of(names, options)
    checks.one_of("missing", options.missing, MISSING)
    checks.one_of("small_strata", options.small_strata, SMALL_STRATA)
    plan = plan_of(roles.columns, options)
    checks.flag("shuffle", options.shuffle)
    generator = generator_of(options.random_state)
    threads = checks.thread_count("threads", options.threads)
    if plan.single:
        checks.unused("time_limit", options.time_limit, "columns that are grouped by themselves")
    progress = progress_of(progress)
    if options.small_strata != "error" and not roles.by and options.missing != "group":
        raise ValueMistake(f"small_strata is not used without by= or missing='group'; got {options.small_strata!r}.")
    return Request(options, roles, plan, generator, threads, progress)


def roles_of(names: Sequence[Hashable], options: Options) -> Roles:
    """The role of every column, each of which has one."""
    rest = checks.one_of("rest", options.rest, REST)
    requested = {"columns": options.columns, "by": options.by, "keep": options.keep, "drop": options.drop}
    return Roles(**assign_roles(requested, names, rest=None if rest == "error" else rest))


def plan_of(columns: list[Hashable], options: Options) -> Plan:
    """How these columns are grouped."""
    scope, method, aggregate, standardize = options.scope, options.method, options.aggregate, options.standardize
    weighted = options.weights is not None
    checks.one_of("scope", scope, SCOPES)
    single = scope == "per-column" or len(columns) == 1
    ks = sizes_by_column(options.k, columns, scope)
    checks.one_of("method", method, ["auto", *METHODS])
    if aggregate is not None:
        checks.one_of("aggregate", aggregate, AGGREGATES)
    if single:
        why = "scope='per-column'" if scope == "per-column" else "a single column"
        why += ", whose optimum is known"
        if method != "auto":
            raise ValueMistake(f"method is not used with {why}; leave it out.")
        if standardize is not None:
            raise ValueMistake(f"standardize is not used with {why}; leave it out.")
        if options.of_method:
            raise TypeMistake(f"{', '.join(options.of_method)} is not used with {why}; leave it out.")
        cost = cost_of("cost", "sse" if options.cost is None else options.cost)
        how = OF_COST.get(cost.representative, cost.representative)
        if aggregate not in (None, how):
            raise ValueMistake(f"aggregate must be {how!r} with cost {cost.name!r}; got {aggregate!r}.")
        if weighted and not cost.takes_weights:
            raise ValueMistake(f"weights are used by the costs 'sae' and 'sse' only; got cost {cost.name!r}.")
    else:
        checks.unused("cost", options.cost, "records of several columns that are grouped jointly")
        cost, how = cost_of("cost", "sse"), aggregate or "mean"
        if weighted and how not in WEIGHTED:
            raise ValueMistake(f"weights are used by the aggregates 'mean' and 'median' only; got {how!r}.")
        standardize = True if standardize is None else checks.flag("standardize", standardize)
        for option in ("integer", "return_scores"):
            if option in options.of_method:
                raise TypeMistake(f"{option} is not used by microaggregate; leave it out, or use mag.multivariate.")
    aggregates = dict.fromkeys(columns, how)
    return Plan(scope, single, ks, not isinstance(options.k, dict), cost, aggregates, bool(standardize), method)


def sizes_by_column(k: Any, columns: list[Hashable], scope: str) -> dict[Hashable, int]:
    """The k of every column."""
    if not isinstance(k, dict):
        return dict.fromkeys(columns, k)
    if scope != "per-column":
        raise TypeMistake("k must be an integer with scope='joint'; got a dictionary, which is for scope='per-column'.")
    if set(k) != set(columns):
        listed = ", ".join(map(repr, k))
        raise ValueMistake(f"k must have an entry for every one of columns and no other; got {listed}.")
    return {name: k[name] for name in columns}


def decimals_by_column(decimals: Any, floats: list[Hashable]) -> dict[Hashable, int]:
    """How many decimals each column of floats is rounded to."""
    if decimals is None:
        return {}
    each = decimals if isinstance(decimals, dict) else dict.fromkeys(floats, decimals)
    wrong = [repr(name) for name in each if name not in floats]
    if wrong or not each:
        listed = ", ".join(wrong) or "none"
        raise ValueMistake(f"round is for columns of floats among columns; got {listed}.")
    return {name: checks.integer("round", digits, -300, 300, "most") for name, digits in each.items()}
