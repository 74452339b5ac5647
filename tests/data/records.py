"""Records of several columns: numbers only."""

import numpy as np


def hostile_tables(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Tables of n records that break implementations, by name."""
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(n, 3))
    clusters = np.repeat(rng.normal(size=(n // 6 + 1, 3)), 6, axis=0)[:n]
    return {
        "normal": normal,
        "skewed": rng.lognormal(0, 3, (n, 3)),
        "integers": rng.integers(-50, 50, (n, 4)),
        "small integers": rng.integers(-128, 128, (n, 2), dtype=np.int8),
        "beyond float64": rng.integers(-(2**63), 2**63 - 1, (n, 2)),
        "booleans": rng.random((n, 3)) < 0.3,
        "duplicates": rng.integers(0, 2, (n, 3)) * 1.0,
        "constant column": np.column_stack([normal, np.full(n, 0.1)]),
        "constant": np.full((n, 3), 0.7),
        "one apart": np.vstack([np.zeros((n - 1, 2)), [[1.0, 2.0]]]),
        "clusters": 1e9 * clusters + 1e-6 * normal,
        "offset": 1e9 + normal,
        "huge": normal * 1e307,
        "tiny": normal * 1e-310,
        "scales": normal * [1e-200, 1.0, 1e200],
        "on a line": np.arange(n)[:, None] * [1.0, -2.0],
        "more columns than records": rng.normal(size=(n, n + 7)),
        "float32": normal.astype(np.float32),
        "Fortran order": np.asfortranarray(normal),
        "every other": np.repeat(normal, 2, axis=0)[::2, ::-1],
    }


def correlated_records(n=60, d=3, seed=0):
    """Correlated columns around 5."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 5


def in_groups_of(k, X):
    """Means of k neighbors in the first column; the last group takes the rest."""
    labels = np.minimum(np.argsort(np.argsort(X[:, 0])) // k, len(X) // k - 1)
    sums = np.zeros((labels.max() + 1, X.shape[1]))
    np.add.at(sums, labels, X)
    return (sums / np.bincount(labels)[:, None])[labels]


def records(n=60, d=3, seed=0):
    """Normal columns."""
    return np.random.default_rng(seed).normal(size=(n, d))
