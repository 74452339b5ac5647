"""Rows of labels that follow from a rule: intervals of numbers, prefixes of codes, parts of dates."""

import bisect
import datetime
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.lazy import cached_property
from mag.hierarchy._rows import ROOT
from mag.hierarchy._text import text_of

MAX_INTERVALS = 10**6  # intervals
DATE_PARTS: dict[str, Callable[[datetime.date], str]] = {  # from fine to coarse
    "month": lambda day: f"{day.year:04}-{day.month:02}",
    "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
    "year": lambda day: f"{day.year:04}",
    "decade": lambda day: f"{day.year // 10:03}0s",
}


@dataclass(frozen=True)
class Locate:
    """The interval that contains each number, or -1; unlike a function, it can be pickled.

    `edges` are the ends of the intervals, one more than the number of intervals.
    """

    edges: tuple[Fraction, ...]

    def __call__(self, values: list[Any]) -> np.ndarray:
        """For each of these values: float64 decides where it can, fractions where a value may equal an edge."""
        numbers = list(map(exact_number, values))
        floats, edges = np.array(list(map(_float, numbers)), np.float64), self._floats
        found = np.searchsorted(edges, floats, "right") - 1
        found[~(floats < edges[-1])] = -1  # NaN, too
        for place in np.flatnonzero(np.isin(floats, edges)).tolist():
            at = bisect.bisect_right(self.edges, numbers[place]) - 1  # type: ignore[type-var]
            found[place] = at if at < len(self.edges) - 1 else -1
        return found

    @cached_property
    def _floats(self) -> np.ndarray:
        return np.array(list(map(_float, self.edges)), np.float64)


def exact_number(value: Any) -> int | Decimal | Fraction | None:
    """The number that a value is, or that its text represents; a float means the decimal number that it prints as."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return None
    if isinstance(plain, (int, Fraction)):
        return plain
    if not isinstance(plain, (float, str, Decimal)):
        return None
    try:
        number = Decimal(repr(plain) if isinstance(plain, float) else plain)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _float(number: int | Decimal | Fraction | None) -> float:
    """The nearest float64; monotonic: a larger number never gets a smaller float."""
    if number is None:
        return math.nan
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def intervals(
    low: float | Fraction,
    high: float | Fraction,
    widths: Sequence[float | Fraction],
    labels: Callable[[float, float], str] | None,
) -> tuple[list[list[str]], Locate]:
    """A row for every narrowest interval, and the interval of numbers."""
    exact = [_exact(_finite("widths", width, "positive", 0)) for width in widths]
    first, last = _exact(_finite("low", low)), _exact(_finite("high", high))
    if first >= last:
        raise InputValueError(f"low must be below high; got low={low} and high={high}.")
    if not exact:
        raise InputValueError("widths must hold at least one width; got none.")
    for narrow, wide in itertools.pairwise(exact):
        if wide <= narrow or wide % narrow:
            raise InputValueError(
                f"widths must each be a multiple of the one before; got {float(wide):g} after {float(narrow):g}."
            )
    count = -(-(last - first) // exact[0])
    if count > MAX_INTERVALS:
        raise InputValueError(f"widths must make at most {MAX_INTERVALS} intervals; got {count}.")

    def label(begin: Fraction, width: Fraction) -> str:
        end = min(begin + width, last)
        return labels(_plain(begin), _plain(end)) if labels else f"[{_text(begin)}, {_text(end)})"

    rows = []
    for i in range(count):
        begin = first + i * exact[0]
        row = [label(first + (begin - first) // width * width, width) for width in exact]
        rows.append([*row, label(first, last - first)])
    if len({row[0] for row in rows}) < count:
        raise InputValueError("labels must give every interval a label of its own; some of the narrowest share one.")
    return rows, Locate((*(first + i * exact[0] for i in range(count)), last))


def _finite(option: str, number: Any, kind: str = "finite", above: float = -math.inf) -> Any:
    plain = number.item() if isinstance(number, np.generic) else number
    if isinstance(plain, bool) or not isinstance(plain, (int, float, Decimal, Fraction)):
        raise InputTypeError(f"{option} must be a {kind} number; got {checks.describe(number)}.")
    if not math.isfinite(plain) or plain <= above:
        raise InputValueError(f"{option} must be a {kind} number; got {checks.describe(number)}.")
    checks.written_out(option, plain)
    return plain


def _exact(number: Any) -> Fraction:
    """A float means the decimal number that it is printed as: 0.3 begins the fourth interval of width 0.1."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)


def _plain(number: Fraction) -> float:
    return int(number) if number.denominator == 1 else float(number)


def _text(number: Fraction) -> str:
    """The number as a float is printed, where that is exact; else all its decimals, or the fraction."""
    plain = _plain(number)
    if Fraction(str(plain)) == number:
        return str(plain)
    digits = max(_exponent(number.denominator, 2), _exponent(number.denominator, 5))
    if 10**digits % number.denominator:
        return str(number)
    return f"{Decimal(f'{int(number * 10**digits)}e-{digits}'):f}"


def _exponent(number: int, prime: int) -> int:
    """How often a prime divides a number."""
    count = 0
    while number % prime == 0:
        number, count = number // prime, count + 1
    return count


def prefixes(values: Iterable[Any], keep: Sequence[int], mark: str) -> list[list[str]]:
    """The code, its prefixes filled up with marks, and the root."""
    sizes = [checks.integer("keep", size, 1, 10**6, "most") for size in keep]
    if not sizes or any(size <= after for size, after in itertools.pairwise(sizes)):
        raise InputValueError(f"keep must list falling numbers of characters; got {sizes}.")
    if not isinstance(mark, str) or len(mark) != 1:
        raise InputValueError(f"mark must be one character; got {checks.describe(mark)}.")
    codes = dict.fromkeys(map(text_of, values))
    return [[code, *(code[:size].ljust(len(code), mark) for size in sizes), ROOT] for code in codes]


def dates(values: Iterable[Any], levels: Sequence[str]) -> list[list[str]]:
    """The day, the parts that `levels` names, and the root."""
    names = [checks.one_of("levels", level, DATE_PARTS) for level in levels]
    order = [list(DATE_PARTS).index(name) for name in names]
    if not order or order != sorted(set(order)):
        raise InputValueError(
            f"levels must name some of {', '.join(DATE_PARTS)} in this order; got {', '.join(names) or 'none'}."
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
        raise InputValueError(f"values must be dates, or text such as 2026-11-17; {wrong} are neither.")
    return [[text, *(DATE_PARTS[name](day) for name in names), ROOT] for text, day in days.items()]
