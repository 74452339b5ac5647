"""The method that "auto" chooses, and its candidates: loss, processor time, change of shares, and who dominates.

    python -m benchmarks.auto            # up to 10 000 records, k = 3 and 10: minutes
    python -m benchmarks.auto --full     # up to 10⁶ records, k = 3, 5, 10 and 50: hours

A method dominates the choice where it loses less in less time.  The change of a share is that of the records of a
column in one of 20 bins of equal counts, the largest over bins and columns, in percent of all records.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import mag
from benchmarks._data import table
from mag.methods import automatic

CANDIDATES = ("mondrian", "mona", "mdav_plus", "mdav", "ona_local", "ona_star")
QUADRATIC = {"mdav": 200_000, "ona_star": 100_000}  # records up to which it is run
NOISE = 0.05  # standard deviations that are added to records drawn again
QUICK, FULL = ((1000, 10_000), (3, 10)), ((1000, 10_000, 100_000, 1_000_000), (3, 5, 10, 50))


def clusters(n: int, random: np.random.Generator) -> np.ndarray:
    """A hundred clusters in ten columns."""
    return random.normal(size=(100, 10))[random.integers(100, size=n)] * 5 + random.normal(size=(n, 10))


def drawn(name: str) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Records of a data set, drawn with noise."""

    def draw(n: int, random: np.random.Generator) -> np.ndarray:
        X = table(name)
        return X[random.integers(len(X), size=n)] + random.normal(size=(n, X.shape[1])) * NOISE * X.std(axis=0)

    return draw


TABLES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "normal": lambda n, random: random.normal(size=(n, 10)),
    "clusters": clusters,
    "census": drawn("census"),
    "tarragona": drawn("tarragona"),
    "eia": drawn("eia"),
    "adult": lambda n, random: table("adult")[random.integers(len(table("adult")), size=n)],
    "grid": lambda n, random: random.integers(0, 10, (n, 4)).astype(float),
    "heavy tails": lambda n, random: random.standard_t(2, (n, 6)),
}


def compare(name: str, n: int, k: int) -> None:
    """One row for every candidate."""
    X = TABLES[name](n, np.random.default_rng(0))
    chosen, found = automatic(*X.shape, k, False), {}
    for method in CANDIDATES:
        if n <= QUADRATIC.get(method, n) or method == chosen:
            mag.multivariate(X[: 4 * k], k, method=method)  # compiles
            began = time.process_time()
            grouping = mag.multivariate(X, k, method=method)
            seconds = time.process_time() - began
            found[method] = grouping.information_loss, seconds, mag.metrics.share_change(X, grouping.masked)
    for method, (loss, seconds, change) in found.items():
        mark = "*" if method == chosen else ""
        print(f"| {name} | {n} | {k} | {method}{mark} | {loss:.3%} | {seconds:.2f} | {change:.1%} |", flush=True)
    better = [m for m, (loss, s, _) in found.items() if loss < found[chosen][0] and s < found[chosen][1]]
    if better:
        print(f"{name}, n = {n}, k = {k}: {chosen} is dominated by {', '.join(better)}.", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="all sizes, hours")
    sizes, ks = FULL if parser.parse_args().full else QUICK
    print("| table | n | k | method (* auto) | loss | processor s | change of a share |\n|---|---|---|---|---|---|---|")
    for name in TABLES:
        for n in sizes:
            for k in ks:
                try:
                    compare(name, n, k)
                except FileNotFoundError:
                    print(f"{name}: skipped, its file is neither in ../shared/data nor in $MAG_DATA.")


if __name__ == "__main__":
    main()
