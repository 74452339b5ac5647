"""Work that Ctrl-C ends at once.

Python handles a signal in its main thread, between two of its own steps: a compiled loop there runs until it is
done, and if a signal is pending, numba raises its own error when it returns results.  So the main thread hands the
work to another one and waits.  When it is interrupted, it leaves; the work ends at its next check
(`raise_if_abandoned`), and its result is discarded.
"""

import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextvars import ContextVar, copy_context
from typing import Any

POLL = 0.1  # seconds between two checks for signals, if they do not end a wait (Windows)
GRACE = 0.5  # seconds in which the work may end before the main thread goes on

_abandoned: ContextVar[threading.Event | None] = ContextVar("mag_abandoned", default=None)


class Abandoned(BaseException):
    """Nobody waits for this work any more."""


def raise_if_abandoned() -> None:
    """Raise `Abandoned` in work whose caller was interrupted."""
    abandoned = _abandoned.get()
    if abandoned is not None and abandoned.is_set():
        raise Abandoned


def interruptible(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """function(*args, **named), on another thread if this is the main one."""
    global _idle
    if threading.current_thread() is not threading.main_thread():
        return function(*args, **options)
    worker, _idle = _idle or Worker(), None
    abandoned, context = threading.Event(), copy_context()
    context.run(_abandoned.set, abandoned)
    job = worker.submit(lambda: context.run(function, *args, **options))
    try:
        while True:
            try:
                result = job.result(POLL)
            except TimeoutError as error:
                if job.done() and error is job.exception():  # its own: it may also have ended after the wait for it
                    raise
            else:
                return result
    finally:
        if not job.done():
            abandoned.set()
            wait([job], GRACE)
        if job.done():
            _idle = worker
        del job  # an error that it holds has this frame in its traceback


def surely(function: Callable[[], None]) -> None:
    """Call a function that must not be left out, also where Ctrl-C ends it: then it is called again."""
    try:
        function()
    except KeyboardInterrupt:
        function()
        raise


class Worker:
    """Threads for submitted jobs, in turn; Python does not wait for them when it ends."""

    def __init__(self, threads: int = 1) -> None:
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._threads = threads
        for _ in range(threads):
            threading.Thread(target=_serve, args=(self._jobs,), name="mag", daemon=True).start()

    def submit(self, function: Callable[[], Any]) -> Future[Any]:
        """The result to be."""
        job: Future[Any] = Future()
        self._jobs.put((job, function))
        return job

    def __del__(self) -> None:
        for _ in range(self._threads):
            self._jobs.put(None)


def _serve(jobs: queue.SimpleQueue[Any]) -> None:
    while True:
        task = jobs.get()
        if task is None:
            return
        job, function = task
        if job.set_running_or_notify_cancel():
            try:
                job.set_result(function())
            except BaseException as error:
                job.set_exception(error)
        del task, job, function  # do not keep their contents until the next job


_idle: Worker | None = None


def _forget() -> None:
    """A forked process has no threads but the one that forked."""
    global _idle
    _idle = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
