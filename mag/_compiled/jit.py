"""How the project compiles: numba's options, and machine code that is kept on disk."""

import numba

from mag._compiled.cache import Cache
from mag._compiled.linking import INNER, OUTER, call_inside

JIT_OPTIONS = {"error_model": "numpy", "nogil": True, "boundscheck": False, "no_cfunc_wrapper": True}
INLINE = {"jit_options": {"forceinline": True, **JIT_OPTIONS, **INNER}}

# Parts of their callers' machine code; `called` is not copied into every call, so callers compile faster.
called = numba.njit(**JIT_OPTIONS, **INNER)
inlined = numba.njit(forceinline=True, **JIT_OPTIONS, **INNER)

uncached = numba.njit(**JIT_OPTIONS, **OUTER)


def folder_of(compiled):
    """Where the machine code of a function is kept."""
    return compiled._cache.cache_path


def jit(function):
    """Compile when called, and keep the machine code on disk if a folder can be written."""
    compiled = uncached(function)
    compiled._cache = Cache(function)
    call_inside(compiled, called(function))
    return compiled
