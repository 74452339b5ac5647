"""The independent recount: how many records of a published table are alike.

It reads only the published table and nothing of the grouping: cells are equal if their bits are,
missing is a value, −0.0 is not 0.0, one NaN may not be another, lists and structures are compared part by part as they
are stored, and Python objects are equal if they are of one type and value.  Cells are read here by separate code,
different from that of the strata, so that one defect cannot hide the other.
"""

import itertools
import os
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from mag._lib import checks
from mag._lib.cells import IncomparableError, words_of_arrow
from mag._lib.errors import REPORT, InputTypeError, InputValueError, NotAnonymousError
from mag._lib.foreign import refused_as
from mag._lib.roles import name_of_one
from mag._lib.rowhash import classes, neighbors
from mag.frames import Frame, frame_of, is_lazy
from mag.hierarchy import Hierarchy
from mag.verify import _contained, _sensitive, _wildcard
from mag.verify._cells import READERS, as_list
from mag.verify._lazy import count_lazily as count_lazily
from mag.verify._lazy import count_missing_lazily as count_missing_lazily
from mag.verify._lazy import count_units_lazily as count_units_lazily
from mag.verify._lazy import count_values_lazily as count_values_lazily
from mag.verify._lazy import least as least
from mag.verify._lazy import require_known
from mag.verify._linked import LinkedCounts, count_linked_classes

__all__ = [
    "LinkedCounts",
    "closeness",
    "count_linked",
    "distinct",
    "entropy",
    "recount",
    "recount_wildcard",
    "recursive",
]


def recount(table: Any, columns: Sequence[Hashable], unit: Hashable | None = None) -> int:
    """The smallest class: the least number of records that are equal in these columns, as they are stored.

    Cells are compared bit by bit: −0.0 is not 0.0, unlike in `mag.privacy.k_anonymity`, which compares values and can
    therefore be larger.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, dictionary of arrays, or lazy frame
        A lazy frame is counted by its engine; no row leaves it.
    columns : sequence of column names
    unit : column name, optional
        The column that names the person or other unit of each record: distinct units are counted instead of records.

    Returns
    -------
    int
        0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> people = {"age": [31, 31, 52, 52, 52], "sex": ["f", "f", "m", "m", "m"], "person": [1, 2, 3, 3, 3]}
    >>> mag.verify.recount(people, ["age", "sex"])
    2
    >>> mag.verify.recount(people, ["age", "sex"], unit="person")
    1
    """
    if is_lazy(table):
        return least(
            count_lazily(table, columns).records if unit is None else count_units_lazily(table, columns, unit)[0]
        )
    if unit is None:
        return recounts(table, [], columns)[0]
    frame = frame_of(table)
    units, _ = count_units(frame.native, columns, cells_of_unit(frame, unit))
    return min(units, default=0)


def recount_wildcard(
    table: Any, columns: Sequence[Hashable], by: Sequence[Hashable] = (), unit: Hashable | None = None
) -> int:
    """The least number of records that equal a record, itself included, where a missing cell equals every value.

    This reading is weaker than that of `recount`, where missing cells equal missing cells only: a single record without
    any cell equals all others.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
    columns : sequence of column names
    by : sequence of column names
        Columns in which records have to be equal as they are: there a missing cell equals missing cells only.
    unit : column name, optional
        The column that names the person or other unit of each record: distinct units are counted instead of records.

    Returns
    -------
    int
        0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> people = {"age": [31, 31, 52, None], "sex": ["f", "f", "m", "m"]}
    >>> mag.verify.recount(people, ["age", "sex"]), mag.verify.recount_wildcard(people, ["age", "sex"])
    (1, 2)
    """
    frame = frame_of(table)
    return count_wildcard(frame.native, columns, by, None if unit is None else cells_of_unit(frame, unit))


def count_wildcard(table: Any, columns: Sequence[Hashable], by: Sequence[Hashable], units: Sequence[Any] | None) -> int:
    """`recount_wildcard` with the units of the records, or of records without any."""
    frame = frame_of(table)
    _require_names(frame, [*columns, *by], "columns")
    cells = []
    for name in columns:
        with _readable(name):
            cells.append(as_list(_column(frame, name)))
    numbers = _wildcard.number_values(cells)
    stratum = classes([token for name in by for token in _tokens(frame, name)]) if by else np.zeros(frame.n, np.int64)
    if units is None:
        return _wildcard.least_equal(numbers, stratum)
    checks.same_rows("table", frame.n, "unit", len(units))
    places: dict[Any, int] = {}
    return _wildcard.least_units(numbers, stratum, np.array([places.setdefault(unit, len(places)) for unit in units]))


