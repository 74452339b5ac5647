"""Records of a Parquet file masked jointly in parts: counted by others, whole or not at all."""

import json
import os
import pickle
from datetime import date

import numpy as np
import pytest

import mag
from mag._lib.cells import words_of_arrow
from mag.commands.cli import main
from mag.files import Layout
from mag.frames import frame_of
from mag.tables import CodedFile, group_sample
from mag.tables.parquet import _source, joint
from mag.tables.parquet._parts import Block, PartFiles, Partitioning, StratumNumbers, examine, measure, read_block
from mag.tables.parquet.joint import bytes_of
from mag.verify import NotAnonymousError

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")

COLUMNS = ["income", "age", "born", "wealth"]


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "id": [f"p{i}" for i in range(n)],
            "income": rng.lognormal(3, 1, n),
            "age": pa.array(rng.integers(0, 100, n), pa.int16()),
            "born": pa.array(np.datetime64("1950-01-01") + rng.integers(0, 20_000, n).astype("m8[D]")),
            "region": pa.array(rng.choice(["north", "south", "east", None], n, p=[0.9, 0.05, 0.04, 0.01])),
            "wealth": pa.array(rng.lognormal(3, 1, n).round(2)).cast(pa.decimal128(12, 2), safe=False),
            "sex": pa.array(rng.choice([-0.0, 0.0, 1.0], n)),
            "weight": rng.integers(0, 5, n),
        }
    )


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 128)
    table = people()
    encoded = table.set_column(4, "region", table.column("region").dictionary_encode())
    pq.write_table(encoded, tmp_path / "people.parquet", row_group_size=700)
    return tmp_path / "people.parquet"


def classes(table, names):
    """The smallest class, by pyarrow's own group-by; text of floats, so that the signs of zeros differ."""
    cells = {name: pa.array([repr(cell) for cell in table.column(name).to_pylist()]) for name in names}
    return min(pa.table(cells).group_by(names).aggregate([([], "count_all")]).column("count_all").to_pylist())


HOW = {
    "plain": {},
    "strata": {"by": ["region"]},
    "strata of two columns": {"by": ["region", "sex"], "k": 2},
    "weights": {"weights": "weight", "by": ["region"]},
    "own units": {"standardize": False, "importance": {"age": 3.0}},
    "median": {"aggregate": "median", "round": 1},
    "mona": {"method": "mona", "rho": 0.6},
    "mdav": {"method": "mdav"},
}


@pytest.mark.parametrize("memory", [200_000, 1_000_000, "1GB"])
@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
def test_records_of_a_file_are_masked_in_parts(path, tmp_path, how, memory):
    how = {"k": 5, **how}
    by = how.get("by", [])
    keep = [name for name in ("region", "sex", "weight") if name not in by]
    options = how | {"columns": COLUMNS, "drop": "id", "keep": keep}
    release = mag.microaggregate(path, output=tmp_path / "out.parquet", memory=memory, **options)
    assert (len(release.warnings) == 1) == (memory != "1GB")
    published, original = pq.read_table(tmp_path / "out.parquet"), pq.read_table(path)
    assert published.schema.names == [name for name in original.schema.names if name != "id"]
    assert classes(published, [*by, *COLUMNS]) == release.guarantee.smallest >= how["k"]
    for name in (*by, *keep):  # in the order of the file
        assert published.column(name).to_pylist() == original.column(name).to_pylist()
    for name in COLUMNS:
        assert published.schema.field(name).type == original.schema.field(name).type
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifest == release.manifest()
    assert manifest["guarantee"]["n_groups"] == release.guarantee.n_groups
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "out.parquet.manifest.json", "people.parquet"]
    if memory == "1GB":  # one part: what a frame gives
        frame = mag.microaggregate(original, **options)
        for name in COLUMNS:
            if name in ("age", "born"):
                assert published.column(name).equals(frame.data.column(name).cast(published.schema.field(name).type))


def test_parts_keep_to_their_size_and_hold_whole_strata_or_2k_records(tmp_path):
    table, names, k, most = people(5000).select(["income", "age", "region"]), ["income", "age"], 5, 400
    blocks = [read_block(table.slice(first, 700), names, "error") for first in range(0, 5000, 700)]
    transform, strata = examine(iter(blocks), names, ["region"], k)
    cut = Partitioning(measure(iter(blocks), transform, strata, True, most), k, most)
    leaves = [cut.assign(block, 700 * b) for b, block in enumerate(blocks)]
    leaf, region = np.concatenate(leaves), np.array(table.column("region").to_pylist(), dtype=str)
    parts = list(cut.parts())
    assert sorted(leaf for own, _ in parts for leaf in own) == sorted(set(leaf.tolist()))
    for own, size in parts:
        inside = np.isin(leaf, own)
        assert inside.sum() <= 1.3 * most
        for name in set(region[inside]):
            assert (region[inside] == name).sum() == (region == name).sum() if size is None else inside.sum() >= 2 * k


