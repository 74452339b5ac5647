"""Raw memory for compiled code: bare pointers into arrays, loads and stores without bounds or wrap-around.

Arrays inside tuples cost reference counting on every pass, so compiled code hands around `part(array, offset)`.
The array itself must be an argument of the outermost compiled function, which keeps it alive.
"""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model


class Part(types.Type):
    """A pointer to elements of one type."""

    def __init__(self, dtype):
        self.dtype = dtype
        super().__init__(name=f"part<{dtype}>")


@register_model(Part)
class _PartModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, dmm.lookup(fe_type.dtype).get_data_type().as_pointer())


def _data(context, builder, array_type, array):
    return array if isinstance(array_type, Part) else context.make_array(array_type)(context, builder, array).data


@intrinsic
def part(typing_context, array, offset):
    """The array, or part, from element `offset` on."""

    def codegen(context, builder, signature, args):
        return builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])

    return Part(array.dtype)(array, types.int64), codegen


def part_of(dtype):
    """An intrinsic `f(array, offset)`: the memory of a float64 array from element `offset` on, as another dtype."""

    @intrinsic
    def recast(typing_context, array, offset):
        result = Part(dtype)

        def codegen(context, builder, signature, args):
            pointer = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
            return builder.bitcast(pointer, context.get_value_type(result))

        return result(array, types.int64), codegen

    return recast


@intrinsic
def at(typing_context, array, index):
    """array[index], a raw load."""

    def codegen(context, builder, signature, args):
        pointer = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        return builder.load(pointer, align=min(8, _bytes(pointer)))

    return array.dtype(array, types.int64), codegen


@intrinsic
def put(typing_context, array, index, value):
    """array[index] = value, a raw store."""

    def codegen(context, builder, signature, args):
        pointer = builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]])
        builder.store(args[2], pointer, align=min(8, _bytes(pointer)))
        return context.get_dummy_value()

    return types.void(array, types.int64, array.dtype), codegen


def _bytes(pointer):
    element = pointer.type.pointee
    return element.width // 8 if isinstance(element, ir.IntType) else 8