def class_sizes(table: Any, columns: Sequence[Hashable], units: Sequence[Any] | None = None) -> np.ndarray:
    """For every record the size of its class in records, or in units, compared as `recount` does."""
    frame = frame_of(table)
    numbers = classes([token for name in columns for token in _tokens(frame, name)])
    if units is None:
        return np.bincount(numbers)[numbers]
    listed = numbers.tolist()
    sizes = dict(zip(dict.fromkeys(listed), map(len, _sensitive.count_values(listed, [units])), strict=True))
    return np.array([sizes[number] for number in listed])


def recounts(
    table: Any, by: Sequence[Hashable], columns: Sequence[Hashable], each: bool = False
) -> tuple[int, dict[Hashable, int]]:
    """`recount` of `by` and all columns together; if `each`, also of `by` and every column alone."""
    frame = frame_of(table)
    names = [*by, *columns]
    _require_names(frame, names, "columns")
    if frame.n == 0:
        return 0, dict.fromkeys(columns if each else (), 0)
    tokens = {name: _tokens(frame, name) for name in names}
    strata = [token for name in by for token in tokens[name]]
    if len(strata) > 1:
        strata = [classes(strata)]
    rows = [[*strata, *(token for name in columns for token in tokens[name])]]
    rows += [[*strata, *tokens[name]] for name in columns] if each and len(columns) > 1 else []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # NumPy sorts without Python's lock
        jointly, *alone = pool.map(smallest, rows)
    return jointly, dict(zip(columns if each else (), alone or [jointly], strict=False))


def _require_names(frame: Frame, names: Sequence[Hashable], option: str) -> None:
    require_known(frame.names, names, option)


def sizes_of_classes(table: Any, columns: Sequence[Hashable]) -> np.ndarray:
    """How many records each class of equal records has, compared as `recount` does."""
    frame = frame_of(table)
    return np.bincount(classes([token for name in columns for token in _tokens(frame, name)]))


def require_comparable(frame: Frame, by: Sequence[Hashable]) -> None:
    """Raise if the recount cannot distinguish the cells of a column, before anything is grouped."""
    for name in by:
        _tokens(frame, name, slice(None) if _holds_objects(_column(frame, name)) else slice(0, 0))


def require_words(field: Any) -> None:
    """Raise if the cells of a pyarrow column cannot be distinguished block by block."""
    import pyarrow as pa

    try:
        words_of_arrow(pa.chunked_array([pa.array([], field.type)]))
    except IncomparableError as error:
        raise _incomparable(field.name, error) from None


def _readable(name: Hashable) -> AbstractContextManager[None]:
    return refused_as(lambda: f"column {name!r} holds cells that its library cannot read; convert it.")


def _incomparable(name: Hashable, error: IncomparableError) -> InputTypeError:
    return InputTypeError(f"column {name!r} holds {error}, which cannot be compared exactly; convert it.")


def _tokens(frame: Frame, name: Hashable, rows: slice = slice(None)) -> list[np.ndarray]:
    column = _column(frame, name)
    try:
        with _readable(name):
            return READERS[frame.library](column if rows == slice(None) else column[rows])
    except IncomparableError as error:
        raise _incomparable(name, error) from None


def _column(frame: Frame, name: Hashable) -> Any:
    return frame.native.column(name) if frame.library == "pyarrow" else frame.native[name]


def _holds_objects(column: Any) -> bool:
    """Whether the column has object dtype, so that types are known only per cell."""
    return str(getattr(column, "dtype", "object")).lower().startswith("object") and not hasattr(column, "num_chunks")


def require(smallest: int, k: int, columns: Sequence[Hashable], n: int) -> None:
    """Raise `NotAnonymousError` where the smallest class has fewer than k records."""
    if smallest < k:
        raise NotAnonymousError(
            f"The published table would have a class of {smallest} equal records in {', '.join(map(str, columns))} "
            f"where k={k} are promised, of {n} records: nothing is published; {REPORT}"
        )


def smallest(tokens: list[np.ndarray]) -> int:
    """The smallest class of equal rows of integer arrays."""
    if len(tokens) == 1:
        first = np.sort(tokens[0])
        begins = first[1:] != first[:-1]
    else:
        _, begins = neighbors(tokens)
    ends = np.flatnonzero(np.append(begins, True))
    return int(np.diff(ends, prepend=-1).min())


