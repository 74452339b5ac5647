"""The Lloyd-based methods of chapter 6 of Thaeter's thesis (2021): LMaS, ONA, ONA* and ONA*γ."""

from typing import Any

import numpy as np

from mag._backends import cpu
from mag._backends.protocol import Backend
from mag._lib.checks import integer
from mag._lib.progress import Progress
from mag.methods import kmeans_cleanup
from mag.methods._best_of import Run, best_of
from mag.methods._split import split_large
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mdav import mdav_plus
from mag.methods.mdav.centroids import CENTROID
from mag.methods.mdav.gain import gammas_of
from mag.methods.mdav.run import run_steps
from mag.methods.mdav.star import star
from mag.methods.ona.gain import polish_best
from mag.methods.ona.rounds import polish, shuffle

MAX_RESTARTS = 10**6  # restarts


def check(k: int, *, restarts: int = 10, gamma: float | str = "search") -> int:
    """Refuse what the options cannot be."""
    gammas_of(gamma)
    return integer("restarts", restarts, 1, MAX_RESTARTS, "most")


def lmas(
    X: np.ndarray, k: int, *, restarts: int = 10, random_state: np.random.Generator, threads: int, progress: Progress
) -> np.ndarray:
    """k-means with n/k clusters, small ones merged, large ones split by MDAV+ (algorithm 11); the best of some runs."""
    factor = len(X) // k * k / len(X)

    def run(random: np.random.Generator, threads: int, progress: Progress) -> np.ndarray:
        labels = kmeans_cleanup.group(X, k, factor=factor, random_state=random, threads=threads, progress=progress)
        return split_large(X, k, labels, mdav_plus, threads, progress)

    return _restart(run, check(k, restarts=restarts), X, random_state, threads, progress)


def ona(
    X: np.ndarray, k: int, *, restarts: int = 10, random_state: np.random.Generator, threads: int, progress: Progress
) -> np.ndarray:
    """From random groups, records go to the nearest centroid and groups are dissolved (algorithm 14); the best run."""
    n = len(X)

    def run(random: np.random.Generator, threads: int, progress: Progress) -> np.ndarray:
        labels = np.concatenate([np.arange(n // k * k) // k, random.integers(n // k, size=n % k)])
        random.shuffle(labels)
        return shuffle(X, k, labels, int(random.integers(1, 2**62)), threads, progress)

    return _restart(run, check(k, restarts=restarts), X, random_state, threads, progress)


def _restart(
    run: Run[np.random.Generator],
    restarts: int,
    X: np.ndarray,
    random_state: np.random.Generator,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    starts = random_state.spawn(restarts)
    return best_of(run, starts, X, threads, progress)[0]


def ona_star(
    X: np.ndarray,
    k: int,
    *,
    engine: Backend = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """From the groups of MDAV*, dissolving groups and reassigning records while that costs less (algorithm 15)."""
    first = progress.span(0.0, 0.5)
    labels = run_steps(star, X, k, CENTROID, 1.0, False, engine=engine, trees=trees, threads=threads, progress=first)
    return polish(X, k, labels, threads, progress.span(0.5, 1.0), trees)


def ona_star_gamma(
    X: np.ndarray, k: int, *, gamma: float | str = "search", threads: int, progress: Progress
) -> tuple[np.ndarray, dict[str, Any]]:
    """ONA* from the groups of MDAV*γ; the gain factor is the one with the best result."""
    gammas = gammas_of(gamma)
    if len(gammas) > 1:
        return polish_best(X, k, gammas, threads, progress)
    labels = run_steps(star, X, k, CENTROID, gammas[0], True, threads=threads, progress=progress.span(0.0, 0.5))
    return polish(X, k, labels, threads, progress.span(0.5, 1.0)), {"gamma": gammas[0]}
