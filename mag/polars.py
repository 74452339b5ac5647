"""Functions of mag as methods of polars frames: ``import mag.polars``, then ``frame.mag.microaggregate(…)``.

Lazy frames have them, too: their engine counts, and only the columns to mask are collected.

Examples
--------
>>> import polars as pl
>>> import mag.polars
>>> people = pl.LazyFrame({"age": [31, 52, 30, 55], "job": ["cook", "cook", "cook", "baker"]})
>>> people.mag.check(2, "job")
FAIL k=2: 1 of 4 records match fewer than 1 other; smallest class 1.
Too small: 1 of 2 classes, of sizes 1.
>>> people.mag.microaggregate(2, "age", drop="job").data["age"].to_list()
[31, 54, 31, 54]
"""

try:
    from polars import api
except ImportError as error:
    raise ImportError("mag.polars needs polars; pip install polars.") from error

from mag.tables.accessor import TableAccessor

__all__: list[str] = []

api.register_dataframe_namespace("mag")(TableAccessor)
api.register_lazyframe_namespace("mag")(TableAccessor)
