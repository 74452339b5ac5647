"""Plans as options of `mag mask`: what the command line does not set, the plan does."""

import csv
import io
import pathlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import typer

from mag._lib.errors import InputValueError
from mag.api.table_options import MASK, OPTIONS
from mag.commands._options import option_names
from mag.commands._parse import write_set
from mag.files import Layout

if TYPE_CHECKING:
    from mag.tables.plan import Plan

TEXT_OPTIONS = {"delimiter": "--delimiter", "decimal_comma": "--decimal-comma"}
TEXT_OPTIONS |= {
    "thousands": "--thousands",
    "encoding": "--encoding",
    "null": "--null",
    "date": "--date",
}  # by their names in plans
JOINTS = {"special": ",", "sums": "+"}  # between the parts of an entry


def apply_plan(ctx: typer.Context, path: pathlib.Path | None) -> pathlib.Path | None:
    """Take the options of a plan as the defaults of a command."""
    from mag.tables.plan import Plan

    if path is not None and not ctx.resilient_parsing:
        ctx.default_map = {**(ctx.default_map or {}), **defaults_of(Plan.read(path), ctx.command.params)}
    return path


def defaults_of(plan: "Plan", parameters: Iterable[Any]) -> dict[str, Any]:
    """The words of a plan by the name of their parameter, as the command line takes them."""
    parameter_of = {flag: parameter for parameter in parameters for flag in parameter.opts}
    words = words_of(plan)
    return {
        parameter_of[flag].name: value if parameter_of[flag].multiple else value[-1] for flag, value in words.items()
    }


def words_of(plan: "Plan") -> dict[str, list[Any]]:
    """The values of every option of `mag mask` that a plan sets, by the option's first name."""
    from mag.tables.plan import OPTIONS_BY_COLUMN, ROLES

    words: dict[str, list[Any]] = {}
    for role in ROLES:
        if names := plan.names_of(role):
            words["--column" if role == "mask" else f"--{role}"] = [str(name) for name in names]
    for option in OPTIONS_BY_COLUMN:
        if entries := plan.entries_of(option):
            words[_flag_of(option)] = [f"{name}={_word(option, value)}" for name, value in entries.items()]
    for option, value in plan.options.items():
        if option == "k":
            words["-k"] = (
                [f"{name}={own}" for name, own in value.items()] if isinstance(value, Mapping) else [str(value)]
            )
        elif option == "sets":
            words["--set"] = [write_set(own) for own in value]
        elif option == "household_columns":
            words["--household-column"] = [value] if isinstance(value, str) else list(value)
        elif option not in OPTIONS:  # of the method
            words.setdefault("--option", []).append(f"{option}={value}")
        elif not (option in OPTIONS_BY_COLUMN and isinstance(value, Mapping)):
            words[_flag_of(option)] = [str(value) if option in OPTIONS_BY_COLUMN else value]
    for key, value in plan.text.items():
        if key not in TEXT_OPTIONS:
            raise InputValueError(f"[text] of a plan must have the keys {', '.join(TEXT_OPTIONS)}; got {key!r}.")
        words[TEXT_OPTIONS[key]] = value if isinstance(value, list) else [value]
    return words


def text_of(layout: Layout, columns: Iterable[str] | None = None) -> dict[str, Any]:
    """How text files are read, as plans and manifests have it: all that is not usual; of some columns only."""
    usual, named = Layout(), None if columns is None else frozenset(columns)
    text = {name: getattr(layout, name) for name in ("delimiter", "decimal_comma", "thousands", "encoding")}
    text = {name: value for name, value in text.items() if value != getattr(usual, name)}
    null = [",".join(layout.null)] if layout.null else []
    null += [f"{name}={','.join(codes)}" for name, codes in layout.null_of.items() if named is None or name in named]
    dates = [f"{name}={form}" for name, form in layout.date_of.items() if named is None or name in named]
    return text | ({"null": null} if null else {}) | ({"date": dates} if dates else {})


def _flag_of(option: str) -> str:
    flag = OPTIONS[option].flag_of(MASK)
    if flag is None:
        raise InputValueError(f"{option} of a plan is not an option of mag mask; use mag.Plan.keywords in Python.")
    return option_names(option, flag)[0].partition("/")[0]


def _word(option: str, value: Any) -> str:
    """An entry of an option by column, as the command line has it."""
    if option == "diversity" and isinstance(value, list):
        return f"{value[0]}:{','.join(map(str, value[1:]))}"
    if option == "closeness" and isinstance(value, Mapping):
        ground = value.get("hierarchy") or value.get("ground", "auto")
        return f"{value['t']}" + ("" if ground == "auto" else f":{ground}")
    if option == "order":
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        return line.getvalue()
    if option in JOINTS and isinstance(value, list):
        return JOINTS[option].join(map(str, value))
    return str(value)
