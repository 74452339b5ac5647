"""Apache Parquet, by polars."""

from mag.files._arrow import Arrow


class Parquet(Arrow):
    """Values are as they are stored."""

    def arrow_schema(self, path):
        import pyarrow.parquet as pq

        return pq.read_schema(path)

    def stored(self, path, places):
        import polars as pl

        return pl.read_parquet(path, columns=list(places), glob=False)

    def write(self, frame, path, masked, meta, layout):
        frame.write_parquet(path)


FORMAT = Parquet(".parquet", ".pq")
