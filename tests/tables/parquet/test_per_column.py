"""Parquet of any length: the bytes that a frame would give, in the memory of a column, whole or not at all."""

import base64
import collections
import hashlib
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mag
from mag._lib.atomic import digest
from mag._lib.content import update_hash
from mag._lib.lock import exclusive_lock
from mag.commands.cli import main
from mag.tables.parquet import _source, per_column
from mag.verify import NotAnonymousError

pa = pytest.importorskip("pyarrow")
pads = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")
fs = pytest.importorskip("pyarrow.fs")

COLUMNS = ["income", "age", "born", "wealth"]


@pytest.fixture
def people():
    rng = np.random.default_rng(0)
    n = 3000
    income = rng.lognormal(3, 1, n)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "income": pa.array(income, mask=rng.random(n) < 0.1),
            "age": pa.array(rng.integers(0, 100, n), pa.int16()),
            "born": pa.array(np.datetime64("1950-01-01") + rng.integers(0, 20_000, n).astype("m8[D]")),
            "region": pa.array(rng.choice(["north", "south", "east"], n)).dictionary_encode(),
            "wealth": pa.array([None if x < 3 else round(x) for x in income], pa.decimal128(12, 2)),
            "tags": [[i % 3, i % 5] for i in range(n)],
            "weight": rng.integers(0, 5, n),
        }
    )


@pytest.fixture
def path(people, tmp_path):
    pq.write_table(people, tmp_path / "people.parquet", row_group_size=700)
    return tmp_path / "people.parquet"


def decoded(table):
    """Entries of dictionaries may have another order."""
    types = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.schema.names, types, strict=True))))


HOW = {
    "plain": {},
    "by": {"by": "region"},
    "k by column": {"k": {"income": 3, "age": 10, "born": 4, "wealth": 5}},
    "cost": {"cost": "maxdist"},
    "round": {"round": 1},
    "weights": {"weights": "weight"},
}


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_a_file_gives_what_a_frame_gives(people, path, tmp_path, how, monkeypatch):
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 512)
    how = {"k": 5, **how}
    keep = [name for name in ("region", "tags", "weight") if name not in how.values()]
    options = how | {"columns": COLUMNS, "scope": "per-column", "missing": "group", "drop": "id", "keep": keep}
    if "weights" in how:
        options["keep"] = [*keep, "weight"]
    released = mag.microaggregate(path, output=tmp_path / "out.parquet", **options)
    expected = mag.microaggregate(people, **options)
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.schema.names == [name for name in people.schema.names if name != "id"]
    assert decoded(written).equals(decoded(expected.data))
    assert released.guarantee == expected.guarantee
    assert str(released) == str(released.guarantee)
    assert released.data.count_rows() == people.num_rows
    manifest = released.manifest()
    assert manifest["published"]["sha256"] == digest(tmp_path / "out.parquet")
    assert manifest["guarantee"]["smallest_by_column"] == expected.guarantee.smallest_by_column
    assert json.loads((tmp_path / "out.parquet.manifest.json").read_text()) == json.loads(json.dumps(manifest))
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "out.parquet.manifest.json", "people.parquet"]


def test_whole_records_are_counted_too(tmp_path):
    """Every record seven times over: seven are alike in all columns, whatever is done to each."""
    rng = np.random.default_rng(0)
    table = pa.table({name: np.repeat(rng.normal(size=200), 7) for name in "abc"})
    pq.write_table(table, tmp_path / "in.parquet")
    released = mag.microaggregate(
        tmp_path / "in.parquet", 7, ["a", "b", "c"], scope="per-column", output=tmp_path / "out.parquet"
    )
    assert released.guarantee.smallest == 7


@pytest.mark.parametrize("given", ["folder", "dataset"])
def test_several_files_are_one_table(people, tmp_path, given):
    folder = tmp_path / "parts"
    folder.mkdir()
    for i in range(3):
        pq.write_table(people.slice(1000 * i, 1000), folder / f"{i}.parquet", row_group_size=300)
    source = folder if given == "folder" else pads.dataset(folder)
    options = {
        "k": 4,
        "columns": ["age"],
        "scope": "per-column",
        "drop": [c for c in people.schema.names if c != "age"],
    }
    mag.microaggregate(source, output=tmp_path / "out.parquet", **options)
    assert pq.read_table(tmp_path / "out.parquet").equals(mag.microaggregate(people, **options).data)


