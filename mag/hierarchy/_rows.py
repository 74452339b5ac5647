"""Rows of labels, from the value to the root: read, checked and written."""

import csv
import os
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from mag._lib import checks
from mag._lib.atomic import writing
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag.hierarchy._text import text_of

ROOT = "*"
RANGE = re.compile(r"[\[(]?(\d+(?:\.\d+)?)\s*[-–,]\s*(\d+(?:\.\d+)?)[\])]?")
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def read_lines(path: str | os.PathLike[str], separator: str | None) -> list[list[str]]:
    """The cells of a file."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise InputValueError(f"{os.path.basename(path)!r} must be encoded in UTF-8.") from None
    except OSError as error:
        raise InputValueError(f"{os.path.basename(path)!r} cannot be read: {error.strerror}.") from None
    if separator is None:
        first = text.partition("\n")[0]
        separator = next((mark for mark in ";,\t" if mark in first), ";")
    try:
        return [row for row in csv.reader(text.splitlines(), delimiter=separator) if row]
    except csv.Error:
        most = csv.field_size_limit()
        raise InputValueError(f"{os.path.basename(path)!r} must have labels of at most {most} characters.") from None


def write_lines(path: str | os.PathLike[str], rows: Iterable[Sequence[str]], separator: str, overwrite: bool) -> None:
    """The file of such rows."""
    with writing(path, overwrite=overwrite) as [draft], open(draft, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)


def check_shape(option: str, rows: Any) -> int:
    """The number of levels, equal for all rows."""
    listed = rows if isinstance(rows, Sequence) else [""]
    if not all(isinstance(row, Sequence) and not isinstance(row, (str, bytes)) for row in listed):
        raise InputTypeError(f"{option} must hold a sequence of labels for every value; got {checks.describe(rows)}.")
    lengths = set(map(len, listed))
    if len(lengths) != 1 or lengths == {0}:
        raise InputValueError(f"{option} must hold at least one value, and the same number of labels for each.")
    return lengths.pop()


def check_levels(option: str, rows: Any, place: str) -> tuple[list[list[Hashable]], list[str]]:
    """Check that the rows form a tree with a root; return them with notes on repairs; `place` names a row."""
    if isinstance(rows, (str, bytes, Mapping)) or not hasattr(rows, "__iter__"):
        raise InputTypeError(f"{option} must hold a sequence of labels for every value; got {checks.describe(rows)}.")
    listed: list[list[Any]] = [[row] if isinstance(row, (str, bytes)) else list(row) for row in rows]
    if not listed or not listed[0]:
        raise InputValueError(f"{option} must hold at least one value; got none.")
    n_levels = len(listed[0])
    odd = [at for at, row in enumerate(listed, 1) if len(row) != n_levels]
    if odd:
        raise InputValueError(
            f"{option} must have the same number of labels in every {place}, {n_levels} as in the first; {len(odd)} of "
            f"{len(listed)} have another number, the first of them {place} {odd[0]}."
        )
    empty = [at for at, row in enumerate(listed, 1) if any(is_missing(label) or label == "" for label in row)]
    if empty:
        raise InputValueError(f"{option} must not have empty labels; {place} {empty[0]} has one.")
    _check_leaves(option, listed, place)
    for level in range(n_levels - 1):
        _check_nested(option, listed, level, place)
    warnings = []
    if len({row[-1] for row in listed}) > 1:
        listed = [[*row, ROOT] for row in listed]
        warnings.append(f"{option} has no single root: {ROOT!r} was added above its last level.")
    outside = sum(_is_outside(row[0], label) for row in listed for label in row[1:])
    if outside:
        warnings.append(f"{option} has {outside} labels that look like a range that does not contain their value.")
    return listed, warnings


def _check_leaves(option: str, rows: list[list[Hashable]], place: str) -> None:
    first: dict[Hashable, int] = {}
    repeated = [at for at, row in enumerate(rows, 1) if first.setdefault(row[0], at) != at]
    if repeated:
        raise InputValueError(
            f"{option} must have every value once; {len(repeated)} of {len(rows)} {place}s repeat one, the first of "
            f"them {place} {repeated[0]}."
        )


def _check_nested(option: str, rows: list[list[Hashable]], level: int, place: str) -> None:
    parent: dict[Hashable, Hashable] = {}
    wrong = [
        (at, row[level])
        for at, row in enumerate(rows, 1)
        if parent.setdefault(row[level], row[level + 1]) != row[level + 1]
    ]
    if wrong:
        labels = len({label for _, label in wrong})
        have = "labels have" if labels > 1 else "label has"
        raise InputValueError(
            f"level {level} of {option} is not nested: {labels} {have} more than one "
            f"parent on level {level + 1}, first in {place} {wrong[0][0]}."
        )


def _is_outside(value: Hashable, label: Hashable) -> bool:
    """Whether a label reads like a range of numbers that does not hold the value."""
    span = RANGE.fullmatch(label) if isinstance(label, str) else None
    number = text_of(value)
    if span is None or not NUMBER.fullmatch(number):
        return False
    return not float(span[1]) <= float(number) <= float(span[2])


def rows_of_parents(option: str, parents: Any) -> list[list[Hashable]]:
    """A row for every leaf; short ones begin with the leaf several times."""
    if not isinstance(parents, Mapping) or not parents:
        raise InputTypeError(f"{option} must map every category to its parent; got {checks.describe(parents)}.")
    up = {child: parent for child, parent in parents.items() if child != parent}
    nodes = list(dict.fromkeys([*parents, *parents.values()]))
    roots = [node for node in nodes if node not in up]
    if len(roots) != 1:
        raise InputValueError(f"{option} must have exactly one root; got {len(roots)}.")
    inner = set(up.values())
    rows = []
    for leaf in (node for node in nodes if node not in inner):
        row = [leaf]
        while row[-1] in up and len(row) <= len(nodes):
            row.append(up[row[-1]])
        rows.append(row)
    if any(row[-1] in up for row in rows) or len({node for row in rows for node in row}) < len(nodes):
        raise InputValueError(f"{option} must be a tree; got a cycle.")
    longest = max(map(len, rows))
    return [row[:1] * (longest - len(row)) + row for row in rows]


def rows_of_columns(table: Any, columns: Sequence[Hashable]) -> list[list[Hashable]]:
    """The distinct rows of some columns."""
    if isinstance(columns, (str, bytes)) or not columns:
        raise InputTypeError(f"columns must list names, the most exact first; got {checks.describe(columns)}.")
    known = list(getattr(table, "column_names", getattr(table, "columns", table)))
    unknown = [repr(name) for name in columns if name not in known]
    if unknown:
        raise InputValueError(f"columns must name columns of the table; got {', '.join(unknown)}.")
    cells = [table[name].to_pylist() if hasattr(table[name], "to_pylist") else list(table[name]) for name in columns]
    return [list(row) for row in dict.fromkeys(zip(*cells, strict=True))]
