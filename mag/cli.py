"""The `mag` command."""

import argparse
import sys
import time
from collections.abc import Sequence

from mag import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="mag", description="Microaggregation: groups of at least k, at the least loss."
    )
    parser.add_argument("--version", action="version", version=f"mag {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="group a generated table of 10 000 people, column by column")
    demo.add_argument("-k", type=int, default=5, help="smallest group size (default: 5)")
    commands.add_parser(
        "info", help="what can run here: backends, versions, SIMD, threads, the folder of compiled code"
    )
    warmup = commands.add_parser("warmup", help="compile ahead, so that the first call is fast (for container images)")
    warmup.add_argument("-c", "--cost", action="append", help="a cost to compile; may be repeated (default: sse)")
    warmup.add_argument("-k", type=int, action="append", help="a group size; may be repeated (default: 2 to 12)")
    options = parser.parse_args(arguments)
    try:
        return {"demo": _demo, "info": _info, "warmup": _warmup}[options.command](options)
    except (TypeError, ValueError) as error:
        print(f"mag: {error}", file=sys.stderr)
        return 2


def _demo(options: argparse.Namespace) -> int:
    from mag.demo import summary

    began = time.perf_counter()
    print(f"10 000 generated people, each column optimally grouped by itself, k = {options.k}\n")
    print(summary(options.k))
    print(f"\nEvery published value stands for at least {options.k} records of its column; the columns are not yet")
    print("protected jointly: a combination of values may still be unique.")
    print(f"({time.perf_counter() - began:.1f} s, most of it compilation on the first run)")
    return 0


def _info(options: argparse.Namespace) -> int:
    from mag.info import facts

    for name, fact in facts().items():
        print(f"{name:<17} {fact}")
    return 0


def _warmup(options: argparse.Namespace) -> int:
    import numpy as np

    from mag.api import columns, univariate

    for cost in options.cost or ["sse"]:
        for k in options.k or range(2, 13):  # each k up to 11 has code of its own, all larger ones share theirs
            began = time.perf_counter()
            x = np.arange(max(8 * k, 200))
            for column in (x, x[::-1], x * 0.5, x[::-1] * 0.5):
                if cost != "sse_int" or column.dtype.kind == "i":
                    _ = univariate(column, k, cost=cost).masked
                    _ = columns(column[:, None], k, cost=cost).labels
            print(f"{cost:<10} k = {k:<6} {time.perf_counter() - began:5.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
