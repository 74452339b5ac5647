"""Frames of Spark in, with the dtypes of Arrow, and tables of Arrow with other values out."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import functions as sql
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from mag._lib.errors import InputTypeError, InputValueError
from mag.distributed._engines import no_table
from mag.distributed._frames import require_names
from mag.distributed._graph import Key
from mag.distributed.spark._graph import SparkTasks

ARROW_NUMBERS = {
    "boolean": pa.bool_(), "byte": pa.int8(), "double": pa.float64(), "float": pa.float32(), "integer": pa.int32(),
    "long": pa.int64(), "short": pa.int16(), "tinyint": pa.int8(),
}  # fmt: skip
NOT_IN_ARROW = ("geography", "geometry", "interval", "udt", "variant", "yearmonthinterval")


def require_frame(option: str, X: Any, typed: bool = True) -> None:
    """A frame with an end, and where `typed` with cells that Arrow has."""
    if type(X).__name__ != "DataFrame" or not hasattr(X, "mapInArrow"):
        raise no_table(option, X)
    if X.isStreaming:
        raise InputTypeError(f"{option} must be a frame with an end; got a streaming frame of Spark, mask its batches.")
    require_names(list(X.columns))
    for field in X.schema.fields if typed else ():
        kind = _kind(field)
        if kind in NOT_IN_ARROW:
            raise InputTypeError(
                f"{option} must hold cells that Arrow has; got type {kind} in column {field.name!r}, cast or drop it."
            )


def dtypes_of(X: Any) -> dict[Hashable, Any]:
    """The dtype of every column: that of Arrow for numbers, the name of Spark's type for others."""
    return {
        field.name: pd.ArrowDtype(ARROW_NUMBERS[_kind(field)])
        if _kind(field) in ARROW_NUMBERS
        else field.dataType.simpleString()
        for field in X.schema.fields
    }


def _kind(field: Any) -> str:
    return str(field.dataType.typeName()).partition(" ")[0].partition("(")[0]


def select(X: Any, names: Iterable[Any]) -> Any:
    """Some columns; a name may hold dots and backticks."""
    return X.select(*(sql.col("`" + name.replace("`", "``") + "`") for name in names))


def as_pandas(table: Any, names: list[Hashable]) -> pd.DataFrame:
    """Columns of a table of Arrow, with the dtypes of Arrow."""
    return table.select(names).to_pandas(types_mapper=pd.ArrowDtype)


def write_arrays(table: Any, pieces: list[list[Any]], names: list[Hashable], published: list[Hashable]) -> Any:
    """The published columns of a table of Arrow, with arrays in place of some, in the types of these."""
    arrays = dict(zip(names, [array for piece in pieces for array in piece], strict=True))
    return pa.table(
        [
            pa.array(arrays[one], table.schema.field(one).type) if one in arrays else table.column(one)
            for one in published
        ],
        published,
    )


def write_labels(table: Any, pieces: list[list[Any]], names: list[Hashable], published: list[Hashable]) -> Any:
    """The published columns of a table of Arrow, with labels in place of some, or after them."""
    arrays = dict(zip(names, [array for piece in pieces for array in piece], strict=True))
    return pa.table([pa.array(arrays[one]) if one in arrays else table.column(one) for one in published], published)


def masked_frame(t: SparkTasks, X: Any, keys: list[Key], published: list[Hashable]) -> Any:
    """The frame of masked partitions."""
    fields = {field.name: field for field in X.schema.fields}
    return t.frame(keys, StructType([fields[name] for name in published]))


def labels_frame(
    t: SparkTasks, X: Any, keys: list[Key], published: list[Hashable], labels: Sequence[Hashable], wide: bool
) -> Any:
    """The frame of labels, and of columns that are published with them."""
    fields = {field.name: field for field in X.schema.fields}
    kind = LongType() if wide else IntegerType()
    schema = [StructField(str(name), kind) if name in labels else fields[name] for name in published]
    return t.frame(keys, StructType(schema))


def require_free_name(name: str, published: Sequence[Hashable]) -> None:
    """The column of labels has a name of its own."""
    if name in published:
        raise InputValueError(f"X must not publish a column {name!r}, which labels have; rename it.")
