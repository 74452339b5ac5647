"""The options of `keep` in `mag.graphs.anonymize`: one option, one file, one line in the table."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mag.api.types import DegreeCost
from mag.graphs.keep import degrees, edges, nodes

Change = Callable[[np.ndarray, np.ndarray, int, DegreeCost, np.random.Generator], np.ndarray]


class Keep(NamedTuple):
    """How a graph is changed: a function of its edges, its degrees, k, the cost and random numbers."""

    change: Change
    costs: tuple[DegreeCost, ...]  # the default first
    bound: DegreeCost  # whose half no change of edges can undercut


KEEP = {
    "degrees": Keep(degrees.change, ("sae", "sse_int", "roundup", "rounddown"), "sae"),
    "edges": Keep(edges.change, ("roundup",), "roundup"),
    "nodes": Keep(nodes.change, ("sse_int", "sae", "roundup", "rounddown"), "sae"),
}
