"""One long column: halves that meet, and the same bytes on any number of threads."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

import mag
from mag import reference
from mag._backends import cpu
from mag._backends.cpu import halves
from mag._compiled import sort
from mag.costs import COSTS
from tests.data.hostile import real_columns


@pytest.fixture
def short(monkeypatch):
    """Columns of a few hundred values are treated like those of millions."""
    monkeypatch.setattr(cpu, "BOTH_ENDS_FROM_N", 100)
    monkeypatch.setattr(sort, "PARALLEL_FROM_N", 100)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("cost", [name for name, cost in COSTS.items() if not cost.integer])
def test_halves_meet_at_an_optimal_cut(cost):
    for n, k in ((400, 2), (401, 5), (777, 12), (500, 31), (999, 100)):
        for name, x in real_columns(n, seed=n).items():
            whole = mag.univariate(x, k, cost=cost, solver="simple_plus")
            halves = mag.univariate(x, k, cost=cost, solver="block")
            assert halves.sizes.min() >= k
            assert halves.sizes.max() < 2 * k
            best = reference.cost_of(x.tolist(), whole.labels, cost)
            found = reference.cost_of(x.tolist(), halves.labels, cost)
            assert abs(found - best) <= best * Fraction(1, 10**12), name


@pytest.mark.usefixtures("short")
def test_halves_of_integers_and_with_weights():
    rng = np.random.default_rng(0)
    x, w = rng.integers(0, 3000, 701), rng.integers(1, 9, 701)
    assert mag.univariate(x, 7, cost="sse_int").cost == reference.optimum(x.tolist(), 7, "sse_int")
    grouping = mag.univariate(x * 0.5, 7, weights=w)
    assert grouping.cost == pytest.approx(float(reference.optimum((x * 0.5).tolist(), 7, "sse", w.tolist())), rel=1e-12)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("k", [2, 5, 40])
def test_the_same_bytes_on_any_number_of_threads(k):
    for x in real_columns(3000).values():
        one = mag.univariate(x, k, threads=1)
        for threads in (2, 5, None):
            other = mag.univariate(x, k, threads=threads)
            assert one.labels.tobytes() == other.labels.tobytes()
            assert one.masked.tobytes() == other.masked.tobytes()


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("k", [2, 5, 12, 20])
def test_halves_in_stretches_have_the_same_bytes(k, monkeypatch):
    """Of columns that forget where groups started, and of equally spaced ones, which never do."""
    for name, x in real_columns(4000, seed=k).items():
        one = mag.univariate(x, k, threads=1)
        with monkeypatch.context() as patch:
            patch.setattr(halves, "_stretches_of", lambda length, k, threads: 3)
            assert mag.univariate(x, k, threads=6).labels.tobytes() == one.labels.tobytes(), name


@pytest.mark.parametrize("threads", [1, 2, 4, 9, 32])
def test_threads_have_a_stretch_each_where_that_pays(threads):
    assert halves._stretches_of(5_000_000, 10, threads) == max(threads // 2, 1)
    assert halves._stretches_of(5_000_000, 1000, threads) == 1  # they would run ahead for longer than they are


@pytest.mark.parametrize("name", ["uniform", "arange", "constant", "geometric", "poisson"])
def test_millions_of_values_on_one_and_two_threads(name):
    x = real_columns(2_500_000)[name]
    one, two = mag.univariate(x, 10, threads=1), mag.univariate(x, 10, threads=2)
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.sizes.min() >= 10
    assert one.cost == pytest.approx(mag.univariate(x, 10, solver="staggered").cost, rel=1e-12)


def test_calls_from_many_threads_do_not_disturb_each_other():
    columns = [np.random.default_rng(seed).random(20_000) for seed in range(8)]
    expected = [mag.univariate(x, 5).labels for x in columns]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            found = list(pool.map(lambda x: mag.univariate(x, 5).labels, columns))
            for a, b in zip(found, expected, strict=True):
                np.testing.assert_array_equal(a, b)


FORKS = """
import os, numpy as np, mag
from mag._compiled import sort
from mag._backends import cpu
cpu.BOTH_ENDS_FROM_N = sort.PARALLEL_FROM_N = 100
x = np.random.default_rng(0).random((600, 9))
def labels():
    return [mag.univariate(x[:, 0], 5, threads=2).labels, mag.columns(x[:80], 5, threads=2).labels]
expected = labels()
child = os.fork()
if child == 0:
    os._exit(0 if all((a == b).all() for a, b in zip(labels(), expected)) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


BUSY = """
import copy, os, signal, threading, time, numpy as np, mag, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # newer versions of Python warn of forks beside threads
grouping = mag.univariate(np.random.default_rng(0).random(300_000), 5)
records = mag.multivariate(np.random.default_rng(0).random((200, 3)), 5, method="mdav")
def work():
    for one in (grouping, records):
        found = copy.copy(one)  # which has computed nothing yet
        found.masked, found.cost, found.information_loss, found.sizes
stop = threading.Event()
def busy():
    while not stop.is_set():
        work()
for _ in range(4):
    threading.Thread(target=busy, daemon=True).start()
ended = []
for _ in range(8):
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # nothing here takes long
        work()
        mag.univariate(np.arange(400.0), 5, threads=2).masked
        os._exit(0)
    ended.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    if ended[-1]:
        break
print(ended[-1], flush=True)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
def test_processes_that_are_forked_while_other_threads_group():
    done = subprocess.run([sys.executable, "-c", BUSY], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.skipif(not hasattr(os, "fork") or sys.platform == "darwin", reason="needs fork")
def test_a_forked_process_can_group_too():
    """In a process of its own: libraries that other tests have loaded do not like forks."""
    done = subprocess.run([sys.executable, "-c", FORKS], capture_output=True, text=True, check=True, timeout=100)
    assert done.stdout == "0\n"
