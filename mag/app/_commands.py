"""The command and the script that write the same release as the page."""

import pathlib
import shlex
from collections.abc import Sequence
from typing import Any

import jinja2

from mag.app._cells import ColumnsByReading
from mag.files import File, layout_of
from mag.tables.plan import Plan

TEMPLATE_LINES: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}


def mask_words(
    source: pathlib.Path,
    out: pathlib.Path,
    plan: pathlib.Path,
    report: pathlib.Path,
    external: pathlib.Path | None = None,
) -> list[str]:
    """The words of the command."""
    words = ["mask", str(source), "-o", str(out), "--plan", str(plan), "--report", str(report)]
    return words + (["--external-report", str(external)] if external else [])


def command_line(words: Sequence[str]) -> str:
    """The command for a shell."""
    return shlex.join(["mag", *words])


def script(
    source: pathlib.Path, name: str, out: pathlib.Path, place: pathlib.Path, plan: Plan, words: Sequence[str]
) -> str:
    """The script; `name` is the path of the file for the reader, who has no copy of a dropped one."""
    cells = ColumnsByReading.of(plan, File(source, layout_of(**plan.text)))
    texts = jinja2.Environment(loader=jinja2.PackageLoader("mag.app"), **TEMPLATE_LINES)
    texts.filters["repr"] = repr
    return texts.get_template("script.txt").render(
        source=name,
        out=str(out),
        plan=str(place),
        command=command_line(words),
        cells=cells,
        counts_classes=plan.options.get("scope", "joint") == "joint" and not (cells.owners or plan.options.get("sets")),
    )
