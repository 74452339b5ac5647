"""Values in the types of JSON."""

from typing import Any


def to_json_types(value: Any) -> Any:
    """Convert to dictionaries, lists, numbers, texts and None; NaN and infinity, which JSON does not have, become None.

    Examples
    --------
    >>> from mag._lib.json_types import to_json_types
    >>> to_json_types({2: (float("inf"), "a")})
    {'2': [None, 'a']}
    """
    if isinstance(value, dict):
        return {str(name): to_json_types(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json_types(entry) for entry in value]
    if isinstance(value, float):
        return value if value - value == 0 else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    import numpy as np  # here, since commands that print texts only do without

    return to_json_types(value.item()) if isinstance(value, np.generic) else repr(type(value).__name__)
