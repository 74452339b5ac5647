"""Full-domain recoding: one level of its hierarchy for every column, searched among all combinations of levels.

A node of the lattice is such a combination.  Records of classes that fail are suppressed: published as the root in all
columns, or withheld.  What is minimized is the normalized certainty penalty, where suppressed records lose 1; it is
counted in integers.
"""

from mag.tables.recode._classes import NodeClasses
from mag.tables.recode._ladder import Ladder
from mag.tables.recode._lattice import Lattice, Outcome
from mag.tables.recode._rules import Rules
from mag.tables.recode._search import Recoding, search

__all__ = ["Ladder", "Lattice", "NodeClasses", "Outcome", "Recoding", "Rules", "search"]
