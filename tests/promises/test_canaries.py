"""Nothing of the original leaves the library, nor its order under `shuffle`."""

import io
import pickle
import zipfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import mag
from tests.data import canaries
from tests.data.canaries import Plant, Refused, Treatment, findings, outputs, search, written
from tests.data.needles import Needles


@pytest.mark.parametrize("case", list(canaries.usual_cases()), ids=str)
def test_nothing_of_the_original_is_found(case):
    try:
        found = findings(case)
    except Refused as refused:
        pytest.skip(str(refused))
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("case", list(canaries.every_case()), ids=str)
def test_nothing_of_the_original_is_found_in_any_combination(case):
    test_nothing_of_the_original_is_found(case)


# ---- the net itself


def leaks(plant, data):
    return list(search(plant.needles, outputs(data)))


def published(plant):
    """Which rows may be seen, and columns that may."""
    return [i for i, gone in enumerate(plant.withheld) if not gone], ["g", *canaries.KEPT]


LEAKING = {
    "polars, gathered views": lambda plant, rows, names: pl.DataFrame(plant.columns)[names][rows],
    "pandas, a slice": lambda plant, rows, names: pd.DataFrame(plant.columns)[names].iloc[:5],
    "pandas, categories": lambda plant, rows, names: canaries.pandas_categories(plant)[["tag"]].iloc[rows],
    "pandas, attributes": lambda plant, rows, names: canaries.pandas_plain(plant)[["tag"]].iloc[rows],
    "pyarrow, a slice": lambda plant, rows, names: pa.table(plant.columns).select(["amount"]).slice(0, 5),
    "pyarrow, a dictionary": lambda plant, rows, names: canaries.arrow_dictionary(plant).select(["tag"]).take(rows),
    "dict, the original": lambda plant, rows, names: {"x": np.array(plant.columns["x"], float)},
    "dict, a view": lambda plant, rows, names: {"count": np.array(plant.columns["count"])[:5]},
}


@pytest.mark.parametrize("leak", LEAKING)
def test_a_leaking_table_is_caught(leak):
    plant = Plant(Treatment("suppress", "drop"))
    rows, names = published(plant)
    assert leaks(plant, LEAKING[leak](plant, rows, names))


def test_a_leaking_category_is_caught():
    plant = Plant(Treatment(), categories=True)
    assert leaks(plant, pl.DataFrame({"job": plant.columns["job"][:1]}))


def test_a_table_of_published_values_is_not():
    plant = Plant(Treatment("suppress", "drop"))
    rows, names = published(plant)
    fresh = {name: [plant.columns[name][row] for row in rows] for name in names}
    for table in (
        pl.DataFrame(fresh),
        pd.DataFrame(fresh),
        pa.table(fresh),
        {n: np.array(c) for n, c in fresh.items()},
    ):
        assert leaks(plant, table) == []