KILLED = """
import os, signal, sys, mag
from mag._lib import progress
progress.PAUSE = 0
seen = []
def progress(share):
    seen.append(share)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
mag.microaggregate(sys.argv[1], 5, ["age", "born", "weight"], scope="per-column", output=sys.argv[2], progress=progress,
                   drop=["id", "income", "region", "wealth", "tags"])
"""


def killed(path, output):
    found = subprocess.run([sys.executable, "-c", KILLED, path, output], capture_output=True, text=True, check=False)
    assert found.returncode == -signal.SIGKILL, found.stderr
    assert not output.exists()


REST = {
    "columns": ["age", "born", "weight"],
    "scope": "per-column",
    "drop": ["id", "income", "region", "wealth", "tags"],
}


def test_a_killed_run_is_continued_behind_its_finished_columns(people, path, tmp_path):
    output = tmp_path / "out.parquet"
    killed(path, output)
    released = mag.microaggregate(path, 5, output=output, **REST)
    assert released.resumed == 2
    assert pq.read_table(output).equals(mag.microaggregate(people, 5, **REST).data)
    assert [name for name in os.listdir(tmp_path) if "parts" in name] == []


def other_numbers(people):
    """The same shape and names, no number the same."""
    changed = {"age": people["age"].to_numpy()[::-1] + 1, "weight": people["weight"].to_numpy() + 7}
    changed["born"] = people["born"].to_numpy() + np.timedelta64(1, "D")
    for name, cells in changed.items():
        place = people.schema.get_field_index(name)
        people = people.set_column(place, name, pa.array(cells).cast(people.schema.field(name).type))
    return people


@pytest.mark.parametrize("change", ["part", "options", "input", "replaced", "journal", "entry", "version"])
def test_what_has_changed_is_not_continued(people, path, tmp_path, change, monkeypatch):
    output = tmp_path / "out.parquet"
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}  # files of one length
    if change == "replaced":
        pq.write_table(people, path, **plain)
    killed(path, output)
    folder = tmp_path / ".out.parquet.parts"
    if change == "part":
        for part in folder.glob("*.parquet"):
            part.write_bytes(part.read_bytes()[:-1] + b"x")
    elif change == "input":
        people = other_numbers(people)
        pq.write_table(people, path, row_group_size=700)
    elif change == "replaced":
        before, people = path.stat(), other_numbers(people)
        pq.write_table(people, path, **plain)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    elif change == "journal":
        (folder / "journal.json").write_text("{")
    elif change == "entry":
        journal = json.loads((folder / "journal.json").read_text())
        (folder / "journal.json").write_text(json.dumps(journal | {"columns": {"age": 1, "born": None}}))
    elif change == "version":
        monkeypatch.setattr(per_column, "__version__", "0.0.0")
    k = 6 if change == "options" else 5
    released = mag.microaggregate(path, k, output=output, **REST)
    assert released.resumed == 0
    assert pq.read_table(output).equals(mag.microaggregate(people, k, **REST).data)


def test_an_input_that_was_written_anew_is_not_continued(people, path, tmp_path):
    """The hashes of its content are keyed with the identity of the file."""
    output = tmp_path / "out.parquet"
    killed(path, output)
    pq.write_table(people, path, row_group_size=700)
    assert mag.microaggregate(path, 5, output=output, **REST).resumed == 0
    assert pq.read_table(output).equals(mag.microaggregate(people, 5, **REST).data)


class Interrupted(Exception):  # noqa: N818
    """Of a run, on purpose."""


def interrupted(source, output, monkeypatch, **options):
    """A run that ends after its first column, which is finished, and removes as little as a killed one."""
    add = per_column.ColumnFiles.add

    def once(self, *given):
        add(self, *given)
        raise Interrupted

    with monkeypatch.context() as patched:
        patched.setattr(per_column.ColumnFiles, "add", once)
        patched.setattr(per_column.ColumnFiles, "remove", lambda self: None)
        with pytest.raises(Interrupted):
            mag.microaggregate(source, 5, output=output, **options)
    assert (output.parent / f".{output.name}.parts" / "journal.json").exists()


