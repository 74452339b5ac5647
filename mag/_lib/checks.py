"""All validation and its messages: argument, value, allowed values.  Data values are never quoted."""

import decimal
import math
import numbers
import operator
import os
from collections.abc import Collection
from functools import cache
from typing import Any, NoReturn

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.nearest import ask_nearest
from mag._lib.threads import in_parts
from mag._lib.wording import named

MAX_LISTED_NAMES = 12  # of an option, in addition to the nearest one
MAX_EXPONENT = 400  # of decimals: all powers of ten that float64 has


def one_of(option: str, choice: Any, allowed: Collection[str]) -> str:
    """A string among the allowed ones."""
    if isinstance(choice, str) and choice in allowed:
        return choice
    question = ask_nearest(choice, allowed)
    if question and len(allowed) > MAX_LISTED_NAMES:
        raise InputValueError(f"{named(option)} must be one of {len(allowed)} names; got {describe(choice)}{question}")
    names = ", ".join(map(repr, sorted(allowed)))
    raise InputValueError(f"{named(option)} must be one of {names}; got {describe(choice)}.")


def integer(option: str, number: Any, low: int, high: int, high_name: str) -> int:
    """An integer in [low, high]; neither a bool nor a float."""
    if not _is_integer(number):
        raise InputTypeError(
            f"{named(option)} must be an integer in [{low}, {high_name}={high}]; got {describe(number)}."
        )
    number = operator.index(number)
    if not low <= number <= high:
        raise InputValueError(f"{named(option)} must be an integer in [{low}, {high_name}={high}]; got {number}.")
    return number


def _is_integer(number: Any) -> bool:
    return type(number) is int or (isinstance(number, numbers.Integral) and not isinstance(number, (bool, np.bool_)))


@cache
def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def thread_count(option: str, number: Any) -> int:
    """A positive integer, or every processor that this process may use."""
    if number is None:
        return _processors()
    if not _is_integer(number):
        raise InputTypeError(f"{named(option)} must be None or a positive integer; got {describe(number)}.")
    if operator.index(number) < 1:
        raise InputValueError(f"{named(option)} must be None or a positive integer; got {number}.")
    return operator.index(number)


def device_numbers(option: str, numbers: Any) -> list[int]:
    """Some numbers of devices, each once."""
    allowed = "a sequence of device numbers, each once"
    if not isinstance(numbers, (list, tuple, range)) or not all(_is_integer(number) for number in numbers):
        raise InputTypeError(f"{option} must be {allowed}; got {describe(numbers)}.")
    entries = [operator.index(number) for number in numbers]
    if not entries or min(entries) < 0 or len(set(entries)) < len(entries):
        raise InputValueError(f"{option} must be {allowed}; got {entries}.")
    return entries


def penalty(option: str, number: Any, integers: bool) -> float:
    """A finite number that is not negative; an integer where costs are integers."""
    allowed = "an integer in [0, 2**53]" if integers else "a finite number that is not negative"
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, numbers.Integral if integers else numbers.Real):
        raise InputTypeError(f"{option} must be {allowed}; got {describe(number)}.")
    if not 0 <= float(number) < np.inf or (integers and float(number) > 2**53):
        raise InputValueError(f"{option} must be {allowed}; got {number}.")
    return float(number)


def written_out(option: str, number: Any) -> None:
    """No decimal whose digits would fill the memory once it is an integer or a fraction."""
    if (
        isinstance(number, decimal.Decimal)
        and number.is_finite()
        and abs(int(number.as_tuple().exponent)) > MAX_EXPONENT
    ):
        raise InputValueError(f"{option} must be a decimal of at most {MAX_EXPONENT} digits; got {number}.")


def flag(option: str, choice: Any) -> bool:
    """True or False."""
    if not isinstance(choice, (bool, np.bool_)):
        raise InputTypeError(f"{named(option)} must be True or False; got {describe(choice)}.")
    return bool(choice)


def real_vector(option: str, x: np.ndarray, check_finite: bool = True, threads: int = 1) -> np.ndarray:
    """Check for one dimension of real numbers, at least one; they must be finite, unless `check_finite` is False."""
    _real(option, x)
    if x.ndim != 1:
        raise InputValueError(f"{option} must have one dimension; got an array of shape {x.shape}.")
    if x.size == 0:
        raise InputValueError(f"{option} must hold at least one value; got none.")
    if check_finite:
        finite(option, x, threads)
    return x


def real_table(option: str, X: np.ndarray) -> np.ndarray:
    """Two dimensions of real numbers, at least one row and one column; `finite` is for the caller to check."""
    _real(option, X)
    if X.ndim != 2:
        raise InputValueError(f"{option} must have two dimensions, rows and columns; got an array of shape {X.shape}.")
    if X.size == 0:
        raise InputValueError(f"{option} must hold at least one row and one column; got an array of shape {X.shape}.")
    return X


def _real(option: str, x: np.ndarray) -> None:
    if x.dtype.kind not in "biuf":
        kind = {"c": "complex", "O": "object", "U": "string", "S": "bytes"}.get(x.dtype.kind, describe_dtype(x.dtype))
        raise InputTypeError(f"{option} must hold real numbers; got dtype {kind}.")
    if x.dtype.kind == "f" and x.dtype.itemsize > 8:
        raise InputTypeError(
            f"{option} must be float64 or narrower; got {describe_dtype(x.dtype)}, convert it to float64 first."
        )


