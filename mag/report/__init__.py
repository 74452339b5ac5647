"""One page about a release, in one file that needs no network: what is guaranteed, what it cost, what to beware of."""

import os
import pathlib

from mag.report._facts import Facts
from mag.report._page import page

__all__ = ["Facts", "page", "write"]


def write(path: str | os.PathLike[str], facts: Facts) -> pathlib.Path:
    """Write the page, all of it or nothing, and say where it is."""
    target = pathlib.Path(path)
    text = page(facts).encode()
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_bytes(text)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
    return target
