"""Integers below 2¹⁰³ in SIMD lanes: a pair of float64 each, of which the first is the sum rounded (Dekker 1971).

All numbers on the way are integers.  The second number of a pair is at most half a unit in the last place of the first,
2⁵⁰, so that the sum of two of them and of what rounding takes from the sum of the first numbers is below 2⁵³: exact.
Products of two float64 are exact by a fused multiplication; where the processor has none, that takes a call.  Pairs are
unique, so that comparing the first numbers, then the second ones, compares the sums.

A `DoubleDouble` has lanes.  In memory pairs lie one after the other, 16 bytes each; an index without lanes loads the
first number alone.
"""

import operator

from numba import types
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from mag._compiled.internals import AbstractTemplate, get_or_insert_function, infer_global, ir, signature
from mag._compiled.lanes import Lanes, running_sums, shuffle, spread_value
from mag._compiled.memory import part_of

_DOUBLE, _I32 = ir.DoubleType(), ir.IntType(32)


class DoubleDouble(types.Type):
    """`width` pairs."""

    def __init__(self, width):
        self.width = width
        super().__init__(name=f"pair<{width}>")

    # ---- what functions of lanes ask for

    def select(self, builder, condition, a, b):
        """The pairs of a where the condition holds, else those of b."""
        halves = zip(_both(builder, a), _both(builder, b), strict=True)
        return _packed(builder, *(builder.select(condition, x, y) for x, y in halves))

    def shuffle(self, builder, value, picks):
        """Pairs by their numbers."""
        return _packed(builder, *(shuffle(builder, x, picks) for x in _both(builder, value)))

    def cumulative(self, builder, value, up):
        """Running sums."""
        return running_sums(
            value,
            self.width,
            up,
            lambda x, y: _add(builder, x, y),
            lambda x, picks: self.shuffle(builder, x, picks),
            lambda condition, x, y: self.select(builder, condition, x, y),
        )

    def approximate(self, builder, value):
        """The first numbers, as real lanes."""
        return _both(builder, value)[0]

    def is_least(self, builder, value):
        """Which pairs equal the least."""
        least, run = value, 1
        while run < self.width:
            other = self.shuffle(builder, least, [lane ^ run for lane in range(self.width)])
            least = self.select(builder, _less(builder, other, least, "<"), other, least)
            run *= 2
        return _equal(builder, value, least)


class PairNumber(types.Type):
    """A pair in memory."""

    def __init__(self):
        super().__init__(name="pair")

    def lanes(self, width):
        """What is loaded and stored by an index with lanes."""
        return DoubleDouble(width)

    scalar = types.float64  # what is loaded and stored by others

    def load(self, builder, pointer, width):
        """Pairs from neighbors, or the first number of one."""
        if width is None:
            return builder.load(builder.bitcast(pointer, _DOUBLE.as_pointer()), align=8)
        both = builder.load(builder.bitcast(pointer, ir.VectorType(_DOUBLE, 2 * width).as_pointer()), align=8)
        return _packed(builder, *(shuffle(builder, both, range(first, 2 * width, 2)) for first in range(2)))

    def store(self, builder, pointer, value, width):
        """Pairs to neighbors, or one number."""
        if width is None:
            two = builder.bitcast(pointer, _DOUBLE.as_pointer())
            builder.store(value, two, align=8)
            builder.store(ir.Constant(_DOUBLE, 0.0), builder.gep(two, [ir.Constant(_I32, 1)]), align=8)
            return
        picks = ir.Constant(ir.VectorType(_I32, 2 * width), [i // 2 + i % 2 * width for i in range(2 * width)])
        both = builder.shuffle_vector(*_both(builder, value), picks)
        builder.store(both, builder.bitcast(pointer, both.type.as_pointer()), align=8)


pair = PairNumber()
as_pairs = part_of(pair)


@register_model(PairNumber)
class _NumberModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.ArrayType(_DOUBLE, 2))


@register_model(DoubleDouble)
class _PairModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, ir.LiteralStructType([ir.VectorType(_DOUBLE, fe_type.width)] * 2))


def _both(builder, value):
    return builder.extract_value(value, 0), builder.extract_value(value, 1)


