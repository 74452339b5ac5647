"""Build the emulated driver, and CuPy's module of the runtime API against it: `python -m tests.emulator`.

Everything comes from what the extra `test` installs, except for the source of one module of CuPy, which pip downloads.
The result is kept in a folder of the user's cache, whose name is a digest of the sources and versions.
"""

import fcntl
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from importlib import metadata, util

from tests.cuda.host import compiler

HERE = pathlib.Path(__file__).parent
SOURCES = ["driver.cpp", "unsupported.cpp", "device.h", "profile.h", "build.py"]
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
DIRECTIVES = ["embedsignature=True", "c_api_binop_methods=True", "binding=False", "freethreading_compatible=True"]


IS_MISSING = 3  # the exit code where something is missing, unlike an error


class CannotBuild(Exception):  # noqa: N818 - what is wrong
    """What is missing on this machine, in one sentence."""


def cache() -> pathlib.Path:
    """The folder of all that is compiled: what is built here, and kernels."""
    chosen = os.environ.get("EMULATOR_CACHE")
    user = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return pathlib.Path(chosen) if chosen else user / "mag-emulator"


def cupy_package() -> tuple[str, str]:
    """The name of the package that CuPy is installed as, and its version."""
    for found in metadata.distributions():
        name = found.metadata["Name"] or ""
        if re.fullmatch(r"cupy-cuda\d+x", name):
            return name, found.version
    raise CannotBuild("CuPy is not installed: pip install cupy-cuda12x.")


def toolkit() -> tuple[pathlib.Path, pathlib.Path]:
    """NVRTC and the folder of CUDA's headers, of the CUDA that CuPy is for."""
    major = int(cupy_package()[0].removeprefix("cupy-cuda").removesuffix("x"))
    spec, ending = util.find_spec("nvidia"), "-cu12" if major == 12 else ""
    folders = [pathlib.Path(place) for place in (spec and spec.submodule_search_locations) or ()]
    compilers = [path for folder in folders for path in sorted(folder.glob(f"*/lib/libnvrtc.so.{major}"))]
    headers = [path for folder in folders for path in sorted(folder.glob("*/include/cuda_runtime_api.h"))]
    headers = [path for path in headers if f"#define CUDART_VERSION  {major}" in path.read_text(errors="replace")]
    for found, package in ((compilers, "nvidia-cuda-nvrtc"), (headers, "nvidia-cuda-runtime")):
        if not found:
            raise CannotBuild(f"A part of CUDA is not installed: pip install {package}{ending}.")
    return compilers[0], headers[0].parent


def place() -> pathlib.Path:
    """The folder that belongs to these sources and versions."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise CannotBuild(f"The emulator needs Linux on x86-64; this is {sys.platform} on {platform.machine()}.")
    name, version = cupy_package()
    try:
        cython = metadata.version("Cython")
    except metadata.PackageNotFoundError:
        raise CannotBuild("Cython is not installed: pip install Cython.") from None
    known = [name, version, cython, str(SUFFIX), str(toolkit()[1]), *compiler()]
    digest = hashlib.sha256("\0".join(known).encode())
    for source in [*(HERE / name for name in SOURCES), *sorted((HERE / "headers").rglob("*.h"))]:
        digest.update(source.read_bytes())
    return cache() / f"built-{digest.hexdigest()[:16]}"


def source(version: str, folder: pathlib.Path) -> pathlib.Path:
    """CuPy's source of this version: pip downloads it once."""
    kept = cache() / f"cupy-{version}.tar.gz"
    if not kept.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "cupy"]
        command += ["--retries", "1", "--dest", str(folder), f"cupy=={version}"]
        # pip asks the source for its dependencies; with this variable, which is CuPy's, it answers without CUDA
        done = subprocess.run(command, env=os.environ | {"CUPY_INSTALL_USE_STUB": "1"}, capture_output=True, text=True)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or [""]
            raise CannotBuild(f"CuPy's source cannot be downloaded: {lines[-1]}")
        (folder / kept.name).replace(kept)
    with tarfile.open(kept) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"cupy-{version}"


def run(*command: object) -> None:
    """Run one command."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {(done.stderr or done.stdout).strip()[-2000:]}")


def build(out: pathlib.Path) -> None:
    """Compile the driver and the module into a folder."""
    version = cupy_package()[1]
    included = [f"-I{HERE / 'headers'}", f"-I{toolkit()[1]}"]
    common = [*compiler(), "-std=c++17", "-O2", "-fPIC", "-shared", "-w", *included]
    driver = out / "libcuda.so.1"
    sources = [HERE / "driver.cpp", HERE / "unsupported.cpp"]
    named = "-Wl,-soname,libcuda.so.1"
    run(*common, "-fvisibility=hidden", named, *sources, "-o", driver, "-ldl", "-lpthread")
    with tempfile.TemporaryDirectory(dir=cache()) as scratch:
        tree, text = source(version, pathlib.Path(scratch)), pathlib.Path(scratch) / "runtime.cpp"
        from cupy_backends.cuda.api import driver as built_in  # CuPy's own, which is not built again

        constants = {"CUPY_USE_CUDA_PYTHON": False, "CUPY_CUFFT_STATIC": False, "CUPY_HIP_VERSION": 0}
        constants["CUPY_CUDA_VERSION"] = built_in.get_build_version()
        given = ",".join(f"{constant}={value}" for constant, value in constants.items())
        directives = [word for directive in DIRECTIVES for word in ("-X", directive)]
        module = tree / "cupy_backends/cuda/api"
        cython = [sys.executable, "-m", "cython", "-3", "--cplus", "-w", tree, *directives, "-E", given]
        run(*cython, (module / "runtime.pyx").relative_to(tree), "-o", text)
        included = [f"-I{sysconfig.get_path('include')}", f"-I{tree / 'cupy_backends'}", f"-I{module}"]
        defined = ["-D_FORCE_INLINES=1", '-DCYTHON_EXTERN_C=extern "C"']
        run(*common, *included, *defined, text, "-o", out / f"runtime{SUFFIX}", driver, "-Wl,-rpath,$ORIGIN")


def built() -> pathlib.Path:
    """The folder with both, which are built where they are missing; raises CannotBuild."""
    out = place()
    if out.exists():
        return out
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "lock").open("w") as lock:  # tests that run side by side build once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            with tempfile.TemporaryDirectory(dir=cache()) as scratch:
                # in a process of its own: CuPy is asked for its version, and must not be imported before it is emulated
                code = "import sys, pathlib; from tests.emulator import build; build.main(pathlib.Path(sys.argv[1]))"
                path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
                command = [sys.executable, "-c", code, scratch]
                done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
                if done.returncode == IS_MISSING:
                    raise CannotBuild(done.stderr.strip())
                if done.returncode:
                    raise RuntimeError(done.stderr)
                pathlib.Path(scratch).rename(out)
                pathlib.Path(scratch).mkdir()  # which is removed
    return out


def main(out: pathlib.Path) -> None:
    """Build; what is missing is printed, in one sentence."""
    try:
        build(out)
    except CannotBuild as error:
        print(error, file=sys.stderr)
        sys.exit(IS_MISSING)
