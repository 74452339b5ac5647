"""Tables and files with recognizable values in all that must not be published, and a search for them in all that is.

A case is a kind of input, a treatment (what is withheld, blanked, shuffled) and the outputs of its library.  `findings`
runs one and lists its findings by place; nothing here is shared with the package.
"""

import contextlib
import copy
import datetime
import io
import itertools
import json
import pathlib
import pickle
import tempfile
import traceback
import warnings
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.feather
import pyarrow.parquet as pq

import mag
from mag._lib.errors import InputError
from mag.commands.cli import main
from tests.data.needles import MARK, Needles

K = 3
MASKED, KEPT = ["x", "y"], ["note", "tag", "amount", "count", "seen", "raw"]
JOB = "job"  # text, masked by the functions that take categories
DROPPED_NAME = "the name of a dropped column"


@dataclass(frozen=True)
class Treatment:
    """Options of `microaggregate`, and thereby the values that must not be found."""

    rare: str = ""  # what becomes of strata below k: "", "suppress", "merge"
    gaps: str = ""  # what becomes of records that miss cells: "", "drop", "group"
    shuffle: bool = False
    scope: str = "joint"
    weights: bool = False
    method: str = "auto"

    def __str__(self):
        words = [self.rare, self.gaps, "shuffle" * self.shuffle, self.scope * (self.scope != "joint")]
        words += ["weights" * self.weights, self.method * (self.method != "auto")]
        return "-".join(filter(None, words)) or "all"

    def options(self):
        """Keywords of `microaggregate`."""
        given = {"scope": self.scope}
        given |= {"small_strata": self.rare} if self.rare else {}
        given |= {"missing": self.gaps} if self.gaps else {}
        given |= {"shuffle": True, "random_state": 7} if self.shuffle else {}
        given |= {"method": self.method} if self.method != "auto" else {}
        return given | ({"weights": "w"} if self.weights else {})


TREATMENTS = [
    Treatment(),
    Treatment(shuffle=True),
    Treatment("suppress", "drop"),
    Treatment("suppress", "drop", shuffle=True),
    Treatment("merge", "group"),
    Treatment("merge", "group", shuffle=True, weights=True),
    Treatment("suppress", "drop", scope="per-column", weights=True),
    Treatment("merge", "drop", scope="per-column", shuffle=True),
]


class Plant:
    """The cells of a table by column, and the values planted in it."""

    def __init__(self, treatment, seed=0, categories=False):
        self.rng, self.treatment, self.needles = np.random.default_rng(seed), treatment, Needles()
        self.secret = self.canary()[:8]
        kinds = ["plain"] * 9 + ["rare"] * 4 * bool(treatment.rare) + ["plain"] * 11
        kinds += ["gap"] * 4 * bool(treatment.gaps) + ["plain"] * 10
        self.withheld = [
            (kind == "rare" and treatment.rare == "suppress") or (kind == "gap" and treatment.gaps == "drop")
            for kind in kinds
        ]
        self.masked = [*MASKED, JOB] if categories else MASKED
        self.columns = {name: [] for name in [*self.masked, "g", *KEPT, "w", self.secret]}
        for kind in kinds:
            self._record(kind)
        self.forbid([self.secret], DROPPED_NAME)
        self.forbid(self.columns[self.secret], "a dropped column")
        self.forbid(self.columns["w"], "dropped weights")
        for name in self.masked:
            self.forbid(self.columns[name], "an original of a masked column")
        for name, cells in self.columns.items():
            rows = [cell for cell, gone in zip(cells, self.withheld, strict=True) if gone]
            if name != "g" or treatment.gaps != "drop":
                marked = [cell for cell in rows if not isinstance(cell, str) or cell.startswith(MARK)]
                self.forbid(marked, "a withheld record")
        runs = itertools.groupby(zip(self.columns["seen"], self.withheld, strict=True), lambda pair: pair[1])
        for gone, run in runs:
            if gone:
                self.needles.add_run([moment for moment, _ in run], "a withheld record")
        if treatment.rare:
            rare = [g for g, kind in zip(self.columns["g"], kinds, strict=True) if kind == "rare"]
            self.forbid(rare, "a blanked or withheld stratum")

    def _record(self, kind):
        """One record; those that may be withheld hold recognizable texts."""
        known = kind == "plain"
        cells = {
            "x": None if kind == "gap" else self.number(),
            "y": self.integer(),
            "g": self.canary() if kind == "rare" else ["north", "south"][len(self.columns["x"]) % 2],
            "note": self.ordinary(30) if known else self.canary(),
            "tag": self.ordinary(8) if known else self.canary()[:8],
            "amount": self.number(),
            "count": self.integer(),
            "seen": self.moment(),
            "raw": self.canary().encode() if not known else self.ordinary(20).encode(),
            "w": float(self.rng.uniform(1, 2)),
            self.secret: self.canary(),
        }
        if JOB in self.masked:
            cells[JOB] = self.canary()
        for name, cell in cells.items():
            self.columns[name].append(cell)

    # ---- values

    def canary(self):
        """A text to be recognized, longer than 12 bytes; its first eight are recognized by themselves."""
        code = "".join(self.rng.choice(list("0123456789abcdefghijklmnopqrstuvwxyz"), 5))
        return f"{MARK}{code} is not to be published"

    def ordinary(self, length):
        return "".join(self.rng.choice(list("abcdefghijklmnop"), length))

    def number(self):
        return float(self.rng.uniform(1e8, 9e8))

    def integer(self):
        return int(self.rng.integers(2**48, 2**52))

    def moment(self):
        return datetime.datetime(2100, 1, 1) + datetime.timedelta(milliseconds=int(self.rng.integers(0, 2**44)))

    def forbid(self, cells, where):
        for cell in cells:
            self.needles.add(cell, where)

    def plant(self, where):
        """A new text that must not be found."""
        text = self.canary()
        self.forbid([text], where)
        return text

    # ---- more places

    def beside(self, count=3):
        """The same columns with records before and after, which are not part of the table."""
        wide = {}
        for name, cells in self.columns.items():
            make = {
                "x": self.number, "y": self.integer, "amount": self.number, "count": self.integer, "w": self.number,
                "seen": self.moment, "raw": lambda: self.canary().encode(),
            }.get(name, self.canary)  # fmt: skip
            before, after = [make() for _ in range(count)], [make() for _ in range(count)]
            self.forbid(before + after, "a record beside the slice")
            wide[name] = before + cells + after
        return wide, count, len(self.columns["x"])

    def nulls(self):
        """Ordinary records whose cells are to be null over a recognizable value."""
        return [i for i, gone in enumerate(self.withheld) if not gone and i % 7 == 3]


