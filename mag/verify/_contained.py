"""Whether published labels and ranges are true: each contains the original that it replaces, in exact arithmetic.

Shares no code with the code that makes them: originals are read here separately, and ends are read back from the
published text.  A float means the decimal number that it is printed as.
"""

import datetime
import functools
import math
import re
import sys
from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from mag._lib import arrays
from mag.hierarchy import Hierarchy, text_of
from mag.verify._sensitive import Absent, ranks_of, value_of

NANOSECONDS = {"D": 86400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
DATE_PATTERN = r"([+-]?\d+)-(\d\d)-(\d\d)"
CLOCK_PATTERN = r"(\d+)(?::(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?"
MOMENT = re.compile(rf"{DATE_PATTERN}(?:[T ]{CLOCK_PATTERN})?(Z|[+-]\d\d:\d\d(?::\d\d)?)?")
LASTING = re.compile(rf"(?:([+-]?\d+) days?,? ?)?(?:\+?{CLOCK_PATTERN})?")
COUNTED = re.compile(r"([+-]?\d+) (day|hour|minute|second|millisecond|microsecond|nanosecond)s")
NANOSECONDS_BY_WORD = {
    word: NANOSECONDS[unit]
    for word, unit in {
        "day": "D", "hour": "h", "minute": "m", "second": "s", "millisecond": "ms", "microsecond": "us",
        "nanosecond": "ns",
    }.items()
}  # fmt: skip

Number = int | float | Decimal | Fraction  # floats mean the decimal number that they print as


class LabelSpan(NamedTuple):
    """Numbers from `low` to `high`, without the last."""

    low: Number
    high: Number


class LabelSpans(NamedTuple):
    """One span for each label, with both ends or without the last."""

    low: Sequence[Number]
    high: Sequence[Number]
    closed: bool = True


NOWHERE = (0, -1)


class NumberCells(NamedTuple):
    """The cells of a column as numbers: integers, float64 or Python's; `unit` is 1 in nanoseconds."""

    values: np.ndarray
    missing: Any = False
    unit: int | None = None


def count_untrue(
    originals: Any, published: Any, classes: Callable[[Any], np.ndarray], tree: Hierarchy | None, order: Any
) -> int:
    """How many records are published with a label or a range that their original is not in.

    Both columns have the same records in the same order; `classes` numbers the equal cells of a column.
    """
    labels = classes(published)
    first = np.zeros(int(labels.max(initial=-1)) + 1, np.int64)
    first[labels[::-1]] = np.arange(labels.size)[::-1]
    shown = cells_of(published, first)
    texts = [cell if type(cell) is str or value_of(cell) is not Absent else None for cell in shown]
    rest = np.arange(labels.size)
    if order is None and (tree is None or tree.edges is not None) and (numbers := numbers_of(originals)) is not None:
        if tree is None:
            spans = [_read_ranges(texts, numbers)]
        else:
            named = _spans_of_labels(tree)
            levels = [[] if text is None else named.get(text, []) for text in texts]  # a label may be on several
            turns = range(max(map(len, levels), default=0))
            cut = [[many[turn] if len(many) > turn else NOWHERE for many in levels] for turn in turns]
            spans = [LabelSpans([low for low, _ in some], [high for _, high in some], closed=False) for some in cut]
        rest = np.flatnonzero(~_are_inside(numbers, spans, labels))
    if not rest.size:
        return 0
    own = classes(take(originals, rest))
    _, place, pairs = np.unique(own * first.size + labels[rest], return_index=True, return_inverse=True)
    is_true = _truth_of(tree, order)
    values = map(value_of, cells_of(originals, rest[place]))
    shown = [texts[label] for label in labels[rest[place]].tolist()]
    wrong = np.array([not is_true(value, text) for value, text in zip(values, shown, strict=True)], bool)
    return int(wrong[pairs].sum())


# ---- cell by cell


def _truth_of(tree: Hierarchy | None, order: Any) -> Callable[[Any, str | None], bool]:
    """Whether a label is true for a value; missing cells are published as missing, or as the root."""
    if order is not None and tree is None:
        return _between_ranks(order)
    if tree is None:
        return lambda value, text: value is Absent and text is None
    rows = [list(map(text_of, row)) for row in tree.to_levels()]
    root, edges = rows[0][-1], tree.edges
    named = {leaf: row for (leaf, *_), row in zip(tree.to_levels(), rows, strict=True)}
    written = {row[0]: row for row in rows}
    takes_others, spans = tree.other >= 0, _spans_of_labels(tree)

    def is_true(value: Any, text: str | None) -> bool:
        if value is Absent or text is None:
            return value is Absent and text in (None, root)
        if edges is not None:
            number = _number(value)
            if number is not None and edges[0] <= number < edges[-1]:
                return any(span.low <= number < span.high for span in spans.get(text, ()))
            return takes_others and text == root
        row = named.get(value, written.get(text_of(value)))
        return text in row if row is not None else takes_others and text == root

    return is_true


def _between_ranks(order: Sequence[Any]) -> Callable[[Any, str | None], bool]:
    rank, texts = ranks_of(order), {text_of(label): place for place, label in enumerate(order)}

    def is_true(value: Any, text: str | None) -> bool:
        if value is Absent or text is None:
            return value is Absent and text is None
        place = rank(value)
        if place is None:
            return False
        if texts.get(text) == place:
            return True
        cuts = [cut.start() for cut in re.finditer(", ", text)] if text[:1] == "[" and text[-1:] == "]" else []
        ends = [(texts.get(text[1:cut]), texts.get(text[cut + 2 : -1])) for cut in cuts]
        return any(low is not None and high is not None and low <= place <= high for low, high in ends)

    return is_true


# ---- ends


def _spans_of_labels(tree: Hierarchy) -> dict[str, list[LabelSpan]]:
    """The interval of every label of a tree of intervals, on each of its levels."""
    edges = tree.edges or ()
    ends: dict[tuple[str, int], tuple[Fraction, Fraction]] = {}
    for row, low, high in zip(tree.to_levels(), edges, edges[1:], strict=False):  # one more leaf may be for others
        for level, label in enumerate(row):
            key = text_of(label), level
            ends[key] = ends.get(key, (low, low))[0], high
    spans: dict[str, list[LabelSpan]] = {}
    for (text, _), (low, high) in ends.items():
        spans.setdefault(text, []).append(LabelSpan(low, high))
    return spans


def _read_ranges(texts: list[str | None], numbers: NumberCells) -> LabelSpans:
    """The ends of [a, b], or a single number; any other text contains nothing."""
    words = [text or "" for text in texts]
    low: Sequence[Number | None]
    high: Sequence[Number | None]
    if numbers.unit is not None:
        read = functools.cache(functools.partial(_time, unit=numbers.unit))
        both = [_read_times(text, read) for text in words]
        low, high = [one for one, _ in both], [other for _, other in both]
    else:
        read_all = _read_floats if numbers.values.dtype.kind == "f" else _read_numbers
        pairs = [
            text[1:-1].partition(", ") if text[:1] == "[" and text[-1:] == "]" else (text, "", text) for text in words
        ]
        low, high = read_all([one for one, _, _ in pairs]), read_all([other for _, _, other in pairs])
    if None in low or None in high:
        both = [NOWHERE if None in ends else ends for ends in zip(low, high, strict=True)]
        low, high = [one for one, _ in both], [other for _, other in both]
    return LabelSpans(low, high)  # type: ignore[arg-type]


def _read_times(text: str, read: Callable[[str], Number | None]) -> tuple[Number | None, Number | None]:
    if text[:1] != "[" or text[-1:] != "]":
        return read(text), read(text)
    cut = text.find(", ")
    while cut >= 0:  # a duration may hold one
        low, high = read(text[1:cut]), read(text[cut + 2 : -1])
        if low is not None and high is not None:
            return low, high
        cut = text.find(", ", cut + 1)
    return None, None


def _read_numbers(words: list[str]) -> Sequence[Number | None]:
    try:
        return list(map(int, words))
    except ValueError:
        return list(map(_number, words))


def _read_floats(words: list[str]) -> Sequence[Number | None]:
    """The float that prints as the word, or the exact number if no float does."""
    try:
        near = list(map(float, words))
    except ValueError:
        return list(map(_as_printed, words))
    every = zip(near, map(repr, near), words, strict=True)
    return [
        number if printed == word and number - number == 0 else _as_printed(word) for number, printed, word in every
    ]


def _as_printed(word: str) -> Number | None:
    try:
        near = float(word)
    except ValueError:
        return None
    return near if repr(near) in (word, word + ".0") and math.isfinite(near) else _number(word)


def _number(value: Any) -> Number | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, Fraction)):
        return value
    try:
        number = _printed(float(value)) if isinstance(value, float) else Decimal(value)
    except (TypeError, ValueError, InvalidOperation):
        return None
    return number if number.is_finite() else None


