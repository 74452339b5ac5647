"""Options as messages name them: as keywords of Python or, while a command runs, as its options."""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

Spelling = Callable[[str, tuple[Any, ...]], str | None]
_spelling: ContextVar[Spelling | None] = ContextVar("spelling", default=None)


def named(option: str, *values: Any) -> str:
    """An option, and one of several values of it, in the words of the caller.

    Examples
    --------
    >>> from mag._lib.wording import named
    >>> named("time_limit"), named("overwrite", True), named("missing", "drop", "group")
    ('time_limit', 'overwrite=True', "missing='drop' or 'group'")
    """
    spell = _spelling.get()
    spelled = None if spell is None else spell(option, values)
    if spelled is not None:
        return spelled
    return f"{option}={' or '.join(map(repr, values))}" if values else option


@contextlib.contextmanager
def spelling(spell: Spelling) -> Iterator[None]:
    """Name options as this function does, which returns None for those that it does not know."""
    token = _spelling.set(spell)
    try:
        yield
    finally:
        _spelling.reset(token)
