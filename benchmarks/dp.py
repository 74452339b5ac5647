"""Differential privacy: the time of private releases: `python -m benchmarks.dp [records] [counts]`.

Seconds for a table of six columns through `sample` and `mondrian`, for noisy counts through `histogram`, for noisy
means, and for the exact δ; each beside NumPy's own work on the same numbers, one sort of a column or one draw of float
noise, which is no replacement.
"""

import numpy as np

import mag.dp
from benchmarks._measure import best, save, show, words

COLUMNS = 6


def main(records: int = 10**6, counts: int = 10**5) -> None:
    """Print the table and write it as JSON."""
    rng = np.random.default_rng(0)
    table = {f"x{j}": rng.normal(50, 15, records) for j in range(COLUMNS)}
    wide = {name: mag.dp.Numbers(0, 100, 25) for name in table}
    fine = {name: mag.dp.Numbers(0, 100, 1) for name in table}
    column, cells = {"x": rng.integers(0, counts, counts)}, {"x": mag.dp.Numbers(0, counts, 1)}
    sort = best(lambda: np.sort(table["x0"]), 3)
    noise = best(lambda: rng.laplace(size=counts), 3)
    calls = {
        f"sample, {records} × {COLUMNS}": (lambda: mag.dp.sample(table, wide, 1, 1e-6), "sort", sort),
        f"mondrian, {records} × {COLUMNS}, depth 6": (lambda: mag.dp.mondrian(table, fine, 1), "sort", sort),
        f"histogram, {counts} counts": (lambda: mag.dp.histogram(column, cells, 1), "float noise", noise),
        f"means, {counts // 10} groups": (
            lambda: mag.dp.means(column, "x", cells["x"], 10, 1, counts),
            "float noise",
            noise,
        ),
        "quantile, 10001 points": (
            lambda: mag.dp.quantile(table["x0"], 0.5, mag.dp.Numbers(0, 100, 0.01), 1),
            "sort",
            sort,
        ),
    }
    rows = []
    for name, (call, beside, base) in calls.items():
        took = best(call, 2)
        rows.append({"call": name, "seconds": took, "beside": beside, "ratio": took / base})
    show("Private releases", rows)
    prices = []
    for k, beta, epsilon in ((20, 0.1, 0.5), (20, 0.1, 0.1), (58, 0.632, 1)):
        mag.dp._delta.exact_delta.cache_clear()
        took = best(lambda point=(k, beta, epsilon): mag.dp.delta_for(*point), 1)
        prices.append(
            {"k": k, "beta": beta, "epsilon": epsilon, "delta": mag.dp.delta_for(k, beta, epsilon), "seconds": took}
        )
    show("Exact delta", prices)
    save("dp", rows + prices)


if __name__ == "__main__":
    main(*words(__doc__, type=int))
