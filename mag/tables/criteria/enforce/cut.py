"""Cuts that look at the criterion: all records are one part, and a part is cut while all of its parts satisfy it.

Mondrian with criteria (LeFevre et al. 2006), where columns lose the share of their range or the loss of a node.  For
one demand of distinct values, or of closeness where all values are 1 apart, children that fail are trimmed and pooled
(`_balance`); for others they are pooled as they are.  Every part satisfies all criteria at any time, so that cutting
may stop when the time is up; the parts that wait longest are cut first, so that none stays much larger than others.
"""

from collections import deque
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.cutting import new_parts, parts_of_trees, table_of
from mag.methods.mondrian.halving import labels_of
from mag.methods.mondrian.pairs import CLOSE, DIVERSE, Rule
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.enforce._balance import cut_part
from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.equal import Equal

# Of t, first to last, that parts are allowed: a part at t itself could hardly be cut again.
MARGINS = (Fraction(9, 10), Fraction(19, 20), Fraction(49, 50), Fraction(1))


def columns_of(z: np.ndarray, trees: CategoryColumns | None) -> CategoryColumns:
    """The records that are cut: all coordinates are numbers where there are no trees."""
    return CategoryColumns(np.arange(z.shape[1]), [], np.ones(z.shape[1])) if trees is None else trees


def cut_groups(
    z: np.ndarray, k: int, trees: CategoryColumns | None, constraints: Sequence[Constraint], progress: Progress
) -> np.ndarray:
    """Labels 0, 1, … of groups of at least k records for which all constraints hold, as they do for all records."""
    if len(constraints) == 1 and rules_of(constraints[0], z):
        return cut_further(z, k, np.zeros(len(z), np.int64), trees, constraints[0], progress)
    trees = columns_of(z, trees)

    def allowed(rows: np.ndarray) -> bool:
        return all(constraint.judge_lists([rows])[0][0] for constraint in constraints)

    return labels_of(*parts_of_trees(z, k, k, trees, 1, progress, allowed))


def cut_further(
    z: np.ndarray,
    k: int,
    labels: np.ndarray,
    trees: CategoryColumns | None,
    constraint: Constraint,
    progress: Progress,
) -> np.ndarray:
    """The same for groups that satisfy a constraint with a rule: each is cut while all of its parts do."""
    table, parts, rules = table_of(z, columns_of(z, trees)), new_parts(len(z)), rules_of(constraint, z)
    parts.order[:] = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    parts.cuts[starts] = 1
    waiting = deque(zip(starts.tolist(), (starts + sizes).tolist(), strict=True))
    while waiting and not progress.step(0.0):
        start, stop = waiting.popleft()
        for rule in rules if stop - start >= 2 * k else ():
            count = cut_part(table, parts, rule, k, start, stop)
            if count > 1:
                ends = parts.ends[start : start + count].tolist()
                parts.cuts[ends[:-1]] = 1
                waiting += zip([start, *ends[:-1]], ends, strict=True)
                break
    return labels_of(parts.order, np.flatnonzero(parts.cuts))


def rules_of(constraint: Constraint, z: np.ndarray) -> list[Rule]:
    """The criterion for compiled functions, the strictest first; none where it has no such form, or 64 bits."""
    criterion, totals = constraint.criterion, constraint.totals.astype(np.int64)
    n, codes, far = int(totals.sum()), constraint.codes.astype(np.int64), np.square(z).sum(axis=1)
    if isinstance(criterion, Distinct):
        return [Rule(codes, totals, n, DIVERSE, criterion.l, 1, far)]
    if not isinstance(criterion, Equal):
        return []
    shares = [margin * criterion.t for margin in MARGINS]
    if max(share.denominator for share in shares) * 2 * n * n >= 2**63:
        return []
    return [Rule(codes, totals, n, CLOSE, share.numerator, share.denominator, far) for share in shares]
