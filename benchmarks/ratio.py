"""`python -m benchmarks.ratio --old PATH`: how long calls of this tree take, as a ratio to those of another one.

The calls are those of `benchmarks.univariate`, `.batch`, `.families` and `.tables`, on one thread.  Each tree has a
process of its own, which stays; both get the same call and take short turns, A B B A, so that other work on the
machine slows both down.  The verdict is by processor time, least of all turns; cases that differ by more than 5 % take
four times as many turns.
"""

import argparse
import fnmatch
import os
import pathlib
import pickle
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks import batch, families, tables, univariate
from benchmarks._measure import show
from mag.solvers import SOLVERS

HERE = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 1.05
CALL = 2e-3  # seconds that are worth looking at the clock: shorter calls are measured several in a row
TURN = 0.03  # seconds of a turn, or one call
Case = tuple[str, tuple, dict, str]  # a public function, its arguments, and the attribute to read


# ---- the calls


def small_calls() -> Iterator[tuple[str, Callable[[], Case]]]:
    """Of `benchmarks.univariate`: overhead."""
    for n in univariate.SMALL:
        for look in ("labels", "masked", "cost"):
            yield f"univariate/small/{n}/{look}", lambda n=n, look=look: one(univariate.data("uniform", n), 5, look)
    weights = univariate.data("lognormal", 1000)
    for look in ("labels", "masked"):
        yield (
            f"univariate/small/1000/weighted/{look}",
            lambda look=look: one(univariate.data("uniform", 1000), 5, look, weights=weights),
        )


def long_columns() -> Iterator[tuple[str, Callable[[], Case]]]:
    """Of `benchmarks.univariate`: k, solvers, costs, shapes."""
    n = 100_000
    for k in univariate.SIZES:
        yield f"univariate/million/k={k}", lambda k=k: one(univariate.data("uniform", 10**6), k)
    for k in univariate.SIZES[:-1]:
        yield f"univariate/sorted/k={k}", lambda k=k: one(np.sort(univariate.data("uniform", n)), k, assume_sorted=True)
    for solver in SOLVERS:
        if solver != "quadratic":
            yield (
                f"univariate/solver/{solver}",
                lambda solver=solver: one(univariate.data("lognormal", n), 20, solver=solver),
            )
    for name in univariate.priced(1):
        for k in (5, 100):
            for look in ("labels", "masked") if k == 5 else ("labels",):

                def make(name: str = name, k: int = k, look: str = look) -> Case:
                    column, options = univariate.priced(n)[name]
                    return one(column, k, look, **options)

                yield f"univariate/cost/{name}/k={k}/{look}", make
    for shape in univariate.shaped(1):
        yield (
            f"univariate/shape/{shape}",
            lambda shape=shape: one(univariate.shaped(n)[shape], 10, assume_sorted=True),
        )


def one(x: np.ndarray, k: int, look: str = "labels", **options: Any) -> Case:
    """A call of `mag.univariate`."""
    return "univariate", (x, k), {"threads": 1, **options}, look


