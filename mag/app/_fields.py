"""Fields of forms, made from the one list of options of tables; the words of a field as a plan has them."""

import csv
import pathlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mag._lib.errors import InputValueError
from mag._lib.toml import write_value
from mag.api.names import COST_NAMES, FAMILIES
from mag.api.table_options import COLUMNS_PANEL, DEFAULTS, MASK, OPTIONS, Flag
from mag.tables.plan import OPTIONS_BY_COLUMN, ROLES

Groups = Sequence[tuple[str, Sequence[str]]]  # of choices, with the heading of each; the first may have none
OPTIONS_ELSEWHERE = (
    *ROLES.values(),
    "rest",
    "memory",
    "threads",
    "weights",
    "order",
    "hierarchies",
)  # of other forms, or runs
ALSO_OF_TABLE = ("round",)  # options by column that may also be set for all
LIST_OPTIONS = ("order", "special", "sums", "household_columns")  # a, b, c
OF_COMMANDS = re.compile(r" Repeatable\.| For one column: NAME=HOW, repeat\w+\.|; see the list below|, or NAME=\w+")
OF_COLUMNS = re.compile(r"; \w+\+\w+=\d+ counts combined values|\b\w+=(?=\w)")  # the field is the column's own
GROUNDS = ("auto", "equal", "ordered")  # of closeness; anything else is the file of a hierarchy
SWITCH: Groups = [("", ("no", "yes"))]
CHOICES: dict[str, Groups] = {
    "cost": [("", COST_NAMES)],
    "method": [("", ["auto"]), *FAMILIES.items()],
    "standardize": [("", ["yes", "no", "range"])],
}


@dataclass(frozen=True)
class FormField:
    """One field of a form: `words` are the names that sentences have for it, `problem` is such a sentence.

    `panel` is its heading, or the place of its column.
    """

    name: str
    label: str
    help: str
    words: Sequence[str]
    value: str = ""
    choices: Groups = ()
    kind: str = "line"  # or "lines", "file"
    panel: str = ""
    problem: str = ""


def field_of(option: str, value: Any, place: str = "") -> FormField:
    """The field of an option of tables, as `mag mask` describes it."""
    about, flag = OPTIONS[option], flag_of(option)
    own = flag.names[0].partition("/")[0].strip("-") if flag.names else option
    words = flag.words or about.choices
    described = OF_COMMANDS.sub("", OF_COLUMNS.sub("", flag.help) if place else flag.help)
    choices = CHOICES.get(option) or (SWITCH if isinstance(DEFAULTS[option], bool) else [("", words)] if words else [])
    if choices and write_word(DEFAULTS[option]) not in [name for _, names in choices for name in names]:
        choices = [("", [""]), *choices]
    return FormField(
        name=f"{place}-{option}" if place else option,
        label=own.replace("_", " ").replace("-", " "),
        help=described.replace("{words}", ", ".join(name for _, names in choices for name in names if name)),
        words=(f"--{own.replace('_', '-')}", option),
        value=write_word(value if value is not None else DEFAULTS[option]),
        choices=choices,
        panel=place or flag.panel,
    )


def flag_of(option: str) -> Flag:
    """The option on the command line of `mag mask`."""
    flag = OPTIONS[option].flag_of(MASK)
    assert flag is not None
    return flag


def options_of_table() -> list[str]:
    """The options that hold for the whole table."""
    every = [name for name, about in OPTIONS.items() if about.flag_of(MASK) and name not in OPTIONS_ELSEWHERE]
    return [name for name in every if name in ALSO_OF_TABLE or name not in OPTIONS_BY_COLUMN]


def options_of_column(role: str) -> list[str]:
    """The options that a column may set for itself: those that groups or criteria depend on."""
    if role not in ("mask", "sensitive"):
        return []
    every = [name for name in OPTIONS_BY_COLUMN if OPTIONS[name].flag_of(MASK) and name != "hierarchies"]
    criteria = [name for name in every if flag_of(name).panel == COLUMNS_PANEL]  # diversity and closeness
    return [*criteria, "order"] if role == "sensitive" else [name for name in every if name not in criteria]


def write_word(value: Any) -> str:
    """A value as a field shows it."""
    if value is None or value == ():
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)) and all(isinstance(one, (str, int, float)) for one in value):
        return ", ".join(f'"{one}"' if "," in str(one) else str(one) for one in value)
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {write_value(one)}' for key, one in value.items())}}}"
    return write_value(value) if isinstance(value, list) else str(value)


def read_word(option: str, word: str) -> Any:
    """The text of a field, in TOML or as on the command line, as a value of a plan; None for nothing or the default."""
    word = word.strip()
    if not word:
        return None
    value: Any = word
    if word[0] in "[{":
        try:
            value = tomllib.loads(f"value = {word}")["value"]
        except tomllib.TOMLDecodeError:
            raise InputValueError(f"{option} must be a list or a table in TOML; it cannot be read.") from None
    elif option in LIST_OPTIONS:
        try:
            [parts] = csv.reader([word], skipinitialspace=True)
        except (csv.Error, ValueError):
            raise InputValueError(f"{option} must be names with commas between them; they cannot be read.") from None
        value = [_number(part) if option == "special" else part for part in parts]
        value = word.split("+") if option == "sums" and len(parts) == 1 else value
    elif option == "sets":
        value = [_read_set(part.strip()) for part in word.split(",")]
    elif option == "diversity" and ("," in word or ":" in word):
        value = [_number(part.strip()) for part in re.split("[:,]", word)]
    elif option == "closeness" and ":" in word:
        t, _, ground = word.partition(":")
        value = {"t": _number(t), "ground" if ground in GROUNDS else "hierarchy": ground}
    elif isinstance(DEFAULTS.get(option), bool) or option == "standardize":
        value = {"yes": True, "no": False}.get(word, word)
    else:
        value = _number(word)
    return None if option in DEFAULTS and value == DEFAULTS[option] else value


def _read_set(word: str) -> Any:
    """Columns, a+b, and their own k, a+b=5."""
    names, equals, k = word.rpartition("=")
    return [names.split("+"), _number(k)] if equals else word.split("+")


def _number(word: str) -> Any:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


def read_path(option: str, word: str) -> pathlib.Path:
    """A path that was typed, from the root; ~ is the user's folder."""
    try:
        if word.strip() and word.isprintable():
            return pathlib.Path(word.strip()).expanduser().absolute()
    except RuntimeError:  # ~ of an unknown user
        pass
    raise InputValueError(f"{option} must be a path on this machine; got {word!r}.")


def place_problem(fields: Iterable[FormField], sentence: str) -> tuple[list[FormField], str]:
    """Put the sentence beside the first field that it names; if it names none, it is for the head of the page."""
    listed = list(fields)
    places = [
        (found.start(), -len(word), place)
        for place, field in enumerate(listed)
        for word in field.words
        if (found := re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", sentence))
    ]
    if not sentence or not places:
        return listed, sentence
    first = min(places)[2]
    listed[first] = replace(listed[first], problem=sentence)
    return listed, ""
