"""Feather, which is Arrow's file format, by polars."""

from mag.files._arrow import Arrow


class Feather(Arrow):
    """Text is written cell after cell: polars' own layout would write the buffers that its views share."""

    def arrow_schema(self, path):
        import pyarrow as pa

        with pa.ipc.open_file(path) as file:
            return file.schema

    def stored(self, path, places):
        import polars as pl

        with path.open("rb") as file:  # a star in the name is no pattern, and nothing stays mapped
            return pl.read_ipc(file, columns=list(places))

    def write(self, frame, path, masked, meta, layout):
        import polars as pl

        frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())


FORMAT = Feather(".arrow", ".feather", ".ipc")
