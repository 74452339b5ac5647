"""`python -m benchmarks.univariate`: every solver's time as a ratio to np.argsort, and its excess over the optimum.

The rival, microagg1d, is an optional extra (`pip install mag-sdc[benchmarks]`); it compiles for a minute at import.
"""

import argparse
import subprocess
import sys
import time

import numpy as np

import mag
from benchmarks._measure import best, machine, save, show
from mag import reference
from mag.solvers import SOLVERS

SIZES = (2, 5, 20, 100, 1000, 10_000)
TOO_SLOW = {"quadratic": 0, "simple": 1000}  # largest k at which a solver is timed on a million values
RIVAL = {"simple": "simple", "wilber": "wilber", "galil_park": "galil_park", "staggered": "staggered"}


def rival():
    """microagg1d's function, or None."""
    try:
        import microagg1d
    except ImportError:
        return None
    return microagg1d.univariate_microaggregation


def data(distribution: str, n: int) -> np.ndarray:
    """A column of floats."""
    rng = np.random.default_rng(1)
    return {"uniform": rng.random, "lognormal": lambda n: rng.lognormal(0, 1, n)}[distribution](n)


def times(n: int, distribution: str, other) -> list[dict]:
    """One row per k and solver."""
    x = data(distribution, n)
    ordered = np.sort(x)
    rows = []
    for k in SIZES:
        baseline = best(lambda: np.argsort(x), repeats=7)
        for solver in ("auto", *SOLVERS):
            if k > TOO_SLOW.get(solver, n):
                continue
            mag.univariate(x[: 4 * k], k, solver=solver)
            on_sorted = best(lambda k=k, s=solver: mag.univariate(ordered, k, solver=s, assume_sorted=True))
            end_to_end = best(lambda k=k, s=solver: mag.univariate(x, k, solver=s))
            row = {
                "k": k,
                "solver": solver,
                "sorted, ns/value": on_sorted / n * 1e9,
                "sorted / argsort": on_sorted / baseline,
                "end to end, ns/value": end_to_end / n * 1e9,
                "end to end / argsort": end_to_end / baseline,
                "microagg1d, ns/value": None,
                "microagg1d / ours": None,
            }
            if other and (solver == "auto" or solver in RIVAL):
                options = {} if solver == "auto" else {"method": RIVAL[solver], "stable": 1}
                other(x[: 4 * k], k=k, **options)
                theirs = best(lambda k=k, options=options: other(x, k=k, **options), repeats=2)
                row |= {"microagg1d, ns/value": theirs / n * 1e9, "microagg1d / ours": theirs / end_to_end}
            rows.append(row)
    return rows


def excesses(n: int, other) -> list[dict]:
    """How much more than the exact optimum each solver costs, relative."""
    rows = []
    for name, x in (("uniform", data("uniform", n)), ("offset 1e9", 1e9 + data("uniform", n))):
        for k in (2, 5, 20, 100, 1000):
            optimum = reference.optimum(x.tolist(), k)

            def excess(labels, x=x, optimum=optimum):
                return float((reference.cost_of(x.tolist(), labels) - optimum) / optimum)

            row = {"data": name, "k": k}
            for solver in SOLVERS:
                row[solver] = excess(mag.univariate(x, k, solver=solver).labels)
            if other:
                row["microagg1d default"] = excess(other(x, k=k))
                row["microagg1d staggered"] = excess(other(x, k=k, method="staggered", stable=1))
            rows.append(row)
    return rows


START = """
import time; began = time.perf_counter()
import mag; imported = time.perf_counter()
mag.univariate([3.0, 1.0, 2.0, 9.0] * 10, 3); done = time.perf_counter()
print(imported - began, done - began)
"""


def start_up() -> list[dict]:
    """Import and first call, with an empty and with a warm cache, each in a new process."""
    import os
    import tempfile

    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty cache", "warm cache"):
            command = [sys.executable, "-c", START]
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            began = time.perf_counter()
            out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()
            process = time.perf_counter() - began
            rows.append(
                {"": state, "import mag, s": float(out[0]), "first call, s": float(out[1]), "process, s": process}
            )
    return rows


MEMORY = """
import resource, sys, numpy as np, mag
solver, n, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
x = np.random.default_rng(0).random(n)
mag.univariate(x[:4 * k], k, solver=solver)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
grouping = mag.univariate(x, k, solver=solver)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / n)
"""


def memory(n: int) -> list[dict]:
    """Peak extra memory of a call in bytes per value, from the largest resident size of a new process."""
    rows = []
    for k in (5, 1000, 100_000):
        row: dict = {"k": k}
        for solver in ("auto", *SOLVERS):
            if k <= TOO_SLOW.get(solver, n):
                command = [sys.executable, "-c", MEMORY, solver, str(n), str(k)]
                row[solver] = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            else:
                row[solver] = None
        rows.append(row)
    return rows


def main() -> None:
    """Print all tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=1_000_000, help="values per column (default: 1 000 000)")
    parser.add_argument("--no-rival", action="store_true", help="do not import microagg1d")
    options = parser.parse_args()
    other = None if options.no_rival else rival()
    print(machine())
    show("Start-up", started := start_up())
    show("Peak extra memory, bytes per value, n = 10^6", remembered := memory(1_000_000))
    show("Excess over the exact optimum, n = 10 000, sse", exact := excesses(10_000, other))
    timed = []
    for distribution in ("uniform", "lognormal"):
        rows = times(options.n, distribution, other)
        show(f"Time, n = {options.n}, {distribution}, one thread", rows)
        timed += [{"data": distribution, **row} for row in rows]
    save("univariate", [{"start": started, "memory": remembered, "excess": exact, "time": timed}])


if __name__ == "__main__":
    main()
