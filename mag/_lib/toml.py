"""TOML as text; the standard library only reads it."""

import json
import re
from collections.abc import Mapping
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def write_value(value: Any) -> str:
    """A text, number, boolean, list or dictionary on one line.

    Examples
    --------
    >>> from mag._lib.toml import write_value
    >>> print(write_value({"role": "mask", "rounded to": [1, 2.5, True]}))
    {role = "mask", "rounded to" = [1, 2.5, true]}
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{write_key(key)} = {write_value(one)}" for key, one in value.items()) + "}"
    return "[" + ", ".join(map(write_value, value)) + "]"


def write_key(key: str) -> str:
    """A key, in quotes where it needs them."""
    return key if BARE_KEY.fullmatch(key) else write_value(key)
