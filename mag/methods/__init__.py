"""Ways to group records of several columns.  One method, one function of a file named like it (or like its family).

The functions get standardized records and return a label per record:

    def group(X, k, *, gamma=0.2, threads, random_state, progress) -> labels

`X` is float64, C-contiguous, (n, d) with d ≥ 2 and n ≥ 2k, centered; it must not be written to.  `labels` are integers
of any numbering, one per record.  `threads` (an int), `random_state` (a `numpy.random.Generator`), `progress` (a
`mag._lib.progress.Progress`), `engine` (the backend for columns), `integers` (see
`mag.methods.orders.consecutive`), `start` (labels of groups to begin with, see `begin`) and `trees` (which columns are
categories, see `mag.methods.distances.hierarchies`; None where all are numbers) are the `Resources`, handed to the
functions that name them; every other keyword is an option of the method, with its default. The `check` of a method's
file validates its options.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from mag._backends import cpu
from mag._backends.protocol import Backend, DeviceBackend
from mag._lib.checks import members_of, one_of
from mag._lib.lazy import cached_property
from mag._lib.progress import Progress
from mag.methods import (
    anneal,
    dissolve,
    kmeans_cleanup,
    matching,
    mdav,
    mona,
    mondrian,
    ona,
    ona_local,
    pcl,
    sbm,
    trees,
)
from mag.methods._best_of import sum_of_squares
from mag.methods._split import split_large
from mag.methods.anneal.recombine import numbered
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.orders import cbfs_order, mdav_order, npn, projection, tsp, zscore
from mag.methods.orders.consecutive import IntegerColumns


@dataclass(frozen=True)
class Resources:
    """Resources that a method may use in addition to records, k and its options."""

    random_state: np.random.Generator
    progress: Progress
    threads: int = 1
    engine: Backend = cpu
    integers: IntegerColumns | None = None
    start: np.ndarray | None = None
    trees: CategoryColumns | None = None


BEGINNING = 0.1  # of the progress is for the groups to begin with
ONA_WORK_PER_SECOND = 2**33  # largest n·n·d: 2**30 to 2**32.3 were measured
MOSTLY = 0.8  # share of the time for ONA*, which gains more than annealing in the same time
RESOURCE_NAMES = tuple(field.name for field in fields(Resources))


def _accept_any_k(k: int) -> None:
    """No options, nothing to check."""


@dataclass(frozen=True)
class Method:
    """The function that groups, and one that refuses wrong options; the only k, if so; methods that it may start from.

    Its options follow from its signature.  `resident` decides whether n records of d columns may be arrays of an
    engine's device.  `family` (one of `FAMILIES`), `summary` (its groups, in a line), `time` (how the work grows) and
    `source` are for the documentation and the help of commands; `python -m tools.names` copies them to where they
    cannot be imported.
    """

    group: Callable[..., Any]
    check: Callable[..., Any] = _accept_any_k
    _: KW_ONLY
    family: str
    summary: str
    time: str
    source: str
    k: int | None = None
    starts: tuple[str, ...] = ()
    resident: Callable[[DeviceBackend, int, int, int], bool] | None = None

    def run(
        self, X: np.ndarray, k: int, resources: Resources, options: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Run the method; return its labels and details."""
        own, details = dict(options), {}
        if self.accepts("start"):
            beginning = replace(resources, progress=resources.progress.span(0.0, BEGINNING))
            start, details["init"] = begin(X, k, own.pop("init", "auto"), beginning)
            resources = replace(resources, start=start)
        handed = {name: getattr(resources, name) for name in RESOURCE_NAMES if self.accepts(name)}
        answer = self.group(X, k, **handed, **own)
        labels, more = answer if isinstance(answer, tuple) else (answer, {})
        return labels, details | more

    @cached_property
    def _keywords(self) -> dict[str, Any]:
        parameters = inspect.signature(self.group).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    @cached_property
    def options(self) -> dict[str, Any]:
        """All options with their defaults, including those that map to resources."""
        own = {name: default for name, default in self._keywords.items() if name not in RESOURCE_NAMES}
        start = {"init": "auto"} if self.accepts("start") else {}
        behind = {"random_state": ("random_state", 0), "progress": ("time_limit", None), "integers": ("integer", False)}
        return start | own | dict(option for name, option in behind.items() if self.accepts(name))

    def accepts(self, name: str) -> bool:
        """Whether the function wants something of `Resources`."""
        return name in self._keywords


