"""Records that are linked to near ones, and the resulting trees cut into groups."""

import numpy as np

from mag._compiled.work import work_for
from mag._lib.checks import one_of
from mag._lib.progress import Progress
from mag.methods._split import Split, split_large
from mag.methods.distances.blocks import field_at
from mag.methods.distances.metric import metric_of
from mag.methods.distances.neighbors import neighbor_lists, neighbors
from mag.methods.mdav import md, mdav, mdav_plus
from mag.methods.mondrian.halving import RULE_VARIANCE, labels_of, parts_of
from mag.methods.trees.decompose import cut_trees
from mag.methods.trees.forest import grow
from mag.methods.trees.long_edges import cut_long_edges
from mag.methods.trees.spanning import spanning_tree

SPLITS: dict[str, Split] = {"md": md, "mdav": mdav, "mdav_plus": mdav_plus}


def check(k: int, *, split: str | None = "mdav") -> str | None:
    """Reject invalid options."""
    return split if split is None else one_of("split", split, SPLITS)


def nearest_neighbor(X: np.ndarray, k: int, *, random_state: np.random.Generator, threads: int) -> np.ndarray:
    """Trees whose tops point to a near record while they have fewer than k; large ones are cut."""
    parent = grow(neighbors(X, k - 1, threads), k, random_state.random(len(X)))
    return cut_trees(parent, k, random_state)


def mu_approx(
    X: np.ndarray, k: int, *, random_state: np.random.Generator, threads: int, progress: Progress
) -> np.ndarray:
    """The trees of `nearest_neighbor`; those of 2k records or more are split by MDAV (algorithm 23)."""
    work = work_for(field_at, metric_of(X))
    near, _ = neighbor_lists(work, X, k - 1, threads, progress)
    if progress.stopped:
        return _halves(X, k, threads, progress)
    labels = cut_trees(grow(near, k, random_state.random(len(X))), k, random_state)
    return split_large(X, k, labels, mdav, threads, progress.silent())


def mst(X: np.ndarray, k: int, *, split: str | None = "mdav", threads: int, progress: Progress) -> np.ndarray:
    """Parts of the minimum spanning tree, cut at its longest edges; large ones are split (Laszlo & Mukherjee 2005)."""
    method = check(k, split=split)
    edges, lengths = spanning_tree(X, threads, progress)
    if progress.stopped:
        return _halves(X, k, threads, progress)
    labels = cut_long_edges(edges, lengths, k)
    return labels if method is None else split_large(X, k, labels, SPLITS[method], threads, progress.silent())


def _halves(X: np.ndarray, k: int, threads: int, progress: Progress) -> np.ndarray:
    """A fast fallback if the time is up before there are trees."""
    return labels_of(*parts_of(X, k, 0, RULE_VARIANCE, threads, progress))
