"""Whether every call ends:  python -m benchmarks.termination [-n CASES] [--seed SEED] [--seconds SECONDS]

Small tables and columns whose values rounding decides about: nearly equal, denormal, tied, beside outliers of 1e±300,
over many decades, with columns that are constant or alike; every method, solver, bound and way to enforce a criterion,
with options drawn at random.  A case that takes more processor time than its limit ends the process that runs it, and
is a finding, as are errors other than refusals.  Prints how many cases of each kind there were, how many of them were
refused, and how to repeat those that were found: `--seed SEED -n 1`.
"""

import argparse
import collections
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

import mag
from benchmarks.fuzz import draw as draw_column
from mag.bounds import BOUNDS
from mag.methods import METHODS

LIMIT = 20.0  # seconds of the processor: a thousand times what a case takes
FIRST = 30  # times the limit for the first case of its kind, which compiles
SHARE = 20_000  # cases of a process, which compiles every kind once
SMALL, RARE = 60, 0.1  # records of most tables at most, and the share of tables of more
SLOW = ("matching", "tsp")  # methods that get small tables only
OPTIONS: dict[str, tuple[Any, ...]] = {
    "closest": ("centroid", "member", "cost"),
    "directions": ("gaussian", "pca", "uniform"),
    "exchanges": (1.0, None),
    "factor": (0.5, 1.0, 2.0),
    "gamma": (0.0, 0.2, 1.0, 1.5, "search"),
    "init": ("auto", "mdav", "zscore"),
    "iterations": (0.0, 20.0),
    "n_projections": (4,),
    "refine": (0, 2),
    "restarts": (1, 2),
    "rho": (0.3, 0.5, 1.0),
    "split": ("md", "mdav", "mdav_plus", None),
}


REFUSED = "refused"  # an answer that is no finding


class Case(NamedTuple):
    """A call, and under which name it is counted."""

    kind: str
    call: Callable[[], Any]


# ---- data


def _near_equal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.uniform(-1, 1, d) * (1 + rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-17, -12))


def _denormal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(-9, 9, (n, d)) * 5e-324 * float(rng.choice([1, 2**20, 2**50]))


