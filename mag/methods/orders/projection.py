# mypy: ignore-errors
"""Records on a line: each direction makes numbers of them, whose optimal groups are scored by all columns.

Stamm & Schaub 2024, section 5.2.  Hundreds of directions are one batch of columns for the exact solver.
"""

import numpy as np

from mag._backends import cpu
from mag._backends.problem import Problem
from mag._compiled.jit import jit
from mag._compiled.lanes import lanes_at
from mag._compiled.memory import grid
from mag._lib.checks import flag, integer, one_of
from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.threads import each
from mag._lib.workspace import borrow
from mag.costs import COSTS
from mag.methods.orders.consecutive import LANES, best_in_orders
from mag.solvers import SOLVERS
from mag.solvers import automatic as automatic_solvers

DIRECTIONS = ("gaussian", "pca", "uniform")
MOST = 500  # random directions, unless asked otherwise
BLOCK = 2**16  # numbers that are projected at once, by one thread
AROUND = 64  # directions that a round of refinement tries
WIDE, NARROW = 1.5, 0.6  # how its radius grows when it finds something better, and shrinks when it does not


def check(k, *, directions="uniform", n_projections=None, ordered=True, refine=0, return_scores=False):
    """Refuse what the options cannot be; an array of directions is for records, which are not here.

    The number of random directions, and of rounds around the best.
    """
    count = 0
    if isinstance(directions, str) and one_of("directions", directions, DIRECTIONS) != "pca":
        count = integer("n_projections", MOST if n_projections is None else n_projections, 1, 10**9, "most")
    elif n_projections is not None:
        used = "directions 'pca'" if isinstance(directions, str) else "an array of directions"
        raise TypeMistake(f"n_projections is not used by {used}; leave it out.")
    rounds = integer("refine", refine, 0, 10**9, "most")
    flag("ordered", ordered)
    flag("return_scores", return_scores)
    return count, rounds


def group(
    X,
    k,
    *,
    directions="uniform",
    n_projections=None,
    ordered=True,
    refine=0,
    return_scores=False,
    engine,
    integers,
    random_state,
    threads,
    progress,
):
    """The groups of the best direction, or with `ordered` the best of consecutive records in its order.

    Candidates are the first principal component and then random directions, entries uniform in [0, 1] or Gaussian, so
    that the first of many are those of a run with fewer; or the columns of a given (d, m) array and nothing else.
    """
    count, rounds = check(
        k,
        directions=directions,
        n_projections=n_projections,
        ordered=ordered,
        refine=refine,
        return_scores=return_scores,
    )
    if integers is not None and not ordered:
        raise ValueMistake("ordered must be True with integer=True; got False.")
    search = Search(X, k, engine, threads, progress.span(0.0, 0.5 if rounds else 1.0))
    search.look(_directions(X, directions, count, random_state))
    _refine(search, rounds, random_state, progress.span(0.5, 1.0))
    if ordered:
        orders = (np.argsort(project(search.XT, u), kind="stable") for u in search.holders)
        labels = best_in_orders(X, orders, k, integers)
    else:
        labels = search.labels()
    if not return_scores:
        return labels
    scores = np.concatenate(search.scores) / (search.total or 1.0)
    return labels, {"scores": scores, "directions": np.concatenate(search.directions)[: scores.size].T}


def principal(X):
    """The direction along which the records vary most; its largest entry is positive."""
    n, d = X.shape
    direction = np.linalg.eigh(X.T @ X)[1][:, -1] if d <= n else np.linalg.eigh(X @ X.T)[1][:, -1] @ X
    return direction * np.sign(direction[np.argmax(np.abs(direction))])


def _directions(X, directions, count, random_state):
    """One direction per row."""
    d = X.shape[1]
    if not isinstance(directions, str):
        lines = np.asarray(directions)
        if lines.dtype.kind not in "iuf" or lines.ndim != 2 or lines.shape[0] != d or lines.shape[1] == 0:
            raise ValueMistake(f"directions must be an array of numbers of shape (d={d}, m); got shape {lines.shape}.")
        if not np.isfinite(lines).all():
            raise ValueMistake("directions must be finite; got NaN or infinity.")
        rows = lines.T.astype(np.float64)
        return np.ascontiguousarray(rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300))
    first = principal(X)[None, :]
    if directions == "pca":
        return first
    draw = random_state.random if directions == "uniform" else random_state.standard_normal
    return np.concatenate([first, draw((count, d))])


