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
    options = parser.parse_args(arguments)
    try:
        return {"demo": _demo}[options.command](options)
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


if __name__ == "__main__":
    sys.exit(main())
