"""Random tables with categories, hierarchies, orders, ranges and sensitive columns, and what must hold of a release.

What is published is counted with pandas alone.  Kept and dropped texts begin with a mark: they are searched for in all
that is published where their record is withheld, and in every sentence of an error.
"""

import collections
import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pandas as pd
import pyarrow as pa

import mag
from benchmarks._random_tables import Draw
from tests.data.needles import MARK, Needles

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"
JOBS = [[f"{MARK}j{group}{leaf:03}", f"group {group}", "*"] for group in range(3) for leaf in range(1 + group * 2)]
ZIPS = [[f"{MARK}{a}{b}{c}00", f"{a}{b}***", f"{a}****", "*****"] for a, b, c in itertools.product("12", "345", "67")]
AGES = [[str(age), f"[{age // 5 * 5}, {age // 5 * 5 + 5})", f"[{age // 20 * 20}, {age // 20 * 20 + 20})", "*"]
        for age in range(100)]  # fmt: skip
DEGREES = ["none", "school", "college", "university"]
TREES = {"age": AGES, "job": JOBS, "zip": ZIPS}
SENSITIVE = {"disease": "equal", "salary": "ordered"}  # and the ground of their distances


class Wrong(Exception):  # noqa: N818 - says what
    """What must not happen: the kind of it, and what it was."""

    def __init__(self, kind: str, what: str) -> None:
        super().__init__(what)
        self.kind, self.what = kind, what


@dataclass
class Recoding:
    """A table, whether it is masked or generalized, and how."""

    table: pa.Table
    command: str
    k: int
    columns: list[str]
    by: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    true: list[str] = field(default_factory=list)  # columns whose cells hold for every record

    @property
    def kept(self) -> list[str]:
        """Columns that are published as they are."""
        named = {*self.columns, *self.by, "secret"}
        return [name for name in self.table.column_names if name not in named]

    def release(self, table: Any) -> Any:
        """By the library; `table` holds the same cells."""
        call = getattr(mag, "microaggregate" if self.command == "mask" else "generalize")
        threads = {"threads": 1} if self.command == "mask" else {}
        kept = [name for name in self.kept if name not in SENSITIVE or name not in self._demanded]
        return call(table, self.k, self.columns, by=self.by, keep=kept, drop="secret", **threads, **self.options)

    @property
    def _demanded(self) -> set[str]:
        return {*self.options.get("diversity", {}), *self.options.get("closeness", {})}