def _refine(search, rounds, random_state, progress):
    """Directions around the best one, in a radius that follows success."""
    radius = 0.3
    for step in range(rounds):
        if progress.step(step / rounds):
            return
        center, least = search.holders[-1], search.least
        scale = np.sqrt(np.square(center).mean())
        search.look(center + radius * scale * random_state.standard_normal((AROUND, center.size)))
        radius = min(radius * WIDE, 1.0) if search.least < least else max(radius * NARROW, 1e-6)


class Search:
    """Directions looked at so far, what they lose, and those that were better than all before them."""

    def __init__(self, X, k, engine, threads, progress):
        cost = COSTS["sse"]
        solvers = {name: SOLVERS[name] for name in automatic_solvers(cost, k, bounded=True, weighted=False)}
        self.problem, self.progress, self.threads = Problem(cost, solvers, k, k), progress, threads
        n, d = X.shape
        self.XT = np.ascontiguousarray(X.T)
        self.rows = np.zeros((n, -(-d // LANES) * LANES))
        self.rows[:, :d] = X
        self.total = float(np.square(X).sum())
        self.least, self.holders, self.scores, self.directions = np.inf, [], [], []
        on_device = engine is not cpu and engine.supports(n, self.problem)
        self.device = engine.lines(X, self.total, self.problem) if on_device else None

    def look(self, directions):
        """Score directions, one per row, until time runs out."""
        m, n = len(directions), len(self.rows)
        # a device takes one large batch after the other
        width = self.device.width if self.device else max(1, min(BLOCK // n, -(-m // self.threads)))
        blocks = [directions[i : i + width] for i in range(0, m, width)]
        wave = 1 if self.device else 4 * self.threads
        self.directions.append(directions)
        for i in range(0, len(blocks), wave):
            if i and self.progress.step(i / len(blocks)):
                return
            if self.device:
                scores = self.device.score(blocks[i])
            else:
                scores = np.concatenate(each(self._score, blocks[i : i + wave], self.threads))
            self.scores.append(scores)
            best = None
            for row, score in enumerate(scores):
                if score < self.least:
                    self.least, best = score, row
                    self.holders.append(directions[i * width + row])
            if self.device and best is not None:
                self.device.keep(best)

    def _group(self, directions):
        """Labels of the optimal groups on each line, and how many there are."""
        lines = borrow("lines", len(directions) * len(self.rows), np.float64).reshape(len(directions), -1)
        for line, direction in zip(lines, directions, strict=True):
            project(self.XT, direction, line)
        return cpu.group_columns(lines.T, [(self.problem, np.arange(len(directions)))], 1)[:2]

    def _score(self, directions):
        labels, n_groups = self._group(directions)
        most = int(n_groups.max())
        sums, sizes = borrow("sums", most * self.rows.shape[1], np.float64), borrow("counts", most, np.int32)
        scores = np.empty(len(directions))
        score(self.rows, self.total, labels, n_groups, sums, sizes, scores)
        return scores

    def labels(self):
        """Those of the best direction."""
        if self.device:
            return self.device.labels()
        return self._group(self.holders[-1][None, :])[0][0]


def project(XT, direction, line=None):
    """X @ direction, summed column by column: the same on every machine, and for any number of threads."""
    line = np.empty(XT.shape[1]) if line is None else line
    add_columns(XT, direction, line)
    return line


@jit
def add_columns(XT, direction, line):
    """line = Σ direction[c] · XT[c]."""
    for i in range(len(line)):
        line[i] = direction[0] * XT[0, i]
    for c in range(1, len(direction)):
        u = direction[c]
        for i in range(len(line)):
            line[i] += u * XT[c, i]


@jit
def score(X, total, labels, n_groups, sums, sizes, scores):
    """The sum of squares of each row of labels, Σ|x|² - Σ|sum of group|²/size: to about 1e-15 of Σ|x|², and fast."""
    n, d = X.shape
    rows, totals = grid(X, d), grid(sums, d)
    for j in range(len(scores)):
        sizes[: n_groups[j]] = 0
        sums[: n_groups[j] * d] = 0.0
        for i in range(n):
            g = np.int64(labels[j, i])
            sizes[g] += 1
            for c in range(0, d, LANES):
                here = lanes_at(c, LANES)
                totals[g, here] += rows[i, here]
        between = 0.0
        for g in range(n_groups[j]):
            squares = 0.0
            for c in range(d):
                squares += totals[g, c] * totals[g, c]
            between += squares / sizes[g]
        scores[j] = max(total - between, 0.0)
