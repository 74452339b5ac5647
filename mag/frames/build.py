"""New tables in the library of another one."""

from collections.abc import Hashable, Mapping
from typing import Any

import narwhals as nw
import numpy.typing as npt


def build_frame(columns: Mapping[Hashable, npt.NDArray[Any]], like: Any) -> Any:
    """A table of the library of another one: numbers, booleans, or text in arrays of objects."""
    if isinstance(like, Mapping):
        return dict(columns)
    frame = nw.from_native(like)
    backend = frame.implementation
    if isinstance(frame, nw.LazyFrame) and not backend.is_polars():  # an engine has no tables in memory of its own
        backend = nw.Implementation.PYARROW
    if backend.is_pandas_like():
        return backend.to_native_namespace().DataFrame(dict(columns))
    kinds = {"O": nw.String(), "i": nw.Int64(), "f": nw.Float64(), "b": nw.Boolean()}
    schema = {str(name): kinds[cells.dtype.kind] for name, cells in columns.items()}
    cells = {str(name): cells.tolist() for name, cells in columns.items()}
    return nw.from_dict(cells, schema, backend=backend).to_native()
