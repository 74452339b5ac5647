"""Raw memory for compiled code: bare pointers into arrays, read and written like arrays.

Arrays inside tuples cost reference counting on every pass, so compiled code hands around a `Part`: `part(array, 5)`
starts at element 5.  The array itself must be an argument of the outermost compiled function, which keeps it alive.
A `Grid` is memory of two or more dimensions: `rows[i, j]` is a number, and `rows[i]` is row i.  Loads and stores have
neither bounds checks nor wrap-around, unlike those of an array: take `part(x, 0)` or `grid(X)` of an array first.

An index with lanes (see `lanes`) loads and stores several neighbors at once.
"""

import operator

from numba import types
from numba.extending import intrinsic, lower_builtin, models, register_model

from mag._compiled.internals import AbstractTemplate, create_struct_proxy, infer_global, ir, signature, unpack_tuple
from mag._compiled.lanes import Falling, Index, Lanes, shuffle

_DOUBLE, _I32, _I64 = ir.DoubleType(), ir.IntType(32), ir.IntType(64)


class Part(types.Type):
    """A pointer to elements of one type."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"part<{dtype}>")

    @staticmethod
    def of(dtype, lengths):
        """A Part, or a Grid if there are lengths of further dimensions."""
        return Grid(dtype, lengths) if lengths else Part(dtype)


class Grid(types.Type):
    """A pointer to elements, and the lengths of all dimensions but the first: a number where it is a constant."""

    def __init__(self, dtype, lengths):
        self.dtype, self.lengths = dtype, tuple(lengths)
        super().__init__(name=f"grid<{dtype},{self.lengths}>")


@register_model(Part)
class _PartModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.dtype).get_data_type().as_pointer())


@register_model(Grid)
class _GridModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        lengths = [(f"length{i}", types.int64) for i, length in enumerate(fe_type.lengths) if length is None]
        super().__init__(dmm, fe_type, [("data", Part(fe_type.dtype)), *lengths])


# ---- pointers


def _data(context, builder, array_type, array):
    if isinstance(array_type, Part):
        return array
    if isinstance(array_type, Grid):
        return builder.extract_value(array, 0)
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def part(typing_context, array, offset):
    """The array, or part, from element `offset` on."""

    def codegen(context, builder, signature, args):
        return builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])

    return Part(array.dtype)(array, types.int64), codegen


def part_of(dtype):
    """An intrinsic `f(array, offset)`: the memory of a float64 array from `offset` on, as elements of `dtype`."""

    @intrinsic
    def recast(typing_context, array, offset):
        result = Part(dtype)

        def codegen(context, builder, signature, args):
            pointer = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
            return builder.bitcast(pointer, context.get_value_type(result))

        return result(array, types.int64), codegen

    return recast


@intrinsic(prefer_literal=True)
def scratch(typing_context, length):
    """A few float64 on the stack; where all indexes are known to the compiler they end up in registers."""

    return Part(types.float64)(length), lambda context, builder, sig, args: stack(builder, length.literal_value)


def stack(builder, length):
    """A pointer to this many float64 that live as long as the function that is built."""
    with builder.goto_entry_block():
        pointer = builder.alloca(ir.ArrayType(_DOUBLE, length))
        pointer.align = 64
        return builder.bitcast(pointer, _DOUBLE.as_pointer())


@intrinsic(prefer_literal=True)
def grid(typing_context, array, *lengths):
    """The memory of an array, or part, in two or more dimensions, with the lengths of all but the first."""
    constants = literals(lengths)

    def codegen(context, builder, sig, args):
        data = _data(context, builder, sig.args[0], args[0])
        return grid_value(context, builder, sig.return_type, data, unpack_tuple(builder, args[1]))

    kinds = [types.int64 if known is None else kind for known, kind in zip(constants, lengths, strict=True)]
    return Grid(array.dtype, constants)(array, types.StarArgTuple(kinds)), codegen


def literals(lengths):
    """The lengths that are constants, None for others."""
    return [kind.literal_value if isinstance(kind, types.IntegerLiteral) else None for kind in lengths]


def grid_value(context, builder, grid_type, data, lengths):
    """A Grid that starts at a pointer, or the pointer itself as a Part."""
    if isinstance(grid_type, Part):
        return data
    value = create_struct_proxy(grid_type)(context, builder)
    value.data = data
    for i, length in enumerate(lengths):
        if grid_type.lengths[i] is None:
            setattr(value, f"length{i}", length)
    return value._getvalue()


# ---- indexes


def _kinds(array, index):
    """The types of an index into memory of ours, one per dimension, or None where it is not one."""
    kinds = tuple(index) if isinstance(index, types.BaseTuple) else (index,)
    most = 1 + len(array.lengths) if isinstance(array, Grid) else 1
    lanes = (Index, Falling, Lanes) if len(kinds) == most else ()
    fits = len(kinds) <= most and all(isinstance(kind, types.Integer) for kind in kinds[:-1])
    if not fits or not isinstance(kinds[-1], (types.Integer, *lanes)):
        return None
    return tuple(types.int64 if isinstance(kind, types.Integer) else kind for kind in kinds)


def _index_type(index, kinds):
    return types.Tuple(kinds) if isinstance(index, types.BaseTuple) else kinds[0]


def _indexes(builder, index_type, index):
    """The last index and its type, and those before it."""
    if isinstance(index_type, types.BaseTuple):
        *first, last = unpack_tuple(builder, index)
        return last, index_type[-1], first
    return index, index_type, []


def _lengths(context, builder, grid_type, value):
    """The lengths of all dimensions but the first."""
    if isinstance(grid_type, Part):
        return []
    members = create_struct_proxy(grid_type)(context, builder, value=value)
    return [
        getattr(members, f"length{i}") if length is None else ir.Constant(_I64, length)
        for i, length in enumerate(grid_type.lengths)
    ]


def _pointer(context, builder, sig, args):
    """Where array[index] is, as a pointer to lanes if the index has lanes; and its alignment."""
    last, kind, first = _indexes(builder, sig.args[1], args[1])
    if isinstance(kind, Falling):
        last = builder.sub(last, ir.Constant(_I64, kind.width - 1))
    elif isinstance(kind, Index) and kind.stride != 1:
        last = builder.mul(last, ir.Constant(_I64, kind.stride))
    lengths = _lengths(context, builder, sig.args[0], args[0])
    place, *indexes = [*first, last]
    for number, length in enumerate(lengths):
        place = builder.mul(place, length)
        if number < len(indexes):
            place = builder.add(place, indexes[number])
    pointer = builder.gep(_data(context, builder, sig.args[0], args[0]), [place])
    element = pointer.type.pointee
    alignment = min(8, element.width // 8) if isinstance(element, ir.IntType) else 8
    if isinstance(kind, (Index, Falling)) and not isinstance(element, ir.ArrayType):
        pointer = builder.bitcast(pointer, ir.VectorType(element, kind.width).as_pointer())
    return pointer, alignment


# ---- loads and stores


def _lanes_of(dtype, width):
    """The type that several neighbors are loaded as; number types other than float64 define it (see `pair`)."""
    return dtype.lanes(width) if hasattr(dtype, "lanes") else Lanes(width, "real")


@infer_global(operator.getitem)
class _Load(AbstractTemplate):
    """a[i] and rows[i, j]; rows[i] is a row."""

    def generic(self, args, kws):
        array, index = args
        kinds = _kinds(array, index) if isinstance(array, (Part, Grid)) else None
        if kinds is None:
            return None
        rest = array.lengths[len(kinds) - 1 :] if isinstance(array, Grid) else ()
        if rest:
            result = Part.of(array.dtype, rest[1:])
        elif kinds[-1] is types.int64:
            result = getattr(array.dtype, "scalar", array.dtype)
        else:
            result = _lanes_of(array.dtype, kinds[-1].width)
        return signature(result, array, _index_type(index, kinds))


@lower_builtin(operator.getitem, Part, types.Any)
@lower_builtin(operator.getitem, Grid, types.Any)
def _load(context, builder, sig, args):
    _, kind, first = _indexes(builder, sig.args[1], args[1])
    if isinstance(kind, Lanes):
        return _gather(context, builder, sig, args)
    pointer, alignment = _pointer(context, builder, sig, args)
    if isinstance(sig.return_type, (Part, Grid)):
        lengths = _lengths(context, builder, sig.args[0], args[0])[len(first) + 1 :]
        return grid_value(context, builder, sig.return_type, pointer, lengths)
    if hasattr(sig.args[0].dtype, "load"):
        return sig.args[0].dtype.load(builder, pointer, getattr(kind, "width", None))
    value = builder.load(pointer, align=alignment)
    return shuffle(builder, value, range(kind.width - 1, -1, -1)) if isinstance(kind, Falling) else value


def _gather(context, builder, sig, args):
    data, width = _data(context, builder, sig.args[0], args[0]), sig.args[1].width
    lanes = ir.Constant(ir.VectorType(_DOUBLE, width), ir.Undefined)
    for lane in range(width):
        number = ir.Constant(_I32, lane)
        element = builder.load(builder.gep(data, [builder.extract_element(args[1], number)]))
        lanes = builder.insert_element(lanes, element, number)
    return lanes


@infer_global(operator.setitem)
class _Store(AbstractTemplate):
    """a[i] = value and rows[i, j] = value; integers are cut to the array's size."""

    def generic(self, args, kws):
        array, index, _ = args
        kinds = _kinds(array, index) if isinstance(array, (Part, Grid)) else None
        if kinds is None or isinstance(kinds[-1], (Falling, Lanes)):
            return None
        stored = getattr(array.dtype, "scalar", array.dtype)
        if isinstance(kinds[-1], Index) and hasattr(array.dtype, "lanes"):
            stored = array.dtype.lanes(kinds[-1].width)
        elif isinstance(kinds[-1], Index):
            stored = Lanes(kinds[-1].width, "real" if isinstance(array.dtype, types.Float) else "integer")
        return signature(types.none, array, _index_type(index, kinds), stored)


@lower_builtin(operator.setitem, Part, types.Any, types.Any)
@lower_builtin(operator.setitem, Grid, types.Any, types.Any)
def _store(context, builder, sig, args):
    pointer, alignment = _pointer(context, builder, sig, args)
    value, kind = args[2], sig.args[1]
    if hasattr(sig.args[0].dtype, "store"):
        sig.args[0].dtype.store(builder, pointer, value, getattr(kind, "width", None))
        return context.get_dummy_value()
    if value.type != pointer.type.pointee:
        value = builder.trunc(value, pointer.type.pointee)
    builder.store(value, pointer, align=alignment)
    return context.get_dummy_value()
