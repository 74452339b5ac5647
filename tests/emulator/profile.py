"""What kernels do, counted without a device: `activate(counted=True)`, `start`, launches, `launches`.

PTX is translated to C++ that writes down, for each thread, the basic blocks that it enters and the addresses that it
accesses; profile.h replays that warp by warp, and says what it assumes of a device.  Counts are those of PTX: machine
code has fewer moves, and may replace short branches by predicates.
"""

import json
import re
from dataclasses import dataclass, field

from tests import emulator
from tests.emulator.ptx import Translator

A100 = 40 << 20  # bytes of the second cache
CLASSES = ("float64", "float32", "integer", "compare", "move", "global", "shared", "local", "warp", "barrier", "branch")
_KINDS = {"ld": 1, "ldu": 1, "st": 2, "atom": 4, "red": 4}
_WARP = {"shfl", "vote", "match", "redux", "activemask"}
_ENDS = {"bra", "ret", "exit", "call", "bar", "barrier", *_WARP}  # a basic block
_NAMED: dict[str, str | None] = {}
_NAMED |= dict.fromkeys(_WARP, "warp") | dict.fromkeys(("bra", "ret", "exit", "call"), "branch")
_NAMED |= dict.fromkeys(("setp", "set", "testp"), "compare")
_NAMED |= dict.fromkeys(("mov", "cvt", "cvta", "selp", "prmt", "isspacep"), "move")
_NAMED |= dict.fromkeys(("membar", "fence", "prefetch", "prefetchu", "discard", "trap", "nanosleep", "brkpt"))
_SPACES = {"global": "global", "shared": "shared", "local": "local", "param": "move", "const": "move"}
_FLOATS = {"f64": "float64", "f32": "float32", "f16": "float32", "f16x2": "float32"}


@dataclass
class Site:
    """One instruction that accesses memory.

    `line` is that of the PTX, or of the source where it was compiled with -lineinfo; `kind` is load, store or atomic;
    `count` how often a warp executed it.  In global memory `units` are sectors of 32 bytes and `least` the bytes that
    were used of them; in shared memory they are passes, and how many there would be without bank conflicts.  `worst`
    is the most sectors, or passes, of one execution.
    """

    line: int
    shared: bool
    kind: str
    size: int
    count: int
    units: int
    least: int
    worst: int


@dataclass
class Launch:
    """What one launch did.

    `instructions` by class, `issued` and `divergent` branches are those of warps; `executed` counts the instructions of
    all threads.  `atomics` are on `addresses`, at most `contended` on one of them.  `read` and `written` are bytes of
    device memory behind the second cache, of which `used` were asked for.
    """

    kernel: str
    blocks: int
    warps: int
    issued: int
    executed: int
    branches: int
    divergent: int
    barriers: int
    atomics: int
    addresses: int
    contended: int
    hits: int
    misses: int
    read: int
    written: int
    used: int
    instructions: dict[str, int] = field(default_factory=dict)
    sites: list[Site] = field(default_factory=list)

    @property
    def requested(self) -> tuple[int, int]:
        """Bytes of the sectors that warps asked for, and how many of these bytes they used."""
        found = [site for site in self.sites if not site.shared]
        return 32 * sum(site.units for site in found), sum(site.least for site in found)

    @property
    def passes(self) -> tuple[int, int, int]:
        """Passes of shared memory, how many there would be without bank conflicts, and the most of one access."""
        found = [site for site in self.sites if site.shared]
        return (
            sum(site.units for site in found),
            sum(site.least for site in found),
            max((site.worst for site in found), default=0),
        )


def start(cache: int = A100) -> None:
    """Begin to count, with an empty second cache of so many bytes; 0 ends counting."""
    assert emulator.DRIVER is not None
    assert emulator.COUNTED, "activate(counted=True) comes first"
    emulator.DRIVER.emulator_profile(cache)


