"""Inputs that break implementations, by name; one place for all tests."""

import numpy as np


def real_columns(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of n floats."""
    rng = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(n // 7 + 1), 7)[:n]
    return {
        "uniform": rng.random(n),
        "normal": rng.normal(size=n),
        "lognormal": rng.lognormal(0, 2, n),
        "cauchy": rng.standard_cauchy(n),
        "offset": 1e9 + rng.random(n),
        "far_offset": -1e15 + rng.integers(0, 100, n),
        "arange": np.arange(n)[::-1] * 1.0,
        "constant": np.full(n, 3.7),
        "two_values": rng.integers(0, 2, n) * 5.0,
        "duplicates": rng.integers(0, max(2, n // 5), n) * 1.0,
        "poisson": rng.poisson(2.0, n) * 1.0,
        "geometric": 1.5 ** (np.arange(n) % 300),
        "quadratic": np.arange(n) ** 2.0,
        "clusters": 1e9 * clusters + 1e-6 * rng.random(n),
        "jumps": np.cumsum(rng.random(n) ** 20),
        "one_outlier": np.append(rng.random(n - 1), 1e12),
        "huge": rng.random(n) * 1e300,
        "both_ends": rng.choice([-1.7e308, 1.7e308], n) * rng.random(n),
        "tiny": rng.random(n) * 1e-300,
        "subnormal": rng.integers(0, 50, n) * 5e-324,
        "all_scales": 10.0 ** rng.uniform(-300, 300, n),
        "zeros_of_both_signs": rng.choice([0.0, -0.0, 1.0], n),
    }


def integer_columns(n: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of n integers."""
    rng = np.random.default_rng(seed)
    return {
        "small": rng.integers(-20, 20, n),
        "degrees": rng.zipf(1.8, n),
        "beyond_float64": 2**60 + rng.integers(0, 1000, n),
        "whole_range": rng.integers(-(2**63), 2**63 - 1, n),
        "unsigned": rng.integers(0, 2**64 - 1, n, dtype=np.uint64),
        "ends": rng.choice(np.array([-(2**63), 2**63 - 1, 0, -1]), n),
        "int8": rng.integers(-128, 127, n, dtype=np.int8),
        "constant": np.full(n, -7),
    }
