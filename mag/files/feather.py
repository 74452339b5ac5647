"""Feather, which is Arrow's file format, by polars."""

from mag.files._format import Format


class Feather(Format):
    """Values are as they are stored."""

    def schema(self, path):
        import polars as pl

        return dict(pl.read_ipc_schema(path))

    def columns(self, path, wanted):
        import polars as pl

        with path.open("rb") as file:  # a star in the name is no pattern, and nothing stays mapped
            return pl.read_ipc(file, columns=list(wanted))

    def write(self, frame, path, masked, meta, layout):
        frame.write_ipc(path)


FORMAT = Feather(".arrow", ".feather", ".ipc")
