"""Distributions and levels before and after on matplotlib's axes, as the page draws them."""

from typing import Any

import numpy as np

from mag.report._bins import bins
from mag.report._facts import Category
from mag.report._levels import bars


def draw_distribution(axes: Any, name: str, original: np.ndarray, masked: np.ndarray, k: int) -> None:
    """Shares of the records before, as an area, and after, as a line."""
    axes.set_title(name, fontsize=10, loc="left")
    histogram = bins(original, masked, k)
    if histogram is None:
        axes.text(0.5, 0.5, "nothing to draw", ha="center", va="center", transform=axes.transAxes)
        return
    width = np.diff(histogram.edges)
    axes.stairs(histogram.before / width, histogram.edges, fill=True, color="0.8", label="before")
    axes.stairs(histogram.after / width, histogram.edges, linewidth=1.5, label="published")
    axes.locator_params(axis="x", nbins=4)
    axes.set_yticks([])
    axes.set_ylim(bottom=0)
    axes.legend(fontsize=8)


def draw_levels(axes: Any, name: str, category: Category, k: int) -> None:
    """Shares of the records on every published level, before and after."""
    axes.set_title(name, fontsize=10, loc="left")
    levels = bars(category.compared, category.after, category.order, k, category.generalized)
    if levels is None:
        axes.text(0.5, 0.5, "nothing to draw", ha="center", va="center", transform=axes.transAxes)
        return
    places = np.arange(len(levels))
    axes.barh(places - 0.2, [bar.before for bar in levels], 0.4, color="0.8", label="before")
    axes.barh(places + 0.2, [bar.after for bar in levels], 0.4, label="published")
    axes.set_yticks(places, [bar.label for bar in levels], fontsize=8)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.legend(fontsize=8)
