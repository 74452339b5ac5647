"""`python -m benchmarks.univariate`: every solver's time as a ratio to np.argsort, and its excess over the optimum.

Also start-up, memory, small calls, the other costs, hostile shapes and two threads.  The rivals, microagg1d (which
compiles for a minute at import) and PyPI's microaggregation, come with an optional extra
(`pip install mag-sdc[benchmarks]`).
"""

import argparse
import itertools
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import mag
from benchmarks._measure import best, machine, save, show
from mag import reference
from mag.solvers import SOLVERS

SMALL = (100, 1000, 10_000)  # values of a small call
SIZES = (2, 5, 10, 20, 100, 1000, 10_000, 100_000)
TOO_SLOW = {"quadratic": 0, "simple": 100, "simple_plus": 1000}  # largest k timed on a million values
RIVAL = ("simple", "wilber", "galil_park", "staggered")


def rival():
    """microagg1d's function, or None."""
    try:
        import microagg1d
    except ImportError:
        return None
    return microagg1d.univariate_microaggregation


def sums_only(n: int) -> list[dict]:
    """PyPI's microaggregation, which takes sorted values and returns their SSE alone, beside sorted values → labels.

    Costs are relative to the exact optimum, which is known for the smaller column.
    """
    try:
        from microaggregation import calculate_sse_dynamic as theirs
    except ImportError as error:
        print(f"\nPyPI's microaggregation is skipped: {error}")
        return []
    rows = []
    for size in (min(n, 10_000), n):
        for offset in (0.0, 1e6):
            x = np.sort(offset + np.random.default_rng(1).random(size))
            table = x[:, None]
            for k in (2, 5, 20):
                grouping = mag.univariate(x, k, assume_sorted=True, threads=1)
                optimum = float(reference.optimum(x.tolist(), k)) if size <= 10_000 else grouping.cost
                sse = theirs(table, k)
                ours = best(lambda x=x, k=k: mag.univariate(x, k, assume_sorted=True, threads=1), 9)
                took = best(lambda table=table, k=k: theirs(table, k), 3)
                rows.append(
                    {
                        "n": size,
                        "offset": offset,
                        "k": k,
                        "mag, ns/value": ours / size * 1e9,
                        "microaggregation, ns/value": took / size * 1e9,
                        "theirs / ours": took / ours,
                        "mag, SSE": grouping.cost,
                        "microaggregation, SSE": sse,
                        "mag, excess": grouping.cost / optimum - 1,
                        "microaggregation, excess": sse / optimum - 1,
                    }
                )
    return rows


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
        baseline = best(lambda: np.argsort(x), 9)
        for solver in ("auto", *SOLVERS):
            if k > TOO_SLOW.get(solver, n):
                continue

            def call(values, k=k, solver=solver, **options):
                return mag.univariate(values, k, solver=solver, threads=1, **options)

            call(x[: 8 * k])
            repeats = 21 if solver in ("auto", "block") else 3
            on_sorted = best(lambda call=call: call(ordered, assume_sorted=True), repeats)
            end_to_end = best(lambda call=call: call(x), repeats)
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
                options = {} if solver == "auto" else {"method": solver, "stable": 1}
                theirs = best(lambda k=k, options=options: other(x, k=k, **options), repeats=2, budget=0.1)
                row |= {"microagg1d, ns/value": theirs / n * 1e9, "microagg1d / ours": theirs / end_to_end}
            rows.append(row)
    return rows


def excesses(n: int, other) -> list[dict]:
    """How much more than the exact optimum each solver costs, relative."""
    rows = []
    for name, x in (("uniform", data("uniform", n)), ("offset 1e9", 1e9 + data("uniform", n))):
        for k in (2, 5, 20, 100):
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


def priced(n: int) -> dict[str, tuple[np.ndarray, dict]]:
    """A sorted column for every cost, and the options that ask for it."""
    x = np.sort(np.random.default_rng(2).integers(0, 10 * n, n))
    weights = np.random.default_rng(3).random(n) + 0.5
    calls = {cost: (x * 1.0, {"cost": cost}) for cost in ("sse", "sae", "maxdist", "roundup", "rounddown")}
    return calls | {"sse_int": (x, {"cost": "sse_int"}), "weighted sse": (x * 1.0, {"weights": weights})}


def costs(n: int) -> list[dict]:
    """Labels of sorted values for every cost, as a ratio to sse."""
    calls = priced(n)
    rows = []
    for k in SIZES:
        taken = {}
        for name, (column, options) in calls.items():

            def call(column=column, options=options, k=k):
                return mag.univariate(column, k, assume_sorted=True, threads=1, **options)

            call()
            taken[name] = best(call, 9)
        sse = taken.pop("sse")
        rows.append({"k": k, "sse, ns/value": sse / n * 1e9, **{name: t / sse for name, t in taken.items()}})
    return rows


