"""Records as 128 bits: equal records have equal hashes, others differ but for one chance in 2**128 per pair.

As in `mag.verify`, −0.0 is not 0.0, and missing is a value: NaN, None and pandas.NA are the same.
"""

from typing import Any

import numpy as np

MISSING = np.uint64(0x6D697373696E6721)
KEYS = ("mag: first hash.", "mag: second hash")
ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F))
MIX = (
    (np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)),  # Appleby 2011, MurmurHash3
    (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)),  # Steele, Lea & Flood 2014, SplitMix64
)


def mixed(words: np.ndarray, which: int = 0) -> np.ndarray:
    """Words of which every bit depends on every bit."""
    first, second = MIX[which]
    words = (words ^ (words >> np.uint64(33 - 3 * which))) * first
    words = (words ^ (words >> np.uint64(33 - 6 * which))) * second
    return words ^ (words >> np.uint64(33 - 2 * which))


def records(columns: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Two hashes of each record, from two words of each of its cells."""
    hashes = [np.zeros(columns[0][0].size, np.uint64) for _ in KEYS]
    for words in columns:
        for which in (0, 1):
            hashes[which] = mixed(hashes[which] * ODD[1] + words[which] + ODD[0], which)
    return hashes[0], hashes[1]


def cells(column: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two words for each cell of a NumPy array or a pandas series; numbers and dates have their bits twice."""
    missing = None
    if not isinstance(column, np.ndarray):
        missing = np.asarray(column.isna(), bool)
        plain = getattr(column.dtype, "numpy_dtype", column.dtype)
        if not isinstance(plain, np.dtype) or plain.kind not in "biufmM":
            return _texts(column, missing)
        if column.dtype is plain:
            column = column.to_numpy()
        else:
            column = column.to_numpy(dtype=plain, na_value=np.zeros(1, plain)[0])
    words = _bits(column)
    if missing is not None and missing.any():
        words = np.where(missing, MISSING, words)
    return words, words


def _bits(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f":
        values = values.astype(np.float64)
        return np.where(np.isnan(values), MISSING, values.view(np.uint64))
    if values.dtype.kind in "mM":
        return np.where(np.isnat(values), MISSING, values.view(np.int64).view(np.uint64))
    if values.dtype.kind in "biu":
        return values.astype(np.uint64 if values.dtype.kind == "u" else np.int64).view(np.uint64)
    raise TypeError(f"X must hold numbers or dates; got dtype {values.dtype.name}.")


def _texts(column: Any, missing: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    import pandas as pd

    filled = column.astype(object).mask(missing, "")
    kinds = {type(value) for value in filled.tolist()}
    if kinds - {str}:  # 1 and "1" are not the same
        filled = filled.map(lambda value: f"{type(value).__name__} {value!r}")
    texts = filled.to_numpy(dtype=object)
    first, second = (np.where(missing, MISSING, pd.util.hash_array(texts, hash_key=key)) for key in KEYS)
    return first, second
