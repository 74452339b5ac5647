"""Calls by address: the caller is compiled once for all costs and k."""

import numba
from numba import types
from numba.extending import intrinsic

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

    The cost is a tag, which takes no memory; so is k if sizes are bytes, see `solvers.block`.
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
