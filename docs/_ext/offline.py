"""Refuse a site whose pages would fetch something from elsewhere when they are opened."""

import pathlib
import re

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

FETCHED = (
    r"""<(?:script|img|iframe|source|video|audio)\b[^>]*?\bsrc=["']?((?:https?:)?//[^"'\s>]+)""",
    r"""<link\b(?=[^>]*\brel=["']?(?:stylesheet|icon|preload|preconnect|dns-prefetch))[^>]*?\bhref=["']?((?:https?:)?//[^"'\s>]+)""",
    r"""url\(["']?((?:https?:)?//[^"')]+)""",
    r"""@import\s+["']((?:https?:)?//[^"']+)""",
)


def fetched_from_elsewhere(text: str) -> list[str]:
    """The addresses that a browser would load with a page or a style sheet; links are not among them."""
    return [address for pattern in FETCHED for address in re.findall(pattern, text, re.IGNORECASE)]


def check_pages(app: Sphinx, exception: Exception | None) -> None:
    """Look at everything that was built."""
    if exception or app.builder.format != "html":
        return
    for path in sorted(pathlib.Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            elsewhere = fetched_from_elsewhere(path.read_text(encoding="utf-8"))
            if elsewhere:
                raise ExtensionError(
                    f"{path.name} fetches {', '.join(sorted(set(elsewhere)))}; put it into docs/_static"
                )


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("build-finished", check_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
