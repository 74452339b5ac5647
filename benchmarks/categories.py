"""Categories in groups, on Adult with the hierarchies of ARX: `python -m benchmarks.categories [--records 4000]`.

The normalized certainty penalty of six quasi-identifiers (age as a number, all others with a hierarchy), and seconds of
processor time, beside those of the same method on as many records of six normal columns in the same run: the best of
some runs in turn.  `--noise` draws any number of records: each cell is that of another record with probability 0.05,
and ages are in days.
"""

import argparse
import time
from typing import Any

import numpy as np
import polars as pl

import mag
from benchmarks._data import DATA

NAMES = ["sex", "age", "race", "marital-status", "education", "native-country"]
NOISE = 0.05  # share of the cells that are those of other records


def draw(people: pl.DataFrame, n: int) -> pl.DataFrame:
    """Records drawn with noise."""
    random, cells = np.random.default_rng(0), {}
    picked = random.integers(people.height, size=n)
    for name in people.columns:
        other = random.integers(people.height, size=n)
        cells[name] = people[name].to_numpy()[np.where(random.random(n) < NOISE, other, picked)]
        if name == "age":
            cells[name] = cells[name] * 365 + random.integers(365, size=n)
    return pl.DataFrame(cells)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=30_162)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--methods", nargs="+", default=["mdav", "mondrian", "mona", "ona_star", "ona_local", "auto"])
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10])
    parser.add_argument("--standardize", nargs="+", default=["deviation", "range"], choices=["deviation", "range"])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    folder = DATA / "adult_arx"
    people = pl.read_csv(folder / "adult.csv", separator=";").select(NAMES)
    people = draw(people, options.records) if options.noise else people.head(options.records)
    trees = {name: mag.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in NAMES if name != "age"}
    numbers = np.random.default_rng(0).normal(size=(people.height, len(NAMES)))
    shared: dict[str, Any] = {"hierarchies": trees, "aggregate": {"age": "range"}}
    print(f"{people.height} records")
    print(f"{'method':10} {'k':>3} {'standardize':>12} {'NCP':>8} {'seconds':>8} {'numbers':>8} {'ratio':>6}")
    for method in options.methods:
        for k in options.k:
            for standardize in options.standardize:
                own = shared | {"method": method, "standardize": standardize == "deviation" or "range"}
                mag.multivariate(numbers[: 100 * k], k, method=method)  # compiled
                mag.microaggregate(people.head(100 * k), k, NAMES, **own)
                plain, took = [], []
                for _ in range(options.runs):
                    begin = time.process_time()
                    mag.multivariate(numbers, k, method=method)
                    plain.append(time.process_time() - begin)
                    begin = time.process_time()
                    release = mag.microaggregate(people, k, NAMES, **own)
                    took.append(time.process_time() - begin)
                print(
                    f"{method:10} {k:3} {standardize:>12} {release.ncp():8.5f} {min(took):8.2f} {min(plain):8.2f} "
                    f"{min(took) / min(plain):6.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
