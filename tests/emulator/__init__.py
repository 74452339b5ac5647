"""CuPy without a GPU: after `tests.emulator.activate()`, CuPy finds emulated devices; README.md says more.

CuPy's wheel runs as it is, except for its extension module of CUDA's runtime API, which build.py builds from its own
source against the emulated runtime.  NVRTC compiles kernels to PTX, which is translated to C++ and run on the host.
"""

import ctypes
import fcntl
import hashlib
import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys

from tests.cuda.host import compiler
from tests.emulator import build, profile, ptx

HERE = pathlib.Path(__file__).parent
FLAGS = ["-std=c++17", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-frounding-math"]
FLAGS += ["-fno-strict-aliasing", "-fwrapv", "-w", f"-I{HERE}"]
RUNTIME = "cupy_backends.cuda.api.runtime"
DRIVER: ctypes.CDLL | None = None  # while it is active
COUNTED = False  # whether kernels are translated so that what they do is counted: see profile.py


def library(text: bytes) -> pathlib.Path:
    """The library that PTX was translated and compiled to; it is kept."""
    translate, sources = (profile.translate, ["profile.py"]) if COUNTED else (ptx.translate, [])
    known = b"".join((HERE / name).read_bytes() for name in [*sources, "ptx.py", "device.h"])
    known += " ".join(compiler() + FLAGS).encode()
    path = build.cache() / "kernels" / f"{hashlib.sha256(known + text).hexdigest()[:24]}.so"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:  # tests that run side by side compile a kernel once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return path
        source, made = path.with_suffix(".cpp"), path.with_suffix(".made")
        source.write_text(translate(text.decode()))
        if os.environ.get("EMULATOR_KEEP"):
            path.with_suffix(".ptx").write_bytes(text)
        command = [*compiler(), *FLAGS, str(source), "-o", str(made)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{command[0]} on {source}: {done.stderr[:2000]}")
        made.replace(path)
    return path


def _compile(text: bytes, path: int, length: int) -> int:
    """What the driver calls with PTX; writes the path of the library, or what is wrong."""
    try:
        answer, code = str(library(text)), 0
    except Exception as error:
        answer, code = f"{type(error).__name__}: {error}", 1
    ctypes.memmove(path, answer.encode()[: length - 1] + b"\0", min(len(answer.encode()), length - 1) + 1)
    return code


class _Finder:
    """Finds the built extension module instead of CuPy's."""

    def __init__(self, file: pathlib.Path) -> None:
        self.file = str(file)

    def find_spec(self, name: str, path: object = None, target: object = None) -> importlib.machinery.ModuleSpec | None:
        if name != RUNTIME:
            return None
        loader = importlib.machinery.ExtensionFileLoader(name, self.file)
        return importlib.util.spec_from_file_location(name, self.file, loader=loader)


def activate(counted: bool = False) -> ctypes.CDLL:
    """Let CuPy, which must not be imported yet, find the emulated devices; raises `build.CannotBuild`.

    Where kernels are `counted`, profile.py starts and reads the counts.
    """
    global COUNTED, DRIVER
    if DRIVER is not None:
        return DRIVER
    if RUNTIME in sys.modules:
        raise RuntimeError("The emulator must be activated before CuPy is imported.")
    COUNTED, folder = counted, build.built()
    nvrtc, included = build.toolkit()
    ctypes.CDLL(str(nvrtc))  # CuPy takes what is loaded already, whatever else the machine has
    os.environ["CUDA_PATH"] = str(included.parent)
    os.environ["CUPY_COMPILE_WITH_PTX"] = "1"
    os.environ["CUPY_ACCELERATORS"] = ""  # those of CUB that CuPy brings are machine code, and fail without a word
    os.environ.setdefault("CUPY_CACHE_DIR", str(build.cache() / "cupy"))
    DRIVER = ctypes.CDLL(str(folder / "libcuda.so.1"))
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int)
    DRIVER.compiler = kind(_compile)  # type: ignore[attr-defined] # kept as long as the driver
    DRIVER.emulator_compiler(DRIVER.compiler)
    for counter in (DRIVER.emulator_launches, DRIVER.emulator_queued, DRIVER.emulator_copied):
        counter.restype = ctypes.c_uint64
    DRIVER.emulator_profile.argtypes = DRIVER.emulator_interrupt.argtypes = [ctypes.c_uint64]
    DRIVER.emulator_error.restype = DRIVER.emulator_profiled.restype = ctypes.c_char_p
    sys.meta_path.insert(0, _Finder(folder / f"runtime{build.SUFFIX}"))
    return DRIVER
