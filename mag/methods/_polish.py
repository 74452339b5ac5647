"""Rounds of ONA* on any grouping: short compiled steps, and memories brought up to date on several threads between."""

import numpy as np

from mag.methods._exchange import (
    form_groups,
    groups_now,
    refresh,
    room_for_groups,
    room_for_small,
    split_groups,
    visit,
)
from mag.methods._memory import work_for
from mag.methods._pool import side_by_side

SHARE = 512  # groups, or records, a job


def polish(X, k, labels, rounds, threads, watch, done=0.5):
    """Dissolve and reassign (algorithm 15) until nothing changes; `done` is the progress at the start."""
    n = len(X)
    largest = int(np.bincount(labels).max())
    if largest >= 2 * k:
        split_groups(work_for(room_for_small, n, X.shape[1], k), X, k, labels)
    work = work_for(room_for_groups, n, X.shape[1], k)
    form_groups(work, X, k, labels)
    jobs = [(a, min(a + SHARE, n)) for a in range(0, n, SHARE)]
    for number in range(rounds):
        for phase in range(2):
            side_by_side(lambda job: refresh(work, X, k, *job), jobs, threads)
            cursor = 0
            while cursor >= 0:
                cursor = visit(work, X, k, phase, cursor, SHARE)
                if watch.step(1.0 - (1.0 - done) * 0.7**number):
                    groups_now(work, X, k, labels)
                    return labels
        _, changed = groups_now(work, X, k, labels)
        if changed == 0:
            break
    return labels