# ---- units: people, households or firms of several records


def cells_of_unit(frame: Frame, unit: Hashable, rows: np.ndarray | None = None, option: str = "unit") -> list[Any]:
    """The unit of each record, or of the records at these places; raise where one is missing."""
    unit = name_of_one(option, unit, frame.names)
    _require_names(frame, [unit], option)
    with _readable(unit):
        cells = as_list(_column(frame, unit) if rows is None else _contained.take(_column(frame, unit), rows))
    if missing := sum(_sensitive.value_of(cell) is _sensitive.Absent for cell in cells):
        raise InputValueError(f"{option} must not have missing cells; got {missing} in {unit!r}.")
    return cells


def count_units(table: Any, columns: Sequence[Hashable], cells: Sequence[Any]) -> tuple[list[int], list[int]]:
    """How many units, and how many records, each class of equal records has; `cells` are the units of the records."""
    frame = frame_of(table)
    _require_names(frame, columns, "columns")
    checks.same_rows("table", frame.n, "unit", len(cells))
    counts = _count_cells(frame, columns, [cells])
    return list(map(len, counts)), [own.total() for own in counts]


def require_units(table: Any, columns: Sequence[Hashable], cells: Sequence[Any], k: int, what: str = "units") -> int:
    """The smallest number of units of a class; raise `NotAnonymousError` if it is below k."""
    return require_enough(min(count_units(table, columns, cells)[0]), k, columns, what)


def require_enough(least: int, k: int, columns: Sequence[Hashable], what: str = "units") -> int:
    """The same number of units; raise `NotAnonymousError` if it is below k."""
    if least < k:
        raise NotAnonymousError(
            f"The published table would have a class of {least} {what} in {', '.join(map(str, columns))} where k={k} "
            f"{what} are promised: nothing is published; {REPORT}"
        )
    return least


# ---- successive releases


def count_linked(new: Any, old: Any, columns: Sequence[Hashable], id: Hashable, k: int) -> LinkedCounts:  # noqa: A002
    """Count what someone learns who links the records of two releases by a column that both hold.

    A linked class is a set of records that are equal in `columns` of both releases: two releases with classes of k may
    have linked classes of one.  Records of one release alone are linked to no class of the other.

    Parameters
    ----------
    new, old : frame of pandas, polars or pyarrow, or dictionary of arrays
        Two published tables.
    columns : sequence of column names
        The quasi-identifiers of `new`; those of them that `old` has are used there.
    id : column name
        A column of both, such as a pseudonym, with a different value in every record.
    k : int
        The smallest class size allowed.

    Returns
    -------
    LinkedCounts
        ``both``, ``only_new``, ``only_old``, ``smallest``, ``below_k``, ``alone`` and ``gone_below_k``.

    Examples
    --------
    >>> import mag.verify
    >>> old = {"person": [1, 2, 3, 4], "age": [31, 31, 52, 52]}
    >>> new = {"person": [1, 2, 3, 4], "age": [40, 44, 40, 44]}
    >>> mag.verify.count_linked(new, old, ["age"], "person", k=2)
    LinkedCounts(both=4, only_new=0, only_old=0, smallest=1, below_k=4, alone=4, gone_below_k=0)
    """
    frames = frame_of(new), frame_of(old)
    checks.integer("k", k, 1, max(frames[0].n, 1), "n")
    _require_names(frames[0], columns, "columns")
    shared = [name for name in columns if name in frames[1].names]
    if not shared or id in columns:
        raise InputValueError(
            f"columns must have names that both releases have, without the id {id!r}; got {[*columns]}."
        )
    new_classes, old_classes = (
        classes([token for name in names for token in _tokens(frame, name)]).tolist()
        for frame, names in zip(frames, (columns, shared), strict=True)
    )
    new_keys, old_keys = ([*map(_sensitive.value_of, cells_of_unit(frame, id, option="id"))] for frame in frames)
    return count_linked_classes(new_classes, new_keys, old_classes, old_keys, k)


# ---- disclosure of sensitive columns by classes


