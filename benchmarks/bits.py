"""One digest a case of what the library computes: `python -m benchmarks.bits [--only PATTERN] [--save FILE]`.

Before a change that must not change results `--save FILE`, after it `--compare FILE`, which lists the cases that differ
and exits with 1 if there is one.  Cases go through the public interface and the tables of costs, solvers, methods,
measures and formats, so they outlive moves of modules, and a new entry of a table is a new case; kernels run on the
host (tests/cuda).  A digest covers values, dtypes and shapes bit by bit, the words of results, and for a call that
raises the sentence and the builtin class of the error.  It leaves out times, versions, the number of threads, and class
names of results.

Files are digests of their bytes, with these exceptions, whose formats hold the time of writing: .dta, .sav and .xpt are
read back by pyreadstat, .xlsx is unzipped.  What a time limit ends early, and what a call prints of the machine, cannot
be compared and is not here.
"""

import argparse
import contextlib
import dataclasses
import datetime
import decimal
import fnmatch
import fractions
import hashlib
import inspect
import io
import itertools
import json
import pathlib
import re
import shlex
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import mag
from mag import reference
from mag.bounds import BOUNDS
from mag.commands.cli import main as command_line
from mag.costs import COSTS
from mag.files import FORMATS
from mag.methods import METHODS
from mag.metrics import METRICS
from mag.privacy import MEASURES
from mag.solvers import SOLVERS
from tests import conftest
from tests.cuda import runs
from tests.data import frames, hostile
from tests.data import people as data_of_people

Cases = Iterator[tuple[str, Callable[[], Any]]]

SIZES = [2, 3, 5, 13, 60]  # code of its own for a small k, blocks, more than one block
# facts of later versions, which are left out where they are empty
ADDED = (
    "generalized", "household", "household_columns", "k_household", "replaced", "sets", "smallest_households",
    "smallest_units", "unit",
)  # fmt: skip
FLOATING = ("files", "mag", "seconds", "threads", "versions")  # keys of manifests that differ between runs
LINES_OF_RUN = r'Made by mag [\d.]+|<dl class="about">.*?</dl>'
PRINTED = rf'<tr><th scope="row">({"|".join(FLOATING)})</th>.*?</tr>|; threads: \d+|{LINES_OF_RUN}'  # in reports
RESULTS = (mag.Grouping, mag.ColumnGroupings, mag.Release)
PUBLIC = (
    "bound", "complete", "cost", "data", "details", "gap", "grouping", "guarantee", "information_loss", "k",
    "k_guaranteed", "labels", "masked", "method", "n_groups", "representatives", "sizes", "small_groups", "warnings",
    "withheld",
)  # fmt: skip
SCALARS = (bool, int, float, str, bytes, datetime.date, datetime.timedelta, decimal.Decimal, fractions.Fraction)


# ---- digests


def digest(value: Any) -> str:
    """Of all bits of a value."""
    return hashlib.sha256(repr(plain(value)).encode()).hexdigest()[:16]


def plain(value: Any) -> Any:
    """The same in lists and scalars that print differently if any bit differs."""
    if value is None or isinstance(value, SCALARS):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        cells = plain(value.tolist()) if value.dtype == object else hashlib.sha256(value.tobytes()).hexdigest()
        return ["array", value.dtype.str, value.shape, cells]
    if isinstance(value, Mapping):
        return [[plain(name), plain(entry)] for name, entry in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, pd.Series):
        return plain(value.to_frame())
    if isinstance(value, (pd.DataFrame, pl.DataFrame, pa.Table)):
        index = value.index.tolist() if isinstance(value, pd.DataFrame) else None
        columns = [[name, [repr(cell) for cell in frames.cells(value, name)]] for name in frames.names(value)]
        return [type(value).__module__.partition(".")[0], repr(frames.dtypes(value)), columns, index]
    if isinstance(value, RESULTS):
        manifest = steady(value.manifest()) if isinstance(value, mag.Release) else None
        return [repr(value), plain({name: getattr(value, name) for name in PUBLIC if hasattr(value, name)}), manifest]
    if dataclasses.is_dataclass(value):
        told = {name: entry for name, entry in sorted(vars(value).items()) if not name.startswith("_")}
        return plain({name: entry for name, entry in told.items() if name not in ADDED or entry})
    if isinstance(value, Exception):
        builtin = next(kind for kind in type(value).__mro__ if kind.__module__ == "builtins" and kind is not Exception)
        return [builtin.__name__, str(value)]
    if hasattr(value, "__dlpack__"):
        return [type(value).__module__.partition(".")[0], plain(np.from_dlpack(value))]
    raise TypeError(f"a case must return values that have a digest; got {type(value).__name__}.")


