"""Loss by time: `python -m benchmarks.curves [--table normal] [--records 100000] [--k 5] [--limits 5 15 60]`.

`mdav_plus` and `ona_local`, then `method="auto"` with these time limits in seconds: the loss in percent, relative to
that of `ona_local`, seconds that passed, and seconds of processor time, which are up to twice as many on two idle
cores and fewer on a busy machine.  `--steps 1000 3000` anneals with these steps per record instead, however long that
takes.
"""

import argparse
import time
from typing import Any

import mag
from benchmarks.auto import LARGE_WARMING, TABLES, random


def main() -> None:
    """Print the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", choices=TABLES, default="normal")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--methods", nargs="*", default=["mdav_plus", "ona_local"])
    parser.add_argument("--limits", type=float, nargs="*", default=[1.0, 2.0, 5.0, 15.0, 60.0])
    parser.add_argument("--steps", type=float, nargs="*", default=[])
    options = parser.parse_args()
    X, base = TABLES[options.table](options.records, random()), None
    runs: list[dict[str, Any]] = [{"method": method} for method in options.methods]
    runs += [{"time_limit": limit} for limit in options.limits]
    runs += [{"method": "anneal", "iterations": steps} for steps in options.steps]
    print(f"{options.table}, {options.records} x {X.shape[1]}, k = {options.k}")
    print(f"{'run':14} {'loss, %':>8} {'relative':>9} {'seconds':>8} {'processor':>10}  begins with")
    for run in runs:
        mag.multivariate(X[:LARGE_WARMING], options.k, **run)
        began, passed = time.process_time(), time.monotonic()
        grouping = mag.multivariate(X, options.k, **run)
        loss, took, passed = grouping.information_loss, time.process_time() - began, time.monotonic() - passed
        base = loss if run.get("method") == "ona_local" else base
        relative = f"{loss / base:9.3f}" if base else f"{'':9}"
        name = " ".join(f"{value:g}" if isinstance(value, float) else value for value in run.values())
        print(f"{name:14} {100 * loss:8.3f} {relative} {passed:8.1f} {took:10.1f}  {grouping.details.get('init', '')}")


if __name__ == "__main__":
    main()
