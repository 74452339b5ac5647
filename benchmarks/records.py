"""`python -m benchmarks.records [method …] [-d 3] [-n …]`: processor time of exact methods on more and more records.

Standard normal records, k = 5, one thread.  "growth" is the exponent of n between a line and the one before: 1 where
boxes of near records keep the search local, 2 where every record meets every other.
"""

import argparse
import math
import time

import numpy as np

import mag
from benchmarks._measure import save, show

LENGTHS = (10**4, 3 * 10**4, 10**5, 3 * 10**5, 10**6)
METHODS = ("mdav", "tsp", "ona_star")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("methods", nargs="*", default=METHODS, help="methods of mag.multivariate")
    parser.add_argument("-n", type=int, action="append", help="records; repeatable")
    parser.add_argument("-d", type=int, default=3, help="columns")
    parser.add_argument("-k", type=int, default=5, help="group size")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds that a run may be expected to take")
    options = parser.parse_args()
    rows = []
    for method in options.methods:
        mag.multivariate(np.random.default_rng(0).normal(size=(1000, options.d)), options.k, method=method)
        before, growth = None, 2.0
        for n in options.n or LENGTHS:
            if before and before[1] * (n / before[0]) ** growth > options.patience:
                break
            X = np.random.default_rng(0).normal(size=(n, options.d))
            began = time.process_time()
            grouping = mag.multivariate(X, options.k, method=method, threads=1)
            seconds = time.process_time() - began
            growth = math.log(seconds / before[1]) / math.log(n / before[0]) if before else 2.0
            row = {"method": method, "n": n, "d": options.d, "processor, s": seconds}
            row["µs per record"] = 1e6 * seconds / n
            rows.append(row | {"growth": growth if before else None, "loss, %": 100 * grouping.information_loss})
            before = n, seconds
    show(f"k = {options.k}, one thread", rows)
    save("records", rows)


if __name__ == "__main__":
    main()