def steady(value: Any) -> Any:
    """The entries of a manifest that are the same in every run."""
    if isinstance(value, dict):
        return {name: steady(entry) for name, entry in value.items() if name not in FLOATING}
    return [steady(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def attempt(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """The result of a call, or its error."""
    try:
        return call(*arguments, **options)
    except Exception as error:  # whatever it is, it must stay the same
        return error


# ---- data


@cache
def hostile_columns(n: int = 150) -> dict[str, np.ndarray]:
    """Columns with ties, offsets, extreme scales, integers of all ranges; unsorted."""
    return hostile.real_columns(n) | {f"{name} integers": x for name, x in hostile.integer_columns(n).items()}


@cache
def long_column() -> np.ndarray:
    """So many values that it is solved from both ends."""
    return np.random.default_rng(5).normal(size=2**21 + 99).round(4)


@cache
def tables() -> dict[str, np.ndarray]:
    """Correlated floats in clusters, and integers with ties, of which some columns vary far more than others."""
    rng = np.random.default_rng(7)
    floats = rng.normal(size=(301, 3)) @ rng.normal(size=(3, 3)) + 4 * rng.integers(0, 5, (301, 1))
    return {"floats": floats, "integers": rng.integers(0, [5, 40, 900, 9], (240, 4))}


@cache
def people(n: int = 120) -> dict[str, Any]:
    """Numbers, strata of which one is small, dates, moments, decimals, missing cells and weights."""
    rng = np.random.default_rng(3)
    table = data_of_people.people(n)
    table["region"][:2] = ["isle", "isle"]
    days = rng.integers(0, 20_000, n)
    rent = rng.gamma(9, 80, n).round(1)
    return table | {
        "rent": np.where(rng.random(n) < 0.15, np.nan, rent),
        "born": [datetime.date(1940, 1, 1) + datetime.timedelta(days=int(day)) for day in days],
        "seen": np.datetime64("2021-03-04T05:06:07", "ms") + 86_399_977 * days,
        "wage": [decimal.Decimal(int(cents)).scaleb(-2) for cents in rng.integers(900, 9000, n)],
        "weight": rng.integers(1, 9, n) / 4,
    }


# ---- arrays


def univariate(threads: int) -> Cases:
    """Costs by solvers and k, then options by costs."""
    run = partial(mag.univariate, threads=threads)

    def each(names: list[str], **options: Any) -> dict[str, Any]:
        return {name: attempt(run, hostile_columns()[name], **options) for name in names}

    def by_solver(**options: Any) -> dict[str, Any]:
        return {solver: each(some, solver=solver, **options) for solver in ("auto", "block", "quadratic", "wilber")}

    everything, some = list(hostile_columns()), ["uniform", "offset", "duplicates", "small integers"]
    for cost, solver, k in itertools.product(COSTS, ["auto", *SOLVERS], SIZES):
        yield f"univariate/{cost}/{solver}/{k}", partial(each, everything, k=k, cost=cost, solver=solver)
    weights = np.random.default_rng(1).integers(0, 5, 150) / 2
    options: dict[str, dict[str, Any]] = {
        "weights": {"weights": weights},
        "group_penalty": {"group_penalty": 3.0},
        "max_groups": {"max_groups": 4},
        "soft": {"soft": 2.0},
        "all": {"weights": weights, "group_penalty": 1.0, "max_groups": 7, "soft": 0.5},
    }
    for (name, option), cost, k in itertools.product(options.items(), COSTS, [3, 13]):
        yield f"univariate/{name}/{cost}/{k}", partial(by_solver, cost=cost, k=k, **option)
    discount = mag.Cost(
        "discount",
        prepare=lambda x: np.concatenate((np.zeros(1), np.cumsum(x))),
        group=lambda sums, i, j: 2.0 * (sums[j] - sums[j - (j - i) // 2]) / (j - i) ** 0.5,
        representative="max",
    )
    length = mag.Cost("length", group=lambda x, i, j: x[j - 1] - x[i], concave=True, splitting=True)
    for own in (discount, length):
        yield f"univariate/mag.Cost/{own.name}", partial(each, some, k=4, cost=own)
    yield "univariate/assume_sorted", partial(run, np.sort(hostile_columns()["normal"]), 4, assume_sorted=True)
    narrow = np.arange(90) * 7 % 31
    for dtype, cost in itertools.product(("float16", "float32", "int8", "uint16", "bool"), COSTS):
        yield f"univariate/{dtype}/{cost}", partial(run, narrow.astype(dtype), 3, cost=cost)
    for cost, k in (("sse", 3), ("sae", 12), ("maxdist", 100)):
        yield f"univariate/long/{cost}/{k}", partial(run, long_column(), k, cost=cost)


def columns(threads: int) -> Cases:
    """Tables column by column: memory orders, dtypes, one k and cost for all columns or for each."""
    run = partial(mag.columns, threads=threads)

    def singly(X: np.ndarray, **options: Any) -> list[Any]:
        groupings = run(X, **options)
        return [groupings[j] for j in range(len(groupings))]

    floats = np.random.default_rng(2).normal(size=(211, 6)) + [0, 0, 1e9, 0, -5, 3]
    floats[:, 3] = floats[:, 3].round(1)
    integers = np.random.default_rng(2).integers(-50, 50, (211, 6))
    arrays = {"C": floats, "F": np.asfortranarray(floats), "float32": floats.astype("f4"), "integers": integers}
    for (name, X), cost, k in itertools.product(arrays.items(), COSTS, [3, 13]):
        yield f"columns/{name}/{cost}/{k}", partial(run, X, k, cost=cost)
    mixed = {"k": [2, 3, 13, 60, 5, 3], "cost": ["sse", "sae", "maxdist", "roundup", "rounddown", "sse"]}
    for name, X in arrays.items():
        yield f"columns/{name}/mixed", partial(run, X, **mixed)
        yield f"columns/{name}/mixed, one by one", partial(singly, X, **mixed)


def libraries(threads: int) -> Cases:
    """Arrays of other libraries come back in them."""

    def call(name: str) -> list[Any]:
        X = conftest.LIBRARIES[name]().make(tables()["floats"])
        jobs = ((mag.univariate, X[:, 0]), (mag.columns, X), (mag.multivariate, X))
        return [run(array, 4, threads=threads) for run, array in jobs]

    for name in ("numpy read-only", "array-api-strict", "torch"):
        yield f"libraries/{name}", partial(call, name)


def oracle(threads: int) -> Cases:
    """The reference."""
    x, weights = [3, 1, 4, 1, 5, 9, 2, 6, 5], [1, 2, 1, 3, 1, 1, 2, 1, 1]
    options = ({}, {"group_penalty": 1.5}, {"max_groups": 2}, {"soft": 0.5}, {"weights": weights})

    def call(cost: str) -> list[Any]:
        runs = itertools.product((reference.exhaustive, reference.optimum), options)
        found = [attempt(run, x, 2, cost, **option) for run, option in runs]
        return [reference.cost_of(x, [0, 0, 1, 1, 1, 0, 0, 1, 0], cost), *found]

    for cost in COSTS:
        yield f"reference/{cost}", partial(call, cost)


# ---- records


def multivariate(threads: int) -> Cases:
    """Methods by tables and k, then their options; bounds."""
    run = partial(mag.multivariate, threads=threads)
    for method, entry in METHODS.items():
        seed = {"random_state": 5} if "random_state" in entry.options else {}
        variants: dict[str, dict[str, Any]] = {"": {}}
        variants |= {f"/{name}={one}": {name: one} for name in entry.options for one in VARIANTS.get(name, ())}
        for (table, X), k in itertools.product(tables().items(), [entry.k] if entry.k else [3, 7]):
            for name, options in variants.items() if k == 3 else [("", {})]:
                call = partial(run, X, k, method=method, **seed, **options)
                yield f"multivariate/{method}/{table}/{k}{name}", call
    X = tables()["floats"]
    lines = np.random.default_rng(4).normal(size=(3, 20))
    yield "multivariate/auto", partial(run, X, 5)
    yield "multivariate/standardize=False", partial(run, X * [1, 100, 0.01], 5, standardize=False)
    yield "multivariate/one column", partial(run, X[:, :1], 5)
    yield "multivariate/one group", partial(run, X[:9], 5)
    yield "multivariate/extreme", partial(run, X * [1e300, 1e-300, 1] + [0, 0, 1e12], 5)
    yield "multivariate/projection/directions", partial(run, X, 5, method="projection", directions=lines)
    start = np.arange(len(X)) % 60
    yield (
        "multivariate/anneal/init",
        partial(run, X, 5, method="anneal", init=start, iterations=100, restarts=1, random_state=2),
    )
    yield "insensitive", partial(mag.insensitive_groups, X, 5, bounds=[(-3.0, 3.0)] * X.shape[1])
    for bound, k in itertools.product(BOUNDS, [3, 7]):
        yield f"multivariate/bound/{bound}/{k}", partial(run, X[:90], k, method="mdav", bound=bound)


VARIANTS: dict[str, tuple[Any, ...]] = {  # options of methods, tried one by one where a method has them
    "closest": ("cost", "member"),
    "directions": ("gaussian", "pca"),
    "exchanges": (2.0,),
    "factor": (1.5,),
    "gamma": (0.3,),
    "init": ("mdav",),
    "integer": (True,),
    "iterations": (50,),
    "ordered": (False,),
    "refine": (2,),
    "restarts": (1,),
    "return_scores": (True,),
    "rho": (0.0, 0.8),
    "split": ("md", None),
}


def estimator(threads: int) -> Cases:
    """What a fitted Microaggregator holds, its release, and new records."""

    def fitted(X: Any, **options: Any) -> list[Any]:
        model = mag.Microaggregator(k=4, threads=threads, **options)
        release = model.fit_transform(X)
        held = {name: entry for name, entry in sorted(vars(model).items()) if name.endswith("_") and name[0] != "_"}
        return [release, model.transform(X[: len(X) // 2] + 0.25), held]

    X = tables()["floats"]
    yield "estimator/auto", partial(fitted, X)
    yield "estimator/frame", partial(fitted, pd.DataFrame(X, columns=["a", "b", "c"]), standardize=False)
    yield "estimator/options", partial(fitted, X, method="v_mdav", options={"gamma": 0.2}, random_state=1)


def measures(threads: int) -> Cases:
    """Every measure of loss and risk on one table and its masked records."""

    def measured(call: Callable[..., Any]) -> list[Any]:
        X = tables()["integers"]
        masked = mag.multivariate(X, 4, method="mdav", threads=threads).masked
        known = {"original": X, "masked": masked, "table": masked, "groups": masked, "sensitive": X[:, 0]}
        parameters = inspect.signature(call).parameters.values()
        needs = {p.name: known.get(p.name, 40) for p in parameters if p.default is p.empty}
        flags = {p.name: not p.default for p in parameters if isinstance(p.default, bool)}
        return [call(**needs), call(**needs, **flags)]

    for name, measure in (METRICS | MEASURES).items():
        yield f"measures/{name}", partial(measured, measure)


# ---- tables


def microaggregate(threads: int) -> Cases:
    """Every library by the name of an extra."""

    def release(make: Callable[[Any], Any], options: dict[str, Any]) -> mag.Release:
        named = np.hstack([options[role] for role in ("columns", "by", "keep") if role in options])
        drop = [name for name in people() if name not in named]
        return mag.microaggregate(make(people()), drop=drop, threads=threads, **options)

    def measured(*arguments: Any) -> list[Any]:
        found = release(*arguments)
        return [found.numbers(), found.utility(), found.risk()]

    def recount(make: Callable[[Any], Any]) -> list[int]:
        sets = (["region"], ["region", "age"], ["rent"], ["born", "seen"])
        return [mag.verify.recount(make(people()), names) for names in sets]

    for library, make in frames.LIBRARIES.items():
        yield f"table/{library}/recount", partial(recount, make)
        for name, options in REQUESTS.items():
            yield f"table/{library}/{name}", partial(release, make, options)
    for name, options in REQUESTS.items():
        yield f"table/measures/{name}", partial(measured, pl.DataFrame, options)


BOTH = {"k": 3, "columns": ["age", "income"]}
REQUESTS: dict[str, dict[str, Any]] = {
    "joint": BOTH | {"keep": "name"},
    "strata, merged": BOTH | {"by": "region", "small_strata": "merge"},
    "strata, suppressed": BOTH | {"by": "region", "small_strata": "suppress"},
    "strata, too small": BOTH | {"by": "region"},
    "missing, error": {"k": 3, "columns": ["age", "rent"]},
    "missing, drop": {"k": 3, "columns": ["age", "rent"], "missing": "drop"},
    "missing, group": {"k": 3, "columns": ["age", "rent"], "missing": "group"},
    "missing, strata": {
        "k": 3, "columns": ["age", "rent"], "missing": "group", "by": "region", "small_strata": "merge",
    },
    "one column": {"k": 4, "columns": "income", "cost": "sae", "round": 1},
    "weights": BOTH | {"weights": "weight", "method": "mdav"},
    "weights, one column": {"k": 3, "columns": "income", "weights": "weight"},
    "per column": {
        "k": {"age": 2, "income": 5, "rent": 3}, "columns": ["age", "income", "rent"], "scope": "per-column",
        "missing": "group", "round": {"income": 0, "rent": 1},
    },
    "per column, strata": BOTH | {"scope": "per-column", "by": "region", "small_strata": "suppress", "cost": "roundup"},
    "median": BOTH | {"aggregate": "median", "method": "ona_star"},
    "mid-range": BOTH | {"aggregate": "mid_range", "standardize": False},
    "shuffle": BOTH | {"shuffle": True, "random_state": 3, "round": 1},
    "random method": BOTH | {"method": "lmas", "random_state": 3, "restarts": 2},
    "dates": {"k": 3, "columns": ["born", "seen"]},
    "dates, per column": {"k": 3, "columns": ["born", "seen"], "scope": "per-column", "cost": "rounddown"},
    "decimals": {"k": 3, "columns": ["wage", "age"]},
}  # fmt: skip


def scale(threads: int) -> Cases:
    """Dask, on the scheduler that takes tasks one after the other."""
    import dask
    import dask.array
    import dask.dataframe

    def computed(call: Callable[[], Any]) -> Any:
        with dask.config.set(scheduler="synchronous"):
            found = call()
            return found if isinstance(found, int) else {name: dask.compute(one) for name, one in vars(found).items()}

    X = tables()["floats"]
    array = dask.array.from_array(X, chunks=(80, 2))
    frame = {name: people()[name] for name in ("age", "income", "region")}
    frame = dask.dataframe.from_pandas(pd.DataFrame(frame), npartitions=4)
    pieces = dask.array.from_array(np.random.default_rng(6).integers(0, 400, 900), chunks=170)
    for cost in COSTS:
        call = partial(mag.distributed.univariate, pieces, 3, cost=cost, ranges=3)
        yield f"scale/univariate/{cost}", partial(computed, call)
    cases: dict[str, Callable[[], Any]] = {
        "univariate/floats": lambda: mag.distributed.univariate(array[:, 0], 13),
        "columns/array": lambda: mag.distributed.columns(array, [2, 3, 13], cost=["sse", "sae", "maxdist"]),
        "columns/frame": lambda: mag.distributed.columns(frame, 3, keep="region"),
        "multivariate/array": lambda: mag.distributed.multivariate(array, 4, parts=4),
        "multivariate/ona_star": lambda: mag.distributed.multivariate(array, 4, parts=2, method="ona_star"),
        "multivariate/frame": lambda: mag.distributed.multivariate(frame, 4, keep="region", parts=2, random_state=1),
        "verify/array": lambda: mag.distributed.verify(mag.distributed.multivariate(array, 4, parts=4).masked, 4),
        "verify/frame": lambda: mag.distributed.verify(frame, 2, columns="region"),
        "verify/fails": lambda: mag.distributed.verify(array, 2),
    }
    for name, call in cases.items():
        yield f"scale/{name}", partial(computed, call)
    labels = np.arange(len(X)) % 60
    tasks = mag.distributed.kernels
    yield "scale/kernels/label_columns", partial(tasks.label_columns, X, 5)
    yield "scale/kernels/label_records", partial(tasks.label_records, X, 5, "ona_star")
    yield "scale/kernels/mask_columns", partial(tasks.mask_columns, X, np.stack([labels] * 3, axis=1))
    yield "scale/kernels/mask_records", partial(tasks.mask_records, X[:, 0], labels)


# ---- files


def mask(threads: int) -> Cases:
    """Every format, written from text and read again; options; Parquet column by column; the other commands."""
    pair = "-c age -c income"
    kept = "--by region --keep name --keep born"
    first = f"mask people.csv -k 3 {pair} {kept} --small-strata merge --drop rent --drop seen --drop wage --drop weight"
    other = "mask people.csv -k 3 -c age -c rent --keep weight --keep name --keep born --keep income --keep region"
    other += " --drop seen --drop wage -o out.csv"
    sessions = {
        form: [f"{first} -o first.{form}", f"mask first.{form} -k 5 {pair} {kept} -o out.csv"] for form in FORMATS
    }
    for name, words in {
        "missing": "--missing group --json",
        "drop": "--missing drop --aggregate median",
        "method": "--missing drop --method v_mdav --option gamma=0.2",
        "shuffle": "--missing drop --shuffle --seed 4",
        "weights": "--missing group --weights weight",
        "per-column": "--missing group --scope per-column --round rent=0",
        "report": "--missing drop --report report.html",
        "dry-run": "--missing drop --dry-run",
        "quiet": "--missing drop --quiet",
        "null": "--missing drop --null nothing",
        "scope that does not exist": "--scope columns",
        "option without a value": "--option gamma",
        "k that is no number": "-k many",
        "missing cells": "",
    }.items():  # fmt: skip
        sessions[f"options/{name}"] = [f"{other} {words}"]
    stream = f"mask first.parquet -o out.parquet {pair} {kept} --scope per-column -k age=4 -k income=6 --round income=1"
    sessions |= {
        "layout": ["mask text.csv -k 3 -c a -c b --decimal-comma --encoding utf-16 --delimiter ; -o out.csv"],
        "streamed": [f"{first} --weights weight -o first.parquet", stream],
        "output over the input": [f"{first} -o people.csv --overwrite"],
        "output of no format": [f"{first} -o out.doc"],
        "columns without a role": ["mask people.csv -k 3 -c age -o out.csv"],
        "no input": ["mask nothing.csv -k 3 -c age -o out.csv"],
    }
    for name, lines in sessions.items():
        yield f"files/{name}", partial(commands, *(f"{line} --threads {threads}" for line in lines))
    masked = f"{first} -o first.csv"
    for line in (
        "check first.csv --qi region --qi age --qi income -k 3",
        "check first.csv --qi name -k 2 --json",
        "check first.csv --qi height -k 2",
        "check first.csv",
        f"risk people.csv first.csv {pair} -k 3",
        f"risk people.csv first.csv {pair} --json",
        f"utility people.csv first.csv {pair}",
        f"utility people.csv first.csv {pair} --json",
        f"compare people.csv {pair} -k 3 -k 5 -m mdav -m lmas --seed 2 --json",
        "guess people.csv",
    ):
        yield f"files/commands/{line}", partial(commands, masked, line)


def commands(*lines: str) -> list[Any]:
    """Output and exit codes of commands, one after the other in one folder, and the files that they write there."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        pl.DataFrame(people()).write_csv("people.csv")
        text = "a;b\r\n" + "".join(f"{a},5;{a * 37 % 11}\r\n" for a in range(20))
        pathlib.Path("text.csv").write_bytes(text.encode("utf-16"))
        said = []
        for line in lines:
            with (
                contextlib.redirect_stdout(io.StringIO()) as out,
                contextlib.redirect_stderr(io.StringIO()) as failed,
            ):
                code = command_line(shlex.split(line))
            words = out.getvalue()
            said.append([code, steady(json.loads(words)) if words.startswith("{") else words, failed.getvalue()])
        return [said, {path.name: content(path) for path in sorted(pathlib.Path().iterdir())}]


def content(path: pathlib.Path) -> Any:
    """The parts of a file that are the same in every run."""
    if path.suffix in (".dta", ".sav", ".xpt"):
        import pyreadstat

        frame, meta = getattr(pyreadstat, f"read_{path.suffix.replace('xpt', 'xport')[1:]}")(path)
        return [frame, meta.column_names_to_labels, meta.variable_value_labels, meta.original_variable_types]
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return {name: book.read(name) for name in book.namelist() if name != "docProps/core.xml"}
    if path.suffix == ".json":
        return steady(json.loads(path.read_text()))
    return re.sub(PRINTED, "", path.read_text()) if path.suffix == ".html" else path.read_bytes()


# ---- kernels, mistakes


def kernels(threads: int) -> Cases:
    """CUDA kernels on the host: arrays that live on the device, for a k with code of its own and a larger one."""

    def run(X: np.ndarray, k: Any, **options: Any) -> Any:
        with runs.device():
            return plain(mag.columns(runs.live(X), k, **options))  # computed where it is looked at

    integers = np.random.default_rng(8).integers(0, 500, (257, 3))
    for cost, k in itertools.product(COSTS, [3, 13]):
        yield f"kernels/{cost}/{k}", partial(run, integers, k, cost=cost)
    yield "kernels/floats", partial(run, tables()["floats"], [3, 13, 40])


def mistakes(threads: int) -> Cases:
    """Wrong calls, for the sake of their sentences."""
    x, X = np.arange(20.0), np.arange(40.0).reshape(20, 2)
    table = {"age": np.arange(20), "name": ["x"] * 20}
    calls: dict[str, Callable[[], Any]] = {
        "k above n": lambda: mag.univariate(x, 21),
        "k of another type": lambda: mag.univariate(x, 2.5),
        "NaN": lambda: mag.univariate([1.0, np.nan, 2.0], 2),
        "infinity": lambda: mag.columns([[1.0, np.inf], [2.0, 3.0]], 1),
        "strings": lambda: mag.univariate(["a", "b"], 1),
        "two dimensions": lambda: mag.univariate(X, 2),
        "cost": lambda: mag.univariate(x, 2, cost="squares"),
        "solver": lambda: mag.univariate(x, 2, solver="fastest"),
        "solver for the cost": lambda: mag.univariate(x, 2, solver="block", group_penalty=1.0),
        "floats for sse_int": lambda: mag.univariate(x, 2, cost="sse_int"),
        "weights": lambda: mag.univariate(x, 2, weights=-x),
        "weights for the cost": lambda: mag.univariate(x, 2, cost="roundup", weights=x),
        "not sorted": lambda: mag.univariate(-x, 2, assume_sorted=True),
        "backend": lambda: mag.univariate(x, 2, backend="tpu"),
        "threads": lambda: mag.columns(X, 2, threads=0),
        "one k too few": lambda: mag.columns(X, [2]),
        "method": lambda: mag.multivariate(X, 2, method="best"),
        "option of another method": lambda: mag.multivariate(X, 2, method="mdav", gamma=0.2),
        "seed without use": lambda: mag.multivariate(X, 2, method="mdav", random_state=1),
        "pairs for k = 3": lambda: mag.multivariate(X, 3, method="matching"),
        "bound": lambda: mag.multivariate(X, 2, bound="tight"),
        "init": lambda: mag.multivariate(X, 3, method="anneal", init=np.arange(20)),
        "column without a role": lambda: mag.microaggregate(table, 2, "age"),
        "unknown column": lambda: mag.microaggregate(table, 2, "height", keep="name"),
        "column with two roles": lambda: mag.microaggregate(table, 2, "age", by="age", keep="name"),
        "text to mask": lambda: mag.microaggregate(table, 2, ["age", "name"], scope="per-column"),
        "table": lambda: mag.microaggregate(X, 2, "age"),
        "scope": lambda: mag.microaggregate(table, 2, "age", keep="name", scope="all"),
        "rounded integers": lambda: mag.microaggregate(table, 2, "age", keep="name", round=1),
        "estimator": lambda: mag.Microaggregator(k=0).fit(X),
        "new records of another width": lambda: mag.Microaggregator(k=2).fit(X).transform(X[:, :1]),
        "measure": lambda: mag.metrics.sse(X, X[:3]),
        "array for Dask": lambda: mag.distributed.columns(X, 2),
    }
    for name, call in calls.items():
        yield f"mistakes/{name}", call


FAMILIES = (
    univariate, columns, libraries, oracle, multivariate, estimator, measures, microaggregate, scale, mask, kernels,
    mistakes,
)  # fmt: skip


# ---- the command


def cases(threads: int = 1, only: str = "") -> dict[str, Callable[[], Any]]:
    """All cases by name, or those whose name holds the pattern."""
    every = dict(case for family in FAMILIES for case in family(threads))
    return {name: call for name, call in every.items() if fnmatch.fnmatchcase(name, f"*{only}*")}


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """Print the differences and the number of equal cases; 1 if there is a difference."""
    names = {
        "changed": [name for name in after if name in before and before[name] != after[name]],
        "missing": [name for name in before if name not in after],
        "new": [name for name in after if name not in before],
    }
    for what, some in names.items():
        for name in some:
            print(f"{what}: {name}")
    print(f"equal: {len(after) - len(names['changed']) - len(names['new'])} of {len(before)}", flush=True)
    return int(any(names.values()))


def main() -> int:
    """Run the cases, print and keep or compare their digests."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bits", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="PATTERN", default="", help="cases whose name holds this, with wildcards")
    parser.add_argument("--save", metavar="FILE", type=pathlib.Path, help="where to keep the digests")
    parser.add_argument("--compare", metavar="FILE", type=pathlib.Path, help="digests of an earlier run")
    parser.add_argument("--threads", type=int, default=1, help="which must not change a digest")
    parser.add_argument("--seconds", action="store_true", help="print how long each case takes")
    given = parser.parse_args()
    digests = {}
    for name, call in cases(given.threads, given.only).items():
        began = time.perf_counter()
        digests[name] = digest(attempt(call))
        took = f"  {time.perf_counter() - began:.2f}" if given.seconds else ""
        print(f"{name}  {digests[name]}{took}", flush=True)
    if given.save:
        given.save.write_text("".join(f"{name}  {found}\n" for name, found in digests.items()))
    if given.compare is None:
        return 0
    lines = [line.rpartition("  ") for line in given.compare.read_text().splitlines()]
    return compare({name: found for name, _, found in lines if fnmatch.fnmatchcase(name, f"*{given.only}*")}, digests)


if __name__ == "__main__":
    sys.exit(main())
