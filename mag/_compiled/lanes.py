"""SIMD for compiled code: values that are several numbers at once.

`Lanes` are LLVM vectors: operators work lane by lane, and a scalar that meets lanes is spread over them.  What loads
or stores lanes is the *index*: `a[3]` is a scalar, `a[lanes_at(3, 4)]` are a[3] .. a[6] (see `memory`).  So a function
written with operators, indexes and `select` runs on scalars and on lanes alike.  Nothing is ever fused or reordered:
whatever the processor's own vectors are like, LLVM splits lanes to fit and the bits of every result are the same.
"""

import operator

from numba import types
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from mag._compiled.internals import AbstractTemplate, infer_global, ir, signature

_DOUBLE, _I1, _I32, _I64 = ir.DoubleType(), ir.IntType(1), ir.IntType(32), ir.IntType(64)
_ELEMENT = {"real": _DOUBLE, "integer": _I64, "boolean": _I1}
_SCALAR = {"real": types.float64, "integer": types.int64, "boolean": types.boolean}

# ---- types


class Lanes(types.Type):
    """`width` values of one kind: "real" (float64), "integer" (int64) or "boolean"."""

    def __init__(self, width, kind):
        self.width, self.kind = width, kind
        super().__init__(name=f"lanes<{width},{kind}>")


class Index(types.Type):
    """A position p whose lane m is element p·stride + m."""

    def __init__(self, width, stride):
        self.width, self.stride = width, stride
        super().__init__(name=f"index<{width},{stride}>")


class Falling(types.Type):
    """The integers s, s-1, s-2, …: sizes of groups with consecutive starts and one end."""

    def __init__(self, width):
        self.width = width
        super().__init__(name=f"falling<{width}>")


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.VectorType(_ELEMENT[fe_type.kind], fe_type.width))


@register_model(Index)
@register_model(Falling)
class _PositionModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _I64)


# ---- indexes


@intrinsic(prefer_literal=True)
def lanes_at(typing_context, position, width):
    """The index of `width` neighbors from `position` on."""
    return Index(width.literal_value, 1)(types.int64, width), _first


@intrinsic(prefer_literal=True)
def stripe_at(typing_context, position, width):
    """The index of the `width` elements that belong to `position` where every lane has a line of its own."""
    return Index(width.literal_value, width.literal_value)(types.int64, width), _first


@intrinsic
def neighbors(typing_context, index):
    """An index from `stripe_at` as one from `lanes_at`; any other as it is."""
    if isinstance(index, Lanes):
        return index(index), _first
    result = Index(index.width, 1) if isinstance(index, Index) else types.int64
    return result(index if isinstance(index, Index) else types.int64), _first


@intrinsic(prefer_literal=True)
def falling(typing_context, largest, width):
    """The integers largest, largest-1, …"""
    return Falling(width.literal_value)(types.int64, width), _first


def _first(context, builder, sig, args):
    return args[0]


def _index_operator(op, instruction):
    """Teach numba `index op integer`."""

    @infer_global(op)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            if len(args) == 2 and isinstance(args[0], Index) and isinstance(args[1], types.Integer):
                return signature(args[0], args[0], types.int64)
            return None

    @lower_builtin(op, Index, types.Integer)
    def _lower(context, builder, sig, args):
        return getattr(builder, instruction)(*args)


_index_operator(operator.add, "add")
_index_operator(operator.sub, "sub")


# ---- lanes


def shuffle(builder, lanes, picks):
    picks = list(picks)
    undefined = ir.Constant(lanes.type, ir.Undefined)
    return builder.shuffle_vector(lanes, undefined, ir.Constant(ir.VectorType(_I32, len(picks)), picks))


def spread_value(builder, value, width):
    """The same scalar in every lane."""
    undefined = ir.Constant(ir.VectorType(value.type, width), ir.Undefined)
    return shuffle(builder, builder.insert_element(undefined, value, ir.Constant(_I32, 0)), [0] * width)


