"""How the project compiles: numba's options, the tags that tell a compiled solver its cost, and what a cost may see.

A cost is four small functions in the *anchored frame*.  The anchor is a value x[b-1] or x[b] that lies inside every
group under consideration, y = x - anchor, and every sum starts at the anchor, so that no offset, however large,
is ever subtracted from itself:

    terms(f, i)            what is summed, a tuple: (y, y²) for the sum of squares
    left(f, i), right(f, j)  what depends on one end of the group [i, j) alone
    join(f, g, i, j, size)   g plus what depends on both ends

    cost of [i, j) = join(left(i) + right(j)),   total(f, t, j) - total(f, t, i) = the sum of term t over [i, j)

A `Kernel` wraps the four as a zero-size typed tag.  Numba compiles a solver per tag and caches it on disk.
"""

import hashlib
import os
import pathlib
import pickle
import warnings
from collections import namedtuple
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numba
import numpy as np
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, InTreeCacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import NativeValue, intrinsic, models, overload, register_model, unbox

from mag._lanes import Part, at, neighbours, part, part_of
from mag._wide import WORDS, nearest_quotient, to_float, to_wide, wide

OPTIONS = {"error_model": "numpy", "nogil": True, "boundscheck": False}
INLINE = {"jit_options": {"forceinline": True, **OPTIONS}}

UNREADABLE = (OSError, EOFError, pickle.UnpicklingError)  # files of others, or cut short

called = numba.njit(**OPTIONS)  # part of its callers' cache entries; not copied into them, so they compile faster
inlined = numba.njit(forceinline=True, **OPTIONS)


def jit(function):
    """Compile when called, and keep the machine code on disk where that can be written."""
    compiled = numba.njit(**OPTIONS)(function)
    compiled._cache = _Cache(function)
    return compiled


class CacheWarning(UserWarning):
    """Compiled code could not be kept on disk: the next process compiles it again, which takes seconds to a minute."""


class _ReadOnly(InTreeCacheLocator):
    """Beside the source, where nothing can be written: code that `mag warmup` left there is used all the same."""

    def ensure_cache_path(self):
        pass


class _Places(CompileResultCacheImpl):
    _locator_classes = (*CompileResultCacheImpl._locator_classes, _ReadOnly)


class _CacheFiles(IndexDataCacheFile):
    """Every entry has a file of its own, and none is needed: what cannot be read or written is compiled in memory.

    Numba numbers them: two processes that compile at the same time can take the same number, and a third one then runs
    the code of one cost, or one k, in place of another.
    """

    def save(self, key, data):
        overloads = self._load_index()
        try:
            if key not in overloads:
                name = hashlib.sha256(str(key).encode()).hexdigest()[:16]
                overloads[key] = self._index_name.removesuffix("nbi") + f"{name}.nbc"
                self._save_index(overloads)
            self._save_data(overloads[key], data)
        except OSError as error:
            _warn_once(error.strerror)

    def load(self, key):
        try:
            return super().load(key)
        except UNREADABLE:
            return None

    def _load_index(self):
        try:
            return super()._load_index()
        except UNREADABLE:
            return {}


class _Cache(FunctionCache):
    _impl_class = _Places

    def __init__(self, function):
        super().__init__(function)
        files = self._cache_file
        # numba looks at the function's own file only, and would not notice a changed cost in another
        stamp = files._source_stamp, digest(pathlib.Path(function.__code__.co_filename).parent)
        self._cache_file = _CacheFiles(self._cache_path, self._impl.filename_base, stamp)

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError as error:  # the directory is gone, or not ours anymore
            _warn_once(error.strerror)


_warned = False


def _warn_once(reason):
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"mag cannot keep its compiled code on disk ({reason}) and compiles it anew in every process; set "
            "NUMBA_CACHE_DIR to a directory that can be written.",
            CacheWarning,
            stacklevel=2,
        )


if hasattr(os, "register_at_fork"):  # or a forked process may wait for a thread that it does not have to compile
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


@cache
def digest(folder):
    """Digest of what may be compiled into the functions of a folder: its files, and those that all stand on."""
    here = pathlib.Path(__file__).parent
    files = {
        *here.glob("_*.py"),
        *(here / "costs").glob("*.py"),
        *(here / "solvers").glob("*.py"),
        *folder.glob("*.py"),
    }
    return hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()


# ---- tags


_KERNELS: dict[str, "Kernel"] = {}


class Tag(types.Type):
    """Numba's type of one Kernel.  It is pickled into the cache, so it knows its kernel by name only."""

    @property
    def kernel(self):
        return _KERNELS[self.name]


register_model(Tag)(models.OpaqueModel)


class Kernel:
    """The compiled face of a cost.

    `number` says what is summed: "real" (float64) or "wide" (256-bit integers).  `lanes` says whether the four
    functions also take lanes, many columns at once.  `group`, given instead of the four functions, is a user's own
    compiled function of (x, i, j); it gets arrays, the built-in costs get bare pointers.
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
        lanes=True,
        group=None,
    ):
        self.name, self.n_terms, self.number, self.group = name, n_terms, number, group
        self.lanes = lanes and number == "real" and group is None
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
    """The kernel of a user's function: one for all that numba would compile alike, since it never frees their code."""
    key = _identity(group)
    if key is None:
        return Kernel(name, group=group)
    if key not in _SHARED:
        _SHARED[key] = Kernel(name, group=group)
    return _SHARED[key]


def _identity(group):
    """What the machine code of a function depends on; None if that cannot be told, because some of it may change."""
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
    """A small integer that the compiler knows, for loops that are to be unrolled."""

    def __init__(self, value):
        self._numba_type_ = NumberTag(value)


