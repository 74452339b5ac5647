"""The first sheet of an Excel file, by fastexcel and xlsxwriter."""

from mag.files._format import Format


class Xlsx(Format):
    """Cells as Excel types them."""

    def schema(self, path):
        return dict(self._load(path).schema)

    def columns(self, path, wanted):
        return self._load(path).select(wanted)

    def write(self, frame, path, masked, meta, layout):
        import xlsxwriter  # noqa: F401 - its absence is told by name

        frame.write_excel(path, autofit=False, float_precision=15)

    def _load(self, path):
        import fastexcel  # noqa: F401 - its absence is told by name
        import polars as pl

        return pl.read_excel(path, infer_schema_length=None, drop_empty_rows=False, drop_empty_cols=False)


FORMAT = Xlsx(".xlsx")
