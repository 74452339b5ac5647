"""Work that is stopped, at any moment, leaves the next work alone."""

import gc
import sys
import threading

import pytest

from mag.app._session import MAX_KEPT_JOBS, Session
from mag.app._work import DONE, FAILED, STOPPED, Job, Workshop
from tests.report.browser import PATIENCE_SECONDS


@pytest.fixture
def workshop(tmp_path):
    made = Workshop([sys.executable, "-m", "mag.commands.app"], tmp_path)
    yield made
    made.close()
    gc.collect()  # so that pipes that were left open are noticed here


@pytest.fixture
def table(people):
    return {"path": people, "text": {}}


def ended(job):
    assert job.ended.wait(PATIENCE_SECONDS)
    return job.status


def test_a_job_that_is_stopped_at_any_moment_leaves_a_working_process(workshop, table):
    """While its process starts, has the task, or has answered."""
    for wait in (0.0, 0.0, 0.001, 0.01, 0.1, None):
        job = workshop.start("look", table)
        job.ended.wait(wait)
        job.stop()
        assert ended(job) in ((DONE,) if wait is None else (DONE, STOPPED))
        assert ended(workshop.start("look", table)) == DONE


class Stoppable:
    """A process whose end is noted."""

    def __init__(self):
        self.has_ended = threading.Event()

    def end(self):
        self.has_ended.set()


def test_a_job_that_has_answered_is_not_stopped_and_a_stopped_one_takes_no_answer():
    job, process = Job("look"), Stoppable()
    assert job.begin(process)
    assert job.finish("", "result")
    job.stop()
    assert (job.status, job.wait(), process.has_ended.is_set()) == (DONE, "result", False)
    job, process = Job("look"), Stoppable()
    assert job.begin(process)
    job.stop()
    assert not job.finish("", "result")
    assert (job.status, job.result, process.has_ended.is_set()) == (STOPPED, None, True)
    job = Job("look")
    job.stop()
    assert not job.begin(process)


def test_a_process_that_has_died_is_not_used_again(workshop, table):
    assert ended(workshop.start("look", table)) == DONE
    for process in workshop._every:
        process.kill()
    assert ended(workshop.start("look", table)) == DONE


def test_a_process_that_cannot_start_is_an_error(tmp_path, table):
    job = Workshop([str(tmp_path / "missing")], tmp_path).start("look", table)
    assert ended(job) == FAILED
    assert "No such file" in job.error


def test_two_columns_have_their_own_work_and_results_are_bounded(workshop, table, tmp_path):
    session = Session(workshop, tmp_path)
    session.change("open", path=table["path"])
    disease, town = (session.job("values", **table, column=name) for name in ("disease", "<b>Stadt</b>"))
    assert session.job("values", **table, column="disease") is disease
    assert (disease.wait(), town.wait()) == (["flu", "gout", "none"], ["Bonn", "Köln", "Ulm"])
    looks = [session.job("look", path=table["path"], text={"delimiter": mark}) for mark in ";|"]
    assert ended(looks[0]) == STOPPED  # another one took its place
    looks[1].wait()
    for turn in range(MAX_KEPT_JOBS):
        session.job("look", path=table["path"], text={"null": [f"-{turn}"]}).wait()
    assert session.job("values", **table, column="disease") is not disease
