"""Diversity and closeness by their definitions: fractions, and transport that is searched."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import mag

TREE = mag.Hierarchy.from_parents(
    {"flu": "lung", "cough": "lung", "ulcer": "belly", "lung": "inner", "belly": "inner", "inner": "any", "skin": "any"}
)
NAMES = ["flu", "cough", "ulcer", "skin"]


@st.composite
def tables(draw, most=4):
    """Counts of a few classes; every value occurs somewhere, as in a table that was read."""
    m = draw(st.integers(1, most))
    row = st.lists(st.integers(0, 3), min_size=m, max_size=m).filter(any)
    counts = np.array(draw(st.lists(row, min_size=1, max_size=3)))
    counts[0][counts.sum(axis=0) == 0] = 1
    return counts, counts.sum(axis=0)


def ancestors(name):
    """From a leaf to the root, of a tree that is written down above; a missing value stands below the root."""
    paths = {
        "flu": ["flu", "lung", "inner", "any"],
        "cough": ["cough", "lung", "inner", "any"],
        "ulcer": ["ulcer", "belly", "inner", "any"],
        "skin": ["skin", "any"],
    }
    return paths.get(name, ["", "any"])


HEIGHTS = {"flu": 0, "cough": 0, "ulcer": 0, "skin": 0, "": 0, "lung": 1, "belly": 1, "inner": 2, "any": 3}


def apart(ground, i, j, names):
    """The distance of two values as an integer."""
    if i == j:
        return 0
    if ground == "equal":
        return 1
    if ground == "ordered":
        return abs(i - j)
    common = next(node for node in ancestors(names[i]) if node in ancestors(names[j]))
    return HEIGHTS[common]


def distance(ground, row, totals, names):
    """The cheapest transport of n·s units, by assignment: integers, hence exact."""
    n, s = int(sum(totals)), int(sum(row))
    give = [i for i, c in enumerate(row) for _ in range(n * int(c))]
    take = [j for j, c in enumerate(totals) for _ in range(s * int(c))]
    costs = np.array([[apart(ground, i, j, names) for j in range(len(names))] for i in range(len(names))])
    matrix = costs[np.ix_(give, take)]
    unit = {"equal": 1, "ordered": max(len(names) - 1, 1), "hierarchical": 3}[ground]
    return Fraction(int(matrix[linear_sum_assignment(matrix)].sum()), unit * n * s)


def at_least_entropy(row, least):
    """s^s ≥ ℓ^s Π c^c in fractions, no shortcut."""
    s = int(sum(row))
    return Fraction(s) ** s >= Fraction(least) ** s * math.prod(int(c) ** int(c) for c in row if c)
