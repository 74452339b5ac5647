"""Errors of the libraries that hold a caller's cells, as sentences of ours: theirs may quote cells."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mag._lib.errors import InputError, InputTypeError

FOREIGN_MODULES = (
    "pandas",
    "polars",
    "pyarrow",
    "pyo3_runtime",
)  # the last is polars' too: a panic, which is not an Exception


@contextmanager
def refused_as(sentence: Callable[[], str]) -> Iterator[None]:
    """Raise an `InputTypeError` with this sentence if a library cannot process its cells."""
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        if not is_foreign(error):
            raise
        raise InputTypeError(sentence()) from None


def is_foreign(error: BaseException) -> bool:
    """Whether an error is of a library, about cells or types that it cannot handle."""
    raised = type(error).__module__.partition(".")[0]
    return raised in FOREIGN_MODULES or isinstance(error, (NotImplementedError, OverflowError))
