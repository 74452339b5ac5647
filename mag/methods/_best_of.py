"""The best of several runs, side by side: gain factors to choose from, random starts."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from mag._lib.checks import gain
from mag._lib.progress import Progress
from mag._lib.threads import each

Choice = TypeVar("Choice")
Run: TypeAlias = Callable[[Choice, int, Progress], np.ndarray]  # labels, of a choice, threads and progress

GAMMAS = tuple(g / 10 for g in range(21))  # what the thesis tries: 0 to 2 in steps of 0.1


def best_of(
    run: Run[Choice], choices: Sequence[Choice], X: np.ndarray, threads: int, progress: Progress
) -> tuple[np.ndarray, Choice]:
    """The labels of the cheapest run(choice, threads, progress), the first of equally cheap ones, and its choice.

    When the time is up, of those that have begun; there is always one.
    """
    if len(choices) == 1:
        return run(choices[0], threads, progress), choices[0]
    groupings: list[np.ndarray] = []
    silent = progress.silent()
    for a in range(0, len(choices), threads):
        some = choices[a : a + threads]
        groupings += each(lambda choice: run(choice, 1, silent), some, threads)
        if progress.step(len(groupings) / len(choices)):
            break
    best = int(np.argmin([sum_of_squares(X, labels) for labels in groupings]))
    return groupings[best], choices[best]


def gammas_of(gamma: Any) -> tuple[float, ...]:
    """The gain factors to try."""
    return GAMMAS if isinstance(gamma, str) and gamma == "search" else (gain("gamma", gamma),)


def best_gamma(
    run: Run[float], gamma: Any, X: np.ndarray, threads: int, progress: Progress
) -> tuple[np.ndarray, dict[str, Any]]:
    """`best_of` the gain factors to try; the details of the result say which one it was."""
    labels, chosen = best_of(run, gammas_of(gamma), X, threads, progress)
    return labels, {"gamma": chosen}


def sum_of_squares(X: np.ndarray, labels: np.ndarray) -> float:
    """The sum of squared distances to the means of the groups."""
    sizes = np.bincount(labels)
    total = 0.0
    for x in X.T:
        means = np.bincount(labels, x) / np.maximum(sizes, 1)
        total += float(np.square(x - means[labels]).sum())
    return total