@pytest.mark.parametrize("constant", [True, False])
def test_equal_records_are_cut_by_chance(path, tmp_path, constant):
    rng = np.random.default_rng(0)
    x = np.ones(4000) if constant else rng.integers(0, 2, 4000).astype(float)
    pq.write_table(pa.table({"x": x, "y": x}), tmp_path / "same.parquet")
    release = mag.microaggregate(tmp_path / "same.parquet", 7, ["x", "y"], output=tmp_path / "out.parquet", memory=2e5)
    assert release.guarantee.smallest >= 7
    assert pq.read_table(tmp_path / "out.parquet").column("x").to_numpy().tolist() == x.tolist()


WRONG = {
    "text": ({"columns": ["income", "id"]}, TypeError, "'id'"),
    "one column": ({"columns": "age"}, ValueError, "two columns or more"),
    "diversity": ({"diversity": {"region": 2}}, TypeError, "diversity is not used for files"),
    "sensitive": ({"sensitive": "region"}, TypeError, "sensitive is not used for files"),
    "option": ({"shuffle": True, "missing": "drop"}, TypeError, "missing='drop', shuffle is not used for files"),
    "range": ({"aggregate": "range"}, TypeError, "aggregate 'range' is not used for files"),
    "ranges": ({"aggregate": {"age": "range"}}, TypeError, "aggregate 'range' is not used for files"),
    "memory": ({"memory": "much"}, ValueError, "memory must be a number of bytes"),
    "no memory": ({"memory": 1000}, ValueError, "for blocks of rows"),
    "strata": ({"by": ["id"]}, ValueError, "3000 of 3000 strata are too small"),
    "k": ({"k": 3001}, ValueError, "k must be an integer"),
    "per column": ({"scope": "per-column"}, ValueError, "memory is not used by files that are masked column by column"),
}


@pytest.mark.parametrize(("wrong", "error", "sentence"), WRONG.values(), ids=WRONG)
def test_mistakes_are_told_and_nothing_is_left(path, tmp_path, wrong, error, sentence):
    options = {"k": 5, "columns": COLUMNS, "rest": "drop", "memory": "1MB", **wrong}
    with pytest.raises(error, match=sentence):
        mag.microaggregate(path, output=tmp_path / "out.parquet", **options)
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_missing_cells_are_refused(path, tmp_path):
    pq.write_table(pa.table({"x": [1.0, None, 2.0], "y": [1, 2, 3]}), tmp_path / "in.parquet")
    with pytest.raises(ValueError, match="'x' has missing values; pass missing='group'"):
        mag.microaggregate(tmp_path / "in.parquet", 2, ["x", "y"], output=tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="memory is not used by tables in memory"):
        mag.microaggregate({"x": [1.0, 2.0], "y": [1, 2]}, 2, ["x", "y"], memory="1GB")


def test_views_of_text_are_refused(tmp_path):
    table = pa.table({"x": [1.0, 2.0], "y": [1, 2], "g": pa.array(["a", "a"], pa.string_view())})
    pq.write_table(table, tmp_path / "in.parquet")
    with pytest.raises(TypeError, match=r"^column 'g' holds string_view, .* cast it to text\.$"):
        mag.microaggregate(tmp_path / "in.parquet", 2, ["x", "y"], by="g", output=tmp_path / "out.parquet")


def test_a_link_in_place_of_the_parts_is_not_followed(path, tmp_path):
    aside = tmp_path / "aside"
    aside.mkdir()
    (aside / "mine").write_text("mine")
    (tmp_path / ".out.parquet.parts").symlink_to(aside)
    mag.microaggregate(path, 5, COLUMNS, rest="drop", output=tmp_path / "out.parquet")
    assert not (tmp_path / ".out.parquet.parts").exists()
    assert (aside / "mine").read_text() == "mine"


