"""A distribution before and after on matplotlib's axes, as the page draws it."""

from typing import Any

import numpy as np

from mag.report._bins import bins


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
