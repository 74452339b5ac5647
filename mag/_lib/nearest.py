"""Names that a misspelled one may mean."""

import difflib
from collections.abc import Hashable, Iterable

MAX_NAMES = 3  # that are offered
MIN_RATIO = 0.6  # of letters in common, as `difflib` counts them


def ask_nearest(name: Hashable, known: Iterable[Hashable], quote: bool = True) -> str:
    """The question ", did you mean 'income'?", or "" where no known name is near; case does not matter."""
    if not isinstance(name, str):
        return ""
    spelled: dict[str, str] = {}
    for one in known:
        if isinstance(one, str):
            spelled.setdefault(one.casefold(), one)
    near = difflib.get_close_matches(name.casefold(), list(spelled), MAX_NAMES, MIN_RATIO)
    if not near:
        return ""
    *others, last = [repr(spelled[one]) if quote else spelled[one] for one in near]
    return f", did you mean {', '.join(others)} or {last}?" if others else f", did you mean {last}?"
