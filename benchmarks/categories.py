"""Categories in groups, on Adult with the hierarchies of ARX: `python -m benchmarks.categories [--records 4000]`.

The normalized certainty penalty of six quasi-identifiers (age as a number, all others with a hierarchy), and the time,
beside that of the same method on as many records of six normal columns in the same run: the best of some runs in turn.
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
    parser.add_argument("--methods", nargs="+", default=["mdav", "ona_star", "mona", "mondrian"])
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    folder = DATA / "adult_arx"
    people = pl.read_csv(folder / "adult.csv", separator=";").select(NAMES).head(options.records)
    trees = {name: mag.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in NAMES if name != "age"}
    numbers = np.random.default_rng(0).normal(size=(people.height, len(NAMES)))
    print(f"{people.height} records")
    print(f"{'method':10} {'k':>3} {'standardize':>12} {'NCP':>8} {'seconds':>8} {'numbers':>8} {'ratio':>6}")
    for method in options.methods:
        for k in options.k:
            for standardize in (True, "range"):

                def mask(people: pl.DataFrame, method=method, k=k, standardize=standardize) -> mag.Release:
                    return mag.microaggregate(
                        people, k, NAMES, hierarchies=trees, method=method, aggregate={"age": "range"},
                        standardize=standardize,
                    )  # fmt: skip

                mag.multivariate(numbers[:400], k, method=method)  # compiled
                mask(people.head(400))
                plain, took = [], []
                for _ in range(options.runs):
                    begin = time.perf_counter()
                    mag.multivariate(numbers, k, method=method)
                    plain.append(time.perf_counter() - begin)
                    begin = time.perf_counter()
                    release = mask(people)
                    took.append(time.perf_counter() - begin)
                print(
                    f"{method:10} {k:3} {standardize!s:>12} {release.ncp():8.4f} {min(took):8.2f} {min(plain):8.2f} "
                    f"{min(took) / min(plain):6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
