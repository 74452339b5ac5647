"""What a column of Arrow holds, hashed: equal cells have equal hashes, however they are stored in memory."""

from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError

TEXTS = {"string", "large_string", "string_view", "binary", "large_binary", "binary_view"}


def update_hash(hashed: Any, column: Any) -> None:
    """Add the cells of an array, or of a chunked one as a whole, to a hash: type, validity, values of present cells.

    Examples
    --------
    >>> import hashlib
    >>> import pyarrow as pa
    >>> from mag._lib.content import update_hash
    >>> first, second = hashlib.sha256(), hashlib.sha256()
    >>> update_hash(first, pa.array(["a", None, "b"]))
    >>> update_hash(second, pa.chunked_array([["a"], [None, "b"]]))
    >>> first.digest() == second.digest()
    True
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        coded = pa.types.is_dictionary(column.type)  # Arrow unifies dictionaries of half floats wrongly
        chunks = [chunk.dictionary_decode() for chunk in column.chunks] if coded else column.unify_dictionaries().chunks
        column = pa.concat_arrays(chunks) if chunks else pa.array([], column.type.value_type if coded else column.type)
    elif pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    _feed(hashed, column)


def _feed(hashed: Any, array: Any) -> None:
    import pyarrow as pa
    import pyarrow.compute

    types, kind = pa.types, array.type
    hashed.update(f"{kind} {len(array)} {array.null_count};".encode())
    if isinstance(kind, pa.BaseExtensionType):
        return _feed(hashed, array.storage)
    if types.is_null(kind):
        return None
    if types.is_union(kind):
        raise InputTypeError(
            f"columns of the data set must not hold unions; got {describe_dtype(kind)}, which Parquet cannot store."
        )
    if types.is_map(kind):
        array = array.cast(pa.list_(kind.field(0)))
    elif str(kind) in TEXTS:
        array = array.cast(pa.large_binary())
    if array.null_count:  # the bytes below a missing cell have no meaning
        hashed.update(np.packbits(array.is_valid().to_numpy(zero_copy_only=False)))
        array = array.drop_null()
    if types.is_dictionary(kind):
        _feed(hashed, array.dictionary_decode())
    elif types.is_run_end_encoded(kind):
        _feed(hashed, pa.compute.run_end_decode(array))
    elif types.is_struct(kind):
        for inner in array.flatten():
            _feed(hashed, inner)
    elif types.is_nested(kind):  # lists of all kinds, and maps
        if not types.is_fixed_size_list(kind):
            _bytes(hashed, pa.compute.list_value_length(array))
        _feed(hashed, array.flatten())
    elif types.is_boolean(kind):
        hashed.update(np.packbits(array.to_numpy(zero_copy_only=False)))
    elif str(kind) in TEXTS:
        _bytes(hashed, pa.compute.binary_length(array))
        _, offsets, data = array.buffers()
        if len(array) and data is not None:
            first, last = np.frombuffer(offsets, np.int64)[[array.offset, array.offset + len(array)]]
            hashed.update(memoryview(data)[first:last])
    else:  # numbers, moments, decimals, bytes of one length
        _bytes(hashed, array)
    return None


def _bytes(hashed: Any, array: Any) -> None:
    """The values of an array of one width, none missing."""
    width = array.type.bit_width // 8
    data = array.buffers()[1]
    if data is not None:
        hashed.update(memoryview(data)[array.offset * width : (array.offset + len(array)) * width])
