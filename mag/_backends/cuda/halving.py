"""Mondrian's halving on a device, all parts of a level at once: kernels/halving.cu.

Records go there once, and their order comes back.  Parts are sorted together: all values, then the parts that these
are in, both stable, so that equal values stay in their order.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from mag._backends.cuda.launch import Device
from mag._backends.cuda.sort import sort
from mag._lib.errors import REPORT

RULE_PAIRS = 2  # the rule that considers pairs of columns
MAX_PAIR_PRODUCTS = 2**27  # products of pairs


def fits(n: int, d: int, k: int, rule: int) -> bool:
    """Whether records can be divided there by this rule."""
    return n * d < 2**31 - 2**20 and (rule != RULE_PAIRS or (n // k + 1) * d * d <= MAX_PAIR_PRODUCTS)


class Halving:
    """Records X, (n, d), that are divided by a rule: see mag/methods/mondrian/halving.py."""

    def __init__(self, device: Device, X: np.ndarray, rule: int, clearly: float) -> None:
        self.device, self.rule, self.clearly = device, rule, clearly
        self.rows = device.xp.asarray(X)
        self.order = device.xp.arange(len(X), dtype=np.int32)
        self.flags = device.xp.zeros(1, np.int32)

    def run(self, divisible: Callable[[np.ndarray], np.ndarray], step: Callable[[], Any]) -> tuple[np.ndarray, Any]:
        """The order of the records and where parts start in it; parts of `divisible` sizes are halved."""
        n, starts = len(self.rows), np.zeros(1, np.int64)
        while (halved := divisible(sizes := np.diff(np.append(starts, n)))).any():
            self._sort(starts)
            middles = (2 * starts + sizes) // 2
            starts = np.sort(np.concatenate([starts, middles[halved]]))
            step()
        if self.device.host(self.flags).any():
            raise RuntimeError(f"The device's sort returned no permutation; {REPORT}")
        return self.device.host(self.order).astype(np.int64), starts

    def _sort(self, starts: np.ndarray) -> None:
        """Sort the records of every part."""
        device, (n, d), parts = self.device, self.rows.shape, starts.size
        xp, cut = device.xp, device.xp.asarray(starts.astype(np.int32))
        rows, shape = self.rows[self.order], (np.int32(parts), np.int32(n), np.int32(d))
        means, widths = (device.empty(parts, d, dtype=np.float64) for _ in range(2))
        rule = np.int32(self.rule)
        device.launch("halving", "extents", parts * d, 128, (rows, cut, *shape, rule, means, widths))
        products = means
        if self.rule == RULE_PAIRS:
            products = device.empty(parts, d, d, dtype=np.float64)
            device.launch("halving", "products", parts * d * d, 128, (rows, cut, *shape, means, products))
        columns, signs = device.empty(parts, 2), device.empty(parts, dtype=np.float64)
        given = widths, products, shape[0], shape[2], rule, np.float64(self.clearly), columns, signs
        device.launch("halving", "choose", parts, 128, given)
        member = (xp.searchsorted(cut, xp.arange(n, dtype=np.int32), side="right") - 1).astype(np.int32)
        values = device.empty(1, n, dtype=np.float64)
        device.launch("halving", "along", n, 256, (rows, member, *shape[1:], columns, signs, values))
        ranked, grouped = device.empty(1, n), device.empty(1, n)
        sort(device, values, ranked, self.flags)
        sort(device, member[ranked], grouped, self.flags)
        self.order = self.order[ranked[0][grouped[0]]]
