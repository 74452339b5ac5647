"""The best of several runs, side by side: gain factors to choose from, random starts."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from mag._lib.progress import Progress
from mag._lib.threads import each_in_time

Choice = TypeVar("Choice")
Found = TypeVar("Found")
Run: TypeAlias = Callable[[Choice, int, Progress], np.ndarray | None]  # labels, of a choice, threads and progress


def best_of(
    run: Run[Choice], choices: Sequence[Choice], X: np.ndarray, threads: int, progress: Progress
) -> tuple[np.ndarray, Choice]:
    """The labels of the cheapest run(choice, threads, progress), the first of equally cheap ones, and its choice.

    A run that finds out that it is not the cheapest one may return None.  When the time is up, of those that have
    begun; there is always one.
    """
    if len(choices) == 1:
        labels = run(choices[0], threads, progress)
        assert labels is not None  # there is no other
        return labels, choices[0]
    silent = progress.silent()
    groupings = side_by_side(lambda choice: run(choice, 1, silent), choices, threads, progress)
    ended = [(labels, choice) for labels, choice in zip(groupings, choices, strict=False) if labels is not None]
    return ended[int(np.argmin([sum_of_squares(X, labels) for labels, _ in ended]))]


def side_by_side(
    function: Callable[[Choice], Found], choices: Sequence[Choice], threads: int, progress: Progress
) -> list[Found]:
    """[function(choice) for choice in choices], or of the first of them when the time is up; there is always one."""

    def is_over() -> bool:
        return progress.seconds_left() <= 0

    found: list[Found] = []
    for a in range(0, len(choices), 2 * threads):
        some = choices[a : a + 2 * threads]
        found += each_in_time(function, some, threads, is_over)
        found = found or [function(some[0])]
        if progress.step(len(found) / len(choices)):
            break
    return found


def sum_of_squares(X: np.ndarray, labels: np.ndarray) -> float:
    """The sum of squared distances to the means of the groups."""
    sizes = np.bincount(labels)
    total = 0.0
    for x in X.T:
        means = np.bincount(labels, x) / np.maximum(sizes, 1)
        total += float(np.square(x - means[labels]).sum())
    return total
