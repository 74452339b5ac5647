"""Boxes that are cut where the records are, privately: Mondrian with a budget for every level.

The boxes of a level are disjoint, so that a level is paid once.  Cuts are chosen among points of the public grid by the
exponential mechanism; counts and means of the final boxes get noise.  With `draw` the boxes are the cells of a sample
instead, drawn from the whole table after the cuts: if the sample had also chosen the cuts, it would reveal more.
"""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Never

import numpy as np
import numpy.typing as npt

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag._lib.wording import named
from mag.dp._budget import Budget, charge, written
from mag.dp._delta import CHANCES, chance_of, default_chance, positive
from mag.dp._domain import Integers, Numbers, check_points
from mag.dp._random import Noise, source
from mag.dp._release import PrivateRelease, check_contributions, make_guarantee, promise, warn_about_delta
from mag.dp._table import (
    COUNT_COLUMN,
    Names,
    Opened,
    array_of,
    check_columns,
    check_domain,
    check_lengths,
    check_records,
    limit_contributions,
    refuse_options,
)
from mag.dp.sample import choose_k

ORDERS = ("cycle", "spread")
WEIGHT = 2**32  # spreads of all columns in one unit, about 1 / WEIGHT of their ranges
USUAL_K = 20
UNLUCKY = 0.05  # how often a box of more than 2k records is not cut, with `stop`


@dataclass(frozen=True)
class Shares:
    """The budget of every step, per level or once."""

    cut: Fraction
    dimension: Fraction
    stop: Fraction
    count: Fraction
    mean: Fraction  # of one column
    draw: Fraction


