"""`mag.plan`: a role for every column, with its reason, and the options of a release, as a TOML file to edit."""

import os
import pathlib
import re
import tomllib
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import numpy as np

from mag import __version__
from mag._lib import checks
from mag._lib.atomic import check_target, writing
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.nearest import ask_nearest
from mag._lib.number import count_distinct, number_rows
from mag._lib.toml import write_key, write_value
from mag.api.table_options import DEFAULTS, MASK, MICROAGGREGATE, OPTIONS, Options, accepted
from mag.files import Strange
from mag.frames import Frame, frame_of
from mag.hierarchy import Hierarchy
from mag.tables._derived import DERIVED
from mag.tables._manifest import NOT_PUBLISHED
from mag.tables._suggest import PlanRole, suggest
from mag.tables._suggest import suggest_settings as suggest_settings
from mag.tables.criteria import Closeness
from mag.tables.look import ColumnLook, look_at

VERSION = 1  # of the layout of plans
NOT_IN_FILE_NAMES = re.compile(r"[^\w .()+-]")
MAX_NAME = 60  # characters of a column's name in the name of a file
ROLES: dict[str, str] = {role: role for role in get_args(PlanRole)} | {"mask": "columns"}  # as options name them
OPTIONS_BY_COLUMN = [name for name, option in OPTIONS.items() if option.by_column]
NOT_PLANNED = (
    *ROLES.values(),
    "memory",
    "output",
    "overwrite",
    "progress",
    "rest",
    "threads",
)  # of the call, not the table
OF_HOUSEHOLDS = "one value in every household: may be one of household_columns"
LIST_OPTIONS = ("household_columns", "sets")  # options that are lists
PREFACE = """\
# A plan for masking, suggested by mag {version}. Check every role: only you know which columns an intruder may know.
# Roles: {roles}.
# Every other key of a column, and of the table, is an option of mag.microaggregate.
#
#   mag mask IN -o OUT --plan THIS_FILE
"""


