"""Values that look like codes, which would be averaged as amounts, and zeros that vanish."""

import warnings
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from mag._lib.caller import level_of_caller
from mag._lib.errors import CodesWarning
from mag.frames import frame_of
from mag.frames.units import Units
from mag.measures.codes import Codes, find_codes


def warn_of_codes(units: Mapping[Hashable, Any], k: Mapping[Hashable, Any]) -> None:
    """Warn of columns of numbers that look like codes; values of fewer than k records are not named."""
    for name, unit in units.items():
        if isinstance(unit, Units) and unit.kind == "number" and isinstance(k[name], int):
            for sentence in _describe_codes(name, find_codes(_numbers(unit)), k[name]):
                warnings.warn(sentence, CodesWarning, stacklevel=level_of_caller())


def _describe_codes(name: Hashable, codes: Codes, least: int) -> list[str]:
    sentences = []
    if codes.missing:
        sentences.append(
            f"Column {name!r} has values that look like missing codes: {codes.describe_missing(least)}; they are "
            "averaged as numbers unless you replace them by missing values."
        )
    if codes.categories:
        sentences.append(
            f"Column {name!r} has {codes.categories} whole values; means of codes tell nothing: pass "
            f"aggregate={{{name!r}: 'mode'}}, or list it in keep=."
        )
    return sentences


def describe_lost_zeros(name: Hashable, unit: Any, published: Any, k: Any) -> dict[str, str]:
    """How many zeros masking has replaced, where zeros are many among amounts, and no fewer than k are replaced.

    As a sentence, and the same without figures.
    """
    if not (isinstance(unit, Units) and unit.kind == "number" and isinstance(k, int)):
        return {}
    before = find_codes(_numbers(unit)).zeros if (unit.values == 0).any() else 0
    if not before:
        return {}
    lost = before - int((_numbers(frame_of(published).column(name).units()) == 0).sum())
    without = f"Zeros of {name} were averaged with other numbers."
    return {f"Zeros of {name}: {lost} of {before} were averaged with other numbers.": without} if lost >= k else {}


def _numbers(unit: Units) -> np.ndarray:
    numbers = unit.floats()
    return numbers if unit.missing is None else numbers[~unit.missing]
