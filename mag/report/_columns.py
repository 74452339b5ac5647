"""What the page says about columns: standard deviations, losses, correlations.  Missing cells are left out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mag._lib.records import centered, deviations, scaled, standardized
from mag.metrics import information_loss

ROWS = 65536  # at a time
ENOUGH = 10  # records below which a correlation says more about them than about the columns


class Change(NamedTuple):
    """What masking did to a column."""

    loss: float  # information loss
    spread: float  # standard deviation after, in parts of that before
    shift: float  # of the mean, in standard deviations before
    values: int  # distinct ones after
    missing: int


def change(original: np.ndarray, masked: np.ndarray, k: int) -> Change:
    """The change of one column; NaN where fewer than k values are known."""
    known = ~(np.isnan(original) | np.isnan(masked))
    missing, values = int(np.isnan(masked).sum()), int(np.unique(masked[~np.isnan(masked)]).size)
    if known.sum() < max(k, 1):
        return Change(np.nan, np.nan, np.nan, values, missing)
    pair = (original[:, None], masked[:, None]) if known.all() else (original[known][:, None], masked[known][:, None])
    X, Y = scaled(*pair)
    before, after = float(deviations(X)[0]), float(deviations(Y)[0])
    loss = information_loss(*pair)
    if before == 0:
        return Change(loss, 1.0 if after == 0 else np.inf, 0.0 if loss == 0 else np.inf, values, missing)
    return Change(loss, after / before, float((Y - X).mean()) / before, values, missing)


def standard(column: np.ndarray) -> np.ndarray:
    """A column in standard deviations from its mean; 0 where it is missing or constant."""
    z = np.zeros(column.size)
    known = ~np.isnan(column)
    if known.any():
        z[known] = centered(standardized(column[known][:, None])[0])[:, 0]
    return z


def correlations(columns: Sequence[np.ndarray], least: int) -> np.ndarray:
    """Pearson's matrix, each pair on the records that have both; NaN where those are too few or one does not vary."""
    d, n = len(columns), len(columns[0])
    Z = [standard(column) for column in columns]
    products, sums, squares, counts = np.zeros((4, d, d))
    for start in range(0, n, ROWS):
        z = np.column_stack([column[start : start + ROWS] for column in Z])
        known = (~np.isnan(np.column_stack([column[start : start + ROWS] for column in columns]))).astype(np.float64)
        products += z.T @ z
        sums += z.T @ known
        squares += (z * z).T @ known
        counts += known.T @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - sums**2 / counts  # of the row's column, on the records that have both
        R = (products - sums * sums.T / counts) / np.sqrt(spread * spread.T)
    R[(counts < max(least, ENOUGH)) | (np.minimum(spread, spread.T) <= 1e-9 * np.maximum(counts, 1))] = np.nan
    return np.clip(R, -1.0, 1.0)
