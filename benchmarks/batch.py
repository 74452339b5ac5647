"""Whole tables column by column: `python -m benchmarks.batch`.

The time of `mag.columns` up to its labels as a ratio to `np.argsort(X, axis=0)`, on one and on two threads, beside a
loop over microagg1d, and from arrays of PyTorch and JAX.  The ways are measured in turns, so that what disturbs one
disturbs all; every figure is the least of several.
"""

import sys
import time

import numpy as np

import mag
from benchmarks._measure import save, show, words

SHAPES = [(4092, 500), (100_000, 64)]
SIZES = [3, 5, 10, 100]
TURNS = 9
RIVALS = 8  # columns of microagg1d's loop that are measured, for the sake of time


def ways(X, k):
    """The calls that are timed, by name."""
    found = {
        "argsort": lambda: np.argsort(X, axis=0),
        "one": lambda: mag.columns(X, k, threads=1).labels,
        "two": lambda: mag.columns(X, k, threads=2).labels,
    }
    for library, array in _others(X).items():
        found[library] = lambda array=array: mag.columns(array, k, threads=2).labels
    try:
        import microagg1d

        columns = [np.ascontiguousarray(X[:, j]) for j in range(RIVALS)]
        found["microagg1d"] = lambda: [microagg1d.univariate_microaggregation(column, k) for column in columns]
    except ImportError:
        pass
    return found


def _others(X):
    arrays = {}
    try:
        import torch

        arrays["torch"] = torch.from_numpy(X)
    except ImportError:
        pass
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        arrays["jax"] = jax.numpy.asarray(X)
    except ImportError:
        pass
    return arrays


def times(functions):
    """The least seconds of each, measured in turns."""
    least = dict.fromkeys(functions, np.inf)
    for turn in range(TURNS):
        for name, function in functions.items():
            if name == "microagg1d" and turn >= 2:
                continue
            began = time.perf_counter()
            function()
            least[name] = min(least[name], time.perf_counter() - began)
    return least


def main():
    """Print the table and write it as JSON."""
    began = time.perf_counter()
    mag.columns(np.random.default_rng(0).normal(size=(1000, 4)), 5)
    print(f"first call of this process, with compilation if nothing is cached: {time.perf_counter() - began:.1f} s")
    rows = []
    for n, m in SHAPES:
        X = np.random.default_rng(0).normal(size=(n, m))
        for k in SIZES:
            mag.columns(X[:, :2], k)  # compiles
            functions = ways(X, k)
            took = times(functions)
            row = {
                "table": f"{m} × {n}",
                "k": k,
                "argsort, ns": took["argsort"] / X.size * 1e9,
                "one thread, ns": took["one"] / X.size * 1e9,
                "/ argsort": took["one"] / took["argsort"],
                "two threads / argsort": took["two"] / took["argsort"],
                "two over one": took["one"] / took["two"],
                "torch / numpy": took["torch"] / took["two"] if "torch" in took else None,
                "jax / numpy": took["jax"] / took["two"] if "jax" in took else None,
                "over microagg1d": took["microagg1d"] * m / RIVALS / took["two"] if "microagg1d" in took else None,
            }
            rows.append(row)
            print(".", end="", flush=True, file=sys.stderr)
    show("Labels of every column of a table of normal float64", rows)
    save("batch", rows)


if __name__ == "__main__":
    words(__doc__)
    main()