# ---- inputs in memory


def arrow_columns(columns, **kinds):
    return pa.table({name: pa.array(cells, type=kinds.get(name)) for name, cells in columns.items()})


def hidden(array, rows):
    """The array with nulls in these rows, whose values stay in the buffers."""
    valid = np.array(array.is_valid())
    valid[rows] = False
    bits = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    return pa.Array.from_buffers(array.type, len(array), [bits, *array.buffers()[1:]])


def over_values(plant, table):
    """An Arrow table whose columns hold recognizable values under nulls."""
    rows = plant.nulls()
    for name, make in (("amount", plant.number), ("note", plant.canary), ("count", plant.integer)):
        cells = table.column(name).to_pylist()
        for row in rows:
            cells[row] = make()
        plant.forbid([cells[row] for row in rows], "a value under a null")
        array = hidden(pa.array(cells, type=table.column(name).type), rows)
        table = table.set_column(table.column_names.index(name), name, array)
    return table


def described(plant, table):
    """Metadata of the schema and of every field."""
    fields = [one.with_metadata({plant.plant("metadata of a field"): "1"}) for one in table.schema]
    whole = {plant.plant("metadata of the schema"): plant.plant("metadata of the schema")}
    return table.cast(pa.schema(fields, metadata=whole))


def pandas_named(plant, frame):
    """Index, names of index and columns, attributes."""
    labels = [plant.canary() for _ in range(len(frame))]
    gone = [label for label, out in zip(labels, plant.withheld, strict=True) if out]
    plant.forbid(labels if plant.treatment.shuffle else gone, "the index")
    name = plant.canary()[:8]
    if plant.treatment.shuffle:
        plant.forbid([name], "the name of the index")
    frame.index = pd.Index(labels, name=name)
    frame.columns.name = plant.plant("the name of the columns")
    frame.attrs = {plant.plant("attrs"): plant.plant("attrs")}
    return frame


def pandas_plain(plant):
    return pandas_named(plant, pd.DataFrame(plant.columns))


def pandas_object(plant):
    frame = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in plant.columns.items()})
    return pandas_named(plant, frame.astype({"x": float, "y": "int64", "w": float}))


def pandas_nullable(plant):
    frame = pd.DataFrame(plant.columns).astype({
        "x": "Float64", "y": "Int64", "g": "string[python]", "note": "string[python]", "tag": "string[python]",
        "amount": "Float64", "count": "Int64",
    })  # fmt: skip
    rows = plant.nulls()
    for name, make in (("amount", plant.number), ("count", plant.integer)):
        beneath, gone = frame[name].to_numpy().copy(), np.zeros(len(frame), bool)
        beneath[rows], gone[rows] = [make() for _ in rows], True
        plant.forbid(beneath[rows].tolist(), "a value under a null")
        frame[name] = type(frame[name].array)(beneath, gone)
    return pandas_named(plant, frame)


def pandas_arrow(plant):
    table = over_values(plant, arrow_columns(plant.columns))
    frame = pd.DataFrame({
        name: pd.array(pd.arrays.ArrowExtensionArray(table.column(name))) for name in table.column_names
    })  # fmt: skip
    return pandas_named(plant, frame)


def pandas_categories(plant):
    frame = pd.DataFrame(plant.columns)
    for name in ("g", "tag", "note"):
        unused = [plant.plant("an unused category") for _ in range(3)]
        categories = [*unused, *dict.fromkeys(frame[name])]
        frame[name] = pd.Categorical(frame[name], categories)
    frame["amount"] = pd.Categorical(frame["amount"])
    return pandas_named(plant, frame)


def pandas_slice(plant):
    wide, count, n = plant.beside()
    return pandas_named(plant, pd.DataFrame(wide).iloc[count : count + n].copy(deep=False))


def pandas_levels(plant):
    """Levels of an index and of column names, which keep what is no longer there."""
    frame = pandas_plain(plant)
    second = [plant.canary() for _ in range(len(frame))]
    gone = [label for label, out in zip(second, plant.withheld, strict=True) if out]
    plant.forbid(second if plant.treatment.shuffle else gone, "the index")
    frame.index = pd.MultiIndex.from_arrays([frame.index, pd.CategoricalIndex(second)])
    frame.columns = pd.CategoricalIndex(frame.columns, categories=[*frame.columns, plant.plant("an unused category")])
    return frame


def pandas_extensions(plant):
    """Sparse cells, intervals, periods and moments with a zone."""
    frame = pd.DataFrame(plant.columns)
    frame["amount"] = pd.arrays.SparseArray(frame["amount"], fill_value=frame["amount"].iloc[0])
    frame["seen"] = frame["seen"].dt.tz_localize("Europe/Paris")
    frame["count"] = pd.arrays.IntervalArray.from_arrays(frame["count"], frame["count"] + 1)
    return pandas_named(plant, frame)


