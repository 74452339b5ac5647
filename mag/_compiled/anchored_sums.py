"""What a cost may look at, and the memory that depends on what it sums: float64, pairs of them, or 256-bit integers."""

from collections import namedtuple

import numpy as np
from numba import types
from numba.extending import overload

from mag._compiled.jit import INLINE
from mag._compiled.lanes import neighbors
from mag._compiled.memory import Part, grid, part, part_of
from mag._compiled.pair import as_pairs
from mag._compiled.wide import WORDS, nearest_quotient, to_float, to_wide, wide
from mag._compiled.work import reals

_recast_wide = part_of(wide)


def numbers(space, cost, length):
    """Memory for so many numbers that the cost sums, in a `layout`; in Python the cost is its kernel."""
    reals(space, length * {"real": 1, "pair": 2, "wide": WORDS}[cost.number])


def lines(space, cost, length):
    """A line of `length` numbers per term; among pairs that of the values is of float64, which holds their sum."""
    if cost.number == "pair":
        reals(space, length)
        numbers(space, cost, length)
    else:
        numbers(space, cost, length * cost.n_terms)


def sums_by(space, cost, rows, columns):
    """A table of a number per term."""
    lines(space, cost, rows * columns)


def zero(cost):
    """The number 0."""


def unreached(cost):
    """What no group costs; a pair would make NaN of infinity."""


def real(number):
    """A number as float64."""


def source(cost, x):
    """The values as the cost wants them: a bare pointer, or the array itself for a user's cost."""


def center(cost, x, i):
    """x[i] as an anchor."""


@overload(numbers, **INLINE)
def _numbers(space, cost, length):
    if cost.kernel.number == "wide":
        return lambda space, cost, length: _recast_wide(reals(space, length * WORDS), 0)
    if cost.kernel.number == "pair":
        return lambda space, cost, length: as_pairs(reals(space, length * 2), 0)
    return lambda space, cost, length: reals(space, length)


@overload(lines, **INLINE)
def _lines(space, cost, length):
    if cost.kernel.number == "pair":
        return lambda space, cost, length: (reals(space, length), numbers(space, cost, length))
    return {
        0: lambda space, cost, length: (),
        1: lambda space, cost, length: (numbers(space, cost, length),),
        2: lambda space, cost, length: (numbers(space, cost, length), numbers(space, cost, length)),
        3: lambda space, cost, length: (
            numbers(space, cost, length),
            numbers(space, cost, length),
            numbers(space, cost, length),
        ),
    }[cost.kernel.n_terms]


@overload(sums_by, **INLINE)
def _sums_by(space, cost, rows, columns):
    n_terms = cost.kernel.n_terms

    def table(space, cost, rows, columns):
        return grid(numbers(space, cost, rows * columns * n_terms), columns, n_terms)

    return table


@overload(zero, **INLINE)
def _zero(cost):
    if cost.kernel.number == "wide":
        return lambda cost: to_wide(0)
    return lambda cost: 0.0


@overload(unreached, **INLINE)
def _unreached(cost):
    value = 2.0**1000 if cost.kernel.number == "pair" else np.inf
    return lambda cost: value


@overload(real, **INLINE)
def _real(number):
    if number == wide:
        return lambda number: to_float(number)
    return lambda number: float(number)


@overload(source, **INLINE)
def _source(cost, x):
    if cost.kernel.group is not None:
        return lambda cost, x: x
    return lambda cost, x: part(x, 0)


@overload(center, **INLINE)
def _center(cost, x, i):
    if cost.kernel.group is not None:
        return lambda cost, x, i: 0.0
    if cost.kernel.number == "wide":
        return lambda cost, x, i: to_wide(x[i])
    return lambda cost, x, i: x[i]


# Sorted values and weights, the position of value 0, the anchor, a line of sums per term, a line of 1/size.
AnchoredSums = namedtuple("AnchoredSums", "x w shift center sums inverse")


def value(f, i):
    """x[i] - anchor: a float64, or a wide integer where the cost sums those."""


def weight(f, i):
    """w[i]."""


def total(f, t, i):
    """The sum of term t from the anchor up to position i, negative to its left."""


def reciprocal(f, size):
    """1/size."""


def nearest(f, total, size):
    """total/size, rounded to an integer; a half may go either way."""


@overload(value, **INLINE)
def _value(f, i):
    x, anchor = f[f.fields.index("x")], f[f.fields.index("center")]
    if anchor == wide:
        return lambda f, i: to_wide(f.x[i + f.shift]) - f.center
    if x.dtype == types.uint64:
        return _difference
    return lambda f, i: f.x[neighbors(i) + f.shift] - f.center


def _difference(f, i):
    """Rounded once, whatever the distance: unsigned integers are subtracted before they become a float."""
    here = f.x[i + f.shift]
    return float(here - f.center) if here >= f.center else -float(f.center - here)


@overload(weight, **INLINE)
def _weight(f, i):
    return lambda f, i: f.w[neighbors(i) + f.shift]


@overload(total, prefer_literal=True, **INLINE)
def _total(f, t, i):
    return getattr(f.instance_class, "total", _line_total)(f, t, i)


def _line_total(f, t, i):
    return lambda f, t, i: f.sums[t][i]


@overload(reciprocal, **INLINE)
def _reciprocal(f, size):
    if "inverse" in f.fields and isinstance(f[f.fields.index("inverse")], Part):
        return lambda f, size: f.inverse[size]
    return lambda f, size: 1.0 / size


TO_INTEGER = 1.5 * 2.0**52  # adding and subtracting this rounds a float64 to an integer


@overload(nearest, **INLINE)
def _nearest(f, total, size):
    if total == wide:
        return lambda f, total, size: nearest_quotient(total, size)
    return lambda f, total, size: (total * reciprocal(f, size) + TO_INTEGER) - TO_INTEGER
