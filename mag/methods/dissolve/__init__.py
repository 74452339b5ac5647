"""Groups of k, some of which are dissolved afterwards: DBA and TFRP (chapter 8 of Thaeter's thesis, 2021).

Both first make groups of k around one record after the other, then check once for every group whether its members cost
less in the groups that are nearest to them, and finally split groups of 2k records or more.
"""

import numpy as np

from mag._lib.progress import Progress
from mag.methods._split import split_large
from mag.methods.dissolve.densest import group_densest
from mag.methods.dissolve.one_pass import dissolve_groups, group_costs
from mag.methods.mdav import mdav
from mag.methods.mdav.both_ends import both_ends
from mag.methods.mdav.run import run_steps

PROGRESS_OF_FIRST_GROUPS = 0.8  # of the progress is for the groups of k


def dba(X: np.ndarray, k: int, *, threads: int, progress: Progress) -> np.ndarray:
    """Around the record with the densest surroundings first (algorithm 21; Lin, Wen, Hsieh & Chang 2010).

    Groups are visited in reverse order: the last ones consist of records that dense regions left over.
    """
    labels = group_densest(X, k, threads, progress.span(0.0, PROGRESS_OF_FIRST_GROUPS))
    order = np.arange(labels.max(), -1, -1)
    labels = dissolve_groups(X, labels, order, threads, progress.span(PROGRESS_OF_FIRST_GROUPS, 1.0))
    return split_large(X, k, labels, mdav, threads, progress.silent())


def tfrp(X: np.ndarray, k: int, *, threads: int, progress: Progress) -> np.ndarray:
    """Around the record farthest from one of two fixed points, in turn (section 8.2; Chang, Li & Huang 2007).

    Groups are looked at by the costs that they have before any is dissolved, the most expensive first.
    """
    labels = group_far_from_points(X, k, threads=threads, progress=progress.span(0.0, PROGRESS_OF_FIRST_GROUPS))
    order = np.argsort(-group_costs(X, labels), kind="stable")
    labels = dissolve_groups(X, labels, order, threads, progress.span(PROGRESS_OF_FIRST_GROUPS, 1.0))
    return split_large(X, k, labels, group_far_from_points, threads, progress.silent())


def group_far_from_points(X: np.ndarray, k: int, *, threads: int, progress: Progress) -> np.ndarray:
    """How TFRP begins: the points have the least, and the largest, of all values of the table in every column."""
    orders = np.stack([_farthest_first(X, X.min()), _farthest_first(X, X.max())])
    return run_steps(both_ends, X, k, orders, np.zeros(3, np.int64), k, threads=threads, progress=progress)


def _farthest_first(X: np.ndarray, value: float) -> np.ndarray:
    away = np.zeros(len(X))
    for x in X.T:
        away += np.square(x - value)
    return np.argsort(-away, kind="stable")
