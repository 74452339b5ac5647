"""Microaggregation: k-anonymous data, by replacing values with those of groups of at least k records.

Names are imported when they are first used, so that ``import mag`` is instant.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "Assessment",
    "CacheWarning",
    "Check",
    "Closeness",
    "CodesWarning",
    "ColumnGroupings",
    "Comparison",
    "CopyWarning",
    "Cost",
    "Grouping",
    "Guarantee",
    "Hierarchy",
    "InputError",
    "InputRuntimeError",
    "InputTypeError",
    "InputValueError",
    "LinkedColumnsWarning",
    "Look",
    "NotAnonymousError",
    "Plan",
    "RecordGrouping",
    "Release",
    "Suppression",
    "UnitsWarning",
    "assess",
    "backends",
    "check",
    "columns",
    "compare",
    "distributed",
    "dp",
    "generalize",
    "graphs",
    "insensitive_groups",
    "look",
    "metrics",
    "microaggregate",
    "multivariate",
    "plan",
    "privacy",
    "protect",
    "suppress",
    "univariate",
    "verify",
]

if TYPE_CHECKING:
    from mag._lib.arrays import CopyWarning
    from mag._lib.errors import (
        CacheWarning,
        CodesWarning,
        InputError,
        InputRuntimeError,
        InputTypeError,
        InputValueError,
        LinkedColumnsWarning,
        NotAnonymousError,
        UnitsWarning,
    )
    from mag.api.backends import backends
    from mag.api.columns import columns
    from mag.api.insensitive_groups import insensitive_groups
    from mag.api.multivariate import multivariate
    from mag.api.univariate import univariate
    from mag.costs import Cost
    from mag.estimators import Microaggregator as Microaggregator
    from mag.hierarchy import Hierarchy
    from mag.results import ColumnGroupings, Grouping, RecordGrouping
    from mag.tables import Guarantee, Release, Suppression, generalize, microaggregate, suppress
    from mag.tables.assess import Assessment, assess
    from mag.tables.check import Check, check
    from mag.tables.compare import Comparison, compare
    from mag.tables.criteria import Closeness
    from mag.tables.look import Look, look
    from mag.tables.plan import Plan, plan

_HOMES = {
    "Assessment": "mag.tables.assess",
    "CacheWarning": "mag._lib.errors",
    "Check": "mag.tables.check",
    "Closeness": "mag.tables.criteria",
    "CodesWarning": "mag._lib.errors",
    "ColumnGroupings": "mag.results",
    "Comparison": "mag.tables.compare",
    "CopyWarning": "mag._lib.arrays",
    "Cost": "mag.costs",
    "Grouping": "mag.results",
    "Microaggregator": "mag.estimators",  # not in __all__: a star import does not need scikit-learn
    "Guarantee": "mag.tables",
    "Hierarchy": "mag.hierarchy",
    "LinkedColumnsWarning": "mag._lib.errors",
    "Look": "mag.tables.look",
    "Plan": "mag.tables.plan",
    "RecordGrouping": "mag.results",
    "Release": "mag.tables",
    "Suppression": "mag.tables",
    "UnitsWarning": "mag._lib.errors",
    "assess": "mag.tables.assess",
    "backends": "mag.api.backends",
    "InputError": "mag._lib.errors",
    "NotAnonymousError": "mag._lib.errors",
    "InputRuntimeError": "mag._lib.errors",
    "InputTypeError": "mag._lib.errors",
    "InputValueError": "mag._lib.errors",
    "check": "mag.tables.check",
    "columns": "mag.api.columns",
    "compare": "mag.tables.compare",
    "distributed": "mag.distributed",
    "dp": "mag.dp",
    "generalize": "mag.tables",
    "graphs": "mag.graphs",
    "insensitive_groups": "mag.api.insensitive_groups",
    "look": "mag.tables.look",
    "metrics": "mag.metrics",
    "microaggregate": "mag.tables",
    "multivariate": "mag.api.multivariate",
    "plan": "mag.tables.plan",
    "privacy": "mag.privacy",
    "protect": "mag.protect",
    "suppress": "mag.tables",
    "univariate": "mag.api.univariate",
    "verify": "mag.verify",
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
    from importlib.util import find_spec

    optional = ["Microaggregator"] if find_spec("sklearn") else []
    return sorted([*__all__, *optional, *(name for name in globals() if name.startswith("__"))])
