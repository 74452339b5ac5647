"""The best of several runs, side by side: gain factors to choose from, random starts."""

import numpy as np

from mag._lib.checks import gain
from mag._lib.threads import each

GAMMAS = tuple(g / 10 for g in range(21))  # what the thesis tries: 0 to 2 in steps of 0.1


def best_of(run, choices, X, threads, progress):
    """The labels of the cheapest run(choice, threads, progress), the first of equally cheap ones, and its choice.

    When the time is up, of those that have begun; there is always one.
    """
    if len(choices) == 1:
        return run(choices[0], threads, progress), choices[0]
    found, silent = [], progress.silent()
    for a in range(0, len(choices), threads):
        some = choices[a : a + threads]
        found += each(lambda choice: run(choice, 1, silent), some, threads)
        if progress.step(len(found) / len(choices)):
            break
    best = int(np.argmin([sum_of_squares(X, labels) for labels in found]))
    return found[best], choices[best]


def gammas_of(gamma):
    """The gain factors that are asked for."""
    return GAMMAS if isinstance(gamma, str) and gamma == "search" else (gain("gamma", gamma),)


def best_gamma(run, gamma, X, threads, progress):
    """`best_of` the gain factors that are asked for; which one it was is told in the details of the result."""
    labels, chosen = best_of(run, gammas_of(gamma), X, threads, progress)
    return labels, {"gamma": chosen}


def sum_of_squares(X, labels):
    """The sum of squared distances to the means of the groups."""
    sizes = np.bincount(labels)
    total = 0.0
    for x in X.T:
        means = np.bincount(labels, x) / np.maximum(sizes, 1)
        total += float(np.square(x - means[labels]).sum())
    return total
