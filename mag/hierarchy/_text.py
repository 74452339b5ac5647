"""Values as the text that hierarchies and published categories hold."""

import datetime
from typing import Any

from mag._lib.errors import InputValueError


def text_of(value: Any) -> str:
    """A value as files write it: 39 and 39.0 as "39", midnight as the day alone."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime.datetime):
        moment = value.isoformat()
        return moment.removesuffix("T00:00:00")
    if isinstance(value, datetime.date):
        return value.isoformat()
    try:
        return str(value)
    except ValueError:  # Python prints no more digits
        raise InputValueError("categories must be integers of at most 4300 digits; got a longer one.") from None
