"""Elements of the page.  The standard library writes them out, so that no name or sentence is ever read as markup."""

import re
from collections.abc import Hashable, Iterable, Sequence
from xml.etree import ElementTree

Element = ElementTree.Element
Content = Element | str | None
Row = tuple[Sequence[Content], ...]

MAX_SHOWN_NAMES = 12  # names in a sentence
MAX_SHOWN_ROWS = 15  # of a table that are shown at once
MAX_NAME_CHARACTERS = 60  # characters of a name
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def element(tag: str, *content: Content, **attributes: object) -> Element:
    """An element with its content; ``class_`` is written class, ``aria_label`` aria-label."""
    names = {name: name.rstrip("_").replace("_", "-") for name in attributes}
    texts = {names[name]: _clean(str(value)) for name, value in attributes.items() if value is not None}
    node = ElementTree.Element(tag, texts)
    last: Element | None = None
    for piece in content:
        if piece is None:
            continue
        if not isinstance(piece, str):
            node.append(piece)
            last = piece
        elif last is None:
            node.text = (node.text or "") + _clean(piece)
        else:
            last.tail = (last.tail or "") + _clean(piece)
    return node


def short(column: Hashable, longest: int = MAX_NAME_CHARACTERS) -> str:
    """A column's name, cut where it is very long."""
    text = str(column)
    return text if len(text) <= longest else f"{text[:longest]}…"


def shorten_middle(column: Hashable, longest: int) -> str:
    """A column's name, cut in the middle: names often differ at their ends."""
    text = str(column)
    head = longest // 2
    return text if len(text) <= longest + 1 else f"{text[:head]}…{text[head - longest :]}"


def name(column: Hashable) -> Element:
    """A column's name, isolated from the text direction around it; a long name shows in full on hover."""
    full = str(column) if len(str(column)) > MAX_NAME_CHARACTERS else None
    first, *rest = re.split(r"(?<=[_.])(?=.)", short(column))
    breaks = (part for word in rest for part in (element("wbr"), word))
    return element("bdi", first, *breaks, class_="name", title=full)


def names(columns: Iterable[Hashable]) -> list[Content]:
    """Names with commas between them, the first few of them."""
    return join_parts([[name(column)] for column in columns])


def join_parts(parts: Sequence[Sequence[Content]], most: int = MAX_SHOWN_NAMES) -> list[Content]:
    """Parts with commas between them, the first few of them."""
    pieces: list[Content] = []
    for piece in parts[:most]:
        pieces += [", ", *piece] if pieces else piece
    return [*pieces, f" and {len(parts) - most} more"] if len(parts) > most else pieces


def table(caption: str, heads: Iterable[str], rows: Iterable[Row], **attributes: object) -> Element:
    """A table whose first column names the rows."""
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = (
        element("tr", element("th", *first, scope="row"), *(element("td", *cell) for cell in cells))
        for first, *cells in rows
    )
    return element("table", element("caption", caption), element("thead", head), element("tbody", *body), **attributes)


def fold_table(caption: str, heads: Sequence[str], rows: Sequence[Row], **attributes: object) -> Element:
    """The first rows of a table; the others where a reader asks for them."""
    first = table(caption, heads, rows[:MAX_SHOWN_ROWS], **attributes)
    if len(rows) <= MAX_SHOWN_ROWS:
        return first
    rest = table(f"{caption}, continued", heads, rows[MAX_SHOWN_ROWS:], **attributes)
    return element(
        "div", first, element("details", element("summary", f"{len(rows) - MAX_SHOWN_ROWS} more rows"), rest)
    )


def section(title: str, *content: Content) -> Element:
    """A part of the page, below its title."""
    return element("section", element("h2", title), *content)


def write_html(root: Element) -> str:
    """The document."""
    text = ElementTree.tostring(root, encoding="unicode", method="html")
    return f"<!DOCTYPE html>\n{text}\n"


def _clean(text: str) -> str:
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)
