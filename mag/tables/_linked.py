"""Kept columns that nearly give a masked one: by rank correlation, or because their values determine it."""

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mag._lib.caller import level_of_caller
from mag._lib.errors import InputError, LinkedColumnsWarning
from mag._lib.number import number_rows
from mag.frames import Frame
from mag.frames.units import RefusedColumnError, Units

MIN_CORRELATION = 0.95  # of ranks
MIN_LAMBDA = 0.9  # Goodman and Kruskal's: the share of wrong guesses that knowing the kept value avoids
MIN_RECORDS_COMPARED = 30  # of fewer records, columns are alike by chance
MAX_RECORDS_COMPARED = 100_000


def describe_linked(
    frame: Frame, rows: np.ndarray, kept: Sequence[Hashable], masked: Mapping[Hashable, Any]
) -> dict[str, str]:
    """Sentences with figures, of all published records or of evenly spaced ones, and the same without figures."""
    if rows.size < MIN_RECORDS_COMPARED:
        return {}
    places = np.arange(rows.size)[:: -(-rows.size // MAX_RECORDS_COMPARED)]
    sentences = {}
    for name in kept:
        own = _Known.of(frame, name, rows[places])
        for other, unit in masked.items():
            if own is not None and (figure := own.compare(_values_of(unit, places))):
                sentence = f"{name} is published unchanged, and nearly gives {other}"
                sentences[f"{sentence}: {figure}."] = f"{sentence}."
    return sentences


def warn_of_linked(sentences: Iterable[str]) -> None:
    """The same for the caller of `mag.microaggregate`."""
    for sentence in sentences:
        warnings.warn(sentence, LinkedColumnsWarning, stacklevel=level_of_caller())


class _Known:
    """A kept column: numbers of equal cells, and ranks if they are numbers; NaN where missing."""

    def __init__(self, codes: np.ndarray, ranks: np.ndarray | None) -> None:
        self.codes, self.ranks = codes, ranks

    @classmethod
    def of(cls, frame: Frame, name: Hashable, rows: np.ndarray) -> "_Known | None":
        column = frame.column(name)
        try:
            codes = column.codes()[rows]
        except InputError:  # cells that cannot be compared
            return None
        try:
            return cls(codes, column.units().floats()[rows])
        except (RefusedColumnError, InputError):
            return cls(codes, None)

    def compare(self, values: np.ndarray) -> str:
        """A figure if it is notable."""
        there = ~np.isnan(values)
        if self.ranks is not None:
            both = there & ~np.isnan(self.ranks)
            correlation = _rank_correlation(self.ranks[both], values[both])
            if abs(correlation) >= MIN_CORRELATION:
                return f"rank correlation {correlation:.3f}"
        share = _share_given(self.codes[there], values[there])
        return f"its value determines that of {100 * share:.1f} % of the records" if share else ""


def _values_of(unit: Any, places: np.ndarray) -> np.ndarray:
    """The masked column before masking, as numbers; NaN where missing."""
    numbers = unit.floats() if isinstance(unit, Units) else unit.values.astype(np.float64)
    if unit.missing is not None:
        numbers[unit.missing] = np.nan
    return numbers[places]


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Spearman's; 0 where it is not defined."""
    if first.size < MIN_RECORDS_COMPARED:
        return 0.0
    ranks = np.stack([_mean_ranks(first), _mean_ranks(second)])
    return float(np.corrcoef(ranks)[0, 1]) if np.ptp(ranks, axis=1).all() else 0.0


def _mean_ranks(values: np.ndarray) -> np.ndarray:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place]


def _share_given(codes: np.ndarray, values: np.ndarray) -> float:
    """The share of the records whose value is the most frequent one of their kept value, where that is notable.

    Kept values of a single record say nothing here: half of the records must share theirs with others.
    """
    kept = number_rows([np.unique(codes, return_inverse=True)[1]])
    shared = np.bincount(kept, minlength=1)[kept] > 1 if kept.size else np.zeros(0, bool)
    if 2 * int(shared.sum()) < max(codes.size, MIN_RECORDS_COMPARED):
        return 0.0
    kept, value = number_rows([kept[shared]]), np.unique(values[shared], return_inverse=True)[1]
    pair = number_rows([kept, value])
    most = np.zeros(int(kept.max()) + 1, np.int64)
    np.maximum.at(most, kept, np.bincount(pair)[pair])
    given, guessed = most.sum() / kept.size, np.bincount(value).max() / kept.size
    return float(given) if guessed < 1 and given - guessed >= MIN_LAMBDA * (1 - guessed) else 0.0