@unbox(Tag)
@unbox(NumberTag)
def _unbox(typ, obj, c):
    return NativeValue(c.context.get_dummy_value())


def terms(cost, f, i):
    """What the cost sums, at position i."""


def left(cost, f, i):
    """What depends on the group's start alone."""


def right(cost, f, j):
    """What depends on the group's end alone."""


def join(cost, f, g, i, j, size):
    """g plus what depends on both ends."""


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
    """The integer behind a Number."""


@overload(number, **INLINE)
def _number(tag):
    known = tag.value
    return lambda tag: known


# ---- calls that are not specialised

_OPAQUE = types.Opaque("tag")


def address_of(compiled, *arguments):
    """Where the machine code of a compiled function for arguments like these starts."""
    kinds = tuple(numba.typeof(argument) for argument in arguments)
    compiled.compile(kinds)
    result = compiled.overloads[kinds]
    return result.library.get_pointer_to_function(result.fndesc.llvm_func_name)


@intrinsic
def call_at(typing_context, address, k, x, w, sizes, work):
    """Call a solver's `solve(cost, k, x, w, sizes, work)` by its address: the caller is compiled once for all costs.

    The cost is a tag, which takes no memory; and so is k where sizes are bytes, see `solvers.block`.
    """
    known = sizes.dtype == types.uint8
    kinds = [_OPAQUE, _OPAQUE if known else types.int64, x, w, sizes, work]

    def codegen(context, builder, signature, args):
        tag = context.get_constant_null(_OPAQUE)
        given = [tag, tag if known else args[1], *args[2:]]
        function = context.call_conv.get_function_type(types.float64, kinds).as_pointer()
        pointer = builder.inttoptr(args[0], function)
        return context.call_conv.call_function(builder, pointer, types.float64, kinds, given)[1]

    return types.float64(types.int64, types.int64, x, w, sizes, work), codegen


# ---- memory that depends on what the cost sums

_recast_wide = part_of(wide)


def words(kernel):
    """How many float64 one summed number takes."""
    return WORDS if kernel.number == "wide" else 1


def line(cost, array, offset):
    """The numbers of `array` (float64 memory) from number `offset` on."""


def lines(cost, array, offset, length):
    """One line of `length` numbers per term, cut from `array` at number `offset`."""


def zero(cost):
    """The number 0."""


def real(number):
    """A number as float64."""


def source(cost, x):
    """The values as the cost wants them: a bare pointer, or the array itself for a user's cost."""


def centre(cost, x, i):
    """x[i] as an anchor."""


@overload(line, **INLINE)
def _line(cost, array, offset):
    if cost.kernel.number == "wide":
        return lambda cost, array, offset: _recast_wide(array, offset * WORDS)
    return lambda cost, array, offset: part(array, offset)


@overload(lines, **INLINE)
def _lines(cost, array, offset, length):
    return {
        0: lambda cost, array, offset, length: (),
        1: lambda cost, array, offset, length: (line(cost, array, offset),),
        2: lambda cost, array, offset, length: (line(cost, array, offset), line(cost, array, offset + length)),
        3: lambda cost, array, offset, length: (
            line(cost, array, offset),
            line(cost, array, offset + length),
            line(cost, array, offset + 2 * length),
        ),
    }[cost.kernel.n_terms]


@overload(zero, **INLINE)
def _zero(cost):
    if cost.kernel.number == "wide":
        return lambda cost: to_wide(0)
    return lambda cost: 0.0


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


@overload(centre, **INLINE)
def _centre(cost, x, i):
    if cost.kernel.group is not None:
        return lambda cost, x, i: 0.0
    if cost.kernel.number == "wide":
        return lambda cost, x, i: to_wide(at(x, i))
    return lambda cost, x, i: at(x, i)


# ---- what a cost may look at

# Sorted values and weights, the position of value 0, the anchor, a line of sums per term, a line of 1/size.
Frame = namedtuple("Frame", "x w shift centre sums inverse")


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
    x, anchor = f[f.fields.index("x")], f[f.fields.index("centre")]
    if anchor == wide:
        return lambda f, i: to_wide(at(f.x, i + f.shift)) - f.centre
    if x.dtype == types.uint64:
        return _difference
    return lambda f, i: at(f.x, neighbours(i) + f.shift) - f.centre


def _difference(f, i):
    """Rounded once, whatever the distance: unsigned integers are subtracted before they become a float."""
    here = at(f.x, i + f.shift)
    return float(here - f.centre) if here >= f.centre else -float(f.centre - here)


@overload(weight, **INLINE)
def _weight(f, i):
    return lambda f, i: at(f.w, neighbours(i) + f.shift)


@overload(total, prefer_literal=True, **INLINE)
def _total(f, t, i):
    return getattr(f.instance_class, "total", _line_total)(f, t, i)


def _line_total(f, t, i):
    return lambda f, t, i: at(f.sums[t], i)


@overload(reciprocal, **INLINE)
def _reciprocal(f, size):
    if "inverse" in f.fields and isinstance(f[f.fields.index("inverse")], Part):
        return lambda f, size: at(f.inverse, size)
    return lambda f, size: 1.0 / size


TO_INTEGER = 1.5 * 2.0**52  # adding and subtracting this rounds a float64 to an integer


@overload(nearest, **INLINE)
def _nearest(f, total, size):
    if total == wide:
        return lambda f, total, size: nearest_quotient(total, size)
    return lambda f, total, size: (total * reciprocal(f, size) + TO_INTEGER) - TO_INTEGER
