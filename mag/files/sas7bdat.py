"""Tables of SAS, by pyreadstat, which reads them only."""

from mag.files._statistics import Statistics


class Sas(Statistics):
    """SAS itself reads .xpt."""

    def write(self, frame, path, masked, meta, layout):
        raise ValueError("files of the format .sas7bdat can only be read; write .xpt, which SAS reads.")


FORMAT = Sas(".sas7bdat", reader="read_sas7bdat", writer="")
