"""Weights on a device: which it takes, and which columns are left to the CPU.

The CPU scales values and weights where their products could leave float64, and looks again where weights are so uneven
that sums from anchors lose precision.  Here weights and distances are taken that need no scaling, so that both round
alike, and columns that the CPU may look at again are flagged for it; some more than it would look at do not matter.
"""

from typing import Any

import numpy as np

from mag._backends.problem import Problem
from mag._backends.safety import EVEN, NEGLIGIBLE

MAX_UNSCALED_WEIGHT = 2.0**63  # weights from its inverse up to it; scaling begins beyond
WIDEST = 2.0**200  # distances likewise
SURELY = 1 + 1e-6  # beyond the roundings of sums in another order


def supports(problem: Problem, weights: np.ndarray) -> bool:
    """Whether the kernels take these weights."""
    moderate = weights.min() >= 1 / MAX_UNSCALED_WEIGHT and weights.max() <= MAX_UNSCALED_WEIGHT
    return problem.cost.name == "sse" and next(iter(problem.solvers)) == "block" and bool(moderate)


def uneven(weights: Any, k: int) -> bool:
    """Whether sums from an anchor may be larger than the cost of a group: see `mag._backends.safety.is_even`."""
    return bool(2 * k * float(weights.max()) / float(weights.min()) > EVEN)


def immoderate(xp: Any, values: Any) -> Any:
    """Which sorted columns have distances, or values, so large or small that the CPU would scale them."""
    gaps = values[:, 1:] - values[:, :-1]
    least = xp.where(gaps > 0, gaps, 1.0).min(axis=1) if gaps.shape[1] else xp.ones(len(values))
    return (least < 1 / WIDEST) | (values[:, -1] > WIDEST) | (values[:, 0] < -WIDEST)


def misleading(xp: Any, values: Any, w: Any, k: int, total: Any) -> Any:
    """Which sorted columns may have lost precision that decides: see `mag._backends.safety.is_even`."""
    n, reach = values.shape[1], 2 * k - 2
    above, below = (xp.clip(xp.arange(n) + step, 0, n - 1) for step in (reach, -reach))
    farthest = xp.maximum(values[:, above] - values, values - values[:, below])
    return 2.0**-50 * (w * farthest * farthest).sum(axis=1) * SURELY > NEGLIGIBLE * total
