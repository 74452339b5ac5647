"""Trees of categories, from several sources: files of ARX, levels, parents, columns, intervals, prefixes, dates."""

from mag.hierarchy._embedding import axes_of, embed, variance_of
from mag.hierarchy._order import ranks_of
from mag.hierarchy._rows import ROOT
from mag.hierarchy._sources import hierarchy_of, read_hierarchies
from mag.hierarchy._text import text_of
from mag.hierarchy._tree import Hierarchy

__all__ = [
    "ROOT",
    "Hierarchy",
    "axes_of",
    "embed",
    "hierarchy_of",
    "ranks_of",
    "read_hierarchies",
    "text_of",
    "variance_of",
]
