"""Sensitive columns: their criteria, whether these can be met, and whether they hold in the end."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.json_types import to_json_types
from mag._lib.number import number_rows
from mag._lib.roles import is_name
from mag._lib.wording import named
from mag.frames import Frame, RefusedColumnError, frame_of
from mag.frames.categories import categories_of, is_category, order_of
from mag.hierarchy import Hierarchy
from mag.tables.criteria import CRITERIA, Closeness, Criterion, closeness_of, diversity_of, ground_of
from mag.tables.criteria.enforce import Constraint
from mag.tables.criteria.hierarchical import Hierarchical


@dataclass(frozen=True)
class SensitiveDemand:
    """Diversity or closeness of a column, or of the combined values of several."""

    option: str
    columns: tuple[Hashable, ...]
    wish: Criterion | Closeness

    @property
    def name(self) -> Hashable:
        """As the caller wrote it."""
        return self.columns[0] if len(self.columns) == 1 else self.columns

    @property
    def follows_ranks(self) -> bool:
        """Whether an order of the values can have an effect."""
        wish, one = self.wish, len(self.columns) == 1
        return one and isinstance(wish, Closeness) and wish.hierarchy is None and wish.ground in ("auto", "ordered")


@dataclass(frozen=True)
class Promise:
    """A criterion that holds for every class of a published table, as counted on it.

    Attributes
    ----------
    criterion : {"distinct", "entropy", "equal", "hierarchical", "ordered", "recursive"}
        The measure that was counted; closeness is named by its ground distance.
    columns : tuple of column names
        One, or several whose combined values count.
    required : dict
        The numbers of the request: ``l``, ``c`` or ``t``.
    counted : float
        The worst class: the fewest values, the least effective number of them, the largest ratio or distance.
    holds : bool
        Whether the requirement is met.
    order, hierarchy
        The order or hierarchy of closeness, if it is not the natural order of the values.
    """

    criterion: str
    columns: tuple[Hashable, ...]
    required: dict[str, Any]
    counted: float = math.nan
    holds: bool = False
    order: list[Any] | None = field(default=None, repr=False)
    hierarchy: Hierarchy | None = field(default=None, repr=False)

    @property
    def is_closeness(self) -> bool:
        """Whether it is about distributions, not about single classes."""
        return "t" in self.required

    @property
    def key(self) -> Hashable:
        """The column, or the tuple of columns."""
        return self.columns[0] if len(self.columns) == 1 else self.columns

    @property
    def name(self) -> str:
        """The same in words."""
        return " and ".join(map(str, self.columns))

    def __str__(self) -> str:
        name, number = self.name, {key: f"{float(x):g}" for key, x in self.required.items()}
        if self.criterion == "distinct":
            values = "value" if self.required["l"] == 1 else "different values"
            return f"every class holds at least {number['l']} {values} of {name} (fewest {self.counted:g})"
        if self.criterion == "entropy":
            return (
                f"in every class {name} is at least as uncertain as {number['l']} equally frequent values (entropy; "
                f"least {self.counted:.4g})"
            )
        if self.criterion == "recursive":
            return (
                f"in every class the most frequent value of {name} is rarer than {number['c']} times all from number "
                f"{number['l']} on, by frequency (largest ratio {self.counted:.4g})"
            )
        over = {"ordered": " over ranks", "hierarchical": " over the hierarchy", "equal": ", values 0 or 1 apart"}
        return (
            f"the distribution of {name} in every class is within {number['t']} of the table's (earth mover's distance"
            f"{over[self.criterion]}; largest {self.counted:.4g})"
        )

    def facts(self) -> dict[str, Any]:
        """In the types of JSON."""
        required = {key: x if isinstance(x, int) else float(x) for key, x in self.required.items()}
        counted = to_json_types(self.counted)  # a ratio may be infinite
        return {"criterion": self.criterion, **required, "counted": counted}

    def recount(self, parts: verify.Parts, columns: Sequence[Hashable]) -> "Promise":
        """The same, counted on a table whose classes are equal in these columns, in parts of whole classes."""
        names, required = self.columns, self.required
        counted: Any
        if self.criterion == "distinct":
            counted = min(verify.distinct(part, columns, names) for part in parts)
            holds = counted >= required["l"]
        elif self.criterion == "entropy":
            counted = min(verify.entropy(part, columns, names) for part in parts)
            holds = all(verify.is_uncertain(part, columns, names, required["l"]) for part in parts)
        elif self.criterion == "recursive":
            counted = max(verify.recursive(part, columns, names, required["l"]) for part in parts)
            holds = counted < required["c"]
        else:
            counted = verify.closeness_of_parts(
                parts, columns, names, ground=self.criterion, order=self.order, hierarchy=self.hierarchy
            )
            holds = counted <= required["t"]
        return replace(self, counted=float(counted), holds=holds)

    def require(self) -> "Promise":
        """Drop facts that may name values of no record; raise `mag.NotAnonymousError` if the promise fails."""
        verify.require_promise(self.holds, str(self))
        return replace(self, order=None, hierarchy=None)


# ---- criteria that are requested


def demands_of(diversity: Any, closeness: Any, names: Sequence[Hashable]) -> list[SensitiveDemand]:
    """The criteria that the caller wrote for columns of the table."""
    demands = []
    readers: list[tuple[str, Any, Any]] = [
        ("diversity", diversity, diversity_of),
        ("closeness", closeness, closeness_of),
    ]
    for option, wishes, read in readers:
        if wishes is None:
            continue
        if not isinstance(wishes, Mapping) or not wishes:
            raise InputTypeError(f"{option} must be a dictionary by column; got {checks.describe(wishes)}.")
        for name, wish in wishes.items():
            columns = (name,) if is_name(name, names) or not isinstance(name, tuple) else name
            if unknown := [repr(one) for one in columns if not is_name(one, names)]:
                raise InputValueError(f"{option} must name columns of the table; got {', '.join(unknown)}.")
            demands.append(SensitiveDemand(option, columns, read(f"{option}[{name!r}]", wish)))
    return demands


def sensitive_columns(
    demands: Sequence[SensitiveDemand], listed: Sequence[Hashable], masked: Sequence[Hashable]
) -> list[Hashable]:
    """All sensitive columns: those that are listed, and those with a criterion."""
    sensitive = list(listed) + [name for demand in demands for name in demand.columns]
    if wrong := [repr(name) for name in sensitive if name in masked]:
        are, their = ("is", "its") if len(wrong) == 1 else ("are", "their")
        raise InputValueError(
            f"{', '.join(wrong)} {are} in columns: {their} values would be masked; leave {wrong[0]} out of columns, "
            "sensitive columns are published as they are."
        )
    return list(dict.fromkeys(sensitive))


# ---- criteria as constraints on the records of the table


def constrain(
    frame: Frame, rows: np.ndarray, demands: Sequence[SensitiveDemand], orders: Mapping[Hashable, Any]
) -> list[Constraint]:
    """The constraints on the published records; classes are compared with the distribution of all of these records."""
    return [_constraint(frame, rows, demand, orders) for demand in demands]


def _constraint(frame: Frame, rows: np.ndarray, demand: SensitiveDemand, order: Mapping[Any, Any]) -> Constraint:
    labels: list[Any]
    if len(demand.columns) > 1:
        codes = number_rows([_codes(frame, name, order)[0][rows] for name in demand.columns])
        is_ordered, labels = False, [0] * (int(codes.max()) + 1)
    else:
        every, first, is_ordered = _codes(frame, demand.columns[0], order)
        present, codes = np.unique(every[rows], return_inverse=True)
        labels = [0] * present.size
        if isinstance(demand.wish, Closeness) and demand.wish.hierarchy is not None:
            cells = frame.column(demand.columns[0]).cells()
            labels = [None if first[code] < 0 else cells[first[code]] for code in present.tolist()]
    if not isinstance(demand.wish, Closeness):
        return Constraint.of(demand.name, demand.wish, codes)
    criterion = ground_of(demand.wish, labels, is_ordered, demand.name)
    if isinstance(criterion, Hierarchical):  # buckets want near values together
        paths = np.flip(criterion.tree.levels, axis=1)[criterion.leaves]
        rank = np.lexsort((*paths.T[::-1], criterion.leaves < 0))
        place = np.argsort(rank)
        codes, criterion = place[codes], Hierarchical(criterion.t, criterion.tree, criterion.leaves[rank])
    return Constraint.of(demand.name, criterion, codes)


def _codes(frame: Frame, name: Hashable, order: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray, bool]:
    """Of every record the number of its value, in order; of every value a row with it, -1 for missing; the order."""
    column = frame.column(name)
    try:
        if not is_category(column) and name not in order:
            units = column.units()
            _, first, codes = np.unique(units.values, return_index=True, return_inverse=True)
            return *_with_missing(codes, first, units.missing), True
    except RefusedColumnError:
        pass
    except InputValueError as error:
        raise InputValueError(f"column {name!r} has {error}") from None
    own = order.get(name)
    categories = categories_of(column, name, None, None if own is None else list(own))
    try:
        numbers: dict[Any, int] = {}
        alike = np.array([numbers.setdefault(label, len(numbers)) for label in categories.labels], np.int64)
    except TypeError:
        raise InputTypeError(f"sensitive columns must hold values that can be hashed; {name!r} holds others.") from None
    first = categories.first[np.unique(alike, return_index=True)[1]]
    codes = alike[categories.values] if alike.size else categories.values
    return *_with_missing(codes, first, categories.missing), categories.ordered


def _with_missing(codes: np.ndarray, first: np.ndarray, missing: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """A missing value is the last one."""
    if missing is None:
        return codes, first
    return np.where(missing, first.size, codes), np.append(first, -1)


def check_feasible(
    demands: Sequence[SensitiveDemand], constraints: Sequence[Constraint], strata: Sequence[np.ndarray]
) -> None:
    """Reject criteria that not even one group in every stratum could meet."""
    for demand, constraint in zip(demands, constraints, strict=True):
        if reason := constraint.criterion.why_not(constraint.totals, constraint.column):
            raise InputValueError(reason)
        whole = [constraint.select(rows).whole for rows in strata]
        failing = {place: badness for place, (holds, badness) in enumerate(whole) if not holds}
        if failing:
            option, sizes = demand.option, np.array([rows.size for rows in strata])
            worst = max(failing, key=lambda place: failing[place])
            rank = 1 + int((sizes > sizes[worst]).sum())
            raise InputValueError(
                f"{option} of {demand.name!r} cannot be met in {len(failing)} of {len(whole)} strata, not even by one "
                f"group of each, which reaches {abs(failing[worst]):.3g} in the worst, of {sizes[worst]} records, "
                f"number {rank} by size; pass {named('small_strata', 'suppress')} to withhold such strata, or use "
                f"fewer strata or a weaker {option}."
            )


def failing_strata(constraints: Sequence[Constraint], strata: Sequence[np.ndarray]) -> list[int]:
    """The strata in which not even one group could meet a constraint; none where the whole table could not."""
    if any(constraint.criterion.why_not(constraint.totals, constraint.column) for constraint in constraints):
        return []
    return [
        place
        for place, rows in enumerate(strata)
        if not all(constraint.select(rows).whole[0] for constraint in constraints)
    ]


# ---- the promises that hold in the end


def promises_of(
    demands: Sequence[SensitiveDemand], constraints: Sequence[Constraint], orders: Mapping[Hashable, Any]
) -> list[Promise]:
    """The promises to count on the published table."""
    promises = []
    for demand, constraint in zip(demands, constraints, strict=True):
        criterion = constraint.criterion
        kind = next(name for name, kind in CRITERIA.items() if isinstance(criterion, kind))
        required = {key: number for key, number in vars(criterion).items() if key in ("c", "l", "t")}
        order, tree = orders.get(demand.columns[0]), getattr(criterion, "tree", None)
        promises.append(Promise(kind, demand.columns, required, order=order, hierarchy=tree))
    return promises


def recount_promises(
    table: Any,
    columns: Sequence[Hashable],
    diversity: Any,
    closeness: Any,
    order: Any = None,
    parts: verify.Parts | None = None,
) -> list[Promise]:
    """Whether a table is as diverse and close as demanded, counted on its cells.

    A large table comes in `parts` of whole classes; then `table` holds its sensitive values, each once.
    """
    frame = frame_of(table)
    demands = demands_of(diversity, closeness, frame.names)
    orders = orders_of(frame, [name for demand in demands for name in demand.columns], order)
    constraints = constrain(frame, np.arange(frame.n), demands, orders)
    parts = [table] if parts is None else parts
    return [promise.recount(parts, columns) for promise in promises_of(demands, constraints, orders)]


def constrain_values(option: str, values: Any, diversity: Any, closeness: Any) -> list[Constraint]:
    """The constraints on an array of sensitive values; all records as one group satisfy them."""
    frame = frame_of({option: values})
    wishes = [None if wish is None else {option: wish} for wish in (diversity, closeness)]
    demands = demands_of(wishes[0], wishes[1], frame.names)
    every = np.arange(frame.n)
    constraints = constrain(frame, every, demands, orders_of(frame, frame.names, None))
    check_feasible(demands, constraints, [every])
    return constraints


def orders_of(frame: Frame, sensitive: Sequence[Hashable], order: Mapping[Any, Any] | None) -> dict[Hashable, Any]:
    """The order of categories that have one: the caller's, or that of the dtype."""
    orders = {name: order[name] if order and name in order else order_of(frame.column(name)) for name in sensitive}
    return {name: list(own) for name, own in orders.items() if own is not None}
