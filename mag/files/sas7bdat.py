"""Tables of SAS, by pyreadstat, which reads them only."""

from types import MappingProxyType

from mag._lib.errors import ValueMistake
from mag.files._statistics import Statistics


class Sas(Statistics):
    """SAS itself reads .xpt."""

    read_only = True
    as_stored = MappingProxyType({"user_missing": True})

    def check(self, frame, path, layout):
        raise ValueMistake("files of the format .sas7bdat can only be read; write .xpt, which SAS reads.")


FORMAT = Sas(".sas7bdat", reader="read_sas7bdat", writer="")
