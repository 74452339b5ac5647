"""Frames whose rows an engine holds: their names, some of their columns in memory, and errors of their engines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals as nw

from mag._lib.errors import InputError, InputTypeError

COLLECTED = ("duckdb", "ibis", "polars")  # mag.distributed has the others
ALIASES = {"pyspark_connect": "pyspark"}  # engines with the same interface


def is_lazy(table: Any) -> bool:
    """Whether an engine that narwhals knows holds the rows."""
    if nw.dependencies.is_cudf_dataframe(table):  # `cudf` reads it, whatever narwhals knows of its version
        return False
    try:
        return isinstance(nw.from_native(table), nw.LazyFrame)
    except (TypeError, ValueError):  # not a frame, or one in memory with two columns of a name
        return False


def engine_of(table: Any) -> str:
    """The name of the engine of a lazy frame."""
    name = str(nw.from_native(table).implementation.value)
    return ALIASES.get(name, name)


def names_of_lazy(table: Any) -> list[Any]:
    """The columns of a lazy frame."""
    with in_one_sentence(table):
        return list(nw.from_native(table).collect_schema().names())


def collect_columns(table: Any, names: Sequence[Any]) -> Any:
    """Some columns in memory, all by one query: an engine may order records differently the next time.

    Of polars a frame of polars, of the others a table of pyarrow.
    """
    lazy = nw.from_native(table)
    with in_one_sentence(table):
        if not lazy.implementation.is_polars():
            return lazy.select(*names).collect(backend="pyarrow").to_native()
        import polars as pl

        native = lazy.to_native()
        place_of = {name: place for place, name in enumerate(native.collect_schema())}
        return native.select(pl.nth([place_of[name] for name in names])).collect()  # ^a$ would be a pattern


@contextmanager
def in_one_sentence(table: Any) -> Iterator[None]:
    """Errors of an engine become one sentence: its own ones may quote cells."""
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of polars is no Exception
        raise InputTypeError(
            f"table must be a frame that its engine can read; {engine_of(table)} raised {type(error).__name__}, run "
            "its query by itself to see why, and whether its connection is open."
        ) from None
