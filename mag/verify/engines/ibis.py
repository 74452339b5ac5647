"""Tables of Ibis: counted as those of DuckDB and polars; of other backends, only types that compare exactly."""

from typing import Any

import narwhals as nw

from mag.verify.engines import cannot_compare, duckdb, polars


def compare_exactly(table: Any, keys: list[Any], values: list[Any]) -> nw.LazyFrame[Any]:
    """See `mag.verify.engines`."""
    import ibis

    backend = ibis.get_backend(table)
    if backend.name == "polars":
        return polars.compare_exactly(backend.compile(table), keys, values)
    if backend.name == "duckdb":
        backend.to_pyarrow(table.limit(0))  # makes tables in memory known to the connection
        return duckdb.compare_exactly(backend.con.sql(backend.compile(table)), keys, values)
    for name in keys:
        kind = table[name].type()
        if not (kind.is_integer() or kind.is_boolean() or kind.is_date() or kind.is_decimal()):
            raise cannot_compare(name, f"{str(kind).partition('(')[0]} in {backend.name}")
    made = {f"key{place}": table[name] for place, name in enumerate(keys)}
    made |= {f"value{place}": table[name] for place, name in enumerate(values)}
    return nw.from_native(table.select(**made))
