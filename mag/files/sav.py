"""SPSS, by pyreadstat."""

from types import MappingProxyType

from mag.files._statistics import Statistics


class Sav(Statistics):
    """With declared missing values, measures, formats and notes."""

    as_stored = MappingProxyType({"user_missing": True})
    labels = (
        "column_labels",
        "file_label",
        "missing_ranges",
        "note",
        "variable_display_width",
        "variable_format",
        "variable_measure",
        "variable_value_labels",
    )


FORMAT = Sav(".sav", reader="read_sav", writer="write_sav")