def _time(text: str, unit: int) -> int | Fraction | None:
    """A moment since 1970, or a duration, in units of this number of nanoseconds."""
    if found := MOMENT.fullmatch(text):
        year, month, day, *clock, zone = found.groups()
        nanoseconds = _days(int(year), int(month), int(day)) * NANOSECONDS["D"] + _clock(clock)
        if zone and zone != "Z":
            offset = _clock([*zone[1:].split(":"), None, None][:4])
            nanoseconds -= offset if zone[0] == "+" else -offset
    elif found := COUNTED.fullmatch(text):
        nanoseconds = int(found[1]) * NANOSECONDS_BY_WORD[found[2]]
    elif text and (found := LASTING.fullmatch(text)):
        days, *clock = found.groups()
        nanoseconds = int(days or 0) * NANOSECONDS["D"] + _clock(clock)
    else:
        return None
    return Fraction(nanoseconds, unit) if nanoseconds % unit else nanoseconds // unit


def _clock(parts: Sequence[str | None]) -> int:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return whole * 10**9 + int(f"{fraction or '0':0<9}")


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970 in the Gregorian calendar, of any year."""
    cycles, year_of_cycle = divmod(year, 400)  # a cycle has 146097 days
    return datetime.date(year_of_cycle + 400, month, day).toordinal() + (cycles - 1) * 146097 - 719163


# ---- many numbers at once


def _are_inside(numbers: NumberCells, spans: list[LabelSpans], labels: np.ndarray) -> np.ndarray:
    """Which records' numbers are in one of the spans of their label."""
    inside = np.zeros(labels.size, bool)
    compare = _within_floats if numbers.values.dtype.kind == "f" else _within_integers
    if numbers.values.dtype == object:
        compare = _within_objects
    for some in spans:
        inside |= compare(numbers.values, some, labels)
    return inside & ~np.asarray(numbers.missing)


