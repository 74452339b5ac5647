"""Facts for a bug report: versions, the processor, threads, backends, the folder of compiled code."""

import json
import platform
from importlib import metadata

from mag import __version__
from mag._lib.terminal import printable

LISTED_PACKAGES = [
    "numpy",
    "numba",
    "llvmlite",
    "array-api-compat",
    "torch",
    "jax",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "dask",
]


def facts() -> dict[str, str]:
    """Name and value of every fact.

    Examples
    --------
    >>> from mag.commands._environment import facts
    >>> facts()["cpu"]
    'ok'
    """
    from mag._backends import BACKENDS
    from mag._lib.checks import thread_count

    entries = {"mag": __version__, "python": f"{platform.python_version()} on {platform.platform()}"}
    for library in LISTED_PACKAGES:
        try:
            entries[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            entries[library] = "not installed"
    processor, simd = _processor()
    entries |= {"processor": processor, "simd": simd, "threads": str(thread_count("threads", None))}
    entries["compiled code"] = _cache_folder()
    return entries | {name: backend.why_not() or "ok" for name, backend in BACKENDS.items()}


def show(as_json: bool = False) -> None:
    """Print every fact, as lines or as one JSON object."""
    if as_json:
        print(json.dumps(facts(), indent=1))
        return
    for name, fact in facts().items():
        print(printable(f"{name:<17} {fact}"))


def _processor() -> tuple[str, str]:
    """LLVM's name of it, and the widest of its vector instructions."""
    from mag._compiled.internals import binding

    features = binding.get_host_cpu_features()
    known = {"avx512f": "AVX-512", "avx2": "AVX2", "avx": "AVX", "sse4.2": "SSE4.2", "sve": "SVE", "neon": "NEON"}
    widest = next((name for feature, name in known.items() if features.get(feature)), "none that is known")
    return f"{binding.get_host_cpu_name()} ({platform.machine()})", widest


def _cache_folder() -> str:
    """The folder in which numba keeps the compiled code of the package."""
    from mag._compiled.jit import folder_of
    from mag.solvers.simple import solve

    return folder_of(solve)
