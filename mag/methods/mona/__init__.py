"""MONA (section 7.2 of Thaeter's thesis, 2021): Mondrian halves the records, ONA* groups those of each part."""

from typing import Any

import numpy as np

from mag._lib.checks import fraction
from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mona.parts import divide_wide, group_parts
from mag.methods.mondrian.cutting import parts_of_trees
from mag.methods.mondrian.halving import RULE_PAIRS, RULE_VARIANCE, labels_of, parts_of

HALVING = 0.05  # of the progress


def mona(
    X: np.ndarray,
    k: int,
    *,
    rho: float = 0.5,
    trees: CategoryColumns | None = None,
    engine: Any,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """Halve by the column with the largest variance until parts have at most n**rho records (algorithm 20).

    Where there are trees, cut these instead.
    """
    return _mona(X, k, RULE_VARIANCE, rho, threads, progress, engine, trees)


def mona_2d(X: np.ndarray, k: int, *, rho: float = 0.5, engine: Any, threads: int, progress: Progress) -> np.ndarray:
    """… or by the sum or difference of two columns."""
    return _mona(X, k, RULE_PAIRS, rho, threads, progress, engine)


def check(k: int, *, rho: float = 0.5) -> float:
    """Refuse what the options cannot be."""
    return fraction("rho", rho)


def _mona(
    X: np.ndarray,
    k: int,
    rule: np.int64,
    rho: float,
    threads: int,
    progress: Progress,
    engine: Any,
    trees: CategoryColumns | None = None,
) -> np.ndarray:
    limit, first = max(int(len(X) ** check(k, rho=rho)), 2 * k), progress.span(0.0, HALVING)
    if trees is None:
        order, starts = parts_of(X, k, limit, rule, threads, first, engine)
    else:
        order, starts = parts_of_trees(X, k, limit, trees, threads, first)
        order, starts = divide_wide(X, k, order, starts, trees, threads, first)
    turn = np.flatnonzero(np.diff(np.append(starts, len(X))) >= 2 * k)
    labels = group_parts(X, k, order, starts, turn, threads, progress.span(HALVING, 1.0), trees)
    return labels_of(order, starts) + starts.size * labels
