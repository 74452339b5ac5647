"""Write names and options to where the tables that hold them cannot be imported: `python -m tools.names`.

Type checkers read `Literal`s and signatures, shells complete words before anything is loaded, and editors show
docstrings as they are written.  All of that follows from `mag.costs.COSTS`, `mag.methods.METHODS` and
`mag.api.table_options.Options`; a test compares.
"""

import ast
import pathlib
import re
import textwrap
from collections.abc import Sequence
from itertools import groupby, zip_longest

from mag.api.table_options import (
    COMPARE,
    DEFAULTS,
    ESTIMATOR,
    GENERALIZE,
    MICROAGGREGATE,
    OPTIONS,
    SUPPRESS,
    Option,
    accepted,
)
from mag.costs import COSTS
from mag.methods import FAMILIES, METHODS

ROOT = pathlib.Path(__file__).parents[1]
WIDTH = 120
TABLE = re.compile(r"^ +((?:=+ )+=+\n).*\n +\1(?:.*\n)*? +\1", re.M)


def written() -> dict[str, str]:
    """The text of every file that holds names, by its path."""
    return {
        "mag/api/names.py": _module(),
        "mag/api/univariate.py": _with_table(_with("mag/api/univariate.py", "cost", sorted(COSTS)), _costs()),
        "mag/api/multivariate.py": _with("mag/api/multivariate.py", "method", sorted(["auto", *METHODS])),
        "mag/tables/types.py": _types(),
        "mag/tables/__init__.py": _with_options("mag/tables/__init__.py", MICROAGGREGATE),
        "mag/tables/recode/generalize.py": _with_options("mag/tables/recode/generalize.py", GENERALIZE),
        "mag/tables/suppression/suppress.py": _with_options("mag/tables/suppression/suppress.py", SUPPRESS),
        "mag/tables/compare.py": _with_options("mag/tables/compare.py", COMPARE),
        "mag/estimators/__init__.py": _with_options("mag/estimators/__init__.py", ESTIMATOR),
    }


def _quoted(names: Sequence[str], indent: str, end: str = ",") -> str:
    return textwrap.fill(
        ", ".join(f'"{name}"' for name in names) + end, WIDTH, initial_indent=indent, subsequent_indent=indent
    )


def _module() -> str:
    lines = [
        '"""The names of costs and methods; written by `python -m tools.names`, do not edit."""',
        "",
        "from typing import Literal, TypeAlias, get_args",
        "",
        "# fmt: off",
        "CostName: TypeAlias = Literal[",
        _quoted(sorted(COSTS), "    "),
        "]",
        "MethodName: TypeAlias = Literal[",
        _quoted(sorted(["auto", *METHODS]), "    "),
        "]",
        "FAMILIES: dict[str, list[str]] = {",
    ]
    for family, hint in FAMILIES.items():
        names = [name for name, method in METHODS.items() if method.family == family]
        lines += [f'    "{family} ({hint})": [' if hint else f'    "{family}": [', _quoted(names, " " * 8), "    ],"]
    lines += ["}", "# fmt: on", "COST_NAMES: tuple[str, ...] = get_args(CostName)"]
    return "\n".join([*lines, ""])


def _with(path: str, option: str, names: Sequence[str]) -> str:
    """The file with other names in its docstring's paragraph about an option."""
    text = (ROOT / path).read_text(encoding="utf-8")
    listed = " \\\n".join(textwrap.wrap(f"    {option} : {{{', '.join(map(repr, names))}}}", WIDTH - 3))
    before, _, after = re.split(rf"(^    {option} : \{{.*?\}})", text, maxsplit=1, flags=re.M | re.S)
    return before + listed.replace("'", '"') + after


def _with_table(text: str, table: Sequence[str]) -> str:
    """The text with another table in place of its first one."""
    before, _, after = TABLE.split(text, maxsplit=1)
    return "".join([before, *(f"{' ' * 8}{line}\n" for line in table), after])


def _table(head: Sequence[str], widths: Sequence[int], rows: Sequence[Sequence[str]]) -> list[str]:
    """A simple table of reStructuredText."""
    rule = " ".join("=" * width for width in widths)
    lines = [rule, _cells(head, widths), rule]
    for row in rows:
        wrapped = [textwrap.wrap(cell, width - 1) for cell, width in zip(row, widths, strict=True)]
        lines += [_cells(cells, widths) for cells in zip_longest(*wrapped, fillvalue="")]
    return [*lines, rule]


def _cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    return " ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _costs() -> list[str]:
    rows = [[f"``{name}``", cost.summary, cost.representative] for name, cost in COSTS.items()]
    return _table(["cost", "of a group", "representative"], [max(len(row[0]) for row in rows) + 1, 56, 14], rows)


# ---- options of tables

WRITTEN, END = "# options: written by tools.names from mag.api.table_options", "# end of options"
SHADOWS = {"round": "  # noqa: A002 - what it is called everywhere"}
ENTRY = re.compile(r"^    (?=\S)", re.M)  # of a parameter in a docstring


