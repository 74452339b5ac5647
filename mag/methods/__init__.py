"""Ways to group records of several columns.  One method, one function of a file named like it (or like its family).

The functions get standardized records and return a label per record:

    def group(X, k, *, gamma=0.2, threads, random_state, progress) -> labels

`X` is float64, C-contiguous, (n, d) with d ≥ 2 and n ≥ 2k, centerd; it must not be written to.  `labels` are integers
of any numbering, one per record.  `threads` (an int), `random_state` (a `numpy.random.Generator`), `progress` (a
`mag._lib.progress.Progress`), `engine` (the backend for columns) and `whole` (integers, see
`mag.methods.orders.consecutive`) are the `Resources`, handed to the functions that name them, without a default; every
other keyword is an option of the method, with its default.  What options may be is said by the `check` of their file.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from mag._backends import cpu
from mag._backends.protocol import Backend
from mag._lib.lazy import cached_property
from mag._lib.progress import Progress
from mag.methods import anneal, kmeans_cleanup, matching, mdav, mona, mondrian, nearest_neighbor, ona
from mag.methods.orders import cbfs_order, mdav_order, npn, projection, tsp, zscore
from mag.methods.orders.consecutive import Whole


@dataclass(frozen=True)
class Resources:
    """What a method may use beside records, k and its options."""

    random_state: np.random.Generator
    progress: Progress
    threads: int = 1
    engine: Backend = cpu
    whole: Whole | None = None


HANDED = tuple(field.name for field in fields(Resources))


def _takes_anything(k: int) -> None:
    """No options, nothing to check."""


@dataclass(frozen=True)
class Method:
    """The function that groups, and one that refuses wrong options; the only k, if so; methods that it may start from.

    What it can be asked for is in its signature.
    """

    group: Callable[..., Any]
    check: Callable[..., Any] = _takes_anything
    k: int | None = None
    starts: tuple[str, ...] = ()

    def run(
        self, X: np.ndarray, k: int, resources: Resources, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Labels, and what the method tells beside them."""
        handed = {name: getattr(resources, name) for name in HANDED if self.takes(name)}
        found = self.group(X, k, **handed, **options)
        return found if isinstance(found, tuple) else (found, {})

    @cached_property
    def _keywords(self) -> dict[str, Any]:
        parameters = inspect.signature(self.group).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    @property
    def options(self) -> dict[str, Any]:
        """What the method can be asked for and the defaults: its own options, and those behind what it is handed."""
        own = {name: default for name, default in self._keywords.items() if name not in HANDED}
        behind = {"random_state": ("random_state", None), "progress": ("time_limit", None), "whole": ("integer", False)}
        return own | dict(option for name, option in behind.items() if self.takes(name))

    def takes(self, name: str) -> bool:
        """Whether the function wants something of `Resources`."""
        return name in self._keywords


METHODS = {
    "anneal": Method(anneal.group, anneal.check, starts=("mona", "ona_star")),
    "cbfs_order": Method(cbfs_order.group),
    "kmeans_cleanup": Method(kmeans_cleanup.group, kmeans_cleanup.check),
    "lmas": Method(ona.lmas, ona.check),
    "matching": Method(matching.group, k=2),
    "md": Method(mdav.md, mdav.check),
    "mdav": Method(mdav.mdav),
    "mdav_order": Method(mdav_order.group),
    "mdav_plus": Method(mdav.mdav_plus, mdav.check),
    "mdav_star": Method(mdav.mdav_star, mdav.check),
    "mdav_star_gamma": Method(mdav.mdav_star_gamma, mdav.check),
    "mona": Method(mona.mona, mona.check),
    "mona_2d": Method(mona.mona_2d, mona.check),
    "mondrian": Method(mondrian.mondrian),
    "mondrian_v": Method(mondrian.mondrian_v),
    "mondrian_v2d": Method(mondrian.mondrian_v2d),
    "nearest_neighbor": Method(nearest_neighbor.group),
    "npn": Method(npn.group),
    "ona": Method(ona.ona, ona.check),
    "ona_star": Method(ona.ona_star),
    "ona_star_gamma": Method(ona.ona_star_gamma, ona.check),
    "projection": Method(projection.group, projection.check),
    "tsp": Method(tsp.group, tsp.check),
    "v_mdav": Method(mdav.v_mdav, mdav.check),
    "zscore": Method(zscore.group),
}


PATIENCE = 2**35  # n·n·d up to which ONA* takes seconds; 30 000 × 24 is 2**34.3 (benchmarks/families.py)


def automatic(n: int, d: int, k: int, limited: bool) -> str:
    """The method of "auto": annealing while there is time, if that is limited.

    Without a limit ONA*, which loses least without it, while n·n·d is affordable; beyond that, MONA.
    """
    if limited:
        return "anneal"
    return "ona_star" if n * n * d <= PATIENCE else "mona"