ROLES = {
    "columns": ["age", "born"], "by": "region", "weights": "weight", "scope": "per-column",
    "drop": ["id", "income", "wealth", "tags"], "keep": "weight",
}  # fmt: skip


@pytest.mark.parametrize("change", ["nothing", "column", "by", "weights", "kept"])
def test_a_part_is_of_what_it_was_made_of(people, tmp_path, monkeypatch, change):
    """Data sets of one shape and, so they say, of one file: neither inodes nor times tell them apart."""
    monkeypatch.setattr(_source.ParquetSource, "identity", lambda source: b"one file")
    output = tmp_path / "out.parquet"
    interrupted(pads.InMemoryDataset(people), output, monkeypatch, **ROLES)
    roles, changed = dict(ROLES), {"nothing": None, "column": "age", "by": "region", "weights": "weight"}.get(change)
    if changed:
        rolled = pa.concat_tables([people.slice(1), people.slice(0, 1)]).combine_chunks()[changed]
        people = people.set_column(people.schema.get_field_index(changed), people.schema.field(changed), rolled)
    elif change == "kept":
        roles |= {"drop": ["id", "income", "wealth"], "keep": ["weight", "tags"]}
    released = mag.microaggregate(pads.InMemoryDataset(people), 5, output=output, **roles)
    assert released.resumed == (change == "nothing")
    assert decoded(pq.read_table(output)).equals(decoded(mag.microaggregate(people, 5, **roles).data))


def test_a_cost_of_ones_own_is_not_continued(people, tmp_path, monkeypatch):
    """Two costs may have one name."""
    monkeypatch.setattr(_source.ParquetSource, "identity", lambda source: b"one file")
    own = mag.Cost("own", group=lambda x, i, j: x[j - 1] - x[i], representative="min")
    source, output = pads.InMemoryDataset(people), tmp_path / "out.parquet"
    roles = {"columns": ["age"], "scope": "per-column", "drop": [n for n in people.schema.names if n != "age"]}
    interrupted(source, output, monkeypatch, cost=own, **roles)
    other = mag.Cost("own", group=lambda x, i, j: x[j - 1] - x[i], representative="max")
    assert mag.microaggregate(source, 5, cost=other, output=output, **roles).resumed == 0
    assert pq.read_table(output).equals(mag.microaggregate(people, 5, cost=other, **roles).data)


def test_an_input_that_changes_while_it_is_read_is_refused(people, path, tmp_path):
    """Strata of one column are not those of the next."""

    seen = []

    def progress(share):
        seen.append(share)
        if len(seen) == 1:
            before = path.stat()
            turned = people.set_column(4, "region", people["region"].take(np.arange(3000)[::-1]))
            pq.write_table(turned, path, row_group_size=700)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    with pytest.raises(ValueError, match="the input has changed while it was read; nothing was written"):
        mag.microaggregate(path, 5, output=tmp_path / "out.parquet", progress=progress, **ROLES)
    assert not (tmp_path / "out.parquet").exists()


def test_a_part_that_changes_under_a_run_is_not_published(people, path, tmp_path, monkeypatch):
    add = per_column.ColumnFiles.add

    def changed(self, name, *given):
        add(self, name, *given)
        if name == "born":
            shutil.copy(self._file("born"), self._file("age"))

    monkeypatch.setattr(per_column.ColumnFiles, "add", changed)
    with pytest.raises(RuntimeError, match="The part of column 'age' has changed since it was written"):
        mag.microaggregate(path, 5, output=tmp_path / "out.parquet", **REST)
    assert not (tmp_path / "out.parquet").exists()


