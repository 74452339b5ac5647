"""The transport format of SAS, by pyreadstat, whose numbers are those of IBM's mainframes."""

from types import MappingProxyType

from mag.files._exact import Limit
from mag.files._statistics import HOLDS, IN_SECONDS, Statistics

OUT_OF_RANGE = Limit(
    "beyond 9e74, below 5.5e-79 or -0.0",
    lambda cell: (cell.is_finite() & (cell.abs() > 9e74)) | ((cell.abs() < 5.5e-79) & ((cell != 0) | (1 / cell < 0))),
)


class Xpt(Statistics):
    """With labels of variables."""

    holds = MappingProxyType({**IN_SECONDS, "real numbers": (*HOLDS["real numbers"], OUT_OF_RANGE)})
    unit = "1s"
    names_rule = ("[A-Za-z_][A-Za-z0-9_]{0,31}", "letters, digits and _ of ASCII, at most 32 in all, no digit first")
    same_case = True


FORMAT = Xpt(".xpt", ".xport", reader="read_xport", writer="write_xport")
