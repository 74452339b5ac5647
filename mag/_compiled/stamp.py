"""A digest of everything that a compiled function contains: an edit recompiles only functions that contain it.

Numba checks the file of the function alone, and would continue to use machine code that holds an older version of a
function in another file.  Here the code of a function determines its stamp: the global names that it
uses, their code and their values in turn.  Overloads and intrinsics are registered rather than named, so a module that
has any counts as a whole, with its imports except `mag._lib`, which is never compiled; and a solver contains every
cost. `a[i]` names nothing, so `memory` and `lanes` count for every function.
"""

import hashlib
import importlib
import pathlib
import pkgutil
import sys
import types

import numpy as np

from mag._compiled import memory

PLAIN = "mag._lib"
COSTS_PACKAGE = "mag.costs"


def stamp(function):
    """A digest of everything that is compiled into a Python function."""
    pieces: dict[object, str] = {}
    _add_module(memory, pieces)
    _name_function(function, pieces)
    return hashlib.sha256("\n".join(sorted(pieces.values())).encode()).hexdigest()


def _name(value, pieces):
    """A string that identifies a global used in compiled code; its dependencies are added to `pieces`."""
    if hasattr(value, "py_func"):
        return _name_function(value.py_func, pieces)
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, type) and hasattr(value, "_fields"):
        return f"{value.__name__} {value._fields}"
    if isinstance(value, (tuple, frozenset)):
        parts = [_name(part, pieces) for part in value]
        return f"({', '.join(parts if isinstance(value, tuple) else sorted(parts))})"
    if (home := _home(value)).startswith("mag."):
        _add_module(sys.modules[home], pieces)
        return home
    return repr(value) if isinstance(value, (bool, int, float, complex, str, bytes, np.generic)) else home


def _name_function(function, pieces):
    """The code of a function, and the values of its global names and cells."""
    name = f"{function.__module__}.{function.__qualname__}"
    if function in pieces:
        return name
    pieces[function] = ""  # it may call itself
    names, text = set(), []
    for code in _codes(function.__code__):
        names.update(code.co_names)
        constants = [_name(c, pieces) for c in code.co_consts if not isinstance(c, types.CodeType)]
        text.append(f"{code.co_qualname} {code.co_code.hex()} {code.co_names} {code.co_varnames} {constants}")
    known = {one: function.__globals__[one] for one in names if one in function.__globals__}
    known |= {f"cell {i}": cell.cell_contents for i, cell in enumerate(function.__closure__ or ())}
    known |= {f"default {i}": value for i, value in enumerate(function.__defaults__ or ())}
    for one in sorted(known):
        value = known[one]
        inside = names if isinstance(value, types.ModuleType) and value.__name__.startswith("mag.") else ()
        used = {part: getattr(value, part) for part in sorted(inside) if hasattr(value, part)}
        text += [f"{one}.{part} = {_name(used[part], pieces)}" for part in used]
        if not isinstance(value, types.ModuleType):
            text.append(f"{one} = {_name(value, pieces)}")
    pieces[function] = "\n".join(text)
    return name


def _add_module(module, pieces):
    """The whole source of a module, and of the modules that it imports from."""
    if module.__name__ in pieces or module.__name__.startswith(PLAIN):
        return
    pieces[module.__name__] = pathlib.Path(module.__file__).read_text()
    for value in list(vars(module).values()):
        if hasattr(value, "py_func"):
            _name(value, pieces)
        elif (home := _home(value)).startswith("mag.") and home != module.__name__:
            _add_module(sys.modules[home], pieces)
    if module.__name__ == "mag._compiled.cost":  # its tags may refer to any of them
        for entry in pkgutil.iter_modules(importlib.import_module(COSTS_PACKAGE).__path__, f"{COSTS_PACKAGE}."):
            _add_module(importlib.import_module(entry.name), pieces)


def _home(value):
    """The name of the module that a value stems from, if known."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    return getattr(getattr(value, "_defn", value), "__module__", None) or ""


def _codes(code):
    """A function's code, and that of the functions inside."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
