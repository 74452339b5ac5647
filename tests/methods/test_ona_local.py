"""ONA* in parts: never worse than its start, close to ONA*, with groups across all borders."""

import numpy as np
import pytest

import mag
from mag._lib.progress import Progress
from mag.methods import automatic, ona_local
from mag.methods._best_of import sum_of_squares
from mag.methods.anneal import falling
from mag.methods.mondrian.regions import rotation
from tests.data.records import records


def constant(n, d):
    X = records(n, d)
    X[:, 0] = 7.0
    return X


TABLES = {
    "normal": records(1500, 4),
    "ties": np.random.default_rng(1).integers(0, 4, (1500, 3)).astype(float),
    "duplicates": np.repeat(records(50, 3), 30, axis=0),
    "one value": np.ones((400, 2)),
    "constant column": constant(900, 3),
    "heavy tails": np.random.default_rng(2).standard_cauchy((1200, 3)),
}


@pytest.fixture
def small_parts(monkeypatch):
    """Small tables have many parts."""
    monkeypatch.setattr(ona_local, "RECORDS_PER_START", 300)
    monkeypatch.setattr(ona_local, "RECORDS_PER_ONA_PART", 100)
    monkeypatch.setattr(ona_local, "GROUPS_PER_PART", 8)
    monkeypatch.setattr(falling, "RECORDS_PER_PART", 100)


@pytest.mark.parametrize("k", [2, 3, 7, 20])
@pytest.mark.parametrize("name", TABLES)
def test_groups_have_k_to_2k_records_and_cost_no_more_than_the_start(name, k, small_parts):
    X = TABLES[name]
    z = np.ascontiguousarray((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1))
    start = ona_local._start(z, k, mag._backends.cpu, None, 1, Progress())
    labels = mag.multivariate(X, k, method="ona_local").labels
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert sum_of_squares(z, labels) <= sum_of_squares(z, start) * (1 + 1e-12) + 1e-20  # rounding of equal records


@pytest.mark.parametrize("name", TABLES)
def test_labels_do_not_depend_on_the_number_of_threads(name, small_parts):
    one, two = (mag.multivariate(TABLES[name], 3, method="ona_local", threads=t).labels for t in (1, 2))
    assert one.tobytes() == two.tobytes()


class StopAfter(Progress):
    """The time is up after some steps."""

    def __init__(self, steps):
        super().__init__()
        self.steps = steps

    def span(self, low, high):
        return self

    def silent(self):
        return self

    def step(self, fraction):
        self.steps -= 1
        return self.steps < 0

    def seconds_left(self):
        return float(self.steps >= 0)


def test_more_time_never_means_more_loss(small_parts):
    X, found = records(1500, 4), []
    for steps in (0, 16, 32, 48, 56, 10**6):
        labels = ona_local.group(X, 3, threads=1, progress=StopAfter(steps))
        assert np.bincount(labels).min() >= 3
        found.append(sum_of_squares(X, labels))
    assert found == sorted(found, reverse=True)
    assert found[0] > found[-1]


@pytest.mark.parametrize(("n", "k"), [(5, 3), (6, 3), (7, 3), (11, 6), (20, 10)])
def test_few_records(n, k):
    assert np.bincount(mag.multivariate(records(n, 2), k, method="ona_local").labels).min() >= k


@pytest.mark.parametrize("seed", range(3))
def test_one_part_loses_as_little_as_ona_star(seed):
    X = records(800, 3, seed)
    local, whole = (mag.multivariate(X, 4, method=m).information_loss for m in ("ona_local", "ona_star"))
    assert local <= 1.01 * whole


@pytest.mark.parametrize("d", [3, 6])
def test_parts_lose_little_more_than_ona_star(d, small_parts, monkeypatch):
    monkeypatch.setattr(ona_local, "RECORDS_PER_START", 1 << 14)  # halves to start from cost more: 5 to 12 %
    monkeypatch.setattr(ona_local, "RECORDS_PER_ONA_PART", 400)
    monkeypatch.setattr(falling, "RECORDS_PER_PART", 400)
    local, whole = (mag.multivariate(records(4000, d), 4, method=m).information_loss for m in ("ona_local", "ona_star"))
    assert local < 1.05 * whole


def test_halves_to_start_from_lose_less_than_mona(small_parts):
    local, mona = (mag.multivariate(records(4000, 3), 4, method=m).information_loss for m in ("ona_local", "mona"))
    assert local < 0.95 * mona


def test_large_tables_get_more_rounds_of_ona_and_are_not_annealed(small_parts, monkeypatch):
    X, fell = records(3000, 4), []
    fall = ona_local.fall

    def noted(*arguments):
        fell.append(1)
        return fall(*arguments)

    monkeypatch.setattr(ona_local, "fall", noted)
    before = sum_of_squares(X, ona_local.before_annealing(X, 3, threads=1, progress=Progress()))
    annealed = sum_of_squares(X, ona_local.group(X, 3, threads=1, progress=Progress()))
    monkeypatch.setattr(ona_local, "MAX_ANNEALING_WORK", 3000 * (4 + ona_local.FIXED_COLUMNS) - 1)
    rounds = sum_of_squares(X, ona_local.group(X, 3, threads=1, progress=Progress()))
    assert annealed < rounds < before
    assert len(fell) == 1


def test_groups_straddle_the_first_cut(small_parts):
    """Halving leaves next to no means around the median; the share of masked values there stays as it was."""
    X = records(6000, 3)

    def share(values):
        return (np.abs(values) < 0.1).mean(axis=0)

    mona, local = (share(mag.multivariate(X, 5, method=m).masked) for m in ("mona", "ona_local"))
    assert mona.min() < 0.8 * share(X).min()
    assert local.min() > 0.9 * share(X).min()


def test_directions_are_rotations():
    X = records(50, 5)
    turned = X @ rotation(5, np.random.default_rng(0))
    np.testing.assert_allclose(turned @ turned.T, X @ X.T, atol=1e-12)
    assert np.abs(turned - X).min(axis=0).max() > 1e-3


@pytest.mark.parametrize(
    ("n", "d", "limited", "categories", "strata", "name"),
    [
        (10, 10, False, None, 1, "ona_local"),
        (10**6, 10, False, None, 1, "ona_local"),
        (10**6, 10, True, None, 1, "anneal"),
        (1000, 32, False, None, 64, "ona_local"),
        (1000, 33, False, None, 1, "ona_star"),
        (1000, 10, False, None, 65, "ona_star"),
        (17_000, 10, False, None, 65, "ona_local"),
        (16_000, 10, False, "averaged", 1, "ona_star"),
        (17_000, 10, False, "averaged", 1, "ona_local"),
        (17_000, 10, True, "averaged", 1, "anneal"),
        (1000, 100, True, "range", 64, "ona_local"),
        (1000, 10, False, "range", 65, "ona_star"),
    ],
)
def test_the_rule_of_auto(n, d, limited, categories, strata, name):
    assert automatic(n, d, 5, limited, categories=categories, strata=strata) == name


def test_auto_takes_ona_star_for_wide_tables_and_larger_groups():
    assert [automatic(20_000, 80, k, False) for k in (3, 10, 500)] == ["ona_local", "ona_local", "ona_star"]
