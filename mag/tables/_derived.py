"""Columns that follow from masked ones: `follow`, by means of the groups of another column, and `sums` of others."""

import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.roles import names_of
from mag.api.table_options import Options
from mag.frames import frame_of
from mag.frames.base import Column
from mag.frames.units import Units, to_integers
from mag.tables._round import round_floats

DERIVED = ("follow", "sums")  # options that name these columns


def derived_columns(options: Options, names: Sequence[Hashable], masked: Sequence[Hashable]) -> list[Hashable]:
    """The columns that `follow` and `sums` publish, checked: each is a column of the table, and of no other list."""
    found: list[Hashable] = []
    for option in DERIVED:
        setting = getattr(options, option)
        if setting is not None and not isinstance(setting, Mapping):
            raise InputTypeError(f"{option} must be a dictionary by column; got {checks.describe(setting)}.")
        for name in setting or ():
            if name not in names:
                raise InputValueError(f"{option} must name columns of the table; got {name!r}.")
            if name in masked or name in found:
                raise InputValueError(f"{option} must name columns that are not masked otherwise; got {name!r}.")
            found.append(name)
    if found and options.scope != "joint":
        raise InputValueError(f"follow and sums are for scope='joint'; got scope={options.scope!r}.")
    for option in ("sets", "household"):
        if found and getattr(options, option) is not None:
            raise InputValueError(f"follow and sums are not used with {option}; leave one out.")
    return found


def check_sources(options: Options, scales: Mapping[Hashable, str], aggregates: Mapping[Hashable, str]) -> None:
    """Columns are followed if they are masked; parts of sums are masked numbers that are published as numbers."""
    for name, source in (options.follow or {}).items():
        if source not in scales:
            raise InputValueError(f"follow[{name!r}] must be a column that is masked; got {source!r}.")
    for name, listed in (options.sums or {}).items():
        parts = names_of(listed, list(scales))
        followers = options.follow or {}
        if not parts or (wrong := [part for part in parts if part not in scales and part not in followers]):
            got = ", ".join(map(repr, wrong)) if parts else "none"
            raise InputValueError(f"sums[{name!r}] must be columns that are masked, or follow one; got {got}.")
        for part in parts:
            number = part in followers or (scales[part] == "number" and aggregates[part] != "range")
            if not number or part in (options.special or {}):
                raise InputValueError(
                    f"sums[{name!r}] must be columns of numbers without special values, published as numbers; got "
                    f"{part!r}."
                )


def publish_sum(
    column: Column, name: Hashable, unit: Units, published: Mapping[Hashable, Any], decimals: int | None
) -> Any:
    """The sums of published parts as cells of a column, rounded once; missing where a part is missing.

    Parts are read as they are published: in a column of float32 these are other numbers than its means.
    """
    parts = [_read(part, cells) for part, cells in published.items()]
    absent = [own.missing for own in parts if own.missing is not None]
    missing = np.logical_or.reduce(absent) if absent else None
    try:
        values = _add_up(unit, parts, decimals)
        with np.errstate(over="ignore"):
            cells = column.to_column(values, np.arange(values.size), missing)
        fits = _is_held(_read(name, cells), values)
    except Exception:  # of a library, whose message may quote sums; each has another one for numbers that are too large
        fits = False
    if not fits:
        raise InputValueError(
            f"sums[{name!r}] must be a column whose type can hold the sums of {', '.join(map(str, published))}; some "
            "are beyond it, convert it to a wider type."
        )
    return cells


def _read(name: Hashable, cells: Any) -> Units:
    return frame_of({name: cells}).column(name).units()


def _is_held(held: Units, values: np.ndarray) -> bool:
    """Whether cells hold these sums, floats as their type rounds them."""
    there = slice(None) if held.missing is None else ~held.missing
    if held.is_integer:
        return held.values[there].tolist() == values[there].tolist()
    return bool(np.isfinite(held.values[there]).all())


def _add_up(unit: Units, parts: Sequence[Units], decimals: int | None) -> np.ndarray:
    """In the column's own units; integers and decimals exactly."""
    if unit.is_integer and all(own.is_integer for own in parts):
        ratios = [Fraction(str(own.step)) / Fraction(str(unit.step)) for own in parts]
        scale = math.lcm(*(ratio.denominator for ratio in ratios))
        exact = sum(own.values.astype(object) * int(ratio * scale) for own, ratio in zip(parts, ratios, strict=True))
        return to_integers([_round_half_away(int(value), scale) for value in np.asarray(exact).tolist()])
    every = np.stack([own.values.astype(np.float64) * own.step for own in parts], axis=1)
    totals = np.array([math.fsum(row) for row in every.tolist()])
    if unit.is_integer:
        return to_integers([_round_half_away(*(value / unit.step).as_integer_ratio()) for value in totals.tolist()])
    return (totals if decimals is None else round_floats(totals, decimals, unit.largest)) + 0.0


def _round_half_away(number: int, divisor: int) -> int:
    return (abs(number) * 2 + divisor) // (2 * divisor) * (1 if number >= 0 else -1)
