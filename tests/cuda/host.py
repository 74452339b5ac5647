"""CuPy's RawModule on the host: the same source, compiled by a C++ compiler, on NumPy arrays."""

import ctypes
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache

import numpy as np

HEADER = pathlib.Path(__file__).with_name("host.h")
CACHE = pathlib.Path(tempfile.gettempdir()) / f"mag-host-kernels-{os.getuid()}"
ORDERS = ["forward", "reverse", "random"]
FLAGS = ["-std=c++17", "-O2", "-g1", "-fPIC", "-shared", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]
FLAGS += ["-Wno-unknown-pragmas", "-Wno-unused-parameter", "-Wno-unused-function"]
FLAGS += ["-Wl,-Bsymbolic"]  # a kernel may be called like a function of the C library

_KERNEL = re.compile(r'extern "C" __global__ void\s+(?:__launch_bounds__\([\d, ]+\)\s*)?(\w+)\(')
_DYNAMIC = re.compile(r"extern __shared__ (\w+) (\w+)\[\];")
_KINDS = {"i": 1, "u": 1, "f": 2}


class HostModule:
    """Takes what cupy.RawModule takes; `order` and `seed` say how threads take turns, `sanitize` what is checked."""

    order, seed, sanitize = "forward", 1, None

    def __init__(self, *, code, options=()):
        self.names = _KERNEL.findall(code)
        # Line numbers stay those of the source, so that errors can be found.
        body = _DYNAMIC.sub(r"\1* \2 = (\1*)host::dynamic;", code)
        source = body + "\n" + "\n".join(f"HOST_KERNEL({name})" for name in self.names) + "\nHOST_END\n"
        self.independent = not re.search(r"__sync|_sync\(", code)
        self._library = ctypes.CDLL(str(_compiled(source, options, self.sanitize)))
        self._library.host_error.restype = ctypes.c_char_p

    def get_function(self, name):
        assert name in self.names, f"{name} is not one of {self.names}"
        return HostKernel(self, name)

    def failure(self):
        return self._library.host_error().decode()


class HostKernel:
    """One kernel; launched like a cupy.RawKernel, with every argument checked against the parameter."""

    max_dynamic_shared_size_bytes = 0

    def __init__(self, module, name):
        self.module, self.name = module, name
        self._start = getattr(module._library, f"host_start_{name}")
        described = (ctypes.c_ubyte * 64)()
        count = getattr(module._library, f"host_describe_{name}")(described)
        self.parameters = [(described[2 * p], described[2 * p + 1]) for p in range(count)]

    def __call__(self, grid, block, args, *, shared_mem=0):
        assert len(args) == len(self.parameters), f"{self.name} takes {len(self.parameters)} arguments, got {len(args)}"
        assert 0 < grid[0] < 2**31, f"{self.name}: a grid of {grid[0]} blocks"
        assert 0 < block[0] <= 1024, f"{self.name}: a block of {block[0]} threads"
        assert shared_mem <= max(48 << 10, self.max_dynamic_shared_size_bytes), f"{self.name}: too much shared memory"
        kept, values = [], (ctypes.c_void_p * len(args))()
        for p, (value, (size, kind)) in enumerate(zip(args, self.parameters, strict=True)):
            what = f"{self.name}: argument {p}"
            if isinstance(value, np.ndarray):
                assert kind == 0, f"{what} is an array"
                assert value.flags.c_contiguous, f"{what} is not contiguous"
                kept.append(ctypes.c_void_p(value.ctypes.data))
                values[p] = ctypes.addressof(kept[-1])
            else:
                scalar = np.asarray(value)
                assert (scalar.itemsize, _KINDS[scalar.dtype.kind]) == (size, kind), f"{what} is {scalar.dtype}"
                kept.append(scalar)
                values[p] = scalar.ctypes.data
        order, seed = ORDERS.index(self.module.order), ctypes.c_uint64(self.module.seed)
        shared = ctypes.c_size_t(shared_mem)
        if self._start(values, grid[0], block[0], shared, int(self.module.independent), order, seed):
            raise RuntimeError(f"{self.name}: {self.module.failure()}")


class DoesNotCompile(RuntimeError):  # noqa: N818 - what is wrong
    """What the compiler says of a kernel."""


@cache
def compiler():
    """The command of a C++ compiler: what the machine has, else clang out of the wheel `ziglang`."""
    for name in ("g++", "clang++"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "c++", "-target", "native", "-fno-sanitize=all"]


def _compiled(source, options, sanitize):
    defines = [option for option in options if option.startswith("-D")]
    flags = [*FLAGS, *defines]
    if sanitize:
        flags += [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer"]
    key = hashlib.sha256("\0".join([source, HEADER.read_text(), *compiler(), *flags]).encode()).hexdigest()[:24]
    library = CACHE / f"{key}.so"
    if not library.exists():
        CACHE.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            text, built = pathlib.Path(folder) / "kernel.cu", pathlib.Path(folder) / "kernel.so"
            text.write_text(source)
            command = [*compiler(), *flags, "-include", str(HEADER), "-x", "c++", str(text), "-o", str(built)]
            plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            done = subprocess.run(command, env=plain, capture_output=True, text=True, check=False)
            if done.returncode:
                raise DoesNotCompile(done.stderr)
            moved = CACHE / f"{key}.{os.getpid()}.so"
            moved.write_bytes(built.read_bytes())
            moved.replace(library)
    return library
