"""Where a warning is shown: at the line of the user's code that called mag."""

import sys


def level_of_caller() -> int:
    """The `stacklevel` of a warning of the calling function, for the nearest frame outside of mag."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "mag":
        level, frame = level + 1, frame.f_back
    return level