THESIS = "Thaeter, *k-anonymous microaggregation*, thesis, Lübeck 2021"
FAMILIES = {  # in the order of lists; a hint for users
    "Exchange": "smallest loss",
    "Maximum distance": "",
    "Halving": "large tables",
    "Order": "consecutive records",
    "Clustering": "",
    "Exact": "k = 2 only",
}
METHODS = {
    "anneal": Method(
        anneal.group,
        anneal.check,
        starts=("mona", "ona_local", "ona_star"),
        family="Exchange",
        summary="any groups, changed at random, uphill ever less often",
        time="as long as you like",
        source="Kirkpatrick, Gelatt & Vecchi 1983 (the principle); the moves are ours",
    ),
    "cbfs_order": Method(
        cbfs_order.group,
        family="Order",
        summary="consecutive in the order in which CBFS takes records",
        time="n²/k",
        source="Laszlo & Mukherjee 2005; Domingo-Ferrer et al. 2006 (CBFS-MHM)",
    ),
    "dba": Method(
        dissolve.dba,
        family="Clustering",
        summary="the densest k records first; groups are dissolved where that costs less",
        time="n²",
        source="Lin, Wen, Hsieh & Chang 2010; Thaeter 2021, algorithm 21",
    ),
    "kmeans_cleanup": Method(
        kmeans_cleanup.group,
        kmeans_cleanup.check,
        family="Clustering",
        summary="clusters of k-means, small ones merged",
        time="n²/k",
        source="Stamm & Schaub 2024",
    ),
    "lmas": Method(
        ona.lmas,
        ona.check,
        family="Exchange",
        summary="clusters of k-means, small ones merged and large ones split",
        time="n²/k per round",
        source=f"{THESIS}, algorithm 11",
    ),
    "matching": Method(
        matching.group,
        k=2,
        family="Exact",
        summary="the best pairs; for k = 2 only",
        time="about n³",
        source=f"Edmonds 1965; {THESIS}, section 4.3",
    ),
    "md": Method(
        mdav.md,
        mdav.check,
        family="Maximum distance",
        summary="around the two records farthest from each other",
        time="n²",
        source=f"Domingo-Ferrer & Mateo-Sanz 2002; {THESIS}, algorithm 1",
    ),
    "mdav": Method(
        mdav.mdav,
        family="Maximum distance",
        summary="around the record farthest from the centroid, and the one farthest from that",
        time="n²/k",
        source=f"Domingo-Ferrer & Torra 2005; {THESIS}, algorithm 2",
    ),
    "mdav_order": Method(
        mdav_order.group,
        family="Order",
        summary="consecutive in the order in which MDAV takes records",
        time="n²/k",
        source="Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006 (MDAV-MHM)",
    ),
    "mdav_plus": Method(
        mdav.mdav_plus,
        mdav.check,
        family="Maximum distance",
        summary="around the record farthest from the centroid",
        time="n²/k",
        source=f"{THESIS}, algorithm 3",
    ),
    "mdav_star": Method(
        mdav.mdav_star,
        mdav.check,
        family="Maximum distance",
        summary="as MDAV+, but a record joins an existing group where a new one would cost more",
        time="n²",
        source=f"{THESIS}, algorithm 5",
    ),
    "mdav_star_gamma": Method(
        mdav.mdav_star_gamma,
        mdav.check,
        family="Maximum distance",
        summary="as MDAV*, with a threshold γ for opening groups",
        time="n²",
        source=f"{THESIS}, algorithm 6",
    ),
    "mona": Method(
        mona.mona,
        mona.check,
        family="Halving",
        summary="halves, grouped by ONA* once they are small",
        time="n^(1+rho)",
        source=f"{THESIS}, section 7.2, algorithm 20",
    ),
    "mona_2d": Method(
        mona.mona_2d,
        mona.check,
        family="Halving",
        summary="as MONA, halved as Mondrian along two columns",
        time="n^(1+rho)",
        source=f"{THESIS}, section 7.2",
    ),
    "mondrian": Method(
        mondrian.mondrian,
        family="Halving",
        summary="halves at the median of the column with the widest range",
        time="n log n",
        source=f"LeFevre, DeWitt & Ramakrishnan 2006; {THESIS}, section 7.1",
    ),
    "mondrian_v": Method(
        mondrian.mondrian_v,
        family="Halving",
        summary="halves at the median of the column with the largest variance",
        time="n log n",
        source=f"{THESIS}, section 7.1",
    ),
    "mondrian_v2d": Method(
        mondrian.mondrian_v2d,
        family="Halving",
        summary="halves also at the sum or difference of two columns",
        time="d² n log n",
        source=f"{THESIS}, section 7.1",
    ),
    "mst": Method(
        trees.mst,
        trees.check,
        family="Clustering",
        summary="parts of the minimum spanning tree without its longest edges; large ones are split",
        time="n²",
        source="Laszlo & Mukherjee 2005; Thaeter 2021, section 8.1",
    ),
    "mu_approx": Method(
        trees.mu_approx,
        family="Clustering",
        summary="the trees of `nearest_neighbor`, large ones split",
        time="n²",
        source="Domingo-Ferrer, Sebé & Solanas 2008; Thaeter 2021, algorithms 22 and 23",
    ),
    "nearest_neighbor": Method(
        trees.nearest_neighbor,
        family="Clustering",
        summary="trees of near records, cut into groups",
        time="n²",
        source="Domingo-Ferrer, Sebé & Solanas 2008; Stamm & Schaub 2024 (disjoint groups)",
    ),
    "npn": Method(
        npn.group,
        family="Order",
        summary="consecutive on a walk that always goes on to the nearest record",
        time="n²",
        source="Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006",
    ),
    "ona": Method(
        ona.ona,
        ona.check,
        family="Exchange",
        summary="random groups that exchange records one by one",
        time="n²/k per round",
        source=f"Soria-Comas, Domingo-Ferrer & Mulero 2019; {THESIS}, algorithm 14",
    ),
    "ona_local": Method(
        ona_local.group,
        family="Exchange",
        summary="groups of MDAV*, improved as by ONA* and annealing in parts that change from round to round",
        time="n log n",
        source=f"{THESIS}, algorithm 16 (the steps); the division is ours",
    ),
    "ona_star": Method(
        ona.ona_star,
        family="Exchange",
        summary="groups of MDAV*, dissolved and reassigned while that lowers the loss",
        time="n²",
        source=f"{THESIS}, algorithm 16",
    ),
    "ona_star_gamma": Method(
        ona.ona_star_gamma,
        ona.check,
        family="Exchange",
        summary="as ONA*, from the groups of MDAV*γ",
        time="n²",
        source=f"{THESIS}, section 6.4",
    ),
    "pcl": Method(
        pcl.group,
        pcl.check,
        family="Clustering",
        summary="k-means with cells of equal size",
        time="n²/k a round, and more",
        source="Rebollo-Monedero et al. 2013; Thaeter 2021, section 6.2",
    ),
    "projection": Method(
        projection.group,
        projection.check,
        resident=projection.fits,
        family="Order",
        summary="consecutive in the best of 500 projections on a line",
        time="n log n",
        source="Nin, Herranz & Torra 2008; Stamm & Schaub 2024",
    ),
    "sbm": Method(
        sbm.group,
        family="Maximum distance",
        summary="around the first and the last record in the order of rank sums",
        time="n²/k",
        source="Mahmood, Kabir & Mustafa 2012; Thaeter 2021, section 8.4",
    ),
    "tfrp": Method(
        dissolve.tfrp,
        family="Maximum distance",
        summary="around records far from two fixed points; groups are dissolved where that costs less",
        time="n²/k",
        source="Chang, Li & Huang 2007; Thaeter 2021, section 8.2",
    ),
    "tsp": Method(
        tsp.group,
        tsp.check,
        family="Order",
        summary="consecutive on a short tour through all records",
        time="n²",
        source="Heaton 2012; Mortazavi & Jalili 2014",
    ),
    "v_mdav": Method(
        mdav.v_mdav,
        mdav.check,
        family="Maximum distance",
        summary="as MDAV+, then extended by records close to the group",
        time="n²",
        source=f"Solanas & Martínez-Ballesté 2006; {THESIS}, algorithm 4",
    ),
    "zscore": Method(
        zscore.group,
        family="Order",
        summary="consecutive in the order of the sum of the standardized columns",
        time="n log n",
        source="Domingo-Ferrer & Mateo-Sanz 2002; Nin, Herranz & Torra 2008",
    ),
}


