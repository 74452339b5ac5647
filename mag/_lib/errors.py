"""Errors: a promise that does not hold, invalid input of the caller, or else a defect of mag.

Every error that the library raises about an argument or an input is an `InputError`, and of the builtin class that
callers expect; any other error is a defect.  The command's exit codes rest on that.
"""

ISSUES = "https://github.com/mag-sdc/mag/issues"
REPORT = f"please report this at {ISSUES}."  # the end of every sentence about a defect


class NotAnonymousError(RuntimeError):
    """A class of equal records has fewer than k members; nothing is published."""

    __module__ = "mag"


class InputError(Exception):
    """An error that the caller can fix: an argument, a table or a file."""

    __module__ = "mag"


class InputValueError(InputError, ValueError):
    """An argument or an input has a value that is not allowed."""

    __module__ = "mag"


class InputTypeError(InputError, TypeError):
    """An argument or an input has a type that is not allowed."""

    __module__ = "mag"


class InputRuntimeError(InputError, RuntimeError):
    """A call that cannot be completed, for a reason that becomes known only while it runs."""

    __module__ = "mag"


class CacheWarning(UserWarning):
    """Compiled code could not be kept on disk: every process compiles it again."""

    __module__ = "mag"


class UnitsWarning(UserWarning):
    """A column looks like the names of people or households of several records, and k counts records."""

    __module__ = "mag"


class CodesWarning(UserWarning):
    """A column of numbers holds values that look like codes, which masking would average."""

    __module__ = "mag"


class LinkedColumnsWarning(UserWarning):
    """A column that is published unchanged nearly gives a masked one."""

    __module__ = "mag"


def group_below(k: int) -> NotAnonymousError:
    """The error if a count of labels shows that a method or a kernel has failed."""
    return NotAnonymousError(f"A group of fewer than k={k} records was found and withheld; {REPORT}")
