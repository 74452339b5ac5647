"""Everything that is published, built from its values alone, into fresh memory.

A frame library returns views: a row of a string column points into the buffer of all rows, a category carries the names
of all others, a null hides the value below it, a slice keeps the table that it was cut from.  Everything that leaves
`mag` is built here instead.  Besides the cells of the published rows it holds the names of the published columns, their
dtypes (with time zone, decimal places, width of fixed strings), and the pandas index if that is published: no unused
category or dictionary entry, no value below a null, no metadata, `attrs` or flags, and no memory of the original.

Categories that are ordered, and those of an Enum, keep their order.  Others come sorted, since the order in which they
were first met is the order of the original's rows.
"""

import copy
import datetime
import decimal
import fractions
import sys
import uuid
from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError

IMMUTABLE = {
    bool, bytes, complex, float, int, str, type(None), datetime.date, datetime.datetime, datetime.time,
    datetime.timedelta, decimal.Decimal, fractions.Fraction, uuid.UUID,
}  # fmt: skip


def fresh_column(native: Any, rows: np.ndarray | None = None, blank: np.ndarray | None = None) -> Any:
    """Cells of these rows, all by default, missing where `blank`; the kind of column that was passed.

    `native` is a NumPy array, a Series, Index or extension array of pandas, a Series of polars, or an Array or
    ChunkedArray of pyarrow; a ChunkedArray comes back in one chunk.
    """
    for library, build in _BUILDERS.items():
        module = sys.modules.get(library)
        if module is not None and isinstance(native, _kinds(module)):
            return build(native, rows, blank)
    return _of_numpy(native, rows, blank)


def _kinds(module: Any) -> tuple[type, ...]:
    if module.__name__ == "pandas":
        return module.Series, module.Index, module.api.extensions.ExtensionArray
    return (module.Series,) if module.__name__ == "polars" else (module.Array, module.ChunkedArray)


def _every(rows: np.ndarray | None, n: int) -> np.ndarray:
    return np.arange(n) if rows is None else rows


