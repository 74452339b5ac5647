"""Functions of mag as methods of pandas frames: ``import mag.pandas``, then ``frame.mag.microaggregate(…)``.

Examples
--------
>>> import pandas as pd
>>> import mag.pandas
>>> people = pd.DataFrame({"age": [31, 52, 30, 55], "job": ["cook", "cook", "cook", "baker"]})
>>> people.mag.check(2, "job")
FAIL k=2: 1 of 4 records match fewer than 1 other; smallest class 1.
Too small: 1 of 2 classes, of sizes 1.
>>> people.mag.microaggregate(2, "age", drop="job").data["age"].tolist()
[31, 54, 31, 54]
"""

try:
    from pandas.api.extensions import register_dataframe_accessor
except ImportError as error:
    raise ImportError("mag.pandas needs pandas; pip install pandas.") from error

from mag.tables.accessor import TableAccessor

__all__: list[str] = []

register_dataframe_accessor("mag")(TableAccessor)
