"""Rows of labels that follow from a rule: intervals of numbers, prefixes of codes, parts of dates."""

import datetime
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import ValueMistake
from mag.hierarchy._rows import ROOT
from mag.hierarchy._text import text_of

MOST = 10**6  # intervals
PARTS: dict[str, Callable[[datetime.date], str]] = {  # from fine to coarse
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}


@dataclass(frozen=True)
class Locate:
    """The interval of numbers, -1 where they are in none; unlike a function it can be pickled."""

    begins: np.ndarray
    first: float
    last: float

    def __call__(self, values: list[Any]) -> np.ndarray:
        """For each of these values."""
        try:
            numbers = np.array([np.nan if isinstance(value, bool) else float(value) for value in values])
        except (OverflowError, TypeError, ValueError):
            return np.full(len(values), -1)
        inside = (numbers >= self.first) & (numbers < self.last)
        return np.where(inside, np.searchsorted(self.begins, numbers, "right") - 1, -1)


def intervals(
    low: float, high: float, widths: Sequence[float], labels: Callable[[float, float], str] | None
) -> tuple[list[list[str]], Callable[[list[Any]], np.ndarray]]:
    """A row for every narrowest interval, and the interval of numbers."""
    exact = [_exact(checks.positive("widths", width)) for width in widths]
    first, last = _exact(_finite("low", low)), _exact(_finite("high", high))
    if first >= last:
        raise ValueMistake(f"low must be below high; got low={low} and high={high}.")
    if not exact:
        raise ValueMistake("widths must hold at least one width; got none.")
    for narrow, wide in itertools.pairwise(exact):
        if wide <= narrow or wide % narrow:
            raise ValueMistake(
                f"widths must each be a multiple of the one before; got {float(wide):g} after {float(narrow):g}."
            )
    count = -(-(last - first) // exact[0])
    if count > MOST:
        raise ValueMistake(f"widths must make at most {MOST} intervals; got {count}.")
    call = labels or (lambda begin, end: f"[{begin}, {end})")

    def label(begin: Fraction, width: Fraction) -> str:
        return call(_plain(begin), _plain(min(begin + width, last)))

    rows = []
    for i in range(count):
        begin = first + i * exact[0]
        row = [label(first + (begin - first) // width * width, width) for width in exact]
        rows.append([*row, label(first, last - first)])
    if len({row[0] for row in rows}) < count:
        raise ValueMistake("labels must call every interval otherwise; some of the narrowest share a label.")

    begins = np.array([float(first + i * exact[0]) for i in range(count)])
    return rows, Locate(begins, float(first), float(last))


def _finite(option: str, number: Any) -> Any:
    plain = number.item() if isinstance(number, np.generic) else number
    if isinstance(plain, bool) or not isinstance(plain, (int, float, Decimal, Fraction)) or not math.isfinite(plain):
        raise ValueMistake(f"{option} must be a finite number; got {checks.describe(number)}.")
    checks.written_out(option, plain)
    return plain


def _exact(number: Any) -> Fraction:
    """A float means the decimal number that it is printed as: 0.3 begins the fourth interval of width 0.1."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def prefixes(values: Iterable[Any], keep: Sequence[int], mark: str) -> list[list[str]]:
    """The code, its prefixes filled up with marks, and the root."""
    sizes = [checks.integer("keep", size, 1, 10**6, "most") for size in keep]
    if not sizes or any(size <= after for size, after in itertools.pairwise(sizes)):
        raise ValueMistake(f"keep must list falling numbers of characters; got {sizes}.")
    if not isinstance(mark, str) or len(mark) != 1:
        raise ValueMistake(f"mark must be one character; got {checks.describe(mark)}.")
    codes = dict.fromkeys(map(text_of, values))
    return [[code, *(code[:size].ljust(len(code), mark) for size in sizes), ROOT] for code in codes]


def dates(values: Iterable[Any], levels: Sequence[str]) -> list[list[str]]:
    """The day, the parts that `levels` names, and the root."""
    names = [checks.one_of("levels", level, PARTS) for level in levels]
    order = [list(PARTS).index(name) for name in names]
    if not order or order != sorted(set(order)):
        raise ValueMistake(
            f"levels must name some of {', '.join(PARTS)} in this order; got {', '.join(names) or 'none'}."
        )
    days: dict[str, datetime.date] = {}
    wrong = 0
    for value in values:
        try:
            day = datetime.date.fromisoformat(text_of(value)[:10])
            days[day.isoformat()] = day
        except ValueError:
            wrong += 1
    if wrong:
        raise ValueMistake(f"values must be dates, or text such as 2026-11-17; {wrong} are neither.")
    return [[text, *(PARTS[name](day) for name in names), ROOT] for text, day in days.items()]
