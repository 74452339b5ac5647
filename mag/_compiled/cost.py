"""The tags that select the cost of a compiled solver, and the cost's four functions.

A cost is four small functions in the *anchored frame*.  The anchor is a value x[b-1] or x[b] that lies inside every
group under consideration, y = x - anchor, and every sum starts at the anchor, so that no offset, however large,
is ever subtracted from itself:

    terms(f, i)            the terms of the sums, a tuple: (y, y²) for the sum of squares
    left(f, i), right(f, j)  the part that depends on one end of the group [i, j) alone
    join(f, g, i, j, size)   g plus the part that depends on both ends

    cost of [i, j) = join(left(i) + right(j)),   total(f, t, j) - total(f, t, i) = the sum of term t over [i, j)

A `Kernel` wraps the four as a zero-size typed tag.  Numba compiles a solver per tag and caches it on disk.
"""

from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np
from numba import types
from numba.extending import NativeValue, models, overload, register_model, unbox

from mag._compiled.jit import INLINE, called, inlined

_KERNELS: dict[str, "Kernel"] = {}


class Tag(types.Type):
    """Numba's type of one Kernel.  It is pickled into the cache, so it stores the name of its kernel only."""

    @property
    def kernel(self):
        return _KERNELS[self.name]


register_model(Tag)(models.OpaqueModel)


class Kernel:
    """The compiled face of a cost.

    `number` is the type of the sums: "real" (float64), "pair" (integers in two of them) or "wide" (of 256 bits).
    `medians` are the steps of `join` if it searches for a median: find it, find it for a group that starts earlier,
    join. `narrow` is the kernel for small k, whose functions also take lanes that have a line of sums each: this one,
    unless
    it searches for a median, or None.  `group`, instead of the four functions, is a user's own compiled function of
    (x, i, j); it gets arrays, the built-in costs get bare pointers.
    """

    def __init__(
        self,
        name,
        n_terms=0,
        terms=None,
        left=None,
        right=None,
        join=None,
        *,
        number="real",
        medians=None,
        narrow=None,
        group=None,
    ):
        self.name, self.n_terms, self.number, self.group = name, n_terms, number, group
        self.lanes = number != "wide" and group is None
        self.narrow = self if medians is None and self.lanes and number == "real" else narrow
        self.medians = medians
        if group is not None:
            terms, left, right, join = _functions_of(group)
        self.terms, self.left, self.right, self.join = (inlined(f) for f in (terms, left, right, join))
        unique = f",{len(_KERNELS)}" if group is not None else ""  # two costs of users may have one name
        self._numba_type_ = Tag(f"cost<{name},{number}{unique}>")
        _KERNELS[self._numba_type_.name] = self

    def wide(self):
        """The same cost summed in wide integers."""
        functions = (f.py_func for f in (self.terms, self.left, self.right, self.join))
        return Kernel(self.name, self.n_terms, *functions, number="wide")


_SHARED: dict[tuple, Kernel] = {}


def kernel_of(name, group):
    """The kernel of a user's function, shared by functions that numba compiles alike, since it never frees code."""
    key = _identity(group)
    if key is None:
        return Kernel(name, group=group)
    if key not in _SHARED:
        _SHARED[key] = Kernel(name, group=group)
    return _SHARED[key]


def _identity(group):
    """All dependencies of the machine code of a function; None if unknown, because some of them may change."""
    if hasattr(group, "py_func"):  # numba's, compiled once
        return (group,)
    if type(group) is not FunctionType or group.__kwdefaults__:
        return None
    code = group.__code__
    cells = (cell.cell_contents for cell in group.__closure__ or ())
    names = (group.__globals__[name] for name in code.co_names if name in group.__globals__)
    parts = [code]
    for one in (*(group.__defaults__ or ()), *cells, *names):
        if type(one) in (bool, int, float, complex, str, type(None)):
            parts.append((type(one), repr(one)))
        elif isinstance(one, (ModuleType, BuiltinFunctionType, np.ufunc, type)) or hasattr(one, "py_func"):
            parts.append(one)
        else:
            return None
    inner = any(isinstance(constant, CodeType) for constant in code.co_consts)  # whose names were not looked at
    return None if inner else tuple(parts)


def _functions_of(group):
    compiled = group if hasattr(group, "py_func") else called(group)

    def terms(f, i):
        return ()

    def end(f, i):
        return 0.0

    def join(f, g, i, j, size):
        return g + compiled(f.x, i + f.shift, j + f.shift)

    return terms, end, end, join


class NumberTag(types.Type):
    """Numba's type of one Number."""

    def __init__(self, value):
        self.value = value
        super().__init__(name=f"number<{value}>")


register_model(NumberTag)(models.OpaqueModel)


class Number:
    """A small integer that is a compile-time constant, for loops that are unrolled."""

    def __init__(self, value):
        self._numba_type_ = NumberTag(value)


@unbox(Tag)
@unbox(NumberTag)
def _unbox(typ, obj, c):
    return NativeValue(c.context.get_dummy_value())


def terms(cost, f, i):
    """The terms of the cost's sums, at position i."""


def left(cost, f, i):
    """The part that depends on the group's start alone."""


def right(cost, f, j):
    """The part that depends on the group's end alone."""


def join(cost, f, g, i, j, size):
    """g plus the part that depends on both ends."""


@overload(terms, **INLINE)
def _terms(cost, f, i):
    compiled = cost.kernel.terms
    return lambda cost, f, i: compiled(f, i)


@overload(left, **INLINE)
def _left(cost, f, i):
    compiled = cost.kernel.left
    return lambda cost, f, i: compiled(f, i)


@overload(right, **INLINE)
def _right(cost, f, j):
    compiled = cost.kernel.right
    return lambda cost, f, j: compiled(f, j)


@overload(join, **INLINE)
def _join(cost, f, g, i, j, size):
    compiled = cost.kernel.join
    return lambda cost, f, g, i, j, size: compiled(f, g, i, j, size)


def number(tag):
    """The integer of a Number."""


@overload(number, **INLINE)
def _number(tag):
    known = tag.value
    return lambda tag: known