def polars_plain(plant):
    return pl.DataFrame(plant.columns)


def polars_categories(plant):
    unused = [plant.plant("an unused category") for _ in range(3)]
    texts = dict.fromkeys(plant.columns["tag"])
    return pl.DataFrame(plant.columns).with_columns(
        pl.col("tag").cast(pl.Enum([*unused, *texts])),
        pl.col("g").cast(pl.Enum([*dict.fromkeys(plant.columns["g"]), unused[0]])),
        pl.col("note").cast(pl.Categorical),
    )


def polars_nested(plant):
    entries = [plant.plant("an unused category"), *dict.fromkeys(plant.columns["tag"])]
    frame = pl.DataFrame(plant.columns).with_columns(pl.col("tag").cast(pl.Enum(entries)))
    return frame.with_columns(
        pl.concat_list("note", pl.col("tag").cast(pl.String)).alias("note"),
        pl.struct("tag", "raw").alias("tag"),
        pl.concat_list("amount", "amount").list.to_array(2).alias("amount"),
    )


def polars_slice(plant):
    wide, count, n = plant.beside()
    return pl.DataFrame(wide).slice(count, n)


def polars_nulls(plant):
    return pl.from_arrow(over_values(plant, arrow_columns(plant.columns)))


def arrow_plain(plant):
    return described(plant, over_values(plant, arrow_columns(plant.columns)))


def arrow_dictionary(plant):
    table = arrow_columns(plant.columns)
    for name in ("g", "tag", "note"):
        texts = list(dict.fromkeys(plant.columns[name]))
        entries = pa.array([*(plant.plant("an unused entry of a dictionary") for _ in range(3)), *texts])
        codes = pa.array([3 + texts.index(cell) for cell in plant.columns[name]], pa.int32())
        column = pa.DictionaryArray.from_arrays(codes, entries)
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def arrow_views(plant):
    return arrow_columns(plant.columns, note=pa.string_view(), raw=pa.binary_view(), g=pa.string_view())


def arrow_nested(plant):
    columns = dict(plant.columns)
    columns["note"] = [[text, text] for text in columns["note"]]
    columns["tag"] = [{"a": text, "b": number} for text, number in zip(columns["tag"], columns["amount"], strict=True)]
    columns["raw"] = [[(raw, number)] for raw, number in zip(columns["raw"], columns["count"], strict=True)]
    table = arrow_columns(columns, raw=pa.map_(pa.binary(), pa.int64()))
    rows = plant.nulls()
    cells = list(columns["tag"])
    for row in rows:
        cells[row] = {"a": plant.plant("a value under a null"), "b": None}
    built = pa.array(cells)
    valid = np.ones(len(cells), bool)
    valid[rows] = False
    bits = pa.py_buffer(np.packbits(valid, bitorder="little").tobytes())
    fields = [built.field(0), built.field(1)]
    struct = pa.Array.from_buffers(built.type, len(cells), [bits], children=fields)
    return described(plant, table.set_column(table.column_names.index("tag"), "tag", struct))


def arrow_slice(plant):
    wide, count, n = plant.beside()
    return arrow_columns(wide).slice(count, n)


def arrow_chunks(plant):
    table = arrow_columns(plant.columns)
    parts = [table.slice(0, 5), table.slice(5, 11), table.slice(16)]
    return pa.concat_tables(parts)


def numpy_column(name, cells):
    """Strata are objects, which can be missing."""
    return np.array(cells, {"x": float, "g": object}.get(name))


def dict_numpy(plant):
    table = {name: numpy_column(name, cells) for name, cells in plant.columns.items()}
    kind = np.dtype("f8", metadata={plant.plant("metadata of a dtype"): 1})
    return table | {"amount": table["amount"].astype(kind), "tag": table["tag"].astype(np.dtypes.StringDType())}


def dict_objects(plant):
    return {name: np.array(cells, float if name in "xw" else object) for name, cells in plant.columns.items()}


def dict_views(plant):
    """Columns of a matrix that holds more, and slices of longer arrays."""
    wide, count, n = plant.beside()
    table = {name: numpy_column(name, cells)[count : count + n] for name, cells in wide.items()}
    matrix = np.column_stack([table["x"], table["amount"], [plant.number() for _ in range(n)]])
    plant.forbid(matrix[:, 2].tolist(), "another column of the matrix")
    return table | {"x": matrix[:, 0], "amount": matrix[:, 1]}


def dict_torch(plant):
    import torch

    wide, count, n = plant.beside()
    table = {name: numpy_column(name, cells) for name, cells in wide.items()}
    tensors = {name: torch.from_numpy(table[name].astype(float)) for name in ("x", "amount")}
    tensors |= {name: torch.from_numpy(table[name]) for name in ("y", "count")}
    return {name: column[count : count + n] for name, column in (table | tensors).items()}


def dict_series(plant):
    frame, other, table = pandas_plain(plant), pl.DataFrame(plant.columns), arrow_columns(plant.columns)
    pick = [frame, other, table]
    return {name: pick[j % 3][name] for j, name in enumerate(plant.columns)}


MEMORY = {
    "pandas": pandas_plain,
    "pandas object": pandas_object,
    "pandas nullable": pandas_nullable,
    "pandas arrow": pandas_arrow,
    "pandas categories": pandas_categories,
    "pandas slice": pandas_slice,
    "pandas levels": pandas_levels,
    "pandas extensions": pandas_extensions,
    "polars": polars_plain,
    "polars categories": polars_categories,
    "polars nested": polars_nested,
    "polars slice": polars_slice,
    "polars nulls": polars_nulls,
    "pyarrow": arrow_plain,
    "pyarrow dictionary": arrow_dictionary,
    "pyarrow views": arrow_views,
    "pyarrow nested": arrow_nested,
    "pyarrow slice": arrow_slice,
    "pyarrow chunks": arrow_chunks,
    "dict": dict_numpy,
    "dict objects": dict_objects,
    "dict views": dict_views,
    "dict torch": dict_torch,
    "dict series": dict_series,
}