def test_a_group_below_k_is_not_published(path, tmp_path, monkeypatch):
    add, done = PartFiles.add, []

    def change(self, kind, numbers, table):
        if kind == "rows" and not done:  # one record of one part gets another value on the way
            cells = table.column(1).to_numpy().copy()
            cells[0] += 1.0
            done.append(table := table.set_column(1, "1", pa.chunked_array([cells])))
        add(self, kind, numbers, table)

    monkeypatch.setattr(PartFiles, "add", change)
    with pytest.raises(NotAnonymousError, match="a class of 1 equal records"):
        mag.microaggregate(path, 5, COLUMNS, rest="drop", output=tmp_path / "out.parquet", memory=200_000)
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_lost_records_are_noticed(path, tmp_path, monkeypatch):
    take = PartFiles.take
    monkeypatch.setattr(PartFiles, "take", lambda self, *how: take(self, *how).slice(1))
    with pytest.raises(RuntimeError, match="nothing is published"):
        mag.microaggregate(path, 5, COLUMNS, rest="drop", output=tmp_path / "out.parquet", memory=200_000)
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_an_input_that_changes_is_noticed(path, tmp_path, monkeypatch):
    def change(*options):
        found = measure(*options)
        pq.write_table(people(seed=1), path, row_group_size=700)
        return found

    monkeypatch.setattr(joint, "measure", change)
    with pytest.raises(ValueError, match="changed while it was read"):
        mag.microaggregate(path, 5, COLUMNS, rest="drop", output=tmp_path / "out.parquet", memory=200_000)


