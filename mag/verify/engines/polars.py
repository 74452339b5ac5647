"""Lazy frames of polars: floats by their bits, nested cells by the words of the recount of Arrow."""

from typing import Any

import narwhals as nw

from mag._lib.cells import IncomparableError, words_of_arrow
from mag._lib.dtypes import describe_dtype
from mag.verify.engines import cannot_compare


def compare_exactly(table: Any, keys: list[Any], values: list[Any]) -> nw.LazyFrame[Any]:
    """See `mag.verify.engines`."""
    import polars as pl

    schema = table.collect_schema()
    place_of = {name: place for place, name in enumerate(schema)}  # polars takes a name like ^a$ for a pattern
    made = [_exact(pl, name, pl.nth(place_of[name]), schema[name]).alias(f"key{j}") for j, name in enumerate(keys)]
    made += [pl.nth(place_of[name]).alias(f"value{j}") for j, name in enumerate(values)]
    return nw.from_native(table.select(made))


def _exact(pl: Any, name: str, column: Any, dtype: Any) -> Any:
    """An expression that differs wherever the cells of a column do."""
    if dtype.is_float():
        width = {pl.Float64: pl.UInt64, pl.Float32: pl.UInt32}.get(dtype, pl.UInt16)
        return column.map_batches(
            lambda series: _reinterpreted(pl, series, width), return_dtype=width, is_elementwise=True
        )
    if dtype.is_integer() or dtype.is_temporal() or dtype.is_decimal() or any(dtype == kind for kind in _plain(pl)):
        return column
    if dtype == pl.Object:
        raise cannot_compare(name, "Python objects")
    try:
        words = words_of_arrow(_arrow(pl, pl.Series([], dtype=dtype)))
    except IncomparableError as error:
        raise cannot_compare(name, str(error)) from None
    fields = pl.Struct({f"word{place}": pl.UInt64 for place in range(len(words))})

    def hash_cells(series: Any) -> Any:
        found = words_of_arrow(_arrow(pl, series))
        return pl.DataFrame({f"word{place}": word for place, word in enumerate(found)}).to_struct(series.name)

    return column.map_batches(hash_cells, return_dtype=fields, is_elementwise=True)


def _plain(pl: Any) -> list[Any]:
    return [pl.Binary, pl.Boolean, pl.Categorical, pl.Enum, pl.Null, pl.String]


def _arrow(pl: Any, series: Any) -> Any:
    try:
        return series.to_arrow(compat_level=pl.CompatLevel.oldest())  # views in lists of extensions break pyarrow
    except ImportError:
        raise cannot_compare(series.name, describe_dtype(series.dtype), "install pyarrow") from None


def _reinterpreted(pl: Any, series: Any, width: Any) -> Any:
    """The bits of floats as integers; null stays null."""
    series = series.alias("")  # methods of a series that is called ^a$ would look for a pattern
    bits = series.fill_null(0.0).to_numpy()
    words = pl.Series(series.name, bits.view(f"u{bits.dtype.itemsize}"), dtype=width)
    null = series.is_null()
    return words.set(null, None) if null.any() else words
