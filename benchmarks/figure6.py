"""`python -m benchmarks.figure6`: information loss against k, after figure 6 of Stamm & Schaub 2024, as a picture.

Lines of the paper: one principal component, the best of 10 and 100 random directions, k-means with clean-up, trees of
nearest neighbors (means of 10 runs).  Ours beside them: the best of 500 directions as an order, and a tour.  Below, the
heuristics of Thaeter's thesis that are compared there with MDAV, and ONA*.
"""

import argparse
import pathlib

import matplotlib
import numpy as np

import mag
from benchmarks._data import table
from benchmarks._measure import machine, save, show

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PATH = pathlib.Path(__file__).parents[1] / "docs" / "figures" / "figure6.png"
GROUPS = (2, 3, 5, 7, 10, 15, 20, 30, 50)
RUNS = 10


def drawn(count: int):
    """The best of some random directions, entries uniform in [0, 1]."""

    def options(d: int, seed: int) -> dict:
        directions = np.random.default_rng(seed).random((d, count))
        return {"method": "projection", "directions": directions, "ordered": False}

    return options


def seeded(method: str, **options):
    """A method with a seed."""
    return lambda d, seed: {"method": method, "random_state": seed, **options}


def fixed(method: str, **options):
    """A method without chance."""
    return lambda d, seed: {"method": method, **options} if seed == 0 else None


PAPER = {  # options for d columns and a run, None if it would be the same again; color, line, marker
    "principal component": (fixed("projection", directions="pca", ordered=False), "gray", ":", "x"),
    "best of 10 directions": (drawn(10), "tab:green", ":", "v"),
    "best of 100 directions": (drawn(100), "tab:green", "--", "^"),
    "k-means, factor 0.5": (seeded("kmeans_cleanup", factor=0.5), "tab:orange", ":", "<"),
    "k-means, factor 1": (seeded("kmeans_cleanup"), "tab:orange", "--", "s"),
    "k-means, factor 2": (seeded("kmeans_cleanup", factor=2.0), "tab:orange", "-.", ">"),
    "nearest neighbors": (seeded("nearest_neighbor"), "tab:red", "--", "D"),
    "500 directions, as an order": (fixed("projection"), "tab:blue", "-", "o"),
    "tour": (fixed("tsp"), "black", "-", "o"),
}
THESIS = {
    "MDAV": (fixed("mdav"), "gray", "--", "x"),
    "DBA": (fixed("dba"), "tab:blue", "-", "o"),
    "TFRP": (fixed("tfrp"), "tab:green", "-", "^"),
    "SBM": (fixed("sbm"), "tab:green", ":", "v"),
    "spanning tree": (fixed("mst"), "tab:orange", "--", "s"),
    "µ-Approx": (seeded("mu_approx"), "tab:red", "--", "D"),
    "PCL": (fixed("pcl"), "tab:purple", "-.", "<"),
    "ONA*": (fixed("ona_star"), "black", "-", "o"),
}
ROWS = {"Methods of Stamm & Schaub, orders and a tour": PAPER, "Heuristics of Thaeter's thesis": THESIS}


def losses(X: np.ndarray, k: int) -> dict:
    """Mean and standard deviation of the information loss of every line, in percent."""
    row = {}
    for name, (options, *_) in (PAPER | THESIS).items():
        chosen = [options(X.shape[1], seed) for seed in range(RUNS)]
        found = [100 * mag.multivariate(X, k, **each).information_loss for each in chosen if each]
        row[name], row[f"± {name}"] = float(np.mean(found)), float(np.std(found))
    return row


def draw(tables: dict[str, list[dict]], path: pathlib.Path) -> None:
    """One column of panels per data set, the same losses in each row."""
    figure, panels = plt.subplots(len(ROWS), len(tables), figsize=(11, 9.5), dpi=130, sharex=True, sharey="col")
    for row, (what, lines) in zip(panels, ROWS.items(), strict=True):
        for axes, (name, found) in zip(row, tables.items(), strict=True):
            for line, (_, color, dash, marker) in lines.items():
                mean, deviation = (np.array([one[key] for one in found]) for key in (line, f"± {line}"))
                axes.plot(GROUPS, mean, dash, color=color, marker=marker, markersize=4, label=line)
                axes.fill_between(GROUPS, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(GROUPS, map(str, GROUPS))
            axes.set_title(f"{name}\n{what}", fontsize=10)
            axes.grid(True, linewidth=0.4)
        row[0].set_ylabel("information loss SSE / SST, percent")
        row[-1].legend(fontsize=8, loc="lower right")
    for axes in panels[-1]:
        axes.set_xlabel("smallest group size k")
    for axes in panels[0]:
        low, high = axes.get_ylim()
        marks = [a * b for a in (0.1, 1, 10) for b in (1, 2, 5) if low <= a * b <= high]
        axes.set_yticks(marks, [f"{mark:g}" for mark in marks])
    for axes in panels.flat:
        axes.minorticks_off()
    figure.suptitle("A tour and ONA* lose little in small groups; in large ones PCL loses least", fontsize=11)
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    """Compute, print, save and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=pathlib.Path, default=PATH, help="where the picture goes")
    options = parser.parse_args()
    print(machine())
    tables = {}
    for title, name in (
        ("EIA, 4092 records of 11 columns", "eia"),
        ("Tarragona, 834 records of 13 columns", "tarragona"),
    ):
        X = table(name)
        tables[title] = [{"k": k, **losses(X, k)} for k in GROUPS]
        means = [{key: value for key, value in row.items() if "±" not in key} for row in tables[title]]
        show(f"Information loss in percent, {title}", means)
    save("figure6", [tables])
    draw(tables, options.output)


if __name__ == "__main__":
    main()
