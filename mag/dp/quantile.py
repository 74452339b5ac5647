"""A quantile among the points of a public grid, by the exponential mechanism (Smith 2011; McKenna & Sheldon 2020)."""

from fractions import Fraction
from typing import Any, Literal, Never

import numpy as np

from mag._lib.errors import InputValueError
from mag.dp._budget import Budget, charge
from mag.dp._delta import positive
from mag.dp._domain import Integers, Numbers, check_points, exact, plain
from mag.dp._random import Noise, source
from mag.dp._release import PrivateRelease, check_contributions, check_neighbors, make_guarantee, promise
from mag.dp._table import Opened, check_domain, refuse_options

FINEST = 1000  # denominator of q, so that scores are small integers


def quantile(
    x: Any,
    q: float,
    domain: Numbers,
    epsilon: float,
    *,
    neighbors: Literal["add_remove", "replace"] = "add_remove",
    contributions: int = 1,
    budget: Budget | None = None,
    **refused: Never,
) -> PrivateRelease:
    """Choose a point of the grid that is probably near a quantile.

    A point's score is how many values lie between it and the quantile.

    Parameters
    ----------
    x : array or series
        The values.
    q : float
        From 0 to 1; 0.5 is the median.  Rounded to a fraction of a denominator up to 1000.
    domain : Numbers
        Bounds and grid.
    epsilon : float
        The privacy loss that may be spent.
    neighbors : {"add_remove", "replace"}
        Tables that must be indistinguishable.
    contributions, budget
        As in `sample`.

    Returns
    -------
    PrivateRelease
        One row: `q` and `value`.

    Examples
    --------
    >>> import numpy as np
    >>> import mag.dp
    >>> release = mag.dp.quantile(np.arange(10001) % 101, 0.5, mag.dp.Numbers(0, 120, 1), epsilon=1)
    >>> abs(release.data["value"].item() - 50) < 5
    True
    """
    refuse_options(refused, "quantile")
    asked, share, kind = positive("epsilon", epsilon), check_contributions(contributions), check_neighbors(neighbors)
    place = exact("q", q).limit_denominator(FINEST)
    if not 0 <= place <= 1:
        raise InputValueError(f"q must be a number from 0 to 1; got {q}.")
    check_domain("domain", domain, (Numbers,))
    check_points("domain", domain)
    opened = Opened({"x": x})
    widest = max(place.numerator, place.denominator - place.numerator)
    noise = Noise("scores", (widest if kind == "add_remove" else place.denominator) * share, asked, chosen=True)
    source().check(noise)
    ledger = charge(budget, "quantile", ["x"], asked, Fraction(0), kind, share)

    points = domain.locate_points(opened.read("x"))
    counts = np.bincount(points, minlength=domain.n_points).astype(np.int64)
    scores = _score(counts, place)
    value = domain.point(source().choose(scores, noise))

    fixed = (domain.describe(), f"q = {place}")
    sentence = (
        f"The quantile {plain(place)} among {domain.n_points} points from {plain(domain.low)} to {plain(domain.high)} "
        f"is {promise(asked, Fraction(0), kind, share)}; the points were given beforehand."
    )
    guarantee = make_guarantee("quantile", (asked, Fraction(0)), kind, share, fixed, sentence)
    data = {"q": np.array([plain(place)]), "value": np.array([value])}
    return PrivateRelease(data, guarantee, ledger, {"q": str(place)}, (noise,))


def _score(counts: Integers, place: Fraction) -> Integers:
    """How far each point is from the quantile, in records times the denominator of q; not above 0."""
    wanted = place.numerator * int(counts.sum())
    up_to = place.denominator * np.cumsum(counts)
    below = up_to - place.denominator * counts
    return -np.maximum(0, np.maximum(wanted - up_to, below - wanted))