MAX_ONA_WORK = 2**29  # n·n·d / k up to which ONA* takes less time than the rounds of `ona_local`
MAX_ANNEALED_COLUMNS = 32  # beyond which near records may say little: annealing loses more than ONA* on pure noise
FEW_STRATA = 64  # strata that are grouped one by one; more of them, which are small, are grouped together by ONA*


def automatic(
    n: int, d: int, k: int, limited: bool, *, categories: Literal["averaged", "range"] | None = None, strata: int = 1
) -> str:
    """The method of "auto" for n records of one of some strata: annealing while there is time, if that is limited.

    Without a limit it is ONA* and annealing in parts, or ONA* alone where that loses less or takes far less time.
    Records whose categories are measured by range always get the former, which ends by trades there.
    """
    few = strata <= FEW_STRATA
    if categories == "range" and few:
        return "ona_local"
    if limited:
        return "anneal"
    if categories is None and d <= MAX_ANNEALED_COLUMNS and few:
        return "ona_local"
    return _ona(n, d, k)


def _ona(n: int, d: int, k: int) -> str:
    """ONA* as a whole or in parts, whichever takes less time."""
    return "ona_star" if n * n * d <= MAX_ONA_WORK * k else "ona_local"


# ---- groups to begin with


def check_init(k: int, init: Any) -> None:
    """Reject an invalid `init`; labels are checked later, with the records."""
    if isinstance(init, str):
        fit = [name for name, method in METHODS.items() if not method.accepts("start") and method.k in (None, k)]
        one_of("init", init, ["auto", *fit])