def launches() -> list[Launch]:
    """All launches since `start`, in order; what the second cache holds is written back."""
    assert emulator.DRIVER is not None
    kinds = {1: "load", 2: "store", 4: "atomic"}
    found = []
    for known in json.loads(emulator.DRIVER.emulator_profiled()):
        instructions = dict(zip(CLASSES, known.pop("classes"), strict=True))
        sites = [Site(line, bool(shared), kinds[kind], *rest) for line, shared, kind, *rest in known.pop("sites")]
        found.append(Launch(**known, instructions=instructions, sites=sites))
    return found


def class_of(op: list[str]) -> str | None:
    """Which of CLASSES an instruction is; None for those that are not counted."""
    if op[0] in ("bar", "barrier"):
        return "warp" if "warp" in op else "barrier"
    if op[0] in _KINDS:
        return next((_SPACES[word.split("_")[0]] for word in op if word.split("_")[0] in _SPACES), "global")
    return _NAMED[op[0]] if op[0] in _NAMED else _FLOATS.get(op[-1], "integer")


class Profiled(Translator):
    """One PTX module, whose threads write down what they do."""

    def __init__(self, ptx: str) -> None:
        super().__init__(ptx)
        self.basics: list[tuple[dict[str, int], list[tuple[int, int, int]], list[int]]] = []
        self.notes: list[tuple[str | None, tuple[int, int, int] | None, bool, bool]] = []
        self.accessed = self.source_line = 0

    def at(self, x: str, space: str, n: int) -> str:
        found = super().at(x, space, n)
        if not found.startswith(("shared_at", "global_at")):
            return found
        self.accessed = n
        return f"traced({found})"

    def statement(self, s: str) -> str:
        if located := re.match(r"\.loc\s+\d+\s+(\d+)", s):
            self.source_line = int(located[1])
        self.accessed = 0
        done = super().statement(s)
        if s.startswith("."):
            return done
        guarded = s.startswith("@")
        named = re.match(r"(?:@!?[%\w$]+\s+)?([a-z][\w.:]*)", s)
        assert named
        op = named[1].replace("::", "_").split(".")
        access = (_KINDS[op[0]], self.accessed, self.source_line or self.line) if self.accessed else None
        self.notes.append((class_of(op), access, op[0] in _ENDS, guarded and op[0] in ("bra", "ret", "exit")))
        return f"\1{len(self.notes) - 1}\1{done}" + (" else mark(0);" if access and guarded else "")

    def function(self, name: str, body: str, first: int) -> str:
        """The function, with a mark where each basic block begins."""
        out: list[str] = []
        begins = True
        self.notes.clear()
        for line in super().function(name, body, first).split("\n"):
            m = re.match(r"(/\*\d+\*/ )\x01(\d+)\x01(.*)$", line)
            if not m:
                out.append(line)
                begins = begins or re.fullmatch(r"\w+: ;", line) is not None
                continue
            kind, access, ends, conditional = self.notes[int(m[2])]
            if begins:
                out.append(f"mark({len(self.basics)}ull);")
                self.basics.append((dict.fromkeys(CLASSES, 0), [], []))
            counts, accesses, conditions = self.basics[-1]
            if kind:
                counts[kind] += 1
            accesses += [access] if access else []
            conditions += [1] if conditional else []
            begins = ends
            out.append(m[1] + m[3])
        return "\n".join(out)

    def table(self) -> list[str]:
        """What is known of each basic block, behind the table of kernels."""
        rows, first, out = [], 0, super().table()
        for i, (counts, accesses, conditions) in enumerate(self.basics):
            listed = ", ".join(f"{{{kind}, {size}, {line}}}" for kind, size, line in accesses) or "{0, 0, 0}"
            out.append(f"static const unsigned short C_{i}[] = {{{', '.join(map(str, counts.values()))}}};")
            out.append(f"static const emu::Access A_{i}[] = {{{listed}}};")
            rows.append(f"{{C_{i}, A_{i}, {first}, {len(accesses)}, {len(conditions)}}}")
            first += len(accesses)
        out.append(f"static const emu::Basic basics[] = {{{', '.join([*rows, '{nullptr}'])}}};")
        out.append('extern "C" const emu::Basic* emu_basics() { return basics; }')
        return out


def translate(ptx: str) -> str:
    """C++ text of a module."""
    return '#include "device.h"\n' + Profiled(ptx).module() + "\n"
