"""The maximum distance, Lloyd, Mondrian and other methods against brute-force neighbors:  python -m benchmarks.families

Times as ratios to `sklearn.neighbors.NearestNeighbors(n_neighbors=10, algorithm="brute")`, fit and kneighbors, on the
same 30 000 × 24 standard normal data, k = 5, on two threads in one run; MONA on a million records, with its memory;
searches for gain factors; and what "auto" chooses between, ONA* and MONA, on more and more records.  One of them alone:
`ratios`, `million`, `gammas` or `crossover` as an argument; after `ratios`, methods.
"""

import os
import resource
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "2")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "2")

import numpy as np

import mag
from benchmarks._measure import best, save, show, words
from mag.methods import automatic

K, THREADS = 5, 2
TARGETS = {"mdav": 1.0, "mdav_plus": 0.7, "mdav_star": 2.5, "ona_star": 5.0, "mona": 0.2}
TARGETS |= {"tfrp": 0.5, "sbm": 0.5, "mst": 1.5, "mu_approx": 1.5, "dba": 3.0, "npn": 0.5}
OTHERS = ("nearest_neighbor", "mondrian_v", "mondrian_v2d", "mona_2d")


def ratios(n: int = 30_000, d: int = 24) -> list[dict]:
    """Every method relative to the neighbors."""
    from sklearn.neighbors import NearestNeighbors

    X = np.random.default_rng(0).normal(size=(n, d))
    neighbors = NearestNeighbors(n_neighbors=10, algorithm="brute", n_jobs=THREADS)
    warm = X[:500]
    rows = []
    for method in [name for name in sys.argv if name in (*TARGETS, *OTHERS)] or (*TARGETS, *OTHERS):
        mag.multivariate(warm, K, method=method, threads=THREADS)  # compiles
        brute = best(lambda: neighbors.fit(X).kneighbors(X), repeats=3, budget=20)
        taken = best(lambda name=method: mag.multivariate(X, K, method=name, threads=THREADS), repeats=3, budget=20)
        loss = mag.multivariate(X, K, method=method, threads=THREADS).information_loss
        rows.append(
            {
                "method": method,
                "n": n,
                "d": d,
                "seconds": taken,
                "neighbors, seconds": brute,
                "ratio": taken / brute,
                "target": TARGETS.get(method),
                "information loss, %": 100 * loss,
            }
        )
    return rows


def gammas(n: int = 30_000, d: int = 24) -> list[dict]:
    """The search for the best of 21 gain factors relative to single runs."""
    X, rows = np.random.default_rng(0).normal(size=(n, d)), []
    for method in ("v_mdav", "mdav_star_gamma", "ona_star_gamma"):

        def run(gamma: float | str, X: np.ndarray = X, method: str = method) -> mag.RecordGrouping:
            return mag.multivariate(X, K, method=method, gamma=gamma, threads=THREADS)

        run("search", X[:500])  # compiles
        single = [best(lambda gamma=gamma: run(gamma), repeats=3, budget=10) for gamma in (0.2, 1.0, 1.8)]
        began = time.perf_counter()
        found = run("search")
        taken = time.perf_counter() - began
        row = {"method": method, "n": n, "d": d, "search, seconds": taken, "one run, seconds": float(np.mean(single))}
        row |= {"ratio": taken / row["one run, seconds"], "target": 6.0, "gamma": found.details["gamma"]}
        rows.append(row | {"information loss, %": 100 * found.information_loss})
    return rows


def million(n: int = 10**6, d: int = 10) -> list[dict]:
    """MONA where quadratic methods would take hours."""
    X = np.random.default_rng(0).normal(size=(n, d))
    mag.multivariate(X[:500], K, method="mona", threads=THREADS)
    began = time.perf_counter()
    grouping = mag.multivariate(X, K, method="mona", threads=THREADS)
    taken = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    row = {"method": "mona", "n": n, "d": d, "seconds": taken, "peak memory, GB": memory}
    return [row | {"information loss, %": 100 * grouping.information_loss}]


def crossover() -> list[dict]:
    """The time and the loss of the two methods of "auto" without a time limit."""
    rows = []
    for d in (2, 8, 24):
        for n in (3000, 10_000, 30_000, 60_000):
            X = np.random.default_rng(0).normal(size=(n, d))
            row = {"n": n, "d": d, "n·n·d": f"2^{np.log2(float(n) * n * d):.1f}"}
            for method in ("ona_star", "ona_local"):
                mag.multivariate(X[:500], K, method=method, threads=THREADS)  # compiles
                began = time.perf_counter()
                grouping = mag.multivariate(X, K, method=method, threads=THREADS)
                row[f"{method}, seconds"] = time.perf_counter() - began
                row[f"{method}, loss %"] = 100 * grouping.information_loss
            rows.append(row | {"auto": automatic(n, d, K, False)})
    return rows


PARTS = {
    "million": ("MONA, a million records, k = 5, two threads (target: 60 s, 2 GB)", million),
    "ratios": ("Standard normal records, k = 5, two threads", ratios),
    "gammas": ("The best gain factor, standard normal records, k = 5, two threads", gammas),
    "crossover": ("The methods of auto, standard normal records, k = 5, two threads", crossover),
}


def main() -> None:
    """Print the tables and write them as JSON."""
    asked = words(__doc__, choices=(*PARTS, *TARGETS, *OTHERS))
    for name, (title, part) in PARTS.items():
        if not set(PARTS) & {*asked} or name in asked:
            rows = part()
            show(title, rows)
            save(f"families_{name}", rows)


if __name__ == "__main__":
    main()
