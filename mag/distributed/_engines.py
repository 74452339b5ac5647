"""The engines that hold tables in pieces: one folder an engine, with a file for every function."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mag._lib.checks import describe
from mag._lib.errors import InputTypeError

ENGINE_OF_LIBRARY = {"dask": "dask", "dask_expr": "dask", "pyspark": "spark"}


def find_function(name: str, option: str, X: Any) -> Callable[..., Any]:
    """The function of this name of the engine that holds X."""
    engine = ENGINE_OF_LIBRARY.get(type(X).__module__.partition(".")[0])
    if engine is None:
        raise no_table(option, X)
    try:
        return getattr(import_module(f"mag.distributed.{engine}.{name}"), name)
    except ModuleNotFoundError as error:
        if error.name and error.name.partition(".")[0] in ("dask", "distributed", "pandas", "pyarrow"):
            raise ModuleNotFoundError(
                f"mag.distributed needs {error.name.partition('.')[0]}; pip install 'mag-sdc[{engine}]'.",
                name=error.name,
            ) from error
        raise


def no_table(option: str, X: Any) -> InputTypeError:
    """The error for input of no engine."""
    return InputTypeError(
        f"{option} must be a dask array, a dask dataframe or a Spark DataFrame; got {describe(X)}, use mag itself for "
        "data in memory."
    )