PARQUET = ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]
WRITERS = {
    **{
        f"parquet {codec}, pages of version {version}": lambda table, codec=codec, version=version: written(
            lambda file: pq.write_table(
                table, file, compression=codec, data_page_version=version, write_statistics=False, store_schema=False
            )
        )
        for codec in PARQUET
        for version in ("1.0", "2.0")
    },
    "polars parquet": lambda table: written(pl.from_arrow(table).write_parquet, statistics=False),
    "feather lz4": lambda table: written(lambda file: pyarrow.feather.write_feather(table, file, "lz4")),
    "feather zstd": lambda table: written(lambda file: pyarrow.feather.write_feather(table, file, "zstd")),
    "csv": lambda table: written(pl.from_arrow(table).write_csv),
    "csv with a decimal comma": lambda table: written(
        pl.from_arrow(table).write_csv, separator=";", decimal_comma=True
    ),
    "utf-16": lambda table: pl.from_arrow(table).write_csv().encode("utf-16")[2:] + pickle.dumps(table),
    "xlsx": lambda table: written(pl.from_arrow(table).write_excel, float_precision=15),
    "pickle 2": lambda table: pickle.dumps(table, 2),
    "pickle of lists": lambda table: pickle.dumps(table.to_pydict()),
    "numpy": lambda table: (
        b"".join(
            np.array(column.to_pylist()).tobytes() for column in table.columns if column.type != pa.timestamp("us")
        )
        + pickle.dumps(table["when"].to_pylist())
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_every_kind_of_value_is_found_in_every_kind_of_bytes(writer):
    plant, needles = Plant(Treatment()), Needles()
    cells = {"text": plant.canary(), "float": plant.number(), "integer": plant.integer(), "when": plant.moment()}
    for name, cell in cells.items():
        needles.add(cell, name)
    make = {"text": lambda: plant.ordinary(20), "float": plant.number, "integer": plant.integer, "when": plant.moment}
    table = pa.table({name: [*(make[name]() for _ in range(50)), cell] for name, cell in cells.items()})
    blob = WRITERS[writer](table)
    assert {hit.partition(",")[0] for hit in needles.found(blob)} == set(cells)
    assert not needles.found(WRITERS[writer](table.slice(0, 5).combine_chunks().take([0, 1, 2])))


# ---- order

N, SEEDS = 200, 6


def physical_orders(table):
    """Whatever tells cells of an Arrow table apart by where they lie, as one key for each row."""
    yield "rows", np.arange(table.num_rows)
    for name in table.column_names:
        column = table.column(name).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        if pa.types.is_dictionary(column.type):
            yield f"codes of {name}", np.asarray(column.indices)
            yield from (
                (f"{what} in the dictionary of {name}", keys[column.indices]) for what, keys in views(column.dictionary)
            )
        else:
            yield from ((f"{what} of {name}", keys) for what, keys in views(column))


def views(array):
    """Buffers and offsets of strings longer than 12 bytes; offsets of others."""
    if array.type in (pa.string_view(), pa.binary_view()):
        words = np.frombuffer(array.buffers()[1], np.int32)[4 * array.offset :].reshape(-1, 4)[: len(array)]
        if (words[:, 0] > 12).all():
            yield "views", words[:, 2].astype(np.int64) << 32 | words[:, 3]
    elif array.type in (pa.string(), pa.large_string()):
        width = np.int32 if array.type == pa.string() else np.int64
        yield "offsets", np.frombuffer(array.buffers()[1], width)[array.offset :][: len(array)]


def suspicion(orders, positions):
    """How far ranks and neighborhoods of some keys follow the input, in standard deviations of a random order."""
    ranks = np.argsort(np.argsort(orders, kind="stable"))
    z = np.corrcoef(ranks, positions)[0, 1] * np.sqrt(len(ranks) - 1)
    steps = np.abs(np.diff(positions[np.argsort(orders, kind="stable")]))
    together = (np.count_nonzero(steps == 1) - 2) / np.sqrt(2)  # two of them on average, as good as Poisson
    return z, together


def unshuffled(published, seeds=SEEDS):
    """Orders that reveal the input's; `published(table, seed)` gives Arrow tables and arrays of keys by name."""
    rng = np.random.default_rng(1)
    found: dict[str, list] = {}
    for seed in range(seeds):
        ids = rng.permutation(N) + 1000  # tells a record, not its position
        groups = rng.permutation(np.repeat(np.arange(N // 4), 4))
        table = pa.table({
            "x": rng.normal(size=N), "id": ids, "note": [f"a note that is long, {i * 7919 % 10007:05d}" for i in ids],
            "tag": [f"category {g * 7919 % 10007:05d}" for g in groups],
        })  # fmt: skip
        where = dict(zip(ids.tolist(), range(N), strict=True))
        for name, (keys, shown) in published(table, seed).items():
            positions = np.array([where[i] for i in shown])
            found.setdefault(name, []).append(suspicion(np.asarray(keys), positions))
    return [
        name
        for name, each in found.items()
        if sum(z * z for z, _ in each) > 4 * seeds + 20 or max(t for _, t in each) > 8  # p < 1e-6 for six seeds
    ]


def keyed(table):
    """Every physical order of a table with the records it is about."""
    shown = [int(one) for one in table.column("id").to_pylist()]
    return {name: (keys, shown) for name, keys in physical_orders(table) if len(keys) == len(shown)}


def categorical(frame):
    return frame.with_columns(pl.col("tag").cast(pl.Categorical))


TABLES = {
    "pyarrow": lambda table: table,
    "pyarrow dictionary": lambda table: table.set_column(3, "tag", table["tag"].dictionary_encode()),
    "polars": pl.from_arrow,
    "polars categories": lambda table: categorical(pl.from_arrow(table)),
    "pandas": lambda table: table.to_pandas(),
    "pandas arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas categories": lambda table: table.to_pandas().assign(
        tag=lambda frame: pd.Categorical(frame["tag"], dict.fromkeys(frame["tag"]))
    ),
}


@pytest.mark.parametrize("library", TABLES)
def test_no_order_in_a_table_reveals_the_input(library):
    def published(table, seed):
        release = mag.microaggregate(
            TABLES[library](table), 4, "x", keep=["id", "note", "tag"], shuffle=True, random_state=seed
        )
        data = release.data
        newest = {"compat_level": pl.CompatLevel.newest()}
        arrow = data.to_arrow(**newest) if isinstance(data, pl.DataFrame) else pa.table(data)
        shown = arrow.column("id").to_pylist()
        orders = keyed(arrow) | {"labels": (release.grouping.labels, shown)}
        if isinstance(data, pl.DataFrame):
            ipc = pa.ipc.open_file(written(data.write_ipc)).read_all()
            orders |= {f"{name}, ipc": order for name, order in keyed(ipc).items()}
        if isinstance(data, pd.DataFrame):
            orders["index"] = (np.asarray(data.index), shown)
        return orders

    assert unshuffled(published) == []


FILES = {
    "parquet": lambda path: pq.read_table(path, read_dictionary=["note", "tag"]),
    "feather": lambda path: pa.ipc.open_file(path).read_all(),
}


def mask_shuffled(path, out, seed):
    words = f"-k 4 -c x --keep id --keep note --keep tag --shuffle --seed {seed} --overwrite".split()
    code, _, err = canaries.run(["mask", str(path), "-o", str(out), *words])
    assert code == 0, err


@pytest.mark.parametrize("target", FILES)
@pytest.mark.parametrize("source", ["csv", "feather", "feather with views", "feather with categories", "parquet"])
def test_no_order_in_a_file_reveals_the_input(tmp_path, source, target):
    def published(table, seed):
        frame, path = pl.from_arrow(table), tmp_path / f"in.{source.split()[0]}"
        if source == "csv":
            frame.write_csv(path)
        elif source == "parquet":
            frame.write_parquet(path)
        else:
            frame = categorical(frame) if "categories" in source else frame
            frame.write_ipc(path, compat_level=None if "views" in source else pl.CompatLevel.oldest())
        out = tmp_path / f"out.{target}"
        mask_shuffled(path, out, seed)
        return keyed(FILES[target](out))

    assert unshuffled(published) == []


def test_strings_of_a_spreadsheet_are_stored_in_the_order_of_its_rows(tmp_path):
    def published(table, seed):
        path, out = tmp_path / "in.csv", tmp_path / "out.xlsx"
        pl.from_arrow(table).write_csv(path)
        mask_shuffled(path, out, seed)
        shared = zipfile.ZipFile(io.BytesIO(out.read_bytes())).read("xl/sharedStrings.xml").decode()
        by_note = dict(zip(table["note"].to_pylist(), table["id"].to_pylist(), strict=True))
        shown = [by_note[note] for note in table["note"].to_pylist() if note in shared]
        return {"shared strings": ([shared.index(note) for note in table["note"].to_pylist() if note in shared], shown)}

    assert unshuffled(published) == []


def test_an_order_that_was_not_shuffled_is_noticed():
    assert "rows" in unshuffled(lambda table, seed: keyed(table))
