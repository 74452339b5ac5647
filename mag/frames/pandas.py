"""pandas, and libraries like it."""

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from mag._lib.fresh import fresh_column, pandas_frame
from mag.frames import arrow
from mag.frames.arrays import ArrayColumn
from mag.frames.base import SeriesColumn, SeriesFrame
from mag.frames.units import Units


class PandasColumn(SeriesColumn):
    """A series: an array of NumPy, of pandas' own or of Arrow inside."""

    @property
    def dtype(self) -> Any:
        return self.native.dtype

    @property
    def index(self) -> Any:
        return self.native.index

    @property
    def _is_numpy(self) -> bool:
        return isinstance(self.dtype, np.dtype)

    @property
    def _arrow_type(self) -> Any:
        return getattr(self.dtype, "pyarrow_dtype", None)

    def own_kind(self) -> str | None:
        return None if self._arrow_type is None else arrow.kind_of(self._arrow_type)

    def decimal_scale(self) -> int:
        return self._arrow_type.scale

    def count_time(self, present: Any) -> np.ndarray:
        if self._arrow_type is not None:
            return arrow.count_time(present.array.__arrow_array__())
        return present.astype(np.int64).to_numpy()

    def publish_cells(self, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        pandas = sys.modules["pandas"]
        if self._is_numpy:
            return ArrayColumn(np.empty(0, self.dtype)).to_column(short, labels, missing)
        if self._arrow_type is not None:
            index = sys.modules["pyarrow"].array(labels, mask=missing)
            return pandas.arrays.ArrowExtensionArray(arrow.short_array(short, self._arrow_type).take(index))
        return fresh_column(pandas.Series(short).astype(self.dtype).array, labels, missing)

    def take(self, rows: np.ndarray | None, blank: np.ndarray | None = None) -> Any:
        if self._is_numpy:
            return ArrayColumn(self.native.to_numpy()).take(rows, blank)
        return fresh_column(self.native.array, rows, blank)

    def take_nullable(self, rows: np.ndarray | None, blank: np.ndarray) -> Any:
        if not self._is_numpy or self.dtype.kind not in "biu":
            return self.take(rows, blank)
        cells = self.native.to_numpy(copy=True) if rows is None else self.native.to_numpy()[rows]
        cells[blank] = 0  # nothing is left below the mask
        arrays = sys.modules["pandas"].arrays
        return (arrays.BooleanArray if self.dtype.kind == "b" else arrays.IntegerArray)(cells, blank.copy())

    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        index = None if reset else fresh_column(self.native.index, rows)
        return sys.modules["pandas"].Series(cells, index, cells.dtype, self.native.name)

    def units(self) -> Units:
        if self._is_numpy and self.dtype.kind in "iuf":
            return ArrayColumn(self.native.to_numpy(), name=self.name).units()  # narwhals takes longer to ask
        return super().units()

    def exact_cells(self) -> list[Any]:
        return self.native.tolist() if self._arrow_type is None else arrow.exact_cells(self._arrow_array())

    def codes(self) -> np.ndarray:
        if self._is_numpy and self.kind != "object":
            return ArrayColumn(self.native.to_numpy()).codes()  # NaN by its bits
        return super().codes()

    def own_codes(self) -> np.ndarray | None:
        pandas = sys.modules["pandas"]
        if self.dtype == object and pandas.api.types.infer_dtype(self.native, skipna=False) != "string":
            return None
        if self._arrow_type is not None:
            return arrow.codes_of(self._arrow_array())
        return pandas.factorize(self.native)[0].astype(np.int64) + 1

    def _arrow_array(self) -> Any:
        return sys.modules["pyarrow"].chunked_array(self.native.array.__arrow_array__())


class PandasFrame(SeriesFrame):
    """Columns by position, and an index to keep."""

    library = "pandas"
    column_type = PandasColumn

    def build(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        place = {name: position for position, name in enumerate(self.names)}
        positions = np.array([place[name] for name in names])
        n = self.n if rows is None else rows.size
        index = sys.modules["pandas"].RangeIndex(n) if reset else fresh_column(self.native.index, rows)
        return pandas_frame(self.cells(rows, names, masked), fresh_column(self.native.columns, positions), index)

    def indexes(self, published: list[Hashable]) -> list[Any]:
        return [self.native.index]
