"""Many tasks at once: the caller's thread works on them too, beside threads that are kept."""

import itertools
import os
import threading
from collections.abc import Callable, Iterable
from contextvars import copy_context
from functools import partial
from typing import Any

from mag._lib.interrupt import Worker, raise_if_abandoned

PASS_VALUES_PER_THREAD = 2**20  # values of one pass over an array that are worth a thread

_LATE = object()
_pool: Worker | None = None
_opening = threading.Lock()


def each(function: Callable[[Any], Any], tasks: Iterable[Any], threads: int) -> list[Any]:
    """[function(task) for task in tasks], tasks that release the GIL side by side on up to `threads` threads.

    Nothing waits for a free thread: what no other thread has begun, the caller's does.  So calls may be nested, and may
    come from many threads at once.  The first error ends the work and is raised.
    """
    tasks = list(tasks)
    results: list[Any] = [None] * len(tasks)
    turns = iter(range(len(tasks)))
    failed: list[BaseException] = []

    def work() -> None:
        for i in turns:  # one iterator for all: every task is taken once
            if failed:
                return
            try:
                raise_if_abandoned()
                results[i] = function(tasks[i])
            except BaseException as error:
                failed.append(error)
                raise

    contexts = [copy_context() for _ in range(min(threads, len(tasks)) - 1)]
    helpers = [_workers().submit(partial(context.run, work)) for context in contexts]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.exception()  # waits
    if failed:
        raise failed[0]
    return results


def each_in_time(
    function: Callable[[Any], Any], tasks: Iterable[Any], threads: int, is_over: Callable[[], bool]
) -> list[Any]:
    """`each` of the first tasks only, those that begin before `is_over()`; a task that has begun comes to its end."""

    def begin(task: Any) -> Any:
        return _LATE if is_over() else function(task)

    results = each(begin, tasks, threads)
    late = (i for i, result in enumerate(results) if result is _LATE)
    return results[: next(late, len(results))]


def in_parts(function: Callable[[int, int], Any], n: int, threads: int) -> list[Any]:
    """[function(first, last)] for consecutive parts of n values, in parallel where n is large enough."""
    parts = min(threads, 1 + n // PASS_VALUES_PER_THREAD)
    if parts == 1:
        return [function(0, n)]
    edges = [n * i // parts for i in range(parts + 1)]
    return each(lambda part: function(*part), itertools.pairwise(edges), parts)


def both(first: Callable[[], Any], second: Callable[[], Any], threads: int) -> list[Any]:
    """The results of two functions, run side by side if there are threads for it."""
    return each(lambda task: task(), (first, second), threads)


def _workers() -> Worker:
    global _pool
    with _opening:
        if _pool is None:
            _pool = Worker(max((os.cpu_count() or 1) - 1, 1))
        return _pool


def _forget() -> None:
    """A forked process has no threads but the one that forked."""
    global _pool, _opening
    _pool, _opening = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
