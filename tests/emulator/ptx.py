"""Translate PTX, as NVRTC writes it, to C++ that runs on the host; device.h is what the result is compiled with."""

import re

SIZE = {"pred": 1, "b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "b32": 4, "u32": 4, "s32": 4}
SIZE |= {"f32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f16x2": 4, "bf16": 2}
CT = {"pred": "bool", "b8": "uint8_t", "u8": "uint8_t", "s8": "int8_t", "b16": "uint16_t", "u16": "uint16_t"}
CT |= {"s16": "int16_t", "f16": "half", "b32": "uint32_t", "u32": "uint32_t", "s32": "int32_t", "f32": "float"}
CT |= {"b64": "uint64_t", "u64": "uint64_t", "s64": "int64_t", "f64": "double"}
UT = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t"}
UNSIGNED = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
VECTORS = {"%tid": "EMU->cur->tid", "%ntid": "EMU->block_dim", "%ctaid": "EMU->block", "%nctaid": "EMU->grid_dim"}
BIT = "(1u<<EMU->cur->lane)"
SPECIAL = {
    "%laneid": "EMU->cur->lane", "%warpid": "(EMU->cur->linear>>5)", "WARP_SZ": "32", "%nwarpid": "32", "%smid": "0",
    "%lanemask_lt": f"({BIT}-1)", "%lanemask_le": f"(({BIT}-1)|{BIT})", "%lanemask_gt": f"~(({BIT}-1)|{BIT})",
    "%lanemask_ge": f"~({BIT}-1)", "%lanemask_eq": BIT, "%clock": "0", "%clock64": "0", "%globaltimer": "0",
    "%dynamic_smem_size": "EMU->dynamic_size", "%total_smem_size": "EMU->shared_size", "%nsmid": "108",
}  # fmt: skip
TOGETHER = re.compile(r"\b(bar|barrier|shfl|vote|match|redux|activemask|exit|nanosleep)\b")
COMPARE = {
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "lo": "<",
    "ls": "<=",
    "hi": ">",
    "hs": ">=",
}
LOGIC = {"and": "&&", "or": "||", "xor": "!="}
ROUND = {"rm": "FE_DOWNWARD", "rp": "FE_UPWARD", "rz": "FE_TOWARDZERO"}


Param = tuple[str, int, str]  # name, bytes, type


class Unsupported(Exception):  # noqa: N818 - what is wrong
    """PTX that this does not know."""


def cname(s: str) -> str:
    """A name of PTX as one of C++."""
    return re.sub(r"[^A-Za-z0-9_]", "_", s.replace("%", "R_").replace("$", "L_"))


def split(s: str) -> list[str]:
    """At commas outside of brackets."""
    out, depth, part = [], 0, ""
    for ch in s:
        depth += (ch in "{[(") - (ch in "}])")
        if ch == "," and depth == 0:
            out.append(part.strip())
            part = ""
        else:
            part += ch
    return out + [part.strip()] if part.strip() else out


def matched(pattern: str, text: str) -> re.Match[str]:
    """What is found in a text that must have it."""
    m = re.search(pattern, text, re.S)
    if m is None:
        raise Unsupported("text " + text[:100])
    return m


class Translator:
    """One PTX module."""

    def __init__(self, ptx: str) -> None:
        self.src = re.sub(r"//[^\n]*", "", re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), ptx, flags=re.S))
        self.declared: dict[str, tuple[int, int]] = {}  # shared variables: bytes, alignment
        self.shared: dict[str, int] = {}  # where they begin
        self.dynamic: set[str] = set()  # shared variables whose size the launch gives
        self.consts: dict[str, int] = {}  # variables of the module: bytes
        self.globals: list[str] = []  # their definitions
        self.functions: dict[str, tuple[list[Param], list[Param]]] = {}  # results, parameters
        self.entries: dict[str, tuple[list[Param], list[Param], int]] = {}  # kernels, and threads that they allow
        self.used: dict[str, tuple[int, bool]] = {}  # kernels: shared memory, whether threads meet
        self.param: set[str] = set()  # of the function that is translated
        self.local: set[str] = set()
        self.name, self.line = "", 0

    # ---------------------------------------------------------------- operands
    def number(self, x: str, t: str) -> str | None:
        """A constant of type t; None if x is not one."""
        c = CT[t]
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", x):
            return f"as<{c}>(uint32_t(0x{x[2:]}u))"
        if re.fullmatch(r"0[dD][0-9a-fA-F]{16}", x):
            return f"as<{c}>(uint64_t(0x{x[2:]}ull))"
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", x):
            value = f"({CT[UNSIGNED[SIZE[t]]] if t != 'pred' else 'bool'})({int(x.rstrip('U'), 0) & (2**64 - 1)}ull)"
            return f"as<{c}>({value})" if t[0] == "f" else f"({c})({value})"
        return None

    def rd(self, x: str, t: str) -> str:
        """An operand, read as type t."""
        x, c = x.strip(), CT[t]
        value = self.number(x, t)
        if value:
            return value
        if t == "pred":
            return "!" + cname(x[1:].strip()) if x[0] == "!" else cname(x)
        m = re.fullmatch(r"(%\w+)\.([xyz])", x)
        if m and m[1] in VECTORS:
            return f"({c})({VECTORS[m[1]]}.{m[2]})"
        if x in SPECIAL:
            return f"({c})({SPECIAL[x]})"
        if x.startswith("%"):
            return f"as<{c}>({cname(x)})"
        m = re.fullmatch(r"([\w$]+)\+(\d+)", x)
        if m:
            return f"({c})({self.rd(m[1], t)}+{m[2]})"
        m = re.fullmatch(r"generic\(([\w$+]+)\)", x)
        if m:
            return self.rd(m[1], t)
        if x in self.shared:
            return f"({c}){self.shared[x]}u"
        if x in self.dynamic:
            return f"({c})(EMU->shared_size-EMU->dynamic_size)"
        if x in self.consts or x in self.local or x in self.param:
            return f"({c})(uintptr_t){cname(x)}"
        if re.fullmatch(r"[\w$]+", x):
            return f"as<{c}>({cname(x)})"
        raise Unsupported("operand " + x)

    def wr(self, x: str, t: str, e: str) -> str:
        """The statement that writes an expression of type t to a register."""
        x = x.strip()
        if x == "_":
            return f"(void)({e});"
        return f"{cname(x)} = {e};" if t == "pred" else f"wr({cname(x)}, ({CT[t]})({e}));"

    def wrx(self, x: str, t: str, e: str) -> str:
        """Where the register may be wider than the type: extended by the sign, or zeros."""
        return f"(void)({e});" if x.strip() == "_" else f"wrx({cname(x)}, ({CT[t]})({e}));"

    def at(self, x: str, space: str, n: int) -> str:
        """The address of an access to n bytes."""
        m = re.fullmatch(r"\[\s*([^\]+\s]+)\s*(?:\+\s*(-?\w+))?\s*\]", x)
        if not m:
            raise Unsupported("address " + x)
        base, offset = m[1], int(m[2], 0) if m[2] else 0
        if base in self.param:
            return f"({cname(base)}+({offset}))"
        if space == "shared":
            return f"shared_at((uint32_t)({self.rd(base, 'u32')}+({offset})),{n},{self.line})"
        address = f"((char*)({self.rd(base, 'u64')}+({offset}ll)))"
        if space in ("local", "param"):
            return address
        return f"global_at(S,{address},{n},{self.line})"

    # ---------------------------------------------------------------- module
    def module(self) -> str:
        """The C++ text."""
        s, pos, bodies = self.src, 0, list[tuple[str, str, int]]()
        skip = re.compile(
            r"\s*(\.version[^\n]*|\.target[^\n]*|\.address_size[^\n]*|\.file[^\n]*|\.section[^{]*\{[^}]*\})"
        )
        start = re.compile(
            r"\s*((?:\.visible|\.weak|\.extern|\.common|\.func|\.entry|\.global|\.const|\.shared|\.alias|\.pragma)\b)"
        )
        while True:
            m = skip.match(s, pos)
            if m:
                pos = m.end()
                continue
            m = start.match(s, pos)
            if not m:
                if s[pos:].strip():
                    raise Unsupported("module text: " + s[pos : pos + 80])
                break
            head = matched(r"[^;{=]*", s[m.start(1) :]).group()
            if re.search(r"\.(entry|func)\b", head):
                opened = m.start(1) + len(head)
                if s[opened] == ";":
                    pos = opened + 1
                    continue
                depth, i = 0, opened
                while True:
                    depth += {"{": 1, "}": -1}.get(s[i], 0)
                    i += 1
                    if depth == 0:
                        break
                bodies.append((head.strip(), s[opened + 1 : i - 1], s.count("\n", 0, opened) + 1))
                pos = i
                continue
            end = s.index(";", m.start(1))
            declared = s[m.start(1) : end]
            pos = end + 1
            if not declared.startswith(".pragma"):
                self.variable(declared)
        named = [self.signature(head) for head, _, _ in bodies]
        self.lay_out(dict(zip(named, (body for _, body, _ in bodies), strict=True)))
        text = [self.prototype(name) for name in named]
        text += [self.function(name, body, line) for name, (_, body, line) in zip(named, bodies, strict=True)]
        return "\n".join(self.globals + text + self.table())

    def table(self) -> list[str]:
        """The tables of kernels and variables that the driver reads."""
        out = []
        for name, (_, params, _) in self.entries.items():
            given = ", ".join(f"A[{i}]" for i in range(len(params)))
            out.append(f"static void K_{cname(name)}(char** A) {{ {cname(name)}({given}); }}")
            out.append(
                f"static const unsigned S_{cname(name)}[] = {{{', '.join(str(size) for _, size, _ in params) or '0'}}};"
            )
        rows = [
            f'{{"{name}", K_{cname(name)}, {len(params)}, S_{cname(name)}, '
            f"{self.used[name][0]}u, {int(self.used[name][1])}, {most}}}"
            for name, (_, params, most) in self.entries.items()
        ]
        out.append(f"static const emu::Kernel kernels[] = {{{', '.join([*rows, '{nullptr}'])}}};")
        rows = [f'{{"{name}", (void*){cname(name)}, {size}}}' for name, size in self.consts.items()]
        out.append(f"static const emu::Global variables[] = {{{', '.join([*rows, '{nullptr}'])}}};")
        out.append('extern "C" const emu::Kernel* emu_kernels(emu::Api* api) { emu::api = api; return kernels; }')
        out.append('extern "C" const emu::Global* emu_variables() { return variables; }')
        return out

    def lay_out(self, bodies: dict[str, str]) -> None:
        """Offsets in shared memory, where kernels overlap each other; and which kernels need their threads together."""
        words = {name: set(re.findall(r"[\w$]+", body)) for name, body in bodies.items()}
        reach: dict[str, set[str]] = {}

        def reached(name: str) -> set[str]:
            if name not in reach:
                reach[name] = {name}
                for other in words[name] & words.keys() - {name}:
                    reach[name] |= reached(other)
            return reach[name]

        users: dict[str, set[str]] = {}
        for body in bodies.values():
            for m in re.finditer(r"(?:^|[;{}\n])\s*(\.shared[^;]*)", body):
                self.variable(m[1])
        for name in self.entries:
            for v in self.declared:
                if any(v in words[f] for f in reached(name)):
                    users.setdefault(v, set()).add(name)
        common, sizes = 0, self.declared
        ends: dict[str | None, int] = {}
        for v, (size, align) in sizes.items():
            if len(users.get(v, ())) > 1:
                common = -(-common // align) * align
                self.shared[v] = common
                common += size
        for v, (size, align) in sizes.items():
            if len(users.get(v, ())) <= 1:
                owner = next(iter(users.get(v, ())), None)
                at = -(-ends.get(owner, common) // align) * align
                self.shared[v] = at
                ends[owner] = at + size
        for name in self.entries:
            uses = any(name in users.get(v, ()) and len(users[v]) > 1 for v in sizes)
            together = any(TOGETHER.search(bodies[f]) for f in reached(name))
            self.used[name] = ends.get(name, common if uses else 0), together

    def variable(self, decl: str) -> tuple[str, int, int] | None:
        """Declare a variable; the name, size and alignment of a local one."""
        m = re.search(
            r"\.(global|const|shared|local)\s*(?:\.align\s+(\d+)\s*)?((?:\.\w+\s+)*?)\.([a-z]\d+)\s+([\w$]+)\s*((?:\[\s*\d*\s*\])*)\s*(?:=\s*(.*))?$",
            decl, re.S,
        )  # fmt: skip
        if not m:
            raise Unsupported("declaration " + decl[:100])
        space, align, t, name, init = m[1], int(m[2] or SIZE[m[4]]), m[4], m[5], m[7]
        count = 1
        for length in re.findall(r"\[\s*(\d*)\s*\]", m[6]):
            count *= int(length or 0)
        size = count * SIZE[t]
        if space == "shared":
            if ".extern" in decl or size == 0:
                self.dynamic.add(name)
            else:
                self.declared[name] = size, max(1, align)
            return None
        if space == "local":
            return name, size, align
        self.consts[name] = size
        values = ""
        if init:
            parts = [v.strip() for v in init.strip().strip("{}").split(",")]
            parts = [f"0x{v[2:]}" if re.match(r"0[fFdD][0-9a-fA-F]{8}", v) else v for v in parts]
            if not all(re.fullmatch(r"-?(0[xX])?[0-9a-fA-F]+U?", v) for v in parts):
                raise Unsupported("initial value " + init[:80])
            values = f" = {{{', '.join(f'({UT[SIZE[t]]}){v}' for v in parts)}}}"
        self.globals.append(f"alignas({max(align, 8)}) static {UT[SIZE[t]]} {cname(name)}[{max(count, 1)}]{values};")
        return None

    def params(self, text: str | None) -> list[Param]:
        """Parameters: name, bytes, type."""
        out = []
        for p in split(text or ""):
            m = re.search(
                r"\.(?:param|reg)\s*(?:\.align\s+(\d+)\s*)?\.([a-z]\d+|pred)\s*(?:\.ptr\s*(?:\.(?:global|shared|const|local)\s*)?)?(?:\.align\s+\d+\s*)?([\w$%]+)\s*(?:\[(\d+)\])?\s*$",
                p,
            )
            if not m:
                raise Unsupported("parameter " + p)
            out.append((m[3], SIZE[m[2]] * int(m[4] or 1), m[2]))
        return out

    def signature(self, head: str) -> str:
        """Read the head of a function, and return its name."""
        bound = re.search(r"\.(?:maxntid|reqntid)\s+(\d+)\s*(?:,\s*(\d+)\s*)?(?:,\s*(\d+))?", head)
        most = int(bound[1]) * int(bound[2] or 1) * int(bound[3] or 1) if bound else 1024
        head = re.sub(r"\.(maxntid|minnctapersm|reqntid|maxnreg|noreturn|unique)\b[^\n.]*", "", head)
        if ".entry" in head:
            m = matched(r"\.entry\s+([\w$]+)\s*(?:\((.*?)\))?\s*$", head)
            self.entries[m[1]] = [], self.params(m[2]), most
            self.functions[m[1]] = self.entries[m[1]][:2]
            return m[1]
        m = matched(r"\.func\s*(?:\((.*?)\)\s*)?([\w$]+)\s*(?:\((.*)\))?\s*$", head)
        self.functions[m[2]] = self.params(m[1]), self.params(m[3])
        return m[2]

    def prototype(self, name: str) -> str:
        """The declaration of a function: parameters are addresses of their bytes."""
        results, given = self.functions[name]
        return f"static void {cname(name)}({', '.join('char* ' + cname(p[0]) for p in results + given)});"

    def function(self, name: str, body: str, first: int) -> str:
        """The definition of a function whose body begins in this line."""
        results, given = self.functions[name]
        self.param, self.local, self.name = {p[0] for p in results + given}, set(), name
        out, pos, label = (
            [self.prototype(name)[:-1] + " {", "bool CC = false; (void)CC;"],
            0,
            re.compile(r"([\w$]+):(?!:)"),
        )
        while True:
            while pos < len(body) and body[pos].isspace():
                pos += 1
            if pos >= len(body):
                break
            if body[pos] in "{}":
                out.append(body[pos])
                pos += 1
                continue
            m = label.match(body, pos)
            if m:
                out.append(cname(m[1]) + ": ;")
                pos = m.end()
                continue
            ending = "\n" if re.compile(r"\.loc\s").match(body, pos) else ";"  # of -lineinfo
            end, self.line = body.index(ending, pos), first + body.count("\n", 0, pos)
            s = body[pos:end].strip()
            pos = end + 1
            if not s:
                continue
            try:
                out.append(f"/*{self.line}*/ " + self.statement(s))
            except Unsupported as e:
                raise Unsupported(f"{name}, line {self.line}: {e}: {s}") from None
            except (KeyError, IndexError, TypeError) as e:
                raise Unsupported(f"{name}, line {self.line}: {type(e).__name__} {e}: {s}") from None
        return "\n".join([*out, "}"])

    # ---------------------------------------------------------------- statements
    def statement(self, s: str) -> str:
        """One directive or instruction, with its guard."""
        if s.startswith("."):
            m = re.match(r"\.reg\s+\.([a-z]\w*)\s+(.*)$", s, re.S)
            if m:
                kind, names = "bool" if m[1] == "pred" else UT[SIZE[m[1]]], []
                for r in split(m[2]):
                    g = re.fullmatch(r"([%\w$]+)<(\d+)>", r)
                    names += [cname(g[1] + str(i)) for i in range(int(g[2]))] if g else [cname(r)]
                return f"[[maybe_unused]] {kind} {', '.join(names)};"
            m = re.match(r"\.param\s*(?:\.align\s+(\d+)\s*)?\.([a-z]\d+)\s+([\w$%]+)\s*(?:\[(\d+)\])?$", s)
            if m:
                self.param.add(m[3])
                return f"alignas(16) char {cname(m[3])}[{SIZE[m[2]] * int(m[4] or 1)}];"
            if s.startswith(".local"):
                name, size, align = self.variable(s) or ("", 0, 0)
                self.local.add(name)
                return f"alignas({max(16, align)}) char {cname(name)}[{size}];"
            if s.startswith((".loc", ".pragma", ".branchtargets", ".callprototype", ".shared")):
                return ""
            raise Unsupported("directive")
        guard = ""
        m = re.match(r"@(!?)([%\w$]+)\s+(.*)$", s, re.S)
        if m:
            guard, s = f"if ({m[1]}{cname(m[2])}) ", m[3]
        m = matched(r"^([a-z][\w.:]*)\s*(.*)$", s)
        done = self.instruction(m[1].replace("::", "_").split("."), split(re.sub(r"\s+", " ", m[2])))
        return f"{guard}{{ {done} }}" if guard else done

    def instruction(self, op: list[str], a: list[str]) -> str:
        """One instruction: its name at the dots, and its operands."""
        o, t, R, line = op[0], op[-1], self.rd, self.line
        ftz, sat = "ftz" in op, "sat" in op

        def flushed(e: str) -> str:
            return f"ftz({e})" if ftz else e

        def out(e: str) -> str:
            e = f"ftz({e})" if t == "f32" and ftz else e
            return self.wr(a[0], t, f"sat({e})" if sat and t[0] == "f" else e)

        def directed(e: str) -> str:
            for k, v in ROUND.items():
                if k in op:
                    return f"rounded({v},[&]{{return {e};}})"
            return e

        if t == "f16x2":
            return self.pairs(op, a)
        if o == "mov":
            if a[0].startswith("{") or a[1].startswith("{"):
                parts = split((a[0] if a[0].startswith("{") else a[1]).strip("{}"))
                w = SIZE[t] // len(parts)
                if a[0].startswith("{"):
                    whole = f"uint64_t q={R(a[1], UNSIGNED[SIZE[t]])}; "
                    return (
                        "{ "
                        + whole
                        + " ".join(self.wr(p, UNSIGNED[w], f"q>>{8 * w * i}") for i, p in enumerate(parts))
                        + " }"
                    )
                return self.wr(
                    a[0], t, "|".join(f"((uint64_t){R(p, UNSIGNED[w])}<<{8 * w * i})" for i, p in enumerate(parts))
                )
            return self.wr(a[0], t, R(a[1], t))
        if o in ("add", "sub", "mul") and t[0] == "f":
            sign = {"add": "+", "sub": "-", "mul": "*"}[o]
            return out(directed(f"({CT[t]})({flushed(R(a[1], t))} {sign} {flushed(R(a[2], t))})"))
        if o in ("add", "sub"):
            u, sign = "u" + t[1:], "+" if o == "add" else "-"
            if sat:
                return self.wr(a[0], t, f"i2isat<{CT[t]}>((__int128){R(a[1], t)} {sign} (__int128){R(a[2], t)})")
            if "cc" in op:
                carry = "z<x" if o == "add" else "x<y"
                given = f"{CT[u]} x={R(a[1], u)}, y={R(a[2], u)}; {CT[u]} z=x{sign}y"
                return f"{{ {given}; CC = {carry}; {self.wr(a[0], u, 'z')} }}"
            return self.wr(a[0], u, f"({R(a[1], u)} {sign} {R(a[2], u)})")
        if o in ("addc", "subc"):
            u, sign = "u" + t[1:], "+" if o == "addc" else "-"
            whole = f"unsigned __int128 z=(unsigned __int128){R(a[1], u)}{sign}(unsigned __int128){R(a[2], u)}{sign}CC"
            return f"{{ {whole}; CC=(z>>{SIZE[t] * 8})&1; {self.wr(a[0], u, '(uint64_t)z')} }}"
        if o in ("mul24", "mad24"):
            x, y = (f"(({R(a[i], t)}<<8)>>8)" for i in (1, 2))
            return self.wr(
                a[0], "u32", f"(uint32_t)((int64_t){x}*{y})" + (f"+{R(a[3], 'u32')}" if o == "mad24" else "")
            )
        if o in ("mul", "mad", "madc") and t[0] != "f":
            u, width = "u" + t[1:], SIZE[t] * 8
            if "wide" in op:
                wide = t[0] + str(2 * width)
                e = f"({CT[wide]})({R(a[1], t)})*({CT[wide]})({R(a[2], t)})"
                return self.wr(
                    a[0], wide, e if o == "mul" else f"(({CT['u' + wide[1:]]})({e})+{R(a[3], 'u' + wide[1:])})"
                )
            if "hi" in op:
                kind = "__int128" if t[0] == "s" else "unsigned __int128"
                e = f"({CT[u]})((({kind}){R(a[1], t)}*({kind}){R(a[2], t)})>>{width})"
            elif width > 16:
                e = f"({R(a[1], u)}*{R(a[2], u)})"
            else:
                e = f"({CT[u]})((uint32_t){R(a[1], u)}*(uint32_t){R(a[2], u)})"
            if o == "mul":
                return self.wr(a[0], u, e)
            if "cc" in op or o == "madc":
                whole = f"(unsigned __int128)({CT[u]})({e})+{R(a[3], u)}{'+CC' if o == 'madc' else ''}"
                return f"{{ unsigned __int128 z={whole}; CC=(z>>{width})&1; {self.wr(a[0], u, '(uint64_t)z')} }}"
            return self.wr(a[0], u, f"({e}+{R(a[3], u)})")
        if o in ("fma", "mad"):
            x, y, z = (flushed(R(a[i], t)) for i in (1, 2, 3))
            if t == "f16":
                return out(f"(half)((double){x}*(double){y}+(double){z})")
            return out(directed(f"{'fmaf' if t == 'f32' else 'fma'}({x},{y},{z})"))
        if o == "div" and t[0] == "f":
            return out(directed(f"({flushed(R(a[1], t))}/{flushed(R(a[2], t))})"))
        if o in ("div", "rem"):
            return self.wr(a[0], t, f"idiv{'r' if o == 'rem' else ''}<{CT[t]}>({R(a[1], t)},{R(a[2], t)})")
        if o == "sad":
            x, y, z = (R(a[i], t) for i in (1, 2, 3))
            return self.wr(a[0], t, f"({z}+({x}<{y}?{y}-{x}:{x}-{y}))")
        if o == "abs":
            x = R(a[1], t)
            if t[0] == "f":
                return out(f"({CT[t]})std::fabs(({'float' if t == 'f16' else CT[t]}){flushed(x)})")
            u = CT["u" + t[1:]]
            return self.wr(a[0], t, f"({x}<0?0-({u}){x}:({u}){x})")
        if o == "neg":
            return (
                out(f"(-{flushed(R(a[1], t))})")
                if t[0] == "f"
                else self.wr(a[0], "u" + t[1:], f"(0-{R(a[1], 'u' + t[1:])})")
            )
        if o in ("min", "max"):
            x, y = R(a[1], t), R(a[2], t)
            if t[0] == "f":
                return out(f"f{o}{'_nan' if 'NaN' in op else '_'}<{CT[t]}>({flushed(x)},{flushed(y)})")
            return self.wr(a[0], t, f"({x} {'<' if o == 'min' else '>'} {y} ? {x} : {y})")
        if o in ("sqrt", "rsqrt", "rcp", "ex2", "lg2", "sin", "cos", "tanh"):
            x, c = flushed(R(a[1], t)), CT[t]
            name = {"ex2": "exp2", "lg2": "log2"}.get(o, o)
            known = {"sqrt": f"std::sqrt({x})", "rsqrt": f"({c})(1/std::sqrt((double){x}))", "rcp": f"(({c})1/{x})"}
            e = known.get(o, f"({c})std::{name}((double){x})")
            return out(directed(e) if o in ("sqrt", "rcp") else e)
        if o in ("and", "or", "xor"):
            if t == "pred":
                return f"{cname(a[0])} = {R(a[1], t)} {LOGIC[o]} {R(a[2], t)};"
            return self.wr(a[0], t, f"({R(a[1], t)} {dict(xor='^', **{'and': '&', 'or': '|'})[o]} {R(a[2], t)})")
        if o == "not":
            return f"{cname(a[0])} = !{R(a[1], t)};" if t == "pred" else self.wr(a[0], t, f"~{R(a[1], t)}")
        if o == "cnot":
            return self.wr(a[0], t, f"({R(a[1], t)}==0)")
        if o in ("shl", "shr"):
            x, n, width = R(a[1], t), R(a[2], "u32"), 8 * SIZE[t]
            if t[0] == "s" and o == "shr":
                return self.wr(a[0], t, f"({x} >> ({n} >= {width} ? {width - 1} : {n}))")
            return self.wr(a[0], t, f"({n} >= {width} ? 0 : {x} {'<<' if o == 'shl' else '>>'} {n})")
        if o == "shf":
            n = f"({R(a[3], 'u32')}&31)" if "wrap" in op else f"({R(a[3], 'u32')}>32?32:{R(a[3], 'u32')})"
            both = f"(((uint64_t){R(a[2], 'u32')}<<32)|{R(a[1], 'u32')})"
            return self.wr(a[0], "u32", f"({both}<<{n})>>32" if "l" in op else f"({both}>>{n})")
        if o == "bfe":
            return self.wr(a[0], t, f"bfe<{CT[t]}>({R(a[1], t)},{R(a[2], 'u32')},{R(a[3], 'u32')})")
        if o == "bfi":
            return self.wr(a[0], t, f"bfi<{CT[t]}>({R(a[1], t)},{R(a[2], t)},{R(a[3], 'u32')},{R(a[4], 'u32')})")
        if o == "bfind":
            return self.wr(a[0], "u32", f"bfind<{CT[t]}>({R(a[1], t)},{str('shiftamt' in op).lower()})")
        if o == "brev":
            return self.wr(a[0], t, f"brev<{CT[t]}>({R(a[1], t)})")
        if o == "popc":
            return self.wr(a[0], "u32", f"__builtin_popcountll({R(a[1], t)})")
        if o == "clz":
            x = R(a[1], t)
            return self.wr(a[0], "u32", f"({x} ? __builtin_clzll((uint64_t){x})-{64 - 8 * SIZE[t]} : {8 * SIZE[t]})")
        if o == "prmt" and op[1] == "b32":
            return self.wr(a[0], "u32", f"prmt({R(a[1], 'u32')},{R(a[2], 'u32')},{R(a[3], 'u32')})")
        if o == "lop3":
            return self.wr(a[0], "u32", f"lop3({R(a[1], 'u32')},{R(a[2], 'u32')},{R(a[3], 'u32')},{a[4]})")
        if o in ("setp", "set"):
            c, joined = op[1], op[2] if op[2] in LOGIC else None
            x, y = R(a[1], t), R(a[2], t)
            if t == "f32" and ftz:
                x, y = f"ftz({x})", f"ftz({y})"
            if t[0] == "f":
                unordered = f"(isnan_({x})||isnan_({y}))"
                e = {"num": f"!{unordered}", "nan": unordered}.get(c, "")
                if not e:
                    e = (
                        f"(!{unordered} && {x}{COMPARE[c]}{y})"
                        if c in COMPARE
                        else f"({unordered} || {x}{COMPARE[c[:-1]]}{y})"
                    )
            else:
                e = f"({x} {COMPARE[c]} {y})"

            def with_other(z: str) -> str:
                return f"({z} {LOGIC[joined]} {R(a[3], 'pred')})" if joined else z

            results = a[0].split("|")
            if o == "set":
                return self.wr(a[0], op[-2], f"({with_other(e)} ? {'1.0f' if op[-2] == 'f32' else '~0u'} : 0)")
            if len(results) == 1:
                return f"{cname(results[0])} = {with_other(e)};"
            first, second = (cname(result) for result in results)
            both = f"bool v0={with_other('e')}, v1={with_other('!e')}"
            return f"{{ bool e={e}; {both}; {first}=v0; {second}=v1; }}"
        if o == "selp":
            e = f"({R(a[3], 'pred')} ? {R(a[1], t)} : {R(a[2], t)})"
            return f"{cname(a[0])} = {e};" if t == "pred" else self.wr(a[0], t, e)
        if o == "slct":
            return self.wr(a[0], op[-2], f"({R(a[3], t)} >= 0 ? {R(a[1], op[-2])} : {R(a[2], op[-2])})")
        if o == "copysign":
            return self.wr(a[0], t, f"std::copysign({R(a[2], t)},{R(a[1], t)})")
        if o == "testp":
            x = R(a[1], t)
            known = {"infinite": f"std::isinf({x})", "finite": f"std::isfinite({x})", "notanumber": f"std::isnan({x})"}
            known |= {"number": f"!std::isnan({x})", "normal": f"std::isnormal({x})"}
            known |= {"subnormal": f"(std::fpclassify({x})==FP_SUBNORMAL)"}
            return f"{cname(a[0])} = {known[op[1]]};"
        if o == "cvta":
            if "to" in op:
                return self.wr(
                    a[0], t, f"(uint64_t)((char*){R(a[1], 'u64')}-SM)" if op[2].startswith("shared") else R(a[1], t)
                )
            return self.wr(a[0], t, f"(uint64_t)(SM+{R(a[1], 'u32')})" if op[1].startswith("shared") else R(a[1], t))
        if o == "cvt":
            return self.convert(op, a)
        if o in ("ld", "ldu"):
            space = next(
                (
                    k.removesuffix("_cta")
                    for k in op
                    if k.split("_")[0] in ("global", "shared", "local", "param", "const")
                ),
                "generic",
            )
            space = space.split("_")[0]
            parts = split(a[0].strip("{}")) if a[0].startswith("{") else [a[0]]
            length = SIZE[t] * len(parts)
            reads = " ".join(
                f"{{ {CT[t]} v; memcpy(&v,A+{i * SIZE[t]},{SIZE[t]}); {self.wrx(p, t, 'v')} }}"
                for i, p in enumerate(parts)
            )
            return f"{{ static emu::Site S; (void)S; char* A={self.at(a[1], space, length)}; {reads} }}"
        if o == "st":
            space = next((k for k in op if k.split("_")[0] in ("global", "shared", "local", "param")), "generic").split(
                "_"
            )[0]
            parts = split(a[1].strip("{}")) if a[1].startswith("{") else [a[1]]
            values = [R(p, t) if SIZE[t] > 1 else f"({CT[t]})" + R(p, "u16") for p in parts]
            writes = " ".join(
                f"{{ {CT[t]} v={v}; memcpy(A+{i * SIZE[t]},&v,{SIZE[t]}); }}" for i, v in enumerate(values)
            )
            return f"{{ static emu::Site S; (void)S; char* A={self.at(a[0], space, SIZE[t] * len(parts))}; {writes} }}"
        if o in ("atom", "red"):
            space = next((k for k in op if k.split("_")[0] in ("global", "shared")), "generic").split("_")[0]
            k = next(k for k in op if k in ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"))
            a = ["_", *a] if o == "red" else a
            c, b = CT[t], R(a[2], t)
            known = {"add": f"({c})(o+{b})", "min": f"(o<{b}?o:{b})", "max": f"(o>{b}?o:{b})", "exch": b}
            known |= {"inc": f"(o>={b}?0:o+1)", "dec": f"((o==0||o>{b})?{b}:o-1)"}
            known |= {name: f"(o{sign}{b})" for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"))}
            e = f"(o=={b}?{R(a[3], t)}:o)" if k == "cas" else known[k]
            address = self.at(a[1], space, SIZE[t])
            moved = f"memcpy(&o,A,{SIZE[t]}); {c} n={e}; memcpy(A,&n,{SIZE[t]}); {self.wr(a[0], t, 'o')}"
            return f"{{ static emu::Site S; (void)S; {c} o; char* A={address}; {moved} }}"
        if o in ("bar", "barrier"):
            if "warp" in op:
                return f'EMU->collective("bar.warp.sync",emu::SYNC,{line},{R(a[0], "u32")},0,0);'
            if "red" in op:
                reduced = {"popc": 1, "and": 2, "or": 3}[op[op.index("red") + 1]]
                e = f'EMU->block_sync("bar.red",{line},{reduced},{R(a[-1], "pred")})'
                return self.wr(a[0], "u32", e) if reduced == 1 else f"{cname(a[0])} = {e};"
            if R(a[0], "u32") != "(uint32_t)((uint32_t)(0ull))" or len(a) > 1:
                raise Unsupported("named barrier")
            return f'EMU->block_sync("bar.sync",{line},0,0);'
        if o in (
            "membar",
            "fence",
            "prefetch",
            "prefetchu",
            "discard",
            "griddepcontrol",
            "nanosleep",
            "brkpt",
            "applypriority",
        ):
            return ";"
        if o == "activemask":
            return self.wr(a[0], "u32", "EMU->cur->warp->alive")
        if o == "shfl":
            d = a[0].split("|")
            mode = {"up": "PUP", "down": "PDOWN", "bfly": "PBFLY", "idx": "PIDX"}[op[2]]
            e = f"shfl_any({mode},{line},{R(a[4], 'u32')},{R(a[1], 'u32')},{R(a[2], 'u32')},{R(a[3], 'u32')},P)"
            kept = f"{cname(d[1])}=P; " if len(d) > 1 and d[1].strip() != "_" else ""
            return f"{{ bool P; uint32_t v={e}; {self.wr(d[0], 'u32', 'v')} {kept}}}"
        if o == "vote":
            k, m = op[2], R(a[2], "u32")
            e = f'(uint32_t)EMU->collective("vote.{k}",emu::BALLOT,{line},{m},{R(a[1], "pred")}?1:0,0)'
            if k == "ballot":
                return self.wr(a[0], "u32", e)
            known = {"any": "b!=0", "all": "b==m", "uni": "(b==m||b==0)"}
            return f"{{ uint32_t b={e}, m={m}&EMU->cur->warp->alive; {cname(a[0])} = {known[k]}; }}"
        if o == "match":
            d = a[0].split("|")
            kind = "MATCH" if op[1] == "any" else "MATCHALL"
            e = f'(uint32_t)EMU->collective("match",emu::{kind},{line},{R(a[2], "u32")},{R(a[1], UNSIGNED[SIZE[t]])},0)'
            return self.wr(d[0], "u32", e) + (f" {cname(d[1])} = as<uint32_t>({cname(d[0])})!=0;" if len(d) > 1 else "")
        if o == "redux":
            k = {"add": "RADD", "min": "RMIN", "max": "RMAX", "and": "RAND_", "or": "ROR", "xor": "RXOR"}[op[2]]
            given = f'"redux",emu::{k},{line},{R(a[2], "u32")},{R(a[1], "u32")},{int(t[0] == "s")}'
            return self.wr(a[0], "u32", f"(uint32_t)EMU->collective({given})")
        if o == "bra":
            return f"goto {cname(a[0])};"
        if o == "ret" or (o == "exit" and self.name in self.entries):
            return "return;"
        if o == "exit":
            return "EMU->leave();"
        if o == "trap":
            return f'EMU->fail("trap at PTX line {line}");'
        if o == "isspacep":
            inside = f"((char*){R(a[1], 'u64')}>=SM && (char*){R(a[1], 'u64')}<SM+EMU->shared_size)"
            return f"{cname(a[0])} = {({'shared': inside, 'global': '!' + inside}).get(op[1].split('_')[0], 'false')};"
        if o == "call":
            name = next(x for x in a if not x.startswith("("))
            results = split(a[0].strip("()")) if a[0].startswith("(") else []
            passed = split(a[-1].strip("()")) if a[-1].startswith("(") and (len(a) > 2 or not results) else []
            if name in ("__assertfail", "__assert_fail"):
                return f'EMU->fail("assertion failed at PTX line {line}");'
            if name == "vprintf":
                return ";"
            if name not in self.functions:
                raise Unsupported("call to " + name)
            return f"{cname(name)}({', '.join(cname(x) for x in results + passed)});"
        raise Unsupported("opcode")

    def convert(self, op: list[str], a: list[str]) -> str:
        """The instruction cvt."""
        d, s = op[-2], op[-1]
        ftz, sat, x = "ftz" in op, "sat" in op, self.rd(a[1], op[-1])
        if "bf16" in (d, s):
            raise Unsupported("bf16")
        if s == "f16":
            x = f"(float){x}"
        if s == "f32" and ftz:
            x = f"ftz({x})"
        whole = next((k for k in op if k in ("rni", "rmi", "rpi", "rzi")), None)
        if whole:
            x = f"std::{ {'rni': 'nearbyint', 'rmi': 'floor', 'rpi': 'ceil', 'rzi': 'trunc'}[whole] }({x})"
        if d[0] == "f":
            e = f"({CT[d]})({x})"
            for k, v in ROUND.items():
                if k in op and d != "f16":
                    e = f"rounded({v},[&]{{return {e};}})"
            e = f"ftz({e})" if d == "f32" and ftz else e
            return self.wr(a[0], d, f"sat({e})" if sat else e)
        if s[0] == "f":
            return self.wrx(a[0], d, f"f2i<{CT[d]},{'double' if s == 'f64' else 'float'}>({x})")
        return self.wrx(a[0], d, f"i2isat<{CT[d]}>({x})" if sat else f"({CT[d]})({x})")

    def pairs(self, op: list[str], a: list[str]) -> str:
        """Operations on two halves at once."""
        one = [*op[:-1], "f16"]
        given = " ".join(f"uint32_t i{i}={self.rd(x, 'b32')};" for i, x in enumerate(a[1:]))
        low, high = (
            self.instruction(one, [f"%{part}", *[f"%{part}{i}" for i in range(len(a) - 1)]]) for part in ("lo", "hi")
        )
        names = ", ".join(f"R_lo{i}=i{i}, R_hi{i}=i{i}>>16" for i in range(len(a) - 1))
        joined = self.wr(a[0], "b32", "(uint32_t)R_lo|((uint32_t)R_hi<<16)")
        return f"{{ {given} uint16_t R_lo, R_hi, {names}; {low} {high} {joined} }}"


def translate(ptx: str) -> str:
    """C++ text of a module."""
    t = Translator(ptx)
    return '#include "device.h"\n' + t.module() + "\n"
