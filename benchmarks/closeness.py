"""The price of diversity and closeness: `python -m benchmarks.closeness [--adult 4000]`.

Census, quasi-identifiers TAXINC and POTHVAL in standard deviations: SSE / SST without a criterion, by both ways to
enforce t-closeness and by the better of them; beside the published algorithm (one record of each of max(k, b) buckets,
Soria-Comas et al. 2015) and ⌈k/b⌉ of each of b, as computed once with NumPy by the reference tables.

Adult: age and two columns with the hierarchies of ARX, sensitive occupation; the normalized certainty penalty.
"""

import argparse
import json
import time
from typing import Any

import polars as pl

import mag
from benchmarks._data import DATA

QI = ["TAXINC", "POTHVAL"]
CASES = [(10, 0.25), (10, 0.2), (10, 0.1), (5, 0.25)]
DEMANDS: list[dict[str, Any]] = [
    {"diversity": {"occupation": 3}},
    {"diversity": {"occupation": 5}},
    {"diversity": {"occupation": ("entropy", 4)}},
    {"diversity": {"occupation": ("recursive", 2, 3)}},
    {"closeness": {"occupation": 0.4}},
    {"closeness": {"occupation": 0.2}},
]
TREES = ["education", "marital-status"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--adult", type=int, default=4000, help="records of Adult; 0 for none")
    options = parser.parse_args()
    census()
    if options.adult:
        adult(options.adult)


def census() -> None:
    """Loss by way, with the figures of the reference tables."""
    table = pl.read_csv(DATA / "census.csv")
    reference = {
        (row["parameter"]["sensitive"], row["parameter"]["k"], row["parameter"]["t"]): (
            row["value"],
            row["fewer_strata"],
        )
        for row in json.loads((DATA.parent / "reference" / "dp_tables.json").read_text())
        if row["table"] == "t-closeness first: SSE/SST"
    }
    original = table.select(QI).to_numpy().astype(float)
    print(f"Census, {table.height} records: SSE / SST, and seconds of auto")
    print(
        f"{'sensitive':9} {'k':>3} {'t':>5} {'none':>7} {'merge':>7} {'swap':>7} {'buckets':>7} {'auto':>7} "
        f"{'seconds':>7} {'published':>9} {'reference':>9}"
    )
    for sensitive in ("FEDTAX", "FICA"):
        for k, t in CASES:
            losses, took = [], 0.0
            for demand in (
                {},
                *({"closeness": {sensitive: t}, "enforce": how} for how in ("merge", "swap", "buckets", "auto")),
            ):
                begin = time.perf_counter()
                release = mag.microaggregate(table, k, QI, rest="drop", **demand)
                took = time.perf_counter() - begin
                masked = release.data.select(QI).to_numpy().astype(float)
                losses.append(mag.metrics.information_loss(original, masked, standardize=True))
            shown = " ".join(f"{loss:7.3f}" for loss in losses)
            published, fewer = reference[sensitive, k, t]
            print(f"{sensitive:9} {k:3} {t:5} {shown} {took:7.2f} {published:9.3f} {fewer:9.3f}", flush=True)


def adult(n: int) -> None:
    """Loss by way of diversity and closeness of a nominal column."""
    folder = DATA / "adult_arx"
    names = ["age", *TREES, "occupation"]
    people = pl.read_csv(folder / "adult.csv", separator=";").select(names).head(n)
    trees = {name: mag.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in TREES}
    shared: dict[str, Any] = {
        "hierarchies": trees,
        "aggregate": {"age": "range"},
        "standardize": "range",
        "rest": "drop",
    }
    print(f"\nAdult, {people.height} records, k = 5: NCP, groups and seconds")
    plain = mag.microaggregate(people, 5, names[:-1], **shared)
    print(f"{'none':42} {plain.ncp():7.4f} {plain.grouping.n_groups:6}")
    for demand in DEMANDS:
        for how in ("merge", "swap", "buckets", "auto"):
            begin = time.perf_counter()
            release = mag.microaggregate(people, 5, names[:-1], enforce=how, **shared, **demand)
            took = time.perf_counter() - begin
            text = ", ".join(f"{option} {next(iter(wish.values()))}" for option, wish in demand.items())
            print(f"{text:34} {how:7} {release.ncp():7.4f} {release.grouping.n_groups:6} {took:7.1f}", flush=True)


if __name__ == "__main__":
    main()
