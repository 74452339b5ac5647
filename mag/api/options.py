"""Options that several functions share, converted from the caller's form to that of the library."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mag._backends.problem import Problem
from mag._lib.arrays import read
from mag._lib.checks import describe, integer, one_of, penalty, weights_for
from mag._lib.errors import InputTypeError, InputValueError
from mag.costs import COSTS, Cost
from mag.solvers import SOLVERS, Solver
from mag.solvers import automatic as automatic_solvers


def cost_of(option: str, cost: Any) -> Cost:
    """The cost that was named, or that the caller wrote."""
    return cost if isinstance(cost, Cost) else COSTS[one_of(option, cost, COSTS)]


def numbers_of(option: str, values: np.ndarray, cost: Cost) -> np.ndarray:
    """Numbers as backends take them, for this cost: reals up to float64, or integers."""
    if cost.integer and values.dtype.kind == "f":
        raise InputTypeError(
            f"cost {cost.name!r} needs integers; got {values.dtype.name}, round {option} to integers first."
        )
    if values.dtype.kind == "b":
        return values.view(np.uint8)
    return values.astype(np.float64, copy=False) if values.ndim == 1 and values.dtype.kind == "f" else values


def solvers_of(solver: str, cost: Cost, k: int, bounded: bool, weighted: bool) -> dict[str, Solver]:
    """The solvers that may solve the problem: the one that was named, or those of "auto"."""
    if isinstance(solver, str) and solver == "auto":
        names = automatic_solvers(cost, k, bounded=bounded, weighted=weighted)
        return {name: SOLVERS[name] for name in names}
    one_of("solver", solver, ["auto", *SOLVERS])
    valid = [name for name, s in SOLVERS.items() if s.valid(cost, bounded=bounded, weighted=weighted)]
    if solver not in valid:
        if not (cost.concave and cost.splitting):
            why = f"cost {cost.name!r}"
        elif not bounded:
            why = "group_penalty, max_groups or soft"
        else:
            why = f"cost {cost.name!r} and weights" if weighted else f"cost {cost.name!r}"
        listed = ", ".join(repr(name) for name in ["auto", *valid])
        raise InputValueError(f"solver must be one of {listed} with {why}; got {describe(solver)}.")
    return {solver: SOLVERS[solver]}


def problem_of(
    cost: Cost,
    k: int,
    n: int,
    solver: str,
    weighted: bool,
    group_penalty: float | None,
    max_groups: int | None,
    soft: float | None,
) -> Problem:
    """The problem to solve for a column of n values."""
    fixed = 0.0 if group_penalty is None else penalty("group_penalty", group_penalty, cost.integer)
    short = 0.0 if soft is None else penalty("soft", soft, cost.integer)
    if max_groups is not None:
        max_groups = integer("max_groups", max_groups, 1, n, "n")
        if not cost.concave:
            raise InputValueError(f"max_groups needs a concave cost; got cost {cost.name!r}, which is not concave.")
    bounded = cost.splitting and group_penalty is None and max_groups is None and soft is None
    solvers = solvers_of(solver, cost, k, bounded, weighted)
    return Problem(cost, solvers, k, 1 if soft is not None else k, fixed, short, max_groups)


def weights_of(weights: Any, costs: Iterable[Cost], n: int) -> np.ndarray | None:
    """A weight per record, for costs that use them."""
    if weights is None:
        return None
    for cost in costs:
        if not cost.takes_weights:
            raise InputValueError(f"weights are used by the costs 'sae' and 'sse' only; got cost {cost.name!r}.")
    return weights_for(read("weights", weights)[0], n).astype(np.float64)


def generator_of(random_state: Any) -> np.random.Generator:
    """A random generator; None is seed 0."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng(0)
    return np.random.default_rng(integer("random_state", random_state, 0, 2**64 - 1, "2**64-1"))


def progress_of(progress: Any) -> Any:
    """How progress is reported: True, False or a function."""
    if progress is None or isinstance(progress, bool) or callable(progress):
        return progress
    raise InputTypeError(f"progress must be True, False or a function; got {describe(progress)}.")
