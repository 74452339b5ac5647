"""CUDA sources: where they are, flattened into one text, specialized by macros and compiled once per device."""

import pathlib
import re
from functools import cache
from typing import Any

_INCLUDE = re.compile(r'^#include "([\w/*]+\.cuh)"$', re.M)
FOR_THE_CPU, TOO_SMALL, NOT_FINITE, ON_THE_HOST, UNSORTED = 1, 2, 4, 8, 16  # flags of a column
NVRTC_OPTIONS = ("--std=c++17", "--fmad=false")  # no fused operations: every backend rounds alike


@cache
def folder() -> pathlib.Path:
    """mag/kernels in an installed package, kernels/ next to mag/ in a checkout."""
    package = pathlib.Path(__file__).parents[2]
    for place in (package / "kernels", package.parent / "kernels"):
        if (place / "common.cuh").exists():
            return place
    raise RuntimeError("The CUDA sources of mag were not found; please reinstall mag-sdc.")


@cache
def source(name: str) -> str:
    """The text of one .cu file with its includes in place, each once: CuPy's cache ignores the content of includes."""
    seen: set[str] = set()

    def flat(path: str) -> str:
        if path in seen:
            return ""
        seen.add(path)
        return _INCLUDE.sub(included, (folder() / path).read_text(encoding="utf-8"))

    def included(found: re.Match[str]) -> str:
        paths = (path.relative_to(folder()).as_posix() for path in sorted(folder().glob(found[1])))
        return "".join(map(flat, paths)) if "*" in found[1] else flat(found[1])

    return flat(f"{name}.cu")


def struct_of(cost: str) -> str:
    """The name of a cost in CUDA: "sse_int" is SseInt."""
    return "".join(part.title() for part in cost.split("_"))


@cache
def macros(
    name: str,
    *,
    cost: str = "sse",
    k: int = 0,
    size: str = "u8",
    shared: bool = True,
    key: int = 64,
    kind: str = "REAL",
    real: str = "double",
) -> tuple[str, ...]:
    """The macros that a source reads, as compiler options: its parameters, and constants of the CPU's code."""
    from mag._compiled.groups import HUGE, OVERFLOW_EXPONENT  # compiled by numba, which the sources do not need
    from mag.solvers.block import COLUMNS_PER_SEARCH, PANEL, SIZES_WORTH_SPLITTING

    weighted = int(cost.endswith("_weighted"))
    known: dict[str, dict[str, object]] = {
        "narrow": {"COST": struct_of(cost), "K": k, "PANEL": PANEL},
        "block": {
            "COST": struct_of(cost),
            "SIZE": size,
            "SHARED": int(shared),
            "WIDTH": COLUMNS_PER_SEARCH,
            "LONG": SIZES_WORTH_SPLITTING,
        },
        "buckets": {"KEY": f"u{key}", "KIND": kind},
        "blocks": {"COST": struct_of(cost)},
        "shares": {"COST": struct_of(cost), "WEIGHTED": weighted, "HUGE": HUGE.hex(), "LARGE": OVERFLOW_EXPONENT},
        "groups": {"COST": struct_of(cost), "WEIGHTED": weighted, "HUGE": HUGE.hex(), "LARGE": OVERFLOW_EXPONENT},
        "consecutive": {"SIZE": size},
        "ending": {},
        "halving": {},
        "labels": {"SIZE": size, "FOR_THE_CPU": FOR_THE_CPU, "TOO_SMALL": TOO_SMALL, "UNSORTED": UNSORTED},
        "nearest": {"LANES": 64},
        "records": {},
        "transpose": {"ENTRY": f"u{key}", "STAGED": f"u{max(key, 32)}"},
        "totals": {"HUGE": HUGE.hex(), "LARGE": OVERFLOW_EXPONENT},
        "sort": {"KEY": f"u{key}", "KIND": kind, "UNSORTED": UNSORTED},
    }
    return tuple(f"-DMAG_{macro}={value}" for macro, value in {**known[name], "REAL": real}.items())


@cache
def compiled(module: Any, device: int, name: str, chosen: tuple[str, ...]) -> Any:
    """A module like cupy.RawModule of one source; `device` only separates cache entries."""
    return module(code=source(name), options=(*NVRTC_OPTIONS, *chosen))
