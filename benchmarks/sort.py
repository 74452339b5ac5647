"""Time the project's sort against numpy's: `python -m benchmarks.sort [largest n]`.

Nanoseconds per value, the least of many repeats.  `dealt` and `compared` are the two ways of `mag._compiled.sort.sort`
(which returns the sorted values beside their order), whichever it would choose; `default` and `stable` are numpy's
argsort alone, without the values.
"""

from time import perf_counter

import numpy as np

from benchmarks._measure import words
from mag._compiled import sort

SIZES = [64, 100, 300, 1000, 4092, 10**4, 10**5, 10**6, 10**7]
ROUNDS, SECONDS = 25, 1.0  # per line, whichever is reached first
WAYS = {
    "dealt": lambda x: sort._deal(x, 0, "values"),
    "compared": lambda x: sort._compare(x, 0, "values"),
    "default": np.argsort,
    "stable": lambda x: np.argsort(x, kind="stable"),
}
DATA = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.normal(size=n),
    "lognormal": lambda rng, n: rng.lognormal(size=n),
    "ints": lambda rng, n: rng.integers(-(2**40), 2**40, n),
    "int16": lambda rng, n: rng.integers(-(2**15), 2**15, n).astype(np.int16),
    "ties": lambda rng, n: np.round(rng.normal(size=n), 1),
    "clusters": lambda rng, n: rng.integers(0, 3, n) * 1e9 + rng.random(n) * 1e-3,
    "geometric": lambda rng, n: np.exp2(rng.random(n) * 2000 - 1000),
    "sorted": lambda rng, n: np.sort(rng.normal(size=n)),
    "reversed": lambda rng, n: np.sort(rng.normal(size=n))[::-1].copy(),
}


def times(x):
    """Nanoseconds per value of every way, measured in turns, so that what disturbs one disturbs all."""
    calls = max(1, 20_000 // x.size)
    best = dict.fromkeys(WAYS, np.inf)
    end = perf_counter() + SECONDS
    for turn in range(ROUNDS):
        for name, way in WAYS.items():
            start = perf_counter()
            for _ in range(calls):
                way(x)
            best[name] = min(best[name], (perf_counter() - start) / calls / x.size * 1e9)
        if turn and perf_counter() > end:
            break
    return best


def main():
    """Print the table."""
    largest = int(max(words(__doc__, type=float), default=max(SIZES)))
    print(f"numpy {np.__version__}, ns per value, mag deals from n = {sort.FEWEST} on")
    print(f"{'n':>9} {'values':<10}", *(f"{name:>9}" for name in WAYS), "dealt/default", "dealt/stable")
    for n in (size for size in SIZES if size <= largest):
        for name, values in DATA.items():
            best = times(values(np.random.default_rng(n), n))
            ratios = best["dealt"] / best["default"], best["dealt"] / best["stable"]
            print(f"{n:9} {name:<10}", *(f"{t:9.1f}" for t in best.values()), "{:13.2f} {:12.2f}".format(*ratios))


if __name__ == "__main__":
    main()
