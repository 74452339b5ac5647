"""The fewest edges to change, proven: an integer program."""

import importlib.util
import itertools

import numpy as np

from mag._lib.errors import InputRuntimeError, InputValueError
from mag._lib.wording import named

MAX_EXACT_VERTICES = 64  # vertices; some 40 take seconds


def change_fewest(pairs: np.ndarray, d: np.ndarray, k: int, removals: bool) -> np.ndarray:
    """Edges of a graph with k-anonymous degrees that differs in the fewest pairs; by added ones only, or by both.

    x[e] = 1 changes pair e; y[v, t] = 1 gives v degree t, and z[t] = 1 allows degree t.  Σ_t y[v, t] = 1,
    d[v] + Σ_{e ∋ v} ±x[e] = Σ_t t·y[v, t], Σ_v y[v, t] ≥ k·z[t], y[v, t] ≤ z[t]; Σ x is least.
    """
    if importlib.util.find_spec("scipy") is None:
        raise ImportError(f"{named('exact', True)} needs scipy: pip install 'mag-sdc[matching]'.")
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import lil_array

    n = d.size
    if n > MAX_EXACT_VERTICES:
        raise InputValueError(f"{named('exact', True)} is for at most {MAX_EXACT_VERTICES} vertices; got n={n}.")
    there = {tuple(pair) for pair in pairs.tolist()}
    changes = [pair for pair in itertools.combinations(range(n), 2) if removals or pair not in there]
    y, z = len(changes), len(changes) + n * n
    count = z + n
    degree = lil_array((n, count))  # d[v] = Σ t·y[v, t] - Σ ±x[e]
    for e, (u, w) in enumerate(changes):
        degree[u, e] = degree[w, e] = 1 if (u, w) in there else -1
    one, crowd, used = lil_array((n, count)), lil_array((n, count)), lil_array((n * n, count))
    for v, t in itertools.product(range(n), range(n)):
        place = y + v * n + t
        degree[v, place], one[v, place], crowd[t, place] = t, 1, 1
        used[v * n + t, place], used[v * n + t, z + t] = -1, 1
    for t in range(n):
        crowd[t, z + t] = -k
    solved = milp(
        (np.arange(count) < y).astype(np.float64),
        integrality=np.ones(count),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(degree.tocsr(), d, d),
            LinearConstraint(one.tocsr(), 1, 1),
            LinearConstraint(crowd.tocsr(), 0, np.inf),
            LinearConstraint(used.tocsr(), 0, np.inf),
        ],
        options={"mip_rel_gap": 0},
    )
    if solved.status != 0:
        raise InputRuntimeError(f"{named('exact', True)} was not solved by HiGHS; leave it out.")
    changed = {changes[e] for e in np.flatnonzero(solved.x[:y] > 0.5)}
    return np.array(sorted(there ^ changed), np.int64).reshape(-1, 2)
