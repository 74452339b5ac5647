"""The least cost of one sorted column in rational numbers: nothing shared with the solvers."""

import math
from fractions import Fraction

from mag.costs import COSTS


def exactly(x):
    """The values as integers times a power of two, which does not matter here."""
    ratios = [float(value).as_integer_ratio() for value in x]
    denominator = max(d for _, d in ratios)
    return [p * (denominator // d) for p, d in ratios]


def exact_costs(name, x, k, w=None):
    """A function (i, j) -> the cost of x[i:j], an integer multiple of some unit."""
    x = exactly(x)
    w = [1] * len(x) if w is None else exactly(w)
    W, S, Q = [0], [0], [0]
    for value, weight in zip(x, w, strict=True):
        W.append(W[-1] + weight)
        S.append(S[-1] + weight * value)
        Q.append(Q[-1] + weight * value * value)
    common = math.lcm(*range(k, 2 * k)) if name == "sse" else 1

    def sse(i, j):
        return common * (Q[j] - Q[i]) - (S[j] - S[i]) ** 2 * (common // (j - i))

    def sse_weighted(i, j):
        return (Q[j] - Q[i]) - (Fraction((S[j] - S[i]) ** 2, W[j] - W[i]) if W[j] > W[i] else 0)

    def sse_int(i, j):
        s, size = S[j] - S[i], j - i
        c = (2 * s + size) // (2 * size)
        return (Q[j] - Q[i]) - 2 * c * s + size * c * c

    def sae(i, j):
        half = (j - i) // 2
        return (S[j] - S[j - half]) - (S[i + half] - S[i])

    def by_definition(i, j):
        return COSTS[name].rational([*map(Fraction, x[i:j])], [*map(Fraction, w[i:j])])

    return {
        "maxdist": lambda i, j: x[j - 1] - x[i],
        "rounddown": lambda i, j: S[j] - S[i] - (j - i) * x[i],
        "roundup": lambda i, j: (j - i) * x[j - 1] - (S[j] - S[i]),
        "sae": sae,
        "sse": sse,
        "sse_int": sse_int,
        "sse_weighted": sse_weighted,
    }.get(name, by_definition)


def exact_optimum(cost, n, k):
    """The least cost; with exact numbers no best row lies before that of an earlier column."""
    F, first = [0] + [None] * n, 0
    for j in range(k, n + 1):
        rows = (i for i in range(max(first, j - 2 * k + 1), j - k + 1) if F[i] is not None)
        F[j], first = min((F[i] + cost(i, j), -i) for i in rows)
        first = -first
    return F[n]
