"""Cells of every type of Arrow, alone and nested, in blocks that number their dictionaries anew."""

import datetime
import decimal
import uuid

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

CANARIES = ["canary: Jane Doe, 12 Elm Street", "canary: a second entry"]
DAY = datetime.date(2001, 2, 3)
MOMENT = datetime.datetime(2001, 2, 3, 4, 5, 6)
D = decimal.Decimal

# two cells that differ, and are as alike as the type allows
PLAIN = {
    "null": (pa.null(), None, None),
    "bool": (pa.bool_(), True, False),
    **{f"int{bits}": (getattr(pa, f"int{bits}")(), -1, 0) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (getattr(pa, f"uint{bits}")(), 2**bits - 1, 0) for bits in (8, 16, 32, 64)},
    "float16": (pa.float16(), np.float16(1.0), np.float16(1.001)),
    "float32": (pa.float32(), 1.0, 1.0 + 2.0**-23),
    "float64": (pa.float64(), 0.1 + 0.2, 0.3),
    "zeros": (pa.float64(), 0.0, -0.0),
    "decimal128": (pa.decimal128(38, 2), D(10**35), D(10**35 + 1)),
    "decimal256": (pa.decimal256(70, 2), D(1), D("1.01")),
    "date32": (pa.date32(), DAY, DAY + datetime.timedelta(1)),
    "date64": (pa.date64(), DAY, DAY + datetime.timedelta(1)),
    "time32": (pa.time32("ms"), 1, 2),
    "time64": (pa.time64("ns"), 1, 2),
    **{f"timestamp {unit}": (pa.timestamp(unit), 1, 2) for unit in ("s", "ms", "us", "ns")},
    "zoned": (pa.timestamp("us", "Europe/Paris"), MOMENT, MOMENT + datetime.timedelta(microseconds=1)),
    "duration": (pa.duration("ns"), 1, 2),
    "interval": (pa.month_day_nano_interval(), (1, 2, 3), (1, 2, 4)),
    "string": (pa.string(), *CANARIES),
    "large_string": (pa.large_string(), "", "\0"),
    "string_view": (pa.string_view(), *CANARIES),
    "binary": (pa.binary(), b"", b"\0"),
    "large_binary": (pa.large_binary(), b"a", b"a\0"),
    "binary_view": (pa.binary_view(), b"a", b"a\0"),
    "fixed_size_binary": (pa.binary(3), b"ab\0", b"abc"),
}

if hasattr(pa, "decimal32"):  # since pyarrow 19
    PLAIN["decimal32"] = pa.decimal32(5, 2), D("1.10"), D("1.11")
    PLAIN["decimal64"] = pa.decimal64(15, 2), D("1.10"), D("1.11")


def _nested():
    inner = {name: PLAIN[name] for name in ("string", "float64", "decimal128", "time64", "bool", "fixed_size_binary")}
    inner |= {
        f"dictionary of {name}": (pa.dictionary(pa.int8(), kind), a, b)
        for name, (kind, a, b) in inner.items()
        if name not in ("bool", "decimal128", "time64")  # of which Arrow makes no nested dictionaries
    }
    for name, (kind, a, b) in inner.items():
        yield f"list of {name}", (pa.list_(kind), [a], [a, None])
        yield f"large_list of {name}", (pa.large_list(kind), [a, b], [b, a])
        yield f"fixed_size_list of {name}", (pa.list_(kind, 2), [a, b], [b, a])
        yield f"list_view of {name}", (pa.list_view(kind), [a, b], [b])
        yield f"large_list_view of {name}", (pa.large_list_view(kind), [], [None])
        yield f"struct of {name}", (pa.struct([("p", kind), ("q", pa.int8())]), {"p": a, "q": 1}, {"p": b, "q": 1})
        yield f"map of {name}", (pa.map_(pa.string(), kind), [("k", a)], [("k", b)])
        yield (
            f"list of structs of {name}",
            (pa.list_(pa.struct([("p", kind)])), [{"p": a}, {"p": None}], [{"p": a}, None]),
        )
        yield f"struct of lists of {name}", (pa.struct([("p", pa.list_(kind))]), {"p": [a, b]}, {"p": [b]})
    yield "struct of nothing", (pa.struct([]), {}, {})


NESTED = dict(_nested())
DICTIONARIES = {
    f"dictionary of {name}": (pa.dictionary(pa.int16(), kind), a, b)
    for name, (kind, a, b) in (PLAIN | NESTED).items()
    if name not in ("null", "struct of nothing") and (name in PLAIN or name.endswith(" of dictionary of string"))
}
EXTENSIONS = {
    "bool8": (pa.bool8(), 1, 0),
    "fixed_shape_tensor": (pa.fixed_shape_tensor(pa.int32(), [2]), [1, 2], [2, 1]),
    "opaque": (pa.opaque(pa.string(), "x", "y"), *CANARIES),
}
if hasattr(pa, "uuid"):  # since pyarrow 19
    EXTENSIONS["uuid"] = pa.uuid(), uuid.UUID(int=5).bytes, uuid.UUID(int=6).bytes
    EXTENSIONS["json"] = pa.json_(), '"a"', '"b"'
INSIDE = {
    f"{outer} of {name}": (kind, a, b)
    for name, (kind, a, b) in EXTENSIONS.items()
    for outer in ("list", "struct", "struct of lists")
}
ENCODED = {f"run ends of {name}": PLAIN[name] for name in ("string", "float64", "int32", "bool", "decimal128")}
TYPES = PLAIN | NESTED | DICTIONARIES | EXTENSIONS | INSIDE | ENCODED


def array_of(name, pattern):
    """Cells of a type: the first of its two for 0, the second for 1, null for 2."""
    kind, *cells = TYPES[name]
    listed = [(*cells, None)[place] for place in pattern]
    if isinstance(kind, pa.BaseExtensionType):
        array = pa.ExtensionArray.from_storage(kind, pa.array(listed, kind.storage_type))
        if "list" in name.partition(" of ")[0] or name.startswith("struct of lists"):
            array = pa.ListArray.from_arrays(pa.array(range(len(array) + 1), pa.int32()), array)
        return pa.StructArray.from_arrays([array], ["p"]) if name.startswith("struct") else array
    if name in DICTIONARIES:
        entries = [cells[place] for place in dict.fromkeys(pattern) if place != 2]
        codes = [None if cell is None else _place(entries, cell) for cell in listed]
        return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int16()), pa.array(entries, kind.value_type))
    array = pa.array(listed, kind)
    return pc.run_end_encode(array) if name in ENCODED else array


def _place(entries, cell):
    """Of the object itself: both zeros are equal."""
    return next(place for place, entry in enumerate(entries) if entry is cell)


def is_one_value(name):
    """Whether the type has one value, which all of its cells hold."""
    return name in ("null", "struct of nothing")
