"""Random tables with hostile names and cells of all types, as Arrow columns, and what is asked for them."""

import decimal
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

NAMES = [
    "income", "age", "index", "level_0", "__index_level_0__", " ", "a,b", 'a"b', "a;b", "a\tb", "a\nb", "[red]", "[/x]",
    "λ", "é", "e\u0301", "\x1b[31m", "%s", "{0}", "../x", "-k", "--by", "count", "len", "x" * 60, "None", "nan", "0",
    "'", "`", "name", "values", "data", "columns", "k", "=1+1", "<b>", "&amp;", "$x", "\\", "-0 age", "*", "^a.*$",
    "long name of a column",
]  # fmt: skip
TEXTS = [
    "", " ", "a", "00123", "1.50", "-0", "nan", "NULL", "None", "true", "1e5", "2026-01-31", "mailto:a@x",
    "http://a.example/b?c=d", "internal:Sheet1!A1", "external:c:\\x", "file:///etc/x", "=1+1", "@SUM(A1)", "+1",
    'say "x"', "a,b", "a;b", "a\tb", "a\nb", "a\r\nb", " padded ", "é", "e\u0301", "日本語テキスト", "\u2028", "🙂",
    "a string longer than twelve bytes", "another string longer than twelve bytes", "'", "\\N", "#N/A", "x" * 300,
    "{=1}", "_x000D_",
]  # fmt: skip
METHODS = ["auto", "auto", "auto", "mdav", "mona", "mondrian", "projection", "zscore", "ona"]
COSTS = ["sse", "sae", "maxdist", "roundup", "rounddown"]


@dataclass
class Request:
    """A table, the roles of its columns, and options of `microaggregate`."""

    columns: dict[str, pa.Array]
    masked: list[str]
    by: list[str]
    keep: list[str]
    drop: list[str]
    k: Any
    options: dict[str, Any] = field(default_factory=dict)


