"""The method that "auto" chooses, and its candidates: loss, processor time, change of shares, and who dominates.

    python -m benchmarks.auto                                       # 1000 and 10 000 records: minutes
    python -m benchmarks.auto --records 100000                      # an hour
    python -m benchmarks.auto --records 1000000 --tables normal --k 5 --methods mona mdav_plus ona_local
    python -m benchmarks.auto --records   # prints what has been measured so far

Measurements are kept in a file, and not repeated.  A cell shows the loss in percent, seconds of processor time, and the
change of a share: that of the records of a column in one of 20 bins of equal counts, the largest over bins and columns,
in percent of all records.  The choice has an asterisk.  A method dominates it where it loses less in less time; the
short table has the loss of the choice, its time, and how much less it loses than the best that takes less time.
"""

import argparse
import itertools
import json
import pathlib
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

import mag
from benchmarks._data import table
from benchmarks._measure import RESULTS
from mag.methods import automatic

Cells: TypeAlias = dict[str, dict[str, list[float]]]  # of a table, n and k: by method, loss, seconds and change

SIZES, KS = [1000, 10_000, 100_000, 1_000_000], [3, 5, 10, 50]
CANDIDATES = ("mondrian", "mona", "mdav_plus", "mdav", "ona_local", "ona_star")
MAX_RECORDS = {"mdav": 30_000, "ona_star": 30_000}  # that a method gets, as its time grows with their square
NOISE = 0.05  # standard deviations that are added to records drawn again
WARMING = 40  # times k: records that compile or load the code of a method
LARGE_WARMING = 3000  # and once more, records that take all of its code
CLEARLY = 0.1  # share of a time that is noise


def clusters(n: int, random: np.random.Generator) -> np.ndarray:
    """A hundred clusters in ten columns."""
    return random.normal(size=(100, 10))[random.integers(100, size=n)] * 5 + random.normal(size=(n, 10))


def drawn(name: str) -> Callable[[int, np.random.Generator], np.ndarray]:
    """Records of a data set, drawn with noise."""

    def draw(n: int, random: np.random.Generator) -> np.ndarray:
        X = table(name)
        return X[random.integers(len(X), size=n)] + random.normal(size=(n, X.shape[1])) * NOISE * X.std(axis=0)

    return draw


TABLES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "normal": lambda n, random: random.normal(size=(n, 10)),
    "clusters": clusters,
    "census": drawn("census"),
    "tarragona": drawn("tarragona"),
    "eia": drawn("eia"),
    "adult": lambda n, random: table("adult")[random.integers(len(table("adult")), size=n)],
    "grid": lambda n, random: random.integers(0, 10, (n, 4)).astype(float),
    "heavy tails": lambda n, random: random.standard_t(2, (n, 6)),
}


def measure(name: str, n: int, k: int, method: str) -> list[float]:
    """Loss, seconds of processor time, and change of a share."""
    X = TABLES[name](n, random())
    for some in (WARMING * k, min(n, LARGE_WARMING)):
        mag.multivariate(X[:some], k, method=method)
    began = time.process_time()
    grouping = mag.multivariate(X, k, method=method)
    seconds = time.process_time() - began
    return [grouping.information_loss, seconds, mag.metrics.share_change(X, grouping.masked)]


def measure_all(cells: Cells, names: list[str], sizes: list[int], ks: list[int], methods: list[str]) -> Iterator[None]:
    """Measure the missing cells; yield after each."""
    for n, name, k, method in itertools.product(sizes, names, ks, methods):
        own, chosen = (
            cells.setdefault(f"{name} {n} {k}", {}),
            automatic(n, TABLES[name](1, random()).shape[1], k, False),
        )
        if method not in own and (n <= MAX_RECORDS.get(method, n) or method == chosen):
            own[method] = measure(name, n, k, method)
            yield


def rows_of(cells: Cells) -> Iterator[tuple[str, int, int, str, dict[str, list[float]]]]:
    """Table, n, k, the choice of "auto", and the figures of every method."""
    for name, n, k in itertools.product(TABLES, SIZES, KS):
        if found := cells.get(f"{name} {n} {k}"):
            yield name, n, k, automatic(n, TABLES[name](1, random()).shape[1], k, False), found


def print_long(cells: Cells) -> None:
    """A row for each table, n and k."""
    head = ["table", "n", "k", *CANDIDATES, "dominated by"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for name, n, k, chosen, found in rows_of(cells):
        row = [name, f"{n}", f"{k}"]
        for method in CANDIDATES:
            loss, seconds, change = found.get(method, (np.nan,) * 3)
            mark = "\\*" if method == chosen else ""
            row.append(f"{100 * loss:.3g}{mark} / {seconds:.2g} s / {100 * change:.1f}" if method in found else "")
        print(f"| {' | '.join([*row, ', '.join(dominating(chosen, found)) or 'none'])} |")


def dominating(chosen: str, found: dict[str, list[float]]) -> list[str]:
    """The methods that lose less in less time, by more than the noise of a measurement."""
    if chosen not in found:
        return []
    least, most = found[chosen][:2]
    return [method for method, (loss, seconds, _) in found.items() if loss < least and seconds < (1 - CLEARLY) * most]


def print_short(cells: Cells) -> None:
    """A row for each table and n, a column for each k."""
    print(f"| table | n | {' | '.join(f'k = {k}' for k in KS)} |\n|{'---|' * (2 + len(KS))}")
    rows: dict[tuple[str, int], dict[int, str]] = {}
    for name, n, k, chosen, found in rows_of(cells):
        if chosen in found:
            loss, seconds, _ = found[chosen]
            faster = [other for method, (other, took, _) in found.items() if took < seconds]
            gain = f", −{100 * (1 - loss / min(faster)):.0f} %" if faster else ""
            rows.setdefault((name, n), {})[k] = f"{100 * loss:.3g}, {seconds:.2g} s{gain}"
    for (name, n), row in rows.items():
        print(f"| {name} | {n} | {' | '.join(row.get(k, '') for k in KS)} |")


def random() -> np.random.Generator:
    """The same for every table."""
    return np.random.default_rng(0)


def main() -> None:
    """Measure, and print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="*", default=SIZES[:2])
    parser.add_argument("--k", type=int, nargs="+", default=KS)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=[*TABLES])
    parser.add_argument("--methods", nargs="+", default=CANDIDATES)
    parser.add_argument("--file", type=pathlib.Path, default=RESULTS / "auto.json")
    options = parser.parse_args()
    cells: Cells = json.loads(options.file.read_text()) if options.file.exists() else {}
    options.file.parent.mkdir(exist_ok=True)
    names = []
    for name in options.tables:
        try:
            TABLES[name](1, random())
            names.append(name)
        except FileNotFoundError:
            print(f"{name}: skipped, its file is neither in ../shared/data nor in $MAG_DATA.")
    for _ in measure_all(cells, names, options.records, options.k, options.methods):
        options.file.write_text(json.dumps(cells, indent=1))
    print_long(cells)
    print()
    print_short(cells)


if __name__ == "__main__":
    main()
