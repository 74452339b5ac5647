"""The page: a head that holds the guarantee, and one section after the other."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files

from mag import __version__
from mag.report import _cards, _head, _sections
from mag.report._facts import ReportFacts
from mag.report._html import Element, element, table, write_html

SECTIONS = [
    _sections.groups,
    _sections.recoding,
    _sections.suppression,
    _sections.sensitive,
    _cards.columns,
    _sections.losses,
    _sections.categories,
    _sections.correlations,
    _sections.risk,
    _sections.utility,
    _sections.reveals,
    _sections.manifest,
]


def page(facts: ReportFacts, step: Callable[[float], object] | None = None) -> str:
    """The page about a release, as a text of HTML; `step` gets the fraction of the sections that are done."""
    sections = []
    for done, describe in enumerate(SECTIONS, 1):
        sections.append(describe(facts))
        if step is not None:
            step(done / len(SECTIONS))
    return document(facts.title, facts.guarantee, _head.header(facts), sections)


def page_of_entries(title: str, guarantee: str, entries: Mapping[str, str]) -> str:
    """A page of a guarantee and the entries of a manifest, as a text of HTML."""
    header = element("header", element("h1", title), element("p", guarantee))
    rows = [([key.replace("_", " ")], [text]) for key, text in entries.items()]
    listed = table("From the manifest of the release", ("What", "Value"), rows)
    return document(title, guarantee, header, [element("section", element("h2", "How it was made"), listed)])


def document(title: str, description: str, header: Element, sections: Iterable[Element | None]) -> str:
    """A page that loads nothing, as a text of HTML."""
    style = files("mag.report").joinpath("style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="description", content=description),
        element("meta", name="generator", content=f"mag {__version__}"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", title),
        element("link", rel="icon", href="data:,"),  # or else a browser asks the server for one
        element("style", style),
    )
    body = element(
        "body",
        header,
        element("main", *(section for section in sections if section is not None)),
        element(
            "footer",
            element("p", f"Made by mag {__version__}. This page is complete: it loads nothing and runs no program."),
        ),
    )
    return write_html(element("html", head, body, lang="en"))
