"""Every use of numba beyond its documented interface: the one file to read before another numba is allowed.

`numba`, `numba.types` and `numba.extending` are documented, and imported where they are needed.  The names here are
not, and may move or change with any release, and llvmlite changes with numba; pyproject.toml allows the releases that
the tests ran with.
"""

from llvmlite import binding, ir
from numba.core import caching
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.cgutils import alloca_once, create_struct_proxy, get_or_insert_function, unpack_tuple
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

# their names up to numba 0.61
InTreeCacheLocator = getattr(caching, "InTreeCacheLocator", None) or caching._InTreeCacheLocator
UserWideCacheLocator = getattr(caching, "UserWideCacheLocator", None) or caching._UserWideCacheLocator

__all__ = [
    "AbstractTemplate",  # lanes, memory, wide: operators of our own types …
    "CompileResultCacheImpl",  # cache: where machine code is kept
    "Compiler",  # linking: functions that only compiled code calls
    "FunctionCache",  # cache
    "InTreeCacheLocator",  # cache
    "IndexDataCacheFile",  # cache
    "JITCodeLibrary",  # linking
    "UserWideCacheLocator",  # cache
    "alloca_once",  # work: numbers on the stack
    "binding",  # features of the processor, for `mag info`
    "create_struct_proxy",  # memory: values of several fields
    "get_or_insert_function",  # bits: LLVM's own functions
    "global_compiler_lock",  # cache: held while a process forks
    "infer_global",  # … and their types
    "ir",  # LLVM's intermediate code
    "signature",
    "unpack_tuple",  # memory, work
]

ATTRIBUTES = {  # of numba's own objects, and the files of mag that use them
    "_cache": ["_compiled/jit.py"],  # of a function: numba has no other way to a cache of one's own
    "_find_referenced_environments": ["_compiled/linking.py"],  # of the result of a compilation
    "call_conv": ["_compiled/calls.py"],  # how compiled functions are called
    "fndesc": ["_compiled/calls.py"],
    "get_call_template": ["_compiled/linking.py"],  # compiled code asks a function for its template …
    "get_overload": ["_compiled/linking.py"],  # … and calls
    "make_array": ["_compiled/memory.py", "_compiled/work.py"],  # where the elements of an array are
    "make_tuple": ["_compiled/work.py", "solvers/_narrow.py"],
    "overloads": ["_compiled/calls.py"],  # of a function: its compiled versions
    "targetctx": ["_compiled/linking.py"],
}