def _tied(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(0, int(rng.integers(1, 6)), (n, d)) * float(rng.choice([1.0, 0.1, 1 / 3]))


def _integers(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.integers(-(2**53), 2**53, (n, d)).astype(np.float64)


def _decades(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return 10.0 ** rng.uniform(-float(rng.choice([3, 18, 100, 300])), 0, (n, d))


def _line(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return np.linspace(0, 1, n)[:, None] * rng.uniform(-1, 1, d)


def _normal(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    return rng.normal(size=(n, d))


DATA = (_near_equal, _denormal, _tied, _integers, _decades, _line, _normal)


def draw_records(rng: np.random.Generator, most: int) -> np.ndarray:
    """A table of hostile columns."""
    n, d = int(rng.integers(2, most)), int(rng.integers(1, 4))
    X = DATA[rng.integers(len(DATA))](rng, n, d)
    if rng.random() < 0.4:
        X[rng.integers(n, size=int(rng.integers(1, 4)))] = float(rng.choice([100.0, 1e-300, 1e300, -1e300, 1e150]))
    if rng.random() < 0.2:
        X[:, rng.integers(d)] = rng.normal()
    if rng.random() < 0.2:
        X = np.column_stack([X, X[:, rng.integers(d)]])
    if rng.random() < 0.3:
        X = X[rng.integers(n, size=n)]
    return X


def draw_rounded(rng: np.random.Generator) -> np.ndarray:
    """Records a few roundings apart, and an outlier: ONA* never ended on 5 of 100 such tables of 200 to 800 records."""
    n, d = int(rng.integers(100, 400)), int(rng.integers(2, 4))
    base = float(rng.uniform(0.05, 1))
    X = base + np.spacing(base) * np.round(rng.normal(size=(n, d)) * float(rng.choice([0.5, 1.0, 2.0, 4.0])))
    X[0] = 100.0
    return X


# ---- calls


def draw_method(rng: np.random.Generator) -> Case:
    """Records, grouped by any method with any options, sometimes with a lower bound."""
    name = str(rng.choice(["auto", *METHODS]))
    X, kind = draw_records(rng, SMALL), rng.random()
    k = int(rng.integers(1, max(len(X) // 2, 1) + 1)) if rng.random() < 0.3 else min(int(rng.integers(1, 7)), len(X))
    if kind < RARE and name not in SLOW:
        X, k = draw_rounded(rng), int(rng.integers(3, 6))
    options: dict[str, Any] = {"standardize": bool(rng.random() < 0.8), "threads": 1}
    if name != "auto":
        k = METHODS[name].k or k
        for option in METHODS[name].options:
            if option in OPTIONS and (option in ("iterations", "n_projections", "restarts") or rng.random() < 0.7):
                options[option] = _one_of(rng, OPTIONS[option])
    if options.get("directions") == "pca":
        del options["n_projections"]
    bound = str(rng.choice([*BOUNDS])) if len(X) < 40 and rng.random() < 0.1 else False
    return Case(name, lambda: mag.multivariate(X, k, method=name, bound=bound, **options))


def draw_solver(rng: np.random.Generator) -> Case:
    """A column, grouped by any solver with any options."""
    x, k, options = draw_column(rng)
    if options["cost"] != "sse_int" and rng.random() < 0.7:
        hostile = draw_records(rng, SMALL)[:, 0]
        options = {name: one for name, one in options.items() if name != "weights"}
        x, k = hostile, min(k, hostile.size)
    return Case(f"solver {options['solver']}", lambda: mag.univariate(x, k, **options))


def draw_table(rng: np.random.Generator) -> Case:
    """Records with a sensitive column, for which a criterion is enforced."""
    X = draw_records(rng, SMALL)
    way, values = str(rng.choice(["merge", "swap", "buckets"])), int(rng.integers(2, 6))
    table = {f"x{j}": x for j, x in enumerate(X.T)} | {"s": rng.integers(values, size=len(X))}
    columns = [name for name in table if name != "s"]
    criterion: dict[str, Any] = {"diversity": {"s": 2}}
    if rng.random() < 0.5:
        criterion = {"closeness": {"s": float(rng.uniform(0.1, 1))}}
    k = int(rng.integers(1, 6))
    if len(columns) > 1:
        criterion["method"] = "mdav"
    return Case(
        f"enforce {way}",
        lambda: mag.microaggregate(table, k, columns, enforce=way, **criterion),
    )


def _one_of(rng: np.random.Generator, choices: tuple[Any, ...]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def draw(seed: int) -> Case:
    """The case of a seed."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return _one_of(rng, (draw_method, draw_method, draw_method, draw_solver, draw_table))(rng)


# ---- processes


def work(seeds: range, limit: float, answers: Connection) -> None:
    """Run cases; the signal of the timer ends the process, whatever it does."""
    seen: set[str] = set()
    for seed in seeds:
        case = draw(seed)
        answers.send((seed, case.kind, "begins"))
        signal.setitimer(signal.ITIMER_PROF, limit if case.kind in seen else FIRST * limit)
        try:
            with np.errstate(all="ignore"):
                case.call()
            answer = ""
        except mag.InputError:
            answer = REFUSED
        except Exception as error:
            answer = repr(error)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        seen.add(case.kind)
        answers.send((seed, case.kind, answer))


def run(seeds: range, limit: float = LIMIT, until: float = np.inf) -> Iterator[tuple[int, str, str]]:
    """Of every case its seed, its kind, and what was found, "" or REFUSED if nothing was; fewer when the time is up."""
    start, context = seeds.start, multiprocessing.get_context("spawn")
    while start < seeds.stop and time.monotonic() < until:
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(range(start, min(start + SHARE, seeds.stop)), limit, theirs))
        process.start()
        theirs.close()
        begun: tuple[int, str] | None = None
        try:
            while time.monotonic() < until:
                seed, kind, answer = ours.recv()
                begun = (seed, kind) if answer == "begins" else None
                if begun is None:
                    yield seed, kind, answer
                start = seed + 1
        except EOFError:
            process.join()
            if begun is not None:
                found = f"no end within {limit:g} s" if process.exitcode == -signal.SIGPROF else "the process died"
                yield *begun, found
        finally:
            process.kill()
            process.join()


def main() -> None:
    """Print the counts, and the seeds of what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000, help="cases")
    parser.add_argument("--seed", type=int, default=1, help="of the first case; the next has the next one")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of the processor for a case")
    parser.add_argument("--seconds", type=float, default=np.inf, help="start no case after so many")
    given = parser.parse_args()
    cases: collections.Counter[str] = collections.Counter()
    refused: collections.Counter[str] = collections.Counter()
    findings: collections.Counter[str] = collections.Counter()
    until = time.monotonic() + given.seconds
    for seed, kind, answer in run(range(given.seed, given.seed + given.n), given.limit, until):
        cases[kind] += 1
        if answer == REFUSED:
            refused[kind] += 1
        elif answer:
            findings[kind] += 1
            print(f"seed {seed}: {kind}: {answer}", flush=True)
    for kind in sorted(cases):
        print(f"{kind:25} {cases[kind]:7} cases {refused[kind]:7} refused {findings[kind]:5} findings")
    print(f"{'all':25} {cases.total():7} cases {refused.total():7} refused {findings.total():5} findings")


if __name__ == "__main__":
    main()
