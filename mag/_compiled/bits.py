"""Bits of numbers, and cache lines, for compiled code."""

from numba import types
from numba.extending import intrinsic

from mag._compiled.internals import get_or_insert_function, ir


@intrinsic
def recast(typing_context, number, like):
    """The bits of a number as a number of the other's type."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], args[1].type)

    return like(number, like), codegen


@intrinsic
def width(typing_context, number):
    """How many bits an unsigned number takes."""

    def codegen(context, builder, signature, args):
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, False))
        return builder.sub(context.get_constant(types.int64, 64), zeros)

    return types.int64(types.uint64), codegen


@intrinsic
def ahead(typing_context, part, index):
    """Fetch the cache line of part[index], to be written soon."""

    def codegen(context, builder, signature, args):
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        prefetch = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        pointer = builder.bitcast(builder.gep(args[0], [args[1]]), byte)
        builder.call(prefetch, [pointer, integer(1), integer(3), integer(1)])  # to write, to all levels, data
        return context.get_dummy_value()

    return types.void(part, types.int64), codegen
