"""Exchanges that look at the criterion: near groups swap records, pass them on, or join.

A group that fails lacks some records, or values, and each has a price, which doubles from round to round: at first
records are exchanged where that loses little, at last wherever a group fails; `merge` repairs groups that still fail.
The lack of two groups together never grows: groups that satisfy the criterion still do, and lose less.  Between rounds,
large groups are cut.  Every round divides the groups by their means along other directions into regions, in which any
two of them meet.
"""

from collections.abc import Sequence

import numpy as np

from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumns
from mag.methods.mondrian.trades import MAX_RECORDS, MAX_TRADING_ROUNDS, Trades
from mag.tables.criteria.enforce._constraint import Constraint
from mag.tables.criteria.enforce._loss import loss_of
from mag.tables.criteria.enforce.cut import columns_of, cut_further, rules_of
from mag.tables.criteria.enforce.merge import merge_groups

FIRST_PRICE, PRICED_ROUNDS = 0.2, 10  # of the mean loss of a group; rounds in which groups may fail
LEAST_EXCHANGED = 0.005  # of the loss, in a round that another follows
MAX_VALUES = 128  # of a sensitive column: a move looks at all of them


def can_exchange(z: np.ndarray, constraints: Sequence[Constraint]) -> bool:
    """Whether there is one constraint, with a rule, on few values."""
    return len(constraints) == 1 and constraints[0].totals.size <= MAX_VALUES and bool(rules_of(constraints[0], z))


def exchange_groups(
    z: np.ndarray,
    k: int,
    labels: np.ndarray,
    trees: CategoryColumns | None,
    constraint: Constraint,
    progress: Progress,
    threads: int = 1,
) -> np.ndarray:
    """Labels 0, 1, … of groups of at least k records that satisfy the constraint, unless the time is up."""
    rule = rules_of(constraint, z)[-1]
    trades = Trades(z, k, columns_of(z, trees), progress, threads, squares=trees is None, rule=rule)
    loss = loss_of(z, labels, trees)
    price = FIRST_PRICE * loss / (1 + int(labels.max()))
    for _ in range(PRICED_ROUNDS):
        if constraint.judge_groups(labels)[0].all() or progress.step(0.0):
            break
        labels = trades.run(labels, price)
        price *= 2.0
    if progress.stopped:
        return labels
    labels = merge_groups(z, labels, [constraint], progress)
    loss = loss_of(z, labels, trees)
    for _ in range(min(max(MAX_RECORDS // len(z), 1), MAX_TRADING_ROUNDS)):
        if progress.step(0.0):
            break
        labels = cut_further(z, k, labels, trees, constraint, progress)
        labels = trades.run(labels)
        before, loss = loss, loss_of(z, labels, trees)
        if before - loss <= LEAST_EXCHANGED * before:
            break
    return labels
