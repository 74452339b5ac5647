"""Timing, machine facts and tables for the benchmark commands."""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

RESULTS = pathlib.Path(__file__).parent / "results"


def words(document: str | None, **how: Any) -> list[Any]:
    """The words behind a command, read as `argparse` is told; --help prints the document of the command."""
    parser = argparse.ArgumentParser(description=document, formatter_class=argparse.RawDescriptionHelpFormatter)
    if how:
        parser.add_argument("words", nargs="*", **how)
    return vars(parser.parse_args()).get("words", [])


def best(function: Callable[[], object], repeats: int = 5, budget: float = 3.0) -> float:
    """Least time of several calls, in seconds; fewer calls when the budget is spent."""
    least, spent = float("inf"), 0.0
    for _ in range(repeats):
        began = time.perf_counter()
        function()
        took = time.perf_counter() - began
        least, spent = min(least, took), spent + took
        if spent > budget:
            break
    return least


def machine() -> dict:
    """The machine and the versions of a measurement."""
    packages = {}
    for name in ("numpy", "numba", "microagg1d", "microaggregation", "mag-sdc"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "not installed"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **packages,
        "commit": commit.stdout.strip() or "unknown",
    }


def _processor() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def save(name: str, rows: list[dict]) -> None:
    """Write rows and machine facts as JSON, into the folder of the benchmarks."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps({"machine": machine(), "rows": rows}, indent=1))


def show(title: str, rows: list[dict]) -> None:
    """Print rows as a Markdown table."""
    names = list(rows[0])
    cells = [[_text(row[name]) for name in names] for row in rows]
    widths = [max(len(name), *(len(row[c]) for row in cells)) for c, name in enumerate(names)]
    print(f"\n{title}\n")
    print("| " + " | ".join(name.ljust(width) for name, width in zip(names, widths, strict=True)) + " |")
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in cells:
        print("| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) + " |", flush=True)


def _text(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
