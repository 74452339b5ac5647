"""One page about a release, in one file that needs no network: what is guaranteed, what it cost, what to beware of."""

import os
import pathlib

from mag._atomic import writing
from mag.report._facts import Facts
from mag.report._page import page

__all__ = ["Facts", "page", "write"]


def write(path: str | os.PathLike[str], facts: Facts) -> pathlib.Path:
    """Write the page, all of it or nothing, in place of what was there, and say where it is."""
    with writing(path, overwrite=True) as [draft]:
        draft.write_text(page(facts), encoding="utf-8")
    return pathlib.Path(path)
