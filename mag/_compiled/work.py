"""The memory of compiled methods: two arrays, and layouts that say what stands in them.

A method's state is a tuple of bare pointers into the arrays.  That compiles several times faster than a tuple of
arrays, and a state needs no allocation.  A *layout* is a function that cuts a state from a space, one line a field:

    @layout
    def centroids_at(space, capacity, d):
        return Centroids(
            sums=reals(space, capacity, d),  # of the records of a group
            size=integers(space, capacity),
        )

In compiled code the space is memory: `space_in(work)`, or `rest_of(space)` for what is needed until a function returns.
In Python the same function measures how much that takes: `work_for(centroids_at, capacity, d)`.  The solvers of columns
have one array for both, of `length_for(layout, …)` float64.
"""

import math
from collections import namedtuple
from functools import lru_cache

import numpy as np
from numba import types
from numba.extending import intrinsic, overload, register_jitable

from mag._compiled.internals import alloca_once, ir, unpack_tuple
from mag._compiled.jit import INLINE, JIT_OPTIONS, called
from mag._compiled.linking import INNER
from mag._compiled.memory import Part, grid_value, literals, part

Work = namedtuple("Work", "reals integers")
Space = namedtuple("Space", "reals integers used")  # pointers; how much of each is in use, on the stack
OneSpace = namedtuple("OneSpace", "reals integers used")  # both point to the same memory

# Numba compiles a function anew for every literal that it is called with; these are no literals.
NOBODY, ZERO, ONE = np.int64(-1), np.int64(0), np.int64(1)
NO, YES = np.bool_(False), np.bool_(True)
NEAREST, FARTHEST = 1.0, -1.0


def layout(function):
    """A function that cuts a state from a space: plain Python, and compiled into its callers."""
    function.py_func = function  # its code counts in the `stamp` of callers
    return register_jitable(**JIT_OPTIONS, **INNER)(function)


class Room:
    """A space without memory: layouts measure in it how much they take."""

    def __init__(self):
        self.reals = self.integers = 0


def work_for(layout, *shape):
    """Memory for what a layout cuts."""
    room = Room()
    layout(room, *shape)
    return Work(np.empty(room.reals), np.empty(room.integers, np.int64))


@lru_cache(256)  # small calls would notice
def length_for(layout, *shape):
    """How many float64 hold what a layout cuts."""
    room = Room()
    layout(room, *shape)
    return room.reals + room.integers


def reals(space, *shape):
    """Memory of this shape for float64."""
    space.reals += math.prod(shape)


def integers(space, *shape):
    """Memory of this shape for int64."""
    space.integers += math.prod(shape)


@overload(reals, prefer_literal=True, **INLINE)
def _reals(space, *shape):
    return lambda space, *shape: _cut(space.reals, space.used, 0, shape)


@overload(integers, prefer_literal=True, **INLINE)
def _integers(space, *shape):
    number = 0 if space.instance_class is OneSpace else 1
    return lambda space, *shape: _cut(space.integers, space.used, number, shape)


_I64 = ir.IntType(64)
_POINTERS = [Part(types.float64), Part(types.int64), Part(types.int64)]
_SPACE, _ONE_SPACE = types.NamedTuple(_POINTERS, Space), types.NamedTuple(_POINTERS, OneSpace)


@intrinsic(prefer_literal=True)
def _cut(typing_context, memory, used, number, shape):
    """Memory of this shape, from where `used[number]` says; a Part, or a Grid if it has two or more dimensions."""
    constants = literals(shape)

    def codegen(context, builder, sig, args):
        lengths = unpack_tuple(builder, args[3])
        lengths = [ir.Constant(_I64, known) if known else here for known, here in zip(constants, lengths, strict=True)]
        place = builder.gep(args[1], [ir.Constant(_I64, number.literal_value)])
        start, count = builder.load(place), ir.Constant(_I64, 1)
        for length in lengths:
            count = builder.mul(count, length)
        builder.store(builder.add(start, count), place)
        return grid_value(context, builder, sig.return_type, builder.gep(args[0], [start]), lengths[1:])

    kinds = types.Tuple([types.int64 if known is None else kind for known, kind in zip(constants, shape, strict=True)])
    return Part.of(memory.dtype, constants[1:])(memory, used, number, kinds), codegen


def _new_space(context, builder, space, reals, integers, used):
    """Its numbers are on the stack of the function that asks for it, hence no compiled function can do that."""
    stack = alloca_once(builder, ir.ArrayType(_I64, 2))
    place = builder.bitcast(stack, _I64.as_pointer())
    for number in range(2):
        builder.store(used[number], builder.gep(place, [ir.Constant(_I64, number)]))
    return context.make_tuple(builder, space, [reals, integers, place])


@intrinsic
def space_in(typing_context, work):
    """All memory of a Work, or of one float64 array."""
    one = isinstance(work, types.Array)

    def codegen(context, builder, sig, args):
        arrays = [args[0]] * 2 if one else unpack_tuple(builder, args[0])
        pointers = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip([work] * 2 if one else work, arrays, strict=True)
        ]
        pointers[1] = builder.bitcast(pointers[1], _I64.as_pointer())
        return _new_space(context, builder, sig.return_type, *pointers, [ir.Constant(_I64, 0)] * 2)

    return (_ONE_SPACE if one else _SPACE)(work), codegen


@intrinsic
def rest_of(typing_context, space):
    """What is left of a space; when the caller returns, others may take it."""

    def codegen(context, builder, sig, args):
        reals, integers, used = unpack_tuple(builder, args[0])
        numbers = [builder.load(builder.gep(used, [ir.Constant(_I64, number)])) for number in range(2)]
        return _new_space(context, builder, space, reals, integers, numbers)

    return space(space), codegen


# ---- what methods share


@called
def fill(array, count, value):
    """The first `count` elements are `value`."""
    memory = part(array, 0)
    for i in range(count):
        memory[i] = value


@called
def _comes_before(keys, i, j):
    return keys[i] > keys[j] or (keys[i] == keys[j] and i < j)


@called
def sort_falling(order, count, keys):
    """Sort numbers by falling keys[number]; equal keys by number.  A heap: no memory, never slow."""
    start, end = count // 2, count
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            last = order[end]
            order[end] = order[0]
            order[0] = last
        root, item = start, order[start]
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and _comes_before(keys, order[child], order[child + 1]):
                child += 1
            if not _comes_before(keys, item, order[child]):
                break
            order[root] = order[child]
            root = child
        order[root] = item


@called
def insert(keys, ids, m, count, key, i):
    """Put (key, i) into a sorted list that keeps the m smallest; returns its length."""
    if count == m:
        last = keys[m - 1]
        if key > last or (key == last and i > ids[m - 1]):
            return count
        p = m - 1
    else:
        p = count
        count += 1
    while p > 0 and (key < keys[p - 1] or (key == keys[p - 1] and i < ids[p - 1])):
        keys[p] = keys[p - 1]
        ids[p] = ids[p - 1]
        p -= 1
    keys[p] = key
    ids[p] = i
    return count


@called
def find_top(above, i):
    """Follow `above` to whoever is above itself; the way there becomes shorter."""
    while above[i] != i:
        above[i] = above[above[i]]
        i = above[i]
    return i
