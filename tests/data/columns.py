"""Sorted columns of many shapes, and their weights."""

import numpy as np


def clusters(n, k, rng, apart=1e9, wide=1e-6):
    """Clusters of about 2k points, far apart beside their width."""
    counts = rng.integers(2 * k - k // 2, 2 * k + k // 2 + 1, n // k + 1)
    return np.sort(np.repeat(np.arange(counts.size) * apart, counts)[:n] + rng.random(n) * wide)


SHAPES = {
    "uniform": lambda n, k, rng: rng.random(n),
    "constant": lambda n, k, rng: np.full(n, 3.0),
    "arange": lambda n, k, rng: np.arange(n, dtype=float),
    "quadratic": lambda n, k, rng: np.arange(n, dtype=float) ** 2,
    "poisson": lambda n, k, rng: rng.poisson(3.0, n).astype(float),
    "geometric": lambda n, k, rng: 1.05 ** (np.arange(n) % 5000),
    "cauchy": lambda n, k, rng: rng.standard_cauchy(n),
    "offset": lambda n, k, rng: 1e9 + rng.random(n),
    "clusters": clusters,
    "finer clusters": lambda n, k, rng: clusters(n, k, rng, 1e6, 1e-3),
    "two scales": lambda n, k, rng: clusters(n, k, rng, 1e3, 1.0) + 1e7 * (np.arange(n) // (5 * k)),
}


def data(shape, n, k, name, seed=0):
    rng = np.random.default_rng([seed, n, k])
    x = np.sort(SHAPES[shape](n, k, rng))
    if name == "sse_int":  # integers whose sums float64 holds exactly
        x = np.floor(x / max(1.0, np.abs(x).max() / 1e5) * 100)
    # An anchor without weight far from the rest of its group costs precision, in every solver: no zeros among clusters.
    least = 1 if "clusters" in shape or shape == "two scales" else 0
    w = rng.integers(least, 4, n).astype(float) if name == "sse_weighted" else None
    return x, w
