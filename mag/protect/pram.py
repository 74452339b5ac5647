"""PRAM, the post-randomization method (Gouweleeuw et al. 1998): categories change, expected frequencies do not."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.errors import InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import find_first_rows, number_rows
from mag.api.types import RandomState
from mag.frames.base import Column
from mag.protect._table import change_columns, generator_for, record


def pram(table: Any, columns: Any, *, stay: float = 0.8, random_state: RandomState = None, manifest: Any = None) -> Any:
    """Change categories at random, by a matrix of transitions that keeps the expected frequencies.

    Each column is changed by itself, with the matrix that `invariant_matrix` makes of its frequencies.  The matrix is
    not published: it is neither in the result nor in the manifest.  Missing cells stay missing.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    columns : column name or list of them
        Columns of categories, of any type.
    stay : float
        The probability to stay in the first of two steps, see `invariant_matrix`.
    random_state : int, numpy.random.Generator, optional
        None, the default, is irreproducible: anyone who knows the seed and the matrix can undo much of the change.
    manifest : dict, optional
        A manifest, such as that of a release; an entry is added to ``manifest["protected"]``, without seed and matrix.

    Returns
    -------
    frame or dict
        The same kind of table.  It gives no k.

    Examples
    --------
    >>> import mag
    >>> people = {"job": ["nurse"] * 50 + ["cook"] * 50}
    >>> changed = mag.protect.pram(people, "job", stay=0.9, random_state=0)
    >>> 0 < sum(a != b for a, b in zip(people["job"], changed["job"])) < 50
    True
    """
    checks.fraction("stay", stay)
    generator = generator_for(random_state)
    data, names = change_columns(table, columns, lambda name, column: _changed(column, stay, generator))
    record(manifest, "pram", names, matrix="private")
    return data


def invariant_matrix(shares: Sequence[float] | np.ndarray, stay: float = 0.8) -> np.ndarray:
    """The matrix of transitions that `pram` uses: row i holds the probabilities of a category i to become each one.

    A category stays with a probability or becomes any other one, all alike; then it goes back to a category that it may
    have come from, by Bayes' rule.  After both steps the expected shares are those before.

    Parameters
    ----------
    shares : array of float
        Shares or frequencies of the categories, none of them 0.
    stay : float
        The probability to stay in the first step, from 0 to 1.

    Returns
    -------
    array of float, shape (categories, categories)

    Examples
    --------
    >>> import mag
    >>> matrix = mag.protect.invariant_matrix([0.5, 0.3, 0.2], stay=0.8)
    >>> ([0.5, 0.3, 0.2] @ matrix).round(12).tolist()
    [0.5, 0.3, 0.2]
    """
    checks.fraction("stay", stay)
    counts = np.asarray(read("shares", shares)[0], np.float64)
    if counts.ndim != 1 or not counts.size or not (np.isfinite(counts) & (counts > 0)).all():
        raise InputValueError("shares must be one positive number for each category.")
    m = counts.size
    if m == 1:
        return np.ones((1, 1))
    first = np.full((m, m), (1.0 - stay) / (m - 1))
    np.fill_diagonal(first, stay)
    joint = (counts / counts.sum())[:, None] * first
    back = (joint / np.maximum(joint.sum(axis=0), np.finfo(float).tiny)).T
    return first @ back


def _changed(column: Column, stay: float, generator: np.random.Generator) -> Any:
    cells = column.cells()
    present = np.flatnonzero([not is_missing(cell) for cell in cells])
    rows = np.arange(len(cells))
    if present.size:
        codes = column.codes()[present]
        code = number_rows([codes - codes.min()])
        first, counts = find_first_rows(code), np.bincount(code)
        limits = invariant_matrix(counts, stay).cumsum(axis=1)
        drawn = (generator.random(present.size)[:, None] * limits[code, -1:] > limits[code]).sum(axis=1)
        rows[present] = present[first[np.minimum(drawn, counts.size - 1)]]
    return column.take(rows)
