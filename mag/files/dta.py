"""Stata, by pyreadstat; .a to .z are read as missing, like the plain dot."""

from mag.files._statistics import Statistics


class Dta(Statistics):
    """With labels of values."""

    labels = ("column_labels", "file_label", "variable_value_labels")


FORMAT = Dta(".dta", reader="read_dta", writer="write_dta")
