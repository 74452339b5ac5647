"""Rounds of ONA* on any grouping: short compiled steps, and memories brought up to date on several threads between."""

import numpy as np

from mag.methods._centres import CENTROID
from mag.methods._drive import drive
from mag.methods._exchange import (
    form_groups,
    groups_now,
    refresh,
    room_for_groups,
    visit,
)
from mag.methods._memory import work_for
from mag.methods._pool import side_by_side
from mag.methods._star import star

SHARE = 512  # groups, or records, a job


def polish(X, k, labels, rounds, threads, watch, done=0.5):
    """Dissolve and reassign (algorithm 15) until nothing changes; `done` is the progress at the start."""
    n = len(X)
    for g in np.flatnonzero(np.bincount(labels) >= 2 * k):  # MDAV+ never makes such groups
        members = np.flatnonzero(labels == g)
        parts = drive(star, X[members], k, CENTROID, 0.0, False, threads=threads, watch=watch)
        labels[members[parts > 0]] = labels.max() + parts[parts > 0]
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
