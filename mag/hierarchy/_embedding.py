"""Coordinates of categories: squared distances are the loss of the closest common ancestor.

Every node but the root has a coordinate √((h(parent) − h(node)) / 2), where h is the loss; the leaves below the node
have this coordinate.  A leaf has few nonzero coordinates, one per level; all leaves have one per node.
"""

import numpy as np


def axes_of(levels: np.ndarray, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """The nonzero coordinates of each category, their sizes, and the number of different coordinates.

    `levels` : the node of each category on each level, (m, levels), from itself to the root; `loss` : that of every
    node.  The coordinate of a node whose loss is that of its parent is -1: it is not needed.
    """
    here, above = levels[:, :-1], levels[:, 1:]
    heights, axes, count = np.sqrt((loss[above] - loss[here]) / 2), np.full(here.shape, -1), 0
    for level in range(here.shape[1]):
        higher = heights[:, level] > 0
        nodes, number = np.unique(here[higher, level], return_inverse=True)
        axes[higher, level] = number + count
        count += nodes.size
    return axes, heights, count


def embed(levels: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """All coordinates of each category, (m, c)."""
    axes, heights, count = axes_of(levels, loss)
    points = np.zeros((len(levels), max(count, 1)))
    row, level = np.nonzero(axes >= 0)
    points[row, axes[row, level]] = heights[row, level]
    return points


def variance_of(levels: np.ndarray, loss: np.ndarray, shares: np.ndarray) -> float:
    """The variance of all coordinates together, where categories have these shares of the records."""
    axes, heights, count = axes_of(levels, loss)
    row, level = np.nonzero(axes >= 0)
    below, squares = np.bincount(axes[row, level], shares[row], count), np.zeros(count)
    squares[axes[row, level]] = np.square(heights[row, level])
    return float(squares @ (below * (1.0 - below)))
