"""The forms in which callers may pass diversity and closeness, and the criteria that they denote."""

import numbers
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag.hierarchy import Hierarchy, hierarchy_of
from mag.tables.criteria._criterion import Criterion
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.entropy import Entropy
from mag.tables.criteria.equal import Equal
from mag.tables.criteria.hierarchical import Hierarchical
from mag.tables.criteria.ordered import Ordered
from mag.tables.criteria.recursive import Recursive

GROUNDS = ("auto", "equal", "hierarchical", "ordered")
MAX_DIVERSITY = 2**53  # of ℓ: more values than any table has
DIVERSITY = "an integer, ('entropy', l) or ('recursive', c, l)"


@dataclass(frozen=True)
class Closeness:
    """How near the distribution of a sensitive column in every class must be to that of the whole table.

    Parameters
    ----------
    t : float or fractions.Fraction
        The largest earth mover's distance, from 0 to 1; a float means the decimal number that it is printed as.
    ground : {"auto", "equal", "hierarchical", "ordered"}
        The distance of two values: 1; the height of their closest common ancestor divided by that of the tree; or the
        difference of their ranks divided by the largest one.  "auto" is "hierarchical" with a hierarchy, otherwise
        "ordered" for numbers, dates and ordered categories and "equal" for others.
    hierarchy : mag.Hierarchy, path or dict, optional
        The tree of the values, or the path of a file of ARX, or every category's parent.

    Examples
    --------
    >>> import mag
    >>> mag.Closeness(0.2, ground="ordered").t
    Fraction(1, 5)
    """

    t: Any
    ground: str = "auto"
    hierarchy: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", read_fraction("t", self.t, "a number from 0 to 1", Fraction(0), Fraction(1)))
        checks.one_of("ground", self.ground, GROUNDS)
        if self.ground == "hierarchical" and self.hierarchy is None:
            raise InputValueError("hierarchy is needed with ground 'hierarchical'; got None.")
        if self.ground in ("equal", "ordered"):
            checks.unused("hierarchy", self.hierarchy, f"ground {self.ground!r}")
        if self.hierarchy is not None:
            object.__setattr__(self, "hierarchy", hierarchy_of("hierarchy", self.hierarchy))


def diversity_of(option: str, requested: Any) -> Criterion:
    """The criterion that a number, or a tuple with the name of a criterion, means."""
    if isinstance(requested, (tuple, list)) and requested:
        name, *rest = requested
        known = {"distinct": 1, "entropy": 1, "recursive": 2}
        if name in known and len(rest) == known[name]:
            if name == "entropy":
                return Entropy(read_fraction(option, rest[0], "('entropy', l) with a number l from 1 on", Fraction(1)))
            l = checks.integer(option, rest[-1], 1, MAX_DIVERSITY, "2**53")  # noqa: E741
            if name == "distinct":
                return Distinct(l)
            allowed = "('recursive', c, l) with a positive number c"
            c = read_fraction(option, rest[0], allowed, Fraction(0))
            if c == 0:
                raise InputValueError(f"{option} must be {allowed}; got 0.")
            return Recursive(c, l)
    elif isinstance(requested, numbers.Integral) and not isinstance(requested, bool):
        return Distinct(checks.integer(option, requested, 1, MAX_DIVERSITY, "2**53"))
    raise InputTypeError(f"{option} must be {DIVERSITY}; got {checks.describe(requested)}.")


def closeness_of(option: str, requested: Any) -> Closeness:
    """The request that a number, or a request, means."""
    if isinstance(requested, Closeness):
        return requested
    return Closeness(
        read_fraction(option, requested, "a number from 0 to 1 or a mag.Closeness", Fraction(0), Fraction(1))
    )


def ground_of(closeness: Closeness, values: list[Any], is_ordered: bool, column: object) -> Criterion:
    """The criterion for a column of these distinct values, None for a missing one, in the order of the counts.

    `is_ordered`: whether the values have an order; the missing value is the last of it.
    """
    ground = closeness.ground
    if ground == "auto":
        ground = "hierarchical" if closeness.hierarchy is not None else "ordered" if is_ordered else "equal"
    if ground == "hierarchical":
        tree: Hierarchy = closeness.hierarchy
        there = np.array([value is not None for value in values], bool)
        leaves = np.full(len(values), -1, np.int64)
        leaves[there] = tree.find([value for value in values if value is not None])
        if absent := int((leaves[there] < 0).sum()):
            raise InputValueError(
                f"closeness[{column!r}]: the hierarchy has no leaf for {absent} values of the column."
            )
        return Hierarchical(closeness.t, tree, leaves)
    if ground == "equal":
        return Equal(closeness.t)
    if not is_ordered:
        raise InputValueError(
            f"closeness[{column!r}]: ground 'ordered' needs values with an order; got text without one."
        )
    return Ordered(closeness.t)


def read_fraction(option: str, number: Any, allowed: str, low: Fraction, high: Fraction | None = None) -> Fraction:
    """A number as it is printed: 0.2 is a fifth, though the float is not."""
    if isinstance(number, bool) or not isinstance(number, (numbers.Real, Decimal)):
        raise InputTypeError(f"{option} must be {allowed}; got {checks.describe(number)}.")
    checks.written_out(option, number)
    try:
        if isinstance(number, numbers.Rational):
            fraction = Fraction(int(number.numerator), int(number.denominator))
        else:
            fraction = Fraction(str(number))
    except ValueError:  # infinite, or not a number
        raise InputValueError(f"{option} must be {allowed}; got {number}.") from None
    if fraction < low or (high is not None and fraction > high):
        raise InputValueError(f"{option} must be {allowed}; got {number}.")
    return fraction
