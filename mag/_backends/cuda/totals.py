"""Sums of records on a device, with the bits of NumPy: kernels/totals.cu."""

from typing import Any

import numpy as np

from mag._backends.cuda.launch import Device


def total_of(device: Device, x: Any, *, squared: bool = False) -> float:
    """The sum of all numbers, or of their squares, as `numpy.sum` adds them up."""
    total = device.empty(1, dtype=np.float64)
    device.launch("totals", "total", 256, 256, (x, np.int32(x.size), np.int32(squared), total))
    return float(device.host(total)[0])


def group_means(device: Device, x: Any, order: Any, starts: Any) -> Any:
    """The means of groups of records, (groups, d); order[starts[g]:starts[g + 1]] is a group."""
    (n, d), groups, x = x.shape, starts.size, device.xp.ascontiguousarray(x)
    centers = device.empty(groups, d, dtype=np.float64)
    given = x, order, starts, np.int32(groups), np.int32(n), np.int32(d), centers
    device.launch("totals", "means", groups * d, 128, given)
    return centers


def integer_means(device: Device, x: Any, order: Any, starts: Any) -> Any:
    """The same of integers, whose distances from the smallest 64 bits can sum up; see `sums_fit`."""
    (n, d), groups, signed = x.shape, starts.size, x.dtype.kind == "i"
    words = device.xp.ascontiguousarray(x.astype(np.int64 if signed else np.uint64, copy=False).view(np.uint64))
    centers = device.empty(groups, d, dtype=np.float64)
    given = words, np.int32(signed), order, starts, np.int32(groups), np.int32(n), np.int32(d), centers
    device.launch("totals", "integer_means", groups * d, 128, given)
    return centers


def sums_fit(device: Device, x: Any, most: int) -> bool:
    """Whether 64 bits hold the sum of `most` distances of integers."""
    low, high = (device.host(extreme).tolist() for extreme in (x.min(axis=0), x.max(axis=0)))
    return max(b - a for a, b in zip(low, high, strict=True)) * most < 2**64


def squares_within(device: Device, z: Any, order: Any, starts: Any) -> float:
    """The sum of squared distances of all records to the means of their groups."""
    (n, d), groups = z.shape, starts.size
    away = device.empty(n, d, dtype=np.float64)
    given = z, order, starts, np.int32(groups), np.int32(n), np.int32(d), away
    device.launch("totals", "apart", groups * d, 128, given)
    return total_of(device, away, squared=True)
