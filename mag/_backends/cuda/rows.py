"""One of the columns that were grouped on a device."""

from typing import Any

from mag._backends.cuda.columns import ColumnBatch


class Row:
    """One of the columns, as `ColumnBatch` that has no other: what it knows of all of them, it knows of this one."""

    def __init__(self, columns: ColumnBatch, row: int) -> None:
        self._columns, self._rows = columns, slice(row, row + 1)
        self.device, self.problem = columns.device, columns.problem

    def finish(self) -> bool:
        """As that of all columns: values that are not finite are looked for in all."""
        return self._columns.finish()

    def defer_reuse(self) -> None:
        """As that of all columns."""
        self._columns.defer_reuse()

    def own(self, array: Any) -> Any:
        """As that of all columns."""
        return self._columns.own(array)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._columns, name)[self._rows]

    @property
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self._columns.masked_rows(self._rows)
