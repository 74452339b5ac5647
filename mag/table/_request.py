"""What is asked of a table: the role of every column, and how to group; all that can be checked before it is read."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from mag._lib import checks
from mag._lib.errors import TypeMistake, ValueMistake
from mag.api.options import cost_of
from mag.costs import Cost
from mag.methods import METHODS, automatic
from mag.table._aggregate import AGGREGATES, WEIGHTED

SCOPES = ("joint", "per-column")
OF_COST = {"mid-range": "mid_range", "rounded mean": "mean"}  # representatives of costs that are called otherwise here


@dataclass(frozen=True)
class Roles:
    """Who is what."""

    columns: list[Hashable]
    by: list[Hashable]
    keep: list[Hashable]
    drop: list[Hashable]


def _names(option: str, given: Any, known: list[Hashable]) -> list[Hashable]:
    """A name or a list of names."""
    if given is None:
        return []
    single = isinstance(given, (str, bytes)) or not hasattr(given, "__iter__") or is_name(given, known)
    names = [given] if single else list(given)
    absent = [name for name in names if not is_name(name, known)]
    if absent:
        listed = ", ".join(map(repr, absent[:5]))
        raise ValueMistake(f"{option} must name columns of the table; got {listed}, which it does not have.")
    twice = {repr(name) for name in names if names.count(name) > 1}
    if twice:
        raise ValueMistake(f"{option} must name every column once; got {', '.join(sorted(twice))} more than once.")
    return names


def is_name(given: Any, known: list[Hashable]) -> bool:
    try:
        return hash(given) is not None and given in known
    except TypeError:
        return False


def roles_of(frame: Any, asked: dict[str, Any]) -> Roles:
    found = {option: _names(option, given, frame.names) for option, given in asked.items()}
    if not found["columns"]:
        raise ValueMistake("columns must name at least one column of the table; got none.")
    where: dict[Hashable, str] = {}
    for option, names in found.items():
        for name in names:
            if name in where:
                raise ValueMistake(
                    f"a column must be in one of columns, by, keep and drop; {name!r} is in {where[name]} and {option}."
                )
            where[name] = option
    rest = [name for name in frame.names if name not in where]
    if rest:
        listed = ", ".join(map(repr, rest))
        raise ValueMistake(
            f"every column must be in columns, by, keep or drop; {listed} in none: list them in keep= (published as "
            "they are, not covered by the guarantee) or in drop= (not published)."
        )
    return Roles(**found)


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
    def method_name(self) -> str:
        """As messages call it."""
        return "univariate" if self.single else self.method


def plan_of(
    columns: list[Hashable],
    k: Any,
    scope: str,
    cost: Any,
    aggregate: str | None,
    method: str,
    standardize: bool | None,
    weighted: bool,
    options: dict[str, Any],
) -> Plan:
    checks.one_of("scope", scope, SCOPES)
    single = scope == "per-column" or len(columns) == 1
    ks = sizes_by_column(k, columns, scope)
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
        if options:
            raise TypeMistake(f"{', '.join(options)} is not used with {why}; leave it out.")
        chosen = cost_of("cost", "sse" if cost is None else cost)
        how = OF_COST.get(chosen.representative, chosen.representative)
        if aggregate not in (None, how):
            raise ValueMistake(f"aggregate must be {how!r} with cost {chosen.name!r}; got {aggregate!r}.")
        if weighted and chosen.weighted is None:
            raise ValueMistake(f"weights are used by the costs 'sae' and 'sse' only; got cost {chosen.name!r}.")
    else:
        checks.unused("cost", cost, "records of several columns that are grouped jointly")
        chosen, how = cost_of("cost", "sse"), aggregate or "mean"
        if weighted and how not in WEIGHTED:
            raise ValueMistake(f"weights are used by the aggregates 'mean' and 'median' only; got {how!r}.")
        standardize = True if standardize is None else checks.flag("standardize", standardize)
        for option in ("integer", "return_scores"):
            if option in options:
                raise TypeMistake(f"{option} is not used by microaggregate; leave it out, or use mag.multivariate.")
    return Plan(
        scope, single, ks, not isinstance(k, dict), chosen, dict.fromkeys(columns, how), bool(standardize), method
    )


def sizes_by_column(k: Any, columns: list[Hashable], scope: str) -> dict[Hashable, int]:
    if not isinstance(k, dict):
        return dict.fromkeys(columns, k)
    if scope != "per-column":
        raise TypeMistake("k must be an integer with scope='joint'; got a dictionary, which is for scope='per-column'.")
    if set(k) != set(columns):
        raise ValueMistake(
            f"k must have an entry for every one of columns and no other; got {', '.join(map(repr, k))}."
        )
    return {name: k[name] for name in columns}


def draws(method: str, time_limit: float | None) -> bool:
    """Whether a method draws random numbers; of those of "auto", the one for limited time does."""
    name = automatic(0, 0, 0, time_limit is not None) if method == "auto" else method
    return METHODS[name].takes("random_state")
