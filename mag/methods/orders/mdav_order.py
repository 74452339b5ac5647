"""Records in the order in which MDAV takes them into groups  (MDAV-MHM, Domingo-Ferrer et al. 2006).

The groups of MDAV itself are among those of consecutive records, so that this never loses more than MDAV.
"""

import numpy as np

from mag._compiled.jit import jit
from mag.methods.distances.remaining import farthest, mean, measure
from mag.methods.orders.consecutive import labels_in_order
from mag.methods.orders.groups_of_k import gather_around, order_of


def group(X, k, *, whole, progress):
    """The best groups of consecutive records."""
    return labels_in_order(X, order_of(X, k, gather, progress), k, whole)


@jit
def gather(left, k, found, done):
    """The k records around the one farthest from the mean, then the k around the one farthest from that."""
    if left.count[1] < 2 * k:
        return done
    center = np.empty(left.x.shape[0])
    mean(left, center)
    measure(left, center)
    r = left.x[:, farthest(left)].copy()
    measure(left, r)
    s = left.x[:, farthest(left)].copy()
    gather_around(left, r, k, found, done)
    gather_around(left, s, k, found, done + k)
    return done + 2 * k