def finite(option: str, x: np.ndarray, threads: int = 1) -> None:
    """Neither NaN nor infinity."""
    nans, infinities = not_finite(x, threads)
    if not nans + infinities:
        return
    where = ""
    if x.ndim == 2:
        columns = np.flatnonzero(~np.isfinite(x).all(axis=0))
        names = ", ".join(map(str, columns[:5])) + (", …" if columns.size > 5 else "")
        where = f" in column {names}" if columns.size == 1 else f" in columns {names}"
    refuse(option, nans, infinities, where)


def not_finite(x: np.ndarray, threads: int = 1) -> tuple[int, int]:
    """How many values are NaN, and how many are infinite."""
    if x.dtype.kind != "f":
        return 0, 0
    if threads == 1:
        every = np.isfinite(x).all()
    else:
        every = all(in_parts(lambda first, last: np.isfinite(x[first:last]).all(), len(x), threads))
    if every:
        return 0, 0
    return int(np.isnan(x).sum()), int(np.isinf(x).sum())


def refuse(option: str, nans: int, infinities: int, where: str = "") -> NoReturn:
    """Values were counted that are not finite."""
    kinds = [f"{count} {name}" for count, name in ((nans, "NaN"), (infinities, "infinite")) if count]
    values = "value" if nans + infinities == 1 else "values"
    raise InputValueError(f"{option} contains {' and '.join(kinds)} {values}{where}; drop or impute them first.")


def per_column(option: str, argument: Any, m: int) -> list[Any]:
    """One entry per column, from one for all or from one each."""
    if isinstance(argument, (list, tuple)):
        if len(argument) != m:
            raise InputValueError(f"{option} must be one value, or one per column of X, m={m}; got {len(argument)}.")
        return list(argument)
    return [argument] * m


def positive(option: str, number: Any) -> float:
    """A finite positive number."""
    return _number(option, number, "a positive number", low=np.nextafter(0, 1))


def not_negative(option: str, number: Any) -> float:
    """Zero or a finite positive number."""
    return _number(option, number, "a number that is not negative", low=0)


def seconds(option: str, number: Any) -> float | None:
    """None or a positive number."""
    return (
        None if number is None else _number(option, number, "None or a positive number of seconds", np.nextafter(0, 1))
    )


def gain(option: str, number: Any) -> float:
    """A gain factor; "search" is for the caller."""
    return _number(option, number, "'search' or a number that is not negative", low=0)


def fraction(option: str, number: Any) -> float:
    """A number from 0 to 1."""
    return _number(option, number, "a number from 0 to 1", low=0, high=1)


def _number(option: str, number: Any, allowed: str, low: float, high: float = np.finfo(float).max) -> float:
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, numbers.Real):
        raise InputTypeError(f"{named(option)} must be {allowed}; got {describe(number)}.")
    if not low <= float(number) <= high:
        raise InputValueError(f"{named(option)} must be {allowed}; got {number}.")
    return float(number)


def weights_for(weights: np.ndarray, n: int, per: str = "record, n", option: str = "weights") -> np.ndarray:
    """One weight per record, or per column, not negative, not all zero."""
    weights = real_vector(option, weights, check_finite=False)
    low, high = weights.min(), weights.max()
    if not (math.isfinite(low) and math.isfinite(high)):
        finite(option, weights)
    if weights.size != n:
        raise InputValueError(f"{option} must hold one weight per {per}={n}; got {weights.size}.")
    if low < 0:
        raise InputValueError(f"{option} must not be negative; got {int((weights < 0).sum())} below 0.")
    if high == 0:
        raise InputValueError(f"{option} must not all be zero; got only zeros.")
    return weights


def members_of(option: str, labels: Any, n: int, k: int) -> np.ndarray:
    """A label per record, 0, 1, …, of groups of at least k."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu":
        raise InputTypeError(
            f"{option} must hold integers, a label per record; got dtype {describe_dtype(labels.dtype)}."
        )
    if labels.shape != (n,):
        raise InputValueError(f"{option} must hold one label per record, n={n}; got an array of shape {labels.shape}.")
    _, members, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if sizes.min() < k:
        raise InputValueError(f"{option} must have groups of at least k={k} records; got one of {sizes.min()}.")
    return members


def comparable(option: str, X: np.ndarray) -> np.ndarray:
    """Rows of values that are equal or not, at least one; one dimension is one column."""
    if X.dtype.kind not in "biufUSTMmO":
        raise InputTypeError(
            f"{option} must hold numbers, strings, dates or objects; got dtype {describe_dtype(X.dtype)}."
        )
    if X.ndim not in (1, 2):
        raise InputValueError(f"{option} must have one or two dimensions; got an array of shape {X.shape}.")
    if X.size == 0:
        raise InputValueError(f"{option} must hold at least one row and one column; got an array of shape {X.shape}.")
    return X[:, None] if X.ndim == 1 else X


def same_rows(option: str, rows: int, other: str, n: int) -> None:
    """As many records as another argument has."""
    if rows != n:
        raise InputValueError(f"{option} must have as many records as {other}, n={n}; got {rows}.")


def same_columns(option: str, columns: int, other: str, d: int) -> None:
    """As many columns as another argument has."""
    if columns != d:
        raise InputValueError(f"{option} must have as many columns as {other}, d={d}; got {columns}.")


def unused(option: str, argument: Any, by: str) -> None:
    """Reject an option that would have no effect."""
    if argument is not None:
        raise InputValueError(f"{named(option)} is not used by {by}; leave it out.")


def describe(choice: Any) -> str:
    """How a wrong option is quoted: strings and numbers as they are, anything else by its type."""
    if choice is None or isinstance(choice, (str, numbers.Number, np.generic)):
        return repr(choice.item() if isinstance(choice, np.generic) else choice)
    kind = type(choice).__name__
    return f"{'an' if kind[0] in 'aeio' else 'a'} {kind}"
