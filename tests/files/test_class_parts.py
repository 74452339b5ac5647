"""Figures of classes that are counted in parts of a file equal those of the whole table."""

import pathlib
import tempfile
from collections import Counter

import numpy as np
import polars as pl
import pytest

import mag
from mag.commands.cli import main
from mag.files import File, Layout, _arrow, _blocks
from mag.tables import recount_promises

N = 3000
ENDINGS = ("parquet", "feather", "csv")


def people(n=N):
    generator = np.random.default_rng(0)
    homes = generator.integers(0, 40, n)
    pay = generator.integers(0, 12, n).astype(float) / 4
    pay[::17] = -0.0
    return pl.DataFrame(
        {
            "age": homes % 7,
            "town": [f"town {home % 5}" if home % 11 else None for home in homes.tolist()],
            "person": [f"p{i // 2}" for i in range(n)],
            "disease": [("flu", "gout", "cold", None)[i] for i in generator.integers(0, 4, n).tolist()],
            "pay": pl.Series(pay).set(pl.Series(np.arange(n) % 29 == 3), None),
        }
    )


@pytest.fixture(params=ENDINGS)
def path(request, tmp_path, monkeypatch):
    """A file that is read in many blocks."""
    monkeypatch.setattr(_arrow, "ROWS_PER_ARROW_BLOCK", 100)
    monkeypatch.setattr("mag.files.parquet.ROWS_PER_ARROW_BLOCK", 100)
    monkeypatch.setattr("mag.files.feather.ROWS_PER_ARROW_BLOCK", 100)
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 2000)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = tmp_path / f"people.{request.param}"
    write = {"parquet": pl.DataFrame.write_parquet, "feather": pl.DataFrame.write_ipc, "csv": pl.DataFrame.write_csv}
    write[request.param](people(), path)
    return path


def test_every_part_holds_whole_classes_and_all_records_are_in_one(path):
    file = File(path)
    whole = file.read(["pay"], ["age", "town", "person"])[0]
    with file.class_parts(["age", "town"], ["pay"], ["person"]) as parts:
        frames = list(parts)
        assert len(frames) == len(parts) > 10
        assert max(frame.height for frame in frames) < N / 3
        found = pl.concat(frames).select(whole.columns)
        assert found.schema == whole.schema
        assert found.sort(whole.columns).equals(whole.sort(whole.columns))
        homes = Counter(row for frame in frames for row in set(frame.select("age", "town").rows()))
        assert set(homes.values()) == {1}
        assert [frame.height for frame in parts] == [frame.height for frame in frames]  # several times
        assert sorted(parts.distinct(["person"])["person"]) == sorted(whole["person"].unique())
        assert list(pathlib.Path(tempfile.gettempdir()).iterdir())
    assert not list(pathlib.Path(tempfile.gettempdir()).iterdir())


TREE = mag.Hierarchy.from_levels([["flu", "short", "*"], ["cold", "short", "*"], ["gout", "long", "*"]])
WISHES = [
    ({"disease": 2}, None),
    ({"disease": ("entropy", 2.5)}, None),
    ({"disease": ("recursive", 3, 2), ("disease", "pay"): 4}, None),
    (None, {"pay": 0.2}),
    (None, {"disease": mag.Closeness(0.3, hierarchy=TREE)}),
    (None, {"disease": mag.Closeness(0.3, "equal"), "pay": mag.Closeness(0.1, "ordered")}),
]


@pytest.mark.parametrize("wishes", WISHES)
def test_promises_are_those_of_the_whole_table(path, wishes):
    file = File(path)
    whole = file.read(["pay"], ["age", "town", "disease"])[0]
    with file.class_parts(["age", "town"], ["pay"], ["disease"]) as parts:
        found = recount_promises(parts.distinct(["disease", "pay"]), ["age", "town"], *wishes, parts=parts)
    expected = recount_promises(whole, ["age", "town"], *wishes)
    assert [(one.criterion, one.counted, one.holds) for one in found] == [
        (one.criterion, one.counted, one.holds) for one in expected
    ]


def test_units_are_those_of_the_whole_table(path, capsys):
    least = mag.verify.recount(people(), ["age", "town"], unit="person")
    given = ["check", str(path), "--qi", "age", "--qi", "town", "--unit", "person"]
    assert main([*given, "-k", str(least)]) == 0
    assert f"smallest class {least}." in capsys.readouterr().out
    assert main([*given, "-k", str(least + 1)]) == 1
    sizes = people().group_by("age", "town").agg(pl.col("person").n_unique(), pl.len())
    few = sizes.filter(pl.col("person") <= least)["len"].sum()
    assert f"{few} of {N} records" in capsys.readouterr().out


def test_a_file_of_one_block_and_one_without_records_are_one_part(tmp_path):
    for n in (0, 5):
        for ending in ENDINGS:
            path = tmp_path / f"few{n}.{ending}"
            getattr(people(n), {"parquet": "write_parquet", "feather": "write_ipc", "csv": "write_csv"}[ending])(path)
            with File(path).class_parts(["age"], [], ["person"]) as parts:
                assert [frame.height for frame in parts] == [n]


def test_declared_marks_and_codes_are_read_in_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 500)
    path = tmp_path / "marks.csv"
    path.write_text("home;pay\n" + "".join(f"h{i % 30};{i % 4}.000,5\n" for i in range(200)) + "h1;-9\n")
    layout = Layout(";", decimal_comma=True, thousands=".", null_of={"pay": ("-9",)})
    with File(path, layout).class_parts(["home"], ["pay"]) as parts:
        assert parts.distinct(["pay"])["pay"].sort().to_list() == [None, 0.5, 1000.5, 2000.5, 3000.5]
