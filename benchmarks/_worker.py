"""One process of `benchmarks.ratio`: measures calls of the `mag` that PYTHONPATH names, whenever it is its turn.

Run by its path, so that it imports nothing of `benchmarks`, which both trees have.  Pickles come in on standard input
and go out on standard output: a case first, which is called until it is warm, then as many turns as are sent.
"""

import gc
import os
import pickle
import sys
import time
import zlib

import numpy as np

import mag


def measure(call, calls, seconds):
    """Processor and wall seconds of a call, the mean of `calls` in a row, again and again until the time is up."""
    taken = []
    gc.collect()
    gc.disable()
    end = time.perf_counter() + seconds
    while not taken or time.perf_counter() < end:
        wall, processor = time.perf_counter(), time.process_time()
        for _ in range(calls):
            call()
        taken.append(((time.process_time() - processor) / calls, (time.perf_counter() - wall) / calls))
    gc.enable()
    return taken


def main():
    """Serve until standard input ends."""
    source, target = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed must not come between pickles

    def answer(value):
        pickle.dump(value, target)
        target.flush()

    answer(mag.__file__)
    while True:
        try:
            function, args, options, look = pickle.load(source)
        except EOFError:
            return
        called = getattr(mag, function)

        def call(called=called, args=args, options=options, look=look):
            return getattr(called(*args, **options), look)

        seen = call()
        answer((zlib.crc32(np.ascontiguousarray(seen)) if isinstance(seen, np.ndarray) else None, measure(call, 1, 0)))
        while (turn := pickle.load(source)) is not None:
            answer(measure(call, *turn))
        del seen


if __name__ == "__main__":
    sys.exit(main())
