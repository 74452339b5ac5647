"""NVRTC by ctypes: machine code without a driver or a device.  `python -m tests.cuda.nvrtc` prints a table."""

import ctypes
import importlib.util
import pathlib
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from mag._backends.cuda.sources import NVRTC_OPTIONS as OURS
from mag._backends.cuda.sources import macros, source
from mag.costs import COSTS
from mag.solvers._narrow import LARGEST_K

ARCHITECTURES = [75, 80, 90, 100, 120]
NVRTC_OPTIONS = (*OURS, "-ftz=true")  # which CuPy adds
_USE = re.compile(
    r"Compiling entry function '(\w+)' for 'sm_\w+'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
    r"(\d+) bytes spill loads.*?Used (\d+) registers([^\n]*)",
    re.S,
)


@dataclass(frozen=True)
class Use:
    """The resources of a multiprocessor that one kernel takes."""

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


def variants(every_k=False):
    """What is compiled on each architecture: every source for every cost, and where it matters for every type."""
    small = range(2, LARGEST_K + 1) if every_k else [3]
    chosen = [("narrow", {"cost": cost, "k": k}) for cost in COSTS for k in small]
    chosen += [(name, {"cost": cost}) for name in ("block", "blocks", "groups", "shares") for cost in COSTS]
    chosen += [(name, {"cost": "sse_weighted", "k": LARGEST_K}) for name in ("narrow", "block", "groups", "shares")]
    chosen += [("narrow", {"k": LARGEST_K}), ("narrow", {"k": 3, "real": "float"})]
    chosen += [("block", {"size": "u16", "shared": False}), ("block", {"real": "float"})]
    chosen += [(name, {}) for name in ("ending", "halving", "nearest", "records", "totals")]
    chosen += [("ending", {"real": "float"})]
    chosen += [("sort", {"key": key, "kind": "REAL"}) for key in (16, 32, 64)]
    chosen += [("sort", {"key": key, "kind": "SIGNED"}) for key in (8, 64)]
    chosen += [("buckets", {"key": key, "kind": kind}) for key in (32, 64) for kind in ("REAL", "SIGNED")]
    chosen += [("transpose", {"key": key}) for key in (8, 64)]
    return chosen + [(name, {"size": size}) for name in ("consecutive", "labels") for size in ("u8", "u16")]


def matrix(architectures, every_k=False):
    """(architecture, source, options) -> PTX and what each kernel takes; two compilers at a time."""
    cases = [(number, name, options) for name, options in variants(every_k) for number in architectures]

    def run(case):
        number, name, options = case
        return compiled(source(name), (*NVRTC_OPTIONS, *macros(name, **options)), number)

    with ThreadPoolExecutor(2) as pool:
        return list(zip(cases, pool.map(run, cases), strict=True))


def main():
    """Print the table of docs/guide/gpu_model.md: the most that a kernel takes.  `every_k` for all k."""
    rows = {}
    for (number, name, _), (_, uses) in matrix(ARCHITECTURES, every_k="every_k" in sys.argv):
        for kernel, use in uses.items():
            rows.setdefault((name, kernel), []).append((number, use))
    print("| source | kernel |", *(f"sm_{number} |" for number in ARCHITECTURES), "shared | stack | spilled |")
    print("|---|---|" + "---|" * (len(ARCHITECTURES) + 3))
    for (name, kernel), uses in sorted(rows.items()):
        registers = [max(use.registers for number, use in uses if number == n) for n in ARCHITECTURES]
        worst = [max(getattr(use, what) for _, use in uses) for what in ("shared", "stack", "spilled")]
        print(f"| {name} | `{kernel}` |", *(f"{most} |" for most in registers + worst))


if __name__ == "__main__":
    main()
