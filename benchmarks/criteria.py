"""Criteria on Adult with the hierarchies of ARX: `python -m benchmarks.criteria [--enforce auto merge]`.

Six quasi-identifiers (age as a number, all others with a hierarchy), sensitive occupation, k = 5: the normalized
certainty penalty of the release, which has been recounted, and seconds of processor time of the whole call, beside
those of ARX's local recoding, which were measured once on a machine of this kind.  `--time-limit` shows that a limit
holds.
"""

import argparse
import time
from typing import Any

import polars as pl

import mag
from benchmarks._data import DATA
from benchmarks.categories import NAMES

DEMANDS: list[dict[str, Any]] = [
    {"closeness": {"occupation": 0.2}},
    {"closeness": {"occupation": 0.3}},
    {"diversity": {"occupation": 3}},
    {"diversity": {"occupation": 5}},
]
ARX_SECONDS = [0.76, 0.68, None, 0.40]  # of processor time, of local recoding with each demand


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--enforce", nargs="+", default=["auto"])
    parser.add_argument("--time-limit", type=float)
    options = parser.parse_args()
    folder = DATA / "adult_arx"
    people = pl.read_csv(folder / "adult.csv", separator=";").select([*NAMES, "occupation"])
    shared: dict[str, Any] = {
        "hierarchies": {
            name: mag.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in NAMES if name != "age"
        },
        "aggregate": {"age": "range"},
        "rest": "drop",
        "time_limit": options.time_limit,
    }
    print(f"{'demand':18} {'enforce':>8} {'NCP':>7} {'groups':>7} {'seconds':>8} {'ARX':>5} {'passed':>7}  method")
    for demand, arx in zip(DEMANDS, ARX_SECONDS, strict=True):
        for how in options.enforce:
            for way in ("cut", how):  # compiled
                mag.microaggregate(people.head(400), 5, NAMES, enforce=way, **shared, **demand)
            begin, passed = time.process_time(), time.monotonic()
            release = mag.microaggregate(people, 5, NAMES, enforce=how, **shared, **demand)
            took, passed = time.process_time() - begin, time.monotonic() - passed
            text = ", ".join(f"{option} {next(iter(wish.values()))}" for option, wish in demand.items())
            print(
                f"{text:18} {how:>8} {release.ncp():7.4f} {release.grouping.n_groups:7} {took:8.2f} "
                f"{arx or '':5} {passed:7.1f}  "
                f"{release.grouping.method}",
                flush=True,
            )


if __name__ == "__main__":
    main()
