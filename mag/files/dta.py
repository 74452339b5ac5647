"""Stata, by pyreadstat; .a to .z are read as missing, like the plain dot."""

import re
from types import MappingProxyType

from mag.files._exact import Limit
from mag.files._statistics import HOLDS, Statistics

BEYOND_STATA = Limit(
    "beyond 8.9e307", lambda cell: cell.is_finite() & (cell.abs() > 8.9e307)
)  # where Stata's missing values begin
RESERVED = "_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|str[0-9]+|strL|using|with"


class Dta(Statistics):
    """With labels of values and formats."""

    as_stored = MappingProxyType({"user_missing": True})
    holds = MappingProxyType({**HOLDS, "real numbers": (*HOLDS["real numbers"], BEYOND_STATA)})
    labels = ("column_labels", "variable_format", "variable_value_labels")

    def _reserved(self, name: str) -> bool:
        return re.fullmatch(RESERVED, name) is not None


FORMAT = Dta(".dta", reader="read_dta", writer="write_dta")
