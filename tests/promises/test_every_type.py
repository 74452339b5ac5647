"""Every recount counts cells of every Arrow type by their values, in one block and in many; messages quote none."""

import collections
import functools
import hashlib
import pathlib
import traceback

import dask.dataframe as dd
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from polars.exceptions import PanicException

import mag
from mag._lib.cells import IncomparableError, numbers_of_arrow, words_of_arrow
from mag._lib.content import update_hash
from mag._lib.dtypes import describe_dtype
from mag._lib.errors import InputError
from mag._lib.rowhash import count_classes
from mag.commands.cli import main
from mag.distributed._cells import hash_records
from mag.files import File, smallest
from mag.tables.parquet import _source, joint, per_column
from tests.data.arrow_types import CANARIES, TYPES, array_of, is_one_value

PATTERN = [0, 0, 0, 1, 1, 2, 0, 1, 1, 2, 2, 0, 1, 1]  # 5 of the first, 6 of the second, 3 nulls
BESIDE = [0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1]
BLOCKS = [(0, 3), (3, 5), (5, 6), (6, 9), (9, 14)]  # each numbers its dictionary in another order


def seen(name):
    """The pattern as far as the type can hold it."""
    if not is_one_value(name):
        return PATTERN
    return [2 if name == "null" or place == 2 else 0 for place in PATTERN]


def blocks_of(name):
    return [array_of(name, PATTERN[a:b]) for a, b in BLOCKS]


def tables_of(name):
    kind = array_of(name, []).type
    whole = pa.chunked_array([array_of(name, PATTERN)], kind)
    beside = pa.array(BESIDE)
    return {
        "one block": pa.table({"x": whole, "y": beside}),
        "many blocks": pa.table({"x": pa.chunked_array(blocks_of(name), kind), "y": beside}),
    }


def expected(name):
    return min(collections.Counter(zip(seen(name), BESIDE, strict=True)).values())


def histogram(tokens):
    return sorted(collections.Counter(zip(*(token.tolist() for token in tokens), strict=True)).values())


@pytest.mark.parametrize("name", TYPES)
def test_words_are_those_of_values_in_every_block(name):
    counts = sorted(collections.Counter(seen(name)).values())
    blocks = [words_of_arrow(block) for block in blocks_of(name)]
    assert {len(words) for words in blocks} == {len(words_of_arrow(array_of(name, PATTERN)))}
    together = [np.concatenate(words) for words in zip(*blocks, strict=True)]
    assert all(map(np.array_equal, together, words_of_arrow(array_of(name, PATTERN))))
    assert all(map(np.array_equal, together, words_of_arrow(tables_of(name)["many blocks"]["x"])))
    assert histogram(together) == counts
    sliced = words_of_arrow(array_of(name, [1, 2, *PATTERN, 0]).slice(2, len(PATTERN)))
    assert all(map(np.array_equal, together, sliced))
    for table in tables_of(name).values():
        assert histogram(numbers_of_arrow(table["x"])) == counts
    assert histogram(numbers_of_arrow(array_of(name, [1, 2, *PATTERN, 0]).slice(2, len(PATTERN)))) == counts


@pytest.mark.parametrize("way", ["one block", "many blocks"])
@pytest.mark.parametrize("name", TYPES)
def test_every_recount_counts_values(name, way, tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 3)
    table, counts = tables_of(name)[way], {}
    counts["pyarrow"] = mag.verify.recount(table, ["x", "y"])
    counts["dictionary"] = mag.verify.recount({"x": table["x"], "y": table["y"]}, ["x", "y"])
    for library, convert in (("pandas", to_pandas), ("polars", pl.DataFrame)):
        try:
            frame = convert(table)
        except (pa.ArrowException, NotImplementedError, pl.exceptions.PolarsError, PanicException):
            continue  # a type that the library does not have
        counts[library] = mag.verify.recount(frame, ["x", "y"])
        if library == "pandas":
            parts = [frame.iloc[a:b] for a, b in BLOCKS]
            counts["dask"] = int(
                count_classes([np.concatenate(w) for w in zip(*map(hash_records, parts), strict=True)]).sizes.min()
            )
            if not name.startswith(("binary_view", "run ends", "string_view")):  # whose rows Arrow cannot take
                assert mag.distributed.verify(dd.from_pandas(frame, npartitions=4), 1) == counts["dask"]
    path = tmp_path / "in.parquet"
    try:
        pq.write_table(table, path, row_group_size=3)
        pq.read_table(path)
    except pa.ArrowException:
        pass
    else:
        source = _source.ParquetSource(path)
        counts["joint file"] = joint.count_smallest(source, ["x", "y"], tmp_path, 2**30)
        counts["joint file in little memory"] = joint.count_smallest(source, ["x", "y"], tmp_path, 500)
        counts["file by columns"] = per_column.recount_file(source, {"x": 1}, ["y"])[0]
    for ending, write in (("parquet", pq.write_table), ("feather", write_feather)):
        try:
            write(table, tmp_path / f"t.{ending}")
            counts[ending] = smallest(File(tmp_path / f"t.{ending}").counts(["x", "y"])[0])
        except (pa.ArrowException, InputError):
            continue
    assert counts == dict.fromkeys(counts, expected(name))