def _packed(builder, high, low):
    value = ir.Constant(ir.LiteralStructType([high.type, low.type]), ir.Undefined)
    return builder.insert_value(builder.insert_value(value, high, 0), low, 1)


def _sum_of(builder, a, b):
    """a + b, and what rounding has taken from it."""
    total = builder.fadd(a, b)
    back = builder.fsub(total, a)
    lost = builder.fadd(builder.fsub(a, builder.fsub(total, back)), builder.fsub(b, back))
    return total, lost


def _normal(builder, high, low):
    """The same sum as a pair, where the first number is the larger one, or both are below 2⁵²."""
    total = builder.fadd(high, low)
    return total, builder.fsub(low, builder.fsub(total, high))


def _add(builder, a, b):
    (a_high, a_low), (b_high, b_low) = _both(builder, a), _both(builder, b)
    high, lost = _sum_of(builder, a_high, b_high)
    return _packed(builder, *_normal(builder, high, builder.fadd(lost, builder.fadd(a_low, b_low))))


def _negated(builder, a):
    return _packed(builder, *(builder.fneg(x) for x in _both(builder, a)))


def _less(builder, a, b, last):
    """Whether a is below b; `last` compares the second numbers."""
    (a_high, a_low), (b_high, b_low) = _both(builder, a), _both(builder, b)
    below = builder.fcmp_ordered("<", a_high, b_high)
    same = builder.fcmp_ordered("==", a_high, b_high)
    return builder.or_(below, builder.and_(same, builder.fcmp_ordered(last, a_low, b_low)))


def _equal(builder, a, b):
    high, low = (builder.fcmp_ordered("==", x, y) for x, y in zip(_both(builder, a), _both(builder, b), strict=True))
    return builder.and_(high, low)


@lower_cast(Lanes, DoubleDouble)
def _cast_lanes(context, builder, from_type, to_type, value):
    return _packed(builder, value, ir.Constant(value.type, [0.0] * to_type.width))


@lower_cast(types.Float, DoubleDouble)
def _cast_scalar(context, builder, from_type, to_type, value):
    return _cast_lanes(context, builder, None, to_type, spread_value(builder, value, to_type.width))


def _operator(op, instruction, boolean=False):
    """Teach numba `pair op pair`, where one of them may be lanes or a float64."""

    @infer_global(op)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            both = next((a for a in args if isinstance(a, DoubleDouble)), None)
            if (
                both is None
                or len(args) != 2
                or not all(isinstance(a, (DoubleDouble, Lanes, types.Float)) for a in args)
            ):
                return None
            return signature(Lanes(both.width, "boolean") if boolean else both, both, both)

    @lower_builtin(op, DoubleDouble, DoubleDouble)
    def _lower(context, builder, sig, args):
        return instruction(builder, *args)


_operator(operator.add, _add)
_operator(operator.sub, lambda b, x, y: _add(b, x, _negated(b, y)))
_operator(operator.lt, lambda b, x, y: _less(b, x, y, "<"), boolean=True)
_operator(operator.le, lambda b, x, y: _less(b, x, y, "<="), boolean=True)
_operator(operator.eq, _equal, boolean=True)


@infer_global(operator.neg)
class _DoubleNegation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(args[0], args[0]) if isinstance(args[0], DoubleDouble) else None


@lower_builtin(operator.neg, DoubleDouble)
def _negate(context, builder, sig, args):
    return _negated(builder, args[0])


@intrinsic
def to_pair(typing_context, lanes):
    """Real lanes as pairs."""
    return DoubleDouble(lanes.width)(lanes), lambda context, builder, sig, args: _cast_lanes(
        context, builder, None, sig.return_type, args[0]
    )


@intrinsic
def product(typing_context, a, b):
    """a·b of real lanes, exact."""

    def codegen(context, builder, sig, args):
        x, y = args
        kind = ir.FunctionType(x.type, [x.type] * 3)
        fused = get_or_insert_function(builder.module, kind, f"llvm.fma.v{sig.args[0].width}f64")
        high = builder.fmul(x, y)
        return _packed(builder, high, builder.call(fused, [x, y, builder.fneg(high)]))

    return DoubleDouble(a.width)(a, a), codegen
