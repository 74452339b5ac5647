"""The gain factor: one that was chosen, or the best of those that the thesis tries.

Runs with different factors share the part that does not depend on it, the nearest records of all.  The cost of a group
never falls while records join, so that a run ends as soon as its groups cost more than all of another one.  A run also
finds out up to which factor it would have decided alike: runs up to there are left out.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from mag._compiled.work import work_for
from mag._lib.checks import gain
from mag._lib.progress import Progress
from mag.methods._best_of import best_of, sum_of_squares
from mag.methods.distances.blocks import field_at
from mag.methods.distances.metric import metric_of
from mag.methods.distances.neighbors import neighbor_lists
from mag.methods.mdav.run import Rivals
from mag.methods.mdav.state import list_length

GAMMAS = tuple(g / 10 for g in range(21))  # 0 to 2 in steps of 0.1

Run: TypeAlias = Callable[[float, Rivals | None, int, Progress], np.ndarray | None]


def gammas_of(gamma: Any) -> tuple[float, ...]:
    """The gain factors to try."""
    return GAMMAS if isinstance(gamma, str) and gamma == "search" else (gain("gamma", gamma),)


def rivals_of(X: np.ndarray, k: int, threads: int, progress: Progress) -> Rivals:
    """The state that runs of maximum distance methods share."""
    work, length = work_for(field_at, metric_of(X)), min(list_length(k), len(X) - 1)
    near, _ = neighbor_lists(work, X, length, threads, progress.span(0.0, 0.0))
    return Rivals(X, None if progress.stopped else near)


def best_gamma(
    run: Run, gamma: Any, X: np.ndarray, k: int, threads: int, progress: Progress
) -> tuple[np.ndarray, dict[str, Any]]:
    """The labels of the best of run(gamma, rivals, threads, progress), and which gamma that was, as a detail.

    A single factor has no rivals, None.
    """
    gammas = gammas_of(gamma)
    rivals = rivals_of(X, k, threads, progress) if len(gammas) > 1 else None

    def attempt(gamma: float, threads: int, progress: Progress) -> np.ndarray | None:
        if rivals is None:
            return run(gamma, None, threads, progress)
        others = rivals.seen_from(gamma)
        labels = None if others.run_alike() else run(gamma, others, threads, progress)
        if labels is not None:
            others.end(sum_of_squares(X, labels))
        return labels

    labels, chosen = best_of(attempt, gammas, X, threads, progress)
    return labels, {"gamma": chosen}
