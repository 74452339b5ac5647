"""Relations of DuckDB: floats as strings of bits; texts as bytes, for a collation may ignore case."""

from typing import Any

import narwhals as nw

from mag.verify.engines import cannot_compare

EXACT_TYPES = {
    "bigint", "bignum", "bit", "blob", "boolean", "date", "decimal", "enum", "hugeint", "integer", "smallint", "time",
    "time_ns", "timestamp", "timestamp with time zone", "timestamp_ms", "timestamp_ns", "timestamp_s", "tinyint",
    "ubigint", "uhugeint", "uinteger", "usmallint", "utinyint", "uuid", "varint",
}  # fmt: skip
AS_BITS = {"double", "float"}
AS_TEXT = {"interval", "time with time zone"}  # of which DuckDB takes different ones for equal: 1 month and 30 days
NESTED_TYPES = {"array", "list", "map", "struct"}


def compare_exactly(table: Any, keys: list[Any], values: list[Any]) -> nw.LazyFrame[Any]:
    """See `mag.verify.engines`."""
    kinds = dict(zip(table.columns, table.types, strict=True))
    made = [f"{exact_sql(name, kinds[name])} as key{place}" for place, name in enumerate(keys)]
    for place, name in enumerate(values):
        own = quoted(name)
        made.append(f"{f'encode({own})' if kinds[name].id == 'varchar' else own} as value{place}")
    return nw.from_native(table.project(", ".join(made)))


def exact_sql(name: str, kind: Any) -> str:
    """An expression that differs wherever the cells of a column do."""
    own, ids = quoted(name), _ids(kind)
    if unknown := sorted(ids - EXACT_TYPES - AS_BITS - AS_TEXT - NESTED_TYPES - {"varchar"}):
        raise cannot_compare(name, f"the type {unknown[0]} of DuckDB")
    if ids <= EXACT_TYPES:
        return own
    if kind.id == "varchar":
        return f"encode({own})"
    bits = f"cast({own} as {_type_of_bits(kind)})"
    # a collation counts within lists as well; their text alone may leave two apart alike
    return f"row({bits}, encode(cast({own} as varchar)))" if "varchar" in ids else bits


def _ids(kind: Any) -> set[str]:
    """The type, and all types that are nested in it."""
    parts = [part for label, part in kind.children if label != "size"] if kind.id in NESTED_TYPES else []
    return {kind.id}.union(*map(_ids, parts))


def _type_of_bits(kind: Any) -> str:
    """The same type, with strings of bits for floats, and texts for what DuckDB does not compare exactly."""
    if kind.id not in NESTED_TYPES:
        return "bit" if kind.id in AS_BITS else "varchar" if kind.id in AS_TEXT else str(kind)
    inner = {label: part if label == "size" else _type_of_bits(part) for label, part in kind.children}
    if kind.id == "struct":
        return f"struct({', '.join(f'{quoted(label)} {own}' for label, own in inner.items())})"
    return (
        f"map({inner['key']}, {inner['value']})" if kind.id == "map" else f"{inner['child']}[{inner.get('size', '')}]"
    )


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
