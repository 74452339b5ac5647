"""Units, households, sets and suppressed cells of random tables: `python -m benchmarks.people [-n 10000] [--seed 0]`.

Also units and households of Parquet files, masked in parts or by column, and of the estimator.

n tables of each kind are masked, recoded or suppressed with options that are drawn, too.  What comes out is counted in
plain Python, by dictionaries of cells and, for wildcards, record by record; no code of the package takes part.  The
last line counts classes with fewer than k records, units or households, and other broken promises, which must be 0.
"""

import argparse
import collections
import concurrent.futures
import itertools
import multiprocessing
import os
import pathlib
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal
from unittest import mock

import numpy as np
import pandas as pd

import mag
from benchmarks._measure import show
from mag import InputError
from mag.tables.parquet import _source

CHUNK = 100  # cases that a process runs before it reports
JOBS = [["nurse", "health", "*"], ["doctor", "health", "*"], ["cook", "food", "*"], ["baker", "food", "*"]]
MOST, MOST_OF_FILES = 40, 200  # records
ROWS_PER_GROUP, LEAST_MEMORY = 10, 14_000  # of small files, so that they have several parts; bytes
SHOWN = 5  # broken promises that are printed in full


class BrokenError(Exception):
    """A promise that the published table does not keep."""


class Draw:
    """A random table of people, of households, with several records each, and options."""

    def __init__(self, kind: str, seed: int) -> None:
        self.rng = np.random.default_rng([seed, *kind.encode()])
        self.table = self._draw_table(MOST_OF_FILES if kind == "files" else MOST)
        self.k = int(self.rng.integers(1, 5))
        self.options: dict[str, Any] = {"keep": "id", "rest": "drop"}

    def chance(self, probability: float) -> bool:
        """Whether something with this probability happens."""
        return bool(self.rng.random() < probability)

    def some(self, names: Sequence[str]) -> list[str]:
        """At least one of these names, in random order."""
        return self.rng.permutation(names)[: int(self.rng.integers(1, len(names) + 1))].tolist()

    def set_strata(self) -> None:
        """Strata, of which small ones are pooled or withheld."""
        self.options |= {"by": "region", "small_strata": str(self.rng.choice(["merge", "suppress"]))}

    def count_people(self) -> None:
        """The column of people, or of households, as the unit."""
        self.options["unit"] = str(self.rng.choice(["person", "home"]))

    def _draw_table(self, most: int) -> pd.DataFrame:
        rng, n = self.rng, int(self.rng.integers(6, most))
        n_people = int(rng.integers(max(2, n // 4), n + 1))
        person = rng.integers(0, n_people, n)
        if self.chance(0.3):  # one person has nearly all records
            person[rng.random(n) < 0.8] = 0
        home = rng.integers(0, max(1, n_people // 2), n_people)[person]
        names = rng.permutation(n_people)
        table = pd.DataFrame({
            "id": rng.permutation(n), "person": [f"p{names[own]}" for own in person] if self.chance(0.5) else person,
            "home": home * 0.5, "age": rng.integers(0, int(rng.choice([2, 5, 90])), n).astype(float),
            "cost": rng.lognormal(0, 2, n).round(int(rng.integers(0, 3))),
            "rent": rng.normal(0, 1e6, n_people).round(int(rng.integers(-6, 2)))[home], "rooms": (home % 4) + 1,
            "job": rng.choice([row[0] for row in JOBS], n), "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["n", "s", "e"], n, p=[0.6, 0.3, 0.1]),
        })  # fmt: skip
        for name in ("age", "cost"):
            if self.chance(0.3):
                table[name] = table[name].where(rng.random(n) < 0.8)
        return table


# ---- plain counting


def cells_of(frame: pd.DataFrame, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """The cells of every record, None where one is missing."""
    columns = [[None if pd.isna(cell) else cell for cell in frame[name].tolist()] for name in names]
    return list(zip(*columns, strict=True)) if columns else [()] * len(frame)


def least(rows: Sequence[Any], members: Sequence[Any]) -> int:
    """The fewest different members of records that are equal."""
    found: dict[Any, set[Any]] = collections.defaultdict(set)
    for row, member in zip(rows, members, strict=True):
        found[row].add(member)
    return min(map(len, found.values()))


def least_by_wildcards(rows: Sequence[Any], strata: Sequence[Any], members: Sequence[Any]) -> int:
    """The fewest different members of records of a stratum that equal a record, where a missing cell equals all."""
    listed = list(zip(rows, strata, members, strict=True))
    return min(
        len(
            {
                member
                for other, place, member in listed
                if place == stratum and all(a is None or b is None or a == b for a, b in zip(row, other, strict=True))
            }
        )
        for row, stratum, _ in listed
    )


def members_of(draw: Draw, published: pd.DataFrame, unit: str | None) -> list[Any]:
    """The unit of every published record, found by its number in the original; without a unit that number."""
    if unit is None:
        return published["id"].tolist()
    return draw.table.set_index("id")[unit].loc[published["id"]].tolist()


def require(counted: int, k: int, what: str) -> None:
    """A class has enough members."""
    if counted < k:
        raise BrokenError(f"a class of {counted} {what} where k = {k}")


# ---- cases


def mask(draw: Draw, columns: list[str]) -> pd.DataFrame:
    """The published table of `mag.microaggregate`."""
    if "job" in columns:
        tree = draw.chance(0.5)
        draw.options |= {"hierarchies": {"job": mag.Hierarchy(JOBS)}} if tree else {"aggregate": {"job": "mode"}}
    draw.options["missing"] = str(draw.rng.choice(["group", "drop"]))
    if draw.options["missing"] == "group":
        draw.options.setdefault("small_strata", str(draw.rng.choice(["merge", "suppress"])))
    if draw.chance(0.2):
        draw.options |= {"shuffle": True, "random_state": 1}
    if draw.chance(0.2):
        draw.options["method"] = str(draw.rng.choice(["mdav", "mondrian", "ona_star", "projection"]))
    return mag.microaggregate(draw.table, draw.k, columns, **draw.options).data


def units_case(draw: Draw) -> None:
    """Classes of all columns, or of each alone, have k units."""
    columns = draw.some(["age", "cost", "job"])
    draw.count_people()
    if draw.chance(0.5):
        draw.set_strata()
    alone = "job" not in columns and draw.chance(0.3)
    if alone:
        draw.options["scope"] = "per-column"
    published = mask(draw, columns)
    units = members_of(draw, published, draw.options["unit"])
    by = [name for name in ("region",) if "by" in draw.options]
    for names in [[name] for name in columns] if alone else [columns]:
        require(least(cells_of(published, [*by, *names]), units), draw.k, "units")


def households_case(draw: Draw) -> None:
    """Classes have k records, or people, of k_household households, whose own columns have one value in each."""
    own = [name for name in ("rent", "rooms") if draw.chance(0.6)]
    columns = [*draw.some(["age", "cost"]), *own]
    draw.options |= {"household": "home", "household_columns": own, "k_household": int(draw.rng.integers(1, 4))}
    if draw.chance(0.3):
        draw.options["unit"] = "person"
    if draw.chance(0.4):
        draw.set_strata()
    published = mask(draw, columns)
    rows = cells_of(published, [*(["region"] if "by" in draw.options else []), *columns])
    homes = members_of(draw, published, "home")
    require(least(rows, members_of(draw, published, draw.options.get("unit"))), draw.k, "records or units")
    require(least(rows, homes), draw.options["k_household"], "households")
    values = collections.defaultdict(set)
    for home, cells in zip(homes, cells_of(published, own), strict=True):
        values[home].add(cells)
    if any(len(several) > 1 for several in values.values()):
        raise BrokenError("a household with several values")


def sets_case(draw: Draw) -> None:
    """Every set has its own k, of records or of units."""
    columns = draw.some(["age", "cost", "rent", "rooms"])
    if draw.chance(0.5):
        draw.count_people()
    if draw.chance(0.3):
        draw.set_strata()
    sets = draw_sets(draw, columns)
    draw.options["sets"] = sets
    published = mask(draw, columns)
    members = members_of(draw, published, draw.options.get("unit"))
    for names, k in sets:
        by = ["region"] if "by" in draw.options else []
        require(least(cells_of(published, [*by, *names]), members), k, "records or units of a set")


def draw_sets(draw: Draw, columns: Sequence[str]) -> list[tuple[list[str], int]]:
    """Sets of these columns, which may share some; each is in one of them."""
    sets = [draw.some(columns) for _ in range(int(draw.rng.integers(1, 4)))]
    sets += [[name] for name in columns if not any(name in own for own in sets)]
    return [(own, int(draw.rng.integers(1, 5))) for own in sets]


def recoding_case(draw: Draw) -> None:
    """Classes of recoded tables have k units, and k_household households."""
    columns = draw.some(["job", "sex"])
    trees = {"job": mag.Hierarchy(JOBS), "sex": mag.Hierarchy([["f", "*"], ["m", "*"]])}
    draw.options |= {"hierarchies": {name: trees[name] for name in columns}}
    draw.options["max_suppressed"] = float(draw.rng.choice([0.0, 0.1, 0.5]))
    if draw.chance(0.7):
        draw.count_people()
    if draw.options.get("unit") != "home" and draw.chance(0.4):
        draw.options |= {"household": "home", "k_household": int(draw.rng.integers(1, 4))}
    if draw.chance(0.4):
        draw.options["by"] = "region"
    published = mag.generalize(draw.table, draw.k, columns, **draw.options).data
    rows = cells_of(published, [*(["region"] if "by" in draw.options else []), *columns])
    require(least(rows, members_of(draw, published, draw.options.get("unit"))), draw.k, "records or units")
    if "household" in draw.options:
        require(least(rows, members_of(draw, published, "home")), draw.options["k_household"], "households")


def suppression_case(draw: Draw, missing: Literal["value", "wildcard"]) -> None:
    """Every record equals k records or units under the reading; cells that are left are those of the original."""
    columns = draw.some(["age", "job", "sex", "rooms"])
    if draw.chance(0.6):
        draw.count_people()
    if draw.chance(0.4):
        draw.set_strata()
    demands = [(columns, draw.k)]
    if draw.chance(0.4):
        demands = draw_sets(draw, columns)
        draw.options["sets"] = demands
    if draw.chance(0.3):
        size, k = int(draw.rng.integers(1, len(columns) + 1)), int(draw.rng.integers(1, 5))
        draw.options["subsets"] = {size: k}
        demands = [*demands, *((list(own), k) for own in itertools.combinations(columns, size))]
    if draw.chance(0.3):
        draw.options["importance"] = {name: float(draw.rng.integers(1, 4)) for name in columns}
    published = mag.suppress(draw.table, draw.k, columns, missing=missing, **draw.options).data
    members = members_of(draw, published, draw.options.get("unit"))
    strata = cells_of(published, ["region"] if "by" in draw.options else [])  # all alike without
    for names, k in demands:
        rows = cells_of(published, names)
        if missing == "wildcard":
            require(least_by_wildcards(rows, strata, members), k, "records or units, by wildcards")
        else:
            require(least(list(zip(rows, strata, strict=True)), members), k, "records or units")
    before = cells_of(draw.table.set_index("id").loc[published["id"]], columns)
    for old, new in zip(before, cells_of(published, columns), strict=True):
        if any(b is not None and a != b for a, b in zip(old, new, strict=True)):
            raise BrokenError("a published cell that is not the record's own")


def file_case(draw: Draw) -> None:
    """Classes of a Parquet file, masked in parts or by column, have k units, and k_household households."""
    columns, joint = ["age", "cost"], draw.chance(0.7)
    draw.options["scope"] = "joint" if joint else "per-column"
    if not joint or draw.chance(0.8):
        draw.count_people()
    if joint and draw.options.get("unit") != "home" and draw.chance(0.4):
        draw.options |= {"household": "home", "k_household": int(draw.rng.integers(1, 4))}
    if draw.chance(0.3):
        draw.options["by"] = "region"
    if draw.chance(0.9):
        draw.options["missing"] = "group"
    if joint and draw.chance(0.7):
        draw.options["memory"] = LEAST_MEMORY
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(_source, "ROWS_PER_GROUP", ROWS_PER_GROUP):
        raw, masked = (str(pathlib.Path(folder, f"{name}.parquet")) for name in ("raw", "masked"))
        draw.table.to_parquet(raw, row_group_size=int(draw.rng.integers(5, 50)))
        mag.microaggregate(raw, draw.k, columns, output=masked, **draw.options)
        published = pd.read_parquet(masked)
    by = [name for name in ("region",) if "by" in draw.options]
    members = members_of(draw, published, draw.options.get("unit"))
    for names in [columns] if joint else [[name] for name in columns]:
        require(least(cells_of(published, [*by, *names]), members), draw.k, "records or units")
    if "household" in draw.options:
        homes = members_of(draw, published, "home")
        require(least(cells_of(published, [*by, *columns]), homes), draw.options["k_household"], "households")


def estimator_case(draw: Draw) -> None:
    """Records that `fit_transform` masks alike are of k units, and of k_household households."""
    columns, owners = draw.some(["age", "cost", "rent"]), {}
    table = draw.table.dropna(subset=columns)
    k_household = int(draw.rng.integers(1, 4)) if draw.chance(0.5) else None
    if k_household is None or draw.chance(0.5):
        owners["unit"] = table["person"]
    if k_household is not None:
        owners["household"] = table["home"].to_numpy()
    values = table[columns] if draw.chance(0.5) else table[columns].to_numpy()
    masked = mag.Microaggregator(draw.k, k_household=k_household).fit_transform(values, **owners)
    rows = list(map(tuple, masked.tolist()))
    require(least(rows, table["person"].tolist() if "unit" in owners else range(len(rows))), draw.k, "records or units")
    if k_household is not None:
        require(least(rows, table["home"].tolist()), k_household, "households")


CASES: dict[str, Callable[[Draw], None]] = {
    "units": units_case,
    "households": households_case,
    "sets": sets_case,
    "recoding": recoding_case,
    "suppression, values": lambda draw: suppression_case(draw, "value"),
    "suppression, wildcards": lambda draw: suppression_case(draw, "wildcard"),
    "files": file_case,
    "estimator": estimator_case,
}


def run(kind: str, seeds: Sequence[int]) -> dict[str, collections.Counter[str]]:
    """Cases of one kind, one after the other."""
    warnings.simplefilter("ignore")
    found: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for seed in seeds:
        try:
            CASES[kind](Draw(kind, seed))
            found["published"][kind] += 1
        except BrokenError as broken:
            found["broken"][f"{kind} {seed}: {broken}"] += 1
        except InputError:
            found["refused"][kind] += 1
        except Exception as error:
            found["broken"][f"{kind} {seed}: {''.join(traceback.format_exception(error)[-2:])}"] += 1
    return found


def main() -> None:
    """Run, in several processes, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("-n", type=int, default=10_000, help="tables of each kind")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; every table has the next one")
    parser.add_argument("--kinds", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)), help="processes")
    options = parser.parse_args()
    began = time.time()
    total: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    last = options.seed + options.n
    chunks = [
        (kind, range(first, min(first + CHUNK, last)))
        for kind in options.kinds
        for first in range(options.seed, last, CHUNK)
    ]
    with concurrent.futures.ProcessPoolExecutor(options.j, mp_context=multiprocessing.get_context("spawn")) as pool:
        for found in pool.map(run, *zip(*chunks, strict=True)):
            for what, counts in found.items():
                total[what] += counts
    broken = collections.Counter(
        next(kind for kind in CASES if what.startswith(f"{kind} ")) for what in total["broken"]
    )
    show(
        f"{options.n} tables of each kind, in {time.time() - began:.0f} s",
        [
            {"kind": kind, "published": total["published"][kind], "refused": total["refused"][kind],
             "broken": broken[kind]}
            for kind in options.kinds
        ],
    )  # fmt: skip
    for what in sorted(total["broken"])[:SHOWN]:
        print(f"\n{what}")
    print(f"\n{sum(total['published'].values())} tables published, {len(total['broken'])} broken promises")


if __name__ == "__main__":
    main()
