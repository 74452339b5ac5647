"""Arrays in and out.  For now whatever NumPy can view comes in, and NumPy arrays go out."""

from typing import Any

import numpy as np


def view(option: str, x: Any) -> np.ndarray:
    """The data as a NumPy array, without a copy where NumPy needs none."""
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(
            f"{option} must not be a masked array; use {option}.compressed() or {option}.filled(...) first."
        )
    try:
        return np.asarray(x)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{option} must be an array of numbers; NumPy cannot read the {type(x).__name__} given."
        ) from error
