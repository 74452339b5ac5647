"""Open a file, by its path or dropped on the page, and show its columns as they were read."""

from collections.abc import Mapping
from typing import Any

from mag._lib.errors import InputValueError
from mag.app._fields import SWITCH, FormField, read_path
from mag.app._session import Session, TabState, Trial
from mag.files import FORMATS, File, layout_of

LINES = ("null", "date")  # options of text files with a word on each line
MARKS = ("delimiter", "encoding", "thousands")
TEXT_FIELDS = (
    ("delimiter", "Delimiter", "Character between cells; empty for the usual one, \\t for a tab."),
    ("decimal_comma", "Decimal comma", "Read 1,5 as a number."),
    ("thousands", "Mark between thousands", "Such as . in 12.345,50."),
    ("encoding", "Encoding", "utf-8 unless you know another one."),
    ("null", "Missing codes", "One line each: codes of all columns, NA or -9,-8; or of one, income=-9,-8."),
    ("date", "Formats of dates", "One line each, such as born=%d.%m.%Y."),
)


def show(session: Session, wish: Mapping[str, str]) -> dict[str, Any]:
    """The form, and the columns of the open file."""
    state = session.state
    content: dict[str, Any] = {"fields": fields(state)}
    if state.path is None:
        return content | {"jobs": []}
    job = session.job("look", path=state.path, text=dict(state.text))
    shapes = session.job("preview", path=state.path, text=dict(state.text)) if "preview" in wish else None
    return content | {"jobs": [job, *([shapes] if shapes else [])], "look": job.result, "shapes": shapes}


def fields(state: TabState) -> list[FormField]:
    """The file, and how a text file is read."""
    endings = ", ".join(sorted({one for form in FORMATS.values() for one in form.endings}))
    copied = f"{endings}. It stays on this machine: the page keeps a private copy until it ends."
    path = str(state.path or "")
    return [
        FormField("file", "Drop a file here, or choose one", copied, ("file must",), kind="file"),
        FormField("path", "Path of the file", "A file on this machine.", ("path",), path),
        *(_text_field(state, *about) for about in TEXT_FIELDS),
    ]


def _text_field(state: TabState, name: str, label: str, about: str) -> FormField:
    words, value = (f"--{name.replace('_', '-')}", name), state.text.get(name, "")
    if name in LINES:
        return FormField(name, label, about, words, "\n".join(value), kind="lines")
    if name == "decimal_comma":
        return FormField(name, label, about, words, "yes" if value else "no", SWITCH)
    return FormField(name, label, about, words, value)


def take(session: Session, form: Mapping[str, Any]) -> str:
    """Open a file, read it in another way, or go on."""
    if form.get("action") == "continue":
        session.advance(1)
        return "roles"
    text: dict[str, Any] = {name: form[name].strip() for name in MARKS if form.get(name, "").strip()}
    text |= {"decimal_comma": True} if form.get("decimal_comma") == "yes" else {}
    text |= {name: listed for name in LINES if (listed := _lines(form.get(name, "")))}
    layout = layout_of(**text)
    dropped: Any = form.get("file")
    before = session.state.path
    if getattr(dropped, "filename", ""):
        path, is_dropped = session.keep(dropped.filename, dropped.file), True
    elif before is not None and (form.get("action") == "read" or form.get("path") == str(before)):
        path, is_dropped = before, session.state.is_dropped
    elif form.get("path", "").strip():
        path, is_dropped = read_path("path", form["path"]), False
    else:
        raise InputValueError("path must name a file, unless one is dropped on the page; got none.")
    File(path, layout).names()  # or an error, before anything is changed
    session.change(
        f"open {path.name}",
        path=path,
        is_dropped=is_dropped,
        text=text,
        plan=None,
        reached=0,
        trial=Trial(),
    )
    return "open"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
