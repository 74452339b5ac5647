"""Diversity and closeness: what was asked for, and what the classes of the published table have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mag.report import _groups, _svg
from mag.report._html import Element, element


@dataclass(frozen=True)
class SensitiveFacts:
    """A demand on sensitive values: a sentence, the bound, the worst class, and the different values of each class.

    `is_limit` says that no class may have more than `required`; otherwise none may have less.
    """

    name: str
    sentence: str
    required: float
    counted: float
    is_limit: bool
    n_values: Sequence[int]


def describe_sensitive(demands: Sequence[SensitiveFacts]) -> Element:
    """A section with a figure for every demand."""
    figures = (_figure(demand) for demand in demands)
    return element("section", element("h2", "Sensitive values"), element("div", *figures, class_="grid"))


def _figure(demand: SensitiveFacts) -> Element:
    counts = np.asarray(demand.n_values, np.int64)
    parts = [element("h3", demand.name), element("p", f"{demand.sentence[:1].upper()}{demand.sentence[1:]}.")]
    worst, bound = ("largest", "at most") if demand.is_limit else ("smallest", "at least")
    label = (
        f"Bar: the {worst} figure of a class, {demand.counted:.3g}. Line: {bound} {demand.required:.3g} is required."
    )
    parts.append(_svg.gauge(label, demand.required, demand.counted))
    parts.append(element("figcaption", element("p", label)))
    if counts.size and counts.min() < counts.max():
        label = "Different values in a class, and how many classes have that many."
        parts += [_svg.sizes(label, _groups.histogram(counts)), element("figcaption", element("p", label))]
    return element("figure", *parts)
