"""`mag.graphs.degrees`: the k-anonymous degree sequence of least cost."""

from typing import Any

import numpy as np

from mag._lib.arrays import read
from mag._lib.checks import flag, integer, one_of, real_vector
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.interrupt import interruptible
from mag._lib.wording import named
from mag.api.types import DegreeCost
from mag.api.univariate import univariate
from mag.graphs._costs import COST_CODES
from mag.graphs._sequence import follow_groups, group_degrees

GROUPS_WORTH_SOLVING = 2**26  # number of groups from which on it pays to run the solver of one column first


def degrees(degrees: Any, k: int, *, cost: DegreeCost = "sae", parity: bool = True) -> Any:
    """Find the degrees closest to those of a graph such that every degree belongs to at least k vertices.

    Parameters
    ----------
    degrees : array of int, shape (n,)
        The degree of every vertex, from 0 to n-1.
    k : int
        How many vertices must share a degree, in [1, n].
    cost : {"rounddown", "roundup", "sae", "sse_int"}
        The cost of changes: their sum, where degrees only fall, only rise, or do both (``"sae"``), or the
        sum of their squares.
    parity : bool
        Whether the sum must be even, as that of every graph is.

    Returns
    -------
    array of int, shape (n,)
        The new degree of every vertex, from 0 to n-1, in the library of `degrees`.

    Notes
    -----
    No other sequence costs less.  The program of Liu & Terzi is a grouping of one sorted column; an even sum takes a
    second state, and O(nk) time.  Where n·k is large, `mag.univariate` is asked first: if its sum happens to be even,
    that is the answer.

    A graph with these degrees need not exist; `mag.graphs.anonymize` finds one, or other degrees.  Which of the
    vertices of equal degree is changed follows their numbers.

    References
    ----------
    K. Liu & E. Terzi, *Towards identity anonymization on graphs*, SIGMOD 2008.

    Examples
    --------
    >>> import mag
    >>> mag.graphs.degrees([1, 1, 2, 3, 3, 6, 4], k=3)
    array([2, 2, 2, 3, 3, 3, 3])
    >>> mag.graphs.degrees([1, 1, 2, 3, 3, 6, 4], k=3, cost="roundup")
    array([2, 2, 2, 6, 6, 6, 6])
    """
    values, origin = read("degrees", degrees)
    values = real_vector("degrees", values)
    if values.dtype.kind not in "iu":
        raise InputTypeError(f"degrees must hold integers; got dtype {values.dtype.name}.")
    n = values.size
    outside = int(((values < 0) | (values > n - 1)).sum())
    if outside:
        raise InputValueError(f"degrees must be from 0 to n-1={n - 1}; got {outside} others.")
    k, cost, even = integer("k", k, 1, n, "n"), _cost(cost), flag("parity", parity)
    order = np.argsort(values, kind="stable")
    found = np.empty(n, np.int64)
    found[order] = best_degrees(values[order].astype(np.int64), k, cost, even)[0]
    return found if origin is None else origin(found)


def _cost(cost: Any) -> DegreeCost:
    one_of("cost", cost, COST_CODES)
    return cost


def best_degrees(
    v: np.ndarray, k: int, cost: DegreeCost, parity: bool = True, late: bool = False
) -> tuple[np.ndarray, int]:
    """The new degrees of ascending degrees, and their cost; `late` asks for a different solution of equal cost."""
    n = v.size
    away = v - v[n // 2]
    if cost == "sse_int" and float(np.square(away.astype(np.float64)).sum()) > 2**61:
        raise InputValueError(
            f"{named('cost', 'sse_int')} cannot count squares beyond 2**61; choose {named('cost', 'sae')}."
        )
    if n * k > GROUPS_WORTH_SOLVING and not late:
        starts = np.cumsum(univariate(v, k, cost=cost, assume_sorted=True).sizes)
        found, loss = follow_groups(v, np.append(0, starts), n - 1, cost)
        if not (parity and found.sum() % 2):
            return found, loss
    return interruptible(group_degrees, v, k, n - 1, cost, parity, late)
