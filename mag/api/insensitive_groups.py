"""`mag.insensitive_groups`: groups that hardly change when one record changes."""

from typing import Any

import numpy as np

from mag._backends.cpu.facts import HostRecordFacts
from mag._backends.cpu.labels import at_least
from mag._lib.arrays import read_table
from mag._lib.checks import finite, integer, real_table
from mag._lib.errors import InputValueError, group_below
from mag._lib.interrupt import interruptible
from mag._lib.progress import Progress
from mag.api.options import progress_of
from mag.api.types import ProgressReport
from mag.methods.distances.corners import group_at_corners
from mag.methods.distances.standard import center_columns
from mag.results import RecordGrouping


def insensitive_groups(X: Any, k: int, *, bounds: Any, progress: ProgressReport = None) -> RecordGrouping:
    """Group records so that a change of one record changes every group by at most one record.

    With other methods, all groups may change when one record does.  Here each group has a fixed point of reference, and
    takes the k records that are nearest to it and left by the groups before.  That loses two to ten times as much, but
    the mean of a group moves by at most (high - low) / k when a record is replaced, a bound that differential privacy
    needs.  By itself the result is k-anonymous, and no more: see Notes.

    Parameters
    ----------
    X : array-like of real numbers, shape (n, d)
        The records; NaN and infinity are refused.
    k : int
        The smallest group size, from 1 to n.
    bounds : array-like of real numbers, shape (d, 2)
        The lowest and the highest value of each column.  They must be known without the data, such as 0 and 120 for
        ages: bounds taken from the data change when a record does.  Values outside are moved to the nearest bound.
    progress : bool or callable, optional
        As in `mag.multivariate`.

    Returns
    -------
    RecordGrouping
        Group g belongs to the point of reference g, for any data.  The last one has up to 2k-1 records, all others k.
        Representatives, masked records and losses are those of the values within the bounds.

    Notes
    -----
    Points of reference are the corners of the box of all bounds, each followed by the opposite one.  Records are sorted
    by their squared distance, with each column in units of its bounds, and equally near ones by their values: the k
    smallest of two sets that differ in one record differ in one record at most, and so do the rests (Soria-Comas,
    Domingo-Ferrer, Sánchez & Martínez 2014).  The property holds if the number of records is the same.

    Means that are published as they are do not satisfy differential privacy.  One record may change every group, so
    that noise for all n // k means of a column has to cover n // k times (high - low) / k.

    Examples
    --------
    >>> import mag
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> people = np.column_stack([rng.integers(18, 90, 200), rng.normal(170, 10, 200)])
    >>> bounds = [(0, 120), (100, 250)]
    >>> grouping = mag.insensitive_groups(people, 5, bounds=bounds)
    >>> grouping
    <RecordGrouping: 200 records of 2 columns in 40 groups of 5 to 5, k=5, insensitive, information loss 0.1527>
    >>> people[7] = [19, 203]
    >>> changed = mag.insensitive_groups(people, 5, bounds=bounds).labels != grouping.labels
    >>> int(np.bincount(grouping.labels[changed]).max())
    1
    """
    X, origin = read_table("X", X)
    values = real_table("X", X)
    finite("X", values)
    n, d = values.shape
    k = integer("k", k, 1, n, "n")
    low, high = _bounds(bounds, d)
    clipped = np.clip(values.astype(np.float64), low, high)
    tracker = Progress(progress_of(progress))
    labels = interruptible(group_at_corners, (clipped - low) / (high - low), k, tracker).astype(np.int32)
    tracker.finish()
    n_groups = max(n // k, 1)
    if not at_least(k, labels, n_groups, False):
        raise group_below(k)
    standard = center_columns(clipped, True)
    facts = HostRecordFacts(
        labels, n_groups, x=clipped, dtype=clipped.dtype, standard=standard, integer=False, origin=origin
    )
    return RecordGrouping(facts, k, method="insensitive", complete=True, details={})


def _bounds(bounds: Any, d: int) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest values of all columns."""
    pairs = real_table("bounds", read_table("bounds", bounds)[0])
    if pairs.shape != (d, 2):
        raise InputValueError(f"bounds must have the shape (d, 2) for the d={d} columns of X; got {pairs.shape}.")
    finite("bounds", pairs)
    low, high = pairs.astype(np.float64).T
    if not (low < high).all():
        wrong = ", ".join(map(str, np.flatnonzero(~(low < high))[:5]))
        raise InputValueError(f"bounds must be pairs of a lower and a higher number; got others for column {wrong}.")
    with np.errstate(over="ignore"):
        if not np.isfinite(high - low).all():
            raise InputValueError("bounds must differ by less than the largest float64; got bounds farther apart.")
    return low, high