def _within_floats(values: np.ndarray, spans: LabelSpans, labels: np.ndarray) -> np.ndarray:
    """A float between the floats nearest to the ends is inside; one that equals such a float is asked exactly."""
    low, above = _nearest_floats(spans.low)
    high, beyond = _nearest_floats(spans.high)
    at_low, at_high = above >= 0, beyond <= 0 if spans.closed else beyond < 0
    low, high = low[labels], high[labels]
    inside = (values > low) & (values < high)
    ends = np.flatnonzero(~inside & ((values == low) | (values == high)))
    one, other, own = values[ends] == low[ends], values[ends] == high[ends], labels[ends]
    inside[ends] = (~one | at_low[own]) & (~other | at_high[own]) & (low[ends] <= high[ends])
    return inside


def _nearest_floats(ends: Sequence[Number]) -> tuple[np.ndarray, np.ndarray]:
    """The float nearest to each end; whether its printed number is less (-1), the same (0) or more (1)."""
    near, side = np.zeros(len(ends)), np.zeros(len(ends), np.int8)
    others = [place for place, end in enumerate(ends) if type(end) is not float]
    if not others:
        return np.array(ends, np.float64), side
    for place, end in enumerate(ends):
        near[place] = end if type(end) is float else _near(end)
    for place in others:
        printed, end = _printed(float(near[place])), ends[place]
        side[place] = (printed > end) - (printed < end)
    return near, side


