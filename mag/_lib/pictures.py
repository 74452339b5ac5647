"""Results in notebooks: a small table of facts, and plots with matplotlib."""

import html
from collections.abc import Mapping
from typing import Any

MAX_ENTRIES = 12  # of a legend


class Drawable:
    """A result that can be drawn by `_draw`."""

    def plot(self, ax: Any = None) -> Any:
        """Draw the figure that the class describes; needs matplotlib, extra ``plot``.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
            Where it was drawn.
        """
        axes = new_axes()[0] if ax is None else ax
        self._draw(axes)
        return axes

    def _draw(self, axes: Any) -> None:
        raise NotImplementedError


def facts_table(title: str, facts: Mapping[str, object]) -> str:
    """Facts as an HTML table, a row each; None is left out."""
    rows = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th><td>{html.escape(str(fact))}</td></tr>'
        for name, fact in facts.items()
        if fact is not None
    )
    return f'<table><caption style="text-align:left"><b>{html.escape(title)}</b></caption>{rows}</table>'


def use_whole_ticks(*axes: Any) -> None:
    """Ticks at whole numbers, for counts."""
    from matplotlib.ticker import MaxNLocator

    for axis in axes:
        axis.set_major_locator(MaxNLocator("auto", integer=True))


def space_ticks(axis: Any, most: int = 6) -> None:
    """Few ticks, so that long numbers do not run into each other."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most))


def put_legend_beside(axes: Any, entries: int) -> None:
    """A legend to the right of the axes, where it covers nothing; without the last ones of very many entries."""
    handles, labels = axes.get_legend_handles_labels()
    if entries > MAX_ENTRIES:
        handles, labels = handles[:MAX_ENTRIES], [*labels[: MAX_ENTRIES - 1], f"{entries - MAX_ENTRIES + 1} more"]
    axes.legend(handles, labels, frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def new_axes(panels: int = 1, wide: int = 3) -> list[Any]:
    """Axes of a new figure, some side by side; matplotlib is imported here and nowhere before."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib; pip install 'mag-sdc[plot]'.") from error
    across = min(panels, wide)
    down = -(-panels // across)
    size = (6.4, 4.4) if panels == 1 else (3.2 * across, 2.6 * down)
    figure, axes = pyplot.subplots(down, across, figsize=size, squeeze=False, layout="constrained")
    every = axes.ravel().tolist()
    for spare in every[panels:]:
        figure.delaxes(spare)
    return every[:panels]
