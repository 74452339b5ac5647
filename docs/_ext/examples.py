"""Show examples without the blank line at their end, which a doctest in Markdown needs before the fence."""

from docutils import nodes
from sphinx.application import Sphinx


def strip_blank_lines(app: Sphinx, doctree: nodes.document) -> None:
    """In all blocks of code of a page."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():  # not one whose parts are marked up already
            block.rawsource = block.rawsource.rstrip()
            block[:] = [nodes.Text(block.rawsource)]


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this."""
    app.connect("doctree-read", strip_blank_lines)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