class Draw:
    """Random columns."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def one(self, choices: list) -> Any:
        """One of a list."""
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, probability: float) -> bool:
        """Whether something with this probability happens."""
        return bool(self.rng.random() < probability)

    # ---- columns

    def floats(self, n: int) -> np.ndarray:
        """Of all magnitudes, with ties and both zeros."""
        how = int(self.rng.integers(7))
        if how == 0:
            return self.rng.normal(size=n)
        if how == 1:
            return np.round(self.rng.lognormal(8, 1, n), 2)
        if how == 2:
            return self.rng.integers(0, 4, n) * 1.0
        if how == 3:
            return self.rng.choice([0.0, -0.0, 1.0, -1.0], n)
        if how == 4:
            return 10.0 ** self.rng.uniform(-30, 30, n)
        if how == 5:
            return 1e9 + self.rng.random(n)
        return np.full(n, 3.7)

    def column(self, kind: str, n: int) -> pa.Array:
        """Cells of a kind, none missing."""
        rng = self.rng
        if kind == "float":
            return pa.array(self.floats(n))
        if kind == "float32":
            return pa.array(self.floats(n).astype(np.float32))
        if kind == "integer":
            wide = self.chance(0.2)
            return pa.array(rng.integers(-(2**62), 2**62, n) if wide else rng.integers(0, self.one([3, 30, 10**6]), n))
        if kind == "small":
            return pa.array(rng.integers(-100, 100, n).astype(np.int32))
        if kind == "byte":
            return pa.array(rng.integers(0, 256, n).astype(np.uint8))
        if kind == "boolean":
            return pa.array(rng.random(n) < 0.5)
        if kind == "date":
            return pa.array(rng.integers(-5000, 30000, n).astype(np.int32)).cast(pa.date32())
        if kind.startswith(("moment", "zoned")):
            unit = kind.partition(" ")[2] or "us"
            spread = 2 if self.chance(0.3) else 10**6  # the last digits, or all of them
            steps = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
            counts = 1_700_000_000 * steps + rng.integers(0, spread, n) * (1 if spread == 2 else steps)
            return pa.array(counts).cast(pa.timestamp(unit, tz="Europe/Paris" if kind.startswith("zoned") else None))
        if kind == "duration":
            return pa.array(rng.integers(0, 10**9, n)).cast(pa.duration("us"))
        if kind == "time":
            return pa.array(rng.integers(0, 4, n)).cast(pa.time64("ns"))
        if kind == "decimal":
            cents = rng.integers(-(10**6), 10**6, n).tolist()
            return pa.array([decimal.Decimal(c).scaleb(-2) for c in cents], pa.decimal128(12, 2))
        if kind == "bytes":
            return pa.array([rng.bytes(int(rng.integers(0, 20))) for _ in range(n)])
        if kind == "category":
            texts = [self.one(TEXTS) for _ in range(4)]
            return pa.array([self.one(texts) for _ in range(n)]).dictionary_encode()
        if kind == "list":
            return pa.array([[self.one(TEXTS)] * int(rng.integers(0, 3)) for _ in range(n)], pa.list_(pa.string()))
        if kind == "struct":
            return pa.StructArray.from_arrays([self.column("text", n), self.column("time", n)], ["a", "b"])
        if kind == "strata":
            texts = [self.one(TEXTS) for _ in range(int(rng.integers(1, 4)))]
            return pa.array([self.one(texts) for _ in range(n)])
        return pa.array([self.one(TEXTS) for _ in range(n)], pa.string())

    def missing(self, array: pa.Array, share: float) -> pa.Array:
        """The same with some cells missing."""
        gone = self.rng.random(len(array)) < share
        return pa.compute.if_else(pa.array(~gone), array, pa.scalar(None, array.type)) if gone.any() else array


NUMBERS = ["float", "float", "float", "float32", "integer", "integer", "small", "byte", "date", "moment", "decimal"]
STRATA = ["strata", "strata", "strata", "boolean", "small", "category", "date", "moment ns", "time", "float", "struct"]
OTHERS = [
    "text", "text", "float", "float32", "integer", "small", "byte", "boolean", "date", "moment", "moment ns", "zoned",
    "duration", "time", "decimal", "bytes", "category", "list", "struct",
]  # fmt: skip


def request(seed: int, numbers: list[str] = NUMBERS, strata: list[str] = STRATA, others: list[str] = OTHERS) -> Request:
    """A random table and what is to be done with it; most of it can be done."""
    draw = Draw(seed)
    rng = draw.rng
    k = int(draw.one([1, 2, 2, 3, 3, 4, 5]))
    n = int(rng.integers(max(1, k - 1), 12)) if draw.chance(0.1) else int(rng.integers(3 * k, 45))
    names = [NAMES[j] for j in rng.permutation(len(NAMES))]
    masked = [names.pop() for _ in range(int(draw.one([1, 1, 2, 2, 3])))]
    by = [names.pop() for _ in range(int(draw.one([0, 1, 1, 2])))]
    keep = ["id", *(names.pop() for _ in range(int(rng.integers(0, 4))))]
    drop = [names.pop() for _ in range(int(rng.integers(0, 2)))]
    columns = {name: draw.column(draw.one(numbers), n) for name in masked}
    for name in by:  # a few values
        few = int(rng.integers(1, max(2, min(4, n // (k + 1)))))
        columns[name] = draw.column(draw.one(strata), few).take(pa.array(rng.integers(0, few, n)))
    columns |= {name: draw.column(draw.one(others), n) for name in [*keep, *drop]}
    columns["id"] = pa.array(rng.permutation(10 * n + 10)[:n])
    options: dict[str, Any] = {}
    if draw.chance(0.35):
        share = draw.one([0.05, 0.1, 0.3])
        for name in masked:
            columns[name] = draw.missing(columns[name], share)
        options["missing"] = draw.one(["drop", "drop", "group", "group"])
    for name in [*by, *keep[1:]]:
        if draw.chance(0.1 if name in by else 0.3) and not pa.types.is_dictionary(columns[name].type):
            columns[name] = draw.missing(columns[name], 0.2)
    if by or options.get("missing") == "group":
        options["small_strata"] = draw.one(["merge"] * 4 + ["suppress"] * 4 + ["error"])
    apart = draw.chance(0.4)
    if apart:
        options["scope"] = "per-column"
        options |= {"cost": draw.one(COSTS)} if draw.chance(0.4) else {}
    elif len(masked) > 1:
        options["method"] = draw.one(METHODS)
        options |= {"aggregate": draw.one(["mean", "median", "min", "max", "mid_range"])} if draw.chance(0.3) else {}
        options |= {"standardize": draw.chance(0.5)} if draw.chance(0.2) else {}
    if draw.chance(0.15) and not options.get("aggregate") and not options.get("cost"):
        columns["weight"] = pa.array(rng.uniform(0.5, 2, n))
        (keep if draw.chance(0.5) else drop).append("weight")
        options["weights"] = "weight"
    floats = [name for name in masked if pa.types.is_floating(columns[name].type)]
    if floats and draw.chance(0.25):
        options["round"] = {name: int(rng.integers(-2, 6)) for name in floats}
    if draw.chance(0.3):
        options["shuffle"] = True
    order = rng.permutation(len(columns))
    names = list(columns)
    return Request({names[j]: columns[names[j]] for j in order}, masked, by, keep, drop, k, options)
