"""`python -m benchmarks.threads`: one long column on several threads, measured and counted.

Measured: wall time on one and on two threads, in turns.  Counted, for any number of threads: every task of a call runs
by itself and its processor time is taken; `work` is what all tasks take, `chain` what they take where each thread takes
the next task as soon as it is free, and nothing disturbs it.  A machine that others use, or memory that is slower than
its processors, shows in the measured times alone.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import mag
from benchmarks._measure import machine, save, show
from mag._backends import cpu
from mag._backends.cpu import stretches
from mag._compiled import sort
from mag._lib import threads as dealer

SIZES = (10, 100, 1000)
COUNTED = (1, 2, 4, 8, 16, 32)
TURNS = 7


class Count:
    """Seconds that tasks took beyond the busiest thread, if all requested threads had run."""

    def __init__(self) -> None:
        self.saved = 0.0

    def each(self, function: Callable[[Any], Any], tasks: Iterable[Any], threads: int) -> list[Any]:
        """As `mag._lib.threads.each`, one task after the other; tasks may call this, too."""
        busy, results, work = [0.0] * max(threads, 1), [], 0.0
        for task in list(tasks):
            saved, began = self.saved, time.thread_time()
            results.append(function(task))
            took = time.thread_time() - began
            inner, self.saved = self.saved - saved, saved
            work += took
            busy[busy.index(min(busy))] += took - inner
        self.saved += work - max(busy)
        return results


@contextmanager
def counting() -> Iterator[Count]:
    """Within, tasks run one after the other and are timed."""
    count, modules = Count(), (dealer, cpu, stretches, sort)
    originals = [module.each for module in modules]
    try:
        for module in modules:
            module.each = count.each
        yield count
    finally:
        for module, each in zip(modules, originals, strict=True):
            module.each = each


def counted(call: Callable[[int], object], threads: int, turns: int) -> tuple[float, float]:
    """Least seconds of work and of the chain."""
    work = chain = float("inf")
    call(threads)
    with counting() as count:
        for _ in range(turns):
            count.saved, began = 0.0, time.process_time()
            call(threads)
            took = time.process_time() - began
            work, chain = min(work, took), min(chain, took - count.saved)
    return work, chain


def in_turns(call: Callable[[int], object], turns: int) -> list[float]:
    """Least wall seconds on one and on two threads."""
    least = [float("inf")] * 2
    for _ in range(turns):
        for i in range(2):
            began = time.perf_counter()
            call(i + 1)
            least[i] = min(least[i], time.perf_counter() - began)
    return least


def rows(n: int, turns: int) -> tuple[list[dict], list[dict]]:
    """Measured and counted."""
    x = np.random.default_rng(5).random(n)
    measured, chains = [], []
    for name, values, options in (("sorted", np.sort(x), {"assume_sorted": True}), ("unsorted", x, {})):
        for k in SIZES:

            def call(threads: int, values: np.ndarray = values, k: int = k, options: dict = options) -> object:
                return mag.univariate(values, k, threads=threads, **options)

            call(2)
            one, two = in_turns(call, turns)
            measured.append({"": name, "k": k, "one thread, ns/value": one / n * 1e9, "one / two threads": one / two})
            seconds = {threads: counted(call, threads, turns) for threads in COUNTED}
            row: dict = {"": name, "k": k}
            for threads, (work, chain) in seconds.items():
                row |= {f"work, {threads}": work / n * 1e9, f"gain, {threads}": seconds[1][1] / chain}
            chains.append(row)
    return measured, chains


def main() -> None:
    """Print both tables and save them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10_000_000, help="values (default: 10 000 000)")
    parser.add_argument("--turns", type=int, default=TURNS, help=f"of each call (default: {TURNS})")
    options = parser.parse_args()
    print(machine())
    measured, chains = rows(options.n, options.turns)
    show(f"{options.n} values, wall time", measured)
    show("Counted: work in ns/value, and by how much the chain is shorter than on one thread, by threads", chains)
    save("threads", [{"measured": measured, "counted": chains}])


if __name__ == "__main__":
    main()
