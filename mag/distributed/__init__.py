"""Beyond one machine's memory, on Dask and on Spark: the same groups for tables in pieces.

Needs the extra ``[dask]`` or ``[spark]``.  Lazy in, lazy out.  `kernels` needs no engine at all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["columns", "kernels", "microaggregate", "multivariate", "univariate", "verify"]

if TYPE_CHECKING:
    from mag.distributed.functions.columns import columns
    from mag.distributed.functions.microaggregate import microaggregate
    from mag.distributed.functions.multivariate import multivariate
    from mag.distributed.functions.univariate import univariate
    from mag.distributed.functions.verify import verify


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'mag.distributed' has no attribute {name!r}")
    if name == "kernels":
        return import_module("mag.distributed.kernels")
    value = getattr(import_module(f"mag.distributed.functions.{name}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
