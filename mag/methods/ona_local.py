"""ONA* and annealing whose time grows like n log n: groups exchange records with near groups only.

A table is divided into parts of some hundred groups, which are improved by themselves, parts side by side on all
threads.  Every round divides the groups by their centroids along other directions, so that groups at a border of one
round lie inside a part of another one: groups may straddle every cut.  The first rounds take the steps of ONA*, which
dissolve groups; when few records move, annealing at low heat gains more in the same time.  It needs the near records of
all records: for tables where that takes more than some 10 s, more rounds of ONA* are the end.
"""

import numpy as np

from mag._backends import cpu
from mag._backends.protocol import Backend
from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag._lib.threads import each_in_time
from mag.methods._best_of import sum_of_squares
from mag.methods._split import split_large
from mag.methods.anneal.falling import fall
from mag.methods.anneal.recombine import numbered
from mag.methods.distances.hierarchies import CategoryColumns, select
from mag.methods.distances.metric import metric_of
from mag.methods.mdav import mdav_plus
from mag.methods.mdav.centroids import CENTROID
from mag.methods.mdav.run import run_steps
from mag.methods.mdav.star import star
from mag.methods.mondrian.halving import RULE_VARIANCE, parts_of
from mag.methods.mondrian.regions import divide_groups, rotation
from mag.methods.mondrian.trades import trade
from mag.methods.ona.phases import polish_part, rounds_at

RECORDS_PER_START = 1 << 13  # largest number of records that MDAV* groups at once
RECORDS_PER_ONA_PART, GROUPS_PER_PART = 4096, 512  # of a round of ONA*, at least
SPARSE_RECORDS = 1024  # largest number of records of any part whose categories have no places
PHASES_PER_ROUND = 2  # of ONA*: another division gains more than a third phase
MAX_ONA_ROUNDS = 24  # of ONA*
# Least gain, of the cost, in a round that another follows: before annealing, without it, and of trees.
ONA_GAIN, LAST_ONA_GAIN, ONA_GAIN_OF_TREES = 0.07, 0.02, 0.005
STEPS_PER_RECORD = 300.0  # of annealing
MAX_ANNEALING_WORK, FIXED_COLUMNS = 1 << 22, 6  # n·(d + FIXED_COLUMNS) of tables that are annealed in some 10 s
ONA_BEGINS = 0.5  # of the progress before annealing
ANNEALING_BEGINS, TRADES_BEGIN = 0.3, 0.5  # of the progress
SLOWER = 0.7  # share of the remaining work that is left after a round: a guess for the progress bar
START_SEED, DIRECTIONS_SEED, MOVES_SEED = 0, 1, 2  # chance is the same for every table


def group(
    X: np.ndarray,
    k: int,
    *,
    engine: Backend = cpu,
    trees: CategoryColumns | None = None,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """The groups of MDAV*, improved in parts until rounds gain little.

    Annealing measures distances by coordinates, which trees have too many of; records measured by range trade instead.
    """
    if trees is not None:
        rounds = progress.span(0.0, TRADES_BEGIN)
        labels = _improve(X, k, engine, trees, ONA_GAIN_OF_TREES, threads, rounds)
        return trade(X, k, labels, trees, threads, progress.span(TRADES_BEGIN, 1.0)) if trees.by_range else labels
    if len(X) * (X.shape[1] + FIXED_COLUMNS) > MAX_ANNEALING_WORK:
        return _improve(X, k, engine, None, LAST_ONA_GAIN, threads, progress)
    labels = before_annealing(X, k, engine=engine, threads=threads, progress=progress.span(0.0, ANNEALING_BEGINS))
    chance = np.random.default_rng(MOVES_SEED)
    return fall(X, k, labels, STEPS_PER_RECORD, chance, threads, progress.span(ANNEALING_BEGINS, 1.0))[0]


def before_annealing(X: np.ndarray, k: int, *, engine: Backend = cpu, threads: int, progress: Progress) -> np.ndarray:
    """The groups after those rounds of ONA* that gain more than annealing, of k to 2k-1 records."""
    return _improve(X, k, engine, None, ONA_GAIN, threads, progress)


def _improve(
    X: np.ndarray,
    k: int,
    engine: Backend,
    trees: CategoryColumns | None,
    least: float,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """The groups of MDAV* after rounds of ONA*, until one gains little."""
    labels = _start(X, k, engine, trees, threads, progress.span(0.0, ONA_BEGINS))
    labels = split_large(X, k, labels, mdav_plus, threads, progress)
    return _run_ona(X, k, labels, trees, least, threads, progress.span(ONA_BEGINS, 1.0))


def _start(
    X: np.ndarray, k: int, engine: Backend, trees: CategoryColumns | None, threads: int, progress: Progress
) -> np.ndarray:
    """The groups of MDAV* in halves of halves of a large table; labels 0, 1, …

    Halves are cut in oblique directions: cuts along the columns would leave gaps in their distributions.
    """
    limit = max(SPARSE_RECORDS if trees is not None and trees.is_sparse else RECORDS_PER_START, 2 * k)
    oblique = len(X) > limit
    turned = np.einsum("ij,jk->ik", X, rotation(X.shape[1], np.random.default_rng(START_SEED))) if oblique else X
    order, starts = parts_of(turned, k, limit, RULE_VARIANCE, threads, progress.span(0.0, 0.0))
    labels, used = np.empty(len(X), np.int64), 0
    for p, members in enumerate(np.split(order, starts[1:])):
        members.sort()
        points, own = (X[members], None) if trees is None else trees.select(members).expand(X[members])
        part = progress.span(p / starts.size, (p + 1) / starts.size)
        found = run_steps(
            star, points, k, CENTROID, 1.0, False, engine=engine, trees=own, threads=threads, progress=part
        )
        labels[members] = used + found
        used += int(found.max()) + 1
    return labels


def _run_ona(
    X: np.ndarray,
    k: int,
    labels: np.ndarray,
    trees: CategoryColumns | None,
    least: float,
    threads: int,
    progress: Progress,
) -> np.ndarray:
    """Rounds of ONA* until one gains little; when the time is up, the remaining parts stay as they are."""
    sparse = trees if trees is not None and trees.is_sparse else None
    records = X if trees is None or sparse else trees.records(X)
    many, least_groups = (SPARSE_RECORDS, 1) if sparse else (RECORDS_PER_ONA_PART, GROUPS_PER_PART)
    random, cost = np.random.default_rng(DIRECTIONS_SEED), sum_of_squares(X, labels)

    def polish(members: np.ndarray) -> np.ndarray:
        own = numbered(labels[members])
        if own.max() > 0:
            some = sparse.expanded_records(X, members) if sparse else select(records, members)
            polish_part(work_for(rounds_at, metric_of(some), k), some, k, PHASES_PER_ROUND, own)
        return numbered(own)

    for turn in range(MAX_ONA_ROUNDS):
        if progress.step(1.0 - SLOWER**turn):
            break
        directions = rotation(X.shape[1], random)
        parts = divide_groups(X, labels, directions, many, least_groups, threads, progress.silent())
        polished = each_in_time(polish, parts, threads, lambda: progress.seconds_left() <= 0)
        polished += [numbered(labels[members]) for members in parts[len(polished) :]]
        used = 0
        for members, own in zip(parts, polished, strict=True):
            labels[members] = used + own
            used += int(own.max()) + 1
        before, cost = cost, sum_of_squares(X, labels)
        if before - cost <= least * before:
            break
    return labels
