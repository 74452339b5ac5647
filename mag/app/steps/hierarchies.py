"""Hierarchies of columns: from a file, by intervals, prefixes or dates, or edited by hand; the loss of every node."""

import csv
import io
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mag._lib.errors import InputValueError
from mag.app._fields import FormField, read_path
from mag.app._session import Session
from mag.hierarchy import Hierarchy, text_of
from mag.tables.plan import PlannedColumn

MAX_LISTED_NODES = 1000  # of a tree that are listed
HOWS = {
    "file": "A file of ARX: value;group;…;*",
    "intervals": "Intervals of numbers",
    "prefixes": "First characters of codes",
    "dates": "Months, quarters, years of dates",
    "flat": "All values below one root",
    "rows": "By hand",
}
WIDTHS = "Each a multiple of the one before, such as 5, 10, 20."
LEVELS = "Some of month, quarter, year, decade."
ROWS_CAPTION = "A line for every value: value;group;…;*"


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """All masked columns, and the tree of the one that is open."""
    masked = [(place, column) for place, column in enumerate(session.plan.columns) if column.role == "mask"]
    rows = [(place, column, tree_of(column)) for place, column in masked]
    content: dict[str, Any] = {"jobs": [], "trees": rows, "chosen": None, "summarize": summarize}
    place = _place_of(wish, dict(masked))
    if place is None:
        return content
    column, shows_values = session.plan.columns[place], "values" in wish
    tree = tree_of(column)
    lines = ""
    if shows_values:
        job = session.job("values", path=session.path, text=dict(session.state.text), column=column.name)
        content["jobs"] = [job]
        rows_of = tree.to_levels() if tree else [[value, "*"] for value in job.result or ()]
        lines = _write_lines(rows_of)
    return content | {
        "chosen": place,
        "column": column,
        "tree": tree,
        "nodes": nodes_of(tree) if tree and shows_values else [],
        "shows_values": shows_values,
        "hows": HOWS,
        "how": wish.get("how", "" if tree else "file"),
        "fields": _fields(lines),
    }


def _fields(lines: str) -> list[FormField]:
    """The fields of every kind of tree, below the kind."""
    return [
        FormField(
            "file",
            "Drop a file here, or choose one",
            "Text with semicolons.",
            ("file must",),
            kind="file",
            panel="file",
        ),
        FormField(
            "path", "Path of the file", "A line for every value, to ever more general labels.", ("line",), panel="file"
        ),
        FormField("low", "From", "The smallest value may not be below.", ("low",), panel="intervals"),
        FormField("high", "To below", "All values are below.", ("high",), panel="intervals"),
        FormField("widths", "Widths", WIDTHS, ("widths", "intervals"), panel="intervals"),
        FormField("keep", "Characters to keep", "The most first, such as 4, 2.", ("keep",), panel="prefixes"),
        FormField("levels", "Levels", LEVELS, ("levels",), "month, year", panel="dates"),
        FormField("rows", "The tree", ROWS_CAPTION, ("rows", "row"), lines, kind="lines", panel="rows"),
    ]


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Give a column a tree, remove its tree, or go on."""
    if form.get("action") == "continue":
        session.advance(6)
        return "choose"
    place = _place_of(form, dict(enumerate(session.plan.columns)))
    if place is None:
        raise InputValueError("column must be one of the masked columns.")
    column = session.plan.columns[place]
    settings = {name: value for name, value in column.settings.items() if name not in ("hierarchies", "aggregate")}
    if form.get("action") == "remove":
        look = session.job("look", path=session.path, text=dict(session.state.text)).wait()["columns"][place]
        from mag.tables.plan import suggest_settings

        settings |= suggest_settings(look, column.role)
    else:
        how = str(form.get("how"))
        inputs = {"column": column.name, "how": how, "details": _details(session, how, form)}
        job = session.job("grow", path=session.path, text=dict(session.state.text), **inputs)
        try:
            settings["hierarchies"] = job.wait()
        finally:
            session.forget(job)  # its file may change
    columns = list(session.plan.columns)
    columns[place] = replace(column, settings=settings)
    session.change(f"the hierarchy of {column.name}", plan=replace(session.plan, columns=tuple(columns)))
    return f"hierarchies?column={place}"


def _details(session: Session, how: str, form: Mapping[str, Any]) -> Any:
    """The arguments of a kind of tree, from its fields."""
    if how == "file":
        dropped: Any = form.get("file")
        if getattr(dropped, "filename", ""):
            return session.keep(dropped.filename, dropped.file)
        if not str(form.get("path", "")).strip():
            raise InputValueError("path must name a file, unless one is dropped on the page; got none.")
        return read_path("path", form["path"])
    if how == "intervals":
        return _numbers("low", form)[0], _numbers("high", form)[0], _numbers("widths", form)
    if how == "prefixes":
        return _numbers("keep", form, int)
    if how == "dates":
        return [word.strip() for word in str(form.get("levels", "")).split(",")]
    if how == "rows":
        try:
            return [row for row in csv.reader(io.StringIO(str(form.get("rows", ""))), delimiter=";") if row]
        except csv.Error:
            raise InputValueError("rows must be lines, value;group;…;*; they cannot be read.") from None
    return None


def _numbers(name: str, form: Mapping[str, Any], kind: Callable[[str], Any] = float) -> list[Any]:
    try:
        return [kind(word) for word in str(form.get(name, "")).split(",")]
    except ValueError:
        what = "integers" if kind is int else "numbers"
        raise InputValueError(f"{name} must be {what} with commas between them; got {form.get(name)!r}.") from None


def tree_of(column: PlannedColumn) -> Hierarchy | None:
    """The hierarchy of a column."""
    return column.settings.get("hierarchies")


def summarize(tree: Hierarchy) -> list[tuple[int, int, float, float]]:
    """For every level above the values: its number, its nodes, and their mean and largest loss over the values."""
    levels = range(1, tree.levels.shape[1])
    losses = [(level, tree.loss[tree.levels[:, level]]) for level in levels]
    return [(level, len(set(tree.levels[:, level])), float(np.mean(own)), float(own.max())) for level, own in losses]


def nodes_of(tree: Hierarchy) -> list[tuple[int, str, float]]:
    """Depth, label and loss of the first nodes."""
    listed = [(depth, text_of(tree.labels[node]), float(tree.loss[node])) for depth, node in tree.walk()]
    return listed[:MAX_LISTED_NODES]


def _write_lines(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=";", lineterminator="\n").writerows([[text_of(label) for label in row] for row in rows])
    return text.getvalue()


def _place_of(words: Mapping[str, Any], known: Mapping[int, Any]) -> int | None:
    """The number of a column."""
    return next((place for place in known if str(place) == str(words.get("column"))), None)
