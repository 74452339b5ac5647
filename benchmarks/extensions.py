"""`python -m benchmarks.extensions`: weights, penalties, limits and wide integers, as multiples of np.argsort.

A million unsorted values up to their labels, on one thread.  Every figure is a ratio to np.argsort of the same values
by processor time, each the least of turns that alternate between the two.  Penalties are in units of what a group costs
without them.  `--stages` prints where the time goes instead: what is not sorting, gathering weights, scaling, solving,
checking for rounding, following the groups back, labeling or counting them is "rest", mostly checks of the arguments.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mag
import mag.api.univariate
from benchmarks._measure import machine, save, show
from mag._backends import cpu

SIZES = (5, 1000)
TURNS = 7
TARGETS = {
    "group_penalty, small": 2.0,
    "group_penalty, large": 2.0,
    "soft, low": 2.0,
    "soft, high": 2.0,
    "max_groups, 2/3": 20.0,
    "max_groups, 1/10": 20.0,
    "sse_int to 2⁴⁰": 2.0,
    "weighted sse": 0.9,
    "weighted sae": 2.0,
}


def calls(n: int, k: int) -> Iterator[tuple[str, np.ndarray, dict[str, Any]]]:
    """The name of a case, the values and the options of the call."""
    rng = np.random.default_rng(1)
    x, wide, weights = rng.random(n), rng.integers(0, 2**40, n), rng.random(n) + 0.5
    plain = mag.univariate(x, k, threads=1)
    share = plain.cost / plain.n_groups
    yield "no option", x, {}
    yield "group_penalty, small", x, {"group_penalty": share}
    yield "group_penalty, large", x, {"group_penalty": 1e4 * share}
    yield "soft, low", x, {"soft": 0.1 * share / k}
    yield "soft, high", x, {"soft": 10 * share / k}
    yield "max_groups, 2/3", x, {"max_groups": plain.n_groups * 2 // 3}
    yield "max_groups, 1/10", x, {"max_groups": max(plain.n_groups // 10, 1)}
    yield "sse_int to 2⁴⁰", wide, {"cost": "sse_int"}
    yield "weighted sse", x, {"weights": weights}
    yield "weighted sae", x, {"cost": "sae", "weights": weights}


def in_turns(*functions: Callable[[], object], turns: int = TURNS) -> list[float]:
    """The least processor time of each, in seconds."""
    least = [float("inf")] * len(functions)
    for _ in range(turns):
        for i, function in enumerate(functions):
            began = time.process_time()
            function()
            least[i] = min(least[i], time.process_time() - began)
    return least


def rows(n: int, turns: int) -> Iterator[dict]:
    """One row per case and k."""
    for k in SIZES:
        for name, x, options in calls(n, k):

            def call(x: np.ndarray = x, k: int = k, options: dict = options) -> mag.Grouping:
                return mag.univariate(x, k, threads=1, **options)

            sizes = call().sizes
            ours, theirs = in_turns(call, lambda x=x: np.argsort(x), turns=turns)
            yield {
                "k": k,
                "case": name,
                "mean size": float(sizes.mean()),
                "ns/value": ours / n * 1e9,
                "/ argsort": ours / theirs,
                "target": TARGETS.get(name),
            }


STAGES = {  # columns of the table, and the functions that are timed for them
    "sort": (cpu, ("sort",)),
    "gather": (cpu, ("padded",)),
    "scale": (cpu, ("scaled", "prepared")),
    "solve and follow back": (cpu, ("_optimum",)),
    "check": (cpu, ("even",)),
    "label": (cpu, ("label",)),
    "count": (sys.modules["mag.api.univariate"], ("at_least",)),
}


def stages(n: int, turns: int) -> Iterator[dict]:
    """One row per case and k: nanoseconds per value of each stage, of the fastest turn."""
    spent = dict.fromkeys(STAGES, 0)

    def timed(stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            began = time.process_time_ns()
            try:
                return function(*arguments, **options)
            finally:
                spent[stage] += time.process_time_ns() - began

        return run

    for stage, (module, names) in STAGES.items():
        for name in names:
            setattr(module, name, timed(stage, getattr(module, name)))
    for k in SIZES:
        for name, x, options in calls(n, k):
            if "max_groups" in options:  # many solves
                continue
            best: tuple[int, dict[str, int]] | None = None
            for _ in range(turns + 1):
                spent.update(dict.fromkeys(STAGES, 0))
                began = time.process_time_ns()
                mag.univariate(x, k, threads=1, **options)
                taken = time.process_time_ns() - began
                best = min(best or (taken, {}), (taken, dict(spent)), key=lambda turn: turn[0])
            assert best is not None
            total, parts = best
            row = {stage: nanoseconds / n for stage, nanoseconds in parts.items()}
            yield {"k": k, "case": name, **row, "rest": (total - sum(parts.values())) / n, "all": total / n}


def main() -> None:
    """Print the table and save it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=1_000_000, help="values (default: 1 000 000)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"of each call (default: {TURNS})")
    parser.add_argument("--stages", action="store_true", help="where the time goes")
    options = parser.parse_args()
    print(machine())
    if options.stages:
        show("Nanoseconds per value of each stage, one thread", list(stages(options.n, options.turns)))
        return
    table = list(rows(options.n, options.turns))
    show(f"Labels of {options.n} unsorted values, one thread", table)
    save("extensions", table)


if __name__ == "__main__":
    main()
