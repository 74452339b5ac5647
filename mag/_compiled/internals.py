"""Every use of numba beyond its documented interface: the one file to read before another numba is allowed.

`numba`, `numba.types` and `numba.extending` are documented, and imported where they are needed.  What is named here is
not, and may move or change with any release; pyproject.toml allows the releases that it was tested with.
"""

from numba.core import caching
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.cgutils import alloca_once, create_struct_proxy, get_or_insert_function, unpack_tuple
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.typing.templates import AbstractTemplate, infer_global, signature

# its name up to numba 0.61
InTreeCacheLocator = getattr(caching, "InTreeCacheLocator", None) or caching._InTreeCacheLocator

__all__ = [
    "AbstractTemplate",  # lanes, memory, wide: operators of our own types …
    "CompileResultCacheImpl",  # cache: where machine code is kept
    "Compiler",  # linking: functions that only compiled code calls
    "FunctionCache",  # cache
    "InTreeCacheLocator",  # cache
    "IndexDataCacheFile",  # cache
    "JITCodeLibrary",  # linking
    "alloca_once",  # work: numbers on the stack
    "create_struct_proxy",  # memory: values of several fields
    "get_or_insert_function",  # bits: LLVM's own functions
    "global_compiler_lock",  # cache: held while a process forks
    "infer_global",  # … and of which types they are
    "signature",
    "unpack_tuple",  # memory, work
]
