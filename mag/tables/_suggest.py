"""Suggested roles of columns, by what they are called, what they hold, and how many records they make unique."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np

from mag._lib.number import number_rows
from mag.frames import Frame
from mag.tables._words import HOUSEHOLDS, IDENTIFIERS, KNOWN, SENSITIVE, WEIGHTS, is_name_of_units, split_words
from mag.tables.look import ColumnLook

PlanRole = Literal["mask", "by", "keep", "sensitive", "drop", "unit", "household"]
MIN_REPEATS = 1.2  # records of a value on average, from which an identifier names units of several records
MAX_SAMPLE_RECORDS = 20_000  # that are looked at for unique records
MAX_PAIRED = 40  # columns whose pairs are looked at
MIN_UNIQUE_SHARE = 0.5  # of the records, from which a column makes records unique whatever it is combined with


def suggest(frame: Frame, looks: Sequence[ColumnLook]) -> Iterator[tuple[PlanRole, str]]:
    """The role of every column, and its reason; the columns to mask with the share of records that they make unique."""
    owners: dict[Hashable, tuple[PlanRole, str]] = {
        _find_owner(frame.n, looks, of_homes): role for of_homes, role in OWNERS.items()
    }
    roles = {look.name: owners.get(look.name) or _judge(look) for look in looks}
    unique = _describe_unique(frame, [name for name, (role, _) in roles.items() if role == "mask"])
    for look in looks:
        role, reason = roles[look.name]
        parts = [f"{look.type}, {look.distinct} values", reason, unique.get(look.name, ""), *look.notes]
        yield role, "; ".join(filter(None, parts))


def suggest_settings(look: ColumnLook, role: str) -> dict[str, Any]:
    """The options of a column: groups of categories publish the most frequent value."""
    is_category = look.role == "category" or (look.type in ("boolean", "text") and look.role != "mask")
    is_category |= look.type == "whole number" and look.distinct == 2  # such as sex; text to mask looks like dates
    return {"aggregate": "mode"} if role == "mask" and is_category else {}


OWNERS: dict[bool, tuple[PlanRole, str]] = {  # whether the column names households
    False: ("unit", "names units of several records each: k counts them; not published"),
    True: ("household", "names households of several records each: every class has k of them; not published"),
}


def _judge(look: ColumnLook) -> tuple[PlanRole, str]:
    """The role of a column by itself."""
    words = split_words(look.name)
    if look.type == "empty":
        return "drop", "no values"
    if look.role == "keep":
        return "keep", "the same value in all records"
    if words & IDENTIFIERS:
        return "drop", "an identifier, by its name"
    if words & SENSITIVE:
        return "sensitive", "an intruder wants to learn it, by its name"
    if words & WEIGHTS and look.type in ("number", "whole number"):
        return "drop", "weights, by its name: weights = NAME uses them without publishing them"
    if look.role == "drop":
        return "drop", "most records have a value of their own" if look.type == "text" else "cannot be masked"
    return "mask", "an intruder knows it, by its name" if words & KNOWN else "an intruder may know it"


def _find_owner(n: int, looks: Iterable[ColumnLook], of_homes: bool) -> Hashable | None:
    """The column that names people, or households, of several records each; of several that with most values."""
    units = [look for look in looks if is_name_of_units(look.name) and 1 < look.distinct <= n / MIN_REPEATS]
    units = [look for look in units if bool(split_words(look.name) & HOUSEHOLDS) == of_homes]
    return max(units, key=lambda look: look.distinct).name if units and not any(u.missing for u in units) else None


# ---- unique records


def _describe_unique(frame: Frame, names: Sequence[Hashable]) -> dict[Hashable, str]:
    """In words, for every column: the share of the records that it makes unique, alone and with another one."""
    rows = np.unique(np.linspace(0, frame.n - 1, min(frame.n, MAX_SAMPLE_RECORDS)).astype(np.int64))
    codes = {name: _codes_of(frame, name, rows) for name in names}
    alone = {name: _unique_share([code]) for name, code in codes.items()}
    best = {name: (share, name) for name, share in alone.items()}
    for pair in combinations(names[:MAX_PAIRED], 2):
        share = _unique_share([codes[name] for name in pair])
        for name, other in (pair, pair[::-1]):
            if alone[other] < MIN_UNIQUE_SHARE:  # which says something about this column, not the other one
                best[name] = max(best[name], (share, other), key=lambda found: found[0])
    texts = {}
    for name, (share, other) in best.items():
        texts[name] = f"alone it makes {_percent(alone[name])} of the records unique"
        texts[name] += "" if share == alone[name] else f", with {other} {_percent(share)}"
    return texts


def _codes_of(frame: Frame, name: Hashable, rows: "np.ndarray | list[int]") -> np.ndarray:
    return np.unique(frame.column(name).codes()[rows], return_inverse=True)[1]


def _unique_share(columns: Sequence[np.ndarray]) -> float:
    numbers = number_rows(columns)
    return float((np.bincount(numbers) == 1).sum() / max(numbers.size, 1))


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.1 else f"{share:.0%}"
