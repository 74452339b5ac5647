"""cuDF: read as Arrow tables, which are copies on the host, and published as cuDF columns again.

Cells are checked and published one by one on the host; `mag.columns` and `mag.multivariate` leave numbers on the
device.
"""

from collections.abc import Hashable
from typing import Any

import narwhals as nw
import numpy as np

from mag.frames.arrow import ArrowColumn, ArrowFrame


class CudfColumn(ArrowColumn):
    """A series on a device."""

    def __init__(self, series: Any) -> None:
        super().__init__(nw.from_native(chunked(series.to_arrow()), series_only=True))
        self._kind, self._name = type(series), series.name

    def wrap(self, cells: Any, rows: np.ndarray | None, reset: bool) -> Any:
        series = self._kind.from_arrow(cells)
        series.name = self._name
        return series


class CudfFrame(ArrowFrame):
    """A frame on a device; its index is not published."""

    def __init__(self, table: Any) -> None:
        on_host = table.to_arrow(preserve_index=False)
        super().__init__(on_host, nw.from_native(on_host), list(on_host.column_names))
        self._kind = type(table)

    def build(self, rows: np.ndarray | None, names: list[Hashable], masked: dict[Hashable, Any], reset: bool) -> Any:
        return self._kind.from_arrow(super().build(rows, names, masked, reset))


def chunked(array: Any) -> Any:
    """An array of Arrow as narwhals reads it."""
    import pyarrow

    return pyarrow.chunked_array([array]) if isinstance(array, pyarrow.Array) else array
