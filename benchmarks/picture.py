"""`python -m benchmarks.picture`: the README's picture of values and their groups."""

import pathlib

import matplotlib
import numpy as np

import mag
from benchmarks._measure import words

matplotlib.use("Agg")
import matplotlib.pyplot as plt

PATH = pathlib.Path(__file__).parents[1] / "docs" / "figures" / "groups.png"


def draw(path: pathlib.Path = PATH) -> None:
    """Two rows of dots: values above, their published values below, joined by lines."""
    x = np.sort(np.random.default_rng(4).lognormal(3.4, 0.35, 30))
    grouping = mag.univariate(x, k=4)
    figure, axes = plt.subplots(figsize=(9, 2.3), dpi=150)
    for g in range(grouping.n_groups):
        members = x[grouping.labels == g]
        center = grouping.representatives[g]
        color, marker = ("black", "o") if g % 2 else ("tab:blue", "s")
        axes.plot([members, np.full(members.size, center)], [1, 0], color=color, linewidth=0.8, alpha=0.6)
        axes.plot(members, np.ones(members.size), marker, color=color, markersize=5)
        axes.plot(center, 0, marker, color=color, markersize=10)
        axes.annotate(f"{members.size}", (center, 0), (0, -16), textcoords="offset points", ha="center", fontsize=9)
    axes.set_yticks([1, 0], ["30 incomes", "published"])
    axes.set_ylim(-0.45, 1.25)
    axes.set_xlabel("income, thousand per year")
    axes.set_title("Optimal groups of at least k = 4: each mean stands for the number of people below it", fontsize=10)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(left=False)
    figure.tight_layout()
    figure.savefig(path)


if __name__ == "__main__":
    words(__doc__)
    draw()
