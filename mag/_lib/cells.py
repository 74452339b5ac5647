"""Stored cells as integers that are equal if the stored values are equal: for recounts, never for grouping.

Values are hashed and numbered, never codes: a dictionary is its entries, run ends are the cells that they repeat, an
extension type is its storage, floats and decimals are their bits.  So a cell has the same words in every block of a
column, however the block stores it.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputTypeError
from mag._lib.rowhash import add_cells, classes, new_hashes

DIGEST_BYTES = 16  # bytes of the hash of a text or a list


class IncomparableError(InputTypeError):
    """Cells that cannot be compared exactly."""


def words_of_arrow(column: Any) -> list[np.ndarray]:
    """Cells of pyarrow as words of 64 bits that are equal in every block of a column: texts and lists by a hash."""
    return _joined(column, blocks=True)


def hash_rows(table: Any, names: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """The two words of every row of a block of pyarrow, by these columns."""
    hashes = new_hashes(table.num_rows)
    for name in names:
        for word in words_of_arrow(table.column(name)):
            add_cells(hashes, word)
    return hashes


def numbers_of_arrow(column: Any) -> list[np.ndarray]:
    """Cells of pyarrow as integers that are equal within this column: texts and lists by numbers, which is faster."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray) and column.num_chunks > 1:
        if _holds_codes(column.type):  # each chunk has codes of its own; Arrow unifies them wrongly for half floats
            return words_of_arrow(column)
        column = pa.concat_arrays(column.chunks)
    return _joined(column, blocks=False)


def _holds_codes(kind: Any) -> bool:
    """Whether a type of Arrow has a dictionary or run ends in it."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType):
        return _holds_codes(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return True
    return any(_holds_codes(kind.field(place).type) for place in range(kind.num_fields))


def _joined(column: Any, blocks: bool) -> list[np.ndarray]:
    import pyarrow as pa

    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    read = [_read(chunk, blocks) for chunk in chunks or [pa.array([], column.type)]]
    return read[0] if len(read) == 1 else [np.concatenate(parts) for parts in zip(*read, strict=True)]


def _read(array: Any, blocks: bool) -> list[np.ndarray]:
    """The words of one array; with `blocks` as many of 64 bits for every array of the type, the last the nulls."""
    tokens, null = _tokens(array, blocks)
    if blocks:
        tokens = [token if token.dtype == np.uint64 else token.astype(np.uint64) for token in tokens]
        return [*_emptied(tokens, null), null.astype(np.uint64)]
    return with_nulls(tokens, null)


def _tokens(array: Any, blocks: bool) -> tuple[list[np.ndarray], np.ndarray]:
    """The words of the values of an array, and the mask of null cells."""
    import pyarrow as pa
    import pyarrow.compute as pc

    types, kind = pa.types, array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _tokens(array.storage, blocks)
    if types.is_run_end_encoded(kind):
        lengths = np.diff(array.run_ends.to_numpy(zero_copy_only=False), prepend=0)
        places = np.repeat(np.arange(lengths.size), lengths)[array.offset : array.offset + len(array)]
        return _taken(array.values, places, np.zeros(len(array), bool), blocks)
    null = _nulls(array)
    if types.is_null(kind):
        return [null.astype(np.uint8)], null
    if types.is_dictionary(kind):
        places = array.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return _taken(array.dictionary, places, null, blocks)
    if types.is_union(kind):
        raise IncomparableError(describe_dtype(kind))
    if types.is_struct(kind):
        fields = [token for place in range(kind.num_fields) for token in _read(pc.struct_field(array, place), blocks)]
        return fields, null
    if types.is_map(kind):
        array = array.cast(pa.list_(kind.field(0)))
    if types.is_nested(kind):  # lists of all kinds, and maps
        lengths = np.where(null, -1, pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False))
        return sequences(_read(array.flatten(), blocks), lengths.astype(np.int64), blocks), null
    if types.is_boolean(kind):
        return [array.cast(pa.uint8()).fill_null(0).to_numpy(zero_copy_only=False)], null
    if types.is_primitive(kind) or types.is_decimal(kind):
        size = kind.bit_width // 8
        stored = np.frombuffer(array.buffers()[1], f"V{size}" if size > 8 else f"u{size}", len(array) + array.offset)
        return words_of_numbers(stored[array.offset :]), null
    if not types.is_fixed_size_binary(kind):
        array = array.cast(pa.large_binary())
    return _texts(array, blocks), null


def _nulls(array: Any) -> np.ndarray:
    return array.is_null().to_numpy(zero_copy_only=False) if array.null_count else np.zeros(len(array), bool)


def _taken(entries: Any, places: np.ndarray, null: np.ndarray, blocks: bool) -> tuple[list[np.ndarray], np.ndarray]:
    """Cells that are some of these entries."""
    tokens, absent = _tokens(entries, blocks)
    if not absent.size:  # all cells are null
        return [np.zeros(places.size, token.dtype) for token in tokens], null
    return [token[places] for token in tokens], null | absent[places]


def _texts(array: Any, blocks: bool) -> list[np.ndarray]:
    encoded = array.dictionary_encode(null_encoding="encode")
    places = encoded.indices.to_numpy(zero_copy_only=False)
    if not blocks:
        return [places]
    words = _hashed(text or b"" for text in encoded.dictionary.to_pylist())
    return [words[:, 0][places], words[:, 1][places]]


def _hashed(texts: Any) -> np.ndarray:
    joined = b"".join(hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest() for text in texts)
    return np.frombuffer(joined, "<u8").reshape(-1, DIGEST_BYTES // 8)


def sequences(inner: list[np.ndarray], lengths: np.ndarray, blocks: bool = False) -> list[np.ndarray]:
    """Lists of cells that follow each other in `inner`; one of length -1 is null."""
    rows = np.stack(inner, axis=1) if blocks else classes(inner)
    cells, width = rows.tobytes(), rows.itemsize * (rows.shape[1] if blocks else 1)
    ends = width * np.cumsum(np.maximum(lengths, 0))
    begins = ends - width * np.maximum(lengths, 0)
    if blocks:
        words = _hashed(cells[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True))
        return [words[:, 0], words[:, 1]]
    numbers: dict[Any, int] = {}
    spans = zip(begins.tolist(), ends.tolist(), (lengths < 0).tolist(), strict=True)
    return [np.array([numbers.setdefault(null or cells[a:b], len(numbers)) for a, b, null in spans], np.int64)]


def words_of_numbers(array: np.ndarray) -> list[np.ndarray]:
    """The bits of every number, in words of 64 where they are more."""
    size, array = array.dtype.itemsize, np.ascontiguousarray(array)
    if size <= 8:
        return [array.view(f"u{size}")]
    return list(np.ascontiguousarray(array.view(np.uint64).reshape(array.size, size // 8).T))


def with_nulls(tokens: list[np.ndarray], null: Any) -> list[np.ndarray]:
    """The hash ignores the bytes below a null, and includes the null itself."""
    null = np.asarray(null, bool)
    return [*_emptied(tokens, null), null.astype(np.uint8)] if null.any() or not tokens else tokens


def _emptied(tokens: list[np.ndarray], null: np.ndarray) -> list[np.ndarray]:
    return [np.where(null, token.dtype.type(0), token) for token in tokens] if null.any() else tokens
