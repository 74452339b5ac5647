"""Random tables of people with several records each, and options to mask them by."""

import numpy as np
import pandas as pd
import pytest

LIBRARIES = ("pandas", "polars", "pyarrow", "dict")
LEVELS = [["nurse", "health", "*"], ["doctor", "health", "*"], ["cook", "food", "*"], ["baker", "food", "*"]]


def for_seeds(n, n_long):
    """A test runs for n seeds, 50 in a case, and those up to `n_long` are long."""
    cases = [range(first, first + 50) for first in range(0, n, 50)]
    cases += [pytest.param(range(first, first + 500), marks=pytest.mark.long) for first in range(n, n_long, 500)]
    return pytest.mark.parametrize("seeds", cases, ids=lambda seeds: str(seeds.start))


def random_people(seed):
    """A table of few people or of many: ties, missing cells, weights, strata that people cross, far values."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 70))
    n_units = int(rng.integers(1, max(2, n // int(rng.integers(1, 6)) + 1)))
    person = rng.integers(0, n_units, n)
    if rng.random() < 0.3:  # one person has nearly all records
        person[rng.random(n) < 0.8] = 0
    home = rng.integers(0, max(1, n_units // 2), n_units)[person]
    table = pd.DataFrame({
        "person": person, "home": home, "age": rng.integers(0, int(rng.choice([2, 5, 90])), n),
        "cost": rng.lognormal(0, 2, n).round(int(rng.integers(0, 4))),
        "rent": rng.normal(0, 1e6, max(1, n_units)).round(int(rng.integers(-6, 2)))[home],
        "rooms": rng.integers(1, 5, max(1, n_units))[home],
        "job": rng.choice([row[0] for row in LEVELS], n), "region": rng.choice(["n", "s", "e"], n, p=[0.6, 0.3, 0.1]),
        "weight": rng.integers(0, 4, n) + rng.integers(0, 2),
    })  # fmt: skip
    if rng.random() < 0.3:
        table["cost"] = table["cost"].where(rng.random(n) < 0.8)
    if rng.random() < 0.2:
        table["age"] = table["age"].where(rng.random(n) < 0.8)
    return rng, table


def random_options(rng, table):
    """Options of a call that counts units; many of them are refused, for good reasons."""
    columns = list(rng.permutation(["age", "cost", "job"])[: int(rng.integers(1, 4))])
    options = {"missing": str(rng.choice(["group", "drop"])), "rest": "drop"}
    if "job" in columns:
        tree = rng.random() < 0.5
        options |= {"hierarchies": {"job": None}} if tree else {"aggregate": {"job": "mode"}}
    if rng.random() < 0.5:
        options["by"] = "region"
    if rng.random() < 0.8 and ("by" in options or options["missing"] == "group"):
        options["small_strata"] = str(rng.choice(["suppress", "merge"]))
    if rng.random() < 0.2 and table["weight"].sum() > 0:
        options["weights"] = table["weight"].to_numpy()
    if rng.random() < 0.2:
        options |= {"shuffle": True, "random_state": 0}
    if rng.random() < 0.3:
        options["method"] = str(rng.choice(["mdav", "mondrian", "mona", "ona_star", "mst", "projection", "ona_local"]))
    if rng.random() < 0.2:
        options["standardize"] = "range"
    if rng.random() < 0.1:
        options["time_limit"] = 0.01
    return int(rng.integers(1, 7)), columns, options


def random_households(rng, table):
    """Options that count households, with columns of theirs."""
    k, columns, options = random_options(rng, table)
    own = [name for name in ("rent", "rooms") if rng.random() < 0.6]
    options |= {"household": "home", "household_columns": own}
    if rng.random() < 0.7:
        options["k_household"] = int(rng.integers(1, 5))
    if rng.random() < 0.3:
        options["unit"] = "person"
    if len(own) == 2 and rng.random() < 0.2:
        return k, own, {name: chosen for name, chosen in options.items() if name not in ("hierarchies", "aggregate")}
    return k, [*columns, *own], options


def random_sets(rng, table):
    """Options with several sets of columns, some of which share columns."""
    k, columns, options = random_options(rng, table)
    columns += ["rent", "rooms"][: int(rng.integers(1, 3))]
    sets = [list(rng.permutation(columns)[: int(rng.integers(1, 4))]) for _ in range(int(rng.integers(1, 4)))]
    left = [name for name in columns if not any(name in own for own in sets)]
    sets += [left] if left else []
    options["sets"] = [(own, int(rng.integers(1, 6))) if rng.random() < 0.4 else own for own in sets]
    if rng.random() < 0.5:
        options["unit"] = "person"
    return k, columns, options


def random_recoding(rng, table):
    """Options of full-domain recoding that counts units, households or both."""
    table["age"], table["job"] = table["age"].fillna(0), table["job"].where(rng.random(len(table)) < 0.95)
    options = {
        "missing": str(rng.choice(["group", "drop"])),
        "rest": "drop",
        "max_suppressed": float(rng.choice([0, 0.1, 0.5])),
    }
    options |= [{"unit": "person"}, {"household": "home"}, {"unit": "person", "household": "home"}][rng.integers(3)]
    if "household" in options and rng.random() < 0.6:
        options["k_household"] = int(rng.integers(1, 4))
    if rng.random() < 0.4:
        options["by"] = "region"
    if rng.random() < 0.3:
        options["show_suppressed_as"] = "withhold"
    if rng.random() < 0.3:
        options |= {"shuffle": True, "random_state": 1}
    return int(rng.integers(1, 6)), ["age", "job"], options