def distinct(table: Any, columns: Sequence[Hashable], sensitive: Any) -> int:
    """The least number of different values of a sensitive column in a class: distinct ℓ-diversity.

    Missing cells are one value.  Values are compared as such, not as they are stored: −0.0 is 0.0.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, dictionary of arrays, or lazy frame
    columns : sequence of column names
        The quasi-identifiers, stratum columns included; classes are those of `recount`.
    sensitive : column name or tuple of them
        A tuple is for combinations of values, of frames in memory.

    Returns
    -------
    int
        0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> people = {"age": [31, 31, 52, 52, 52], "disease": ["flu", "ulcer", "flu", "flu", "cough"]}
    >>> mag.verify.distinct(people, ["age"], "disease")
    2
    """
    if is_lazy(table):
        return count_values_lazily(table, columns, sensitive)
    return min((len(own) for own in sensitive_counts(table, columns, sensitive)), default=0)


def entropy(table: Any, columns: Sequence[Hashable], sensitive: Any) -> float:
    """The least number of equally frequent values with the entropy of a class: entropy ℓ-diversity.

    Parameters
    ----------
    table, columns, sensitive
        As for `distinct`.

    Returns
    -------
    float
        0.0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> people = {"age": [31, 31, 52, 52, 52], "disease": ["flu", "ulcer", "flu", "flu", "cough"]}
    >>> round(mag.verify.entropy(people, ["age"], "disease"), 3)
    1.89
    """
    counts = sensitive_counts(table, columns, sensitive)
    return _sensitive.least_entropy(counts) if counts else 0.0


def recursive(table: Any, columns: Sequence[Hashable], sensitive: Any, l: int) -> Fraction | float:  # noqa: E741
    """The largest ratio of the most frequent value to all from the l-th on: below c, a table is (c, l)-diverse.

    Parameters
    ----------
    table, columns, sensitive
        As for `distinct`.
    l : int
        Counts of a class are summed from the l-th largest on.

    Returns
    -------
    fractions.Fraction or float
        Exact; infinite where a class has fewer than l values, and 0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> people = {"age": [31, 31, 52, 52, 52], "disease": ["flu", "ulcer", "flu", "flu", "cough"]}
    >>> mag.verify.recursive(people, ["age"], "disease", 2)
    Fraction(2, 1)
    """
    counts = sensitive_counts(table, columns, sensitive)
    return _sensitive.largest_ratio(counts, l) if counts else Fraction(0)


def closeness(
    table: Any,
    columns: Sequence[Hashable],
    sensitive: Any,
    *,
    ground: str = "ordered",
    order: Sequence[Any] | None = None,
    hierarchy: Hierarchy | None = None,
) -> Fraction:
    """The largest earth mover's distance of a sensitive column between a class and the table: t-closeness.

    Parameters
    ----------
    table, columns, sensitive
        As for `distinct`.
    ground : {"equal", "hierarchical", "ordered"}
        The distance of two values, see `mag.Closeness`.  Missing cells are the last of ordered values, and children of
        the root of a hierarchy.
    order : sequence, optional
        All values in order, where it is not their own.
    hierarchy : mag.Hierarchy, optional
        The tree of the values, for "hierarchical".

    Returns
    -------
    fractions.Fraction
        Exact; 0 for a table without records.

    Examples
    --------
    >>> import mag.verify
    >>> people = {"age": [31, 31, 52, 52, 52], "income": [1, 3, 2, 2, 3]}
    >>> mag.verify.closeness(people, ["age"], "income")
    Fraction(1, 5)
    """
    return closeness_of_parts([table], columns, sensitive, ground=ground, order=order, hierarchy=hierarchy)


