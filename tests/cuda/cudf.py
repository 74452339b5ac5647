"""A stand-in for cuDF, which needs a GPU: frames over arrays of CuPy, with the documented interface that mag uses."""

import sys
from types import ModuleType


def install(monkeypatch, cupy):
    """The stand-in of cuDF over real arrays of CuPy, with as much of its documented interface as mag uses.

    Columns without missing cells are arrays of CuPy; Arrow holds those of any other kind.
    """
    import pyarrow

    module = ModuleType("cudf")

    class Series:
        def __init__(self, cells, name=None):
            self.cells, self.name = cells, name

        def __len__(self):
            return len(self.cells)

        def to_cupy(self, dtype=None, copy=False, na_value=None):
            if not isinstance(self.cells, cupy.ndarray):
                raise ValueError("CuPy does not support these cells.")
            return self.cells

        def to_arrow(self):
            return pyarrow.array(self.cells.get()) if isinstance(self.cells, cupy.ndarray) else self.cells

        @classmethod
        def from_arrow(cls, array):
            array = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
            is_number = pyarrow.types.is_floating(array.type) or pyarrow.types.is_integer(array.type)
            return cls(cupy.asarray(array.to_numpy()) if is_number and not array.null_count else array)

    class DataFrame:
        def __init__(self, columns):
            self._columns = {name: Series(cells, name) for name, cells in columns.items()}

        @property
        def columns(self):
            return list(self._columns)

        @property
        def shape(self):
            return len(next(iter(self._columns.values()))), len(self._columns)

        def __len__(self):
            return self.shape[0]

        def __getitem__(self, name):
            if isinstance(name, list):
                return DataFrame({one: self._columns[one].cells for one in name})
            return self._columns[name]

        def to_cupy(self, dtype=None, copy=False, na_value=None):
            return cupy.stack([series.to_cupy() for series in self._columns.values()], axis=1)

        def to_arrow(self, preserve_index=None):
            return pyarrow.table({name: series.to_arrow() for name, series in self._columns.items()})

        @classmethod
        def from_arrow(cls, table):
            return cls({name: Series.from_arrow(table[name]).cells for name in table.column_names})

    module.Series, module.DataFrame = Series, DataFrame
    monkeypatch.setitem(sys.modules, "cudf", module)
    return module
