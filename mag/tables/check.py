"""`mag.check`: whether a table is k-anonymous, counted as it is; a lazy frame is counted by its own engine."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.class_sizes import CountedDemand, SizeDemand
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.roles import is_name, name_of_one, names_of, offer_columns
from mag.frames import frame_of, is_lazy
from mag.frames.lazy import names_of_lazy
from mag.tables._sensitive import Promise, demands_of, recount_promises
from mag.tables.criteria.distinct import Distinct

MAX_SIZES = 20  # of violating classes that are printed


@dataclass(frozen=True, repr=False)
class Check:
    """The result of `mag.check`; true if everything that was asked holds.  It holds sizes of classes, no cells.

    Attributes
    ----------
    holds : bool
        Whether no class is too small, and all criteria on sensitive columns hold.
    k : int
    columns : tuple of column names
        The quasi-identifiers.
    records, classes : int
    smallest : int
        The smallest class, in records or, with `unit`, in units.
    violating : int
        Records in classes of fewer than k.
    sizes : tuple of int
        The sizes of the classes of fewer than k, ascending.
    promises : tuple of mag.tables.Promise
        The criteria that were asked for, with the counted figures.
    """

    holds: bool
    k: int
    columns: tuple[Hashable, ...]
    records: int
    classes: int
    smallest: int
    violating: int
    sizes: tuple[int, ...]
    promises: tuple[Promise, ...] = ()
    unit: Hashable | None = None

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        demand = SizeDemand([*map(str, self.columns)], self.k, None if self.unit is None else str(self.unit))
        sentences = [CountedDemand(demand, self.smallest, self.violating, self.records).describe()]
        if self.sizes:
            listed = ", ".join(map(str, self.sizes[:MAX_SIZES])) + (", …" if len(self.sizes) > MAX_SIZES else "")
            sentences.append(f"Too small: {len(self.sizes)} of {self.classes} classes, of sizes {listed}.")
        for promise in self.promises:
            kind = "closeness" if promise.is_closeness else "diversity"
            sentences.append(f"PASS {kind}: {promise}." if promise.holds else f"FAIL {kind}, required: {promise}.")
        return "\n".join(sentences)


def check(
    table: Any,
    k: int,
    qi: Any,
    *,
    unit: Hashable | None = None,
    sensitive: Any = None,
    diversity: Mapping[Any, Any] | None = None,
    closeness: Mapping[Any, Any] | None = None,
    order: Mapping[Any, Any] | None = None,
) -> Check:
    """Check that a table is k-anonymous: every class of equal quasi-identifiers has at least k records.

    Cells are compared as they are stored, and missing is a value, as in `mag.verify.recount`.  A lazy frame (polars,
    DuckDB, Ibis, Dask, PySpark) is counted by its own engine, and nothing but counts leaves it.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, dictionary of arrays, or lazy frame
    k : int
        The smallest class size allowed.
    qi : column name or list of them
        The quasi-identifiers.
    unit : column name, optional
        The column that names the person of each record: classes must have k of them, not k records.
    sensitive : column name or list of them, optional
        Columns that must have at least two different values in every class, if `diversity` does not name them.
    diversity, closeness, order : dict, optional
        Criteria on sensitive columns as in `mag.microaggregate`; of lazy frames only numbers in `diversity`.

    Returns
    -------
    Check
        True or false in conditions; prints as a sentence.

    Examples
    --------
    >>> import mag
    >>> people = {"age": [31, 31, 52], "sex": ["f", "f", "m"], "disease": ["flu", "gout", "flu"]}
    >>> mag.check(people, 2, ["age", "sex"])
    FAIL k=2: 1 of 3 records match fewer than 1 other; smallest class 1.
    Too small: 1 of 2 classes, of sizes 1.
    >>> bool(mag.check(people, 1, "sex", diversity={"disease": 1}))
    True
    """
    lazy = is_lazy(table)
    if not lazy:
        table = frame_of(table).native  # a stream can be read once
    names = names_of_lazy(table) if lazy else frame_of(table).names
    columns = _known(names_of(qi, names), names, "qi")
    checks.integer("k", k, 1, 2**53, "2**53")
    if not columns:
        raise InputValueError("qi must name at least one column; got none.")
    unit = None if unit is None else name_of_one("unit", unit, names)
    wishes = dict.fromkeys(_known(names_of(sensitive, names), names, "sensitive"), 2) | _by_column(
        "diversity", diversity
    )
    flat = [
        own
        for name in (*wishes, *_by_column("closeness", closeness))
        for own in (name if isinstance(name, tuple) else (name,))
    ]
    for option, others in {"unit": [] if unit is None else [unit], "sensitive": flat}.items():
        if both := [repr(name) for name in _known(others, names, option) if name in columns]:
            raise InputValueError(f"{option} must not be one of qi; got {', '.join(both)}.")
    if lazy:
        counted, records, promises = _count_lazily(table, columns, unit, wishes, closeness)
    else:
        counted, records = _count(table, columns, unit)
        promises = recount_promises(table, columns, wishes or None, closeness, order) if counted.size else []
    few = counted < k
    return Check(
        holds=bool(counted.size) and not few.any() and all(promise.holds for promise in promises),
        k=k,
        columns=tuple(columns),
        records=int(records.sum()),
        classes=int(counted.size),
        smallest=int(counted.min()) if counted.size else 0,
        violating=int(records[few].sum()),
        sizes=tuple(np.sort(counted[few]).tolist()),
        promises=tuple(promises),
        unit=unit,
    )


def _by_column(option: str, wishes: Any) -> dict[Any, Any]:
    if not isinstance(wishes or {}, Mapping):
        raise InputTypeError(f"{option} must be a dictionary by column; got {checks.describe(wishes)}.")
    return dict(wishes or {})


def _known(asked: Sequence[Hashable], names: Sequence[Hashable], option: str) -> list[Hashable]:
    for name in asked:
        if not is_name(name, names):
            raise InputValueError(f"{option} must name columns of the table; got {name!r}{offer_columns(name, names)}")
    return list(asked)


def _count(table: Any, columns: Sequence[Hashable], unit: Hashable | None) -> tuple[np.ndarray, np.ndarray]:
    """For every class its records or units, and its records."""
    frame = frame_of(table)
    if not frame.n:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if unit is None:
        sizes = verify.sizes_of_classes(table, columns)
        return sizes, sizes
    units, records = verify.count_units(table, columns, verify.cells_of_unit(frame, unit))
    return np.array(units), np.array(records)


def _count_lazily(
    table: Any, columns: Sequence[Hashable], unit: Hashable | None, wishes: Mapping[Any, Any], closeness: Any
) -> tuple[np.ndarray, np.ndarray, list[Promise]]:
    """The same, counted by the engine of the frame: only counts leave it."""
    demands = demands_of(wishes or None, closeness, names_of_lazy(table))
    if any(len(demand.columns) > 1 or not isinstance(demand.wish, Distinct) for demand in demands):
        raise InputTypeError(
            "of a lazy frame, diversity must be whole numbers by column and closeness None; collect it."
        )
    if unit is None:
        counted = records = verify.count_lazily(table, columns).records
    else:
        counted, records = verify.count_units_lazily(table, columns, unit)
    promises = []
    for name, l in wishes.items() if records.size else ():  # noqa: E741
        fewest = verify.count_values_lazily(table, columns, name)
        promises.append(Promise("distinct", (name,), {"l": l}, float(fewest), fewest >= l))
    return counted, records, promises
