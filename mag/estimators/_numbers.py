"""Tables of numbers: criteria on their groups, weighted means, and the units in which records are near."""

from typing import Any

import numpy as np

from mag._compiled.groups import Groups, exact_means
from mag._lib.arrays import read
from mag._lib.checks import weights_for
from mag.api.method import number_groups
from mag.measures.numbers import deviations, exponents, scale_tables
from mag.methods.distances.standard import center_columns
from mag.tables import Promise, recount_promises
from mag.tables.criteria.enforce import Constraint, Enforced, enforce

MAX_SPREADS = 2.0**500  # in units of a column; squares of it can be summed


def read_weights(sample_weight: Any, n: int) -> np.ndarray:
    """As scikit-learn takes them: a number is the weight of all."""
    weights = read("sample_weight", sample_weight)[0]
    weights = np.full(n, weights) if weights.ndim == 0 else weights
    return weights_for(weights, n, "record, n_samples", "sample_weight").astype(np.float64)


def enforce_criteria(
    values: np.ndarray, k: int, labels: np.ndarray, constraints: list[Constraint], standardize: bool, how: str
) -> Enforced:
    """Groups of all records that satisfy the constraints."""
    z, everybody = center_columns(values, standardize).z, [np.arange(len(values))]
    enforced = enforce(z, k, labels.astype(np.int64), everybody, constraints, how)
    return Enforced(*number_groups(enforced.labels, len(values)), [*enforced.ways])


def recount_values(masked: np.ndarray, sensitive: Any, diversity: Any, closeness: Any) -> list[Promise]:
    """Diversity and closeness, counted on the masked records beside the sensitive values."""
    columns = {f"column {j}": column for j, column in enumerate(masked.T)}
    wishes = [None if wish is None else {"sensitive": wish} for wish in (diversity, closeness)]
    counted = recount_promises({**columns, "sensitive": sensitive}, list(columns), *wishes)
    return [promise.require() for promise in counted]


def group_means(values: np.ndarray, labels: np.ndarray, sizes: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The mean of each group, whatever the order of the records; those of a group without any weight count alike."""
    columns = values.astype(np.float64) if values.dtype.kind == "f" else values
    if weights is None and values.dtype.kind == "f":
        return np.column_stack([exact_means(column, labels, sizes) + 0.0 for column in columns.T])
    return np.column_stack([Groups.sorted(column, labels, sizes, weights).placed_mean() for column in columns.T])


def weighted_loss(z: np.ndarray, masked: np.ndarray, weights: np.ndarray) -> float:
    """SSE / SST of records that are measured already, each as it counts."""
    share = (weights / weights.max())[:, None]
    total = float((share * np.square(z - (share * z).sum(axis=0) / share.sum())).sum())
    return float((share * np.square(z - masked)).sum()) / total if total else 0.0


def column_deviations(values: np.ndarray) -> np.ndarray:
    """The standard deviation of each column, whatever its magnitude."""
    table = values.astype(np.float64)
    return np.ldexp(deviations(scale_tables(table)[0]), exponents([table], True))


def measure(values: np.ndarray, representatives: np.ndarray, scale: np.ndarray | None) -> np.ndarray:
    """Columns in units of `scale` from the first representative, as float64; constant ones do not count."""
    centers = representatives.astype(np.float64)
    scale = np.full(centers.shape[1], np.abs(centers).max()) if scale is None else scale
    mantissa, power = np.frexp(scale)
    with np.errstate(over="ignore"):
        away = np.ldexp(values.astype(np.float64), -power) - np.ldexp(centers[0], -power)
    away = np.clip(
        away, -MAX_SPREADS, MAX_SPREADS
    )  # a record farther out is equally far from all representatives, in float64
    return np.divide(away, mantissa, out=np.zeros_like(away), where=mantissa > 0)
