"""Tables in files: one format, one file, which lists its endings and implements reading, writing and the recount.

A written file is read back from the disk before it gets its name: `File.counts` counts the text of the cells if the
format is text, and the stored values otherwise.
"""

import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mag._lib.errors import InputValueError
from mag._lib.roles import offer_columns
from mag.files import csv, dta, feather, parquet, sas7bdat, sav, tsv, xlsx, xpt
from mag.files._cells import DATE, blank_codes, fill_codes, without_codes
from mag.files._classes import ClassParts
from mag.files._counts import Histogram, below, smallest
from mag.files._format import Format, Meta, columns_of
from mag.files._layout import Layout, layout_of
from mag.files._understood import Strange
from mag.files.csv import CATEGORIES, IS_DELIMITER_RIGHT

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "CATEGORIES",
    "DATE",
    "FORMATS",
    "ClassParts",
    "File",
    "Histogram",
    "Layout",
    "Meta",
    "Strange",
    "below",
    "blank_codes",
    "columns_of",
    "layout_of",
    "smallest",
]

LIBRARIES = (
    "_fastexcel",
    "fastexcel",
    "polars",
    "pyarrow",
    "pyo3_runtime",
    "pyreadstat",
    "xlsxwriter",
)  # libraries whose errors we rephrase
FORMATS: dict[str, Format] = {
    "csv": csv.FORMAT,
    "dta": dta.FORMAT,
    "feather": feather.FORMAT,
    "parquet": parquet.FORMAT,
    "sas7bdat": sas7bdat.FORMAT,
    "sav": sav.FORMAT,
    "tsv": tsv.FORMAT,
    "xlsx": xlsx.FORMAT,
    "xpt": xpt.FORMAT,
}


