"""The method that "auto" chooses, and its candidates: loss, processor time, change of shares, and who dominates.

    python -m benchmarks.auto                                       # 1000 and 10 000 records: minutes
    python -m benchmarks.auto --records 100000 --k 5                # minutes
    python -m benchmarks.auto --records 1000000 --tables normal --k 5 --methods mona mdav_plus ona_local

A cell shows the loss in percent, seconds of processor time, and the change of a share: that of the records of a column
in one of 20 bins of equal counts, the largest over bins and columns, in percent of all records.  The choice has an
asterisk.  A method dominates it where it loses less in less time.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import mag
from benchmarks._data import table
from mag.methods import automatic

CANDIDATES = ("mondrian", "mona", "mdav_plus", "mdav", "ona_local", "ona_star")
MAX_RECORDS = {"mdav": 30_000, "ona_star": 30_000}  # that a method gets, as its time grows with their square
NOISE = 0.05  # standard deviations that are added to records drawn again
WARMING = 40  # times k: records that compile or load the code of a method


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


def compare(name: str, n: int, k: int, methods: list[str]) -> str:
    """The row of all methods, and which of them dominate the choice."""
    X = TABLES[name](n, np.random.default_rng(0))
    chosen, found = automatic(*X.shape, k, False), {}
    for method in methods:
        if n <= MAX_RECORDS.get(method, n) or method == chosen:
            mag.multivariate(X[: WARMING * k], k, method=method)
            began = time.process_time()
            grouping = mag.multivariate(X, k, method=method)
            seconds = time.process_time() - began
            found[method] = grouping.information_loss, seconds, mag.metrics.share_change(X, grouping.masked)
    cells = []
    for method in methods:
        loss, seconds, change = found.get(method, (np.nan,) * 3)
        mark = "\\*" if method == chosen else ""
        cells.append(f"{100 * loss:.3g}{mark} / {seconds:.2g} s / {100 * change:.1f}" if method in found else "")
    least, most = found.get(chosen, (0.0, 0.0, 0.0))[:2]
    better = [method for method, (loss, seconds, _) in found.items() if loss < least and seconds < most]
    return " | ".join(["", name, str(n), str(k), *cells, ", ".join(better) or "none", ""]).strip()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--k", type=int, nargs="+", default=[3, 5, 10, 50])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=[*TABLES])
    parser.add_argument("--methods", nargs="+", default=CANDIDATES)
    options = parser.parse_args()
    head = ["table", "n", "k", *options.methods, "dominated by"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name in options.tables:
        for n in options.records:
            for k in options.k:
                try:
                    print(compare(name, n, k, options.methods), flush=True)
                except FileNotFoundError:
                    print(f"{name}: skipped, its file is neither in ../shared/data nor in $MAG_DATA.")


if __name__ == "__main__":
    main()