CONTENTS = {
    "int64": [1, None, 3, 4, 5],
    "float16": [1.0, None, 3, 4, 5],
    "bool": [True, None, False, True, False],
    "string": ["a", None, "", "bcd", "e"],
    "string_view": ["a", None, "", "bcd", "e" * 20],
    "binary": [b"a", None, b"", b"\xff", b"e"],
    "fixed": [b"ab", None, b"cd", b"\xff\x00", b"ee"],
    "time": [1, None, 3, 4, 5],
    "dictionary": ["a", None, "b", "a", "c"],
    "list": [[1, None], None, [], [3], [4, 5]],
    "pairs": [[1, None], None, [1, 2], [3, 3], [4, 5]],
    "map": [[("a", 1)], None, [], [("b", None), ("c", 3)], [("d", 4)]],
    "struct": [{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}, {"a": 2, "b": None}, {"a": 3, "b": ["w", None]}],
    "uuid": [b"0" * 16, None, b"1" * 16, b"2" * 16, b"3" * 16],
}
KINDS = {
    "float16": pa.float16(), "string_view": pa.string_view(), "fixed": pa.binary(2), "time": pa.time64("ns"),
    "dictionary": pa.dictionary(pa.int32(), pa.string()), "pairs": pa.list_(pa.int64(), 2),
    "map": pa.map_(pa.string(), pa.int64()), "uuid": pa.uuid(),
}  # fmt: skip


def content(column):
    hashed = hashlib.sha256()
    update_hash(hashed, column)
    return hashed.hexdigest()


@pytest.mark.parametrize("kind", CONTENTS)
def test_the_hash_of_a_column_is_of_its_cells(kind):
    """However they are cut or stored, and of all of them: a cell more that is missing or another makes another hash."""
    cells = CONTENTS[kind]
    whole = pa.array(cells, KINDS.get(kind))
    chunked = pa.chunked_array([whole.slice(0, 2), whole.slice(2, 1), whole.slice(3)])
    assert content(whole) == content(chunked) == content(pa.concat_arrays([whole, whole]).slice(5))
    others = [[None if i == j else cell for i, cell in enumerate(cells)] for j in (0, 2, 3, 4)]
    others += [[cells[0] if i == j else cell for i, cell in enumerate(cells)] for j in (1, 2, 4)]
    others += [cells[:-1], cells[::-1], [*cells, None]]
    hashes = {content(pa.array(other, KINDS.get(kind))) for other in others}
    assert len(hashes) == len(others)
    assert content(whole) not in hashes


def test_what_stands_below_a_missing_cell_is_not_content():
    there = pa.py_buffer(b"\x05")  # cells 0 and 2
    below = [pa.Array.from_buffers(pa.int64(), 3, [there, pa.py_buffer(np.array([1, x, 3]))]) for x in (7, 8)]
    assert below[0].to_pylist() == [1, None, 3]
    assert content(below[0]) == content(below[1]) == content(pa.array([1, None, 3]))
    assert content(pa.array([1, None, 3])) != content(pa.array([1, 0, 3]))


# ---- which rows there are


@pytest.fixture
def halves(tmp_path):
    """Two row groups: numbers below 500, and others."""
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"x": np.arange(1000), "t": [f"text {i}" for i in range(1000)]}), path, row_group_size=500)
    return path


def subset(path):
    fragment = next(iter(pads.dataset(path).get_fragments())).subset(row_group_ids=[0])
    return pads.FileSystemDataset([fragment], fragment.physical_schema, fragment.format, fragment.filesystem)


def filtered(path):
    return pads.dataset(path).filter(pads.field("x") < 500)


def filtered_subset(path):
    return subset(path).filter(pads.field("t") != "nothing")


def in_memory(path):
    return pads.InMemoryDataset(pq.read_table(path).slice(0, 500))


def union(path):
    return pads.dataset([subset(path), pads.InMemoryDataset(pq.read_table(path).slice(0, 0))])


def in_a_buffer(path):
    fragment = pads.ParquetFileFormat().make_fragment(pa.py_buffer(path.read_bytes()), row_groups=[0])
    return pads.FileSystemDataset([fragment], fragment.physical_schema, fragment.format)


@pytest.mark.parametrize("made", [subset, filtered, filtered_subset, in_memory, union, in_a_buffer])
def test_the_rows_of_the_data_set_are_published_and_no_others(halves, tmp_path, made):
    data, output = made(halves), tmp_path / "out.parquet"
    released = mag.microaggregate(data, 5, "x", keep="t", scope="per-column", output=output)
    table = data.to_table()
    assert table.num_rows == 500
    expected = mag.microaggregate(table, 5, "x", keep="t", scope="per-column")
    assert pq.read_table(output).equals(expected.data)
    assert released.guarantee.n_records == released.data.count_rows() == 500
    assert b"text 777" not in uncompressed(output)


