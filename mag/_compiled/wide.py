"""Integers of 256 bits for compiled code, so that squares and sums of any 64-bit integers never overflow.

A difference of 64-bit integers has 65 bits, its square 130, a sum of up to 2³² of them 162.
"""

import operator

from numba import types
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

from mag._compiled.internals import AbstractTemplate, infer_global, ir, signature

BITS = 256  # a size that takes exactly that much memory everywhere
WORDS = BITS // 64
_INT = ir.IntType(BITS)
_WORD = ir.IntType(64)


class Wide(types.Type):
    """A signed integer of 256 bits."""

    def __init__(self):
        super().__init__(name="wide")


wide = Wide()


@register_model(Wide)
class _WideModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _INT)


@lower_cast(types.Integer, Wide)
def _cast(context, builder, from_type, to_type, value):
    return (builder.sext if from_type.signed else builder.zext)(value, _INT)


def _operator(op, instruction, result=wide, in_place=None):
    """Teach numba `wide op wide` and `wide op integer`."""

    @infer_global(op)
    class _Typing(AbstractTemplate):
        def generic(self, args, kws):
            fits = len(args) == 2 and all(isinstance(a, (Wide, types.Integer)) for a in args)
            return signature(result, wide, wide) if fits and wide in args else None

    if in_place:  # numba lowers `a += b` of immutable values as `a = a + b`
        infer_global(in_place)(_Typing)

    @lower_builtin(op, Wide, Wide)
    def _lower(context, builder, sig, args):
        return instruction(builder, *args)


_operator(operator.add, lambda b, x, y: b.add(x, y), in_place=operator.iadd)
_operator(operator.sub, lambda b, x, y: b.sub(x, y), in_place=operator.isub)
_operator(operator.mul, lambda b, x, y: b.mul(x, y), in_place=operator.imul)
_operator(operator.lt, lambda b, x, y: b.icmp_signed("<", x, y), types.boolean)
_operator(operator.le, lambda b, x, y: b.icmp_signed("<=", x, y), types.boolean)


@infer_global(operator.neg)
class _WideNegation(AbstractTemplate):
    def generic(self, args, kws):
        return signature(wide, wide) if isinstance(args[0], Wide) else None


@lower_builtin(operator.neg, Wide)
def _negate(context, builder, sig, args):
    return builder.neg(args[0])


@intrinsic
def to_wide(typing_context, value):
    """A 64-bit integer as a wide one."""
    extend = "sext" if value.signed else "zext"
    return wide(value), lambda context, builder, sig, args: getattr(builder, extend)(args[0], _INT)


@intrinsic
def to_float(typing_context, value):
    """A wide integer as float64, to about 52 bits."""

    def codegen(context, builder, sig, args):
        double = ir.DoubleType()
        result = ir.Constant(double, 0.0)
        for number in range(WORDS):
            bits = builder.trunc(builder.lshr(args[0], ir.Constant(_INT, 64 * number)), _WORD)
            convert = builder.sitofp if number == WORDS - 1 else builder.uitofp
            result = builder.fadd(
                result, builder.fmul(convert(bits, double), ir.Constant(double, 2.0 ** (64 * number)))
            )
        return result

    return types.float64(value), codegen


@intrinsic
def nearest_quotient(typing_context, total, size):
    """floor(total/size + 1/2) for |total| < 2¹²⁶ and 0 < size < 2³¹, by long division in digits of 32 bits."""

    def codegen(context, builder, sig, args):
        total, size = args
        wide_size = builder.zext(size, _INT)
        doubled = builder.add(builder.shl(total, ir.Constant(_INT, 1)), wide_size)  # 2·total + size
        divisor = builder.shl(size, ir.Constant(_WORD, 1))  # 2·size < 2³²
        negative = builder.icmp_signed("<", doubled, ir.Constant(_INT, 0))
        magnitude = builder.select(negative, builder.neg(doubled), doubled)
        quotient, rest = ir.Constant(_INT, 0), ir.Constant(_WORD, 0)
        for digit in range(3, -1, -1):
            bits = builder.trunc(builder.lshr(magnitude, ir.Constant(_INT, 32 * digit)), ir.IntType(32))
            rest = builder.or_(builder.shl(rest, ir.Constant(_WORD, 32)), builder.zext(bits, _WORD))
            part = builder.zext(builder.udiv(rest, divisor), _INT)
            rest = builder.urem(rest, divisor)
            quotient = builder.or_(quotient, builder.shl(part, ir.Constant(_INT, 32 * digit)))
        # rounding down: a negative quotient with a remainder is one lower
        lower = builder.zext(builder.icmp_unsigned("!=", rest, ir.Constant(_WORD, 0)), _INT)
        return builder.select(negative, builder.neg(builder.add(quotient, lower)), quotient)

    return wide(wide, types.int64), codegen