def _ramp(builder, start, width, step):
    """start, start + step, …"""
    steps = ir.Constant(ir.VectorType(_I64, width), [step * lane for lane in range(width)])
    return builder.add(spread_value(builder, start, width), steps)


@intrinsic(prefer_literal=True)
def spread(typing_context, value, width):
    """The same scalar in every lane."""
    kind, lanes = ("integer" if isinstance(value, types.Integer) else "real"), width.literal_value
    return Lanes(lanes, kind)(_SCALAR[kind], width), lambda context, builder, sig, args: spread_value(
        builder, args[0], lanes
    )


@lower_cast(types.Number, Lanes)
def _cast_scalar(context, builder, from_type, to_type, value):
    return spread_value(builder, context.cast(builder, value, from_type, _SCALAR[to_type.kind]), to_type.width)


@lower_cast(Falling, Lanes)
def _cast_falling(context, builder, from_type, to_type, value):
    return builder.sitofp(_ramp(builder, value, from_type.width, -1), ir.VectorType(_DOUBLE, to_type.width))


@lower_cast(Index, Lanes)
def _cast_index(context, builder, from_type, to_type, value):
    return _ramp(builder, value, from_type.width, 1)


def _operator(op, real, integer=None, result=None, in_place=None):
    """Teach numba `lanes op lanes`, where one of the two may be a scalar, a falling size or an index."""

    @infer_global(op)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            # real lanes stand for falling sizes, so that a scalar times a size is lanes, too
            args = [Lanes(a.width, "real") if isinstance(a, Falling) else a for a in args]
            lanes = next((a for a in args if isinstance(a, Lanes)), None)
            if lanes is None or len(args) != 2:
                return None
            others = (Lanes, types.Number) if lanes.kind == "real" else (Lanes, types.Integer, Index)
            if not all(isinstance(a, others) for a in args):
                return None
            return signature(Lanes(lanes.width, result or lanes.kind), lanes, lanes)

    if in_place:  # numba lowers `a += b` of what cannot change as `a = a + b`
        infer_global(in_place)(_Typing)

    @lower_builtin(op, Lanes, Lanes)
    def _lower(context, builder, sig, args):
        return (real if sig.args[0].kind == "real" else integer)(builder, *args)


_operator(operator.add, lambda b, x, y: b.fadd(x, y), lambda b, x, y: b.add(x, y), in_place=operator.iadd)
_operator(operator.sub, lambda b, x, y: b.fsub(x, y), lambda b, x, y: b.sub(x, y), in_place=operator.isub)
_operator(operator.mul, lambda b, x, y: b.fmul(x, y), lambda b, x, y: b.mul(x, y), in_place=operator.imul)
_operator(operator.truediv, lambda b, x, y: b.fdiv(x, y))
for _op, _name in ((operator.lt, "<"), (operator.le, "<="), (operator.eq, "=="), (operator.gt, ">")):
    _operator(
        _op,
        lambda b, x, y, name=_name: b.fcmp_ordered(name, x, y),
        lambda b, x, y, name=_name: b.icmp_signed(name, x, y),
        result="boolean",
    )


@infer_global(operator.neg)
class _LanesNegation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if isinstance(args[0], Lanes) else None


@lower_builtin(operator.neg, Lanes)
def _negate(context, builder, sig, args):
    return builder.fneg(args[0])


@infer_global(operator.rshift)
class _Halving(AbstractTemplate):
    def generic(self, args, kws):
        if isinstance(args[0], Falling) or (isinstance(args[0], Lanes) and args[0].kind == "integer"):
            return signature(Lanes(args[0].width, "integer"), args[0], types.int64)
        return None


@lower_builtin(operator.rshift, Lanes, types.Integer)
def _shift(context, builder, sig, args):
    return builder.ashr(args[0], spread_value(builder, args[1], sig.args[0].width))


