"""Write the names of costs and methods to where the tables cannot be imported: `python -m tools.names`.

Type checkers read `Literal`s, shells complete words before anything is loaded, and editors show docstrings as they
are written.  All of that follows from `mag.costs.COSTS` and `mag.methods.METHODS`; a test compares.
"""

import pathlib
import re
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

from mag.costs import COSTS
from mag.methods import FAMILIES, METHODS

ROOT = pathlib.Path(__file__).parents[1]
WIDTH = 120
TABLE = re.compile(r"^ +((?:=+ )+=+\n).*\n +\1(?:.*\n)*? +\1", re.M)


def written() -> dict[str, str]:
    """The text of every file that holds names, by its path."""
    return {
        "mag/api/names.py": _module(),
        "mag/api/univariate.py": _with("mag/api/univariate.py", "cost", sorted(COSTS), _costs()),
        "mag/api/multivariate.py": _with("mag/api/multivariate.py", "method", sorted(["auto", *METHODS]), _methods()),
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


def _with(path: str, option: str, names: Sequence[str], table: Sequence[str]) -> str:
    """The file with other names and another table in its docstring's paragraph about an option."""
    text = (ROOT / path).read_text(encoding="utf-8")
    listed = " \\\n".join(textwrap.wrap(f"    {option} : {{{', '.join(map(repr, names))}}}", WIDTH - 3))
    before, _, after = re.split(rf"(^    {option} : \{{.*?\}})", text, maxsplit=1, flags=re.M | re.S)
    between, _, rest = TABLE.split(after, maxsplit=1)
    return "".join([before, listed.replace("'", '"'), between, *(f"{' ' * 8}{line}\n" for line in table), rest])


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


def _methods() -> list[str]:
    rows = [
        [f"``{name}``", method.summary.replace("`", "``"), ", ".join(method.options) or "none"]
        for family in FAMILIES
        for name, method in METHODS.items()
        if method.family == family
    ]
    return _table(["method", "groups", "options"], [max(len(row[0]) for row in rows) + 1, 52, 36], rows)


if __name__ == "__main__":
    for path, text in written().items():
        (ROOT / path).write_text(text, encoding="utf-8")
