"""The transport format of SAS, by pyreadstat."""

from mag.files._statistics import Statistics

FORMAT = Statistics(".xpt", ".xport", reader="read_xport", writer="write_xport")
