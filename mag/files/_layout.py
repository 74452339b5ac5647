"""How a text file is written: what separates cells, decimals, the encoding, the words for a missing number."""

import codecs
from dataclasses import dataclass

from mag._lib.errors import ValueMistake


@dataclass(frozen=True)
class Layout:
    """Options of text files; a delimiter of None is that of the format."""

    delimiter: str | None = None
    decimal_comma: bool = False
    encoding: str = "utf-8"
    null: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n'):
            raise ValueMistake(f"delimiter must be one character, no quote and no line end; got {self.delimiter!r}.")
        if self.decimal_comma and self.delimiter == ",":
            raise ValueMistake("decimal_comma needs another delimiter than the comma; got delimiter ','.")
        try:
            codecs.getincrementaldecoder(self.encoding)
            text = 'a,"\n'.encode(self.encoding).decode(self.encoding) == 'a,"\n'  # zlib and others are for bytes
        except (LookupError, ValueError):
            text = False
        if not text:
            raise ValueMistake(f"encoding must be one of text that Python knows; got {self.encoding!r}.")

    @property
    def utf8(self) -> bool:
        """Whether bytes need no translation."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig")

    def separator(self, usual: str) -> str:
        """The delimiter, where none was named: a semicolon where the comma is taken."""
        return self.delimiter or (";" if self.decimal_comma and usual == "," else usual)
