"""Suppressed cells of Adult, six quasi-identifiers, in both readings: `python -m benchmarks.suppress [--k 2 5 10]`.

The lower bound holds where a missing cell is a value; the figures of sdcMicro 5.8.1 are of the weaker reading, with the
seconds of processor time on another machine.
"""

import argparse
import time

import numpy as np
import polars as pl

import mag
from benchmarks._data import DATA
from benchmarks.generalize import NAMES
from mag.frames import frame_of
from mag.tables.suppression import Demand
from mag.tables.suppression.cells import read_codes
from mag.tables.suppression.wildcard import find_lower_bound

SDCMICRO = {2: (4945, 23), 5: (10331, 60), 10: (15620, 113)}  # cells and seconds: kAnon, the same records and columns


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("--k", type=int, nargs="+", default=[2, 5, 10])
    options = parser.parse_args()
    people = pl.read_csv(DATA / "adult_arx" / "adult.csv", separator=";").select(NAMES)
    codes = read_codes(frame_of(people), NAMES)
    mag.suppress(people, 2, NAMES)  # modules, compiled code
    print(f"{people.height} records, {len(NAMES)} columns; cells, seconds of processor time, classes below k")
    print(f"{'k':>3} {'reading':>9} {'cells':>7} {'seconds':>8} {'below k':>8} {'bound':>7}   sdcMicro")
    for k in options.k:
        bound = find_lower_bound(codes, [Demand(tuple(range(len(NAMES))), k)], np.ones(len(NAMES)))
        for reading in ("value", "wildcard"):
            begin = time.process_time()
            release = mag.suppress(people, k, NAMES, missing=reading)
            took, facts = time.process_time() - begin, release.guarantee
            least = f"{bound:7.0f}" if reading == "value" else f"{'':7}"
            theirs = "{} cells, {} s".format(*SDCMICRO[k]) if reading == "wildcard" and k in SDCMICRO else ""
            print(f"{k:3} {reading:>9} {facts.cells:7} {took:8.2f} {facts.below_k:8} {least}   {theirs}", flush=True)


if __name__ == "__main__":
    main()