# ---- outputs in memory


def written(write, **options):
    """The content of a file that a writer makes."""
    file = io.BytesIO()
    write(file, **options)
    return file.getvalue()


def pickles(thing):
    """By every protocol, and with its buffers beside it."""
    for protocol in range(2, 6):
        yield f"pickle {protocol}", pickle.dumps(thing, protocol)
    buffers = []
    head = pickle.dumps(thing, 5, buffer_callback=buffers.append)
    yield "pickle 5, buffers", b"".join([head, *(bytes(buffer.raw()) for buffer in buffers)])
    yield "copy", pickle.dumps(copy.copy(thing), 5)
    yield "deepcopy", pickle.dumps(copy.deepcopy(thing), 5)


def shown(thing):
    yield "repr", repr(thing).encode()
    yield "str", str(thing).encode()
    if hasattr(thing, "_repr_html_"):
        yield "html", (thing._repr_html_() or "").encode()


def memory(thing):
    """All bytes that an array holds on to, whole parents of slices and views included."""
    if isinstance(thing, np.ndarray):
        while isinstance(thing.base, np.ndarray):
            thing = thing.base
        if thing.dtype == object:
            yield pickle.dumps(thing.tolist(), 5)
        else:
            yield np.ascontiguousarray(thing).tobytes()
        if thing.base is not None:
            with contextlib.suppress(TypeError):
                yield bytes(memoryview(thing.base))
    elif isinstance(thing, pa.ChunkedArray):
        for chunk in thing.chunks:
            yield from memory(chunk)
    elif isinstance(thing, pa.Array):
        for buffer in thing.buffers():
            while buffer is not None and buffer.parent is not None:
                buffer = buffer.parent
            if buffer is not None:
                yield buffer.to_pybytes()
        if pa.types.is_dictionary(thing.type):
            yield from memory(thing.dictionary)
        for j in range(thing.type.num_fields if pa.types.is_struct(thing.type) else 0):
            yield from memory(thing.field(j))
        if isinstance(thing, (pa.ListArray, pa.LargeListArray)):
            yield from memory(thing.values)
    elif isinstance(thing, (pd.Series, pd.Index)):
        if isinstance(thing, pd.MultiIndex):
            for part in (*thing.levels, *thing.codes):
                yield from memory(part)
        else:
            yield from memory(thing.array)
    elif isinstance(thing, pd.api.extensions.ExtensionArray):
        for name in ("_ndarray", "_data", "_mask", "_pa_array", "_codes", "categories"):
            part = getattr(thing, name, None)
            if isinstance(part, (np.ndarray, pa.Array, pa.ChunkedArray, pd.Index)):
                yield from memory(part)
    elif isinstance(thing, pl.Series):
        yield from memory(thing.to_arrow(compat_level=pl.CompatLevel.newest()))
        yield from memory(thing.rechunk().to_physical().to_arrow())
    elif type(thing).__module__ == "torch":
        yield bytes(thing.untyped_storage().tolist())


def arrow_bytes(table):
    def ipc(file):
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)

    yield "ipc", written(ipc)
    for compression in ("lz4", "zstd"):
        with contextlib.suppress(pa.ArrowNotImplementedError):  # no views in Feather
            yield f"feather {compression}", written(lambda f: pyarrow.feather.write_feather(table, f, compression))  # noqa: B023
    yield "schema", f"{table.schema.to_string(show_field_metadata=True)}{table.schema.metadata}".encode()
    with contextlib.suppress(pa.ArrowNotImplementedError):
        yield "parquet", written(lambda file: pq.write_table(table, file))
    for column in table.columns:
        for held in memory(column):
            yield "memory", held


def outputs(data):
    """Everything that a user can write, pickle or look at."""
    yield from pickles(data)
    yield from shown(data)
    if isinstance(data, dict):
        for column in data.values():
            for held in memory(column):
                yield "memory", held
        return
    if isinstance(data, pd.DataFrame):
        yield "attrs", repr((data.attrs, data.columns.name, data.index.names)).encode()
        yield "csv", data.to_csv().encode()
        with contextlib.suppress(pa.ArrowException, ValueError, TypeError, NotImplementedError):
            yield "to_parquet", written(data.to_parquet)
        with contextlib.suppress(pa.ArrowException, ValueError, TypeError, NotImplementedError):
            yield "to_feather", written(data.reset_index(drop=True).to_feather)
        for part in (data.index, data.columns, *(data.iloc[:, j] for j in range(data.shape[1]))):
            for held in memory(part):
                yield "memory", held
        with contextlib.suppress(pa.ArrowException, TypeError):  # objects of several types, sparse cells
            for name, blob in arrow_bytes(pa.table(data)):
                yield f"arrow {name}", blob
    if isinstance(data, pl.DataFrame):
        for compression in ("uncompressed", "lz4", "zstd"):
            yield f"write_ipc {compression}", written(data.write_ipc, compression=compression)
        yield "write_ipc_stream", written(data.write_ipc_stream)
        yield "write_parquet", written(data.write_parquet)
        yield "serialize", data.serialize()
        for column in data:
            for held in memory(column):
                yield "memory", held
        for name, blob in arrow_bytes(pa.table(data)):
            yield f"arrow {name}", blob
    if isinstance(data, pa.Table):
        yield from arrow_bytes(data)


def release_outputs(release, folder):
    """Texts of a release other than its data."""
    for name, blob in itertools.chain(pickles(release), shown(release), shown(release.grouping)):
        yield f"release {name}", blob
    yield "manifest", json.dumps(release.manifest(), default=str).encode()
    yield "report", release.report(pathlib.Path(folder, "report.html")).read_bytes()


