"""Distributions and levels before and after on matplotlib's axes, as the page draws them."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from mag._lib.errors import InputRuntimeError, InputValueError
from mag._lib.pictures import new_axes, put_legend_beside
from mag.report._bins import bins
from mag.report._facts import Category
from mag.report._html import shorten_middle
from mag.report._levels import bars

MAX_TITLE_CHARACTERS = 30


def draw_columns(
    columns: Iterable[Hashable],
    numbers: Mapping[Hashable, tuple[np.ndarray, np.ndarray]],
    categories: Mapping[Hashable, Category],
    k: int | dict[Hashable, int],
) -> list[Any]:
    """Draw columns of numbers or categories, each on axes of its own."""
    names = list(columns)
    for name in names:
        if name not in numbers and name not in categories:
            raise InputValueError(f"columns must be among the masked ones; got {name!r}.")
    if not names:
        raise InputRuntimeError("plot needs a masked column that is published as numbers; got none.")
    every = new_axes(len(names))
    for axes, name in zip(every, names, strict=True):
        least = k[name] if isinstance(k, dict) else k
        if name in categories:
            _draw_levels(axes, str(name), categories[name], least)
        else:
            _draw_distribution(axes, str(name), *numbers[name], least)
    explained = next((axes for axes in every if axes.get_legend_handles_labels()[0]), None)
    if explained is not None:
        put_legend_beside(explained, 2)
    return every


def _draw_distribution(axes: Any, name: str, original: np.ndarray, masked: np.ndarray, k: int) -> None:
    """Shares of the records before, as an area, and after, as a line."""
    axes.set_title(shorten_middle(name, MAX_TITLE_CHARACTERS), fontsize=10, loc="left")
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


def _draw_levels(axes: Any, name: str, category: Category, k: int) -> None:
    """Shares of the records on every published level, before and after."""
    axes.set_title(shorten_middle(name, MAX_TITLE_CHARACTERS), fontsize=10, loc="left")
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
