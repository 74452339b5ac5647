"""Beyond one machine's memory, on Dask: the same groups for arrays and frames in pieces.  Needs the extra ``[dask]``.

Lazy in, lazy out, on the threaded, process and distributed schedulers.  `kernels` needs no engine at all.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["columns", "kernels", "multivariate", "univariate", "verify"]

if TYPE_CHECKING:
    from mag.distributed.dask.columns import columns
    from mag.distributed.dask.multivariate import multivariate
    from mag.distributed.dask.univariate import univariate
    from mag.distributed.dask.verify import verify


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'mag.distributed' has no attribute {name!r}")
    if name == "kernels":
        return import_module("mag.distributed.kernels")
    try:
        value = getattr(import_module(f"mag.distributed.dask.{name}"), name)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("dask", "distributed", "pandas"):
            raise ModuleNotFoundError(
                "mag.distributed needs Dask; pip install 'mag-sdc[dask]'.", name=error.name
            ) from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
