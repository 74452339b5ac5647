"""Microaggregation: publish numbers in groups of at least k, at the least loss.

Names are imported when they are first used, so that ``import mag`` is instant.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "ColumnGroupings",
    "Cost",
    "Grouping",
    "RecordGrouping",
    "backends",
    "columns",
    "metrics",
    "multivariate",
    "privacy",
    "scale",
    "univariate",
]

if TYPE_CHECKING:
    from mag.api import columns, univariate
    from mag.costs import Cost
    from mag.grouping import ColumnGroupings, Grouping
    from mag.joint import multivariate
    from mag.records import RecordGrouping

_HOMES = {
    "ColumnGroupings": "mag.grouping",
    "Cost": "mag.costs",
    "Grouping": "mag.grouping",
    "RecordGrouping": "mag.records",
    "backends": "mag.backends",
    "columns": "mag.api",
    "metrics": "mag.metrics",
    "multivariate": "mag.joint",
    "privacy": "mag.privacy",
    "scale": "mag.scale",
    "univariate": "mag.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mag' has no attribute {name!r}")
    from importlib import import_module

    home = import_module(_HOMES[name])
    value = home if _HOMES[name] == f"mag.{name}" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