def shaped(n: int) -> dict[str, np.ndarray]:
    """Sorted columns of hostile shapes."""
    rng = np.random.default_rng(4)
    return {
        "uniform": np.sort(rng.random(n)),
        "constant": np.ones(n),
        "arange": np.arange(n) * 1.0,
        "quadratic": np.arange(n) ** 2.0,
        "geometric": 1.00001 ** np.arange(n),
        "poisson": np.sort(rng.poisson(4.0, n)) * 1.0,
        "clusters": np.sort(1e9 * (np.arange(n) // 50) + 1e-6 * rng.random(n)),
        "jumps": np.cumsum(rng.random(n) ** 20),
    }


def shapes(n: int) -> list[dict]:
    """Labels of sorted values of hostile shapes, as a ratio to uniform ones."""
    columns = shaped(n)
    rows = []
    for k in SIZES:
        taken = {}
        for name, x in columns.items():

            def call(x=x, k=k):
                return mag.univariate(x, k, assume_sorted=True, threads=1)

            call()
            taken[name] = best(call, 7)
        uniform = taken.pop("uniform")
        rows.append({"k": k, "uniform, ns/value": uniform / n * 1e9, **{c: t / uniform for c, t in taken.items()}})
    return rows


def parallel(n: int) -> list[dict]:
    """One long column on one and on two threads."""
    x = np.random.default_rng(5).random(n)
    rows = []
    for k in (10, 100, 1000):
        row: dict = {"k": k}
        for name, values, options in (("sorted", np.sort(x), {"assume_sorted": True}), ("unsorted", x, {})):

            def call(threads, values=values, options=options, k=k):
                return mag.univariate(values, k, threads=threads, **options)

            call(2)
            one, two = best(lambda call=call: call(1), 7, 20), best(lambda call=call: call(2), 7, 20)
            row |= {f"{name}, one thread, ns/value": one / n * 1e9, f"{name}, one / two threads": one / two}
        rows.append(row)
    return rows


def small_calls() -> list[dict]:
    """Microseconds per call."""
    rows = []
    for n in SMALL:
        x = np.random.default_rng(6).random(n)
        ours, sort = best(lambda x=x: mag.univariate(x, 5), 3000), best(lambda x=x: np.argsort(x), 3000)
        rows.append({"n": n, "k": 5, "mag.univariate, µs": ours * 1e6, "np.argsort, µs": sort * 1e6})
    return rows


START = """
import time; began = time.perf_counter()
import mag; imported = time.perf_counter()
import random, sys
mag.univariate([random.random() for _ in range(1000)], int(sys.argv[1])); done = time.perf_counter()
print(imported - began, done - began)
"""


def start_up() -> list[dict]:
    """Import and first call, with an empty and with a warm cache, each in a new process."""
    rows = []
    for k, state in itertools.product((3, 5, 20), ("empty cache", "warm cache")):
        if state == "empty cache":
            cache = tempfile.mkdtemp()
        command, environment = [sys.executable, "-c", START, str(k)], {**os.environ, "NUMBA_CACHE_DIR": cache}
        began = time.perf_counter()
        out = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.split()
        took = time.perf_counter() - began
        rows.append(
            {"k": k, "": state, "import mag, s": float(out[0]), "to labels, s": float(out[1]), "process, s": took}
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
    for k in (5, 100, 10_000):
        row: dict = {"k": k}
        for solver in ("auto", *SOLVERS):
            command = [sys.executable, "-c", MEMORY, solver, str(n), str(k)]
            fast = k <= TOO_SLOW.get(solver, n)
            row[solver] = float(subprocess.run(command, capture_output=True, check=True).stdout) if fast else None
        rows.append(row)
    return rows


def main() -> None:
    """Print all tables, or one, and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=1_000_000, help="values per column (default: 1 000 000)")
    parser.add_argument("--no-rival", action="store_true", help="do not import microagg1d")
    parser.add_argument("--only", metavar="TABLE", help="print one table: start, memory, small, excess, sums, ...")
    options = parser.parse_args()
    other = None if options.no_rival else rival()
    n = options.n
    tables = {
        "start": ("Start-up, in a new process", start_up),
        "memory": (f"Peak extra memory, bytes per value, n = {n}", lambda: memory(n)),
        "small": ("Small calls", small_calls),
        "excess": ("Excess over the exact optimum, relative, sse, n = 10 000", lambda: excesses(10_000, other)),
        "sums": ("PyPI's microaggregation, sorted uniform values, one thread", lambda: sums_only(n)),
        "costs": (f"Other costs, sorted values, ratio to sse, n = {n}", lambda: costs(n)),
        "shapes": (f"Hostile shapes, sorted values, ratio to uniform, n = {n}", lambda: shapes(n)),
        "threads": ("One column of 10 000 000 values on one and two threads", lambda: parallel(10_000_000)),
    }
    for distribution in ("uniform", "lognormal"):
        title = f"Time, sse, n = {n}, {distribution}, one thread"
        tables[distribution] = (title, lambda distribution=distribution: times(n, distribution, other))
    if options.only and options.only not in tables:
        parser.error(f"--only must be one of {', '.join(tables)}; got {options.only!r}")
    print(machine())
    results = {}
    for name in [options.only] if options.only else tables:
        title, measure = tables[name]
        results[name] = measure()
        if results[name]:
            show(title, results[name])
    if not options.only:
        save("univariate", [results])


if __name__ == "__main__":
    main()
