"""The figures of `mag.assess` that counts of classes give, for frames whose rows stay in their engine."""

import itertools
import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from mag import verify
from mag._lib.errors import InputValueError
from mag.frames.build import build_frame
from mag.risk.uniqueness import pitman, zayatz
from mag.tables._assessment import Assessment
from mag.tables._risks import SMALL_SIZES, ColumnRisk, Columns

MAX_QUERIES_UNASKED = 100  # subsets that are counted where no size is given, by one query each
Places = tuple[int, ...]


def largest_lazy_size(m: int) -> int:
    """The largest size up to which m columns have at most `MAX_QUERIES_UNASKED` subsets."""
    sums = itertools.accumulate(math.comb(m, size) for size in range(1, m + 1))
    return max(1, sum(total <= MAX_QUERIES_UNASKED for total in sums))


def assess_lazily(
    table: Any, qi: Sequence[Hashable], sensitive: Sequence[Hashable], max_size: int, fraction: float | None
) -> Assessment:
    """Count the classes of all subsets of the quasi-identifiers up to a size, and of all of them."""
    counted: dict[Places, np.ndarray] = {}
    m = len(qi)

    def count(places: Places) -> np.ndarray:
        """The sizes of the classes of some of the columns."""
        if places not in counted:
            names = [qi[place] for place in places]
            counted[places] = verify.count_lazily(table, names, by_value=True).records if names else counted[every][:0]
        return counted[places]

    every = tuple(range(m))
    sizes = np.sort(count(every))
    n = int(sizes.sum())
    if not n:
        raise InputValueError("table must hold at least one record; got none.")
    missing = verify.count_missing_lazily(table, qi)
    columns = []
    for place, name in enumerate(qi):
        alone, others = count((place,)), tuple(other for other in every if other != place)
        without = _below(count(others), SMALL_SIZES[0]) if others else int(n == 1)
        values = alone.size - (missing[place] > 0)
        columns.append(ColumnRisk(name, values, missing[place], _below(alone, SMALL_SIZES[0]), without, math.nan))
    chosen = [own for size in range(1, max_size + 1) for own in itertools.combinations(every, size)]
    chosen.sort(key=lambda own: (len(own), -_below(count(own), SMALL_SIZES[0])))
    figures: Columns = {
        "subset": np.array([*(", ".join(str(qi[place]) for place in own) for own in chosen), None], object)[:-1],
        "size": np.array([len(own) for own in chosen]),
        "classes": np.array([count(own).size for own in chosen]),
        "smallest": np.array([int(count(own).min()) for own in chosen]),
        **{
            label: np.array([_below(count(own), size) for own in chosen])
            for label, size in zip(("uniques", "below_3", "below_5"), SMALL_SIZES, strict=True)
        },
    }
    summary: dict[str, Any] = {
        "records": n,
        "quasi_identifiers": [*qi],
        "max_size": max_size,
        "sampling_fraction": fraction,
        "classes": sizes.size,
        "smallest": int(sizes[0]),
        "uniques": _below(sizes, SMALL_SIZES[0]),
        **{f"below_{size}": _below(sizes, size) for size in SMALL_SIZES[1:]},
        "expected_reidentifications": float(sizes.size),  # of every class the sum of 1 / f over f records
        "mean_risk": sizes.size / n,
        "largest_risk": 1 / int(sizes[0]),
    }
    if fraction is not None:
        models = {"zayatz": zayatz(sizes, fraction), "pitman": pitman(sizes, fraction)}
        estimates = {f"population_uniques_{name}": number for name, number in models.items() if number == number}
        summary |= {"population": n / fraction, **estimates}
    summary["sensitive"] = {str(name): _count_single(table, qi, name) for name in sensitive}
    columns.sort(key=lambda row: -row.unique_alone)
    shown = {name: [getattr(row, name) for row in columns] for name in ColumnRisk._fields if name != "suda_share"}
    listed: Columns = {name: np.array(own) for name, own in shown.items() if name != "column"}
    names: Columns = {"column": np.array([*map(str, shown["column"]), None], object)[:-1]}
    return Assessment(
        records=None,
        classes=None,
        subsets=build_frame(figures, table),
        columns=build_frame(names | listed, table),
        levels=None,
        summary=summary,
        column_risks=tuple(columns),
        worst_subsets=(),
    )


def _below(sizes: np.ndarray, size: int) -> int:
    """The records in classes below a size."""
    return int(sizes[sizes < size].sum())


def _count_single(table: Any, qi: Sequence[Hashable], name: Hashable) -> dict[str, int]:
    """Classes of at least two with one sensitive value, and their records."""
    records, different = verify.count_lazily(table, qi, name, by_value=True)
    single = (different == 1) & (records >= 2)
    return {"classes": int(single.sum()), "records": int(records[single].sum())}
