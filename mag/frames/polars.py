"""polars."""

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np

from mag._lib.fresh import fresh_column
from mag.frames.base import SeriesColumn, SeriesFrame, with_nan
from mag.frames.units import to_integers


class PolarsColumn(SeriesColumn):
    """A series."""

    def __init__(self, series: Any) -> None:
        super().__init__(series.alias(""))  # polars' own methods take a name like ^a$ for a pattern
        self.name = series.name

    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        return sys.modules["polars"].Series(self.name, cells)

    @property
    def dtype(self) -> Any:
        return self.native.dtype

    def decimal_scale(self) -> int:
        return self.dtype.scale

    def count_time(self, present: Any) -> np.ndarray:
        return present.to_physical().cast(sys.modules["polars"].Int64).to_numpy()

    def count_decimals(self, present: Any, scale: int) -> np.ndarray:
        polars, physical = sys.modules["polars"], present.to_native().to_physical()
        if physical.is_between(-(2**63), 2**63 - 1).all():
            return physical.cast(polars.Int64).to_numpy()
        return to_integers(physical.to_list())

    def publish_cells(self, short: Any, labels: np.ndarray, missing: np.ndarray | None) -> Any:
        polars = sys.modules["polars"]
        if isinstance(short, list):
            cells = polars.Series(self.native.name, short, dtype=self.dtype)
        else:
            cells = polars.Series(self.native.name, short).cast(self.dtype)
        if missing is not None and self.series.dtype.is_float() and not self.native.has_nulls():
            cells = cells.append(polars.Series([np.nan], dtype=self.dtype))
            labels, missing = with_nan(labels, missing, len(cells)), None
        return fresh_column(cells, labels, missing)

    def exact_cells(self) -> list[Any]:
        native = self.native
        return native.to_list() if native.dtype == sys.modules["polars"].Object else native.to_physical().to_list()

    def own_codes(self) -> np.ndarray | None:
        polars, native = sys.modules["polars"], self.native
        if native.dtype == polars.String:
            native = native.cast(polars.Categorical)
        if isinstance(native.dtype, (polars.Categorical, polars.Enum)) or native.dtype == polars.Boolean:
            return native.to_physical().cast(polars.Int64).fill_null(-1).to_numpy() + 1
        return None


class PolarsFrame(SeriesFrame):
    """An eager frame."""

    library = "polars"
    column_type = PolarsColumn

    def build(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        return sys.modules["polars"].DataFrame(dict(zip(names, self.cells(rows, names, masked), strict=True)))
