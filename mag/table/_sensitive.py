"""Sensitive columns: what is demanded of them, whether it can be met, and what holds in the end."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.roles import is_name
from mag.criteria import CRITERIA, Closeness, Criterion, closeness_of, diversity_of, ground_of
from mag.criteria.distinct import Distinct
from mag.criteria.entropy import Entropy
from mag.criteria.hierarchical import Hierarchical
from mag.criteria.recursive import Recursive
from mag.enforce import Constraint
from mag.frames import Frame, Refused
from mag.frames.categories import categories_of, is_category, order_of
from mag.table._strata import combined


@dataclass(frozen=True)
class Demand:
    """Diversity or closeness of a column, or of the combined values of several."""

    option: str
    columns: tuple[Hashable, ...]
    wish: Criterion | Closeness

    @property
    def name(self) -> Hashable:
        """As the caller wrote it."""
        return self.columns[0] if len(self.columns) == 1 else self.columns


@dataclass(frozen=True)
class Promise:
    """A criterion that holds for every class of a published table, as counted on it.

    Attributes
    ----------
    criterion : {"distinct", "entropy", "equal", "hierarchical", "ordered", "recursive"}
        What was counted; closeness is called by its ground distance.
    columns : tuple of column names
        One, or several whose combined values count.
    required : dict
        The numbers of the request: ``l``, ``c`` or ``t``.
    counted : float
        The worst class: the fewest values, the least effective number of them, the largest ratio or distance.
    """

    criterion: str
    columns: tuple[Hashable, ...]
    required: dict[str, Any]
    counted: float

    @property
    def name(self) -> str:
        """The column, or the columns."""
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
        return {"criterion": self.criterion, **required, "counted": self.counted}


# ---- what is demanded


def demands_of(options: Any, names: Sequence[Hashable]) -> list[Demand]:
    """The criteria that the caller wrote for columns of the table."""
    demands = []
    for option, read in (("diversity", diversity_of), ("closeness", closeness_of)):
        wishes = getattr(options, option)
        if wishes is None:
            continue
        if not isinstance(wishes, Mapping) or not wishes:
            raise TypeMistake(f"{option} must be a dictionary by column; got {checks.describe(wishes)}.")
        for name, wish in wishes.items():
            columns = (name,) if is_name(name, names) or not isinstance(name, tuple) else name
            if unknown := [repr(one) for one in columns if not is_name(one, names)]:
                raise ValueMistake(f"{option} must name columns of the table; got {', '.join(unknown)}.")
            demands.append(Demand(option, columns, read(f"{option}[{name!r}]", wish)))
    return demands


def sensitive_columns(
    demands: Sequence[Demand], listed: Sequence[Hashable], masked: Sequence[Hashable]
) -> list[Hashable]:
    """All sensitive columns: those that are listed, and those that something is demanded of."""
    sensitive = list(listed) + [name for demand in demands for name in demand.columns]
    if wrong := [repr(name) for name in sensitive if name in masked]:
        are, their = ("is", "its") if len(wrong) == 1 else ("are", "their")
        raise ValueMistake(
            f"{', '.join(wrong)} {are} in columns: {their} values would be masked; leave {wrong[0]} out of columns, "
            "sensitive columns are published as they are."
        )
    return list(dict.fromkeys(sensitive))


# ---- what it means for the records of the table


def constrain(
    frame: Frame, rows: np.ndarray, demands: Sequence[Demand], orders: Mapping[Hashable, Any]
) -> list[Constraint]:
    """The constraints on these records, the published ones, whose distribution is what classes are compared with."""
    return [_constraint(frame, rows, demand, orders) for demand in demands]


def _constraint(frame: Frame, rows: np.ndarray, demand: Demand, order: Mapping[Any, Any]) -> Constraint:
    labels: list[Any]
    if len(demand.columns) > 1:
        codes = combined([_codes(frame, name, order)[0][rows] for name in demand.columns])
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
    except Refused:
        pass
    own = order.get(name)
    categories = categories_of(column, name, None, None if own is None else list(own))
    try:
        numbers: dict[Any, int] = {}
        alike = np.array([numbers.setdefault(label, len(numbers)) for label in categories.labels], np.int64)
    except TypeError:
        raise TypeMistake(f"sensitive columns must hold values that can be hashed; {name!r} holds others.") from None
    first = categories.first[np.unique(alike, return_index=True)[1]]
    codes = alike[categories.values] if alike.size else categories.values
    return *_with_missing(codes, first, categories.missing), categories.ordered


def _with_missing(codes: np.ndarray, first: np.ndarray, missing: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """A missing value is the last one."""
    if missing is None:
        return codes, first
    return np.where(missing, first.size, codes), np.append(first, -1)


def check_feasible(demands: Sequence[Demand], constraints: Sequence[Constraint], strata: Sequence[np.ndarray]) -> None:
    """Refuse what not even one group in every stratum could meet."""
    for demand, constraint in zip(demands, constraints, strict=True):
        if reason := constraint.criterion.why_not(constraint.totals, constraint.column):
            raise ValueMistake(reason)
        whole = [constraint.select(rows).whole for rows in strata]
        failing = [badness for holds, badness in whole if not holds]
        if failing:
            option = demand.option
            raise ValueMistake(
                f"{option} of {demand.name!r} cannot be met in {len(failing)} of {len(whole)} strata, not even by one "
                f"group of each, which reaches {abs(max(failing)):.3g} in the worst; pass fewer columns in by=, or a "
                f"weaker {option}."
            )


# ---- what holds in the end


def recount_demands(
    data: Any,
    columns: Sequence[Hashable],
    demands: Sequence[Demand],
    constraints: Sequence[Constraint],
    orders: Mapping[Hashable, Any],
) -> dict[str, dict[Hashable, Promise]]:
    """What is promised of diversity and of closeness, counted on the published table; an error where it fails."""
    promises: dict[str, dict[Hashable, Promise]] = {"diversity": {}, "closeness": {}}
    for demand, constraint in zip(demands, constraints, strict=True):
        criterion, names = constraint.criterion, demand.columns
        kind = next(name for name, kind in CRITERIA.items() if isinstance(criterion, kind))
        required = {key: value for key, value in vars(criterion).items() if key in ("c", "l", "t")}
        counted: Any
        if isinstance(criterion, Distinct):
            counted = verify.distinct(data, columns, names)
            holds = counted >= criterion.l
        elif isinstance(criterion, Entropy):
            counted = verify.entropy(data, columns, names)
            holds = verify.is_uncertain(data, columns, names, criterion.l)
        elif isinstance(criterion, Recursive):
            counted = verify.recursive(data, columns, names, criterion.l)
            holds = counted < criterion.c
        else:
            tree = getattr(criterion, "tree", None)
            counted = verify.closeness(data, columns, names, ground=kind, order=orders.get(names[0]), hierarchy=tree)
            holds = counted <= required["t"]
        promise = Promise(kind, names, required, float(counted))
        verify.require_promise(holds, str(promise))
        promises[demand.option][demand.name] = promise
    return promises


def orders_of(frame: Frame, sensitive: Sequence[Hashable], order: Mapping[Any, Any] | None) -> dict[Hashable, Any]:
    """The order of categories that have one: the caller's, or that of the dtype."""
    orders = {name: order[name] if order and name in order else order_of(frame.column(name)) for name in sensitive}
    return {name: list(own) for name, own in orders.items() if own is not None}
