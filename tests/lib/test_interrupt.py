"""Ctrl-C ends compiled code, as KeyboardInterrupt and nothing else; and errors of the work reach the caller."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import mag
from benchmarks.interrupt import interrupt
from mag._lib import interrupt as _interrupt
from mag._lib.interrupt import Abandoned, interruptible, raise_if_abandoned
from mag._lib.threads import each

LIMIT = 120  # seconds after which a process hangs


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C as Python handles it: a shell sets it aside for what it starts in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(os.name == "nt", reason="needs signals between processes")
@pytest.mark.parametrize("job", ["anneal", "bound lp", "nearest_neighbor", "quadratic", "strata", "tsp", "univariate"])
def test_work_is_interrupted(job):
    """`python -m benchmarks.interrupt` tries more of it, and prints the times."""
    assert interrupt(job, limit=LIMIT)[:2] == ("interrupted", "")


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_what_runs_is_left_and_ends_at_its_next_look():
    """The main thread goes on although the work does not return; what works for it stops when it looks up."""
    looked, release = [], threading.Event()

    def work():
        signal.raise_signal(signal.SIGINT)  # the main thread handles it
        release.wait(LIMIT)
        try:
            each(looked.append, range(3), 2)
        except Abandoned:
            looked.append("left")

    with pytest.raises(KeyboardInterrupt):
        interruptible(work)
    assert looked == []
    assert interruptible(lambda: 5) == 5  # on another thread
    release.set()
    for _ in range(1000):
        if looked:
            break
        time.sleep(0.01)
    assert looked == ["left"]


def test_results_and_errors_are_those_of_the_work():
    def fails(error):
        raise error

    assert interruptible(lambda a, b: (a, b), 1, b=2) == (1, 2)
    for error in (ValueError("one"), TimeoutError("two"), KeyError("three")):
        with pytest.raises(type(error), match=error.args[0]):
            interruptible(fails, error)
    raise_if_abandoned()  # nobody was interrupted here


def test_only_the_main_thread_hands_its_work_over():
    here = []
    assert interruptible(threading.get_ident) != threading.get_ident()
    thread = threading.Thread(target=lambda: here.append(interruptible(threading.get_ident) == threading.get_ident()))
    thread.start()
    thread.join()
    assert here == [True]
    assert interruptible(interruptible, threading.get_ident) == interruptible(threading.get_ident)


def test_the_work_has_the_context_of_its_caller():
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        interruptible(lambda: np.ones(1) / 0)


def test_a_handler_may_group_while_the_main_thread_waits():
    """What waits holds nothing that others need."""
    x = np.random.default_rng(0).random((40, 2))
    expected = mag.multivariate(x, 3, method="zscore").labels.tolist()

    def progress(fraction):
        assert mag.multivariate(x, 3, method="zscore").labels.tolist() == expected

    assert mag.multivariate(x, 3, method="mdav", progress=progress).n_groups > 1
    assert _interrupt._idle is not None


def test_work_that_ends_just_after_the_wait_for_it_has_its_result(monkeypatch):
    class Late(_interrupt.Future):
        def result(self, timeout=None):
            if not self.done():
                self.set_result(7)
                raise TimeoutError
            return super().result(timeout)

    monkeypatch.setattr(_interrupt, "_idle", type("Idle", (), {"submit": lambda self, function: Late()})())
    assert interruptible(int) == 7
