"""What a release gives away and what it has lost: one dictionary each, from two tables of numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mag import metrics, privacy
from mag._lib import checks
from mag._lib.equal import classes

RISKS = (
    "k_anonymity",
    "uniques",
    "distance_linkage",
    "rank_linkage",
    "sd_interval_disclosure",
    "rank_interval_disclosure",
)
LINKED = 10_000  # records that linkage, which compares all with all, looks at
FITTED = 100_000  # records that the logistic regression of the propensity score looks at
NARROW = 40  # columns up to which it looks at squares and products too; their number grows with the square


def risk(original: Any, masked: Any, k: int | None = None) -> dict[str, Any]:
    """Disclosure risk of a masked table.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,)
        Row i of both is the same record.  Records with NaN are left out, and counted.
    k : int, optional
        Adds how many records fewer than k records are like, as ``below_k``.

    Returns
    -------
    dict
        Counts are integers.
        ``records``, ``incomplete_records``, ``linkage_sample`` (the records that linkage looked at, in whole classes),
        ``k_anonymity``, ``uniques``, ``distance_linkage``, ``rank_linkage`` (expected shares of right links),
        ``sd_interval_disclosure``, ``rank_interval_disclosure`` (shares of values).

    Examples
    --------
    >>> import mag.assess
    >>> measures = mag.assess.risk([1.0, 2.0, 7.0, 9.0], [1.5, 1.5, 8.0, 8.0])
    >>> measures["k_anonymity"], measures["uniques"], measures["distance_linkage"]
    (2, 0, 0.5)
    """
    X, Y, measures = _complete(original, masked)
    if k is not None:
        checks.integer("k", k, 1, X.shape[0] + 1, "n+1")
    if not len(X):
        return measures
    some = _whole_classes(Y, LINKED)
    near, ranked = privacy.distance_linkage(X[some], Y[some]), privacy.rank_linkage(X[some], Y[some])
    measures |= {
        "linkage_sample": int(some.size),
        "k_anonymity": int(privacy.k_anonymity(Y)),
        "uniques": int(privacy.uniques(Y)),
        "distance_linkage": near.expected,
        "rank_linkage": ranked.expected,
        "sd_interval_disclosure": privacy.sd_interval_disclosure(X, Y).values,
        "rank_interval_disclosure": privacy.rank_interval_disclosure(X, Y).values,
    }
    if k is not None:
        measures["below_k"] = int(privacy.uniques(Y, k=k))
    return measures


def unmasked_risk(columns: Sequence[np.ndarray]) -> dict[str, float]:
    """What `risk` would find if the columns were published as they are, on the records without NaN.

    Each record is then at no distance from itself: one of c equal records is linked with probability 1/c, and every
    value lies in its own interval.
    """
    complete = ~np.isnan(np.column_stack(columns)).any(axis=1)
    if not complete.any():
        return dict.fromkeys(RISKS, np.nan)
    sizes = np.bincount(classes("original", {place: column[complete] for place, column in enumerate(columns)}))
    linked = sizes.size / int(complete.sum())
    return dict(zip(RISKS, (int(sizes.min()), int((sizes == 1).sum()), linked, linked, 1.0, 1.0), strict=True))


def utility(original: Any, masked: Any, propensity: bool = True) -> dict[str, Any]:
    """What a masked table has lost.

    Parameters
    ----------
    original, masked : array, shape (n, d) or (n,)
        Row i of both is the same record.  Records with NaN are left out, and counted.
    propensity : bool
        Whether to fit the model of the propensity score, which takes most of the time.

    Returns
    -------
    dict
        ``records``, ``incomplete_records``, ``information_loss``, ``il1s``, ``correlation_difference``,
        ``eigenvalue_difference`` (infinite where columns depended on each other linearly and no longer do),
        ``propensity_mse`` (of ``propensity_records`` evenly spaced records; without squares and products beyond 40
        columns), and ``information_loss_by_column``, a list.

    Examples
    --------
    >>> import mag.assess
    >>> measures = mag.assess.utility([1.0, 3.0, 10.0, 14.0], [2.0, 2.0, 12.0, 12.0])
    >>> round(measures["information_loss"], 6)
    0.090909
    """
    X, Y, measures = _complete(original, masked)
    if not len(X):
        return measures
    measures |= {
        "information_loss": metrics.information_loss(X, Y),
        "il1s": metrics.il1s(X, Y),
        "correlation_difference": metrics.correlation_difference(X, Y),
        "eigenvalue_difference": metrics.eigenvalue_difference(X, Y),
    }
    if propensity:
        some, quadratic = _sample(len(X), FITTED), X.shape[1] <= NARROW
        measures["propensity_records"] = int(some.size)
        measures["propensity_mse"] = metrics.propensity_mse(X[some], Y[some], quadratic=quadratic)
    by_column = [metrics.information_loss(X[:, j], Y[:, j]) for j in range(X.shape[1])]
    return measures | {"information_loss_by_column": by_column}


def _complete(original: Any, masked: Any) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """The records without NaN, and how many there are."""
    X, Y = (np.asarray(table, np.float64) for table in (original, masked))
    X, Y = (table[:, None] if table.ndim == 1 else table for table in (X, Y))
    checks.same_rows("masked", len(Y), "original", len(X))
    checks.same_columns("masked", Y.shape[1], "original", X.shape[1])
    complete = ~(np.isnan(X).any(axis=1) | np.isnan(Y).any(axis=1))
    measures = {"records": int(complete.sum()), "incomplete_records": int(complete.size - complete.sum())}
    return (X, Y, measures) if complete.all() else (X[complete], Y[complete], measures)


def _sample(n: int, most: int) -> np.ndarray:
    """Evenly spaced records, so that two calls look at the same."""
    return np.arange(n) if n <= most else np.arange(most) * n // most


def _whole_classes(Y: np.ndarray, most: int) -> np.ndarray:
    """About as many records in whole classes of equal masked ones: a part of a class would be easier to link."""
    if len(Y) <= most:
        return np.arange(len(Y))
    labels = classes("masked", Y)
    some = _sample(int(labels.max()) + 1, max(1, most * (int(labels.max()) + 1) // len(Y)))
    return np.flatnonzero(np.isin(labels, some))
