# mypy: allow-untyped-defs, no-check-untyped-defs
"""Records in the order in which CBFS takes them into groups  (CBFS-MHM, Domingo-Ferrer et al. 2006).

CBFS (Laszlo & Mukherjee 2005) puts the record that is farthest from the mean of all into a group with the k-1 nearest
ones that are left, and so on.
"""

import numpy as np

from mag._compiled.jit import jit
from mag._lib.progress import Progress
from mag.methods.distances.remaining import farthest, measure
from mag.methods.orders.consecutive import IntegerColumns, labels_in_order
from mag.methods.orders.groups_of_k import gather_around, order_of


def group(X: np.ndarray, k: int, *, integers: IntegerColumns | None, progress: Progress) -> np.ndarray:
    """The best groups of consecutive records."""
    return labels_in_order(X, order_of(X, k, gather, progress), k, integers)


@jit
def gather(rest, k, order, done):
    """The k records around the one farthest from the mean; the records are centered."""
    if rest.count[1] < k:
        return done
    measure(rest, np.zeros(rest.x.shape[0]))
    gather_around(rest, rest.x[:, farthest(rest)].copy(), k, order, done)
    return done + k
