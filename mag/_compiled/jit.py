"""How the project compiles: numba's options, and machine code that is kept on disk."""

import numba

from mag._compiled.cache import Cache

OPTIONS = {"error_model": "numpy", "nogil": True, "boundscheck": False}
INLINE = {"jit_options": {"forceinline": True, **OPTIONS}}

called = numba.njit(**OPTIONS)  # part of its callers' cache entries; not copied into them, so they compile faster
inlined = numba.njit(forceinline=True, **OPTIONS)


def jit(function):
    """Compile when called, and keep the machine code on disk where that can be written."""
    compiled = numba.njit(**OPTIONS)(function)
    compiled._cache = Cache(function)
    return compiled