def uncompressed(path):
    """All bytes of a Parquet file whose pages are not compressed any more."""
    raw = path.read_bytes()
    again = io.BytesIO()
    pq.write_table(pq.read_table(path), again, compression="none")
    return raw + again.getvalue() + repr(pq.read_metadata(path).to_dict()).encode()


def below_a_folder(path):
    return pads.dataset(path.name, filesystem=fs.SubTreeFileSystem(str(path.parent), fs.LocalFileSystem()))


@pytest.mark.parametrize("made", [below_a_folder, subset, filtered, union])
def test_files_of_any_data_set_are_not_overwritten(halves, made):
    before = halves.read_bytes()
    with pytest.raises(ValueError, match="is read by this run"):
        mag.microaggregate(made(halves), 5, "x", keep="t", scope="per-column", output=halves, overwrite=True)
    assert halves.read_bytes() == before


def test_folders_of_hive_are_columns(people, tmp_path):
    rest = [name for name in people.schema.names if name not in ("age", "region")]
    pq.write_to_dataset(people, tmp_path / "in", partition_cols=["region"])
    output = tmp_path / "year=2024" / "out.parquet"  # the folder that a single file stands in is no column of it
    output.parent.mkdir()
    roles = {"columns": "age", "by": "region", "drop": rest, "scope": "per-column"}
    released = mag.microaggregate(tmp_path / "in", 5, output=output, **roles)
    table = pads.dataset(tmp_path / "in", partitioning="hive").to_table()
    assert pq.read_table(output, partitioning=None).equals(mag.microaggregate(table, 5, **roles).data)
    assert released.data.schema.names == ["age", "region"]


def test_a_column_that_one_file_lacks_is_missing_there(tmp_path):
    (tmp_path / "in").mkdir()
    both = pa.table({"x": np.arange(20), "t": ["a"] * 20})
    pq.write_table(both, tmp_path / "in" / "0.parquet")
    pq.write_table(both.select(["x"]), tmp_path / "in" / "1.parquet")
    mag.microaggregate(tmp_path / "in", 5, "x", by="t", scope="per-column", output=tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["t"].to_pylist() == ["a"] * 20 + [None] * 20


def moments(n, kind):
    return pa.array(np.arange(n) % 12, pa.int64()).cast(kind)


@pytest.mark.parametrize("nested", ["struct", "list"])
@pytest.mark.parametrize("kind", [pa.time64("ns"), pa.duration("ns"), pa.timestamp("ns")], ids=str)
def test_strata_of_nested_moments_differ_to_the_last_digit(tmp_path, nested, kind):
    """Twelve strata that are a nanosecond apart; counted by their integers, not by what Python makes of them."""
    n, cells = 240, moments(240, kind)
    if nested == "struct":
        strata = pa.StructArray.from_arrays([cells], ["t"])
    else:
        strata = pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), cells)
    table = pa.table({"x": np.random.default_rng(0).normal(size=n), "g": strata})
    pq.write_table(table, tmp_path / "in.parquet")
    output = tmp_path / "out.parquet"
    mag.microaggregate(tmp_path / "in.parquet", 3, "x", by="g", scope="per-column", output=output)
    written = pq.read_table(output)
    published = written["g"].combine_chunks().flatten()
    codes = (published[0] if nested == "struct" else published).cast(pa.int64()).to_pylist()
    assert codes == [i % 12 for i in range(n)]
    assert min(collections.Counter(zip(codes, written["x"].to_pylist(), strict=True)).values()) >= 3


# ---- nothing of the original


