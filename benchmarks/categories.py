"""Categories in groups, on Adult with the hierarchies of ARX: `python -m benchmarks.categories [--records 4000]`.

The normalized certainty penalty of six quasi-identifiers (age as a number, all others with a hierarchy), and the time,
beside that of the same method on as many records of six normal columns in the same run.
"""

import argparse
import time

import numpy as np
import polars as pl

import mag
from benchmarks._data import DATA

NAMES = ["sex", "age", "race", "marital-status", "education", "native-country"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--records", type=int, default=30_162)
    parser.add_argument("--methods", nargs="+", default=["mdav", "ona_star"])
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10])
    options = parser.parse_args()
    folder = DATA / "adult_arx"
    people = pl.read_csv(folder / "adult.csv", separator=";").select(NAMES).head(options.records)
    trees = {name: mag.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in NAMES if name != "age"}
    numbers = np.random.default_rng(0).normal(size=(people.height, len(NAMES)))
    print(f"{people.height} records")
    print(f"{'method':10} {'k':>3} {'standardize':>12} {'NCP':>8} {'seconds':>8} {'numbers':>8} {'ratio':>6}")
    for method in options.methods:
        for k in options.k:
            mag.multivariate(numbers[: 4 * k], k, method=method)  # compiled
            begin = time.perf_counter()
            mag.multivariate(numbers, k, method=method)
            plain = time.perf_counter() - begin
            for standardize in (True, "range"):
                begin = time.perf_counter()
                release = mag.microaggregate(
                    people,
                    k,
                    NAMES,
                    hierarchies=trees,
                    method=method,
                    aggregate={"age": "range"},
                    standardize=standardize,
                )
                took = time.perf_counter() - begin
                print(
                    f"{method:10} {k:3} {standardize!s:>12} {release.ncp():8.4f} {took:8.2f} {plain:8.2f} "
                    f"{took / plain:6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
