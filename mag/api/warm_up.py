"""Compile methods, or load them from the disk, before their time counts."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from mag._lib.interrupt import interruptible
from mag._lib.notice import working_on
from mag._lib.progress import Progress, bar_of, is_quiet
from mag.methods import METHODS, Method, Resources
from mag.methods.distances.hierarchies import CategoryColumn, CategoryColumns
from mag.methods.orders.consecutive import IntegerColumns

LEAST_SHARED_K = 12  # from this k on, all share the code of the solvers; those below have their own
SHORT_OPTIONS = {  # the same code
    "directions": "uniform",
    "exchanges": 1.0,
    "iterations": 1.0,
    "n_projections": 2,
    "restarts": 1,
}


def progress_for(
    names: list[str],
    k: int,
    options: dict[str, Any],
    integer: bool,
    report: bool | Callable[[float], Any] | None,
    time_limit: float | None,
    categories: bool = False,
) -> Progress:
    """The progress of methods with these options; its clock starts when nothing is left to be compiled."""
    report = bar_of(report)  # the bar shows that code is compiled
    if time_limit is not None:
        for name in names:
            warm_up_method(name, k, options, integer, is_quiet(report), categories)
    return Progress(report, time_limit)


def warm_up_method(
    name: str,
    k: int,
    options: Mapping[str, Any],
    integer: bool = False,
    quiet: bool = False,
    categories: bool = False,
) -> None:
    """Compile or load the code of a method with these options."""
    choices = {name: one for name, one in options.items() if isinstance(one, (bool, str)) and name not in SHORT_OPTIONS}
    with working_on(name, quiet):
        interruptible(_warm_up, name, min(k, LEAST_SHARED_K), integer, tuple(sorted(choices.items())), categories)


@cache
def _warm_up(
    name: str, k: int, integer: bool, choices: tuple[tuple[str, bool | str], ...], categories: bool = False
) -> None:
    """Run a method on made-up records: to its end, and without any time."""
    method = METHODS[name]
    for other in method.starts:
        _warm_up(other, k, False, ())
    if categories and method.accepts("trees"):
        _ready_trees(method, k)
    X = np.random.default_rng(0).integers(-99, 99, (16 * k, 3)).astype(np.float64)
    options = {name: one for name, one in SHORT_OPTIONS.items() if name in method.options} | dict(choices)
    integers = IntegerColumns(X, np.ones(3)) if integer else None
    for seconds in (None, 0.0):
        method.run(X, k, Resources(np.random.default_rng(0), Progress(None, seconds), integers=integers), options)


def _ready_trees(method: Method, k: int) -> None:
    """Run a method on generated records of a number and a category: six distinct ones, which no cut divides."""
    n = 16 * k
    places = np.eye(3) * np.sqrt(0.5)
    levels, loss = np.array([[0, 3], [1, 3], [2, 3]]), np.array([0.0, 0.0, 0.0, 1.0])
    column = CategoryColumn(np.arange(n) % 3, levels, loss, places, 1, 1.0)
    trees = CategoryColumns(np.zeros(1, np.int64), [column], np.ones(1), by_range=True)
    X = np.column_stack([np.arange(n) % 2 - 0.5, places[column.codes]])
    for seconds in (None, 0.0):
        method.run(X, k, Resources(np.random.default_rng(0), Progress(None, seconds), trees=trees))
