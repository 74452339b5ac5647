"""Microaggregation: publish numbers in groups of at least k, at the least loss.

Names are imported when they are first used, so that ``import mag`` is instant.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Cost", "Grouping", "RecordGrouping", "multivariate", "univariate"]

if TYPE_CHECKING:
    from mag.api import univariate
    from mag.costs import Cost
    from mag.grouping import Grouping
    from mag.joint import multivariate
    from mag.records import RecordGrouping

_HOMES = {
    "Cost": "mag.costs",
    "Grouping": "mag.grouping",
    "RecordGrouping": "mag.records",
    "multivariate": "mag.joint",
    "univariate": "mag.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mag' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
