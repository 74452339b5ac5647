"""`mag demo`."""

import time
from typing import Annotated

import typer


def demo(k: Annotated[int, typer.Option("-k", help="Smallest group size.")] = 5) -> None:
    """Group a generated table of 10 000 people, column by column."""
    from mag.demo import summary

    began = time.perf_counter()
    shown = summary(k)
    print(f"10 000 generated people, each column optimally grouped by itself, k = {k}\n")
    print(shown)
    print(f"\nEvery published value stands for at least {k} records of its column; the columns are not yet")
    print("protected jointly: a combination of values may still be unique.")
    print(f"({time.perf_counter() - began:.1f} s, most of it compilation on the first run)")