@pytest.mark.parametrize("memory", [10**9, 20_000, 5_000])
def test_the_recount_sees_every_class_of_the_file(tmp_path, monkeypatch, memory):
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 100)
    rng = np.random.default_rng(0)
    cells = {"x": rng.integers(0, 30, 2000) / 4, "text": rng.choice(["a", "b", "", "ü"], 2000), "null": [None] * 2000}
    some = pa.table(cells | {"sometimes": pa.array([None if i % 3 else i // 500 for i in range(2000)])})
    pq.write_table(some, tmp_path / "in.parquet")
    folder = tmp_path / "folder"
    folder.mkdir()
    names = ["x", "text", "null", "sometimes"]
    counted = joint.count_smallest(_source.ParquetSource(tmp_path / "in.parquet"), names, folder, memory)
    assert counted == classes(some, names)


@pytest.mark.skipif(not hasattr(pa, "uuid"), reason="pyarrow 19 has uuid")
def test_strata_of_an_extension_type_are_counted_over_all_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 100)
    rng = np.random.default_rng(0)
    codes = (np.arange(1000) >= 900) ^ (rng.random(1000) < 0.1)
    ids = pa.array([bytes([5 + code] * 16) for code in codes.astype(int)], pa.uuid())
    pq.write_table(
        pa.table({"x": rng.normal(size=1000), "y": rng.normal(size=1000), "g": ids}), tmp_path / "in.parquet"
    )
    out = tmp_path / "out.parquet"
    release = mag.microaggregate(tmp_path / "in.parquet", 3, ["x", "y"], by="g", method="mondrian", output=out)
    found = pq.read_table(out).to_pandas().groupby(["g", "x", "y"]).size().min()
    assert release.guarantee.smallest == found >= 3


def test_words_of_cells_do_not_depend_on_the_block():
    cells = {
        "text": pa.array(["b", "a", None, "b", ""]),
        "dictionary": pa.array(["b", "a", None, "b", ""]).dictionary_encode(),
        "numbers": pa.array([1.5, -0.0, None, 0.0, float("nan")]),
        "truth": pa.array([True, False, None, True, True]),
        "decimal": pa.array([1, 2, None, 3, 3]).cast(pa.decimal128(20, 1)),
    }
    for array in cells.values():
        whole = np.stack(words_of_arrow(pa.chunked_array([array])))
        alone = [np.stack(words_of_arrow(pa.chunked_array([array.slice(i, 1)]))) for i in range(5)]
        assert np.array_equal(whole, np.concatenate(alone, axis=1))
    zeros = np.stack(words_of_arrow(cells["numbers"]))
    assert not np.array_equal(zeros[:, 1], zeros[:, 3])


def test_sizes_of_memory():
    sizes = {"2GB": 2 * 10**9, "1.5 GiB": 3 * 2**29, "64kb": 64_000, 512: 512, "7": 7, "3M": 3 * 10**6}
    assert {text: bytes_of(text) for text in sizes} == sizes
    for wrong in (0, -1, "GB", "2PB", True, "1e9x"):
        with pytest.raises(ValueError, match="memory must be"):
            bytes_of(wrong)


def test_strata_have_one_number_in_all_blocks():
    strata = StratumNumbers(["a", "b"])
    first = strata.number(Block(frame_of(pa.table({"a": [0.0, -0.0, 1.0], "b": ["x", "x", None]})), []))
    second = strata.number(Block(frame_of(pa.table({"a": [1.0, 0.0, 1.0], "b": [None, "x", "x"]})), []))
    assert sorted(first.tolist()) == [0, 1, 2]
    assert second[0] == first[2]
    assert second[1] == first[0]
    assert second[2] not in first


def test_the_command_masks_in_parts(path, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["mask", "people.parquet", "-k", "5", "-c", "income", "-c", "age", "--by", "region", "--drop", "id"]
    words += ["--drop", "born", "--drop", "wealth", "--keep", "sex", "--drop", "weight", "--memory", "200kB"]
    assert main([*words, "-o", "out.parquet"]) == 0
    assert "Records were grouped in" in capsys.readouterr().out
    assert classes(pq.read_table("out.parquet"), ["income", "age", "region"]) >= 5
    assert main([*words, "-o", "out.csv"]) == 2
    assert "--memory is for" in capsys.readouterr().err


# ---- missing cells


def with_gaps(table, seed=1):
    """Every column misses cells by itself, income as NaN or null; born and wealth are missing together."""
    rng = np.random.default_rng(seed)
    for names in (["income"], ["age"], ["born", "wealth"]):
        gaps = pa.array(rng.random(len(table)) < 0.2)
        for name in names:
            kind = table.schema.field(name).type
            empty = pa.scalar(np.nan if name == "income" and seed % 2 else None, kind)
            column = pc.if_else(gaps, empty, table.column(name).combine_chunks())
            table = table.set_column(table.schema.get_field_index(name), name, column)
    return table


def loss(original, published):
    """The share of the variances of present cells that is lost."""
    shares = []
    for name in COLUMNS:
        x, y = (frame_of(table).column(name).units().floats() for table in (original, published))
        shares.append(np.nanmean((x - y) ** 2) / np.nanvar(x))
    return np.mean(shares)


def gaps_of(table, names):
    return {name: pc.is_null(table.column(name), nan_is_null=True).to_pylist() for name in names}


@pytest.mark.parametrize("memory", [200_000, 1_000_000, "1GB"])
@pytest.mark.parametrize("seed", [1, 2], ids=["NaN", "null"])
@pytest.mark.parametrize("by", [None, "sex"])
def test_missing_cells_stay_and_are_grouped_with_their_like(path, tmp_path, memory, seed, by):
    original = with_gaps(people(3000), seed)
    pq.write_table(original, path, row_group_size=700)
    options = {"k": 2, "columns": COLUMNS, "by": by, "rest": "drop", "missing": "group"}
    release = mag.microaggregate(path, output=tmp_path / "out.parquet", memory=memory, **options)
    assert (len(release.warnings) == 1) == (memory != "1GB")
    published = pq.read_table(tmp_path / "out.parquet")
    names = [by, *COLUMNS] if by else COLUMNS
    assert gaps_of(published, COLUMNS) == gaps_of(original, COLUMNS)
    assert classes(published, names) == release.guarantee.smallest >= 2
    whole = mag.microaggregate(original, **options)
    in_parts, in_memory = loss(original, published), loss(original, whole.data)
    if memory == "1GB":  # one part: what a frame gives, but for the last bits of distances
        assert in_parts == pytest.approx(in_memory, rel=0.01)
    else:
        assert in_parts < 1.5 * in_memory


def test_a_pattern_of_missing_cells_is_cut_into_parts_of_2k_records():
    table, names, k, most = with_gaps(people(5000)).select(COLUMNS), COLUMNS, 5, 400
    blocks = [read_block(table.slice(first, 700), names, "group") for first in range(0, 5000, 700)]
    transform, strata = examine(iter(blocks), names, [], k)
    assert strata.sizes.sum() == 5000
    assert strata.sizes.size == 8
    cut = Partitioning(measure(iter(blocks), transform, strata, True, most), k, most)
    leaf = np.concatenate([cut.assign(block, 700 * b) for b, block in enumerate(blocks)])
    pattern = np.column_stack([*gaps_of(table, names).values()]) @ [1, 2, 4, 8]
    for own, size in cut.parts():
        inside = np.isin(leaf, own)
        assert size is None or len(set(pattern[inside])) == 1
        for one in set(pattern[inside]):
            assert (pattern[inside] == one).sum() == (pattern == one).sum() if size is None else inside.sum() >= 2 * k


def test_units_of_columns_are_those_of_present_cells():
    """Deviations do not depend on how many cells are missing, or in which block."""
    x, y = np.random.default_rng(0).normal(size=(2, 300)) * 7 + 1e6
    gaps = np.arange(300) >= 100  # whole blocks of 100
    table = pa.table({"x": pa.array(x, mask=gaps), "y": y, "z": pa.array([None] * 300, pa.uint64())})
    blocks = [read_block(table.slice(first, 100), ["x", "y", "z"], "group") for first in (200, 100, 0)]
    transform, strata = examine(iter(blocks), ["x", "y", "z"], [], 5)
    transform = measure(iter(blocks), transform, strata, True, 1000).transform
    deviations = np.ldexp(1 / transform.unit[:2], transform.exponent[:2])
    assert deviations == pytest.approx([x[:100].std(), y.std()])
    assert transform.unit[2] == 0


def test_a_column_without_any_cell_stays_empty(tmp_path):
    x = np.random.default_rng(0).normal(size=500)
    table = pa.table({"x": x, "y": x**2, "none": pa.array([None] * 500, pa.uint64())})
    pq.write_table(table, tmp_path / "in.parquet")
    out = tmp_path / "out.parquet"
    mag.microaggregate(tmp_path / "in.parquet", 3, [*table.schema.names], missing="group", output=out, memory="200kB")
    assert pq.read_table(out).column("none").null_count == 500


def test_codes_are_found_in_columns_of_every_type(tmp_path):
    cells = {
        "int": pa.array([2**63 - 1, -9, 9]),
        "float": pa.array([np.nan, -9.0, 9.0]),
        "decimal": pa.array([None, -9, 9]).cast(pa.decimal128(22, 2)),
        "date": pa.array([date(2000, 1, 1), date(1900, 1, 1), date(2009, 9, 9)]),
        "words": pa.array(["9", "NA", "99"]).dictionary_encode(),
        "wait": pa.array([1, -9, 9], pa.duration("s")),  # no code is a duration
    }
    pq.write_table(pa.table(cells), tmp_path / "in.parquet")
    layout = Layout(null=("-9", "NA", "1900-01-01"))
    source = CodedFile(tmp_path / "in.parquet", layout, [name for name in cells if name != "date"], {})
    (read,) = source.row_groups([*cells])
    for name, column in cells.items():
        expected = [cell if name in ("wait", "date") or i != 1 else None for i, cell in enumerate(column.to_pylist())]
        assert str(read.column(name).to_pylist()) == str(expected)
        assert read.schema.field(name).type == column.type
    dated = CodedFile(tmp_path / "in.parquet", layout, ["date"], {})
    assert dated.column("date").null_count == 1


def test_a_pattern_of_few_records_is_an_error(tmp_path):
    table = pa.table({"x": [1.0, None, 2.0, 3.0], "y": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "in.parquet")
    given = {"missing": "group", "output": tmp_path / "out.parquet"}
    with pytest.raises(ValueError, match=r"\(records that miss the same cells are one\) .* 1 of 2 strata is too small"):
        mag.microaggregate(tmp_path / "in.parquet", 2, ["x", "y"], **given)
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_the_command_takes_codes_as_missing_cells(path, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = with_gaps(people())
    filled = pc.if_else(pc.is_null(table.column("age")), pa.scalar(-9, pa.int16()), table.column("age"))
    required = table.schema.field("age").with_nullable(False)
    pq.write_table(table.set_column(2, required, filled), path, row_group_size=700)
    given = ["mask", path.name, "-k", "3", "-c", "income", "-c", "age", "--keep", "sex", "--rest", "drop"]
    given += ["--memory", "200kB", "--missing", "group"]
    for codes in ("age=-9", "-9.0,NA"):
        assert main([*given, "-o", "out.parquet", "--null", codes, "--overwrite"]) == 0
        assert "Records were grouped in" in capsys.readouterr().out
        published = pq.read_table("out.parquet")
        assert gaps_of(published, ["income", "age"]) == gaps_of(table, ["income", "age"])
        assert published.schema.field("age").type == pa.int16()
        assert pc.min(published.column("age")).as_py() >= 0
        assert classes(published, ["income", "age"]) >= 3
        manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
        assert manifest["text"] == {"null": [codes]}
    assert main(["rerun", "out.parquet.manifest.json", path.name]) == 0
    assert main([*given, "-o", "out.parquet", "--null", "sex=1", "--overwrite"]) == 2
    assert "--null must name columns that are masked" in " ".join(capsys.readouterr().err.split())
    assert main([*given[:-2], "-o", "out.parquet", "--null", "-9", "--overwrite"]) == 2
    assert "has missing values; pass --missing group" in " ".join(capsys.readouterr().err.split())


# ---- a report, and a dry run


def test_the_report_of_a_file_counts_units_and_households(tmp_path):
    """Two records of every person, four of every household: the page says what the guarantee says."""
    table = people(400)
    for name, records in (("person", 2), ("home", 4)):
        table = table.append_column(name, pa.array(np.arange(400) // records))
    pq.write_table(table, tmp_path / "in.parquet")
    given = {"unit": "person", "household": "home", "output": tmp_path / "out.parquet", "memory": "1GB"}
    release = mag.microaggregate(tmp_path / "in.parquet", 3, COLUMNS, rest="drop", **given)
    page = release.report(tmp_path / "r.html").read_text(encoding="utf-8")
    least = (release.guarantee.smallest_units, release.guarantee.smallest_households)
    assert "At least {} units (person) of at least {} households share".format(*least) in page
    assert "k counts records" not in page


def test_a_file_out_of_core_has_a_report_of_a_sample_of_its_groups(path, tmp_path, monkeypatch):
    monkeypatch.setattr(group_sample, "MAX_SAMPLED_RECORDS", 600)
    given = {"output": tmp_path / "out.parquet", "memory": 200_000, "by": "region"}
    release = mag.microaggregate(path, 5, COLUMNS, rest="drop", **given)
    sample = release._sample
    labels, sizes = np.concatenate(sample.labels), np.bincount(np.concatenate(sample.labels))
    assert 300 < labels.size < 900
    assert sizes.min() >= 5  # whole groups
    for name in COLUMNS:
        after = np.concatenate([table[name] for table in sample.after])
        assert all(np.ptp(after[labels == label]) == 0 for label in range(sizes.size))
    page = release.report(tmp_path / "r.html", about={"Data": "people"}).read_text(encoding="utf-8")
    assert f"{labels.size} of 3000 records, in whole groups" in page
    assert "Records published</dt><dd>3\N{NARROW NO-BREAK SPACE}000</dd>" in page
    assert f"Groups</dt><dd>{release.guarantee.n_groups}</dd>" in page
    copy = pickle.loads(pickle.dumps(release))
    assert copy._sample is None
    with pytest.raises(RuntimeError, match="not a copy"):
        copy.report(tmp_path / "again.html")
    with pytest.raises(FileExistsError):
        release.report(tmp_path / "r.html")


def test_a_report_of_a_sample_that_is_the_file_has_its_figures(path, tmp_path):
    release = mag.microaggregate(path, 5, COLUMNS, rest="drop", output=tmp_path / "out.parquet", memory="1GB")
    whole = mag.microaggregate(pq.read_table(path), 5, COLUMNS, rest="drop")
    facts = release._sample.facts(release.guarantee, release.manifest(), None, {}, lambda done: None)
    assert facts.utility["information_loss"] == pytest.approx(whole.utility()["information_loss"])
    assert facts.risk["k_anonymity"] == release.guarantee.smallest
    assert "Sample" not in facts.about


def test_the_command_writes_the_report_of_a_file_out_of_core(path, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["mask", path.name, "-k", "5", "-c", "income", "-c", "age", "--rest", "drop", "--memory", "1MB"]
    assert main([*given, "--dry-run"]) == 0
    assert "Nothing was written." in capsys.readouterr().out
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert main([*given, "-o", "out.parquet", "--report", "r.html", "--external-report", "e.html"]) == 0
    internal, external = ((tmp_path / name).read_text(encoding="utf-8") for name in ("r.html", "e.html"))
    assert "<dd>people.parquet</dd>" in internal
    assert "people.parquet" not in external
    assert "Information loss" not in external
    assert "k counted" in external
    assert main([*given, "-o", "new.parquet", "--report", "r.html"]) == 2
    assert not (tmp_path / "new.parquet").exists()
    assert main([*given, "-o", "new.parquet", "--prove-input"]) == 2
    assert "--prove-input cannot be used with --memory" in " ".join(capsys.readouterr().err.split())
