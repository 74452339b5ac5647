"""Parquet of any length: the bytes that a frame would give, in the memory of a column, whole or not at all."""

import json
import os
import pathlib
import signal
import subprocess
import sys

import numpy as np
import pytest

import mag
from mag import stream
from mag.methods._watch import Watch
from mag.verify import NotAnonymous

pa = pytest.importorskip("pyarrow")
pads = pytest.importorskip("pyarrow.dataset")
pq = pytest.importorskip("pyarrow.parquet")

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


HOW = {
    "plain": {},
    "by": {"by": "region"},
    "k by column": {"k": {"income": 3, "age": 10, "born": 4, "wealth": 5}},
    "cost": {"cost": "maxdist"},
    "round": {"round": 1},
    "weights": {"weights": "weight"},
}


def same(one, other):
    """Equal types and cells, whatever the order of a dictionary's entries."""
    return one.schema.equals(other.schema) and one.to_pylist() == other.to_pylist()


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_a_file_gives_what_a_frame_gives(people, path, tmp_path, how, monkeypatch):
    monkeypatch.setattr(stream, "ROWS", 512)
    how = {"k": 5, **how}
    keep = [name for name in ("region", "tags", "weight") if name not in how.values()]
    options = how | {"columns": COLUMNS, "scope": "per-column", "missing": "group", "drop": "id", "keep": keep}
    if "weights" in how:
        options["keep"] = [*keep, "weight"]
    released = mag.microaggregate(path, output=tmp_path / "out.parquet", **options)
    expected = mag.microaggregate(people, **options)
    written = pq.read_table(tmp_path / "out.parquet")
    assert written.schema.names == [name for name in people.schema.names if name != "id"]
    assert same(written, expected.data)
    assert released.guarantee == expected.guarantee
    assert str(released) == str(released.guarantee)
    assert released.data.count_rows() == people.num_rows
    manifest = released.manifest()
    assert manifest["published"]["sha256"] == stream.digest(tmp_path / "out.parquet")
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
    assert same(pq.read_table(tmp_path / "out.parquet"), mag.microaggregate(people, **options).data)


KILLED = """
import os, signal, sys, mag
from mag.methods import _watch
_watch.PAUSE = 0
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
    assert same(pq.read_table(output), mag.microaggregate(people, 5, **REST).data)
    assert [name for name in os.listdir(tmp_path) if "parts" in name] == []


@pytest.mark.parametrize("change", ["part", "options", "input", "journal"])
def test_what_has_changed_is_not_continued(people, path, tmp_path, change):
    output = tmp_path / "out.parquet"
    killed(path, output)
    folder = tmp_path / ".out.parquet.parts"
    if change == "part":
        for part in folder.glob("*.parquet"):
            part.write_bytes(part.read_bytes()[:-1] + b"x")
    elif change == "input":
        pq.write_table(people, path, row_group_size=100)
    elif change == "journal":
        (folder / "journal.json").write_text("{")
    k = 6 if change == "options" else 5
    released = mag.microaggregate(path, k, output=output, **REST)
    assert released.resumed == 0
    assert same(pq.read_table(output), mag.microaggregate(people, k, **REST).data)


def test_nothing_is_written_where_k_fails(path, tmp_path):
    """A step that masks nothing: the count on the file finds it."""
    source = stream.Source(path)
    with pytest.raises(NotAnonymous, match="class of 1 equal records in income"):
        stream.columnwise(
            lambda name, part: (part.column(name), 1),
            source,
            tmp_path / "out.parquet",
            ks={"income": 5},
            k=5,
            by=[],
            keep=[],
            drop=[name for name in source.names if name != "income"],
            reads=[],
            options={},
            versions={},
            overwrite=False,
            watch=Watch(),
        )
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
        with pytest.raises(ValueError, match="is a file that is read"):
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
    "scope": ({"scope": "joint"}, ValueError, "scope must be 'per-column' for a file"),
    "output": ({"output": None}, TypeError, "output must be the path"),
    "method": ({"method": "mdav"}, TypeError, "method is not used for files"),
    "shuffle": ({"shuffle": True}, TypeError, "shuffle is not used for files"),
    "missing": ({"missing": "drop"}, TypeError, "missing='drop' is not used for files"),
    "gamma": ({"gamma": 1.0}, TypeError, "gamma is not used for files"),
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
    """The command writes what the function writes, the manifest beside it, and says so."""
    from mag.cli import main

    output = tmp_path / "out.parquet"
    named = [word for name in REST["columns"] for word in ("-c", name)]
    named += [word for name in REST["drop"] for word in ("--drop", name)]
    command = ["mask", str(path), "-o", str(output), "-k", "5", "--scope", "per-column", *named]
    assert main(command) == 0
    assert "stands for at least 5 records" in capsys.readouterr().out
    assert same(pq.read_table(output), mag.microaggregate(people, 5, **REST).data)
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifest["options"]["k"] == 5
    assert "files" in manifest["table"], "it was masked in memory"
    assert main([*command, "--overwrite", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["published"] == manifest["published"]
