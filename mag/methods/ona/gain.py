"""The best gain factor of ONA*γ.

Factors with the same groups of MDAV*γ are polished once.  Those near 1, usually the best, come first, and the others
continue only as long as they may get below these.  Factors of a stage compete only with those of earlier stages, so
that the result does not depend on the number of threads.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from mag._lib.progress import Progress
from mag.methods._best_of import side_by_side, sum_of_squares
from mag.methods.mdav.centroids import CENTROID
from mag.methods.mdav.gain import rivals_of
from mag.methods.mdav.run import run_steps
from mag.methods.mdav.star import star
from mag.methods.ona.rounds import polish_below

BEGINNING = 0.2  # of the progress is for MDAV*γ
STAGES = ((0, 1), (1, 5), (5, None))


def polish_best(
    X: np.ndarray, k: int, gammas: Sequence[float], threads: int, progress: Progress
) -> tuple[np.ndarray, dict[str, Any]]:
    """The labels of the best gain factor, of equally good ones the least, and that factor."""
    rivals, silent = rivals_of(X, k, threads, progress), progress.silent()

    def begin(gamma: float) -> Any:
        others = rivals.seen_from(gamma)
        if others.run_alike():
            return None
        return run_steps(star, X, k, CENTROID, gamma, True, rivals=others, threads=1, progress=silent)

    starts: dict[bytes, tuple[float, np.ndarray]] = {}
    for gamma, labels in zip(gammas, side_by_side(begin, gammas, threads, progress.span(0.0, BEGINNING)), strict=False):
        if labels is not None:
            starts.setdefault(labels.tobytes(), (gamma, labels))
    turns = sorted(starts.values(), key=lambda turn: (abs(turn[0] - 1.0), turn[0]))
    chosen, best, least = *turns[0], np.inf
    for a, b in STAGES:
        some, part = turns[a:b], progress.span(BEGINNING + (1.0 - BEGINNING) * a / len(turns), 1.0)
        if a and progress.stopped:
            break
        polish = partial(polish_below, X, k, least, silent)
        polished = side_by_side(polish, [labels for _, labels in some], threads, part)
        for (gamma, _), labels in zip(some, polished, strict=False):
            if labels is not None and (sum_of_squares(X, labels), gamma) < (least, chosen):
                chosen, best, least = gamma, labels, sum_of_squares(X, labels)
    return best, {"gamma": chosen}
