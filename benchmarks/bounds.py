"""How far ONA* can be from the least loss:  python -m benchmarks.bounds [census] [eia] [tarragona]

Information loss of ONA* and of the best pairs (k = 2), and the lower bounds of `mag.multivariate(bound=…)`, in per
cent; two threads.  The linear program has a minute for each; seconds are processor time.
"""

import time

import mag
from benchmarks._data import table
from benchmarks._measure import save, show, words

THREADS, BOUND_SECONDS = 2, 60.0
SETS, SIZES = ("census", "eia", "tarragona"), (2, 3, 4, 5, 7, 10)


def timed(X: object, k: int, **options: object) -> tuple[mag.RecordGrouping, float]:
    """A grouping, and how much processor time it took."""
    began = time.process_time()
    grouping = mag.multivariate(X, k, threads=THREADS, **options)
    return grouping, time.process_time() - began


def rows_of(name: str) -> list[dict]:
    """A row per k."""
    X, rows = table(name), []
    timed(X[:200], 3, method="ona_star", bound="lp")  # compiles
    for k in SIZES:
        grouping, grouped = timed(X, k, method="ona_star")
        weak, near = timed(X, k, method="ona_star", bound="neighbor")
        strong, solved = timed(X, k, method="ona_star", bound="lp", bound_time=BOUND_SECONDS)
        pairs = k == 2 and len(X) <= 2048
        rows.append(
            {
                "data": name,
                "k": k,
                "ona_star, %": 100 * grouping.information_loss,
                "matching, %": 100 * timed(X, k, method="matching")[0].information_loss if pairs else None,
                "neighbor, %": 100 * weak.bound,
                "lp, %": 100 * strong.bound,
                "neighbor, gap %": 100 * weak.gap,
                "lp, gap %": 100 * strong.gap,
                "neighbor, s": near - grouped,
                "lp, s": solved - grouped,
            }
        )
    return rows


def main() -> None:
    """Print the tables and write them as JSON."""
    found = []
    for name in words(__doc__, choices=SETS) or SETS:
        rows = rows_of(name)
        show(f"Lower bounds, {name}", rows)
        found += rows
    save("bounds", found)


if __name__ == "__main__":
    main()
