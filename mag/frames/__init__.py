"""Read and build tables: one file a library, and `frame_of`, which recognizes the library of a table."""

import os
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from mag._lib.arrays import read
from mag._lib.checks import describe
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.roles import repeated_names
from mag.frames.arrays import ArrayColumn, DictionaryFrame
from mag.frames.arrow import ArrowFrame
from mag.frames.base import Column, Frame, SeriesFrame
from mag.frames.cudf import CudfColumn, CudfFrame
from mag.frames.foreign import offers_arrow, read_arrow
from mag.frames.lazy import COLLECTED, collect_columns, engine_of, is_lazy, names_of_lazy
from mag.frames.pandas import PandasFrame
from mag.frames.polars import PolarsFrame
from mag.frames.units import RefusedColumnError, Units

__all__ = ["Column", "Frame", "RefusedColumnError", "Units", "collect_frame", "frame_of", "is_lazy"]

ACCEPTED_TABLES = "a frame of pandas, polars or pyarrow, or a dictionary of arrays"


def frame_of(table: Any) -> Frame:
    """Wrap a table of any supported library."""
    if isinstance(table, Mapping):
        return DictionaryFrame(table, {name: _column_of(name, cells) for name, cells in table.items()})
    if isinstance(table, (str, os.PathLike)):
        raise InputTypeError(
            f"table must be {ACCEPTED_TABLES}; got a path, read the file first (such as by polars.read_csv), or use "
            "the commands mag look, mag mask and mag check."
        )
    table = read_arrow(table) if offers_arrow(table) else table
    if nw.dependencies.is_pandas_like_dataframe(table):
        _check_duplicates(list(table.columns))
    elif nw.dependencies.is_pyarrow_table(table):
        _check_duplicates(table.column_names)
    if nw.dependencies.is_cudf_dataframe(table):
        return CudfFrame(table)
    try:
        frame = nw.from_native(table, pass_through=False)
    except TypeError as error:
        kind = describe(table)
        if isinstance(table, np.ndarray):
            kind = "an array, use mag.multivariate or mag.columns, or name its columns in a dictionary"
        raise InputTypeError(f"table must be {ACCEPTED_TABLES}; got {kind}.") from error
    if not isinstance(frame, nw.DataFrame):
        raise InputTypeError(f"table must be {ACCEPTED_TABLES}; got a {_describe_lazy(table)}.")
    library = _library_of(frame.implementation)
    if library is PandasFrame:
        return library(table, frame, list(table.columns))
    return library(frame.to_native(), frame, list(frame.columns))


def collect_frame(table: Any, unused: Callable[[list[Hashable]], Collection[Hashable]]) -> Frame:
    """Wrap a table; of a lazy one all columns are collected but those that `unused` picks of its names."""
    if not is_lazy(table) or engine_of(table) not in COLLECTED:
        return frame_of(table)
    names = names_of_lazy(table)
    left_out = frozenset(unused(names))
    frame = frame_of(collect_columns(table, [name for name in names if name not in left_out]))
    frame.names, frame.left_out = names, left_out
    return frame


def _describe_lazy(table: Any) -> str:
    """A frame that is not in memory, and the function to use."""
    if nw.dependencies.is_dask_dataframe(table):
        return "Dask frame, use mag.distributed.microaggregate, or table.compute() if it fits into memory"
    if nw.dependencies.is_pyspark_dataframe(table) or nw.dependencies.is_pyspark_connect_dataframe(table):
        return "Spark frame, use mag.distributed.microaggregate, or table.toPandas() if it fits into memory"
    return f"lazy {type(table).__name__}, collect it first (polars: table.collect())"


def _library_of(implementation: Any) -> type[SeriesFrame]:
    if implementation.is_pandas_like():
        return PandasFrame
    return PolarsFrame if implementation.is_polars() else ArrowFrame


def _column_of(name: Hashable, cells: Any) -> Column:
    """A column of a dictionary: a series of a frame library, or an array."""
    if nw.dependencies.is_cudf_series(cells):
        return CudfColumn(cells)
    if nw.dependencies.is_into_series(cells):
        series = nw.from_native(cells, series_only=True)
        return _library_of(series.implementation).column_type(series)
    array, origin = read(f"column {name!r}", cells)
    if array.ndim != 1:
        raise InputValueError(f"column {name!r} must have one dimension; got an array of shape {array.shape}.")
    return ArrayColumn(array, origin, name)


def _check_duplicates(names: list[Any]) -> None:
    twice = sorted({str(name) for name in repeated_names(names)})
    if twice:
        raise InputValueError(
            f"table must have columns of different names; got more than one column named {', '.join(twice)}."
        )
