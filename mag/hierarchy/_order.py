"""The order of categories, as callers list it."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib.errors import InputValueError
from mag.hierarchy._rules import exact_number
from mag.hierarchy._text import text_of


def ranks_of(option: str, order: Sequence[Any], cells: Sequence[Any]) -> np.ndarray:
    """The rank of every cell, -1 if it has none.

    Text is compared as text.  Other cells are also looked up as text, and as the number that the text represents; two
    entries with the same meaning are rejected.
    """
    known: dict[Any, int] = {}
    numbers: dict[Any, int] = {}
    is_text = all(isinstance(cell, str) for cell in cells)
    for place, entry in enumerate(order):
        meant = None if is_text else exact_number(entry)
        first = known.setdefault(entry, place), place if meant is None else numbers.setdefault(meant, place)
        if first != (place, place):
            raise InputValueError(
                f"{option} must list every value once; entry {place + 1} repeats entry {min(first) + 1}."
            )

    def rank(cell: Any) -> int:
        if isinstance(cell, str):
            return known.get(cell, -1)
        place = known.get(cell, known.get(text_of(cell), -1))
        is_number = isinstance(cell, (int, float, Decimal, Fraction, np.generic))
        return numbers.get(exact_number(cell), -1) if place < 0 and is_number else place

    return np.array([rank(cell) for cell in cells], np.int64)
