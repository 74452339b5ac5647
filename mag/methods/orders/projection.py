"""Records on a line: each direction makes numbers of them, whose optimal groups are scored by all columns.

Stamm & Schaub 2024, section 5.2.  Hundreds of directions are one batch of columns for the exact solver.
"""

from typing import Any

import numpy as np

from mag._backends import cpu
from mag._backends.problem import Problem
from mag._backends.protocol import DeviceBackend, Projections
from mag._lib.checks import flag, integer, one_of
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.progress import Progress
from mag.costs import COSTS
from mag.methods.orders.consecutive import IntegerColumns, best_in_orders
from mag.methods.orders.lines import HostProjections
from mag.solvers import SOLVERS
from mag.solvers import automatic as automatic_solvers

DIRECTIONS = ("gaussian", "pca", "uniform")
DEFAULT_DIRECTIONS = 500  # random directions, unless asked otherwise
AROUND = 64  # directions that a round of refinement tries
RADIUS_GROWTH, RADIUS_DECAY = (
    1.5,
    0.6,
)  # how its radius grows when it finds something better, and shrinks when it does not


def check(
    k: int,
    *,
    directions: Any = "uniform",
    n_projections: int | None = None,
    ordered: bool = True,
    refine: int = 0,
    return_scores: bool = False,
) -> tuple[int, int]:
    """Refuse what the options cannot be; an array of directions is for records, which are not here.

    The number of random directions, and of rounds around the best.
    """
    count = 0
    if isinstance(directions, str) and one_of("directions", directions, DIRECTIONS) != "pca":
        count = integer(
            "n_projections", DEFAULT_DIRECTIONS if n_projections is None else n_projections, 1, 10**9, "most"
        )
    elif n_projections is not None:
        used = "directions 'pca'" if isinstance(directions, str) else "an array of directions"
        raise InputTypeError(f"n_projections is not used by {used}; leave it out.")
    rounds = integer("refine", refine, 0, 10**9, "most")
    flag("ordered", ordered)
    flag("return_scores", return_scores)
    return count, rounds


def group(
    X: Any,
    k: int,
    *,
    directions: Any = "uniform",
    n_projections: int | None = None,
    ordered: bool = True,
    refine: int = 0,
    return_scores: bool = False,
    engine: Any,
    integers: IntegerColumns | None,
    random_state: np.random.Generator,
    threads: int,
    progress: Progress,
) -> np.ndarray | tuple[np.ndarray, dict[str, Any]]:
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
        raise InputValueError("ordered must be True with integer=True; got False.")
    lines = projections_for(X, k, engine, threads)
    search = Search(lines, progress.span(0.0, 0.5 if rounds else 1.0))
    search.score_directions(_directions(lines, X.shape, directions, count, random_state))
    _refine(search, rounds, random_state, progress.span(0.5, 1.0))
    if not ordered:
        labels = lines.labels()
    elif integers is None:
        labels = lines.labels_in_orders(np.stack(search.holders))
    else:
        labels = best_in_orders(X, HostProjections(X, lines.problem, threads).orders(search.holders), k, integers)
    if not return_scores:
        return labels
    scores = np.concatenate(search.scores) / (lines.total or 1.0)
    return labels, {"scores": scores, "directions": np.concatenate(search.directions)[: scores.size].T}


def projections_for(X: Any, k: int, engine: Any, threads: int) -> Projections:
    """The records where they are projected: on the device of the engine, or here."""
    n, d = X.shape
    if engine is not cpu and fits(engine, n, d, k):
        return engine.lines(X, _on_line(k))
    return HostProjections(X, _on_line(k), threads)


def _on_line(k: int) -> Problem:
    """What is solved on a line."""
    cost = COSTS["sse"]
    solvers = {name: SOLVERS[name] for name in automatic_solvers(cost, k, bounded=True, weighted=False)}
    return Problem(cost, solvers, k, k)


def fits(engine: DeviceBackend, n: int, d: int, k: int) -> bool:
    """Whether an engine with a device can do it all there."""
    return engine.supports_lines(n, d, _on_line(k))


def principal(lines: Projections, n: int, d: int) -> np.ndarray:
    """The direction along which the records vary most; its largest entry is positive."""
    direction = np.linalg.eigh(lines.products())[1][:, -1]
    direction = direction if d <= n else lines.combined(direction)
    return direction * np.sign(direction[np.argmax(np.abs(direction))])


def _directions(
    lines: Projections, shape: tuple[int, int], directions: Any, count: int, random_state: np.random.Generator
) -> np.ndarray:
    """One direction per row."""
    n, d = shape
    if not isinstance(directions, str):
        given = np.asarray(directions)
        if given.dtype.kind not in "iuf" or given.ndim != 2 or given.shape[0] != d or given.shape[1] == 0:
            raise InputValueError(
                f"directions must be an array of numbers of shape (d={d}, m); got shape {given.shape}."
            )
        if not np.isfinite(given).all():
            raise InputValueError("directions must be finite; got NaN or infinity.")
        rows = given.T.astype(np.float64)
        return np.ascontiguousarray(rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300))
    first = principal(lines, n, d)[None, :]
    if directions == "pca":
        return first
    draw = random_state.random if directions == "uniform" else random_state.standard_normal
    return np.concatenate([first, draw((count, d))])


def _refine(search: "Search", rounds: int, random_state: np.random.Generator, progress: Progress) -> None:
    """Directions around the best one, in a radius that follows success."""
    radius = 0.3
    for step in range(rounds):
        if progress.step(step / rounds):
            return
        center, least = search.holders[-1], search.least
        scale = np.sqrt(np.square(center).mean())
        search.score_directions(center + radius * scale * random_state.standard_normal((AROUND, center.size)))
        radius = min(radius * RADIUS_GROWTH, 1.0) if search.least < least else max(radius * RADIUS_DECAY, 1e-6)


class Search:
    """Directions looked at so far, what they lose, and those that were better than all before them."""

    def __init__(self, lines: Projections, progress: Progress) -> None:
        self.lines, self.progress, self.least = lines, progress, np.inf
        self.holders: list[np.ndarray] = []
        self.scores: list[np.ndarray] = []
        self.directions: list[np.ndarray] = []

    def score_directions(self, directions: np.ndarray) -> None:
        """Score directions, one per row, until time runs out."""
        width = self.lines.width
        self.directions.append(directions)
        for first in range(0, len(directions), width):
            if first and self.progress.step(first / len(directions)):
                return
            scores = self.lines.score(directions[first : first + width])
            self.scores.append(scores)
            best = None
            for row, score in enumerate(scores):
                if score < self.least:
                    self.least, best = score, row
                    self.holders.append(directions[first + row])
            if best is not None:
                self.lines.keep(best)
