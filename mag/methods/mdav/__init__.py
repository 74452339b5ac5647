"""The maximum distance methods of chapter 5 of Thaeter's thesis (2021): MD, MDAV, MDAV+, V-MDAV, MDAV* and MDAV*γ.

All of them start groups at records far from the center, which are hard to place later.  Records that are equally far,
and groups that are equally close, are taken in the order of their numbers.
"""

from typing import Any, TypeAlias

import numpy as np

from mag._backends import cpu
from mag._backends.protocol import Backend
from mag._lib.checks import one_of
from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mdav.centroids import CENTROID, CLOSEST
from mag.methods.mdav.gain import best_gamma, gammas_of
from mag.methods.mdav.pairs import pairs
from mag.methods.mdav.run import Rivals, run_steps
from mag.methods.mdav.star import star
from mag.methods.mdav.variable import grow

LabelsAndDetails: TypeAlias = tuple[np.ndarray, dict[str, Any]]


def check(k: int, *, closest: str = "centroid", gamma: float | str = "search") -> np.int64:
    """Refuse what the options cannot be."""
    gammas_of(gamma)
    return _rule(closest)


def md(X: np.ndarray, k: int, *, closest: str = "centroid", threads: int, progress: Progress) -> np.ndarray:
    """Groups around the two records that are farthest from each other (algorithm 1; Domingo-Ferrer & Mateo-Sanz)."""
    return run_steps(pairs, X, k, _rule(closest), False, ends=True, threads=threads, progress=progress)


def mdav(
    X: np.ndarray,
    k: int,
    *,
    engine: Backend = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """… around the record farthest from the centroid, and the one farthest from that (algorithm 2).

    As while, not repeat: fewer than 3k records would otherwise leave a group below k.
    """
    return run_steps(
        pairs, X, k, CENTROID, True, ends=True, engine=engine, trees=trees, threads=threads, progress=progress
    )


def mdav_plus(
    X: np.ndarray,
    k: int,
    *,
    closest: str = "centroid",
    engine: Backend = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """… around the record farthest from the centroid of all (algorithm 3)."""
    return run_steps(
        star, X, k, _rule(closest), 0.0, False, engine=engine, trees=trees, threads=threads, progress=progress
    )


def v_mdav(
    X: np.ndarray, k: int, *, gamma: float | str = "search", closest: str = "centroid", threads: int, progress: Progress
) -> LabelsAndDetails:
    """MDAV+ whose groups grow while the next record is closer to them than to others (algorithm 4)."""
    return _best_gamma(grow, X, k, gamma, closest, threads, progress)


def mdav_star(
    X: np.ndarray,
    k: int,
    *,
    closest: str = "centroid",
    engine: Backend = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """MDAV+ in which a record joins an existing group where that costs less than a new one (algorithm 5)."""
    return run_steps(
        star, X, k, _rule(closest), 1.0, False, engine=engine, trees=trees, threads=threads, progress=progress
    )


def mdav_star_gamma(
    X: np.ndarray, k: int, *, gamma: float | str = "search", closest: str = "centroid", threads: int, progress: Progress
) -> LabelsAndDetails:
    """MDAV* with a gain factor and a look at two records at once (algorithm 6)."""
    return _best_gamma(star, X, k, gamma, closest, threads, progress, True)


def _best_gamma(
    step: Any, X: np.ndarray, k: int, gamma: float | str, closest: str, threads: int, progress: Progress, *others: Any
) -> LabelsAndDetails:
    rule = _rule(closest)

    def run(gamma: float, rivals: Rivals | None, threads: int, progress: Progress) -> np.ndarray | None:
        return run_steps(step, X, k, rule, gamma, *others, rivals=rivals, threads=threads, progress=progress)

    return best_gamma(run, gamma, X, k, threads, progress)


def _rule(closest: str) -> np.int64:
    return CLOSEST[one_of("closest", closest, CLOSEST)]
