"""Jobs side by side: the caller's thread works, and threads that are kept help it."""

import itertools
import os
from concurrent.futures import ThreadPoolExecutor

MOST = 256  # threads that are ever kept; they start when they are first needed

_pool = None


def side_by_side(function, jobs, threads):
    """[function(job) for job in jobs] with functions that release the GIL; an error or Ctrl-C stops all of them."""
    global _pool
    results, numbers = [None] * len(jobs), itertools.count()

    def work():
        for number in numbers:  # a number is handed out once, whoever asks
            if number >= len(jobs):
                return
            results[number] = function(jobs[number])

    helpers = []
    if min(threads, len(jobs)) > 1:
        _pool = _pool or ThreadPoolExecutor(MOST, "mag")
        helpers = [_pool.submit(work) for _ in range(min(threads, len(jobs), MOST) - 1)]
    try:
        work()
    except BaseException:
        numbers = iter(())
        raise
    finally:
        for helper in helpers:
            helper.exception()  # wait
    for helper in helpers:
        helper.result()
    return results


def _forget():
    """A forked process has no threads but the one that forked."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
