"""Walks of the `mag` of a tree: `python -P _walks.py ROOT ENTRY`, as `tools.house` runs it.

Run by its path, in an empty folder, so that `mag` comes from ROOT alone; ENTRY is the function behind the command.
Prints a line a walk: name, files, functions, calls, calls from one file to another, and from one package to another.
"""

import importlib
import pathlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

ROOT, ENTRY = sys.argv[1:]
sys.path.insert(0, ROOT)
mag = importlib.import_module("mag")
PACKAGE = str(pathlib.Path(mag.__file__).parent) + "/"


def file_of(frame: FrameType | None) -> str | None:
    """The file of `mag`, relative to it, that the nearest frame is in."""
    while frame is not None:
        if frame.f_code.co_filename.startswith(PACKAGE):
            return frame.f_code.co_filename.removeprefix(PACKAGE)
        frame = frame.f_back
    return None


def walk(call: Callable[[], Any]) -> list[int]:
    """Call twice; count what the second call visits."""
    call()
    functions, calls, files, packages = set(), 0, 0, 0

    def count(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls, files, packages
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        there, here = file_of(frame), file_of(frame.f_back)
        functions.add((there, frame.f_code.co_qualname))
        calls += 1
        if here is not None and here != there:
            files += 1
            packages += here.partition("/")[0] != str(there).partition("/")[0]

    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(None)
    return [len({file for file, _ in functions}), len(functions), calls, files, packages]


def people() -> pd.DataFrame:
    """A small table with numbers, categories and strata."""
    rng = np.random.default_rng(0)
    jobs, regions = np.array(["nurse", "doctor", "smith", "joiner"]), np.array(["north", "south"])
    numbers = {"age": rng.integers(20, 70, 200), "income": rng.normal(3e3, 500, 200).round()}
    return pd.DataFrame({**numbers, "job": jobs[rng.integers(0, 4, 200)], "region": regions[rng.integers(0, 2, 200)]})


def run(command: Callable[[list[str]], int], words: list[str]) -> None:
    """Run a command that has to succeed."""
    if command(words):
        raise RuntimeError(f"mag {' '.join(words)} failed")


def main() -> None:
    """Print the walks."""
    table = people()
    values = np.random.default_rng(1).normal(size=(200, 4))
    levels = {"nurse": "care", "doctor": "care", "smith": "craft", "joiner": "craft"}
    jobs = mag.Hierarchy.from_parents({**levels, "care": "*", "craft": "*"})
    table.to_csv("in.csv", index=False)
    module, _, name = ENTRY.partition(":")
    command = getattr(importlib.import_module(module), name)
    columns = ["-c", "age", "-c", "income", "--by", "region", "--drop", "job"]
    words = ["mask", "in.csv", "-o", "out.csv", "-k", "5", *columns, "--overwrite", "--quiet"]
    walks = {
        "univariate(x, k).labels": lambda: mag.univariate(values[:, 0], 5, threads=1).labels,
        "columns(X, k)[0].labels": lambda: mag.columns(values, 5, threads=1)[0].labels,
        'multivariate(method="ona_star")': lambda: mag.multivariate(values, 5, method="ona_star", threads=1).labels,
        "microaggregate, pandas, by=, hierarchy": lambda: mag.microaggregate(
            table, 5, ["age", "job"], by="region", hierarchies={"job": jobs}, keep="income", threads=1
        ),
        "mag mask in.csv": lambda: run(command, words),
    }
    for walk_name, call in walks.items():
        print(walk_name, *walk(call), sep="\t")


main()
