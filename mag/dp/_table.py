"""Tables in and out.  Checked are names and types of columns, before anything is read; never cells."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from mag._lib import checks
from mag._lib.arrays import read
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import find_first_rows, number_rows
from mag._lib.roles import Sentences, assign_roles
from mag._lib.rowhash import add_cells, new_hashes
from mag.dp._domain import Categories, Domain, Integers, Levels, Numbers, number_cells
from mag.dp._random import Noise
from mag.frames import frame_of
from mag.frames.build import build_frame

Names = Hashable | Sequence[Hashable] | None
Columns = Mapping[Any, Domain]
Coded = list[Integers]  # one array a column

ROLE_SENTENCES = Sentences(
    unassigned="every column must be in columns or drop; {names} in none: pass a domain for it in columns=, or list it "
    "in drop= (not published)."
)
IMPOSSIBLE = {
    "by": "by= is not possible here: groups of a column published as it is are not private; pass a domain for it in "
    "columns=.",
    "keep": "keep= is not possible here: a column published as it is is not private.",
    "random_state": "random_state is not used by mag.dp, whose draws must not be reproducible; leave it out.",
    "time_limit": "time_limit is not used by mag.dp; leave it out.",
}
COUNT_COLUMN = "count"  # the column of counts
MAX_RECORDS = 10**7  # that noise alone may add to a table


class Opened:
    """A table whose columns are known, and whose cells were not looked at."""

    def __init__(self, table: Any) -> None:
        self._frame = None if isinstance(table, Mapping) else frame_of(table)
        self._mapping: Mapping[Hashable, Any] = table if isinstance(table, Mapping) else {}
        self.names: list[Hashable] = list(table) if self._frame is None else self._frame.names

    def read(self, name: Hashable) -> npt.NDArray[Any]:
        """The cells of a column; missing cells are NaN, or None among objects."""
        if self._frame is not None:
            return _read_series(name, getattr(self._frame.column(name), "series"))  # noqa: B009 - of any frame library
        cells = self._mapping[name]
        if nw.dependencies.is_into_series(cells):
            return _read_series(name, nw.from_native(cells, series_only=True))
        if isinstance(cells, (list, tuple)):  # NumPy's common type would depend on all cells
            return _objects(list(cells))
        array, _ = read(f"column {name!r}", cells)
        if array.ndim != 1:
            raise InputValueError(f"column {name!r} must have one dimension; got {array.ndim}.")
        if array.dtype.kind in "cmMV":
            raise _wrong_type(name, array.dtype)
        return array

    def build(self, columns: Mapping[Hashable, npt.NDArray[Any]]) -> Any:
        """A table of new columns in the library of this one."""
        return build_frame(columns, self._mapping if self._frame is None else self._frame.native)


def _read_series(name: Hashable, series: Any) -> npt.NDArray[Any]:
    if series.dtype.is_temporal() or series.dtype.is_nested() or series.dtype == nw.Binary:
        raise _wrong_type(name, series.dtype)
    if series.dtype.is_integer() or series.dtype.is_float():
        missing = np.asarray(series.is_null().to_numpy(), bool)
        if series.dtype.is_integer() and missing.any():  # floats would round others' numbers
            return _objects(series.to_list())
        numbers = series.fill_null(0).to_numpy()
        if numbers.dtype.kind in "iuf":
            return np.where(missing, np.nan, numbers) if missing.any() else numbers
    return _objects(series.to_list())


def _objects(cells: list[Any]) -> npt.NDArray[Any]:
    """An array of objects; NumPy would turn lists of lists into several dimensions."""
    array = np.empty(len(cells), object)
    array[:] = cells
    return array


def _wrong_type(name: Hashable, dtype: Any) -> InputTypeError:
    return InputTypeError(
        f"column {name!r} must hold numbers or categories; got {describe_dtype(dtype)}; convert it first."
    )


def check_columns(opened: Opened, columns: Any, drop: Names, person: Hashable | None = None) -> Columns:
    """Every column that is published has a domain, and every other one is named."""
    if not isinstance(columns, Mapping):
        raise InputTypeError(
            f"columns must map names of columns to domains, as mag.dp.Numbers(low, high, step); got "
            f"{checks.describe(columns)}."
        )
    for name, domain in columns.items():
        check_domain(f"columns[{name!r}]", domain)
    roles = {"columns": list(columns), "drop": drop} | ({} if person is None else {"person": [person]})
    assign_roles(roles, opened.names, say=ROLE_SENTENCES)
    if COUNT_COLUMN in columns:
        raise InputValueError(
            f"columns must not name {COUNT_COLUMN!r}, which is published with them; rename that column."
        )
    return columns


def check_domain(option: str, domain: Any, kinds: tuple[type[Domain], ...] = (Numbers, Categories, Levels)) -> Domain:
    """A domain that was made beforehand."""
    if isinstance(domain, kinds):
        return domain
    if isinstance(domain, Domain):
        raise InputTypeError(f"{option} must be mag.dp.Numbers for this mechanism; got mag.dp.{type(domain).__name__}.")
    raise InputTypeError(
        f"{option} needs bounds: pass mag.dp.Numbers(low, high, step)"
        + (", mag.dp.Categories([...]) or mag.dp.Levels(tree, level)" if len(kinds) > 1 else "")
        + "; bounds taken from the data would not be private."
    )


def refuse_options(options: Mapping[str, Any], function: str) -> None:
    """Reject options that other functions of mag have, with the reason."""
    for name in options:
        raise InputTypeError(IMPOSSIBLE.get(name, f"mag.dp.{function} has no option {name!r}."))


def read_cells(opened: Opened, columns: Columns, person: Hashable | None, contributions: int) -> Coded:
    """The cell of every record in every column."""
    coded = [domain.locate_cells(opened.read(name)) for name, domain in columns.items()]
    return limit_contributions(opened, check_lengths(coded), person, contributions)


def check_lengths(coded: Coded) -> Coded:
    """Check for equal lengths without revealing them."""
    if len({len(column) for column in coded}) > 1:
        raise InputValueError("table must have columns of one length.")
    return coded


def limit_contributions(opened: Opened, coded: Coded, person: Hashable | None, contributions: int) -> Coded:
    """At most this number of records of each person: the first by a hash of their cells, independent of other persons.

    Records without a person are left out: who shares one could push another's record in.
    """
    if person is None:
        return coded
    known: dict[Any, int] = {}
    cells = opened.read(person)
    people = number_cells(cells, lambda cell: _number_person(cell, known))
    check_lengths([people, *coded])
    hashes = new_hashes(len(people))
    for column in coded:
        add_cells(hashes, column)
    order = np.lexsort([hashes[1], hashes[0], people])
    ranked = people[order]
    first = np.flatnonzero(np.diff(ranked, prepend=-2))
    rank = np.arange(len(ranked)) - np.repeat(first, np.diff(first, append=len(ranked)))
    chosen = order[(rank < contributions) & (ranked >= 0)]
    return [column[chosen] for column in coded]


def _number_person(cell: Any, known: dict[Any, int]) -> int:
    if is_missing(cell):
        return -1
    return known.setdefault((type(cell), cell), len(known))


def check_records(cells: int, noise: Noise) -> None:
    """Reject more records than fit, before anything is charged."""
    if cells * noise.sensitivity > MAX_RECORDS * noise.epsilon:
        raise InputValueError(
            f"epsilon must be larger: noise in {cells} cells would add more than {MAX_RECORDS} records; take larger "
            "or fewer cells, or records=False."
        )


def count_cells(coded: Coded, sizes: Sequence[int]) -> tuple[Coded, Integers]:
    """The cells that occur, ascending, as one number a column, and how many records each has."""
    numbers = number_rows(coded, sizes)
    first = find_first_rows(numbers)
    return [column[first] for column in coded], np.bincount(numbers, minlength=first.size)


def label_cells(columns: Columns, cells: Coded, centers: bool = False) -> dict[Hashable, npt.NDArray[Any]]:
    """The published labels, or centers, of cells; they follow from the domains alone."""
    published: dict[Hashable, npt.NDArray[Any]] = {}
    for (name, domain), own in zip(columns.items(), cells, strict=True):
        value = domain.center if centers else domain.label
        occurring, places = np.unique(own, return_inverse=True)
        published[name] = array_of([value(0), *map(value, occurring.tolist())])[1:][places]
    return published


def array_of(values: list[Any]) -> npt.NDArray[Any]:
    """Text as objects, numbers as numbers."""
    return _objects(values) if isinstance(values[0], str) else np.array(values)
