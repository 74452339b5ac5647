"""The Arrow PyCapsule interface: tables of any library that offers it, and streams of tables that are published."""

from typing import Any

import narwhals as nw

from mag._lib.arrays import read
from mag._lib.errors import InputTypeError

PROTOCOL = ("__arrow_c_stream__", "__arrow_c_array__")


def offers_arrow(table: Any) -> bool:
    """Whether it is no frame that narwhals knows, and offers its cells to any library."""
    if not any(hasattr(type(table), method) for method in PROTOCOL):
        return False
    try:
        nw.from_native(table, allow_series=True)
    except TypeError:
        return True
    except ValueError:  # a frame with two columns of a name
        return False
    return False


def stream_of(table: Any, requested_schema: Any = None) -> Any:
    """The stream of a table in memory for the Arrow PyCapsule interface; of pandas without the index."""
    if nw.dependencies.is_cudf_dataframe(table):
        table = table.to_arrow(preserve_index=False)
    frame = nw.from_native(table, pass_through=True)
    if hasattr(table, "__arrow_c_stream__") and not (isinstance(frame, nw.DataFrame) and _has_index(frame)):
        return table.__arrow_c_stream__(requested_schema)
    try:
        import pyarrow
    except ImportError:
        raise InputTypeError(
            f"the data of a release need pyarrow to be read as Arrow; got a {type(table).__name__}."
        ) from None
    try:
        if isinstance(frame, nw.DataFrame):
            made = pyarrow.Table.from_pandas(nw.to_native(frame), preserve_index=False).replace_schema_metadata(None)
        else:
            made = pyarrow.table({str(name): _arrow_of(pyarrow, cells) for name, cells in table.items()})
    except Exception as error:  # whose messages may quote cells
        raise InputTypeError(
            f"a release must hold columns that Arrow can hold; pyarrow raised {type(error).__name__}, convert them."
        ) from None
    return made.__arrow_c_stream__(requested_schema)


def _has_index(frame: nw.DataFrame[Any]) -> bool:
    return frame.implementation.is_pandas() or frame.implementation.is_modin()


def _arrow_of(pyarrow: Any, cells: Any) -> Any:
    if hasattr(cells, "__arrow_c_stream__"):
        return pyarrow.chunked_array(cells)
    if nw.dependencies.is_cudf_series(cells):
        return cells.to_arrow()
    return pyarrow.array(cells if isinstance(cells, list) else read("column", cells)[0])


def read_arrow(table: Any) -> Any:
    """The table in memory; a stream is read to its end, which may be possible once only."""
    kind = type(table).__name__
    try:
        import pyarrow as reader
    except ImportError:
        try:
            import polars as reader
        except ImportError:
            raise InputTypeError(f"table offers Arrow, which needs pyarrow or polars; got a {kind}.") from None
    try:
        return reader.table(table) if hasattr(reader, "table") else reader.DataFrame(table)
    except Exception as error:  # of the library that offers it, whose messages may quote cells
        raise InputTypeError(
            f"table must offer Arrow records that {reader.__name__} can read; got a {kind}, which raised "
            f"{type(error).__name__}."
        ) from None
