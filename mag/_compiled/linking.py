"""Functions that only compiled code calls: linked into those that Python calls, and optimized there, once.

Numba optimizes every function and turns it into machine code by itself, and again inside each function that calls it,
level by level, although only the outermost ones are ever run.  That takes half of the time.  `_Inner` stops at LLVM's
intermediate code, which holds all functions that it calls; `_Outer` is numba's way from there.

Numba has no option for this.  With a release that has not been tried, `INNER` and `OUTER` are empty: everything is
compiled as numba does it, to the same results.
"""

import ctypes
import gc

import numba

from mag._compiled.internals import Compiler, JITCodeLibrary
from mag._lib.notice import compiling

TRIED_NUMBA = (0, 61), (0, 68)

# Python's entry into an inner function: it takes the arguments of a compiled function's wrapper, and raises TypeError.
_REFUSE = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value


class _Nowhere:
    """Replaces the code generator: there is no machine code that needs the address of its environment."""

    def set_env(self, name, environment):
        pass


class _Intermediate(JITCodeLibrary):
    """LLVM's intermediate code of a function and of every function that it calls."""

    codegen = _Nowhere()

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalized = True

    def get_pointer_to_function(self, name):
        self._ensure_finalized()
        return _REFUSE


class _Inner(Compiler):
    """A compiler of functions that only compiled code calls."""

    def compile_extra(self, func):
        self.state.library = _Intermediate(self.state.targetctx.codegen(), func.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(func)


class _Outer(Compiler):
    """A compiler of functions that Python calls: it also gives inner functions the addresses of their environments.

    Numba makes millions of small objects, and nearly all of them stay: repeated garbage collection among them takes a
    tenth of the time of compiling.
    """

    def compile_extra(self, func):
        collects = gc.isenabled()
        gc.disable()
        try:
            with compiling(func.__module__):
                result = super().compile_extra(func)
        finally:
            if collects:
                gc.enable()
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
        return result


def call_inside(outer, inner):
    """Let compiled code that calls `outer` take `inner`, the same function for compiled code only."""
    if INNER:
        outer.get_call_template, outer.get_overload = inner.get_call_template, inner.get_overload


INNER, OUTER = {}, {}
if TRIED_NUMBA[0] <= numba.version_info.short <= TRIED_NUMBA[1]:
    INNER = {"no_cpython_wrapper": True, "pipeline_class": _Inner}
    OUTER = {"pipeline_class": _Outer}
