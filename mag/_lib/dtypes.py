"""How messages call a dtype: by its name, and never by the categories, fill values or fields that it may hold."""

import sys
from typing import Any


def describe_dtype(dtype: Any) -> str:
    """The name of a dtype of any library, with its components, but without the values that are part of it.

    Examples
    --------
    >>> import polars as pl
    >>> from mag._lib.dtypes import describe_dtype
    >>> describe_dtype(pl.List(pl.Enum(["Jane Doe", "nobody"])))
    'List(Enum)'
    """
    library = type(dtype).__module__.partition(".")[0]
    if library == "numpy":
        return type(dtype).__name__ if dtype.kind == "T" else dtype.name
    if library == "pyarrow":
        return _describe_arrow(dtype)
    if hasattr(dtype, "pyarrow_dtype"):  # pandas
        return _describe_arrow(dtype.pyarrow_dtype)
    if library == "pandas":
        return _describe_pandas(dtype)
    inner = getattr(dtype, "inner", None)
    if inner is not None:  # lists of polars and narwhals
        return f"{type(dtype).__name__}({describe_dtype(inner)})"
    if hasattr(dtype, "fields"):
        return f"{type(dtype).__name__}({', '.join(describe_dtype(field.dtype) for field in dtype.fields)})"
    pandas = sys.modules.get("pandas")
    known = library in ("narwhals", "polars") or (
        pandas is not None and isinstance(dtype, pandas.api.extensions.ExtensionDtype)
    )
    if not known:  # of an array library
        return str(dtype)
    name = dtype.__name__ if isinstance(dtype, type) else type(dtype).__name__
    details = [getattr(dtype, part, None) for part in ("time_unit", "time_zone", "precision", "scale")]
    shown = ", ".join(str(detail) for detail in details if detail is not None)
    return f"{name}({shown})" if shown else name


def _describe_pandas(dtype: Any) -> str:
    if hasattr(dtype, "fill_value"):
        return f"Sparse[{describe_dtype(dtype.subtype)}]"
    return "category" if hasattr(dtype, "categories") else str(dtype)


def _describe_arrow(kind: Any) -> str:
    pa = sys.modules["pyarrow"]
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return f"extension<{_describe_arrow(kind.storage_type)}>"
    if types.is_dictionary(kind):
        return f"dictionary<{_describe_arrow(kind.value_type)}>"
    if types.is_nested(kind) or types.is_run_end_encoded(kind):
        name = str(kind).partition("<")[0]
        inner = [kind.value_type] if types.is_run_end_encoded(kind) else [field.type for field in _fields(kind)]
        return f"{name}<{', '.join(map(_describe_arrow, inner))}>"
    return str(kind)


def _fields(kind: Any) -> list[Any]:
    return [kind.field(place) for place in range(kind.num_fields)]