def test_metadata_of_the_original_are_not_published(tmp_path):
    """Names of dropped columns and of the index, attributes, notes of fields, entries that no row uses."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"x": np.arange(100.0), "CANARY_dropped": 1, "group": ["b", "a"] * 50})
    frame["kind"] = pd.Categorical(["low", "high"] * 50, ["none", "low", "CANARY_unused", "high"], ordered=True)
    frame["free"] = pd.Categorical(["low", "high"] * 50, ["low", "CANARY_free", "high"])
    frame.index = pd.Index(range(100), name="CANARY_index")
    frame.attrs["note"] = "CANARY_attribute"
    table = pa.Table.from_pandas(frame)
    note = {"note": "CANARY_field"}
    inner = pa.struct([pa.field("a", pa.int64(), metadata={"note": "CANARY_inner"})])
    table = table.append_column(
        pa.field("nested", pa.list_(inner), metadata=note), pa.array([[{"a": 1}]] * 100, pa.list_(inner))
    )
    lists = pa.list_(pa.dictionary(pa.int32(), pa.string()))
    encoded = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), ["used", "CANARY_in_list"])
    table = table.append_column("lists", pa.ListArray.from_arrays(range(101), encoded, type=lists))
    roles = {"keep": ["kind", "free", "nested", "lists"], "drop": "CANARY_dropped", "by": "group"}
    pq.write_table(table, tmp_path / "in.parquet")
    for source in (tmp_path / "in.parquet", pads.InMemoryDataset(table)):
        output = tmp_path / "out.parquet"
        mag.microaggregate(source, 5, "x", scope="per-column", output=output, overwrite=True, **roles)
        assert b"CANARY" not in uncompressed(output)
        written = pq.read_table(output)
        assert set(written.schema.metadata or {}) <= {b"ARROW:schema"}
        assert pq.read_metadata(output).metadata.keys() == {b"ARROW:schema"}
        assert b"CANARY" not in base64.b64decode(pq.read_metadata(output).metadata[b"ARROW:schema"])
        published = written.to_pandas()
        assert published["kind"].cat.categories.tolist() == ["low", "high"]
        assert published["kind"].cat.ordered
        assert sorted(published["free"].cat.categories) == ["high", "low"]
        assert published["lists"].map(list).tolist() == [["used"]] * 100


def test_an_ordered_dictionary_keeps_its_order_in_all_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 50)
    codes = np.repeat([2, 0, 1], 50)
    kinds = pa.DictionaryArray.from_arrays(codes, ["low", "middle", "high", "CANARY"], ordered=True)
    table = pa.table({"x": np.arange(150), "kind": kinds})
    output = tmp_path / "out.parquet"
    mag.microaggregate(pads.InMemoryDataset(table), 5, "x", keep="kind", scope="per-column", output=output)
    published = pq.read_table(output).to_pandas()["kind"]
    assert published.cat.categories.tolist() == ["low", "middle", "high"]
    assert published.tolist() == ["high"] * 50 + ["low"] * 50 + ["middle"] * 50


def test_the_manifest_confirms_no_guess_about_the_input(people, path, tmp_path):
    """Neither hashes nor sizes nor times of it; two inputs that give one output give one manifest."""
    manifests = []
    for compression in ("none", "zstd"):
        pq.write_table(people, path, compression=compression)
        output = tmp_path / "out.parquet"
        mag.microaggregate(path, 5, output=output, overwrite=True, **REST)
        manifests.append((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifests[0] == manifests[1]
    assert digest(path) not in manifests[0]
    assert "people.parquet" not in manifests[0]


# ---- one run at a time


HELD = """
import sys, time, mag
from mag._lib import progress
progress.PAUSE = 0
def progress(share):
    print("running", flush=True)
    sys.stdin.readline()
mag.microaggregate(sys.argv[1], 5, "x", keep="t", scope="per-column", output=sys.argv[2], progress=progress)
"""


def running(source, output):
    """A process in the middle of its run, which waits for a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HELD, source, output], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "running\n"
    return process


