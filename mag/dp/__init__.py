"""Differential privacy: tables that hardly change when one person is added or left out.

Noise is drawn by OpenDP (extra ``dp``); `sample`, `delta_for` and `k_for` work without.
"""

from collections.abc import Callable

from mag.dp import testing
from mag.dp._budget import Budget, BudgetExceededError
from mag.dp._delta import delta_for, k_for
from mag.dp._domain import Categories, Domain, Levels, Numbers
from mag.dp._release import PrivacyGuarantee, PrivateRelease
from mag.dp.histogram import histogram
from mag.dp.means import means
from mag.dp.mondrian import mondrian
from mag.dp.quantile import quantile
from mag.dp.sample import sample

__all__ = [
    "Budget",
    "BudgetExceededError",
    "Categories",
    "Domain",
    "Levels",
    "Numbers",
    "PrivacyGuarantee",
    "PrivateRelease",
    "delta_for",
    "histogram",
    "k_for",
    "means",
    "mondrian",
    "quantile",
    "sample",
    "testing",
]

MECHANISMS: dict[str, Callable[..., PrivateRelease]] = {
    "histogram": histogram,
    "means": means,
    "mondrian": mondrian,
    "quantile": quantile,
    "sample": sample,
}
