"""`python -m benchmarks.scaling`: time per value against n and against k, ours and microagg1d's, as a picture.

Without microagg1d (`pip install mag-sdc[benchmarks]`) only ours and np.argsort are drawn.
"""

import argparse
import pathlib

import matplotlib
import numpy as np

import mag
from benchmarks._measure import best, machine, save, show
from benchmarks.univariate import rival

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PATH = pathlib.Path(__file__).parents[1] / "docs" / "figures" / "scaling.png"
LENGTHS = (10**3, 10**4, 10**5, 10**6, 10**7)
GROUPS = (2, 3, 5, 10, 20, 50, 100, 1000, 10_000, 100_000)
STYLES = {
    "mag, from unsorted values": ("black", "-", "o"),
    "mag, from sorted values": ("tab:blue", "-", "s"),
    "np.argsort alone": ("gray", ":", "^"),
    "microagg1d, default": ("tab:red", "--", "v"),
    "microagg1d, staggered": ("tab:orange", "-.", "D"),
}


def row(x: np.ndarray, k: int, other) -> dict:
    """Nanoseconds per value of every line of the picture."""
    ordered, n = np.sort(x), x.size
    mag.univariate(x[: 4 * k], k)
    calls = {
        "mag, from unsorted values": lambda: mag.univariate(x, k, threads=1),
        "mag, from sorted values": lambda: mag.univariate(ordered, k, assume_sorted=True, threads=1),
        "np.argsort alone": lambda: np.argsort(x),
    }
    if other and n <= 10**6:
        other(x[: 4 * k], k=k)
        calls["microagg1d, default"] = lambda: other(x, k=k)
        calls["microagg1d, staggered"] = lambda: other(x, k=k, method="staggered", stable=1)
    repeats = 50 if n <= 10**4 else 9
    times = {name: best(call, repeats=3 if "microagg1d" in name else repeats) / n * 1e9 for name, call in calls.items()}
    return {"n": n, "k": k, **{name: times.get(name) for name in STYLES}}


def draw(by_length: list[dict], by_group: list[dict], path: pathlib.Path) -> None:
    """Two panels with one logarithmic scale for time."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 4.5), dpi=130, sharey=True)
    for axes, rows, key, label in (
        (panels[0], by_length, "n", "number of values n, at k = 5"),
        (panels[1], by_group, "k", "smallest group size k, at n = 1 000 000"),
    ):
        for name, (color, line, marker) in STYLES.items():
            points = [(r[key], r[name]) for r in rows if r[name] is not None]
            if points:
                axes.loglog(*zip(*points, strict=True), line, color=color, marker=marker, markersize=4, label=name)
        axes.set_xlabel(label)
        axes.grid(True, which="major", linewidth=0.4)
    panels[0].set_ylabel("nanoseconds per value, one thread")
    figure.suptitle("Grouping a million values costs less than sorting them with np.argsort", fontsize=11)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="lower center", ncols=5, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig(path)


def main() -> None:
    """Measure, print, save and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-rival", action="store_true", help="do not import microagg1d")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=PATH, help="where the picture goes")
    options = parser.parse_args()
    other = None if options.no_rival else rival()
    rng = np.random.default_rng(3)
    print(machine())
    by_length = [row(rng.random(n), 5, other) for n in LENGTHS]
    show("Nanoseconds per value, k = 5, uniform", by_length)
    x = rng.random(10**6)
    by_group = [row(x, k, other) for k in GROUPS]
    show("Nanoseconds per value, n = 1 000 000, uniform", by_group)
    save("scaling", [{"by_length": by_length, "by_group": by_group}])
    draw(by_length, by_group, options.output)


if __name__ == "__main__":
    main()
