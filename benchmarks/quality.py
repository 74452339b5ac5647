"""How little is lost, and how soon:  python -m benchmarks.quality [casc | large] [seconds …]

Information loss in percent on the data of the CASC project, beside the least loss that Thaeter's thesis prints for any
method, after 1, 5, 10 and 60 seconds of annealing on two threads.  Then a lower bound, the best loss found with it,
whether that is proven optimal, and the processor time of all that.  For k of 3 or less it is the bound of branch and
price, which improves the groups of the longest annealing; above, that of the linear program, for there branch and price
does not end in time.  Printed losses below the bound are impossible, and are listed.  Then clustered data like the
thesis's SimC and 30 000 × 24 standard normal records beside our own ONA*.  The seconds include the start and not the
compilation.  Every group is counted: k to 2k-1 records.
"""

import contextlib
import time
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

import mag
from benchmarks._data import published, table
from benchmarks._measure import save, show, words
from benchmarks.thesis import SIZES, simc
from mag._lib import progress
from tests.data.paths import REFERENCE

SECONDS = (1.0, 5.0, 10.0, 60.0)
DATA = ("Census", "Tarragona", "EIA")
PRINTED = ("A.1", "B.1", "8.1", "8.4_IL")  # tables of the thesis with losses of these data
ROUNDING = 0.005  # of printed losses
BOUND_SECONDS = 60.0  # of processor time
LARGEST_BRANCHED = 3  # k, up to which branch and price comes to an end in this time
THREADS = 2


def counted(X: np.ndarray, k: int, **options: object) -> mag.RecordGrouping:
    """A grouping of which every group is counted."""
    grouping = mag.multivariate(X, k, threads=THREADS, **options)
    sizes = np.bincount(grouping.labels)
    if sizes.min() < k or (len(X) >= 2 * k and sizes.max() >= 2 * k):
        raise RuntimeError(f"Groups of {sizes.min()} to {sizes.max()} records where k={k}.")
    return grouping


def annealed(X: np.ndarray, k: int, seconds: float) -> float:
    """The loss after so many seconds, in percent."""
    return 100 * counted(X, k, time_limit=seconds).information_loss


@contextlib.contextmanager
def limits_of_processor_time() -> Iterator[None]:
    """Time limits count processor time, so that other work on the machine changes nothing."""
    elapsed, progress.time = progress.time, SimpleNamespace(monotonic=time.process_time)
    try:
        yield
    finally:
        progress.time = elapsed


def bounded(X: np.ndarray, k: int, seconds: float) -> tuple[mag.RecordGrouping, float]:
    """The best grouping that is found after annealing, with its bound; the processor time."""
    began, bound = time.process_time(), "branch" if k <= LARGEST_BRANCHED else "lp"
    with limits_of_processor_time():
        grouping = counted(X, k, time_limit=seconds, bound=bound, bound_time=BOUND_SECONDS)
    return grouping, time.process_time() - began


def row_of(name: str, X: np.ndarray, k: int, other: str, theirs: float, seconds: list[float]) -> dict:
    """One line: theirs, ours after so many seconds, and how far below."""
    row = {"data": name, "k": k, other: theirs}
    for limit in seconds:
        ours = annealed(X, k, limit)
        row |= {f"{limit:g} s": f"{ours:.4f}", f"{limit:g} s, %": round(100 * (ours / theirs - 1), 2)}
    return row


def printed_losses(name: str, k: int) -> list[tuple[float, str]]:
    """What the thesis prints, in rising order, and where."""
    tables = published()["thesis"]
    found = []
    for number in PRINTED:
        for algorithm, losses in tables[number].get(name, {}).items():
            if losses.get(str(k)) is not None:
                found.append((losses[str(k)], f"{algorithm}, table {number.removesuffix('_IL')}"))
    return sorted(found)


def casc(seconds: list[float]) -> list[dict]:
    """The data that the literature compares by."""
    if not REFERENCE.exists():
        print(f"The published tables are not beside the project: {REFERENCE.name}.")
        return []
    rows = []
    for name in DATA:
        X = table(name.lower())
        for k in SIZES:
            best, spent = bounded(X, k, max(seconds))
            least = 100 * best.bound
            printed = printed_losses(name, k)
            impossible = [(loss, source) for loss, source in printed if loss + ROUNDING < least]
            theirs, source = printed[len(impossible)]
            row = row_of(name, X, k, "least printed", theirs, seconds)
            row |= {"source": source, "bound": f"{least:.4f}", "best": f"{100 * best.information_loss:.4f}"}
            row |= {"gap, %": round(100 * best.gap, 4), "optimal": best.optimal, "processor s": round(spent, 1)}
            rows.append(row | {"impossible": "; ".join(f"{loss} ({where})" for loss, where in impossible)})
            print(rows[-1], flush=True)
    return rows


def large(seconds: list[float]) -> list[dict]:
    """Beside our own ONA*."""
    rows = []
    for name, X, sizes in (
        ("SimC", simc(0), SIZES),
        ("normal, 30 000 × 24", np.random.default_rng(0).normal(size=(30_000, 24)), (5,)),
    ):
        for k in sizes:
            theirs = 100 * mag.multivariate(X, k, method="ona_star", threads=THREADS).information_loss
            rows.append(row_of(name, X, k, "ONA*, ours", round(theirs, 4), seconds))
    return rows


PARTS = {"casc": (casc, SECONDS), "large": (large, SECONDS[-1:])}


def main() -> None:
    """Print the tables, and how far below the others they are on average."""
    asked = words(__doc__, type=str)
    compiled = np.random.default_rng(0).normal(size=(300, 3))
    mag.multivariate(compiled, 3, method="mona")
    annealed(compiled, 3, 0.5)
    for name, (part, seconds) in PARTS.items():
        if not set(PARTS) & {*asked} or name in asked:
            limits = [float(word) for word in asked if word not in PARTS] or list(seconds)
            rows = part(limits)
            if not rows:
                continue
            show("Information loss in percent, two threads", rows)
            for limit in limits:
                below = [row[f"{limit:g} s, %"] for row in rows]
                print(f"after {limit:g} s: {np.mean(below):+.2f} % on average, {max(below):+.2f} % at worst")
            save(f"quality_{name}", rows)


if __name__ == "__main__":
    main()