# ---- files


TEXT, NUMBERS, ALL = ["note", "tag"], ["amount", "count"], ["note", "tag", "amount", "count", "seen", "raw"]
FILES = {  # the kept columns that a format can hold
    "csv": [*TEXT, *NUMBERS, "seen"],
    "tsv": [*TEXT, *NUMBERS, "seen"],
    "parquet": ALL,
    "feather": ALL,
    "dta": [*TEXT, *NUMBERS],  # and "code", which has labels
    "sav": [*TEXT, *NUMBERS],
    "xpt": [*TEXT, *NUMBERS],
    "xlsx": [*TEXT, *NUMBERS, "seen"],
}


def file_of(plant, form, kept, path, options=()):
    """Write the planted table, with all that its format can hold besides cells; the columns to keep and to drop."""
    drop = ["w", plant.secret]
    if "pandas" in options:  # as pandas writes it, with all that it knows of a frame
        frame = pandas_plain(plant)[[*MASKED, "g", *kept, *drop]]
        plant.forbid(frame.index, "a dropped index")
        plant.forbid([frame.index.name], DROPPED_NAME)
        frame.to_parquet(path)
        return kept, [*drop, frame.index.name]
    frame = pl.DataFrame({name: plant.columns[name] for name in [*plant.masked, "g", *kept, "w", plant.secret]})
    if form in ("csv", "tsv"):
        frame.write_csv(path, separator="," if form == "csv" else "\t")
    elif form in ("parquet", "feather"):
        table = described(plant, frame.to_arrow(compat_level=pl.CompatLevel.oldest()))
        if "categories" in options:
            cells = [plant.plant("an unused entry of a dictionary"), *plant.columns["tag"]]
            column = pa.array(cells).dictionary_encode().slice(1)
            table = table.set_column(table.column_names.index("tag"), "tag", column)
        if form == "parquet":
            pq.write_table(table, path)
        else:
            pyarrow.feather.write_feather(table, path, "uncompressed")
    elif form == "xlsx":
        import xlsxwriter

        with xlsxwriter.Workbook(path, {"nan_inf_to_errors": True}) as book:
            book.set_properties({"title": plant.plant("a title"), "comments": plant.plant("a comment")})
            frame.write_excel(book, "Sheet1", float_precision=15)
            sheet = book.get_worksheet_by_name("Sheet1")
            sheet.write_comment("A2", plant.plant("a comment"))
            book.add_worksheet("other").write_string(0, 0, plant.plant("another sheet"))
    else:
        _statistics_file(plant, form, frame, path)
        kept = [*kept, "code"]
    return kept, drop


def _statistics_file(plant, form, frame, path):
    """Labels of a dropped column and of values that are not published are planted; those that are published are not."""
    import pyreadstat

    labels = {plant.secret: plant.plant("the label of a dropped column"), "x": "income"}
    common = {"column_labels": labels, "file_label": plant.plant("a label of the file")}
    codes = {1: "employed", 2: plant.plant("a value label of nothing that is published")}
    if any(plant.withheld):
        codes[9] = plant.plant("a value label of nothing that is published")
    values = {
        "code": codes,
        "w": {1: plant.plant("a value label of a dropped column")},
    }
    table = frame.to_pandas()
    table["code"] = np.where(plant.withheld, 9, 1).astype(np.int32)
    if form == "dta":
        pyreadstat.write_dta(table.astype({"w": np.int32}), path, **common, variable_value_labels=values)
    elif form == "sav":
        pyreadstat.write_sav(table, path, **common, note=plant.plant("a note"), variable_value_labels=values)
    else:
        pyreadstat.write_xport(table, path, **common, table_name=plant.plant("a name of a table")[:8])


def command_of(treatment, source, target, kept, drop, more):
    """`mag mask` for the planted file."""
    words = ["mask", str(source), "-o", str(target), "-k", str(K), "--by", "g", "--scope", treatment.scope]
    for option, names in (("-c", MASKED), ("--keep", kept), ("--drop", drop)):
        words += [word for name in names for word in (option, name)]
    words += ["--missing", treatment.gaps] if treatment.gaps else []
    words += ["--small-strata", treatment.rare] if treatment.rare else []
    words += ["--shuffle", "--seed", "7"] if treatment.shuffle else []
    return [*words, *(["--weights", "w"] if treatment.weights else []), *more]


def with_categories(words, plant, folder):
    """`mag mask` with a column of categories, and criteria."""
    tree_of(dict.fromkeys(plant.columns[JOB])).to_arx(folder / "job.csv")
    at = words.index("tag") - 1  # a sensitive column is not kept
    words = [*words[:at], *words[at + 2 :], "-c", JOB, "--hierarchy", f"{JOB}={folder / 'job.csv'}"]
    return [*words, "--diversity", "tag=2"]


def recoded(words, plant, folder):
    """`mag generalize` with the same roles."""
    words = with_categories(words, plant, folder)
    for option in ("--scope", "--small-strata"):
        if option in words:
            at = words.index(option)
            words = [*words[:at], *words[at + 2 :]]
    for name, (low, high, widths) in RANGES.items():
        words += ["--intervals", f"{name}={low}:{high}:{','.join(map(str, widths))}"]
    return ["generalize", *words[1:], "--max-suppressed", "0.5"]


COMMANDS = {"categories masked": with_categories, "generalize": recoded}


