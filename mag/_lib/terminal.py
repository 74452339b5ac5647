"""Text for a terminal: nothing in the name of a column or of a file moves the cursor, recolors or reorders a line."""

import sys


def in_notebook() -> bool:
    """Whether this runs in a Jupyter kernel, and not in IPython in a terminal."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def printable(text: object) -> str:
    r"""The text in one line, with control characters, marks of direction and lone surrogates as escapes.

    Examples
    --------
    >>> from mag._lib.terminal import printable
    >>> print(printable("age\x1b[31m\u202e\n"))
    age\x1b[31m\u202e\n
    """
    text = str(text)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
