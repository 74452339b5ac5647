"""Lower bounds: what any grouping into groups of k records or more costs at least.  One bound, one file.

    def bound(X, k, cost, threads, progress) -> float

`X` is as for `mag.methods`, `cost` the sum of squares of a grouping of it, in the units of `X`; so is what is returned.
It is never above the least cost that there is, rounding errors included.  `progress` (`mag._lib.progress.Progress`) may
end the work early, at a lower bound.
"""

from functools import cache

import numpy as np

from mag._lib.progress import Progress
from mag.bounds import lp, neighbor

BOUNDS = {"lp": lp.bound, "neighbor": neighbor.bound}

DENSE = 2**13  # records whose distances from all others are kept for "lp": 0.5 GB


@cache
def warm_up_bound(name: str) -> None:
    """Compile, or load, what a bound takes: on made-up records."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    for seconds in (None, 0.0):
        BOUNDS[name](X, 3, float(np.square(X).sum()), 1, Progress(None, seconds))


def automatic(n: int) -> str:
    """The bound of True: the linear program, which takes minutes for some thousand records, or the neighbors."""
    return "lp" if n <= DENSE else "neighbor"