def run(words):
    """Exit code and output."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


# ---- cases


@dataclass(frozen=True)
class Case:
    """An input kind and a treatment; for files, also the format that is written."""

    kind: str
    treatment: Treatment
    target: str = ""
    seed: int = 0
    options: tuple = field(default=())

    def __str__(self):
        words = [self.kind, self.target and f"to {self.target}", str(self.treatment), *self.options]
        return " ".join(filter(None, words)) + f" {self.seed}" * bool(self.seed)


# ---- functions that take categories


def tree_of(values):
    """All values of a column below some labels, as the caller's function makes it."""
    return mag.Hierarchy.from_levels([[value, f"kind {j % 2}", "all"] for j, value in enumerate(values)])


RANGES = {"x": (0, 10**9, [10**8, 5 * 10**8]), "y": (0, 2**53, [2**51, 2**52])}
FUNCTIONS = {  # what is called, and with which options
    "generalize": (mag.generalize, {"max_suppressed": 0.4}),
    "generalize, withholding": (mag.generalize, {"max_suppressed": 0.4, "show_suppressed_as": "withhold"}),
    "generalize, diverse": (
        mag.generalize,
        {"max_suppressed": 0.5, "diversity": {"count": 2}, "closeness": {"seen": 0.9}},
    ),
    "categories": (mag.microaggregate, {}),
    "middles": (mag.microaggregate, {"aggregate": {"x": "mid_range", "y": "mid_range"}, "standardize": "range"}),
    "diverse": (mag.microaggregate, {"diversity": {"count": ("entropy", 2)}, "closeness": {"seen": 0.9}}),
    "other": (mag.microaggregate, {"other": "root"}),
    "mondrian": (mag.microaggregate, {"method": "mondrian"}),
}
RECODING = [Treatment(), Treatment("suppress", "drop"), Treatment("suppress", "drop", shuffle=True)]


def call_of(function, plant, treatment):
    """The function, and keywords for a planted table with categories."""
    called, more = FUNCTIONS[function]
    options = treatment.options()
    sensitive = [*more.get("diversity", ()), *more.get("closeness", ())]
    options |= {"by": "g", "keep": [name for name in KEPT if name not in sensitive], "drop": ["w", plant.secret]}
    trees = {JOB: (lambda values: tree_of(values[:5])) if "other" in more else tree_of}
    if called is mag.generalize:  # small strata are withheld
        trees |= {name: mag.Hierarchy.intervals(*bounds) for name, bounds in RANGES.items()}
        options = {name: value for name, value in options.items() if name not in ("scope", "small_strata")}
    return called, options | more | {"hierarchies": trees}


class Refused(Exception):  # noqa: N818 - not an error
    """The format cannot hold the cells, and the command line says so."""


def findings(case):
    """Findings of the original: lines of output and place."""
    ways = {"": _memory_findings, "stream": _stream_findings, "error": _error_findings, "result": _result_findings}
    ways["mistake"] = _category_error_findings
    return sorted(set(ways.get(case.target, _file_findings)(case)))


def search(needles, blobs):
    """Places of canaries in outputs."""
    seen = set()
    for output, blob in blobs:
        if (output, blob) not in seen:
            seen.add((output, blob))
            yield from (f"{output}: {hit}" for hit in needles.found(blob))


def _memory_findings(case):
    plant = Plant(case.treatment, case.seed, bool(case.options))
    table = MEMORY[case.kind](plant)
    function = mag.microaggregate
    call = {"by": "g", "keep": KEPT, "drop": ["w", plant.secret], **case.treatment.options()}
    if case.options:
        function, call = call_of(case.options[0], plant, case.treatment)
    with _folders() as (_, folder, said):
        release = function(table, K, plant.masked, **call)
        yield from search(plant.needles, said())
        warnings.simplefilter("ignore")  # of writers
        blobs = itertools.chain(outputs(release.data), release_outputs(release, folder))
        yield from search(plant.needles, blobs)


def _file_findings(case):
    command = next((name for name in COMMANDS if name in case.options), "")
    plant = Plant(case.treatment, case.seed, bool(command))
    kept = [name for name in FILES[case.kind] if name in FILES[case.target]]
    with _folders() as (inside, outside, said):
        source = inside / f"in.{case.kind}"
        kept, drop = file_of(plant, case.kind, kept, source, case.options)
        more = ["--report", str(outside / "report.html")] * ("report" in case.options)
        more += ["--json"] * ("json" in case.options)
        words = command_of(case.treatment, source, outside / f"out.{case.target}", kept, drop, more)
        words = COMMANDS[command](words, plant, inside) if command else words
        code, out, err = run(words)
        printed = ("manifest" if "json" in case.options else "printed", (out + err).encode())
        yield from search(plant.needles, [printed, *_contents(outside), *said()])
        if code == 2:
            raise Refused(err.strip())
        assert code == 0, f"exit code {code}: {err}"


def _stream_findings(case):
    """A folder of Parquet files, masked column by column; a run that fails half-way; what is left of both."""
    plant = Plant(case.treatment, case.seed)
    with _folders() as (inside, outside, said):
        table = described(plant, arrow_columns(plant.columns))
        half = table.num_rows // 2
        for name, part in (("a", table.slice(0, half)), ("b", table.slice(half))):
            pq.write_table(part, inside / f"{name}.parquet")
        source = pads.dataset(inside, format="parquet") if "dataset" in case.options else inside
        call = {"scope": "per-column", "by": "g", "keep": KEPT, "drop": ["w", plant.secret]}
        call |= case.treatment.options() | {"output": outside / "out.parquet"}
        if "interrupted" in case.options:

            def stop(fraction):
                raise KeyboardInterrupt

            with contextlib.suppress(KeyboardInterrupt):
                mag.microaggregate(source, K, MASKED, **call, progress=stop)
            yield from search(plant.needles, _contents(outside))
        release = mag.microaggregate(source, K, MASKED, **call)
        blobs = [("manifest", json.dumps(release.manifest(), default=str).encode())]
        blobs += [(f"release {name}", blob) for name, blob in (*shown(release), *pickles(release))]
        blobs += [*_contents(outside), *arrow_bytes(release.data.to_table()), *said()]
        yield from search(plant.needles, blobs)


