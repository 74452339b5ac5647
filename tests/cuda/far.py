"""CuPy and cuDF as far as arrays that come in show them; the numbers are NumPy's, no device is behind them."""

import sys
from types import ModuleType

import numpy as np

from mag._backends import cuda


class FarArray:
    """What an array of CuPy shows of itself; `where` is the number of its device."""

    def __init__(self, values, where=0):
        self.values, self.where = np.asarray(values), where
        self.dtype, self.shape, self.nbytes = self.values.dtype, self.values.shape, self.values.nbytes
        self.device = Device(where)

    def __dlpack_device__(self):
        return 2, self.where

    def __dlpack__(self, **options):
        raise BufferError("this memory is not the host's")

    def get(self, **options):
        return self.values


class Device:
    """CuPy's device: a context, with a number."""

    def __init__(self, number):
        self.id = number

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass


class Shown:
    """Memory that is shown by __cuda_array_interface__ alone, as numba's device arrays do."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.__cuda_array_interface__ = {"shape": self.values.shape, "version": 3}


def cupy(monkeypatch):
    """The stand-in of the module, which is imported from now on; array-api-compat's namespace is the module itself.

    No device is behind it, whatever this machine has and earlier tests have found.
    """
    monkeypatch.setattr(cuda, "why_not", lambda: "CuPy is a stand-in.")
    module = ModuleType("cupy")
    module.ndarray, module.float32 = FarArray, np.float32
    module.asarray = lambda x, device=None: FarArray(x.values if isinstance(x, (FarArray, Shown)) else x)
    module.asnumpy = lambda x: x.values
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", module)
    module.__name__ = "array_api_compat.cupy"
    return module


def cudf(monkeypatch):
    """The stand-in of cuDF: a Series and a DataFrame that hold an array of CuPy, or refuse to be one."""
    module = ModuleType("cudf")

    class Series:
        def __init__(self, values):
            self.values = values

        def to_cupy(self):
            if self.values is None:
                raise ValueError("Column must have no nulls.")
            return FarArray(self.values)

    module.Series, module.DataFrame = Series, type("DataFrame", (Series,), {})
    monkeypatch.setitem(sys.modules, "cudf", module)
    return module


def cudf_on(monkeypatch, cupy):
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