def to_pandas(table):
    return table.to_pandas(types_mapper=pd.ArrowDtype)


def write_feather(table, path):
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
        out.write_table(table.combine_chunks())


@pytest.mark.parametrize("name", TYPES)
def test_the_content_of_a_column_is_its_values(name, tmp_path):
    try:
        pq.write_table(tables_of(name)["one block"], tmp_path / "x.parquet")
    except pa.ArrowException as error:
        pytest.skip(f"Parquet cannot hold it: {error}")
    digests = set()
    for table in tables_of(name).values():
        hashed = hashlib.sha256()
        update_hash(hashed, table["x"])
        digests.add(hashed.hexdigest())
    assert len(digests) == 1


def test_nothing_but_recounts_reads_cells_as_words():
    root = pathlib.Path(mag.__file__).parent
    named = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if "mag._lib.cells" in path.read_text()}
    assert named == {
        "distributed/_cells.py",
        "files/_classes.py",
        "files/_counts.py",
        "tables/parquet/_parts.py",  # counts owners across blocks to form parts, no classes
        "tables/parquet/joint.py",
        "tables/parquet/per_column.py",
        "verify/__init__.py",
        "verify/_cells.py",
        "verify/engines/polars.py",
    }


def test_a_recount_refuses_unions_without_quoting_their_fields():
    union = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array(CANARIES)], [CANARIES[0]])
    for read in (words_of_arrow, numbers_of_arrow):
        with pytest.raises(IncomparableError) as error:
            read(union)
        assert "canary" not in str(error.value)


# ---- tables with such columns

ROLES = {
    "by": {"by": "g"},
    "keep": {"keep": "g"},
    "masked": {"missing": "group"},
    "closeness": {"keep": "g", "closeness": {"g": 1.0}},
}
LIBRARIES = {"pyarrow": lambda table: table, "pandas": to_pandas, "polars": pl.DataFrame}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", TYPES)
def test_columns_are_published_or_refused_in_a_sentence_of_ours(name, library):
    pattern = [0, 1, 2] * 6
    cells = pa.chunked_array([array_of(name, pattern[:7]), array_of(name, pattern[7:])])
    try:
        table = LIBRARIES[library](pa.table({"x": np.arange(18.0), "g": cells}))
    except (pa.ArrowException, NotImplementedError, pl.exceptions.PolarsError, PanicException):
        pytest.skip("a type that the library does not have")
    for role, options in ROLES.items():
        assert "canary" not in sentence_of(functools.partial(mask_and_measure, table, role, options))


def mask_and_measure(table, role, options):
    release = mag.microaggregate(table, 3, ["x", "g"] if role == "masked" else "x", **options)
    if role == "masked":
        release.risk(), release.utility()


def sentence_of(call):
    """All that a mistake says, its causes included; other errors escape."""
    try:
        call()
    except InputError as error:
        return "".join(traceback.format_exception(error))
    return ""


CATEGORIES = {
    "Enum": pl.Enum(CANARIES),
    "List": pl.List(pl.Enum(CANARIES)),
    "Array": pl.Array(pl.Enum(CANARIES), 1),
    "Struct": pl.Struct({CANARIES[0]: pl.List(pl.Enum(CANARIES))}),
    "Categorical": pl.List(pl.Categorical),
}


@pytest.mark.parametrize("name", CATEGORIES)
def test_messages_do_not_quote_categories_of_a_type(name, tmp_path, capsys):
    dtype = CATEGORIES[name]
    assert "canary" not in describe_dtype(dtype)
    table = pl.DataFrame({"x": [1.0, 2, 3, 4], "z": pl.Series([None] * 4, dtype=dtype)})
    table.write_parquet(tmp_path / "in.parquet")
    numbers = {"z": mag.dp.Numbers(0, 1, 1)}
    for call in (
        lambda: mag.microaggregate(table, 2, ["x", "z"]),
        lambda: mag.univariate(table["z"], 2),
        lambda: mag.privacy.k_anonymity(table),
        lambda: mag.dp.histogram(table, numbers, epsilon=1, drop="x"),
    ):
        assert "canary" not in sentence_of(call)
    for options in ("-c x -c z", "-c x -c z --scope per-column", "-c x --by z --small-strata merge"):
        main(["mask", str(tmp_path / "in.parquet"), "-o", str(tmp_path / "out.parquet"), "-k", "2", *options.split()])
    said = capsys.readouterr()
    assert "canary" not in said.out + said.err


def test_names_of_dtypes_hold_no_values():
    dtypes = [
        pd.CategoricalDtype(CANARIES),
        pd.SparseDtype(float, 1234.5),
        pd.ArrowDtype(pa.struct([(CANARIES[0], pa.int32())])),
        np.dtype([(CANARIES[0], "i4")]),
        np.dtypes.StringDType(na_object=CANARIES[0]),
        pa.dense_union([pa.field(CANARIES[0], pa.int32())]),
        pa.opaque(pa.int32(), *CANARIES),
        nw.Struct({CANARIES[0]: nw.List(nw.Enum(CANARIES))}),
    ]
    for dtype in dtypes:
        assert "canary" not in describe_dtype(dtype)
        assert "1234" not in describe_dtype(dtype)
