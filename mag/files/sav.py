"""SPSS, by pyreadstat."""

import sys
from types import MappingProxyType

from mag.files._exact import Limit
from mag.files._statistics import HOLDS, IN_SECONDS, Statistics

SYSTEM_MISSING = Limit("of the largest size", lambda cell: cell.abs() == sys.float_info.max)  # SPSS's missing values


class Sav(Statistics):
    """With declared missing values, measures and formats."""

    as_stored = MappingProxyType({"user_missing": True})
    holds = MappingProxyType({**IN_SECONDS, "real numbers": (*HOLDS["real numbers"], SYSTEM_MISSING)})
    unit = "1s"
    names_rule = ("[^\\W\\d_][\\w.$@#]{0,63}", "letters, digits and _ . $ @ #, at most 64 bytes in all, a letter first")
    same_case = True
    labels = (
        "column_labels",
        "missing_ranges",
        "variable_format",
        "variable_measure",
        "variable_value_labels",
    )

    def _reserved(self, name: str) -> bool:
        return len(name.encode()) > 64


FORMAT = Sav(".sav", reader="read_sav", writer="write_sav")