@pytest.mark.parametrize("end", ["well", "killed"])
def test_two_runs_into_one_output_exclude_each_other(halves, tmp_path, end, capsys):
    output, other = tmp_path / "out.parquet", tmp_path / "other.parquet"
    pq.write_table(pa.table({"x": np.arange(1000) + 5000, "t": ["other"] * 1000}), other)
    process = running(halves, output)
    roles = {"columns": "x", "keep": "t", "scope": "per-column"}
    with pytest.raises(BlockingIOError, match=r"another run is writing this file; wait .*out.parquet"):
        mag.microaggregate(other, 5, output=output, **roles)
    command = ["mask", str(other), "-o", str(output), "-k", "5", "-c", "x", "--keep", "t", "--scope", "per-column"]
    assert main(command) == 2
    sentence = "another run is writing this file; wait for it to end, or choose another name."
    assert capsys.readouterr().err == f"mag: {output}: {sentence}\n"
    link = tmp_path / "link.parquet"
    link.symlink_to(output)
    with pytest.raises(BlockingIOError, match="another run is writing"):
        mag.microaggregate(other, 5, output=link, **roles)
    if end == "well":
        process.communicate("\n" * 10, timeout=60)
        assert process.returncode == 0
        assert pq.read_table(output).equals(mag.microaggregate(pq.read_table(halves), 5, **roles).data)
    else:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert not output.exists()
        mag.microaggregate(other, 5, output=output, **roles)
        assert pq.read_table(output).equals(mag.microaggregate(pq.read_table(other), 5, **roles).data)
    assert not [name for name in os.listdir(tmp_path) if name.endswith((".lock", ".parts"))]


def test_a_lock_is_one_owners(tmp_path):
    """Threads that take it in turn, and remove its file: never two at a time."""
    target, inside, most = tmp_path / "out", [], []

    def work(_):
        done = 0
        while done < 50:
            try:
                with exclusive_lock(target):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
                    done += 1
            except BlockingIOError:
                continue

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert set(most) == {1}
    assert os.listdir(tmp_path) == []


