"""Tables of SAS, through pyreadstat, which can only read them."""

import pathlib
from types import MappingProxyType
from typing import TYPE_CHECKING

from mag._lib.errors import InputValueError
from mag.files._layout import Layout
from mag.files._statistics import Statistics

if TYPE_CHECKING:
    import polars as pl


class Sas(Statistics):
    """SAS itself reads .xpt."""

    read_only = True
    as_stored = MappingProxyType({"user_missing": True})

    def check(self, frame: "pl.DataFrame", path: pathlib.Path, layout: Layout) -> None:
        raise InputValueError("files of the format .sas7bdat can only be read; write .xpt, which SAS reads.")


FORMAT = Sas(".sas7bdat", reader="read_sas7bdat", writer="")
