"""The role of every column, checked in one place for tables, files and Dask."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mag._lib.errors import InputValueError
from mag._lib.nearest import ask_nearest

MAX_LISTED_COLUMNS = 20
MAX_NAMES_IN_SENTENCE = 12  # of a sentence about all columns
MAX_CHARACTERS_OF_NAMES = 160  # of all of these names
MIN_NAMES_IN_SENTENCE = 3


@dataclass(frozen=True)
class Sentences:
    """Default error messages for role assignment; callers may override them."""

    unknown: str = "{role} must name columns of {table}; got {few}, which it does not have{near}"
    repeated: str = "{role} must name every column once; got {names} more than once."
    empty: str = "{role} must name at least one column of {table}; got none."
    shared: str = "a column must be in one of {roles}; {name} is in {role} and {other}."
    unassigned: str = (
        "every column must be in columns, by, keep or drop; {names} in none: list them in keep= (published as they "
        "are, not covered by the guarantee) or in drop= (not published), or all of them by rest='keep' or rest='drop'."
    )


SENTENCES = Sentences()


def list_names(names: Sequence[Hashable]) -> str:
    """Names with commas between them: the first few, and how many more there are.

    Examples
    --------
    >>> from mag._lib.roles import list_names
    >>> list_names(["age", "income"]), list_names(range(20))
    ('age, income', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more')
    """
    shown = list(map(str, names[:MAX_NAMES_IN_SENTENCE]))
    while len(shown) > MIN_NAMES_IN_SENTENCE and len(", ".join(shown)) > MAX_CHARACTERS_OF_NAMES:
        shown.pop()
    rest = len(names) - len(shown)
    return f"{', '.join(shown)} and {rest} more" if rest > 0 else ", ".join(shown)


def repeated_names(names: Iterable[Hashable]) -> list[Hashable]:
    """The names that are there more than once, in their order."""
    return [name for name, count in Counter(names).items() if count > 1]


def is_name(name: Any, known: Collection[Hashable]) -> bool:
    """Whether `name` is a column name; unhashable values and columns themselves never are."""
    try:
        return hash(name) is not None and name in known
    except (TypeError, ValueError):  # a column has no truth value
        return False


def names_of(names: Any, known: Collection[Hashable]) -> list[Hashable]:
    """The names as a list, also for a single name or None; a tuple that is a name is one name."""
    if names is None:
        return []
    single = isinstance(names, (str, bytes)) or not hasattr(names, "__iter__") or is_name(names, known)
    return [names] if single else list(names)


def name_of_one(role: str, name: Any, known: Collection[Hashable], table: str = "the table") -> Hashable:
    """The name of the one column of a role; others, such as the cells of a column, are not quoted."""
    if len(listed := names_of(name, known)) != 1:
        raise InputValueError(f"{role} must name one column of {table}; got {len(listed)}.")
    return listed[0]


def assign_roles(
    requested: Mapping[str, Any],
    known: Sequence[Hashable],
    table: str = "the table",
    say: Sentences = SENTENCES,
    rest: str | None = None,
) -> dict[str, list[Hashable]]:
    """The columns of every role, each a name or a list of names; every known column has exactly one role.

    The first role must not be empty.  Columns that no role names get the role `rest`, or are rejected.
    """
    there = frozenset(known)
    roles = {role: _names(role, names, known, there, table, say) for role, names in requested.items()}
    first, *others = roles
    if not roles[first]:
        raise InputValueError(say.empty.format(role=first, table=table))
    role_of: dict[Hashable, str] = {}
    for role, names in roles.items():
        for name in names:
            if name in role_of:
                before = role_of[name]
                both = ", ".join(repr(other) for other in roles[before] if other in names)
                listed = f"{', '.join([first, *others[:-1]])} and {others[-1]}"
                sentence = say.shared.format(name=repr(name), names=both, role=before, other=role, roles=listed)
                raise InputValueError(sentence)
            role_of[name] = role
    unassigned = [name for name in known if name not in role_of]
    if rest is not None:
        roles[rest] += unassigned
    elif unassigned:
        raise InputValueError(say.unassigned.format(names=", ".join(map(repr, unassigned)), table=table))
    return roles


def offer_columns(name: Hashable, known: Sequence[Hashable]) -> str:
    """The end of a sentence about a column that is not there: the nearest names, or the first columns."""
    listed = ", ".join(map(repr, known[:MAX_LISTED_COLUMNS])) + (", …" if len(known) > MAX_LISTED_COLUMNS else "")
    return ask_nearest(name, known) or f"; its columns are {listed}."


def _names(
    role: str, names: Any, known: Sequence[Hashable], there: Collection[Hashable], table: str, say: Sentences
) -> list[Hashable]:
    listed = names_of(names, there)
    unknown = [name for name in listed if not is_name(name, there)]
    if unknown:
        every = ", ".join(map(repr, unknown))
        few, near = ", ".join(map(repr, unknown[:5])), offer_columns(unknown[0], known)
        raise InputValueError(say.unknown.format(role=role, few=few, names=every, table=table, near=near))
    repeated = sorted(map(repr, repeated_names(listed)))
    if repeated:
        raise InputValueError(say.repeated.format(role=role, name=repeated[0], names=", ".join(repeated), table=table))
    return listed
