"""What it costs that k counts people: `python -m benchmarks.units [--k 5]`.

Household survey, 4580 records of 1000 households; income and expenditure also as totals of households.  Loss is SSE /
SST of all columns in standard deviations: of records, where each counts; of households as units, by both ways and by
the better one; of two counts; with columns that have one value in a household; and of several sets of columns, beside
all columns together.  Seconds are processor time.
"""

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import polars as pl

import mag
from benchmarks._data import DATA
from benchmarks._measure import show
from mag.tables import _owners

TOTALS = {"hhinc": "income", "hhexp": "expend"}
CASES = [["income", "expend"], ["income", "expend", "age"], ["hhinc"], ["hhinc", "hhexp"], ["hhinc", "hhexp", "age"]]
WAYS = ("rows repaired", "units by means")
OWN = {"household": "ori_hid", "k_household": 3}
TOGETHER = ["hhinc", "hhexp", "age", "income", "expend"]
CALLS: dict[str, dict[str, Any]] = {
    "all columns together, records": {},
    "units": {"unit": "ori_hid"},
    "records of 3 households": OWN,
    "one value a household": OWN | {"household_columns": ["hhinc", "hhexp"]},
    "one value a household, by sex": OWN | {"household_columns": ["hhinc", "hhexp"], "by": "sex"},
    "two sets": {"sets": [["hhinc", "hhexp"], ["age", "income", "expend"]]},
    "two sets that share age": {"sets": [["hhinc", "hhexp", "age"], ["age", "income", "expend"]]},
    "the same, units": {"sets": [["hhinc", "hhexp", "age"], ["age", "income", "expend"]], "unit": "ori_hid"},
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--k", type=int, default=5)
    k = parser.parse_args().k
    totals = {name: pl.col(column).sum().over("ori_hid") for name, column in TOTALS.items()}
    survey = pl.read_csv(DATA / "survey.csv").with_columns(**totals)
    warnings.simplefilter("ignore", UserWarning)  # notes for a publisher
    show(f"Units, k = {k}: loss in 10⁻⁴", [compare_ways(survey, k, columns) for columns in CASES])
    show(
        f"Households and sets of {', '.join(TOGETHER)}, k = {k}", [measure(survey, k, *call) for call in CALLS.items()]
    )


def compare_ways(survey: pl.DataFrame, k: int, columns: list[str]) -> dict[str, Any]:
    """The loss without units, by both ways and by the better one."""
    found: list[float] = []
    list_ways = _owners.list_ways

    def watch(comparable: Any, *arguments: Any) -> Iterator[Any]:
        z, _ = comparable.read(places=True)
        for groups in list_ways(comparable, *arguments):
            found.append(_owners.squares(z, groups.labels) / _owners.squares(z, np.zeros(len(z), np.int64)))
            yield groups

    plain = mag.microaggregate(survey, k, columns, rest="drop")
    with mock.patch.object(_owners, "list_ways", watch):
        release = mag.microaggregate(survey, k, columns, unit="ori_hid", rest="drop")
    single = survey.with_columns(plain.data).group_by(columns).agg(pl.col("ori_hid").n_unique())
    row = {"columns": ", ".join(columns), "records": _loss(plain)}
    row |= dict(zip(WAYS, (round(1e4 * loss, 2) for loss in found), strict=True))
    return row | {"unit=": _loss(release), "classes of one unit without": int((single["ori_hid"] == 1).sum())}


def _loss(release: Any) -> float:
    return round(1e4 * release.utility(False)["information_loss"], 2)


def measure(survey: pl.DataFrame, k: int, name: str, options: dict[str, Any]) -> dict[str, Any]:
    """The loss of one call, of household columns and of the others, and its seconds."""
    began = time.process_time()
    release = mag.microaggregate(survey, k, TOGETHER, rest="drop", **options)
    seconds = time.process_time() - began
    own = release.utility(False)["information_loss_by_column"]
    shares = {"households": [*TOTALS], "persons": [name for name in TOGETHER if name not in TOTALS]}
    losses = {kind: round(float(np.mean([own[name] for name in names])), 4) for kind, names in shares.items()}
    return {"what": name} | losses | {"smallest class of all": release.guarantee.smallest, "seconds": round(seconds, 2)}


if __name__ == "__main__":
    main()