@dataclass(frozen=True)
class PlannedColumn:
    """One column of a `mag.Plan`.

    `role` : "mask", "by", "keep", "sensitive", "drop", "unit" or "household"; `reason` : why; `settings` : its
    entries of the options that take one for each column, such as ``{"aggregate": "median"}``.
    """

    name: Hashable
    role: str
    reason: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What to do with every column of a table: a file to edit, and arguments of `mag.microaggregate`.

    Attributes
    ----------
    columns : tuple of PlannedColumn
        For every column: ``name``, ``role``, ``reason`` and ``settings``.
    options : dict
        k and other options of `mag.microaggregate` for the whole table.
    text : dict
        The options with which the command reads text files: ``delimiter``, ``decimal_comma``, ``encoding``, ``null``,
        ``date``.
    """

    columns: tuple[PlannedColumn, ...]
    options: Mapping[str, Any]
    text: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for column in self.columns:
            _check_column(column)

    def __str__(self) -> str:
        """The text of the file."""
        lines = [PREFACE.format(version=__version__, roles=", ".join(ROLES)), f"version = {VERSION}"]
        lines += [f"{write_key(name)} = {_write(name, value)}" for name, value in self.options.items()]
        if self.text:
            lines += ["", "[text]", *(f"{name} = {write_value(value)}" for name, value in self.text.items())]
        lines += ["", "[columns]"]
        for column in self.columns:
            entry = {"role": column.role, **column.settings} | ({"reason": column.reason} if column.reason else {})
            inside = ", ".join(f"{write_key(key)} = {_write(key, value)}" for key, value in entry.items())
            lines.append(f"{write_key(_text_of(column.name))} = {{{inside}}}")
        return "\n".join(lines) + "\n"

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> pathlib.Path:
        """Write the file, and next to it one for every `mag.Hierarchy` that is not a file yet.

        Parameters
        ----------
        path : path
            The TOML file, in a folder that exists.
        overwrite : bool
            Replace files that exist.

        Returns
        -------
        pathlib.Path
            The TOML file.
        """
        path = pathlib.Path(path)
        columns, trees = self._apart(path)
        text = str(replace(self, columns=columns))
        for place in self.files(path):
            check_target(place, (), overwrite)
        for name, tree in trees.items():
            tree.to_arx(path.with_name(name), overwrite=overwrite)
        with writing(path, overwrite=overwrite) as [draft]:
            draft.write_text(text, encoding="utf-8")
        return path

    def files(self, path: str | os.PathLike[str]) -> list[pathlib.Path]:
        """The files that `save` writes: that of the path, and one for every `mag.Hierarchy` that is not a file yet.

        Parameters
        ----------
        path : path
            The TOML file.

        Returns
        -------
        list of pathlib.Path
            The TOML file first.
        """
        path = pathlib.Path(path)
        return [path, *(path.with_name(name) for name in self._apart(path)[1])]

    def _apart(self, path: pathlib.Path) -> tuple[tuple[PlannedColumn, ...], dict[str, Hierarchy]]:
        """The columns with names of files in place of hierarchies, and these by name."""
        columns: list[PlannedColumn] = []
        trees: dict[str, Hierarchy] = {}
        for column in self.columns:
            tree = column.settings.get("hierarchies")
            if isinstance(tree, Hierarchy):
                trees[name := _file_of_tree(path, column.name, trees)] = tree
                column = replace(column, settings={**column.settings, "hierarchies": name})
            columns.append(column)
        return tuple(columns), trees

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Plan":
        """Read a file; hierarchies are looked for in its folder.

        Parameters
        ----------
        path : path
            A TOML file, as `save` writes it.

        Returns
        -------
        Plan
            The plan.
        """
        path = pathlib.Path(path)
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            where = str(error).rpartition("(")[2].rstrip(")") if "(at " in str(error) else "an unknown place"
            raise InputValueError(f"{path.name!r} must be a plan in TOML; it cannot be read {where}.") from None
        if content.pop("version", None) != VERSION:
            raise InputValueError(
                f"{path.name!r} must be a plan with version = {VERSION}; it has another one, or none."
            )
        columns, text = content.pop("columns", {}), content.pop("text", {})
        entries = columns.values() if isinstance(columns, dict) else [columns]
        if not all(isinstance(table, dict) for table in (text, *entries)):
            raise InputTypeError(f"{path.name!r} must have tables [columns] and [text], and a table for each column.")
        return cls(tuple(_read_column(path, name, dict(entry)) for name, entry in columns.items()), content, text)

    def keywords(self) -> dict[str, Any]:
        """The arguments of `mag.microaggregate`, all but the table.

        Returns
        -------
        dict
            By name; options that the plan leaves out are absent.
        """
        keywords: dict[str, Any] = {ROLES[role]: names for role in ROLES if (names := self.names_of(role))}
        for role in ("unit", "household"):
            if role in keywords:
                keywords[role] = _only(role, keywords[role])
        known = {column.name for column in self.columns}
        for option in OPTIONS_BY_COLUMN:
            if entries := self.entries_of(option):
                keywords[option] = {_key(key, known): _as_argument(option, value) for key, value in entries.items()}
        return {name: value for name, value in self.options.items() if name not in keywords} | keywords

    def names_of(self, role: str) -> list[Hashable]:
        """The columns with a role; without those that `follow` and `sums` name."""
        return [column.name for column in self.columns if column.role == role and not _is_derived(column)]

    def entries_of(self, option: str) -> dict[Hashable, Any]:
        """The entries of an option by column: of the columns, and of a table of its own for combined ones."""
        general = self.options.get(option)
        entries = dict(general) if isinstance(general, Mapping) else {}
        return entries | {column.name: column.settings[option] for column in self.columns if option in column.settings}


def plan(table: Any, k: int = 5) -> Plan:
    """Suggest a plan: the role of every column, with the reason, by types, names and shares of unique records.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    k : int
        The smallest group size.

    Returns
    -------
    Plan
        Prints as TOML; ``save`` writes it, ``keywords`` are the arguments of `mag.microaggregate`.

    Notes
    -----
    No model and no network: suggestions follow rules that the reasons name.  Columns that are neither identifiers nor
    constant are masked, so that no column is published by oversight.

    Examples
    --------
    >>> import mag
    >>> people = {"name": ["Ada", "Bob", "Cyd", "Dan"], "age": [31, 52, 30, 55], "party": ["a", "b", "b", "a"]}
    >>> suggested = mag.plan(people, k=2)
    >>> [(column.name, column.role) for column in suggested.columns]
    [('name', 'drop'), ('age', 'mask'), ('party', 'sensitive')]
    >>> mag.microaggregate(people, **suggested.keywords()).data["age"]
    array([31, 54, 31, 54])
    """
    return plan_for(table, {}, k)


def plan_for(table: Any, strange: Mapping[str, Strange], k: int, text: Mapping[str, Any] | None = None) -> Plan:
    """Suggest a plan for a table that was read from a file, in which some cells are `strange` to their columns."""
    frame = frame_of(table)
    checks.integer("k", k, 1, max(frame.n, 1), "n")
    looks = look_at(table, strange, show=False).columns
    columns = [
        PlannedColumn(look.name, role, reason, suggest_settings(look, role))
        for look, (role, reason) in zip(looks, suggest(frame, looks), strict=True)
    ]
    columns = note_household_columns(frame, columns)
    masked = {column.name for column in columns if column.role == "mask"}
    return Plan(tuple(columns), {"k": k} | suggest_options(looks, masked), text or {})


def note_household_columns(frame: Frame, columns: list[PlannedColumn]) -> list[PlannedColumn]:
    """The reasons of masked columns that have one value in every household say so."""
    homes = [_number_cells(frame, column.name) for column in columns if column.role == "household"]
    if not homes:
        return columns
    alike = {
        column.name
        for column in columns
        if column.role == "mask" and (count_distinct(homes[0], _number_cells(frame, column.name)) == 1).all()
    }
    return [
        replace(column, reason=f"{column.reason}; {OF_HOUSEHOLDS}") if column.name in alike else column
        for column in columns
    ]


def _number_cells(frame: Frame, name: Hashable) -> np.ndarray:
    codes = frame.column(name).codes()
    return number_rows([codes - codes.min(initial=0)])


def suggest_options(looks: Iterable[ColumnLook], masked: Collection[Hashable]) -> dict[str, Any]:
    """Options besides k for these `masked` columns: a missing cell does not end the masking."""
    if any(look.missing for look in looks if look.name in masked):
        return {"missing": "group", "small_strata": "suppress"}
    return {}


def plan_of(options: Options, roles: Mapping[str, Iterable[Hashable]], names: Iterable[Hashable]) -> Plan:
    """The plan that a release followed: `roles` are the columns by role."""
    role_of = {name: role for role, option in ROLES.items() for name in roles[option]}
    used = [name for name in accepted(MICROAGGREGATE) if name not in NOT_PLANNED and options.is_used(name)]
    by_column = {name: getattr(options, name) for name in used if isinstance(getattr(options, name), Mapping)}
    entries: dict[Hashable, dict[str, Any]] = {name: {} for name in role_of}
    combined: dict[str, dict[str, Any]] = {}
    for option, setting in by_column.items():
        for key, value in setting.items():
            if key in entries:
                entries[key][option] = _as_entry(option, value)
            else:
                combined.setdefault(option, {})["+".join(map(str, key))] = _as_entry(option, value)
    whole = {name: getattr(options, name) for name in used if name not in by_column}
    return Plan(
        tuple(PlannedColumn(name, role_of[name], "", entries[name]) for name in names),
        {"k": options.k} | whole | combined | options.of_method,
    )


def plan_of_manifest(manifest: Mapping[str, Any]) -> Plan:
    """The plan that a release followed, as far as its manifest holds it: no hierarchies, orders and dropped columns."""
    options, guarantee = manifest["options"], manifest["guarantee"]
    roles = {name: role for role, option in ROLES.items() if role != "drop" for name in _listed(options.get(option))}
    roles |= {name: "mask" for option in DERIVED for name in options.get(option, ())}
    entries: dict[str, dict[str, Any]] = {name: {} for name in roles}
    whole: dict[str, Any] = {"k": options["k"], "rest": "drop"}
    for option in OPTIONS_BY_COLUMN:
        setting = guarantee.get(option) if option in ("diversity", "closeness") else options.get(option)
        for name, value in setting.items() if isinstance(setting, Mapping) else ():
            if isinstance(value, dict) and value["criterion"] == "hierarchical":
                continue  # the manifest does not hold the tree
            if name in entries:
                entries[name][option] = _recorded_entry(option, value)
            else:
                whole.setdefault(option, {})[name] = _recorded_entry(option, value)
    for option, value in options.items():
        known = option in OPTIONS and (value == DEFAULTS[option] or OPTIONS[option].flag_of(MASK) is None)
        lists = isinstance(value, list) and option not in LIST_OPTIONS
        held = option in whole or option in ROLES.values() or isinstance(value, dict) or lists
        if not (known or held or option == "threads" or value == NOT_PUBLISHED):
            whole[option] = value
    columns = tuple(PlannedColumn(name, role, "", entries[name]) for name, role in roles.items())
    return Plan(columns, whole, manifest.get("text", {}))


def _listed(names: Any) -> list[str]:
    return [] if names is None else [names] if isinstance(names, str) else list(names)


def _recorded_entry(option: str, value: Any) -> Any:
    """An entry as the manifest has it."""
    if option == "diversity":
        named = [value[name] for name in ("c", "l") if name in value]
        return named[0] if value["criterion"] == "distinct" else [value["criterion"], *named]
    return {"t": value["t"], "ground": value["criterion"]} if option == "closeness" else value


# ---- columns


def _check_column(column: PlannedColumn) -> None:
    if column.role not in ROLES:
        raise InputValueError(
            f"the role of column {column.name!r} must be one of {', '.join(ROLES)}; got {column.role!r}."
        )
    for option in column.settings:
        if option not in OPTIONS_BY_COLUMN:
            question = ask_nearest(option, OPTIONS_BY_COLUMN) or f"; they are {', '.join(OPTIONS_BY_COLUMN)}."
            raise InputValueError(f"{option!r} of column {column.name!r} is not an option by column{question}")
    if column.role != "mask" and _is_derived(column):
        raise InputValueError(
            f"{' and '.join(DERIVED)} are for columns with role 'mask'; {column.name!r} has role {column.role!r}."
        )


def _is_derived(column: PlannedColumn) -> bool:
    """Whether the column has no groups of its own, but follows from others."""
    return any(option in column.settings for option in DERIVED)


def _read_column(path: pathlib.Path, name: str, entry: dict[str, Any]) -> PlannedColumn:
    role, reason = entry.pop("role", None), entry.pop("reason", "")
    if isinstance(file := entry.get("hierarchies"), str):
        entry["hierarchies"] = str(path.parent / file)
    return PlannedColumn(name, role, reason, entry)


def _only(role: str, names: list[Hashable]) -> Hashable:
    if len(names) > 1:
        raise InputValueError(f"a plan must have one column with role {role!r}; it has {len(names)}.")
    return names[0]


# ---- values, as arguments and as TOML has them


def _key(key: Hashable, known: set[Hashable]) -> Hashable:
    """A column, or a tuple of columns, a+b, whose combined values a criterion is for."""
    return tuple(key.split("+")) if isinstance(key, str) and key not in known and "+" in key else key


def _as_argument(option: str, value: Any) -> Any:
    if option == "diversity" and isinstance(value, list):
        return tuple(value)
    return Closeness(**value) if option == "closeness" and isinstance(value, Mapping) else value


def _as_entry(option: str, value: Any) -> Any:
    if option == "closeness" and isinstance(value, Closeness):
        tree = {} if value.hierarchy is None else {"hierarchy": value.hierarchy}
        return {"t": float(value.t), "ground": value.ground} | tree
    if option == "hierarchies" and isinstance(value, os.PathLike):
        return os.fspath(value)
    if option == "special":
        return np.asarray(list(value)).tolist()
    is_list = option in ("diversity", "order", "sums") and not isinstance(value, (str, int, float))
    return list(value) if is_list else value


def _write(option: str, value: Any) -> str:
    """A value as TOML, if that can be written."""
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    try:
        return write_value(value)
    except TypeError:
        raise InputTypeError(
            f"{option} must be text, a number or a list of them to be written into a plan; got "
            f"{checks.describe(value)}."
        ) from None


def _file_of_tree(path: pathlib.Path, column: Hashable, taken: Iterable[str]) -> str:
    """The name of a file next to the plan that no other hierarchy has; a column may be called like a path."""
    name = NOT_IN_FILE_NAMES.sub("_", _text_of(column))[:MAX_NAME]
    tries = (f"{path.stem}.{name}{number}.csv" for number in ("", *range(2, 10**6)))
    return next(own for own in tries if own.casefold() not in {other.casefold() for other in taken})


def _text_of(name: Hashable) -> str:
    if not isinstance(name, str):
        raise InputTypeError(f"columns must have text as names to be written into a plan; got {name!r}.")
    return name