@lower_builtin(operator.rshift, Falling, types.Integer)
def _halve(context, builder, sig, args):
    width = sig.args[0].width
    return builder.ashr(_ramp(builder, args[0], width, -1), spread_value(builder, args[1], width))


@intrinsic
def select(typing_context, condition, a, b):
    """a where the condition holds, else b."""
    result = b if isinstance(b, Lanes) else a
    own = getattr(result, "select", None)  # lanes of numbers that are no float64 know how to do it
    return result(
        condition, result, result
    ), lambda context, builder, sig, args: own(builder, *args) if own else builder.select(*args)


@intrinsic
def last_lane(typing_context, lanes):
    """The last lane as a scalar."""
    number = ir.Constant(_I32, lanes.width - 1)
    return _SCALAR[lanes.kind](lanes), lambda context, builder, sig, args: builder.extract_element(args[0], number)


@intrinsic(prefer_literal=True)
def spread_lane(typing_context, lanes, number):
    """Lane `number` in every lane; -1 is the last."""
    picks = [number.literal_value % lanes.width] * lanes.width
    pick = getattr(lanes, "shuffle", shuffle)
    return lanes(lanes, number), lambda context, builder, sig, args: pick(builder, args[0], picks)


@intrinsic
def least_lane(typing_context, lanes):
    """The smallest lane as a scalar."""
    if not isinstance(lanes, Lanes):
        real = Lanes(lanes.width, "real")
        return types.float64(lanes), lambda c, builder, sig, args: _reduced(
            builder, real, lanes.approximate(builder, args[0]), "<"
        )
    return _SCALAR[lanes.kind](lanes), lambda c, builder, sig, args: _reduced(builder, sig.args[0], args[0], "<")


@intrinsic
def is_least(typing_context, lanes):
    """Which lanes equal the smallest."""

    def codegen(context, builder, sig, args):
        if not isinstance(lanes, Lanes):
            return lanes.is_least(builder, args[0])
        least = spread_value(builder, _reduced(builder, lanes, args[0], "<"), lanes.width)
        return builder.fcmp_ordered("==", args[0], least)

    return Lanes(lanes.width, "boolean")(lanes), codegen


@intrinsic
def largest_lane(typing_context, lanes):
    """The largest lane as a scalar."""
    return _SCALAR[lanes.kind](lanes), lambda c, builder, sig, args: _reduced(builder, sig.args[0], args[0], ">")


def _reduced(builder, lanes_type, lanes, comparison):
    """Halve the lanes until one is left."""
    width = lanes_type.width
    compare = builder.fcmp_ordered if lanes_type.kind == "real" else builder.icmp_signed
    while width > 1:
        width //= 2
        low, high = shuffle(builder, lanes, range(width)), shuffle(builder, lanes, range(width, 2 * width))
        lanes = builder.select(compare(comparison, high, low), high, low)
    return builder.extract_element(lanes, ir.Constant(_I32, 0))


@intrinsic(prefer_literal=True)
def cumulative(typing_context, lanes, direction):
    """Running sums over the lanes, from the first lane up (direction 1) or from the last lane down (-1)."""
    up = direction.literal_value > 0

    def codegen(context, builder, sig, args):
        if not isinstance(lanes, Lanes):
            return lanes.cumulative(builder, args[0], up)
        return running_sums(
            args[0],
            lanes.width,
            up,
            builder.fadd,
            lambda value, picks: shuffle(builder, value, picks),
            builder.select,
        )

    return lanes(lanes, direction), codegen


def running_sums(value, width, up, add, shuffle, select):
    """Sum runs of lanes, twice as long each time; the later of two runs gets the total of the earlier one."""
    run = 1
    while run < width:
        middles = [lane // (2 * run) * 2 * run + run for lane in range(width)]
        moved = add(value, shuffle(value, [middle - up for middle in middles]))
        later = [(lane >= middle) == up for lane, middle in enumerate(middles)]
        value = select(ir.Constant(ir.VectorType(_I1, width), later), moved, value)
        run *= 2
    return value