class File:
    """A table in a file, by the ending of its name.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mag.files import File
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name, "people.csv")
    >>> _ = path.write_text("zip,age\\n00123,31\\n00123,31\\n00200,52\\n")
    >>> file = File(path)
    >>> file.names()
    ['zip', 'age']
    >>> file.counts(["zip", "age"])      # one class of one record, one of two
    [{1: 1, 2: 1}]
    >>> file.read(["age"], ["zip"])[0].rows()
    [('00123', 31), ('00123', 31), ('00200', 52)]
    >>> folder.cleanup()
    """

    def __init__(self, path: os.PathLike[str] | str, layout: Layout | None = None, to_write: bool = False):
        self.path = pathlib.Path(path)
        self.layout = layout or Layout()
        self.format = _by_ending(self.path, to_write)

    def names(self) -> list[str]:
        """The columns, in order."""
        return self._run(self.format.names, self._there(), self.layout)

    def numeric(self) -> list[str]:
        """The columns that hold numbers."""
        return self._run(self.format.numeric, self._there(), self.layout)

    def read(
        self,
        numbers: Sequence[str],
        others: Sequence[str] = (),
        categories: Sequence[str] = (),
        draft: pathlib.Path | None = None,
    ) -> "tuple[pl.DataFrame, Meta]":
        """Read the columns `numbers`, to compute with, and the columns `others`, unchanged, in the order of the file.

        Columns of `categories` are not computed with either, but their codes for missing cells become missing.
        """
        if draft is None:
            self.check_names([*numbers, *others, *categories, *self.layout.null_of, *self.layout.date_of])
        computed, kept = (numbers, [*categories, *others]) if self.format.text else ([*numbers, *categories], others)
        frame, meta = self._run(self.format.read, draft or self.path, list(computed), list(kept), self.layout)
        if not self.format.text and self.layout.has_codes:
            frame = frame.with_columns(without_codes(frame[name], self.layout) for name in numbers)
        return frame.with_columns(blank_codes(frame[name], self.layout) for name in categories), meta

    def class_parts(
        self, columns: Sequence[str], numbers: Sequence[str] = (), others: Sequence[str] = ()
    ) -> ClassParts:
        """Columns in parts, each with all records of its classes of equal `columns`; cells as `read` gives them."""
        self.check_names([*columns, *numbers, *others, *self.layout.null_of, *self.layout.date_of])
        texts = list(dict.fromkeys([*columns, *others]))
        blocks = self._run(self.format.blocks, self._there(), list(numbers), texts, self.layout)
        return self._run(ClassParts, blocks, list(columns))

    def understood(self) -> "tuple[pl.DataFrame, dict[str, Strange]]":
        """All columns, codes for missing cells as missing; of text files, each as the type of most of its cells.

        Cells of text that are not of that type are missing, and described by column.
        """
        self.check_names([*self.layout.null_of, *self.layout.date_of])
        frame, strange = self._run(self.format.understood, self._there(), self.layout)
        if not self.format.text:
            frame = frame.with_columns(without_codes(column, self.layout) for column in frame)
        return frame, strange

    def write(
        self,
        frame: "pl.DataFrame",
        masked: Sequence[str],
        meta: Meta,
        draft: pathlib.Path,
        categories: Sequence[str] = (),
    ) -> "pl.DataFrame":
        """Write a frame, whose columns `masked` were computed, to a draft; return the written frame.

        Text holds a missing one of `categories` as the first of its codes.  A cell that the format cannot hold exactly
        is an error.
        """
        if self.format.text:
            frame = frame.with_columns(fill_codes(frame[name], self.layout) for name in categories)
        frame = self.format.fitted(frame, masked)
        self.format.check(frame, self.path, self.layout)
        try:
            self.format.write(frame, draft, masked, meta, self.layout)
        except BaseException as error:
            system = re.search(r"(?:os error|Errno) (\d+)", str(error))  # libraries wrap the error of the system
            if system:
                why = f"could not be written, {os.strerror(int(system[1]))}; nothing was left"
                raise OSError(int(system[1]), why, str(self.path)) from None
            if _foreign(error):
                raise InputValueError(f"{self.path.name!r} cannot be written: {self.format.refused(error)}") from None
            raise
        return frame

    def counts(
        self, *sets: Sequence[str], draft: pathlib.Path | None = None, written: "pl.DataFrame | None" = None
    ) -> list[Histogram]:
        """For each set of columns, the number of classes of equal records by size.

        A file whose cells are not those `written` is an error.
        """
        if draft is None:
            self.check_names([name for columns in sets for name in columns])
        lists = [list(columns) for columns in sets]
        return self._run(self.format.counts, draft or self.path, lists, self.layout, written, self.path.name)

    def _run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Replace an error inside a library by one sentence, since the library's message may quote cells."""
        try:
            return step(*arguments)
        except BaseException as error:  # a Rust panic is a BaseException, not an Exception
            foreign = _foreign(error)
            if isinstance(error, UnicodeError) or (foreign and self.format.text and "utf-8" in str(error)):
                other = "latin-1" if self.layout.utf8 else "utf-8"
                raise InputValueError(
                    f"{self.path.name!r} is not valid {self.layout.encoding.upper()}; try --encoding {other}."
                ) from None
            if foreign:
                raise InputValueError(f"{self.path.name!r} {self._explain_broken()}") from None
            raise

    def _explain_broken(self) -> str:
        """The reason why the file cannot be read, with the delimiter that its header suggests."""
        reason = self.format.explain_broken(self.path, self.layout)
        other = self.suggest_delimiter()
        return reason if other is None else f"{reason.removesuffix(IS_DELIMITER_RIGHT)}{other}"

    def _there(self) -> pathlib.Path:
        if not self.path.is_file():
            raise FileNotFoundError(2, "there is no such file", str(self.path))
        return self.path

    def suggest_delimiter(self) -> str | None:
        """Advice for a text file of one column, whose name holds a mark that delimits cells elsewhere."""
        names = self.names() if self.format.text else []
        other = next((mark for mark in ";,\t|" if mark in names[0]), None) if len(names) == 1 else None
        return f"try --delimiter {other!r}." if other else None

    def check_names(self, columns: Sequence[str]) -> None:
        """Raise an error that lists the columns of the file if it does not have all of these."""
        names = self.names()
        unknown = sorted({name for name in columns if name not in names})
        if unknown:
            offer = offer_columns(unknown[0], names)
            if set(unknown[0].split(",")) <= set(names):
                offer = "; name one column at a time."
            if len(names) == 1 and self.format.text:
                hint = self.suggest_delimiter() or "is the delimiter right?"
                offer = f"; its columns are {names[0]!r}; {hint}"
            raise InputValueError(f"{self.path.name!r} has no column {', '.join(map(repr, unknown))}{offer}")


def _foreign(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in LIBRARIES


def _by_ending(path: pathlib.Path, to_write: bool) -> Format:
    known = {ending: form for form in FORMATS.values() for ending in form.endings if not (to_write and form.read_only)}
    if path.suffix.lower() not in known:
        what = "files can be written to" if to_write else "files can be read from"
        raise InputValueError(f"{what} {', '.join(sorted(known))}; got {path.name!r}.")
    return known[path.suffix.lower()]
