"""Frames of Spark: floats by their bits, as Java has them; texts as bytes, for a collation may ignore case."""

from typing import Any

import narwhals as nw

from mag._lib.errors import InputTypeError
from mag.verify.engines import cannot_compare

EXACT_TYPES = {
    "binary", "boolean", "byte", "date", "daytimeinterval", "decimal", "integer", "long", "short", "timestamp",
    "timestamp_ntz", "void", "yearmonthinterval",
}  # fmt: skip


def compare_exactly(table: Any, keys: list[Any], values: list[Any]) -> nw.LazyFrame[Any]:
    """See `mag.verify.engines`."""
    from pyspark.sql import functions as sql

    if table.isStreaming:
        raise InputTypeError("table must be a frame with an end; got a streaming frame of Spark, check its batches.")
    kinds = {field.name: field.dataType for field in table.schema.fields}
    made = [_exact(sql, name, kinds[name]).alias(f"key{place}") for place, name in enumerate(keys)]
    made += [_column(sql, name).alias(f"value{place}") for place, name in enumerate(values)]
    return nw.from_native(table.select(*made))


def _column(sql: Any, name: str) -> Any:
    return sql.col("`" + name.replace("`", "``") + "`")


def _exact(sql: Any, name: str, kind: Any) -> Any:
    """A column that differs wherever the cells do."""
    column, type_name = _column(sql, name), kind.typeName()
    if type_name in ("double", "float"):  # a float is a double without loss, but for the bits of NaN
        java = sql.lit("java.lang.Double"), sql.lit("doubleToRawLongBits")
        wide = column.cast("double")
        return sql.when(column.isNotNull(), sql.java_method(*java, wide))
    if type_name in ("char", "string", "varchar"):
        return column.cast("binary")
    if type_name.partition(" ")[0].partition("(")[0] not in EXACT_TYPES:
        raise cannot_compare(name, f"the type {type_name} of Spark", "convert it, or use mag.distributed.verify")
    return column