@contextlib.contextmanager
def _folders():
    """Where to read and to write, and what else a run leaves: warnings, temporary files."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        inside, outside, aside = (pathlib.Path(folder, name) for name in ("in", "out", "tmp"))
        for path in (inside, outside, aside):
            path.mkdir()

        def said():
            return [*(("warning", str(one.message).encode()) for one in told), *_contents(aside)]

        usual, tempfile.tempdir = tempfile.tempdir, str(aside)
        try:
            yield inside, outside, said
        finally:
            tempfile.tempdir = usual


def _contents(folder):
    """All files, hidden ones too, by what they are."""
    roles = {".json": "manifest", ".html": "report"}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield f"{roles.get(path.suffix, 'file')} {path.name}", path.read_bytes()


# ---- what is said where nothing is published, and what other functions return


def without(name, cells):
    """A table whose column is replaced."""
    return lambda table, plant: table | {name: cells(table[name], plant)}


MISTAKES = {  # what is wrong with the table, and options
    "missing cells": (lambda table, plant: table, {"small_strata": "merge"}),
    "small strata": (lambda table, plant: table, {"missing": "drop"}),
    "text to mask": (without("x", lambda cells, plant: plant.columns["note"]), {}),
    "one text to mask": (without("x", lambda cells, plant: [*cells[:-1], plant.plant("a cell")]), {}),
    "an infinite value": (without("x", lambda cells, plant: [*cells[:-1], float("inf")]), {"missing": "drop"}),
    "negative weights": (without("w", lambda cells, plant: [-cell for cell in cells]), {"weights": "w"}),
    "text as weights": (without("w", lambda cells, plant: plant.columns["note"]), {"weights": "w"}),
    "lengths": (without("x", lambda cells, plant: cells[1:]), {}),
    "a column without a role": (lambda table, plant: table, {"keep": KEPT[1:]}),
    "k": (lambda table, plant: table, {"k": 10**6, "missing": "drop", "small_strata": "suppress"}),
}
CATEGORY_MISTAKES = {  # of functions that take categories: the function, and options
    "diversity": ("categories", {"diversity": {"note": 10**3}}),
    "entropy": ("categories", {"diversity": {"note": ("entropy", 30)}, "by": None, "drop": ["g"]}),
    "closeness of text": ("categories", {"closeness": {"note": mag.Closeness(0.1, "ordered")}}),
    "closeness without leaves": ("categories", {"closeness": {"note": mag.Closeness(0.1, hierarchy={"a": "b"})}}),
    "closeness of strata": ("categories", {"closeness": {"note": 0.001}}),
    "order": ("categories", {"order": {"note": ["a", "b"]}, "sensitive": "note", "closeness": {"note": 0.1}}),
    "order of categories": ("categories", {"order": {JOB: ["a", "b"]}}),
    "no leaf": ("categories", {"hierarchies": {JOB: {"a": "b"}}}),
    "no leaf to recode": ("generalize", {"hierarchies": {JOB: {"a": "b"}}}),
    "no tree": ("generalize", {"hierarchies": {JOB: lambda values: mag.Hierarchy([[v, v] for v in values])}}),
    "a failing function": ("generalize", {"hierarchies": {JOB: lambda values: mag.Hierarchy.dates(values)}}),
    "numbers to recode": ("generalize", {"hierarchies": None}),
    "outside of intervals": ("generalize", {"hierarchies": {"x": mag.Hierarchy.intervals(0, 9, [3])}}),
    "nothing suppressed": ("generalize", {"max_suppressed": 0, "missing": "group"}),
    "missing cells to recode": ("generalize", {"missing": "error"}),
    "diversity to recode": ("generalize, diverse", {"diversity": {"count": 40}}),
}
LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
    "dict": lambda columns: {name: np.array(cells, object) for name, cells in columns.items()},
    "csv": None,
}


def _error_findings(case):
    """Errors quote no cell, nor do those that they were raised from; to their caller they may name every column."""
    plant = Plant(case.treatment, case.seed)
    change, options = MISTAKES[case.options[0]]
    columns = change({name: list(cells) for name, cells in plant.columns.items() if name != "raw"}, plant)
    kept = [name for name in KEPT if name != "raw"]
    if case.kind == "csv":
        with _folders() as (inside, outside, said):
            lines = [list(columns), *itertools.zip_longest(*columns.values(), fillvalue="")]
            (inside / "in.csv").write_text(
                "\n".join(",".join("" if c is None else str(c) for c in row) for row in lines)
            )
            treatment = Treatment(
                options.get("small_strata", ""), options.get("missing", ""), weights="weights" in options
            )
            more = ["-k", str(options["k"])] if "k" in options else []
            words = command_of(treatment, inside / "in.csv", outside / "o.csv", kept, ["w", plant.secret], more)
            code, out, err = run(words)
            blobs = [("error", (out + err).encode()), *_contents(outside), *said()]
            yield from (line for line in search(plant.needles, blobs) if DROPPED_NAME not in line)
            assert code in (0, 2), err
        return
    call = {"k": K, "by": "g", "keep": kept, "drop": ["w", plant.secret], **options}
    try:
        table = LIBRARIES[case.kind](columns)
    except (ValueError, TypeError, pa.ArrowException, pl.exceptions.PolarsError):
        return  # the library does not make such a table
    try:
        mag.microaggregate(table, columns=MASKED, **call)
    except (ValueError, TypeError) as error:
        told = "".join(traceback.format_exception(error)).encode()
        yield from (line for line in search(plant.needles, [("error", told)]) if DROPPED_NAME not in line)


def _category_error_findings(case):
    """The same of functions that take categories: every one of these calls is refused."""
    plant = Plant(case.treatment, case.seed, categories=True)
    function, wrong = CATEGORY_MISTAKES[case.options[0]]
    called, call = call_of(function, plant, case.treatment)
    sensitive = [name for option in ("diversity", "closeness") for name in (call | wrong).get(option, ())]
    call |= wrong | {"drop": [*call["drop"], *wrong.get("drop", ())], "rest": "drop"}
    call["keep"] = [name for name in KEPT if name not in [*sensitive, "raw"]]
    columns = {name: cells for name, cells in plant.columns.items() if name != "raw"}
    if case.kind == "dict":
        table = {name: np.array(cells, float if name in "xw" else object) for name, cells in columns.items()}
    else:
        table = LIBRARIES[case.kind](columns)
    try:
        called(table, K, plant.masked, **call)
    except InputError as error:
        told = "".join(traceback.format_exception(error)).encode()
        held = repr([(one, vars(one)) for one in (error, error.__context__) if one is not None]).encode()
        blobs = [("error", told), ("error and its context", held)]
        yield from (line for line in search(plant.needles, blobs) if DROPPED_NAME not in line)
    else:
        raise AssertionError(f"{case.options[0]} is no mistake")


def _result_findings(case):
    """What the functions for arrays return holds groups and representatives."""
    plant, needles = Plant(case.treatment, case.seed), Needles()
    table = np.array([plant.columns["x"], plant.columns["amount"]]).T
    for number in table.ravel().tolist():
        needles.add(number, "an original of a masked column")
    secrets = [plant.canary() for _ in table]
    for value in (*secrets, *plant.columns["count"]):
        needles.add(value, "a sensitive value")
    made = {
        "univariate": lambda: mag.univariate(table[:, 0], K),
        "columns": lambda: mag.columns(table, K),
        "multivariate": lambda: mag.multivariate(table, K),
        "estimator": lambda: mag.Microaggregator(K).fit(table),
        "diverse estimator": lambda: mag.Microaggregator(K, diversity=2).fit(table, sensitive=secrets),
        "close estimator": lambda: mag.Microaggregator(K, closeness=0.5).fit(table, sensitive=plant.columns["count"]),
    }[case.options[0]]()
    yield from search(needles, itertools.chain(pickles(made), shown(made)))


# ---- all of them


def memory_cases(treatments=TREATMENTS, seed=0):
    return [Case(kind, treatment, seed=seed) for kind in MEMORY for treatment in treatments]


def file_cases(treatments=TREATMENTS, seed=0):
    return [Case(kind, one, target, seed) for kind in FILES for target in FILES for one in treatments]


def more_file_cases(seed=0):
    """Categories, what pandas writes, reports, JSON on the terminal."""
    whole, apart = Treatment("suppress", "drop"), Treatment(scope="per-column")
    merge = Treatment("merge", "group", shuffle=True)
    for kind, target in itertools.product(("parquet", "feather"), ("parquet", "feather", "csv")):
        for one in (whole, merge, Treatment(shuffle=True)):
            yield Case(kind, one, target, seed, ("categories",))
    for one in (whole, apart, merge):
        yield Case("parquet", one, "parquet", seed, ("pandas",))
    for kind in FILES:
        yield Case(kind, merge, kind, seed, ("report",))
        yield Case(kind, whole, kind, seed, ("json",))


def stream_cases(seed=0):
    for weights, options in itertools.product((False, True), ((), ("dataset",), ("interrupted",))):
        yield Case("folder", Treatment(scope="per-column", weights=weights), "stream", seed, options)
        yield Case("folder", Treatment(weights=weights), "stream", seed, options)  # jointly
    yield Case("parquet", Treatment(scope="per-column"), "parquet", seed, ("json",))
    yield Case("parquet", Treatment(), "parquet", seed, ("json",))


def category_cases(seed=0):
    """Every function that takes categories: in memory, and from the command line."""
    for j, (kind, function) in enumerate(itertools.product(MEMORY, FUNCTIONS)):
        yield Case(kind, RECODING[(j + j // len(FUNCTIONS)) % len(RECODING)], "", seed, (function,))
    for kind, mistake in itertools.product(("pandas", "polars", "pyarrow", "dict"), CATEGORY_MISTAKES):
        yield Case(kind, RECODING[1], "mistake", seed, (mistake,))
    for j, (form, command) in enumerate(itertools.product(FILES, COMMANDS)):
        for one, extra in ((RECODING[j % 2], ("report",)), (RECODING[2], ("json",))):
            yield Case(form, one, form, seed, (command, *extra))


def other_cases(seed=0):
    for kind, mistake in itertools.product(LIBRARIES, MISTAKES):
        yield Case(kind, Treatment("merge", "drop"), "error", seed, (mistake,))
    for function in ("univariate", "columns", "multivariate", "estimator", "diverse estimator", "close estimator"):
        yield Case("array", Treatment(), "result", seed, (function,))


def every_case(seeds=(0, 1, 2)):
    for seed in seeds:
        yield from (*memory_cases(seed=seed), *file_cases(seed=seed), *more_file_cases(seed))
        yield from (*stream_cases(seed), *other_cases(seed), *category_cases(seed))


def usual_cases():
    """Every input kind and output format, every treatment with some of them: what the default run has time for."""
    yield from memory_cases(TREATMENTS[1:6])
    for j, case in enumerate(file_cases(TREATMENTS[:1])):
        for step in (0, 3):
            yield Case(case.kind, TREATMENTS[(j + j // 8 + step) % len(TREATMENTS)], case.target)
    yield from (*more_file_cases(), *stream_cases(), *other_cases())
    yield from category_cases()
