"""Classes of a lazy frame, counted by its engine: only counts leave it."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, cast

import narwhals as nw
import numpy as np

from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.roles import name_of_one
from mag.frames.lazy import in_one_sentence, names_of_lazy
from mag.verify.engines import compare_exactly


class LazyCounts(NamedTuple):
    """Of every class its records, and how many different values of a column it has, missing ones as one."""

    records: np.ndarray
    different: np.ndarray | None


def count_lazily(
    table: Any, columns: Sequence[Hashable], counted: Hashable | None = None, by_value: bool = False
) -> LazyCounts:
    """Count the classes of records that are equal as they are stored, and the different values of another column.

    With `by_value`, −0.0 is 0.0, and NaN is missing, as for `mag.assess`.
    """
    known, values = names_of_lazy(table), [] if counted is None else [counted]
    require_known(known, columns, "columns")
    floats = _floats(table, columns) if by_value else []
    others = [name for name in columns if name not in floats]
    lazy = compare_exactly(table, others, [*values, *floats])
    own = [f"value{place}" for place in range(len(values), len(values) + len(floats))]
    keys = [*(f"key{place}" for place in range(len(others))), *own]
    with in_one_sentence(table):
        if own:
            lazy = lazy.with_columns(**{name: _number(name) for name in own})
        if values:
            require_known(known, values, "unit or sensitive")
            kind = lazy.collect_schema()["value0"]
            if kind.is_nested() or kind == nw.Object:
                raise InputTypeError(
                    f"sensitive columns must hold values that can be hashed; {counted!r} holds others."
                )
            # not by n_unique, which adds up those of partitions in Dask
            pairs = lazy.with_columns(value0=_as_value(kind)).group_by(*keys, "value0").agg(nw.len().alias("n"))
            classes = pairs.group_by(*keys).agg(nw.col("n").sum().alias("records"), nw.len().alias("different"))
        else:
            classes = lazy.group_by(*keys).agg(nw.len().alias("records"))
        figures = ["records", "different"][: 1 + len(values)]
        # classes with equal figures are one row: as few numbers as possible leave the engine
        counts = _collect(classes.select(*figures).group_by(*figures).agg(nw.len().alias("classes")))
    records, *different = (np.repeat(counts[name], counts["classes"]) for name in figures)
    return LazyCounts(records, different[0] if values else None)


def count_units_lazily(table: Any, columns: Sequence[Hashable], unit: Hashable) -> tuple[np.ndarray, np.ndarray]:
    """How many units, and how many records, each class has; raise where a unit is missing."""
    unit = name_of_one("unit", unit, known := names_of_lazy(table))
    require_known(known, [unit], "unit")
    if missing := count_missing_lazily(table, [unit])[0]:
        raise InputValueError(f"unit must not have missing cells; got {missing} in {unit!r}.")
    records, units = count_lazily(table, columns, unit)
    return cast(np.ndarray, units), records


def count_missing_lazily(table: Any, columns: Sequence[Hashable]) -> list[int]:
    """How many cells of every column are missing."""
    lazy = compare_exactly(table, [], columns)
    with in_one_sentence(table):
        schema = lazy.collect_schema()
        absent = [_as_value(schema[name], name).is_null().cast(nw.Int64).sum().alias(name) for name in schema.names()]
        return [int(total[0]) for total in _collect(lazy.select(*absent)).values()]


def count_values_lazily(table: Any, columns: Sequence[Hashable], sensitive: Hashable) -> int:
    """The least number of different values in a class."""
    return least(cast(np.ndarray, count_lazily(table, columns, sensitive).different))


def require_known(known: Sequence[Hashable], names: Sequence[Hashable], option: str) -> None:
    """Raise where a name is no column."""
    there = frozenset(known)
    absent = [repr(name) for name in names if name not in there]
    if absent or not names:
        raise InputValueError(f"{option} must name columns of the table; got {', '.join(absent) or 'none'}.")


def least(counts: np.ndarray) -> int:
    """The smallest of some counts; 0 without any."""
    return int(counts.min()) if counts.size else 0


def _collect(lazy: nw.LazyFrame[Any]) -> dict[str, np.ndarray]:
    """The columns of a small result of integers."""
    how: dict[str, Any] = {"engine": "streaming"} if lazy.implementation.is_polars() else {}
    found = lazy.collect(**how).to_dict(as_series=False)
    return {name: np.array(cells, np.int64) for name, cells in found.items()}


def _as_value(kind: Any, name: str = "value0") -> Any:
    """A column by its values: NaN is missing, and −0.0 is 0.0."""
    return _number(name) if kind.is_float() else nw.col(name)


def _number(name: str) -> Any:
    return nw.when(~nw.col(name).is_nan()).then(nw.col(name) + 0.0)


def _floats(table: Any, columns: Sequence[Hashable]) -> list[Hashable]:
    with in_one_sentence(table):
        schema = nw.from_native(table).collect_schema()
    return [name for name in columns if schema[str(name)].is_float()]
