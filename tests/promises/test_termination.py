"""Every call ends, whatever the data are, and soon where equal records or a time limit make that possible."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks.termination import REFUSED, run
from mag._lib.progress import Progress
from mag._lib.threads import each_in_time
from mag.methods._best_of import side_by_side
from mag.methods.dissolve import one_pass
from mag.methods.mdav.gain import rivals_of
from mag.methods.ona import rounds

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processor time is limited by a signal of Unix")

NEAR_EQUAL = "X = 0.3 * (1 + np.random.default_rng(8).normal(size=(100, 2)) * 3e-16); X[0] = 100"
HALF_ALIKE = """
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, 4))
X[rng.permutation({n})[: {n} // 2]] = X[0]
"""


def ends_within(seconds, prepare, call):
    """Whether a call ends within so many seconds of the processor, in a process that has compiled it on few records."""
    code = f"""
import signal, numpy as np, mag
few = np.random.default_rng(1).normal(size=(300, 2))
{prepare.strip()}
call = lambda X, k: {call}
call(few, 5)
signal.setitimer(signal.ITIMER_PROF, {seconds})
call(X, K if "K" in globals() else 5)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode in (0, -27), ended.stderr  # or the signal of the timer
    return ended.returncode == 0


@pytest.mark.parametrize(
    "options", ["", "method='ona_star_gamma'", "method='anneal', iterations=20", "method='mona', rho=1.0"]
)
def test_records_that_differ_by_rounding_end(options):
    assert ends_within(60, NEAR_EQUAL, f"mag.multivariate(X, k, {options})")


def test_v_mdav_ends_where_lists_do_not_fit():
    prepare = "X = np.random.default_rng(0).normal(size=(4000, 4)); K = 600"
    assert ends_within(60, prepare, "mag.multivariate(X, k, method='v_mdav', gamma=0.2, threads=1)")


@pytest.mark.parametrize(("method", "n"), [("dba", 20_000), ("mdav", 100_000)])
def test_equal_records_are_searched_for_once(method, n):
    assert ends_within(12, HALF_ALIKE.format(n=n), f"mag.multivariate(X, k, method='{method}', threads=1)")


def test_small_fuzz_of_all_calls():
    cases = list(run(range(10_000, 10_060)))
    assert not [case for case in cases if case[2] not in ("", REFUSED)]
    kinds = {kind for _, kind, answer in cases if not answer}
    assert any(kind.startswith("enforce") for kind in kinds)  # not all refused


# ---- the clock


def test_tasks_behind_the_end_do_not_begin():
    begun = []

    def task(number):
        begun.append(number)
        return number

    assert each_in_time(task, range(9), 1, lambda: len(begun) >= 4) == [0, 1, 2, 3]
    assert begun == [0, 1, 2, 3]
    assert each_in_time(task, [], 2, lambda: True) == []


def test_of_several_runs_only_the_first_begins_when_the_time_is_up():
    begun = []
    assert side_by_side(lambda choice: begun.append(choice) or choice, [3, 4, 5], 2, Progress(None, 0.0)) == [3]
    assert begun == [3]
    assert side_by_side(abs, [], 2, Progress(None, 0.0)) == []


@pytest.mark.parametrize("module", [rounds, one_pass])
def test_scans_of_all_records_look_at_the_clock(module, monkeypatch):
    X, labels, scans = np.random.default_rng(0).normal(size=(5000, 2)), np.arange(5000) // 5, []
    refresh = module.refresh
    monkeypatch.setattr(module, "refresh", lambda *args: scans.append(args) or refresh(*args))
    progress = Progress(None, 1e9)
    monkeypatch.setattr(progress, "seconds_left", lambda: -1.0 if len(scans) > 2 else 1.0)  # until the third scan
    if module is rounds:
        work = rounds.work_for(rounds.rounds_at, rounds.metric_of(X), 5)
        rounds.form_groups(work, X, 5, labels)
        rounds._refresh(work, X, 5, 1, progress)
    else:
        one_pass.dissolve_groups(X, labels, np.arange(1000), 1, progress)
    assert len(scans) == 3


def test_lists_that_there_was_no_time_for_are_not_used():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    assert rivals_of(X, 5, 1, Progress(None, 0.0)).near is None
    assert rivals_of(X, 5, 1, Progress()).near.max() < 3000


# ---- memory


def test_trees_that_are_cut_keep_no_memory_of_the_whole():
    code = """
import resource, numpy as np, mag
mag.multivariate(np.ones((100, 2)), 5, method="nearest_neighbor")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
mag.multivariate(np.ones((20_000, 2)), 5, method="nearest_neighbor")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 100  # MB
