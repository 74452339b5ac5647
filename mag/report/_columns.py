"""Statistics of columns for the page: standard deviations, losses, correlations.  Missing cells are left out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mag.measures.numbers import deviations, scale_tables
from mag.methods.distances.standard import center_columns
from mag.metrics import information_loss

ROWS_PER_BLOCK = 65536  # at a time
ENOUGH = 10  # with fewer records, a correlation describes the records rather than the columns


class Change(NamedTuple):
    """The change of a column by masking."""

    spread: float  # standard deviation after, divided by that before
    shift: float  # of the mean, in standard deviations before
    values: int  # distinct ones after
    missing: int


def change(original: np.ndarray, masked: np.ndarray, k: int) -> Change:
    """The change of one column; NaN where fewer than k values are known."""
    known = ~(np.isnan(original) | np.isnan(masked))
    missing, values = int(np.isnan(masked).sum()), int(np.unique(masked[~np.isnan(masked)]).size)
    if known.sum() < max(k, 1):
        return Change(np.nan, np.nan, values, missing)
    pair = (original[:, None], masked[:, None]) if known.all() else (original[known][:, None], masked[known][:, None])
    X, Y = scale_tables(*pair)
    before, after = float(deviations(X)[0]), float(deviations(Y)[0])
    if before == 0:
        return Change(1.0 if after == 0 else np.inf, 0.0 if (X == Y).all() else np.inf, values, missing)
    return Change(after / before, float((Y - X).mean()) / before, values, missing)


def losses(original: Sequence[np.ndarray], masked: Sequence[np.ndarray], least: int) -> list[float]:
    """The information loss of each column, on the records that miss no cell; NaN where those are fewer than `least`.

    The loss of all columns together uses the same records, so it is the mean of these losses.
    """
    complete = ~np.logical_or.reduce([np.isnan(column) for column in (*original, *masked)])
    if complete.sum() < max(least, 1):
        return [np.nan] * len(original)
    return [information_loss(x[complete][:, None], y[complete][:, None]) for x, y in zip(original, masked, strict=True)]


def standardize_column(column: np.ndarray) -> np.ndarray:
    """A column in standard deviations from its mean; 0 where it is missing or constant."""
    z = np.zeros(column.size)
    known = ~np.isnan(column)
    if known.any():
        z[known] = center_columns(column[known][:, None], True).z[:, 0]
    return z


def correlations(columns: Sequence[np.ndarray], least: int) -> np.ndarray:
    """Pearson's matrix, each pair on the records that have both; NaN where those are too few or one does not vary."""
    d, n = len(columns), len(columns[0])
    Z = [standardize_column(column) for column in columns]
    if not any(np.isnan(column).any() for column in columns):
        return _complete_correlations(np.column_stack(Z), least)
    products, sums, squares, counts = np.zeros((4, d, d))
    for start in range(0, n, ROWS_PER_BLOCK):
        z = np.column_stack([column[start : start + ROWS_PER_BLOCK] for column in Z])
        known = (~np.isnan(np.column_stack([column[start : start + ROWS_PER_BLOCK] for column in columns]))).astype(
            np.float64
        )
        products += z.T @ z
        sums += z.T @ known
        squares += (z * z).T @ known
        counts += known.T @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = squares - sums**2 / counts  # of the row's column, on the records that have both
        R = (products - sums * sums.T / counts) / np.sqrt(spread * spread.T)
    R[(counts < max(least, ENOUGH)) | (np.minimum(spread, spread.T) <= 1e-9 * np.maximum(counts, 1))] = np.nan
    return np.clip(R, -1.0, 1.0)


def _complete_correlations(Z: np.ndarray, least: int) -> np.ndarray:
    """The same of standardized columns without missing cells: one product."""
    varies = (Z != 0).any(axis=0)
    R = np.clip(Z.T @ Z / len(Z), -1.0, 1.0)
    R[~np.outer(varies, varies)] = np.nan
    if len(Z) < max(least, ENOUGH):
        R[:] = np.nan
    return R
