"""Apache Parquet, by polars."""

from mag.files._format import Format


class Parquet(Format):
    """Values are as they are stored."""

    def schema(self, path):
        import polars as pl

        return dict(pl.read_parquet_schema(path))

    def columns(self, path, wanted):
        import polars as pl

        return pl.read_parquet(path, columns=list(wanted), glob=False)

    def write(self, frame, path, masked, meta, layout):
        frame.write_parquet(path)


FORMAT = Parquet(".parquet", ".pq")
