"""Engines that hold the rows of a lazy frame: one file an engine, each with a function `compare_exactly`.

Engines group by their own notion of equality: most take −0.0 for 0.0 and all NaN for one, some texts that differ in
case for one, and a month for 30 days.  `compare_exactly` makes columns that an engine distinguishes wherever the cells
differ as they are stored, as the recount of frames in memory does, so that only counts leave the engine.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import narwhals as nw

from mag._lib.errors import InputTypeError
from mag.frames.lazy import engine_of, in_one_sentence

ENGINES = ("dask", "duckdb", "ibis", "polars", "pyspark")


def compare_exactly(table: Any, keys: Sequence[Any], values: Sequence[Any]) -> nw.LazyFrame[Any]:
    """A lazy frame with the columns ``key0``, … to group by, and ``value0``, … of other columns as they are."""
    name = engine_of(table)
    if name not in ENGINES:
        raise InputTypeError(
            f"table must be a lazy frame of {', '.join(ENGINES[:-1])} or {ENGINES[-1]}; got one of {name}, collect it."
        )
    make: Callable[..., nw.LazyFrame[Any]] = import_module(f"{__name__}.{name}").compare_exactly
    with in_one_sentence(table):
        return make(nw.to_native(table, pass_through=True), list(keys), list(values))


def cannot_compare(name: Any, kind: Any, remedy: str = "convert it, or collect the table") -> InputTypeError:
    """The error of a column whose cells an engine cannot distinguish as they are stored."""
    return InputTypeError(f"column {name!r} holds {kind}, which its engine cannot compare exactly; {remedy}.")
