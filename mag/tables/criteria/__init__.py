"""Criteria on the sensitive values of every class, tested in exact integers.  Each criterion is a file.

A criterion takes counts (classes × values) and `totals`, the counts of the whole table, and computes for each class
whether it holds and by how much.  If a criterion holds for two classes, it holds for their union, so that merging ends:
at the latest with the whole table, whose counts decide whether a criterion can be met at all.
"""

from mag.tables.criteria._criterion import Criterion
from mag.tables.criteria._request import Closeness, closeness_of, diversity_of, ground_of
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.entropy import Entropy
from mag.tables.criteria.equal import Equal
from mag.tables.criteria.hierarchical import Hierarchical
from mag.tables.criteria.ordered import Ordered
from mag.tables.criteria.recursive import Recursive

__all__ = ["Closeness", "Criterion", "closeness_of", "diversity_of", "ground_of"]

CRITERIA = {
    "distinct": Distinct,
    "entropy": Entropy,
    "equal": Equal,
    "hierarchical": Hierarchical,
    "ordered": Ordered,
    "recursive": Recursive,
}