def test_nothing_is_written_where_k_fails(path, tmp_path, monkeypatch):
    """A step that masks nothing: the count on the file finds it."""
    monkeypatch.setattr(per_column.ColumnJob, "mask_column", lambda job, name, table: (table.column(name), 1))
    others = [name for name in pq.read_schema(path).names if name != "income"]
    with pytest.raises(NotAnonymousError, match="class of 1 equal records in income"):
        mag.microaggregate(path, 5, "income", drop=others, scope="per-column", output=tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("damage", ["truncated", "flipped", "text"])
def test_a_damaged_file_is_one_sentence(path, tmp_path, damage):
    whole = path.read_bytes()
    middle = len(whole) // 3
    bad = {
        "truncated": whole[: len(whole) // 2],
        "flipped": whole[:4] + bytes(255 - byte for byte in whole[4:middle]) + whole[middle:],
        "text": b"a,b\n1,2\n",
    }[damage]
    path.write_bytes(bad)
    with pytest.raises(ValueError, match=r"'people.parquet' could not be read: .*\.$") as caught:
        mag.microaggregate(path, 5, output=tmp_path / "out.parquet", **REST)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


def test_another_type_in_one_file_is_one_sentence(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(pa.table({"x": np.arange(100)}), folder / "0.parquet")
    pq.write_table(pa.table({"x": ["secret"] * 100}), folder / "1.parquet")
    with pytest.raises(ValueError, match=r"'1.parquet' could not be read: column 'x' .*type differs") as caught:
        mag.microaggregate(folder, 5, "x", scope="per-column", output=tmp_path / "out.parquet")
    assert "secret" not in str(caught.value)
    assert os.listdir(tmp_path) == ["parts"] or not (tmp_path / "out.parquet").exists()


FULL = """
import resource, sys, mag
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    mag.microaggregate(sys.argv[1], 5, ["age", "born", "weight"], scope="per-column", output=sys.argv[2],
                       drop=["id", "income", "region", "wealth", "tags"])
except OSError as error:
    print("OSError", error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of POSIX")
def test_a_full_disk_leaves_nothing_under_the_name(path, tmp_path):
    environment = os.environ | {"NUMBA_DISABLE_JIT_CACHE": "1"}
    _ = mag.microaggregate({"x": np.arange(100), "y": np.arange(100.0)}, 5, ["x", "y"], scope="per-column")  # compiled
    found = subprocess.run(
        [sys.executable, "-c", FULL, path, tmp_path / "out.parquet"],
        capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    assert found.stdout.startswith("OSError"), found.stderr
    assert not (tmp_path / "out.parquet").exists()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part.parquet")]


def test_the_input_is_never_overwritten(path, tmp_path):
    before = path.read_bytes()
    link = tmp_path / "link.parquet"
    os.link(path, link)
    for output in (path, link):
        with pytest.raises(ValueError, match="is read by this run"):
            mag.microaggregate(path, 5, output=output, overwrite=True, **REST)
    assert path.read_bytes() == before
    (tmp_path / "out.parquet").write_text("precious")
    with pytest.raises(FileExistsError, match="exists"):
        mag.microaggregate(path, 5, output=tmp_path / "out.parquet", **REST)
    assert (tmp_path / "out.parquet").read_text() == "precious"
    mag.microaggregate(path, 5, output=tmp_path / "out.parquet", overwrite=True, **REST)
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 3000


def test_progress_ends_at_one(path, tmp_path):
    seen = []
    mag.microaggregate(path, 5, output=tmp_path / "out.parquet", progress=seen.append, **REST)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


WRONG = {
    "scope": ({"scope": "each"}, ValueError, "scope must be one of 'joint', 'per-column'"),
    "output": ({"output": None}, TypeError, "output must be the path"),
    "method": ({"method": "mdav"}, TypeError, "method is not used for files"),
    "shuffle": ({"shuffle": True}, TypeError, "shuffle is not used for files"),
    "missing": ({"missing": "drop"}, TypeError, "missing='drop' is not used for files"),
    "gamma": ({"gamma": 1.0}, TypeError, "gamma is not used for files"),
    "nonsense": ({"nonsense": 0}, TypeError, "nonsense is not used for files"),
    "misspelt": ({"overwite": False}, TypeError, "overwite is not used for files"),
    "flag": ({"shuffle": 0}, TypeError, "shuffle must be True or False"),
    "round": ({"round": {"zz": 1}}, ValueError, "round is for columns of floats among columns; got 'zz'"),
    "round of integers": ({"round": 1}, ValueError, "round is for columns of floats among columns; got none"),
    "round of one": ({"round": {"age": 1}}, ValueError, "round is for columns of floats among columns; got 'age'"),
    "weights": ({"weights": np.ones(3)}, ValueError, "weights must name a column of the file"),
    "unknown": ({"columns": "x"}, ValueError, "columns must name columns of the table; got 'x'"),
    "rest": ({"drop": "id"}, ValueError, "every column must be in columns, by, keep or drop"),
    "k": ({"k": 4000}, ValueError, "k must be an integer in"),
}


@pytest.mark.parametrize(("wrong", "error", "sentence"), WRONG.values(), ids=WRONG)
def test_wrong_options_are_one_sentence(path, tmp_path, wrong, error, sentence):
    with pytest.raises(error, match=sentence):
        mag.microaggregate(path, **({"k": 5, "output": tmp_path / "out.parquet"} | REST | wrong))
    assert sorted(os.listdir(tmp_path)) == ["people.parquet"]


def test_a_missing_file_says_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        mag.microaggregate(tmp_path / "no.parquet", 5, output=tmp_path / "out.parquet", **REST)


def test_output_is_for_files(people):
    with pytest.raises(TypeError, match="output is used for Parquet files only"):
        mag.microaggregate(people, 5, output=pathlib.Path("x.parquet"), **REST)


def test_mask_takes_parquet_column_by_column(people, path, tmp_path, capsys):
    """The command writes the same file as the function, and its manifest, and says so."""
    output = tmp_path / "out.parquet"
    named = [word for name in REST["columns"] for word in ("-c", name)]
    named += [word for name in REST["drop"] for word in ("--drop", name)]
    command = ["mask", str(path), "-o", str(output), "-k", "5", "--scope", "per-column", *named]
    assert main(command) == 0
    assert "is shared by at least 5 records" in capsys.readouterr().out
    assert pq.read_table(output).equals(mag.microaggregate(people, 5, **REST).data)
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifest["options"]["k"] == 5
    assert isinstance(manifest["published"]["sha256"], str), "it was masked in memory"
    assert main([*command, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["published"] == manifest["published"]
