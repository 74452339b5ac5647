"""Files of Stata, SPSS and SAS, by pyreadstat.

Besides cells, only the following is copied from one file to the other, for published columns: the labels and measures
of variables and, for columns that are not masked, formats, and those value labels and declared missing values that
apply to published values.  Notes, the label of the file and all other metadata are dropped.
"""

import os
import pathlib
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mag._lib.errors import InputValueError
from mag.files._exact import (
    BEYOND_FLOAT64,
    EMPTY,
    MILLISECOND,
    NOT_FINITE,
    NUL,
    SECOND,
    TOO_MANY_BYTES,
    TRAILING,
    Holds,
    kind,
)
from mag.files._format import Format, Meta, columns_of
from mag.files._layout import Layout

if TYPE_CHECKING:
    import polars as pl

HOLDS: Holds = {
    "text": (NUL, EMPTY),
    "whole numbers": (BEYOND_FLOAT64,),
    "real numbers": (NOT_FINITE,),
    "true or false": (),  # as 1 and 0
    "dates": (),
    "dates with times": (MILLISECOND,),
    "times of day": (MILLISECOND,),
}
IN_SECONDS: Holds = {  # of SPSS and of SAS's transport, whose texts end before their last spaces
    **HOLDS,
    "text": (*HOLDS["text"], TRAILING, TOO_MANY_BYTES),
    "dates with times": (SECOND,),
    "times of day": (SECOND,),
}
SPARE_BYTES = 2**16


class Statistics(Format):
    """Declared missing values are missing in columns to compute with, and unchanged in the others."""

    as_stored: Mapping[str, Any] = MappingProxyType({})  # options with which the reader keeps declared missing values
    labels: tuple[str, ...] = ("column_labels",)  # that the writer takes
    holds = HOLDS
    missing_text = False
    unit = "1ms"
    names_rule = ("[^\\W\\d]\\w{0,31}", "letters, digits and _, at most 32 in all, no digit first")
    same_case = False  # whether names that differ in upper and lower case are one

    def __init__(self, *endings: str, reader: str, writer: str):
        super().__init__(*endings)
        self._reader, self._writer = reader, writer

    def refused(self, error: BaseException) -> str:
        full = "; is the disk full?" if "Unable to write" in str(error) else "."
        return f"pyreadstat says {str(error).rstrip('.')!r}{full}"  # pyreadstat's message names columns, never cells

    def schema(self, path: pathlib.Path) -> "dict[str, pl.DataType]":
        return dict(self._load(path)[0].schema)

    def names(self, path: pathlib.Path, layout: Layout) -> list[str]:
        return self._load(path, metadataonly=True)[1].column_names

    def columns(self, path: pathlib.Path, names: Sequence[str]) -> "pl.DataFrame":
        return self._stored(path, names)[0]

    def _stored(self, path: pathlib.Path, names: Sequence[str]) -> "tuple[pl.DataFrame, dict[str, int]]":
        """The cells, and for each column the count of missing values with letters, stored as text among its numbers."""
        import polars as pl

        frame = columns_of(self._load(path, usecols=list(names), **self.as_stored)[0], names)
        mixed = {column.name: column.to_list() for column in frame if column.dtype == pl.Object}
        texts = [
            pl.Series(name, [cell if cell is None else str(cell) for cell in cells], pl.String)
            for name, cells in mixed.items()
        ]
        letters = {name: sum(isinstance(cell, str) for cell in cells) for name, cells in mixed.items()}
        return frame.with_columns(texts), letters

    def read(
        self, path: pathlib.Path, numbers: Sequence[str], others: Sequence[str], layout: Layout
    ) -> "tuple[pl.DataFrame, Meta]":
        import polars as pl

        columns = [name for name in self.names(path, layout) if name in {*numbers, *others}]
        _, meta = self._load(path, metadataonly=True, **self.as_stored)
        parts = [self._load(path, usecols=list(numbers))[0]] if numbers else []
        if others:
            untouched, letters = self._stored(path, list(others))
            _check_letters(path, letters)
            parts.append(untouched)
        frame = columns_of(pl.concat(parts, how="horizontal"), columns)
        labels = {name: getattr(meta, name) for name in LABELS}
        return frame, {"labels": labels, "formats": {self: meta.original_variable_types}}

    def check(self, frame: "pl.DataFrame", path: pathlib.Path, layout: Layout) -> None:
        pattern, rule = self.names_rule
        wrong = [name for name in frame.columns if not re.fullmatch(pattern, name) or self._reserved(name)]
        if wrong:
            raise InputValueError(
                f"{path.name!r} cannot hold the names {', '.join(map(repr, wrong))}: names must be {rule}; rename "
                "them, or write .parquet or .csv."
            )
        if self.same_case and len({name.lower() for name in frame.columns}) < frame.width:
            raise InputValueError(
                f"{path.name!r} cannot hold names that differ in upper and lower case only; rename them."
            )
        super().check(frame, path, layout)

    def _reserved(self, name: str) -> bool:
        return False

    def write(
        self, frame: "pl.DataFrame", path: pathlib.Path, masked: Sequence[str], meta: Meta, layout: Layout
    ) -> None:
        import polars as pl
        import pyreadstat

        formats = meta.get("formats", {}).get(self)  # other programs write them in another way
        metadata = _for(meta.get("labels", {}) | {"formats": formats}, frame, masked)
        labels = {name: metadata[name] for name in self.labels if metadata.get(name)}
        frame = frame.with_columns(pl.col(pl.Categorical, pl.Enum, pl.Null).cast(pl.String))
        frame = frame.with_columns(pl.col(pl.Int32).cast(pl.Int64))  # Stata's are a few short
        getattr(pyreadstat, self._writer)(frame, str(path), **labels)
        _check_room(path)

    def _load(self, path: pathlib.Path, **options: Any) -> Any:
        import pyreadstat

        return getattr(pyreadstat, self._reader)(str(path), output_format="polars", **options)


