"""One column in chunks, grouped as `mag.univariate` groups it: range partition, local sort, stretches, labels back."""

from dataclasses import dataclass
from operator import getitem
from typing import Any

import numpy as np

from mag._backends.cpu import BOTH_ENDS_FROM_N, stretches
from mag.costs import COSTS
from mag.distributed import _ranges
from mag.distributed import _univariate_tasks as tasks
from mag.distributed._graph import Key, Tasks


@dataclass(frozen=True)
class ColumnKeys:
    """Of the labels and the masked values of every chunk, of the number of groups, and of their cost."""

    labels: list[Key]
    masked: list[Key]
    n_groups: Key
    cost: Key


def label_type(n: int, k: int) -> type[np.signedinteger[Any]]:
    """The dtype of labels."""
    return np.int32 if n // k < 2**31 else np.int64


def group_column(
    t: Tasks, chunks: list[Any], name: str, n: int, dtype: np.dtype, *, k: int, cost: str, ranges: int, keep: bool
) -> ColumnKeys:
    """Group the n numbers of all chunks; `keep` rounds the representatives of integers."""
    arranged = t.each("arranged", _ranges.arrange, chunks)
    dealt = t.decide("dealt", [], _ranges.deal, t.each("sampled", _ranges.sample, arranged, ranges), ranges, name)
    split = [t.add("split", [c], _ranges.split, key, c, dealt) for c, key in enumerate(arranged)]
    merged = t.each("merged", _ranges.merge, t.exchange("piece", split, ranges))
    edges = t.decide("edges", [], tasks.locate_edges, t.each("counted", tasks.count_values, merged))
    starts = _starts(t, merged, dealt, edges, n, k, cost)
    numbered = t.decide("numbered", [], tasks.number_starts, t.each("first", tasks.read_first_start, starts), n)
    head, represented = None, []
    for p in reversed(range(ranges)):
        where = [starts[p], numbered, edges, p]
        represented.append(
            t.add("represented", [p], tasks.represent_groups, merged[p], head, *where, dtype, keep, cost, k)
        )
        own = t.add("own-head", [p], tasks.take_first, merged[p], 2 * k - 1)
        head = t.decide("head", [p], tasks.take_head, own, head, 2 * k - 1)
    represented.reverse()
    windows = _windows(t, merged, dealt, n, k) if COSTS[cost].integer else []
    facts = t.entries("fact", represented, 1)
    checked = t.decide("checked", [], tasks.check_groups, facts, windows, dealt, min(4 * k, n), cost, k)

    def back(what: str, function: Any, details: list[list[Any]]) -> list[Key]:
        """Apply a function to the values of every range, and return the results chunk by chunk."""
        results = []
        for p in range(ranges):
            results.append(t.add(what, [p], function, merged[p], starts[p], edges, p, checked, *details[p]))
        pieces = t.exchange(f"{what}-piece", results, len(chunks))
        return [t.add(f"{what}-chunk", [c], _ranges.restore, arranged[c], piece) for c, piece in enumerate(pieces)]

    return ColumnKeys(
        back("labels", tasks.label_range, [[numbered, label_type(n, k)]] * ranges),
        back("masked", tasks.mask_range, [[one] for one in represented]),
        t.decide("groups", [], getitem, numbered, 2),
        t.decide("total", [], getitem, checked, 1),
    )


def _starts(t: Tasks, merged: list[Any], dealt: Key, edges: Key, n: int, k: int, cost: str) -> list[Any]:
    """Keys of where groups start, range by range."""
    if k == 1 or n < 2 * k:
        trivial = tasks.start_every_value if k == 1 else tasks.start_first_value
        return [t.add("starts", [p], trivial, key, edges, p) for p, key in enumerate(merged)]
    numbers = t.each("numbers", _ranges.numbers, merged, dealt)
    if n < max(BOTH_ENDS_FROM_N, 8 * k):
        solved, _ = _half(t, "ahead", numbers, edges, n, n, k, cost)
        return _trace(t, "ahead", solved, edges, t.decide("cut", [], tasks.choose_cut, None, None, n), k, False)
    # as `mag.univariate`: from both ends, on mirrored values from the right, joined at the best cut between them
    middle = n // 2
    mirrored = t.each("mirrored", tasks.mirror_numbers, numbers[::-1])
    turned = t.decide("turned", [], tasks.mirror_edges, edges)
    left, end = _half(t, "ahead", numbers, edges, n, middle + 2 * k - 2, k, cost)
    right, other_end = _half(t, "back", mirrored, turned, n, n - middle, k, COSTS[cost].mirror)
    cut = t.decide("cut", [], tasks.choose_cut, end, other_end, middle)
    uncut = t.decide("uncut", [], tasks.mirror_cut, cut, n)
    forwards = _trace(t, "ahead", left, edges, cut, k, False)
    backwards = _trace(t, "back", right, turned, uncut, k, True)[::-1]
    return [t.add("starts", [p], tasks.join_starts, forwards[p], backwards[p], n) for p in range(len(merged))]


def _half(
    t: Tasks, half: str, numbers: list[Any], edges: Key, n: int, length: int, k: int, cost: str
) -> tuple[list[Any], Key]:
    """Keys of the stretches of the first `length` values, and of the states at their ends."""
    ahead = stretches.run_ahead(k)
    guess = ahead * len(numbers) < n  # otherwise the guesses would cost more than they save
    length_of_tail = stretches.tail(k, ahead if guess else 0)
    tail: Any = None
    leave: Any = None
    solved = []
    for q, key in enumerate(numbers):
        where = [edges, q, length, cost, k]
        guessed = t.add(f"{half}-guessed", [q], tasks.guess_stretch, key, tail, ahead, *where) if guess and q else None
        solved.append(t.add(f"{half}-followed", [q], tasks.follow_stretch, guessed, leave, key, tail, *where))
        leave = t.tell(f"{half}-left", [q], tasks.read_state, solved[-1], leave)
        own = t.add(f"{half}-own-tail", [q], tasks.take_tail, None, key, length_of_tail)
        tail = t.decide(f"{half}-tail", [q], tasks.take_tail, tail, own, length_of_tail)
    return solved, leave


def _trace(t: Tasks, half: str, solved: list[Any], edges: Key, cut: Key, k: int, mirrored: bool) -> list[Any]:
    """Keys of where groups start, range by range, followed back from the cut."""
    traces = []
    for q in reversed(range(len(solved))):
        traces.append(t.add(f"{half}-trace", [q], tasks.trace_starts, solved[q], cut, edges, q, k, mirrored))
        cut = t.tell(f"{half}-cut", [q], getitem, traces[-1], 1)
    return t.entries(f"{half}-starts", traces[::-1], 0)


def _windows(t: Tasks, merged: list[Any], dealt: Key, n: int, k: int) -> list[Any]:
    """Keys of the widest range of 4k + 1 neighbors, range by range."""
    tail, windows = None, []
    for p, key in enumerate(merged):
        windows.append(t.add("window", [p], tasks.measure_widest_window, key, tail, dealt, min(4 * k, n - 1)))
        own = t.add("window-own-tail", [p], tasks.take_window_tail, key, dealt, 4 * k)
        tail = t.decide("window-tail", [p], tasks.take_tail, tail, own, 4 * k)
    return windows
