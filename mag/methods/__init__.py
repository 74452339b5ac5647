"""Ways to group records of several columns.  One method, one function of a file named like it (or like its family).

The functions get standardized records and return a label per record:

    def group(X, k, *, gamma=0.2, threads, random_state, progress) -> labels

`X` is float64, C-contiguous, (n, d) with d ≥ 2 and n ≥ 2k, centered; it must not be written to.  `labels` are integers
of any numbering, one per record.  `threads` (an int), `random_state` (a `numpy.random.Generator`), `progress` (a
`mag._lib.progress.Progress`), `engine` (the backend for columns) and `whole` (integers, see
`mag.methods.orders.consecutive`) are handed to the functions that name them, without a default; every other keyword is
an option of the method, with its default.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mag.methods import anneal, kmeans_cleanup, matching, mdav, mona, mondrian, nearest_neighbor, ona
from mag.methods.orders import cbfs_order, mdav_order, npn, projection, tsp, zscore

GIVEN = ("engine", "random_state", "threads", "progress", "whole")  # handed over by mag.multivariate


@dataclass(frozen=True)
class Method:
    """The function that groups, the only k that it can do, if so, and methods that it may start from.

    What it can be asked for is in its signature.
    """

    group: Callable[..., Any]
    k: int | None = None
    starts: tuple[str, ...] = ()

    @property
    def _keywords(self) -> dict[str, Any]:
        parameters = inspect.signature(self.group).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    @property
    def options(self) -> dict[str, Any]:
        """What the method can be asked for and the defaults: its own options, and those behind what it is handed."""
        own = {name: default for name, default in self._keywords.items() if name not in GIVEN}
        behind = {"random_state": ("random_state", None), "progress": ("time_limit", None), "whole": ("integer", False)}
        return own | dict(option for name, option in behind.items() if self.takes(name))

    def takes(self, name: str) -> bool:
        """Whether the function wants something of `GIVEN`."""
        return name in self._keywords


METHODS = {
    "anneal": Method(anneal.group, starts=("mona", "ona_star")),
    "cbfs_order": Method(cbfs_order.group),
    "kmeans_cleanup": Method(kmeans_cleanup.group),
    "lmas": Method(ona.lmas),
    "matching": Method(matching.group, k=2),
    "md": Method(mdav.md),
    "mdav": Method(mdav.mdav),
    "mdav_order": Method(mdav_order.group),
    "mdav_plus": Method(mdav.mdav_plus),
    "mdav_star": Method(mdav.mdav_star),
    "mdav_star_gamma": Method(mdav.mdav_star_gamma),
    "mona": Method(mona.mona),
    "mona_2d": Method(mona.mona_2d),
    "mondrian": Method(mondrian.mondrian),
    "mondrian_v": Method(mondrian.mondrian_v),
    "mondrian_v2d": Method(mondrian.mondrian_v2d),
    "nearest_neighbor": Method(nearest_neighbor.group),
    "npn": Method(npn.group),
    "ona": Method(ona.ona),
    "ona_star": Method(ona.ona_star),
    "ona_star_gamma": Method(ona.ona_star_gamma),
    "projection": Method(projection.group),
    "tsp": Method(tsp.group),
    "v_mdav": Method(mdav.v_mdav),
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
