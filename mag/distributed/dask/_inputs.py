"""Allowed inputs: dask arrays with chunks of known sizes."""

import dask.array as da
import numpy as np

from mag._lib.errors import InputTypeError, InputValueError


def real_chunks(option: str, x: da.Array, dimensions: int) -> None:
    """Real numbers in chunks of known sizes, at least one."""
    if x.ndim != dimensions:
        shape = "one dimension" if dimensions == 1 else "two dimensions, rows and columns"
        raise InputValueError(f"{option} must have {shape}; got an array of shape {x.shape}.")
    if x.dtype.kind not in "biuf" or x.dtype.itemsize > 8:
        raise InputTypeError(f"{option} must hold real numbers up to float64; got dtype {x.dtype.name}.")
    if np.isnan(x.size):
        raise InputValueError(f"{option} must have chunks of known sizes; call {option}.compute_chunk_sizes() first.")
    if x.size == 0:
        raise InputValueError(f"{option} must hold at least one value; got an array of shape {x.shape}.")