def _types() -> str:
    """The types of options: words that are allowed, and keywords of functions with overloads."""
    lines = [f"{_alias(name)}: TypeAlias = {_literal(option)}" for name, option in OPTIONS.items() if option.choices]
    for name, base, function in (
        ("TableOptions", "TableMethodOptions", MICROAGGREGATE),
        ("RecodingOptions", "TypedDict", GENERALIZE),
    ):
        described = f'    """Keywords of `{function}`, for its overloads."""'
        lines += ["", "", f"class {name}({base}, total=False):", described, ""]
        own = accepted(function).items()
        lines += [f"    {option}: {_hint(option, about, function)}" for option, about in own if option != "output"]
    text = (ROOT / "mag/tables/types.py").read_text(encoding="utf-8")
    return "\n".join([text.partition(WRITTEN)[0] + WRITTEN, *lines, ""])


def _alias(name: str) -> str:
    return name.title().replace("_", "")


def _literal(option: Option) -> str:
    return f"Literal[{', '.join(map(_in_quotes, option.choices))}]"


def _in_quotes(word: str) -> str:
    return f'"{word}"'


def _hint(name: str, option: Option, function: str) -> str:
    return option.hints.get(function) or (_alias(name) if option.choices else option.hint)


def _with_options(path: str, function: str) -> str:
    """The file of a function with its options: in the signature, in the docstring, as attributes, and their types."""
    text, own = (ROOT / path).read_text(encoding="utf-8"), accepted(function)
    before, *regions = text.split(f"{WRITTEN}\n")
    indent = before.rpartition("\n")[2]
    parameters = [
        f"{name}: {_hint(name, option, function)} = {_default(name, option, function)},{SHADOWS.get(name, '')}"
        for name, option in own.items()
    ]
    for lines, region in zip([parameters, [f"self.{name} = {name}" for name in own]], regions, strict=False):
        after = region.partition(f"{indent}{END}\n")[2]
        before += "".join([f"{WRITTEN}\n", *(f"{indent}{line}\n" for line in lines), f"{indent}{END}\n", after])
    return _with_imports(_with_parameters(before, function))


def _default(name: str, option: Option, function: str) -> str:
    default = option.defaults.get(function, DEFAULTS[name])
    if isinstance(default, int) and not isinstance(default, bool):
        return f"{default:_}"
    return _in_quotes(default) if isinstance(default, str) else repr(default)


def _with_parameters(text: str, function: str) -> str:
    """The docstring's section about parameters: those that are no options, then the options."""
    head, rule, rest = text.partition("    Parameters\n    ----------\n")
    section, end, tail = re.split(r"(\n\n    (?:Returns|Attributes)\n)", rest, maxsplit=1)
    entries = [entry.rstrip() for entry in ENTRY.split(section) if entry]
    kept = [f"    {entry}\n" for entry in entries if re.split(r"[ ,\n]", entry)[0] not in OPTIONS]
    return "".join([head, rule, *kept, *_parameters(function)]).rstrip("\n") + end + tail


def _parameters(function: str) -> list[str]:
    """The options as entries of a docstring; neighbors with one text share an entry."""
    entries = [(name, *_described(option, function)) for name, option in accepted(function).items()]
    lines = []
    for (kind, text), some in groupby(entries, lambda entry: entry[1:]):
        names = ", ".join(name for name, *_ in some)
        paragraph = textwrap.fill(
            text, WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 8, break_on_hyphens=False
        )
        for line in [f"{names} : {kind}"] if kind else textwrap.wrap(names, WIDTH - 4):
            lines.append(f"    {line.rstrip(',')}\n{paragraph}\n")
    return lines


def _described(option: Option, function: str) -> tuple[str, str]:
    if function == COMPARE and COMPARE not in option.texts:
        return "", "As in `mag.microaggregate`."
    words = f"{{{', '.join(map(_in_quotes, option.choices))}}}" if option.choices else option.kind
    return option.kinds.get(function, words), option.texts.get(function, option.text)


def _with_imports(text: str) -> str:
    """The import of types of options, of those that the file uses."""
    types = re.findall(r"^(\w+): TypeAlias|^class (\w+)", _types(), re.M)
    found = re.search(r"^from mag\.tables\.types import (?:\([^)]*\)|[^\n(]*)\n", text, re.M)
    if found is None:
        return text
    others = text[: found.start()] + text[found.end() :]
    read = {node.id for node in ast.walk(ast.parse(others)) if isinstance(node, ast.Name)}
    used = sorted(name for pair in types for name in pair if name in read)
    line = f"from mag.tables.types import {', '.join(used)}\n"
    if len(line) > WIDTH + 1:
        line = "".join(["from mag.tables.types import (\n", *(f"    {name},\n" for name in used), ")\n"])
    return text[: found.start()] + line + text[found.end() :]


if __name__ == "__main__":
    for path, text in written().items():
        (ROOT / path).write_text(text, encoding="utf-8")
