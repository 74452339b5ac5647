"""The layout of a text file: delimiter, marks in numbers, encoding, dates, and the codes for a missing number."""

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mag._lib.errors import InputValueError
from mag._lib.wording import named

THOUSANDS = (",'_ ", ".'_ ")  # marks between thousands, beside a decimal point and beside a decimal comma


@dataclass(frozen=True)
class Layout:
    """Options of text files, and codes for missing numbers of all columns and of some; None is the usual delimiter.

    `date_of` : formats of dates by column, such as %d.%m.%Y; other columns have dates like 2026-01-31.
    """

    delimiter: str | None = None
    decimal_comma: bool = False
    thousands: str | None = None
    encoding: str = "utf-8"
    null: tuple[str, ...] = ()
    null_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    date_of: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n'):
            raise InputValueError(
                f"delimiter must be one character other than a quote or a line end; got {self.delimiter!r}."
            )
        if self.decimal_comma and self.delimiter == ",":
            raise InputValueError(
                f"{named('decimal_comma')} needs a delimiter other than the comma; got delimiter ','."
            )
        if self.thousands is not None and self.thousands not in (*THOUSANDS[self.decimal_comma],):
            raise InputValueError(
                f"thousands must be one of {', '.join(map(repr, THOUSANDS[self.decimal_comma]))}; got "
                f"{self.thousands!r}."
            )
        for name, form in self.date_of.items():
            if not _is_date_format(form):
                raise InputValueError(
                    f"the date format of column {name!r} must hold %d, %m and %Y, and may hold %H, %M and %S, "
                    f"such as %d.%m.%Y; got {form!r}."
                )
        try:
            codecs.getincrementaldecoder(self.encoding)
            text = 'a,"\n'.encode(self.encoding).decode(self.encoding) == 'a,"\n'  # zlib and others are for bytes
        except (LookupError, ValueError):
            text = False
        if not text:
            raise InputValueError(f"encoding must be a text encoding that Python supports; got {self.encoding!r}.")

    @property
    def utf8(self) -> bool:
        """Whether bytes need no translation."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig")

    @property
    def has_codes(self) -> bool:
        """Whether any column has codes for missing numbers."""
        return bool(self.null or self.null_of)

    def codes(self, column: str) -> tuple[str, ...]:
        """The codes for a missing number in a column; the first one is written."""
        return (*self.null_of.get(column, ()), *self.null)

    def separator(self, usual: str) -> str:
        """The delimiter; by default `usual`, or a semicolon if the comma is the decimal mark."""
        return self.delimiter or (";" if self.decimal_comma and usual == "," else usual)


def _is_date_format(form: str) -> bool:
    """Whether text in this format determines a date, and if it has a time of day, its minute or second."""
    times: tuple[list[str], ...] = ([], ["%H", "%M"], ["%H", "%M", "%S"])
    return sorted(re.findall("%.?", form)) in [sorted(["%d", "%m", "%Y", *time]) for time in times]


def layout_of(
    delimiter: str | None = None,
    decimal_comma: bool = False,
    encoding: str = "utf-8",
    null: Sequence[str] | None = None,
    date: Sequence[str] | None = None,
    thousands: str | None = None,
) -> Layout:
    """A layout from words of the command line and of plans: a tab may be written \\t, codes NAME=CODES."""
    general: list[str] = []
    special: dict[str, tuple[str, ...]] = {}
    for word in null or ():
        name, equals, codes = word.rpartition("=")
        if equals and not (name and codes):
            raise InputValueError(f"--null must be CODES or NAME=CODES; got {word!r}.")
        if equals:
            special[name] = (*special.get(name, ()), *codes.split(","))
        else:
            general += codes.split(",")
    formats = {}
    for word in date or ():
        name, equals, form = word.partition("=")
        if not (name and equals and form) or name in formats:
            raise InputValueError(
                f"--date must be NAME=FORMAT, once for a column, such as born=%d.%m.%Y; got {word!r}."
            )
        formats[name] = form
    mark = "\t" if delimiter == "\\t" else delimiter
    return Layout(mark, decimal_comma, thousands, encoding, tuple(general), special, formats)
