"""How heat falls while records are annealed, who takes part at which heat, and for how many steps."""

import time

import numpy as np

LEVELS = 16  # heats of a round
HOT, COLD = 3.0, 5e-4  # first and last heat, of the mean cost per record
REACH = 3.0  # records whose own cost is at least heat / REACH take part
FEW = 32  # at least so many do
MOST = 1000  # steps per pair of records that are worth a wait
PACE = 10**6  # steps a second, until they have been counted
HASTE = 0.97  # of the time that is left is spent


class Schedule:
    """Heats from that of the most expensive records to a small part of the mean.

    A record that costs little is only shuffled while heat is high, and one that costs much is frozen when it is low.
    So records take part as soon as heat has fallen to what they cost at least, `scale`, and those that cost most get
    the more steps: a heat has a share that grows by the root of the records that take part.  In the last round all do.
    """

    def __init__(self, scale, mean, rounds, iterations):
        scale = np.sort(scale)[::-1]
        self.rounds = rounds
        self._heats = np.geomspace(max(HOT * mean, scale[0]), COLD * mean, rounds * LEVELS)
        self._least = np.minimum(self._heats / REACH, scale[min(FEW, scale.size) - 1])
        self._least[-LEVELS:] = 0.0
        self._active = np.searchsorted(-scale, -self._least, side="right")
        share = np.sqrt(self._active)
        self._share = share / share.sum()
        self._total = (MOST * scale.size if iterations is None else iterations) * scale.size
        self._pace, self._asked = PACE, 0

    def plan(self, turn, left):
        """Heats, the scale of those who take part, and steps per record that does, for a round and the rest of time."""
        levels, now = slice(turn * LEVELS, (turn + 1) * LEVELS), time.monotonic()
        if turn > 0:
            self._pace = self._asked / max(now - self._began, 1e-9)
        self._began = now
        share = self._share[levels]
        most = self._pace * HASTE * max(left, 0.0) * share / self._share[levels.start :].sum()
        hurried = bool(most.sum() < self._total * share.sum())
        steps = most if hurried else self._total * share
        self._asked = steps.sum()
        return Plan(self._heats[levels], self._least[levels], steps / self._active[levels], hurried)


class Plan:
    """One round: for each of its heats, from which scale on records take part, and the steps of each."""

    def __init__(self, heats, least, steps, hurried):
        self.heats, self.least, self.steps, self.hurried = heats, least, steps, hurried

    def of(self, scale):
        """Heat, records, steps for records of these falling scales."""
        active = np.searchsorted(-scale, -self.least, side="right")
        return zip(self.heats, active, np.rint(self.steps * active).astype(np.int64), strict=True)
