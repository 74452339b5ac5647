"""MONA (section 7.2 of Thaeter's thesis, 2021): Mondrian halves the records, ONA* groups those of each part."""

from typing import Any

import numpy as np

from mag._lib.checks import fraction
from mag._lib.progress import Progress
from mag.methods.mona.parts import group_parts
from mag.methods.mondrian.halving import PAIRS, VARIANCE, labels_of, parts_of

HALVING = 0.05  # of the progress


def mona(X: np.ndarray, k: int, *, rho: float = 0.5, engine: Any, threads: int, progress: Progress) -> np.ndarray:
    """Halve by the column with the largest variance until parts have at most n**rho records (algorithm 20)."""
    return _mona(X, k, VARIANCE, rho, threads, progress, engine)


def mona_2d(X: np.ndarray, k: int, *, rho: float = 0.5, engine: Any, threads: int, progress: Progress) -> np.ndarray:
    """… or by the sum or difference of two columns."""
    return _mona(X, k, PAIRS, rho, threads, progress, engine)


def check(k: int, *, rho: float = 0.5) -> float:
    """Refuse what the options cannot be."""
    return fraction("rho", rho)


def _mona(
    X: np.ndarray, k: int, rule: np.int64, rho: float, threads: int, progress: Progress, engine: Any
) -> np.ndarray:
    limit = int(len(X) ** check(k, rho=rho))
    order, starts = parts_of(X, k, max(limit, 2 * k), rule, threads, progress.span(0.0, HALVING), engine)
    sizes = np.diff(np.append(starts, len(X)))
    labels = group_parts(X, k, order, starts, np.flatnonzero(sizes >= 2 * k), threads, progress.span(HALVING, 1.0))
    return labels_of(order, starts) + starts.size * labels
