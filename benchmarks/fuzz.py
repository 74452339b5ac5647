"""Random columns against the exact optimum:  python -m benchmarks.fuzz [seconds] [seed]

Values, weights and penalties of all scales and their mixtures, every cost, every option and every solver that is valid;
the exact cost of each grouping, penalties included, against the dynamic program in rational numbers.  Prints how many
cases of each kind there were, how many failed, and how to repeat those.
"""

import collections
import time
from fractions import Fraction
from typing import Any

import numpy as np

import mag
from benchmarks._measure import words
from mag import reference
from mag.costs import COSTS
from mag.solvers import SOLVERS

TOLERANCE = Fraction(1, 10**12)
LARGEST = 1.7e308


@np.errstate(over="ignore")
def values(rng: np.random.Generator, n: int) -> np.ndarray:
    """A column of few digits or many, of one scale or several."""
    x = rng.integers(0, int(rng.integers(2, 12)), n) * 1.0 if rng.random() < 0.5 else rng.normal(size=n)
    if rng.random() < 0.5:  # clusters, and outliers
        reach = 10.0 ** rng.uniform(0, rng.choice([3, 20, 150, 300]))
        x = x + reach * rng.integers(0, int(rng.integers(2, 5)), n) * (rng.random(n) < rng.choice([0.2, 1.0]))
    if rng.random() < 0.3:
        x = x * 10.0 ** (rng.choice([1, 20, 150]) * rng.uniform(-1, 1, n) ** 3)
    if rng.random() < 0.2:
        x = x * 10.0 ** rng.uniform(-300, 300)
    return np.nan_to_num(np.clip(x, -LARGEST, LARGEST))


def heft(rng: np.random.Generator, n: int) -> np.ndarray:
    """Weights, some of them 0, whose ratios are up to 10**600."""
    span = rng.choice([0, 1, 3, 6, 9, 12, 16, 20, 50, 300])
    w = rng.integers(1, 9, n) * 10.0 ** (
        rng.uniform(-span, span, n) if rng.random() < 0.5 else span * rng.integers(-1, 2, n)
    )
    w[rng.random(n) < rng.choice([0.0, 0.0, 0.3, 0.7])] = 0.0
    w[rng.integers(n)] += 1.0
    return np.minimum(w, 1e308)


def charge(rng: np.random.Generator, x: np.ndarray, integer: bool) -> float:
    """A penalty of the scale of the data, or of any other."""
    if integer:
        return int(rng.choice([rng.integers(0, 50), rng.integers(0, 2**53)]))
    with np.errstate(over="ignore", under="ignore"):
        gap = abs(float(rng.choice(x)) / 2 - float(rng.choice(x)) / 2)
        amount = gap ** rng.choice([1.0, 2.0]) if rng.random() < 0.7 else 1.0
        amount = amount * 10.0 ** (rng.uniform(-2, 2) if rng.random() < 0.7 else rng.uniform(-320, 300))
    return float(min(amount, LARGEST))


def draw(rng: np.random.Generator) -> tuple[np.ndarray, int, dict[str, Any]]:
    """A column, k and the options of one call."""
    n = int(rng.integers(2, 22))
    k = int(rng.integers(1, max(2, n // 2) + 1))
    cost = str(rng.choice(list(COSTS)))
    options: dict[str, Any] = {"cost": cost}
    if COSTS[cost].integer:
        most = int(rng.choice([9, 2**20, 2**31, 2**62]))
        x = rng.integers(-most, most, n)
    else:
        x = values(rng, n)
    if COSTS[cost].weighted and rng.random() < 0.7:
        options["weights"] = heft(rng, n)
    if rng.random() < 0.25:
        options["group_penalty"] = charge(rng, x, COSTS[cost].integer)
    if rng.random() < 0.25:
        options["max_groups"] = int(rng.integers(1, n + 1))
    if rng.random() < 0.2:
        options["soft"] = charge(rng, x, COSTS[cost].integer)
    bounded = not options.keys() & {"group_penalty", "max_groups", "soft"}
    weighted = "weights" in options
    valid = [name for name, entry in SOLVERS.items() if entry.valid(COSTS[cost], bounded=bounded, weighted=weighted)]
    lanes = COSTS[cost].integer  # lanes refuse integers whose sums float64 cannot hold
    options["solver"] = str(rng.choice(["auto", *(name for name in valid if not (lanes and SOLVERS[name].lanes))]))
    return x, k, options


def excess(x: np.ndarray, k: int, options: dict[str, Any]) -> float:
    """How much more than the least the grouping costs, relative to it; infinite if it breaks a promise."""
    grouping = mag.univariate(x, k, **options)
    extra = {name: options[name] for name in ("group_penalty", "max_groups", "soft") if name in options}
    weights = options["weights"].tolist() if "weights" in options else None
    sizes = np.bincount(grouping.labels)
    if ("soft" not in extra and sizes.min() < k) or sizes.size > extra.get("max_groups", x.size):
        return float("inf")
    below = int(np.maximum(k - sizes, 0).sum())
    found = reference.cost_of(x.tolist(), grouping.labels, options["cost"], weights)
    found += Fraction(extra.get("group_penalty", 0)) * sizes.size + Fraction(extra.get("soft", 0)) * below
    best = reference.optimum(x.tolist(), k, options["cost"], weights, **extra)
    more = found - best
    return float(more / best) if best else (float("inf") if more else 0.0)


def kind(options: dict[str, Any]) -> str:
    """How the counts call a case."""
    asked = [name for name in ("weights", "group_penalty", "max_groups", "soft") if name in options]
    return f"{options['cost']}: {', '.join(asked) or 'plain'}"


def main() -> None:
    """Draw for some seconds, print the counts and the seeds of failures."""
    asked = words(__doc__, type=float)
    seconds, seed = [*asked, *(60.0, 0.0)[len(asked) :]]
    end, seed = time.monotonic() + seconds, int(seed)
    cases: collections.Counter[str] = collections.Counter()
    failures: collections.Counter[str] = collections.Counter()
    while time.monotonic() < end:
        x, k, options = draw(np.random.default_rng(seed))
        cases[kind(options)] += 1
        more = excess(x, k, options)
        if more > TOLERANCE:
            failures[kind(options)] += 1
            print(
                f"seed {seed}: n={x.size}, k={k}, {kind(options)}, {options['solver']}: {more:.1e} more than the least"
            )
        seed += 1
    for name in sorted(cases):
        print(f"{name:45} {cases[name]:7} cases {failures[name]:5} failures")
    print(f"{'all':45} {cases.total():7} cases {failures.total():5} failures")


if __name__ == "__main__":
    main()