@dataclass(frozen=True)
class Box:
    """From `low` to `high` in every column, both included, in points of the grid; and the records in it."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    rows: Integers


def mondrian(
    table: Any,
    columns: Any,
    epsilon: float,
    *,
    depth: int = 6,
    k: int | None = None,
    centroids: bool = True,
    order: Literal["cycle", "spread"] = "cycle",
    stop: bool = False,
    draw: bool = False,
    delta: float | None = None,
    beta: float | None = None,
    drop: Names = None,
    records: bool = True,
    contributions: int = 1,
    person: Hashable | None = None,
    budget: Budget | None = None,
    **refused: Never,
) -> PrivateRelease:
    """Cut the domain into boxes near medians, and publish noisy means of their records, or the boxes.

    Half of ε is for the cuts, half for the published counts.  Neighbors have one record more or fewer.

    Parameters
    ----------
    table : frame or dict of arrays
        The records.
    columns : mapping
        A domain of `Numbers` for every column that is published.
    epsilon : float
        The privacy loss that may be spent.
    depth : int
        How often boxes are cut: up to 2**depth boxes.  With a public guess of n, log2(n / 2k) is sensible.
    k : int, optional
        Boxes with smaller noisy counts are withheld; default 20.  Not k-anonymity.  With `draw`: as in `sample`.
    centroids : bool
        Publish means; otherwise the boxes as text.
    order : {"cycle", "spread"}
        Cut the columns in turn, or the column in which records lie furthest from the middle of the box; the latter
        takes a share of the budget.
    stop : bool
        Do not cut boxes with fewer than about 2k records; this takes a share of the budget.
    draw : bool
        Publish a sample in the boxes (`sample`).
    delta, beta : float, optional
        Of the sample.
    drop, records, contributions, person, budget
        As in `sample`.

    Returns
    -------
    PrivateRelease
        A row for each record, or for each box with its count.

    Examples
    --------
    >>> import numpy as np
    >>> import mag.dp
    >>> people = {"age": np.arange(4000) % 80, "income": np.arange(4000) * 10}
    >>> domains = {"age": mag.dp.Numbers(0, 120, 1), "income": mag.dp.Numbers(0, 50000, 100)}
    >>> release = mag.dp.mondrian(people, domains, epsilon=2, depth=2)
    >>> abs(len(release.data["age"]) - 4000) < 200
    True
    """
    refuse_options(refused, "mondrian")
    asked, share = positive("epsilon", epsilon), check_contributions(contributions)
    levels = checks.integer("depth", depth, 0, 20, "20")
    checks.one_of("order", order, ORDERS)
    for name, choice in (("centroids", centroids), ("stop", stop), ("draw", draw), ("records", records)):
        checks.flag(name, choice)
    opened = Opened(table)
    columns = check_columns(opened, columns, drop, person)
    for name, domain in columns.items():
        check_domain(f"columns[{name!r}]", domain, (Numbers,))
        check_points(f"columns[{name!r}]", domain)
    shares = _split(asked, levels, len(columns), order == "spread", stop, centroids, draw)
    chance, least, price = _plan_draw(draw, k, delta, beta, shares.draw, share)
    largest = _largest_noise([domain.n_cells for domain in columns.values()], shares, share)
    source().check(*largest)
    if records and not draw:
        check_records(2**levels, Noise("counts", share, shares.count))
    ledger = charge(budget, "mondrian", list(columns), asked, price, "add_remove", share)

    coded = check_lengths([domain.locate_points(opened.read(name)) for name, domain in columns.items()])
    points = np.stack(limit_contributions(opened, coded, person, share), axis=1)
    cutter = _Cutter(points, [domain.n_cells for domain in columns.values()], shares, share, least)
    boxes = cutter.cut(levels)
    kept = source().keep(len(points), chance) if draw else np.ones(len(points), np.bool_)  # after the cuts
    counts = np.array([int(kept[box.rows].sum()) for box in boxes], np.int64)
    if not draw:
        counts = source().add_noise(counts, Noise("counts", share, shares.count))
    values = (
        _means(points, boxes, counts, list(columns.values()), share, shares.mean) if centroids and not draw else None
    )
    published = _label(columns, boxes) if values is None else dict(zip(columns, values, strict=True))
    large = counts >= least
    published, counts = {name: cells[large] for name, cells in published.items()}, counts[large]
    if records:
        published = {name: np.repeat(cells, counts) for name, cells in published.items()}
    else:
        published[COUNT_COLUMN] = counts

    fixed = tuple(f"{name}: {domain.describe()}" for name, domain in columns.items())
    sentence = _sentence(promise(asked, price, "add_remove", share), shares, levels, len(columns), least, chance)
    options = {
        "depth": levels, "k": least, "centroids": centroids, "order": order, "stop": stop, "draw": draw,
        "beta": chance / CHANCES if draw else None, "shares": {name: str(own) for name, own in vars(shares).items()},
    }  # fmt: skip
    guarantee = make_guarantee("mondrian", (asked, price), "add_remove", share, fixed, sentence)
    warnings = warn_about_delta(price)
    return PrivateRelease(opened.build(published), guarantee, ledger, options, largest, warnings)


def _split(epsilon: Fraction, levels: int, d: int, dimension: bool, stop: bool, centroids: bool, draw: bool) -> Shares:
    """Half for the cuts, the same for every level and step of it; half for the boxes, or everything without levels."""
    cuts = epsilon / 2 if levels else Fraction(0)
    step = cuts / (levels * (1 + dimension + stop)) if levels else Fraction(0)
    rest = epsilon - cuts
    none = Fraction(0)
    leaf = (none, none, rest) if draw else (rest / 2, rest / 2 / d, none) if centroids else (rest, none, none)
    return Shares(step, step if dimension else none, step if stop else none, *leaf)


def _largest_noise(steps: list[int], shares: Shares, share: int) -> tuple[Noise, ...]:
    """The noise for the whole domain; smaller boxes need less."""
    spread = max(width * (WEIGHT // width) for width in steps)
    every = (
        Noise("cuts", share, shares.cut, chosen=True),
        Noise("spreads", spread * share, shares.dimension, chosen=True, monotonic=True),
        Noise("sizes", share, shares.stop),
        Noise("counts", share, shares.count),
        Noise("sums", max(steps) * share, shares.mean),
    )
    return tuple(noise for noise in every if noise.epsilon)


def _plan_draw(
    draw: bool, k: int | None, delta: float | None, beta: float | None, epsilon: Fraction, share: int
) -> tuple[int, int, Fraction]:
    """The chance of a record, k, and δ."""
    if draw:
        chance = default_chance(epsilon / share) if beta is None else chance_of(beta)
        return chance, *choose_k(k, delta, chance, epsilon, share)
    for name, option in (("delta", delta), ("beta", beta)):
        if option is not None:
            raise InputValueError(f"{name} is used with {named('draw', True)} only; leave it out.")
    return 0, USUAL_K if k is None else checks.integer("k", k, 1, 10**6, "10**6"), Fraction(0)


class _Cutter:
    """Cuts boxes level by level; everything that it asks the records is paid by its level."""

    def __init__(self, points: Integers, steps: list[int], shares: Shares, share: int, k: int) -> None:
        self.points, self.steps, self.shares, self.share, self.k = points, steps, shares, share, k

    def cut(self, levels: int) -> list[Box]:
        every = np.arange(len(self.points))
        growing, final = [Box((0,) * len(self.steps), tuple(self.steps), every)], list[Box]()
        for level in range(levels):
            parts: list[Box] = []
            for box in growing:
                wide = [j for j in range(len(self.steps)) if box.low[j] < box.high[j]]
                if not wide or self._is_small(box):
                    final.append(box)
                else:
                    parts += self._cut_box(box, self._choose_dimension(box, wide, level))
            growing = parts
        return sorted([*final, *growing], key=lambda box: (box.low, box.high))

    def _is_small(self, box: Box) -> bool:
        price = self.shares.stop
        if not price:
            return False
        noise = Noise("sizes", self.share, price)
        [size] = source().add_noise(np.array([len(box.rows)], np.int64), noise).tolist()
        return bool(size < 2 * self.k + math.ceil(math.log(1 / UNLUCKY) * self.share / price))

    def _choose_dimension(self, box: Box, wide: list[int], level: int) -> int:
        d = len(self.steps)
        if not self.shares.dimension:
            return next(j for j in ((level + step) % d for step in range(d)) if j in wide)
        weights = {j: WEIGHT // self.steps[j] for j in wide}
        scores = [int(np.abs(self._doubled(box, j)).sum()) * weights[j] for j in wide]
        widest = max((box.high[j] - box.low[j]) * weights[j] for j in wide)
        noise = Noise("spreads", widest * self.share, self.shares.dimension, chosen=True, monotonic=True)
        return wide[source().choose(np.array(scores, np.int64), noise)]

    def _doubled(self, box: Box, j: int) -> Integers:
        """Twice the distance from the center of the box, which is an integer."""
        return 2 * self.points[box.rows, j] - (box.low[j] + box.high[j])

    def _cut_box(self, box: Box, j: int) -> list[Box]:
        """Split into the records below a point and the others; points that halve the records score highest."""
        places = self.points[box.rows, j]
        counts = np.bincount(places - box.low[j], minlength=box.high[j] - box.low[j] + 1)
        below = np.cumsum(counts)[:-1]
        scores = -np.abs(2 * below - len(places)).astype(np.int64)
        cut = box.low[j] + 1 + source().choose(scores, Noise("cuts", self.share, self.shares.cut, chosen=True))
        left = places < cut
        return [
            Box(box.low, (*box.high[:j], cut - 1, *box.high[j + 1 :]), box.rows[left]),
            Box((*box.low[:j], cut, *box.low[j + 1 :]), box.high, box.rows[~left]),
        ]


def _means(
    points: Integers, boxes: list[Box], counts: Integers, domains: list[Numbers], share: int, epsilon: Fraction
) -> list[npt.NDArray[np.float64]]:
    """Noisy sums about the centers of boxes, in half steps, divided by the noisy counts."""
    published = []
    for j, domain in enumerate(domains):
        values = []
        for box, count in zip(boxes, counts.tolist(), strict=True):
            low, high = box.low[j], box.high[j]
            doubled = np.array([int((2 * points[box.rows, j] - (low + high)).sum())], np.int64)
            if low < high:
                doubled = source().add_noise(doubled, Noise("sums", (high - low) * share, epsilon))
            mean = (low + high + int(doubled[0]) / max(count, 1)) / 2
            values.append(float(domain.low) + float(domain.step) * min(max(mean, low), high))
        published.append(np.array(values, np.float64))
    return published


def _label(columns: Any, boxes: list[Box]) -> dict[Any, npt.NDArray[Any]]:
    return {
        name: array_of([f"[{domain.point(box.low[j])}, {domain.point(box.high[j])}]" for box in boxes])
        for j, (name, domain) in enumerate(columns.items())
    }


def _sentence(promised: str, shares: Shares, levels: int, d: int, k: int, chance: int) -> str:
    steps = [f"{levels} levels × {written(shares.cut)} for the cuts"] if levels else []
    if shares.dimension:
        steps.append(f"{levels} × {written(shares.dimension)} for the columns to cut")
    if shares.stop:
        steps.append(f"{levels} × {written(shares.stop)} for when to stop")
    if shares.count:
        steps.append(f"{written(shares.count)} for counts")
    if shares.mean:
        steps.append(f"{written(shares.mean * d)} for the means of {d} columns")
    if shares.draw:
        drawn = f"drawn with probability {chance / CHANCES:.3g}, withheld where fewer than {k} fell into a box"
        return f"Boxes and a sample of records, {drawn}, are {promised}: {', '.join(steps)}, the rest for the sample."
    what = "Boxes, counts and means" if shares.mean else "Boxes and counts"
    return f"{what} are {promised}: {', '.join(steps)}. Boxes with noisy counts below {k} are withheld."
