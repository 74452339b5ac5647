"""Risk before masking beside sdcMicro 5.8.1: figures on its own survey, and processor times of SUDA.

    python -m benchmarks.assess

Times are processor seconds of one thread, the best of several runs, of our search and of the plain one in
`tests/oracles/risk.py` on a part of the records.  Those of sdcMicro were measured on another machine.
"""

import argparse
import json
import math
import time

import numpy as np
import polars as pl

import mag
from benchmarks._measure import show
from mag.risk import subsets
from mag.risk.suda import points_by_size
from tests.data.paths import DATA
from tests.oracles import risk as plain

SURVEY = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country"]
THEIRS = {6: 0.11, 9: 0.29}  # processor seconds of sdcMicro's suda2 on Adult, by the number of keys
RECORDS = 1000  # of the plain search, whose time grows with their square
RUNS = 7


def processor_time(function, runs=RUNS):
    """The least processor time of several calls, in seconds."""
    least = math.inf
    for _ in range(runs):
        began = time.process_time()
        function()
        least = min(least, time.process_time() - began)
    return least


def compare_survey():
    """The global figures of the survey, ours exact and theirs by their default formula."""
    figures = json.loads((DATA.parent / "reference" / "sdcmicro.json").read_text())
    found = mag.assess(pl.read_csv(DATA / "survey.csv"), SURVEY, weights="sampling_weight", household="ori_hid")
    risk, suda = figures["testdata.measure_risk"]["value"], figures["testdata.suda2"]["value"]
    scores, dis = found.records["suda"], found.records["dis_suda"]
    pairs = {
        "records in classes of 1": (found.summary["uniques"], figures["testdata.freqCalc"]["value"]["n1"]),
        "expected re-identifications": (found.summary["expected_reidentifications"], risk["global_risk_ER"]),
        "the same, households": (found.summary["household_reidentifications"], risk["hier_risk_ER"]),
        "sum of SUDA scores": (scores.sum(), suda["score"]["sum"]),
        "largest DIS-SUDA score": (dis.max(), suda["disScore"]["max"]),
    }
    return [{"figure": name, "mag": f"{a:.9g}", "sdcMicro": f"{b:.9g}"} for name, (a, b) in pairs.items()]


def time_suda():
    """SUDA on Adult: the search, the search with reading, and the plain one."""
    table = pl.read_csv(DATA / "adult_arx" / "adult.csv", separator=";")
    rows = []
    for names in (ADULT, table.columns):
        codes = [np.unique(table[name].to_numpy().astype(str), return_inverse=True)[1] for name in names]
        points = points_by_size(len(names))
        began = time.perf_counter()
        found = subsets.walk(codes, None, len(names), points)
        first = time.perf_counter() - began
        took = processor_time(lambda codes=codes, points=points: subsets.walk(codes, None, len(codes), points))
        every = processor_time(lambda names=names: mag.assess(table, names), 3)
        few = list(zip(*(column[:RECORDS].tolist() for column in codes), strict=True))
        slow = processor_time(lambda few=few: plain.minimal_uniques(few, count), 1)
        fast = processor_time(lambda codes=codes, points=points: subsets.walk(
            [column[:RECORDS] for column in codes], None, len(codes), points
        ))  # fmt: skip
        rows.append({
            "keys": len(names), "sum of scores": found.scores.sum(), "first call": first, "SUDA": took,
            "sdcMicro": THEIRS[len(names)], "ratio": took / THEIRS[len(names)], "mag.assess": every,
            f"plain, {RECORDS} records": slow, "SUDA of these": fast,
        })  # fmt: skip
    return rows


def count(rows):
    """The class size of every record."""
    seen = {}
    for row in rows:
        seen[row] = seen.get(row, 0) + 1
    return [seen[row] for row in rows]


def main() -> None:
    """Print both tables."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    show("Survey, 4580 records, 7 keys", compare_survey())
    show("Adult, 30 162 records: processor seconds", time_suda())


if __name__ == "__main__":
    main()
