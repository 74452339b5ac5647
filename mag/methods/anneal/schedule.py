"""How heat falls while records are annealed, which records take part at which heat, and for how many steps."""

import time
from collections.abc import Iterator

import numpy as np

HEATS_PER_ROUND = 16  # heats of a round
HOT, COLD = 3.0, 5e-4  # first and last heat, of the mean cost per record
LUKEWARM, COOL = (0.06, 0.12, 0.03, 0.25), 0.1  # first heats of parts, of their means; their last heat, of the first
WARM, WARMEST, CHILL = 0.008, 0.3, 0.35  # first heat of a large whole, of the cost of records; its last, of the first
FALL, HEATS_PER_FALL_ROUND = (0.5, 0.02), 4  # first and last heat of rounds of parts, of their means; heats of a round
NEGLIGIBLE_COST_SHARE = 1e-3  # of the mean, a cost that counts
REACH = 3.0  # records whose own cost is at least heat / REACH take part
MIN_PILOT_COSTS = 32  # least number of pilot costs
PACE = 10**6  # steps a second, until they have been counted
PILOT_HEAT, PILOT_STEPS_PER_RECORD = 0.02, 20.0  # heat, of the mean, and steps per record that are timed


class HeatPlan:
    """Falling heats; for each, the scale from which on records take part, and the steps of each such record."""

    def __init__(self, heats: np.ndarray, least: np.ndarray, steps: np.ndarray) -> None:
        self.heats, self.least, self.steps = heats, least, steps

    def of(self, scale: np.ndarray) -> Iterator[tuple[float, int, int]]:
        """Heat, records, steps for records of these falling scales."""
        active = np.searchsorted(-scale, -self.least, side="right")
        return zip(self.heats, active, np.rint(self.steps * active).astype(np.int64), strict=True)


def short_plan(mean: float, heat: float, steps: float) -> HeatPlan:
    """For a part: from a heat at which most of its groups stay together; `steps` per record."""
    heats = np.geomspace(heat * mean, COOL * heat * mean, HEATS_PER_ROUND)
    return HeatPlan(heats, np.append(heats[:-1] / REACH, 0.0), np.full(HEATS_PER_ROUND, steps / HEATS_PER_ROUND))


def falling_plan(mean: float, begin: float, end: float, steps: float) -> HeatPlan:
    """For a part of this mean cost, of a large table: from one fraction of the fall to another one, all records."""
    done = begin + (end - begin) * np.arange(1, HEATS_PER_FALL_ROUND + 1) / HEATS_PER_FALL_ROUND
    hot, cold = FALL
    heats = mean * hot * (cold / hot) ** done
    return HeatPlan(heats, np.zeros(heats.size), np.full(heats.size, steps / heats.size))


def melt(scale: np.ndarray, mean: float, rounds: int, steps: float) -> "Schedule":
    """Heats from that of the most expensive records, at which every group dissolves, to a small part of the mean."""
    scale = np.sort(scale)[::-1]
    heats = np.geomspace(max(HOT * mean, scale[0]), COLD * mean, rounds * HEATS_PER_ROUND)
    return Schedule(scale, heats, heats / REACH, steps)


def pilot_plan(mean: float) -> HeatPlan:
    """A few steps at a heat that spoils nothing, to see how long they take."""
    return HeatPlan(np.array([PILOT_HEAT * mean]), np.zeros(1), np.array([PILOT_STEPS_PER_RECORD]))


def warm(scale: np.ndarray, mean: float, rounds: int, steps: float, possible: float) -> "Schedule":
    """For many records in groups that are good already: the fewer steps are `possible` for each, the less heat.

    Every record takes part from a heat on that is in proportion to its scale.
    """
    scale = np.sort(scale)[::-1]
    share = mean / scale.mean() if scale[0] > 0 else 1.0  # cost of records relative to their lower bounds
    hot = min(WARM * np.cbrt(max(min(steps, possible), 1.0)), WARMEST)
    low = CHILL * hot * max(share * float(np.median(scale)), NEGLIGIBLE_COST_SHARE * mean)
    heats = np.geomspace(max(hot * share * scale[0], 2 * low), low, rounds * HEATS_PER_ROUND)
    return Schedule(scale, heats, heats / (REACH * hot * share), steps)


class Schedule:
    """For the whole: falling heats, and the time that is left for each.

    A record that costs little is only shuffled while heat is high, and one that costs much is frozen when it is low. So
    records take part as soon as heat has fallen far enough for their `scale`, their lower bound of the cost, and the
    most expensive ones get more steps: a heat has a share that grows by the root of the number of records that take
    part.  In the last round all take part.
    """

    def __init__(self, scale: np.ndarray, heats: np.ndarray, least: np.ndarray, steps: float) -> None:
        self._heats, self._least = heats, np.minimum(least, scale[min(MIN_PILOT_COSTS, scale.size) - 1])
        self._least[-HEATS_PER_ROUND:] = 0.0
        self._active = np.searchsorted(-scale, -self._least, side="right")
        share = np.sqrt(self._active)
        self._share = share / share.sum()
        self._total = steps * scale.size
        self._pace, self._steps, self._start = float(PACE), 0.0, 0.0
        self.hurried = False

    def plan(self, turn: int, left: float) -> HeatPlan:
        """The plan of a round, given the seconds left for it and all later ones."""
        levels, now = slice(turn * HEATS_PER_ROUND, (turn + 1) * HEATS_PER_ROUND), time.monotonic()
        if self._steps > 0:
            self._pace = self._steps / max(now - self._start, 1e-9)
        share = self._share[levels]
        steps = self._total * share
        if left < np.inf:
            most = self._pace * max(left, 0.0) * share / self._share[levels.start :].sum()
            if most.sum() < steps.sum():
                self.hurried, steps = True, most
        self._steps, self._start = steps.sum(), now
        return HeatPlan(self._heats[levels], self._least[levels], steps / self._active[levels])