LABELS = ("column_names_to_labels", "missing_ranges", "variable_measure", "variable_value_labels")


def _for(labels: dict[str, Any], frame: "pl.DataFrame", masked: Sequence[str]) -> dict[str, Any]:
    """The labels of these columns, by the names that writers use; a masked number must not be taken for missing."""
    untouched = [name for name in frame.columns if name not in masked]

    def occurring(name: str) -> set[Any]:
        return set(frame[name].alias("").unique().to_list())

    def of(name: str, columns: Sequence[str]) -> dict[str, Any]:
        entries = labels.get(name) or {}
        return {column: entries[column] for column in columns if entries.get(column) is not None}

    values = {
        name: {value: entries[value] for value in entries.keys() & occurring(name)}
        for name, entries in of("variable_value_labels", untouched).items()
    }
    missing = {
        name: [one for one in entries if any(_within(value, one) for value in occurring(name))]
        for name, entries in of("missing_ranges", untouched).items()
    }
    return {
        "column_labels": of("column_names_to_labels", frame.columns),
        "variable_value_labels": {name: entries for name, entries in values.items() if entries},
        "missing_ranges": {name: entries for name, entries in missing.items() if entries},
        "variable_measure": of("variable_measure", frame.columns),
        "variable_format": of("formats", [name for name in untouched if kind(frame[name].dtype) != "text"]),
    }


def _within(value: Any, declared: Any) -> bool:
    """Whether a value is declared as missing, by itself or by a range."""
    low, high = (declared["lo"], declared["hi"]) if isinstance(declared, dict) else (declared, declared)
    return value is not None and isinstance(value, str) == isinstance(low, str) and low <= value <= high


def _check_letters(path: pathlib.Path, letters: dict[str, int]) -> None:
    """A column of numbers of another program has no place for them."""
    if letters:
        listed = ", ".join(f"{count} cells of column {name!r}" for name, count in letters.items())
        raise InputValueError(
            f"{path.name!r}: {listed} are missing values with letters, like .a, which would become plain missing "
            "values; recode or drop them."
        )


def _check_room(path: pathlib.Path) -> None:
    """pyreadstat may overlook that the disk is full: there must be room for some bytes more."""
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(bytes(SPARE_BYTES))
        file.flush()
        os.fsync(file.fileno())
    os.truncate(path, size)