def _recode(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of used entries only, in their order, and these entries; -1 is missing."""
    used = np.unique(codes[codes >= 0])
    place = np.full(int(codes.max(initial=-1)) + 2, -1)  # the last one for -1
    place[used] = np.arange(used.size)
    return place[codes], used


def _reorder(codes: np.ndarray, order: np.ndarray) -> np.ndarray:
    """The same codes where entries are put into this order."""
    place = np.full(order.size + 1, -1)
    place[order] = np.arange(order.size)
    return place[codes]


def _by_print(cells: list[Any]) -> np.ndarray:
    """An order of cells that cannot be compared, independent of their positions."""
    return np.array(sorted(range(len(cells)), key=lambda i: (type(cells[i]).__name__, repr(cells[i]))), np.int64)


# ---- NumPy


def _of_numpy(array: np.ndarray, rows: np.ndarray | None, blank: np.ndarray | None) -> np.ndarray:
    dtype = array.dtype
    if dtype.kind == "O":
        cells = own_objects(array if rows is None else array[rows])
    elif dtype.kind == "T":
        string_type: Any = type(dtype)
        kind = string_type(na_object=dtype.na_object) if hasattr(dtype, "na_object") else string_type()
        cells = np.array((array if rows is None else array[rows]).tolist(), kind)
    elif dtype.names is not None:
        cells = np.zeros(array.size if rows is None else rows.size, _bare_dtype(dtype))  # nothing between the fields
        for name in dtype.names:
            cells[name] = _of_numpy(array[name], rows, None)
    else:
        cells = np.array(array) if rows is None else array[rows]
        cells = cells if dtype.metadata is None else cells.view(_bare_dtype(dtype))
    return blanked(cells, blank)


def _bare_dtype(dtype: Any) -> Any:
    """Without metadata and titles."""
    if dtype.subdtype is not None:
        return np.dtype((_bare_dtype(dtype.subdtype[0]), dtype.subdtype[1]))
    if dtype.names is None:
        return np.dtype(dtype.str)
    fields = [dtype.fields[name] for name in dtype.names]
    formats, offsets = [_bare_dtype(field[0]) for field in fields], [field[1] for field in fields]
    return np.dtype({"names": list(dtype.names), "formats": formats, "offsets": offsets, "itemsize": dtype.itemsize})


def own_objects(cells: np.ndarray) -> np.ndarray:
    """A new array of Python objects; mutable ones are copied."""
    listed = cells.tolist()
    own = np.empty(len(listed), object)
    if not set(map(type, listed)) <= IMMUTABLE:
        listed = [cell if type(cell) in IMMUTABLE else copy.deepcopy(cell) for cell in listed]
    for place, cell in enumerate(listed):  # NumPy would take lists of one length for a table
        own[place] = cell
    return own


def blanked(array: np.ndarray, missing: np.ndarray | None) -> np.ndarray:
    """The array itself, with nothing in missing cells."""
    if missing is not None:
        blank = {"O": None, "f": np.nan}.get(array.dtype.kind, "NaT")
        array[missing] = blank
    return array


# ---- pandas


def _of_pandas(native: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
    pandas = sys.modules["pandas"]
    if isinstance(native, pandas.Index):
        return _index(native, rows)
    if isinstance(native, pandas.Series):
        cells = _pandas_cells(native.array, rows, blank)
        return pandas.Series(cells, _index(native.index, rows), cells.dtype, native.name, copy=False)
    return _pandas_cells(native, rows, blank)


def _pandas_cells(array: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
    """An array for a column of pandas: NumPy's, or an extension array."""
    pandas, dtype = sys.modules["pandas"], array.dtype
    if isinstance(dtype, np.dtype) or type(array) is pandas.arrays.NumpyExtensionArray:
        return _of_numpy(np.asarray(array), rows, blank)
    if isinstance(dtype, pandas.CategoricalDtype):
        return _categories(array, rows, blank)
    stored = dtype.storage if isinstance(dtype, pandas.StringDtype) else None
    if hasattr(dtype, "pyarrow_dtype") or stored == "pyarrow":
        column = _of_arrow(sys.modules["pyarrow"].chunked_array(array.__arrow_array__()), rows, blank)
        return dtype.__from_arrow__(column) if stored else pandas.arrays.ArrowExtensionArray(column)
    if hasattr(array, "asi8"):  # moments with a zone, periods
        every = _every(rows, len(array))
        return array.take(every if blank is None else np.where(blank, -1, every), allow_fill=blank is not None)
    if hasattr(dtype, "numpy_dtype") and not stored:
        values, missing = array.to_numpy(dtype.numpy_dtype, na_value=0), array.isna()
        values, missing = (np.array(part) if rows is None else part[rows] for part in (values, missing))
        if blank is not None:
            values[blank], missing[blank] = 0, True
        return type(array)(values, missing)
    cells = own_objects(np.array([*array, None], object)[:-1][_every(rows, len(array))])
    if blank is not None:
        cells[blank] = dtype.na_value
    return type(array)._from_sequence(cells.tolist(), dtype=dtype)  # how pandas makes one of cells


def _categories(array: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
    codes = array.codes.astype(np.int64) if rows is None else array.codes[rows].astype(np.int64)
    if blank is not None:
        codes[blank] = -1
    codes, used = _recode(codes)
    if not array.ordered:
        some = array.categories.take(used)
        try:
            order = np.asarray(some.argsort())
        except TypeError:
            order = _by_print(some.tolist())
        codes, used = _reorder(codes, order), used[order]
    from_codes = sys.modules["pandas"].Categorical.from_codes
    return from_codes(codes, _index(array.categories, used).rename(None), ordered=array.ordered)


def _index(index: Any, rows: np.ndarray | None) -> Any:
    """Row names, or column names."""
    pandas = sys.modules["pandas"]
    if isinstance(index, pandas.MultiIndex):
        levels = [_index(index.get_level_values(i), rows) for i in range(index.nlevels)]
        return pandas.MultiIndex.from_arrays(levels, names=index.names)
    if isinstance(index, pandas.RangeIndex) and rows is None:
        return pandas.RangeIndex(index.start, index.stop, index.step, name=index.name)
    cells = _pandas_cells(index.array, rows, None)
    return pandas.Index(cells, cells.dtype, copy=False, name=index.name)


def pandas_frame(columns: list[Any], names: Any, index: Any) -> Any:
    """A DataFrame of arrays; the index of the columns loses its own name."""
    pandas = sys.modules["pandas"]
    series = {place: pandas.Series(cells, index, cells.dtype, copy=False) for place, cells in enumerate(columns)}
    frame = pandas.DataFrame(series, index, copy=False)
    frame.columns = names.set_names([None] * names.nlevels)
    return frame


# ---- polars


def _of_polars(series: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
    polars = sys.modules["polars"]
    if rows is None and blank is None and series.dtype == polars.String:
        return _polars_cells(series)
    index = polars.Series(_every(rows, len(series)).astype(np.uint32 if len(series) < 2**32 else np.uint64))
    if blank is not None:
        index = index.zip_with(polars.Series(~blank), polars.Series([None], dtype=index.dtype))
    if series.dtype == polars.Object:
        cells = np.array([*series.to_list(), None], object)
        objects = own_objects(cells[index.fill_null(len(series)).to_numpy()])
        return polars.Series(series.name, objects.tolist(), dtype=polars.Object)
    return _polars_cells(series.gather(index))


def _polars_cells(series: Any) -> Any:
    """The same cells: columns that `gather` leaves pointing into the original are rebuilt."""
    polars, dtype, name = sys.modules["polars"], series.dtype, series.name
    if dtype == polars.String:  # the only one of its ways that copies every string
        return polars.select(polars.concat_str([series, polars.lit("")]).alias(name)).to_series()
    if dtype == polars.Binary:
        return series.bin.encode("hex").str.decode("hex")
    if isinstance(dtype, polars.Enum):
        used = set(series.unique().drop_nulls().to_list())
        kind = polars.Enum([category for category in dtype.categories.to_list() if category in used])
        return _polars_cells(series.cast(polars.String)).cast(kind)
    if isinstance(dtype, polars.Categorical):
        return _polars_cells(series.cast(polars.String)).cast(dtype)
    if isinstance(dtype, polars.Struct) and dtype.fields:
        there = series.is_not_null()
        index = polars.select(polars.when(there).then(polars.int_range(len(series)))).to_series()
        parts = {part.name: _polars_cells(part.alias("").gather(index)) for part in series.struct.unnest()}
        structs = polars.DataFrame(parts).to_struct(name)
        return structs if there.all() else polars.select(polars.when(there).then(structs).alias(name)).to_series()
    if isinstance(dtype, polars.Array):
        return _polars_cells(series.arr.to_list()).list.to_array(dtype.size)
    return _polars_lists(series) if isinstance(dtype, polars.List) else series


def _polars_lists(series: Any) -> Any:
    polars = sys.modules["polars"]
    lengths = series.list.len()
    full = (lengths > 0).fill_null(False)
    some = series.filter(full)
    inner = _polars_cells(some.explode() if len(some) else polars.Series([], dtype=series.dtype.inner))
    owner = polars.Series(np.repeat(np.arange(len(some)), lengths.filter(full).to_numpy()))
    lists = polars.DataFrame({"owner": owner, "cells": inner}).group_by("owner", maintain_order=True).agg("cells")
    empty = polars.Series([[]], dtype=polars.List(inner.dtype))
    place = np.where(full.to_numpy(), np.cumsum(full.to_numpy()) - 1, len(some))
    index = polars.select(polars.when(lengths.is_not_null()).then(polars.Series(place))).to_series()
    return lists["cells"].append(empty).gather(index).rename(series.name)


# ---- pyarrow


def _of_arrow(column: Any, rows: np.ndarray | None, blank: np.ndarray | None) -> Any:
    pyarrow = sys.modules["pyarrow"]
    index = pyarrow.array(_every(rows, len(column)), mask=blank)
    if not isinstance(column, pyarrow.ChunkedArray):
        return _arrow_cells(column, index)
    wide = {pyarrow.string(): pyarrow.large_string(), pyarrow.binary(): pyarrow.large_binary()}.get(column.type)
    if wide is None or column.nbytes < 2**31:
        coded = column.num_chunks and pyarrow.types.is_dictionary(column.type)
        cells = _arrow_dictionary(column.chunks, index) if coded else _arrow_cells(_join_chunks(column), index)
        return pyarrow.chunked_array([cells], _bare(column.type))
    cells, many = _join_chunks(column.cast(wide)).take(index), -(-column.nbytes // 2**30)  # 32 bits do not count so far
    parts = [cells.slice(at, -(-len(cells) // many)) for at in range(0, len(cells), -(-len(cells) // many))]
    return pyarrow.chunked_array([part.cast(column.type) for part in parts])


def _join_chunks(column: Any) -> Any:
    """One array of a chunked one."""
    pyarrow = sys.modules["pyarrow"]
    if column.num_chunks == 1:
        return column.chunk(0)
    chunks = column.unify_dictionaries().chunks
    return pyarrow.concat_arrays(chunks) if chunks else pyarrow.array([], column.type)


def _arrow_cells(array: Any, index: Any) -> Any:
    """Cells at these places.  `take` copies, and puts zeros below nulls, except where types have parts."""
    pyarrow = sys.modules["pyarrow"]
    types, kind = pyarrow.types, array.type
    if isinstance(array, pyarrow.ExtensionArray):
        return kind.wrap_array(_arrow_cells(array.storage, index))
    if types.is_union(kind):
        raise InputTypeError(f"{describe_dtype(kind)} cannot be published; split it into columns of one type first")
    if types.is_dictionary(kind):
        return _arrow_dictionary([array], index)
    if types.is_struct(kind):
        parts = [_arrow_cells(part, index) for part in array.flatten()]  # nulls of the whole are nulls of its parts
        missing = array.is_null().take(index).fill_null(True)
        return pyarrow.StructArray.from_arrays(parts, fields=list(_bare(kind)), mask=missing)
    if types.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return pc.run_end_encode(_arrow_cells(pc.run_end_decode(array), index), run_end_type=kind.run_end_type)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        wide = pyarrow.large_string() if types.is_string_view(kind) else pyarrow.large_binary()
        return array.cast(wide).take(index).cast(kind)
    if types.is_list_view(kind) or types.is_large_list_view(kind):
        return _arrow_list_view(array, index)
    cells = array.take(index)
    if not types.is_nested(kind):
        return cells
    inner = _arrow_cells(cells.values, pyarrow.array(np.arange(len(cells.values))))
    own = cells.buffers()[: 1 if types.is_fixed_size_list(kind) else 2]
    return pyarrow.Array.from_buffers(_bare(kind), len(cells), own, children=[inner])


def _arrow_list_view(array: Any, index: Any) -> Any:
    pyarrow = sys.modules["pyarrow"]
    missing = array.is_null().take(index).fill_null(True)
    offsets, sizes = (part.take(index).fill_null(0).to_numpy() for part in (array.offsets, array.sizes))
    sizes = np.where(missing.to_numpy(zero_copy_only=False), 0, sizes).astype(offsets.dtype)
    begins = (np.cumsum(sizes) - sizes).astype(offsets.dtype)
    inner = _arrow_cells(array.values, pyarrow.array(np.repeat(offsets - begins, sizes) + np.arange(sizes.sum())))
    view_type = pyarrow.ListViewArray if pyarrow.types.is_list_view(array.type) else pyarrow.LargeListViewArray
    begins, sizes = pyarrow.array(begins), pyarrow.array(sizes)
    return view_type.from_arrays(begins, sizes, inner, type=_bare(array.type), mask=missing)


def _arrow_dictionary(chunks: list[Any], index: Any) -> Any:
    """Concatenate arrays that each have their own dictionary."""
    import pyarrow.compute as pc

    pyarrow, kind = sys.modules["pyarrow"], chunks[0].type
    entries, codes = pyarrow.concat_arrays([chunk.dictionary for chunk in chunks]), [np.array([-1])]
    for chunk, start in zip(chunks, np.cumsum([0, *(len(chunk.dictionary) for chunk in chunks)])[:-1], strict=True):
        own = chunk.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy()
        codes.append(np.where(own < 0, -1, own + start))
    places = np.concatenate(codes)[index.fill_null(-1).to_numpy() + 1]
    if not pyarrow.types.is_nested(entries.type):  # an entry may occur there twice, or be null
        single = entries.dictionary_encode()
        places = np.append(single.indices.fill_null(-1).to_numpy(zero_copy_only=False), -1)[places].astype(np.int64)
        entries = single.dictionary
    numbers, used = _recode(places)
    if not kind.ordered:
        some = entries.take(pyarrow.array(used))
        try:
            order = pc.sort_indices(some).to_numpy()
        except pyarrow.ArrowNotImplementedError:
            order = _by_print(some.to_pylist())
        numbers, used = _reorder(numbers, order), used[order]
    missing = numbers < 0
    indices = pyarrow.array(np.where(missing, 0, numbers), mask=missing).cast(kind.index_type)
    return pyarrow.DictionaryArray.from_arrays(
        indices, _arrow_cells(entries, pyarrow.array(used)), ordered=kind.ordered
    )


def _bare(kind: Any) -> Any:
    """The type without the metadata of its fields."""
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types
    if types.is_struct(kind):
        return pyarrow.struct([bare_field(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        return pyarrow.map_(bare_field(kind.key_field), bare_field(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(bare_field(kind.value_field), kind.list_size)
    if types.is_dictionary(kind):
        return pyarrow.dictionary(kind.index_type, _bare(kind.value_type), kind.ordered)
    makers = {"is_list": "list_", "is_large_list": "large_list", "is_list_view": "list_view"}
    makers |= {"is_large_list_view": "large_list_view"}
    for name, of in makers.items():
        if getattr(types, name)(kind):
            return getattr(pyarrow, of)(bare_field(kind.value_field))
    return kind


def bare_field(field: Any) -> Any:
    """Name, type and nullability of a field of pyarrow: all but its metadata."""
    return sys.modules["pyarrow"].field(field.name, _bare(field.type), field.nullable)


def arrow_table(schema: Any, columns: list[Any]) -> Any:
    """A Table of fresh columns with the names and nullability of a schema, and no metadata."""
    pyarrow = sys.modules["pyarrow"]
    fields = [bare_field(field) for field in schema]
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


_BUILDERS = {"pandas": _of_pandas, "polars": _of_polars, "pyarrow": _of_arrow}
