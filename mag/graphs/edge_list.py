"""Files of edges: two names a line; lines that begin with # or % are comments, as in the collections SNAP and KONECT.

A written file holds numbers, and the comment ``# Nodes: 34 Edges: 83``, which also counts vertices without edges.
"""

import codecs
import os
import re
from collections import Counter
from typing import NamedTuple

import numpy as np

from mag._lib.atomic import writing
from mag._lib.checks import integer
from mag._lib.edges import MAX_VERTICES
from mag._lib.errors import REPORT, InputValueError, NotAnonymousError

MAX_RATIO, MAX_ISOLATED = 10, 10**6  # of vertices that a comment may count besides those with edges
MAX_COUNT_DIGITS = 12  # digits of that count that are read: enough to reject it
HEADER = re.compile(r"#\s*Nodes:\s*(\d+)\b")


class EdgeList(NamedTuple):
    """A graph of numbered vertices; the last ones have no names if they have no edges."""

    edges: np.ndarray  # (m, 2)
    n: int
    names: list[str]


def read_edge_list(
    path: os.PathLike[str], vertices: int | None = None, delimiter: str | None = None, encoding: str = "utf-8"
) -> EdgeList:
    """The graph of a file; `vertices` counts those without edges, too, and takes the place of the comment's number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mag.graphs.edge_list import read_edge_list
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "friends.edges")
    ...     _ = path.write_text("Ada Bob\\nBob Cyd\\n")
    ...     read_edge_list(path)
    EdgeList(edges=array([[0, 1],
           [1, 2]]), n=3, names=['Ada', 'Bob', 'Cyd'])
    """
    if delimiter is not None and len(delimiter) != 1:
        raise InputValueError(f"delimiter must be one character; got {delimiter!r}.")
    name, numbers, flat = repr(os.path.basename(path)), dict[str, int](), list[int]()
    counted = None
    try:
        mark = "-sig" if codecs.lookup(encoding).name == "utf-8" else ""  # a byte order mark is not part of a name
        with open(path, encoding=encoding + mark) as file:
            for place, line in enumerate(file, 1):
                if line.startswith(("#", "%")):
                    header = HEADER.match(line)
                    counted = int(header[1][:MAX_COUNT_DIGITS]) if header else counted
                    continue
                words = line.split() if delimiter is None else [word.strip() for word in line.split(delimiter)]
                if not words or words == [""]:
                    continue
                if len(words) != 2 or not all(words):
                    raise InputValueError(
                        f"line {place} of {name} must hold the names of two vertices, parted by "
                        f"{'blanks' if delimiter is None else repr(delimiter)}, and no other words; got {len(words)}."
                    )
                flat += [numbers.setdefault(word, len(numbers)) for word in words]
    except (LookupError, UnicodeError):
        raise InputValueError(f"{name} cannot be read as {encoding!r}; pass another encoding.") from None
    if not numbers:
        raise InputValueError(f"{name} must hold at least one edge; got none.")
    n = len(numbers) if counted is None else counted
    if vertices is None and n > len(numbers) * MAX_RATIO + MAX_ISOLATED:
        raise InputValueError(
            f"{name} counts many more vertices in a comment than the {len(numbers)} that have edges; pass their number."
        )
    if vertices is not None:
        n = integer("vertices", vertices, len(numbers), MAX_VERTICES, "2**31-1")
    elif n < len(numbers):
        raise InputValueError(f"{name} has edges of {len(numbers)} vertices, more than its comment counts, {n}.")
    return EdgeList(np.array(flat, np.int64).reshape(-1, 2), n, list(numbers))


def write_edge_list(path: os.PathLike[str], edges: np.ndarray, n: int, overwrite: bool = False) -> None:
    """Two numbers a line, in the order of the edges."""
    with writing(path, overwrite=overwrite) as [draft], open(draft, "w", encoding="ascii", newline="\n") as file:
        file.write(f"# Nodes: {n} Edges: {len(edges)}\n")
        file.writelines(f"{u} {w}\n" for u, w in edges.tolist())


def recount_file(path: os.PathLike[str], k: int, edges: np.ndarray, n: int) -> int:
    """How many vertices of a written file share a degree at least; an error if fewer than k, or other edges, do."""
    with open(path, "rb") as file:
        header, *lines = file.read().splitlines()
    if header != b"# Nodes: %d Edges: %d" % (n, len(edges)) or lines != [b"%d %d" % (u, w) for u, w in edges.tolist()]:
        raise NotAnonymousError(f"The file does not hold the edges that were written: nothing is published; {REPORT}")
    degrees = Counter(vertex for line in lines for vertex in line.split())
    classes = Counter(degrees.values())
    if n > len(degrees):
        classes[0] = n - len(degrees)
    smallest = min(classes.values())
    if smallest < k:
        raise NotAnonymousError(
            f"A degree that {smallest} vertices have, fewer than k={k}, is in the file: nothing is published."
        )
    return smallest
