# mypy: allow-untyped-defs, no-check-untyped-defs
"""Records in the order in which MDAV takes them into groups  (MDAV-MHM, Domingo-Ferrer et al. 2006).

The groups of MDAV itself are among those of consecutive records, so that this never loses more than MDAV.
"""

import numpy as np

from mag._compiled.jit import jit
from mag._lib.progress import Progress
from mag.methods.distances.remaining import farthest, mean, measure
from mag.methods.orders.consecutive import IntegerColumns, labels_in_order
from mag.methods.orders.groups_of_k import gather_around, order_of


def group(X: np.ndarray, k: int, *, integers: IntegerColumns | None, progress: Progress) -> np.ndarray:
    """The best groups of consecutive records."""
    return labels_in_order(X, order_of(X, k, gather, progress), k, integers)


@jit
def gather(rest, k, order, done):
    """The k records around the one farthest from the mean, then the k around the one farthest from that."""
    if rest.count[1] < 2 * k:
        return done
    center = np.empty(rest.x.shape[0])
    mean(rest, center)
    measure(rest, center)
    r = rest.x[:, farthest(rest)].copy()
    measure(rest, r)
    s = rest.x[:, farthest(rest)].copy()
    gather_around(rest, r, k, order, done)
    gather_around(rest, s, k, order, done + k)
    return done + 2 * k
