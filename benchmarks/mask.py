"""`python -m benchmarks.mask`: `mag mask` of a CSV file against reading and writing it by polars, time and memory.

Every figure comes from a process of its own.  "allowed" is three times polars' reading and writing plus the grouping
itself, on the same values in memory; on a busy machine, compare processor time.  Memory is the peak of the resident set
above that of an idle interpreter, with its imports and compiled code, relative to the table, n·d·8 bytes; and as it is.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from benchmarks._measure import save, show

WAYS = {"joint, mona": ["--method", "mona"], "per column": ["--scope", "per-column"]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=10**6, help="records")
    parser.add_argument("-d", type=int, default=10, help="columns")
    parser.add_argument("-k", type=int, default=5, help="group size")
    parser.add_argument("--repeats", type=int, default=3, help="runs, of which the fastest counts")
    parser.add_argument("--decimals", type=int, default=2, help="decimals of the values")
    parser.add_argument("--way", choices=WAYS, action="append", help="only this one")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "in.csv")
        _child(generate, path, options.n, options.d, options.decimals)
        for way in options.way or WAYS:
            runs = []
            for _ in range(options.repeats):  # side by side, so that other work on the machine slows all of them down
                copied, grouped = _child(copy, path), _child(group, path, options.k, way)
                runs.append((copied, grouped, _child(mask, path, options.k, options.d, WAYS[way])))
            copied, grouped, masked = (min(run[j]["seconds"] for run in runs) for j in range(3))
            copying, grouping, masking = (min(run[j]["processor"] for run in runs) for j in range(3))
            table = options.n * options.d * 8
            most = max((run[2] for run in runs), key=lambda run: run["peak"])
            rows.append(
                {
                    "way": way,
                    "read + write, s": copied,
                    "grouping, s": grouped,
                    "allowed, s": 3 * copied + grouped,
                    "mag mask, s": masked,
                    "of allowed": masked / (3 * copied + grouped),
                    "processor time of allowed": masking / (3 * copying + grouping),
                    "peak above idle, MB": (most["peak"] - most["idle"]) / 1e6,
                    "of table": (most["peak"] - most["idle"]) / table,
                    "peak, MB": most["peak"] / 1e6,
                    "polars' peak, MB": max(run[0]["peak"] for run in runs) / 1e6,
                }
            )
        size = path.stat().st_size / 1e6
    show(f"{options.n} x {options.d}, k = {options.k}, {size:.0f} MB of text", rows)
    save("mask", rows)


def generate(path: str, n: int, d: int, decimals: int) -> dict:
    """Skewed values like incomes."""
    import polars as pl

    rng = np.random.default_rng(1)
    pl.DataFrame({f"c{j}": rng.lognormal(10, 0.6, n).round(decimals) for j in range(d)}).write_csv(path)
    return {}


def copy(path: str) -> dict:
    """The time in which polars reads and writes."""
    import polars as pl

    return _timed(lambda: pl.read_csv(path).write_csv(path + ".copy"))


def group(path: str, k: int, way: str) -> dict:
    """The grouping itself."""
    import polars as pl

    import mag

    X = pl.read_csv(path).to_numpy()
    small = np.asfortranarray(X[:3000])
    if way == "per column":
        _ = mag.columns(small, k).labels
        return _timed(lambda: mag.columns(X, k).labels)
    mag.multivariate(small, k, method="mona")
    return _timed(lambda: mag.multivariate(X, k, method="mona").labels)


def mask(path: str, k: int, d: int, chosen: list[str]) -> dict:
    """The whole command, in an interpreter that has masked a few records: imports and compiled code are loaded."""
    from mag.commands import cli

    columns = [word for j in range(d) for word in ("-c", f"c{j}")]

    def run(source: str) -> None:
        given = [
            "mask",
            source,
            "-o",
            source + ".masked.csv",
            "-k",
            str(k),
            *columns,
            *chosen,
            "--quiet",
            "--overwrite",
        ]
        if cli.main(given):
            raise RuntimeError("mag mask failed")

    small = pathlib.Path(path + ".small.csv")
    with open(path) as lines:
        small.write_text("".join(line for _, line in zip(range(3000), lines, strict=False)))
    run(str(small))
    return _timed(lambda: run(path))


def _timed(step) -> dict:
    idle, began, spent = _memory("VmRSS"), time.perf_counter(), time.process_time()
    step()
    times = {"seconds": time.perf_counter() - began, "processor": time.process_time() - spent}
    return {**times, "idle": idle, "peak": _memory("VmHWM")}


def _memory(what: str) -> int:
    """Bytes, as Linux counts them."""
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))


def _child(step, *arguments) -> dict:
    words = [step.__name__, json.dumps([str(word) if isinstance(word, pathlib.Path) else word for word in arguments])]
    code = "import sys; from benchmarks import mask; mask.answer(*sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def answer(step: str, arguments: str) -> None:
    """The work of a child process."""
    print(json.dumps(CHILDREN[step](*json.loads(arguments))))


CHILDREN = {step.__name__: step for step in (copy, generate, group, mask)}

if __name__ == "__main__":
    main()
