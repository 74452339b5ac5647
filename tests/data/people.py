"""Tables of people."""

import numpy as np
import polars as pl

from tests.data.hierarchies import JOBS, LEVELS


def people(n=200, seed=0):
    """Numbers to mask, strata, and a name."""
    rng = np.random.default_rng(seed)
    return {
        "income": np.round(rng.lognormal(8, 1, n), 2),
        "age": rng.integers(18, 90, n),
        "region": np.array(["north", "south", "east", "west"])[rng.integers(0, 4, n)].tolist(),
        "name": [f"person {i}" for i in range(n)],
    }


def mixed_people(n=60, seed=0):
    """Jobs of a tree, ordered degrees, ages, and codes without a hierarchy."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({
        "name": [f"person {i}" for i in range(n)],
        "job": [JOBS[i][0] for i in rng.integers(0, 5, n)],
        "degree": [LEVELS[i] for i in rng.integers(0, 3, n)],
        "age": rng.integers(18, 90, n),
        "party": [["red", "green"][i] for i in rng.integers(0, 2, n)],
    })  # fmt: skip