def draw_recoding(seed: int) -> Recoding:
    """A random table and what is to be done with it; most of it can be done."""
    draw = Draw(seed)
    rng, k = draw.rng, int(draw.one([2, 2, 3, 3, 4]))
    n = int(rng.integers(3 * k, 60))
    some = lambda values: [values[int(place)] for place in rng.integers(0, len(values), n)]  # noqa: E731
    codes = ["".join(some(list(LETTERS))[:4]) + LETTERS[i % 36] + LETTERS[i // 36] for i in range(n)]
    columns: dict[str, list[Any]] = {
        "age": rng.integers(0, int(draw.one([8, 100])), n).tolist(),
        "income": [round(cents / 100, 2) for cents in rng.integers(0, 10**6, n).tolist()],
        "job": some([row[0] for row in JOBS]),
        "zip": some([row[0] for row in ZIPS]),
        "degree": some(DEGREES),
        "region": some(["north", "south"]),
        "disease": some(["flu", "cough", "ulcer", "cancer", None][: int(rng.integers(2, 6))]),
        "salary": rng.integers(1, int(draw.one([4, 30])), n).tolist(),
        "note": [f"{MARK}{code[-5:]}" for code in codes],
        "secret": [f"{MARK}s{code[-2:]}xy" for code in codes],
    }
    command = draw.one(["mask", "generalize"])
    pool = ["age", "job", "zip", "degree"] + (["income"] if command == "mask" else [])
    masked = [pool[int(j)] for j in rng.permutation(len(pool))[: int(rng.integers(1, 4))]]
    by = ["region"] if draw.chance(0.3) else []
    options: dict[str, Any] = {}
    if draw.chance(0.3):
        for name in masked:
            gone = rng.random(n) < draw.one([0.05, 0.2])
            columns[name] = [None if out else cell for cell, out in zip(columns[name], gone.tolist(), strict=True)]
        options["missing"] = draw.one(["drop", "group"])
    _add_criteria(draw, options)
    trees = {name: mag.Hierarchy(TREES[name]) for name in masked if name in TREES}
    if command == "generalize":
        if "age" in trees and draw.chance(0.5):
            trees["age"] = mag.Hierarchy.intervals(0, 100, [5, 20])
        options |= {"hierarchies": trees, "max_suppressed": draw.one([0.0, 0.05, 0.3]),
                    "show_suppressed_as": draw.one(["root", "withhold"])}  # fmt: skip
        true = masked
    else:
        true = _add_aggregates(draw, masked, trees, options)
        if by or options.get("missing") == "group":
            options["small_strata"] = draw.one(["merge", "suppress"])
        if draw.chance(0.2) and "income" in masked and "income" not in true:
            options["round"] = {"income": int(rng.integers(-2, 3))}
        if len(masked) > 1 and draw.chance(0.5):
            options["method"] = draw.one(["auto", "mdav", "mona", "mondrian", "ona"])
    if draw.chance(0.3):
        options |= {"shuffle": True, "random_state": int(rng.integers(100))}
    return Recoding(pa.table(columns), command, k, masked, by, options, true)


def _add_criteria(draw: Draw, options: dict[str, Any]) -> None:
    if draw.chance(0.4):
        name = draw.one(list(SENSITIVE))
        options["diversity"] = {name: draw.one([2, ("entropy", 1.5), ("recursive", 3, 2)])}
    if draw.chance(0.3):
        options["closeness"] = {draw.one(list(SENSITIVE)): draw.one([0.3, 0.5, 0.8])}


def _add_aggregates(draw: Draw, masked: list[str], trees: dict[str, Any], options: dict[str, Any]) -> list[str]:
    """How each column is masked; the columns whose cells must then be true."""
    choices = {
        "age": ["mean", "median", "range"], "income": ["mean", "mid_range", "range"], "zip": ["ancestor"],
        "job": ["ancestor", "mode", "medoid"], "degree": ["median", "mode", "range"],
    }  # fmt: skip
    options["aggregate"] = {name: draw.one(choices[name]) for name in masked}
    trees.pop("age", None)
    options["hierarchies"] = trees
    if "degree" in masked:
        options["order"] = {"degree": DEGREES}
    return [name for name in masked if options["aggregate"][name] in ("ancestor", "range")]


# ---- what must hold


def plain(column: Any) -> list[Any]:
    """Python's objects, None where a cell is missing."""
    ways = ("to_pylist", "to_list", "tolist")
    cells = next(getattr(column, way)() for way in ways if hasattr(column, way))
    return [None if pd.isna(cell) else cell for cell in cells]


def check_release(asked: Recoding, before: pd.DataFrame, after: pd.DataFrame) -> None:
    """k, l and t of the classes, kept cells, and cells that are true for their records."""
    classes = after.groupby([*asked.by, *asked.columns], dropna=False, sort=False)
    if len(after) and classes.size().min() < asked.k:
        raise Wrong("violation", f"a class of {classes.size().min()}, k = {asked.k}")
    groups = [after.loc[rows] for rows in classes.groups.values()] if len(after) else []
    for name, criterion in asked.options.get("diversity", {}).items():
        for group in groups:
            if not is_diverse(collections.Counter(group[name]), criterion):
                raise Wrong("violation", f"a class is not {criterion}-diverse in {name}")
    for name, t in asked.options.get("closeness", {}).items():
        for group in groups:
            if distance(group[name], after[name], SENSITIVE[name]) > t + 1e-9:
                raise Wrong("violation", f"a class is not {t}-close in {name}")
    rows = dict(zip(before["note"], before.index, strict=True))
    if not set(after["note"]) <= set(rows) or after["note"].duplicated().any():
        raise Wrong("altered", "the notes")
    origin = before.loc[[rows[note] for note in after["note"]]]
    for name in asked.kept:
        if list(origin[name]) != list(after[name]):
            raise Wrong("altered", f"{name} is not as it was")
    for name in asked.true:
        tree = {row[0]: row for row in TREES[name]} if name in TREES else {}
        for old, new in zip(origin[name], after[name], strict=True):
            if not is_true(name, old, new, tree):
                raise Wrong("false", f"{name}: {new!r} is published for {old!r}")


def is_diverse(counts: collections.Counter, criterion: Any) -> bool:
    """Of one class."""
    n = counts.total()
    if isinstance(criterion, int):
        return len(counts) >= criterion
    if criterion[0] == "entropy":
        entropy = -sum(c / n * math.log(c / n) for c in counts.values())
        return entropy >= math.log(criterion[1]) - 1e-9
    falling = sorted(counts.values(), reverse=True)
    return falling[0] < criterion[1] * sum(falling[criterion[2] - 1 :])


def distance(own: pd.Series, every: pd.Series, ground: str) -> float:
    """The earth mover's distance of the values of a class from those of the table."""
    mine, whole = (collections.Counter(column) for column in (own, every))
    values = sorted(whole, key=lambda value: (value is None, value if ground == "ordered" else str(value)))
    gaps = [Fraction(mine[value], len(own)) - Fraction(whole[value], len(every)) for value in values]
    if ground == "equal":
        return float(sum(gap for gap in gaps if gap > 0))
    return float(sum(map(abs, itertools.accumulate(gaps))) / max(len(values) - 1, 1))


def is_true(name: str, old: Any, new: Any, tree: dict[Any, list[str]]) -> bool:
    """Whether a published cell covers the value of its record."""
    if old is None or new is None:
        return new is None or str(new).strip("*") == "" or new == "[0, 100)"
    key = str(int(old)) if name == "age" else str(old)
    if str(new) in (*tree.get(key, ()), str(old), "*"):
        return True
    if not str(new).startswith("["):
        return name in ("age", "income") and float(new) == float(old)
    low, high = str(new)[1:-1].split(", ")
    if name == "degree":
        return DEGREES.index(low) <= DEGREES.index(old) <= DEGREES.index(high)
    return Fraction(low) <= Fraction(str(old)) and (
        Fraction(str(old)) < Fraction(high) if str(new).endswith(")") else Fraction(str(old)) <= Fraction(high)
    )


def check_bytes(asked: Recoding, published: set[str], blob: bytes) -> None:
    """Nothing of dropped columns and withheld records."""
    needles = Needles()
    for note, secret in zip(*(asked.table.column(name).to_pylist() for name in ("note", "secret")), strict=True):
        needles.add(secret, "a dropped cell")
        if note not in published:
            needles.add(note, "a withheld note")
    if found := needles.found(blob):
        raise Wrong("leak", ", ".join(sorted(found)))