class Parts(Protocol):
    """A table in parts, which can be walked through several times."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


def closeness_of_parts(
    parts: Parts,
    columns: Sequence[Hashable],
    sensitive: Any,
    *,
    ground: str,
    order: Sequence[Any] | None = None,
    hierarchy: Hierarchy | None = None,
) -> Fraction:
    """The same of a table in parts, of which no two have records of the same class."""
    checks.one_of("ground", ground, ("equal", "hierarchical", "ordered"))
    everybody: Counter[Any] = Counter()
    every = (sensitive_counts(part, columns, sensitive) for part in parts)
    counted = list(every) if len(parts) == 1 else every
    for own in itertools.chain.from_iterable(counted):
        everybody.update(own)
    again = counted if len(parts) == 1 else (sensitive_counts(part, columns, sensitive) for part in parts)
    distances = (_sensitive.largest_distance(own, everybody, ground, order, hierarchy) for own in again if own)
    return max(distances, default=Fraction(0))


def sensitive_counts(table: Any, columns: Sequence[Hashable], sensitive: Any) -> _sensitive.Counts:
    """How often each sensitive value occurs in each class of records that are equal as they are stored."""
    frame = frame_of(table)
    names = [sensitive] if sensitive in frame.names or not isinstance(sensitive, tuple) else list(sensitive)
    absent = [repr(name) for name in [*columns, *names] if name not in frame.names]
    if absent or not columns or not names:
        raise InputValueError(
            f"columns and sensitive must name columns of the table; got {', '.join(absent) or 'none'}."
        )
    cells = []
    for name in names:
        with _readable(name):
            cells.append(as_list(_column(frame, name)))
    return _count_cells(frame, columns, cells)


def _count_cells(frame: Frame, columns: Sequence[Hashable], cells: Sequence[Sequence[Any]]) -> _sensitive.Counts:
    tokens = [token for name in columns for token in _tokens(frame, name)]
    return _sensitive.count_values(classes(tokens).tolist(), cells)


def require_true(
    original: Frame,
    published: Any,
    rows: np.ndarray | None,
    column: Hashable,
    hierarchy: Hierarchy | None = None,
    order: Sequence[Any] | None = None,
) -> None:
    """Raise `NotAnonymousError` where a label or a range of a published column does not contain its original.

    `rows` are the places of the published records in the original, None where they are the same.  With a hierarchy
    cells are its labels; with an order they are ranges of ranks, otherwise ranges of numbers.
    """
    frame = frame_of(published)
    originals = _column(original, column)
    if rows is not None:
        originals = _contained.take(originals, rows)

    def number_cells(cells: Any) -> np.ndarray:
        try:
            tokens = READERS["dictionary"](cells)  # of any library
        except IncomparableError:
            return np.arange(len(cells))  # each by itself
        few = tokens[0].size and tokens[0].dtype == np.int64 and tokens[0].min() >= 0 and tokens[0].max() < len(cells)
        return tokens[0] if few and len(tokens) == 1 else classes(tokens)

    wrong = _contained.count_untrue(originals, _column(frame, column), number_cells, hierarchy, order)
    require_promise(wrong == 0, f"{column} is true for every record, which it is not for {wrong}")


def require_special(
    original: Frame, published: Any, rows: np.ndarray | None, column: Hashable, values: Sequence[float]
) -> None:
    """Raise `NotAnonymousError` where a cell shows one of these values and its original does not, or the reverse."""
    originals = _column(original, column)
    if rows is not None:
        originals = _contained.take(originals, rows)
    before, after = as_list(originals), as_list(_column(frame_of(published), column))
    known = set(values)
    wrong = sum((a in known or b in known) and a != b for a, b in zip(before, after, strict=True))
    require_promise(wrong == 0, f"special values of {column} are published as they are, which fails for {wrong}")


def require_sum(
    published: Any, column: Hashable, parts: Sequence[Hashable], step: float | None, precision: float
) -> None:
    """Raise `NotAnonymousError` where a cell is not the sum of the parts of its record, rounded to a step.

    A cell is missing where one of its parts is; `precision` is the relative error of the floats of the column.
    """
    frame = frame_of(published)
    cells = [[_sensitive.value_of(cell) for cell in as_list(_column(frame, name))] for name in (column, *parts)]
    wrong = 0
    for total, *own in zip(*cells, strict=True):
        if total is _sensitive.Absent or _sensitive.Absent in own:
            wrong += (total is _sensitive.Absent) != (_sensitive.Absent in own)
            continue
        exact, size = sum(map(Fraction, own)), sum(abs(Fraction(part)) for part in own)
        error = size * (Fraction(1, 2**50) + 2 * Fraction(precision))
        wrong += abs(Fraction(total) - exact) > Fraction(step or 0) / 2 + error
    require_promise(wrong == 0, f"{column} is the sum of {', '.join(map(str, parts))}, which it is not for {wrong}")


def is_uncertain(table: Any, columns: Sequence[Hashable], sensitive: Any, least: Fraction) -> bool:
    """Whether every class has at least the entropy of this number of equally frequent values, decided in integers."""
    return all(_sensitive.is_uncertain(own, least) for own in sensitive_counts(table, columns, sensitive))


def require_promise(holds: bool, promise: str) -> None:
    """Raise `NotAnonymousError` where a criterion that was promised does not hold."""
    if not holds:
        raise NotAnonymousError(
            f"The published table would break a promise, that {promise}: nothing is published; {REPORT}"
        )
