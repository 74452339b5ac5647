"""Pairs of least cost: minimum-weight perfect matching  (Thaeter 2021, section 4.3).

These are the best groups of exactly two records; groups of three, which k = 2 allows, can cost less.  Rustworkx finds
matchings, in time that grows with the number of pairs that it may choose from.  Few are enough, by Edmonds' linear
program: every record has one pair altogether, and at least one leaves every set of an odd number of records.  Its dual
lets records pay y, and odd sets a toll, so that no pair costs less than is paid for it; the payments add up to a lower
bound on the cost of a matching.  Pairs that would raise it above the cost of a known matching are in no better one.
"""

import importlib.util
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mag._lib.errors import InputValueError
from mag.methods.distances.neighbors import neighbors

MAX_RECORDS = 2**11  # records: some minutes
FIRST_NEIGHBORS = 10  # neighbors of each record among the first pairs
MAX_PRICING_ROUNDS = 20  # rounds that add odd sets and pairs that cost less than is paid
INTEGER_SCALE = 2.0**60  # costs are matched as integers up to this
CAREFUL = 1e-8  # of all payments: more than their rounding errors

Pairs = tuple[np.ndarray, np.ndarray]


class Dual(NamedTuple):
    """The payments: y[i] by records, toll[set] by odd sets; odd[set, i]: whether i is in it."""

    y: np.ndarray
    odd: np.ndarray
    toll: np.ndarray


def group(X: np.ndarray, k: int, *, threads: int) -> np.ndarray:
    """Labels of pairs; of an odd number of records, one with close neighbors joins the pair where it costs least."""
    if any(importlib.util.find_spec(name) is None for name in ("rustworkx", "scipy")):
        raise ImportError("method 'matching' needs rustworkx and scipy: pip install 'mag-sdc[matching]'.")
    n, matched = len(X), np.arange(len(X))
    if n > MAX_RECORDS:
        raise InputValueError(f"method 'matching' is for at most {MAX_RECORDS} records; got n={n}.")
    near = neighbors(X, 2, threads)
    if n % 2:
        third = _costs(X, matched, near[:, 0]) + _costs(X, matched, near[:, 1]) + _costs(X, near[:, 0], near[:, 1])
        matched = np.delete(matched, np.argmin(third))
    first, second = _best_pairs(X[matched], threads)
    labels = np.full(n, -1)
    labels[matched[first]] = labels[matched[second]] = np.arange(len(first))
    if n % 2:
        (alone,) = np.flatnonzero(labels < 0)
        middle = (X[matched[first]] + X[matched[second]]) / 2
        labels[alone] = np.argmin(np.square(middle - X[alone]).sum(axis=1))
    return labels


def _best_pairs(X: np.ndarray, threads: int) -> Pairs:
    n = len(X)
    near = neighbors(X, min(FIRST_NEIGHBORS, n - 1), threads)
    everyone = np.arange(n)
    ring = np.append(everyone[1:], 0)  # holds a perfect matching
    pairs = _pairs_from_codes(n, np.repeat(everyone, near.shape[1]) * n + near.ravel(), everyone * n + ring)
    odd = np.zeros((0, n), np.bool_)
    dual: Dual
    for _ in range(MAX_PRICING_ROUNDS):
        dual, broken = _dual(X, odd, *pairs)
        unfair, count = _pairs_below(X, dual, -CAREFUL * np.abs(dual.y).mean()), len(pairs[0])
        pairs = _pairs_from_codes(n, pairs[0] * n + pairs[1], unfair[0] * n + unfair[1])
        if len(pairs[0]) == count and not len(broken):
            break
        odd = np.vstack([odd, broken])
    dual.y[:] += [min(0.0, excess.min()) / 2 for excess in _excesses(X, dual)]
    careful = CAREFUL * np.abs(dual.y).sum()
    known = _match(X, *_pairs_below(X, dual, careful)) or _match(X, *pairs)
    assert known is not None  # the ring is among the pairs
    spare = _costs(X, *known).sum() - dual.y.sum() - dual.toll.sum()
    return known if spare <= careful else _match(X, *_pairs_below(X, dual, spare + careful)) or known


def _costs(X: np.ndarray, i: Any, j: Any) -> np.ndarray:
    return np.square(X[i] - X[j]).sum(axis=1) / 2


def _excesses(X: np.ndarray, dual: Dual) -> Iterator[np.ndarray]:
    """For each record in turn, the excess of the cost of its pairs over the payments."""
    paying = dual.toll > 0
    odd = dual.odd[paying].astype(np.float64)
    tolls = odd.T * dual.toll[paying]
    paid = dual.y + tolls.sum(axis=1)
    for i in range(len(X)):
        inside = np.flatnonzero(odd[:, i])
        excess = _costs(X, [i], slice(None)) - paid - paid[i] + 2 * tolls[:, inside].sum(axis=1)
        excess[i] = np.inf
        yield excess


def _pairs_from_codes(n: int, *codes: np.ndarray) -> Pairs:
    """Pairs i < j, each once, from numbers i·n + j."""
    i, j = divmod(np.concatenate(codes), n)
    return divmod(np.unique(np.minimum(i, j) * n + np.maximum(i, j)), n)


def _pairs_below(X: np.ndarray, dual: Dual, most: float) -> Pairs:
    """All pairs whose cost exceeds the payments by at most `most`."""
    partners = [np.flatnonzero(excess[i + 1 :] <= most) + i + 1 for i, excess in enumerate(_excesses(X, dual))]
    return np.repeat(np.arange(len(X)), [len(some) for some in partners]), np.concatenate(partners)


def _dual(X: np.ndarray, odd: np.ndarray, first: np.ndarray, second: np.ndarray) -> tuple[Dual, np.ndarray]:
    """Payments of fractional matching with these pairs, and more odd sets that all its pairs stay inside of."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array
    from scipy.sparse.csgraph import connected_components

    n, m = len(X), len(first)
    incidence = csc_array((np.ones(2 * m), (np.append(first, second), np.tile(np.arange(m), 2))), shape=(n, m))
    costs = _costs(X, first, second)
    unit = costs.mean() or 1.0
    crossing = {"A_ub": csc_array(-1.0 * (odd[:, first] != odd[:, second])), "b_ub": -np.ones(len(odd))}
    solution = linprog(costs / unit, A_eq=incidence, b_eq=np.ones(n), **(crossing if len(odd) else {}), method="highs")
    used = solution.x > 1e-6
    links = csc_array((np.ones(used.sum()), (first[used], second[used])), shape=(n, n))
    count, member = connected_components(links, directed=False)
    sets = np.arange(count)[:, None] == member
    return (
        Dual(solution.eqlin.marginals * unit, odd, -solution.ineqlin.marginals * unit if len(odd) else np.zeros(0)),
        sets[sets.sum(axis=1) % 2 == 1],
    )


def _match(X: np.ndarray, first: np.ndarray, second: np.ndarray) -> Pairs | None:
    """The perfect matching of least cost with some of these pairs; None if no perfect matching exists."""
    import rustworkx

    costs = _costs(X, first, second)
    weights = int(INTEGER_SCALE) - np.rint(costs / (costs.max(initial=0.0) or 1.0) * INTEGER_SCALE).astype(np.int64)
    graph = rustworkx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(len(X)))
    graph.add_edges_from(list(zip(first.tolist(), second.tolist(), weights.tolist(), strict=True)))
    matched = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    if 2 * len(matched) < len(X):
        return None
    pairs = np.sort(np.array(sorted(matched)), axis=1)
    return tuple(pairs[np.argsort(pairs[:, 0])].T)
