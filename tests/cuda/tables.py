"""Hostile tables for a device, and checks of kernels that every column passes through."""

import numpy as np

from mag._backends.cuda.transpose import transposed
from mag.costs import COSTS
from tests.data.hostile import integer_columns, real_columns


def tables(cost, n):
    """Hostile columns of one dtype each, with their names."""
    columns = integer_columns(n) | ({} if COSTS[cost].integer else {f"real {k}": v for k, v in real_columns(n).items()})
    by_type = {}
    for name, column in columns.items():
        by_type.setdefault(column.dtype, {})[name] = column
    return by_type.values()


def price(device, losses, groups):
    costs = np.empty(len(losses))
    given = losses, np.int64(losses.shape[1]), groups, costs
    device.launch("groups", "price", 128 * len(losses), 128, given)
    return costs


def check_transposes(device):
    """Whether tables of every shape and width have their columns as rows."""
    for dtype in (np.float64, np.float32, np.float16, np.int8, np.bool_):
        for n, d in ((1, 1), (1, 7), (7, 1), (32, 32), (33, 31), (65, 100), (100, 3)):
            X = np.arange(n * d).reshape(n, d).astype(dtype)
            assert np.array_equal(transposed(device, X), X.T)
            assert transposed(device, X).flags.c_contiguous
            assert np.array_equal(transposed(device, np.asfortranarray(X)), X.T)
            assert np.array_equal(transposed(device, X[::2]), X[::2].T)