def _near(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _printed(number: float) -> Decimal:
    """The decimal number that a float means."""
    return Decimal(repr(number))


def _within_integers(values: np.ndarray, spans: LabelSpans, labels: np.ndarray) -> np.ndarray:
    info = np.iinfo(values.dtype)
    least, most = int(info.min), int(info.max)
    low = list(map(math.ceil, spans.low))
    high = [math.floor(end) if spans.closed else math.ceil(end) - 1 for end in spans.high]
    empty = np.array([a > most or b < least for a, b in zip(low, high, strict=True)], bool)
    bounds = [np.array([min(max(end, least), most) for end in ends], values.dtype) for ends in (low, high)]
    inside = (values >= bounds[0][labels]) & (values <= bounds[1][labels])
    return inside & ~empty[labels] if empty.any() else inside


def _within_objects(values: np.ndarray, spans: LabelSpans, labels: np.ndarray) -> np.ndarray:
    every = zip(values.tolist(), labels.tolist(), strict=True)
    return np.array([
        number is not None
        and spans.low[label] <= number
        and (number <= spans.high[label] if spans.closed else number < spans.high[label])
        for number, label in every
    ], bool)  # fmt: skip


# ---- originals


def numbers_of(column: Any) -> NumberCells | None:
    """The numbers of a column of numbers, dates or times; None where cells are something else.

    A missing cell is NaN or an arbitrary number: it is published as missing, never as a number.
    """
    pandas, polars, pyarrow = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow"))
    if polars is not None and isinstance(column, polars.Series):
        return _of_polars(polars, column)
    if pandas is not None and isinstance(column, pandas.Series):
        if isinstance(column.dtype, pandas.DatetimeTZDtype):
            return _of_array(column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
        if hasattr(column.dtype, "pyarrow_dtype"):
            return _of_arrow(pyarrow, pyarrow.chunked_array(column.array.__arrow_array__()))  # type: ignore[union-attr]
        if isinstance(column.dtype, np.dtype):
            return _of_array(column.to_numpy())
        if hasattr(column.dtype, "numpy_dtype"):
            found = _of_array(column.to_numpy(column.dtype.numpy_dtype, na_value=0))
            return None if found is None else found._replace(missing=column.isna().to_numpy())
        return None
    if pyarrow is not None and isinstance(column, pyarrow.ChunkedArray):
        return _of_arrow(pyarrow, column)
    return _of_array(arrays.read("table", column)[0])


def _of_array(array: np.ndarray) -> NumberCells | None:
    if array.dtype.kind in "iu":
        return NumberCells(array)
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        return NumberCells(array.astype(np.float64))
    if array.dtype.kind in "Mm" and np.datetime_data(array.dtype)[0] in NANOSECONDS:
        unit, many = np.datetime_data(array.dtype)
        return NumberCells(np.ascontiguousarray(array).view(np.int64), np.isnat(array), NANOSECONDS[unit] * many)
    return _of_objects(array.tolist()) if array.dtype.kind == "O" else None


def _of_objects(cells: list[Any]) -> NumberCells | None:
    kinds = {type(cell) for cell in cells if value_of(cell) is not Absent}
    if kinds == {datetime.date}:
        days = [cell.toordinal() - 719163 if type(cell) is datetime.date else None for cell in cells]
        return NumberCells(np.array([*days, None], object)[:-1], unit=NANOSECONDS["D"])
    if not kinds <= {int, Decimal, float, Fraction}:
        return None
    return NumberCells(np.array([*map(_number, cells), None], object)[:-1])


def _of_polars(polars: Any, column: Any) -> NumberCells | None:
    dtype, null = column.dtype, column.is_null().to_numpy()
    if dtype.is_float() or (dtype.is_integer() and "128" not in str(dtype)):
        found = _of_array(column.fill_null(0).to_numpy())
        return None if found is None else found._replace(missing=null)
    if isinstance(dtype, polars.Decimal) or dtype.is_integer():
        return _of_objects(column.to_list())
    if dtype == polars.Date:
        unit = "D"
    elif isinstance(dtype, (polars.Datetime, polars.Duration)):
        unit = dtype.time_unit
    else:
        return None
    return NumberCells(column.to_physical().cast(polars.Int64).fill_null(0).to_numpy(), null, NANOSECONDS[unit])


def _of_arrow(pyarrow: Any, column: Any) -> NumberCells | None:
    types, dtype, null = pyarrow.types, column.type, column.is_null().to_numpy()
    if types.is_decimal(dtype):
        return _of_objects(column.to_pylist())
    if types.is_floating(dtype):
        return NumberCells(np.array(column.to_numpy(), np.float64))  # null is NaN
    if types.is_integer(dtype):
        return NumberCells(column.fill_null(0).to_numpy(), null)
    if types.is_date(dtype):
        column, unit = column.cast(pyarrow.date32()).cast(pyarrow.int32()), "D"
    elif types.is_timestamp(dtype) or types.is_duration(dtype):
        unit = dtype.unit
    else:
        return None
    return NumberCells(column.cast(pyarrow.int64()).fill_null(0).to_numpy(), null, NANOSECONDS[unit])


# ---- some cells


def take(column: Any, places: np.ndarray) -> Any:
    """Some cells of a column of any library."""
    if hasattr(column, "iloc"):
        return column.iloc[places]
    if hasattr(column, "num_chunks"):
        return column.take(places)
    if hasattr(column, "gather") and hasattr(column, "to_list"):  # of polars; a tensor of PyTorch gathers otherwise
        return column.gather(places)
    return arrays.read("table", column)[0][places]


def cells_of(column: Any, places: np.ndarray) -> list[Any]:
    """Some cells as Python's objects."""
    some = take(column, places)
    for way in ("to_pylist", "to_list"):
        if hasattr(some, way):
            return getattr(some, way)()
    return list(some) if some.dtype.kind in "Mm" else some.tolist()
