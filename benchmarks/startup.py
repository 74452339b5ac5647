"""`python -m benchmarks.startup [--old PATH]`: what the first calls of an environment take, and those of a new process.

Each case is a process of its own that starts with an empty folder for compiled code, and then once more with what the
first one left there.  Processor seconds of the whole process, with the import, least of `--repeats` runs; a shared
machine disturbs them less than wall time.  With `--old`, the same in another tree, in turn.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from benchmarks._measure import show

HERE = pathlib.Path(__file__).resolve().parents[1]
TABLE = "import numpy as np, mag; X = np.random.default_rng(0).normal(size=(2000, 4)); "
CASES = {  # what is run, and how many seconds are wanted with an empty folder, and with what the first run left in it
    "univariate": (TABLE + "mag.univariate(X[:, 0], 5).labels", 5.0, 1.2),
    "columns": (TABLE + "mag.columns(X, 5).labels", 7.0, 1.2),
    "multivariate, ona_star": (TABLE + "mag.multivariate(X, 5, method='ona_star').labels", 12.0, 1.2),
    "multivariate, anneal": (TABLE + "mag.multivariate(X[:500], 5, time_limit=0.1).labels", 20.0, 1.2),
    "microaggregate": (TABLE + "mag.microaggregate(dict(zip('abcd', X.T)), 5, list('abcd'))", None, 1.2),
    "mag demo": ("from mag.commands.cli import main; main(['demo', '--quiet', '--folder', 'demo'])", 20.0, None),
}


def seconds(root: pathlib.Path, code: str, cache: str) -> float:
    """Processor seconds of a new process that runs the code with the `mag` of a tree."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(root), "NUMBA_CACHE_DIR": cache, "MAG_QUIET": "1"}
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", code], cwd=folder, env=environment, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"the process of {root} ended with {process.returncode}: {code}")
    return usage.ru_utime + usage.ru_stime


def measure(root: pathlib.Path, code: str) -> tuple[float, float]:
    """With an empty folder for compiled code, and with what that run left in it."""
    with tempfile.TemporaryDirectory() as cache:
        return seconds(root, code, cache), min(seconds(root, code, cache) for _ in range(2))


def main() -> int:
    """Measure the cases and print them; 1 if one takes longer than is wanted."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.startup", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--old", metavar="PATH", type=pathlib.Path, help="root of another tree")
    parser.add_argument("--only", metavar="TEXT", default="", help="cases whose name holds this")
    parser.add_argument("--repeats", type=int, default=2, help="runs of each case (2)")
    options = parser.parse_args()
    trees = {"new": HERE} | ({"old": options.old.resolve()} if options.old else {})
    rows, late = [], []
    for name, (code, *wanted) in CASES.items():
        if options.only not in name:
            continue
        least = dict.fromkeys(trees, (float("inf"), float("inf")))
        for _ in range(options.repeats):
            for tree, root in trees.items():
                least[tree] = tuple(map(min, least[tree], measure(root, code)))
        row = {"first": name}
        for number, state in enumerate(("empty", "warm")):
            row |= {f"{state} cache, {tree}, s": round(least[tree][number], 2) for tree in reversed(trees)}
            row |= {f"{state}: wanted": wanted[number]}
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
        for state, took, limit in zip(("empty", "warm"), least["new"], wanted, strict=True):
            if limit is not None and took > limit:
                late.append(f"{name}, {state} cache")
    show("Processor seconds of a process", rows)
    print(f"\n{len(late)} above what is wanted" + "".join(f"\n  {name}" for name in late))
    return int(bool(late))


if __name__ == "__main__":
    sys.exit(main())
