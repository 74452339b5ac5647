"""Full-domain recoding of Adult with the hierarchies of ARX: `python -m benchmarks.generalize [--columns 9]`.

The least normalized certainty penalty, and the time of the search beside that of all nodes one after the other, on all
records, in NumPy, in the same run.
"""

import argparse
import itertools
import time

import numpy as np
import polars as pl

import mag
from benchmarks._data import DATA

NAMES = ["sex", "age", "race", "marital-status", "education", "native-country"]
MORE = ["workclass", "occupation", "salary-class"]


def search_plainly(people: pl.DataFrame, trees: dict[str, mag.Hierarchy]) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Of every node: the loss of each record, and the size of its class; what k and suppression make of it is cheap."""
    leaves = [trees[name].find(people[name].to_list()) for name in people.columns]
    columns = [trees[name] for name in people.columns]
    nodes = []
    for levels in itertools.product(*(range(tree.levels.shape[1]) for tree in columns)):
        key, loss = np.zeros(people.height, np.int64), np.zeros(people.height)
        for tree, own, level in zip(columns, leaves, levels, strict=True):
            node = tree.levels[own, level]
            key, loss = key * len(tree.labels) + node, loss + tree.loss[node]
        _, place, counts = np.unique(key, return_inverse=True, return_counts=True)
        nodes.append((loss.mean(), counts[place], loss))
    return nodes


def best_plainly(nodes: list[tuple[float, np.ndarray, np.ndarray]], k: int, suppress: float, d: int) -> float:
    """The least loss of these nodes, suppressed records losing 1 in every column."""
    best = 1.0
    for _, sizes, loss in nodes:
        gone = sizes < k
        if gone.sum() <= suppress * gone.size:
            best = min(best, float((loss[~gone].sum() + d * gone.sum()) / (d * gone.size)))
    return best


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--columns", type=int, choices=[6, 9], default=6)
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10])
    options = parser.parse_args()
    names = NAMES if options.columns == 6 else NAMES + MORE
    folder = DATA / "adult_arx"
    people = pl.read_csv(folder / "adult.csv", separator=";").select(names)
    trees = {name: mag.Hierarchy.read(folder / f"adult_hierarchy_{name}.csv") for name in names}
    mag.generalize(people, 2, names, hierarchies=trees)  # modules
    nodes, plain = [], float("inf")
    if options.columns == 6:  # of nine the plain way takes minutes
        begin = time.perf_counter()
        nodes = search_plainly(people, trees)
        plain = time.perf_counter() - begin
    print(f"{people.height} records, {len(names)} columns; all nodes plainly: {plain:.2f} s")
    print(f"{'k':>3} {'suppress':>8} {'NCP':>8} {'suppressed':>10} {'search':>8} {'call':>8} {'ratio':>6}")
    for suppress, k in itertools.product((0, 0.05, 1), options.k):
        begin = time.perf_counter()
        release = mag.generalize(people, k, names, hierarchies=trees, max_suppressed=suppress)
        took, search = time.perf_counter() - begin, release.manifest()["seconds"]["search"]
        if nodes and abs(best_plainly(nodes, k, suppress, len(names)) - release.ncp()) > 1e-12:
            raise SystemExit(f"k={k}, max_suppressed={suppress}: the plain search finds another loss.")
        print(
            f"{k:3} {suppress:8} {release.ncp():8.4f} {release.lattice[0].suppressed:10} {search:7.3f}s {took:7.3f}s "
            f"{plain / search:6.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
