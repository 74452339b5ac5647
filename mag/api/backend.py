"""Which backend does the work, and how it is called."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from mag._lib.arrays import resident
from mag._lib.checks import one_of
from mag._lib.interrupt import interruptible
from mag.backends import BACKENDS, automatic, cpu
from mag.backends.problem import Problem
from mag.costs import Cost

LONG, SLOW = 2**18, 2**12  # values that take solvers with lanes, and others, some ten milliseconds


WITHHELD = "A group of fewer than k={k} records was found and withheld; please report this."


def backend_of(backend: str) -> ModuleType:
    """The backend that was named, if it can be used here."""
    auto = isinstance(backend, str) and backend == "auto"
    engine = BACKENDS[automatic() if auto else one_of("backend", backend, ["auto", *BACKENDS])]
    if (reason := engine.status()) is not None:
        raise ValueError(f"backend must be one that mag.backends() finds usable; got {backend!r}. {reason}")
    return engine


def resident_input(x: Any, backend: str, solver: str, *costs: Any) -> tuple[Any, Any] | None:
    """Data on a device and their way home, where the whole work can be done there; None where the host is needed."""
    fast = solver in ("auto", "block") and not any(isinstance(cost, Cost) and not cost.built_in for cost in costs)
    arrived = resident(x) if fast and backend != "cpu" else None
    return arrived if arrived is not None and automatic(on_device=True) == "cuda" else None


def runner_for(engine: ModuleType, n: int, problems: list[Problem]) -> Callable[..., Any]:
    """How to call what groups n values: so that Ctrl-C can end it, unless it is over before anybody could wait."""
    lanes = all(solver.lanes for problem in problems for solver in problem.solvers.values())
    long = engine is cpu and n >= (LONG if lanes else SLOW)  # a device belongs to the thread that chose it
    return interruptible if long else lambda function, *args: function(*args)
