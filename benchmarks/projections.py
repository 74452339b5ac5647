"""`python -m benchmarks.projections`: 500 random projections, end to end, against sorting as many columns.

The first lines are the EIA data if they are there (4092 × 11), the others generated ones.
"""

import numpy as np

import mag
from benchmarks._data import DATA, table
from benchmarks._measure import best, machine, save, show, words

COUNT = 500


def row(name: str, X: np.ndarray, k: int) -> dict:
    """Milliseconds, and the ratio to np.argsort of the projected columns."""
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    lines = z @ np.random.default_rng(0).random((X.shape[1], COUNT))

    def run(threads: int) -> mag.RecordGrouping:
        return mag.multivariate(X, k, method="projection", n_projections=COUNT, threads=threads)

    loss = run(1).information_loss
    pca = mag.multivariate(X, k, method="projection", directions="pca").information_loss
    # alternating, so that both meet the same neighbors on a shared machine
    times = {"argsort": np.inf, 1: np.inf, 2: np.inf}
    for _ in range(7):
        times["argsort"] = min(times["argsort"], best(lambda: np.argsort(lines, axis=0), 1))
        for threads in (1, 2):
            times[threads] = min(times[threads], best(lambda threads=threads: run(threads), 1))
    return {
        "data": name,
        "k": k,
        "argsort, ms": times["argsort"] * 1e3,
        "one thread, ms": times[1] * 1e3,
        "two threads, ms": times[2] * 1e3,
        "ratio, one": times[1] / times["argsort"],
        "ratio, two": times[2] / times["argsort"],
        "loss, %": 100 * loss,
        "of PCA alone": 100 * pca,
    }


def main() -> None:
    """Measure, print and save."""
    print(machine())
    data = {"eia": table("eia")} if (DATA / "eia.csv").exists() else {}
    rng = np.random.default_rng(1)
    data["normal 4092 x 11"] = rng.normal(size=(4092, 11))
    data["normal 50000 x 5"] = rng.normal(size=(50_000, 5))
    found = [row(name, X, k) for name, X in data.items() for k in (5, 20)]
    show(f"{COUNT} random projections with scoring, against np.argsort of {COUNT} columns", found)
    save("projections", found)


if __name__ == "__main__":
    words(__doc__)
    main()