def begin(X: np.ndarray, k: int, init: Any, resources: Resources) -> tuple[np.ndarray, str]:
    """Groups of k to 2k-1 records, and their origin: labels, a method by its name, or one that there is time for."""
    (n, d), threads, progress = X.shape, resources.threads, resources.progress

    def run(name: str, progress: Progress) -> np.ndarray:
        labels, _ = METHODS[name].run(X, k, Resources(resources.random_state, progress, threads))
        return split_large(X, k, numbered(labels), mdav.mdav_plus, threads, progress)

    check_init(k, init)
    if not isinstance(init, str):
        return split_large(X, k, members_of("init", init, n, k), mdav.mdav_plus, threads, progress), "labels"
    if init != "auto" or progress.seconds_left() == np.inf:
        name = _ona(n, d, k) if init == "auto" else init
        labels = run(name, progress)
        return labels, f"{name}, cut short" if progress.stopped else name
    most = progress.limited(MOSTLY * progress.seconds_left())
    if _ona(n, d, k) == "ona_local":  # as `anneal` goes on like `ona_local`, with all the time that is left
        labels = ona_local.before_annealing(X, k, threads=threads, progress=most)
        return labels, "ona_local, cut short" if most.stopped else "ona_local"
    candidates = []
    if n * n * d <= ONA_WORK_PER_SECOND * progress.seconds_left():
        labels = run("ona_star", most)
        if not most.stopped:
            return labels, "ona_star"
        candidates.append((labels, "ona_star, cut short"))
    labels = run("mona", progress)
    candidates.append((labels, "mona, cut short" if progress.stopped else "mona"))
    return min(candidates, key=lambda candidate: sum_of_squares(X, candidate[0]))
