"""The clock of a time limit starts when everything is compiled, and annealing with one loses no more than ONA*."""

import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import mag
from benchmarks._data import DATA, table
from mag._backends import cpu
from mag._lib.progress import Progress
from mag.api import warm_up
from mag.bounds import BOUNDS, warm_up_bound
from mag.methods import METHODS
from tests.compiled.count import compiled

LIMITED = [name for name, method in METHODS.items() if "time_limit" in method.options]


@pytest.mark.parametrize("method", LIMITED)
def test_nothing_is_compiled_after_the_clock_has_started(method):
    """Whatever the limit allows: all of the work, part of it, or none."""
    X = np.random.default_rng(0).normal(size=(1200, 4))
    mag.multivariate(X, 5, method="mondrian")  # what counts the groups, after the method, is compiled too
    warm_up.progress_for([method], 5, {}, False, None, 1.0)
    before = compiled()
    for seconds in (60.0 if method != "anneal" else 1.0, 0.01, 1e-9):
        grouping = mag.multivariate(X, 5, method=method, time_limit=seconds)
        assert grouping.sizes.min() >= 5
    assert compiled() == before


def test_any_option_can_be_limited():
    X = np.random.default_rng(0).normal(size=(100, 3))
    for directions in ("pca", "gaussian", np.eye(3)):
        assert mag.multivariate(X, 5, method="projection", directions=directions, time_limit=60.0).complete


@pytest.mark.parametrize("bound", BOUNDS)
def test_bounds_are_compiled_before_their_clock_starts(bound):
    X = np.random.default_rng(0).normal(size=(300, 4))
    warm_up_bound(bound)
    before = compiled()
    for seconds in (1.0, 1e-9):
        labels, cost = np.zeros(len(X), np.int64), float(np.square(X).sum())
        assert BOUNDS[bound](X, 5, labels, cost, 2, Progress(None, seconds)).least > 0
    assert compiled() == before


@pytest.mark.parametrize("by", [None, "s"])
def test_time_that_compilation_takes_is_not_counted(monkeypatch, by):
    """It takes longer than the limit here, and the method has all its time."""
    waited, left = [], []

    def slow(name, k, integer, chosen, categories):
        time.sleep(0.5)
        waited.append(name)

    def group(X, k, *, threads, progress):
        left.append(progress.seconds_left())
        return METHODS["mdav"].group(X, k, engine=cpu, threads=threads, progress=progress)

    monkeypatch.setattr(warm_up, "_warm_up", slow)
    monkeypatch.setitem(METHODS, "mdav_plus", replace(METHODS["mdav"], group=group))
    X = np.random.default_rng(0).normal(size=(40, 2))
    if by is None:
        mag.multivariate(X, 3, method="mdav_plus", time_limit=0.4)
    else:
        people = {"s": ["one"] * 40, "a": X[:, 0], "b": X[:, 1]}
        mag.microaggregate(people, 3, ["a", "b"], by=by, method="mdav_plus", time_limit=0.4)
    assert waited == ["mdav_plus"]
    assert left[0] > 0


def test_what_needs_no_work_compiles_nothing(monkeypatch):
    monkeypatch.setattr(warm_up, "_warm_up", None)
    assert mag.multivariate(np.eye(3), 2, time_limit=1).n_groups == 1
    assert mag.multivariate(np.arange(9.0)[:, None], 2, time_limit=1).n_groups > 1
    assert mag.multivariate(np.eye(3), 2).n_groups == 1


FIRST_CALL = """
import sys, numpy as np, mag
n, d, k, limit = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
X = np.random.default_rng(n).normal(size=(n, d))
annealed = mag.multivariate(X, k, time_limit=limit)
whole = mag.multivariate(X, k, method="ona_star")
print(annealed.details["init"], annealed.information_loss <= whole.information_loss * (1 + 1e-12))
"""


@pytest.mark.parametrize(("n", "d", "k", "limit"), [(1000, 5, 5, 0.5), (300, 2, 3, 0.3), (2500, 8, 10, 1.0)])
def test_annealing_loses_no_more_than_ona_star_in_the_first_call_of_a_process(n, d, k, limit):
    mag.multivariate(np.random.default_rng(0).normal(size=(60, 2)), k, time_limit=0.01)  # compiled, on disk
    command = [sys.executable, "-c", FIRST_CALL, *map(str, (n, d, k, limit))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout in ("ona_star True\n", "ona_star, cut short False\n", "ona_star, cut short True\n")


@pytest.mark.parametrize("seed", range(5))
def test_annealing_loses_no_more_than_ona_star_if_that_is_where_it_starts(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(int(rng.integers(40, 400)), 3)).round(int(rng.integers(1, 9)))
    whole = mag.multivariate(X, 3, method="ona_star").information_loss
    for options in ({"time_limit": 0.05}, {"iterations": 1}, {"iterations": 30}):
        grouping = mag.multivariate(X, 3, method="anneal", **options)
        if grouping.details["init"] == "ona_star":
            assert grouping.information_loss <= whole * (1 + 1e-12)


def test_the_result_says_what_the_limit_did_not_allow():
    X = np.random.default_rng(0).normal(size=(3000, 4))
    grouping = mag.multivariate(X, 5, time_limit=1e-6)
    assert not grouping.complete
    assert grouping.details["init"] == "mona, cut short"
    assert mag.multivariate(X[:300], 5, method="anneal", iterations=1).details["init"] == "ona_star"
    assert mag.multivariate(X[:300], 5, method="anneal", init="mdav", iterations=1).details["init"] == "mdav"
    given = mag.multivariate(X[:300], 5, method="anneal", init=np.arange(300) % 50, iterations=1)
    assert given.details["init"] == "labels"
    release = mag.microaggregate({"a": X[:, 0], "b": X[:, 1]}, 5, ["a", "b"], method="anneal", time_limit=1e-6)
    assert release.grouping.method == "anneal from mona, cut short"
    release = mag.microaggregate({"a": X[:300, 0], "b": X[:300, 1]}, 5, ["a", "b"], method="anneal", iterations=1)
    assert release.grouping.method == "anneal"


CENSUS = """
import sys, mag
from benchmarks._data import table
print(mag.multivariate(table("census"), 5, time_limit=1.0).information_loss)
"""


@pytest.mark.skipif(not (DATA / "census.csv").exists(), reason="the data are not beside the project")
def test_census_in_the_first_call_of_a_process():
    whole = mag.multivariate(table("census"), 5, method="ona_star").information_loss
    done = subprocess.run([sys.executable, "-c", CENSUS], capture_output=True, text=True, check=True)
    assert float(done.stdout) <= whole