def whole_tables() -> Iterator[tuple[str, Callable[[], Case]]]:
    """Of `benchmarks.batch`."""
    for n, m in batch.SHAPES:
        for k in batch.SIZES:

            def make(n: int = n, m: int = m // 8, k: int = k, look: str = "labels") -> Case:
                return "columns", (np.random.default_rng(0).normal(size=(n, m)), k), {"threads": 1}, look

            yield f"batch/{n}×{m // 8}/k={k}", make
        yield f"batch/{n}×{m // 8}/masked", lambda make=make: make(look="masked")


def methods() -> Iterator[tuple[str, Callable[[], Case]]]:
    """Of `benchmarks.families`, and the orders of records."""
    for method in (*families.TARGETS, *families.OTHERS, "zscore", "projection"):
        for n, d in ((300, 8), (5000, 24)):

            def make(method: str = method, n: int = n, d: int = d) -> Case:
                X = np.random.default_rng(0).normal(size=(n, d))
                return "multivariate", (X, families.K), {"method": method, "threads": 1}, "labels"

            yield f"families/{method}/{n}×{d}", make


def people() -> Iterator[tuple[str, Callable[[], Case]]]:
    """Of `benchmarks.tables`."""
    n = 20_000
    names = [f"c{j}" for j in range(tables.COLUMNS)]

    def make(library: str, names: list[str], **options: Any) -> Case:
        rng = np.random.default_rng(0)
        columns = {name: rng.normal(size=n) for name in names}
        if "by" in options:
            columns["by"] = rng.permutation(np.arange(n) // tables.STRATUM)
        table = tables.LIBRARIES[library](columns)
        return "microaggregate", (table, tables.K, names), {"threads": 1, **options}, "data"

    ways = {"joint": {"method": "mona"}, "per column": {"scope": "per-column"}}
    for library in tables.LIBRARIES:
        for way, options in ways.items():
            yield f"tables/{library}/{way}", lambda library=library, options=options: make(library, names, **options)
    for way, options in {"joint": {}, "per column": {"scope": "per-column"}}.items():
        yield f"tables/polars/strata, {way}", lambda options=options: make("polars", names[:3], by="by", **options)


def cases(only: str = "") -> dict[str, Callable[[], Case]]:
    """All cases by name, or those whose name holds the pattern."""
    every = dict(case for part in (small_calls, long_columns, whole_tables, methods, people) for case in part())
    return {name: make for name, make in every.items() if fnmatch.fnmatchcase(name, f"*{only}*")}


# ---- the two trees


class Tree:
    """A process that imports `mag` from a tree."""

    def __init__(self, root: pathlib.Path) -> None:
        single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-P", HERE / "benchmarks" / "_worker.py"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root,
            env={**os.environ, **single, "PYTHONPATH": str(root), "MAG_QUIET": "1"},
        )  # fmt: skip
        found = pathlib.Path(self._answer())
        if not found.is_relative_to(root):
            self.close()
            raise RuntimeError(f"the process of {root} imported {found}")

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return pickle.load(self._process.stdout)

    def ask(self, what: Any) -> None:
        """Send, and do not wait."""
        assert self._process.stdin is not None
        pickle.dump(what, self._process.stdin)
        self._process.stdin.flush()

    def asked(self, what: Any) -> Any:
        """Send, and return the answer."""
        self.ask(what)
        return self._answer()

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def compare(new: Tree, old: Tree, case: Case, seconds: float) -> dict:
    """Measure a case in both trees: a row of the table."""
    first = {tree: tree.asked(case) for tree in (new, old)}
    longest = max(processor for _, [(processor, _)] in first.values())
    calls = max(1, round(CALL / max(longest, 1e-7)))
    rounds = max(3, round(seconds / 4 / max(TURN, longest)))
    taken: dict[Tree, list[tuple[float, float]]] = {new: [], old: []}

    def least(tree: Tree, clock: int) -> float:
        return min(sample[clock] for sample in taken[tree])

    def turns(rounds: int) -> None:
        for _ in range(rounds):
            for tree in (new, old, old, new):
                taken[tree] += tree.asked((calls, TURN))

    turns(rounds)
    if not 1 / LIMIT <= least(new, 0) / least(old, 0) <= LIMIT:
        turns(3 * rounds)
    for tree in (new, old):
        tree.ask(None)
    median = {tree: statistics.median(processor for processor, _ in taken[tree]) for tree in (new, old)}
    return {
        "old, µs": least(old, 0) * 1e6,
        "new, µs": least(new, 0) * 1e6,
        "ratio": least(new, 0) / least(old, 0),
        "of medians": median[new] / median[old],
        "of wall time": least(new, 1) / least(old, 1),
        "calls": calls * min(len(samples) for samples in taken.values()),
        "same": None if first[new][0] is None else "yes" if first[new][0] == first[old][0] else "no",
    }


def report(rows: list[dict]) -> int:
    """Print the table, the worst last, and the cases above the limit; 1 if there are any."""
    rows = sorted(rows, key=lambda row: row["ratio"])
    show("Processor time of a call, new / old", rows)
    above = [f"\n  {row['ratio']:.3f}  {row['case']}" for row in rows if row["ratio"] > LIMIT]
    print(f"\n{len(above)} of {len(rows)} above {LIMIT}" + "".join(above))
    return int(bool(above))


def main() -> int:
    """Measure the cases and print them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ratio", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--old", metavar="PATH", type=pathlib.Path, required=True, help="root of the other tree")
    parser.add_argument("--new", metavar="PATH", type=pathlib.Path, default=HERE, help="root of the tree (this one)")
    parser.add_argument("--only", metavar="PATTERN", default="", help="cases whose name holds this, with wildcards")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each case (1)")
    parser.add_argument("--list", action="store_true", help="print the names of the cases and end")
    options = parser.parse_args()
    chosen = cases(options.only)
    if options.list:
        print("\n".join(chosen))
        return 0
    new, old = Tree(options.new.resolve()), Tree(options.old.resolve())
    rows = []
    for name, make in chosen.items():
        rows.append({"case": name, **compare(new, old, make(), options.seconds)})
        print(f"{name}  {rows[-1]['ratio']:.3f}", flush=True, file=sys.stderr)
    new.close()
    old.close()
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
