"""NVRTC by ctypes: CUDA C++ to machine code without a driver or a device."""

import ctypes
import importlib.util
import pathlib
import re
from dataclasses import dataclass
from functools import cache

ARCHITECTURES = [75, 80, 90, 100, 120]
_USE = re.compile(
    r"Compiling entry function '(\w+)' for 'sm_\w+'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads.*?Used (\d+) registers([^\n]*)",
    re.S,
)


@dataclass(frozen=True)
class Use:
    """What one kernel takes of a multiprocessor."""

    registers: int
    shared: int
    stack: int
    spilled: int


@cache
def library():
    spec = importlib.util.find_spec("nvidia")
    for root in spec.submodule_search_locations if spec else ():
        for path in sorted(pathlib.Path(root).glob("*/lib/libnvrtc.so.*")):
            if "builtins" not in path.name:
                loaded = ctypes.CDLL(str(path))
                loaded.nvrtcGetErrorString.restype = ctypes.c_char_p
                return loaded
    raise RuntimeError("NVRTC was not found: pip install nvidia-cuda-nvrtc-cu12.")


def _checked(status):
    if status:
        raise RuntimeError(library().nvrtcGetErrorString(status).decode())


def _text(program, what):
    size = ctypes.c_size_t()
    _checked(getattr(library(), f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _checked(getattr(library(), f"nvrtcGet{what}")(program, buffer))
    return buffer.raw


def compiled(source, options, architecture):
    """The PTX and, by kernel, what it takes."""
    program, options = ctypes.c_void_p(), [*options, f"--gpu-architecture=sm_{architecture}", "--ptxas-options=-v"]
    _checked(library().nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None))
    try:
        given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        failed = library().nvrtcCompileProgram(program, len(options), given)
        log = _text(program, "ProgramLog").rstrip(b"\0").decode()
        if failed:
            raise RuntimeError(log)
        uses = {}
        for name, stack, stores, loads, registers, rest in _USE.findall(log):
            shared = re.search(r"(\d+) bytes smem", rest)
            uses[name] = Use(int(registers), int(shared[1]) if shared else 0, int(stack), int(stores) + int(loads))
        return _text(program, "PTX").rstrip(b"\0").decode(), uses
    finally:
        library().nvrtcDestroyProgram(ctypes.byref(program))
