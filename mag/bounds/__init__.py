"""Lower bounds on the cost of any grouping into groups of k records or more.  One bound, one file.

    def bound(X, k, labels, cost, threads, progress) -> Bound

`X` is as for `mag.methods`, `labels` a grouping of it and `cost` its sum of squares, in the units of `X`; so is the
result.  It never exceeds the least possible cost, rounding errors included.  `progress` (`mag._lib.progress.Progress`)
may end the work early, with a lower bound.  A bound that finds a better grouping returns it, too.
"""

from functools import cache

import numpy as np

from mag._lib.progress import Progress
from mag.bounds import branch, lp, neighbor

BOUNDS = {"branch": branch.bound, "lp": lp.bound, "neighbor": neighbor.bound}

DENSE = 2**13  # records whose distances from all others are kept for "lp": 0.5 GB


@cache
def warm_up_bound(name: str) -> None:
    """Compile or load the code of a bound, on generated records."""
    X = np.random.default_rng(0).normal(size=(30, 5))  # so that a gap is left, whose groups are listed
    for seconds in (None, 0.0):
        BOUNDS[name](X, 3, np.zeros(len(X), np.int64), float(np.square(X).sum()), 1, Progress(None, seconds))


def automatic(n: int) -> str:
    """The bound of True: the linear program, which takes minutes for some thousand records, or the neighbors."""
    return "lp" if n <= DENSE else "neighbor"
