"""Files: kept cells are unchanged, the counts are those of the written cells, and no message quotes a cell."""

import collections
import csv
import datetime
import io
import os

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mag._lib.atomic import writing
from mag.files import FORMATS, File, Layout, _arrow, _blocks, _counts, below, feather, parquet, smallest

BOM = b"\xef\xbb\xbf"


@pytest.fixture
def file(tmp_path):
    """A file of these bytes."""

    def make(content, name="in.csv", **layout):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return File(path, Layout(**layout))

    return make


def copied(source, numbers, others, name="out.csv"):
    """The bytes of the file, read and written again."""
    frame, meta = source.read(numbers, others)
    target = File(source.path.with_name(name), source.layout)
    target.write(frame, numbers, meta, target.path)
    return target.path.read_bytes()


def test_formats_have_endings_of_their_own():
    endings = [ending for form in FORMATS.values() for ending in form.endings]
    assert len(endings) == len(set(endings))
    assert all(f".{name}" in form.endings for name, form in FORMATS.items())


def test_an_unknown_ending_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"files can be read from \.arrow, \.csv, \.dta.*; got 'people.doc'\."):
        File("people.doc")


KEPT = 'zip,n,share,day,note\n00123,1,1.50,01.02.2020,"a, b"\n,2,2.00,,""\n7,-3,.5,2020-1-1,"say ""x""\nand y"\n'


def test_kept_columns_come_out_byte_for_byte(file):
    assert copied(file(KEPT), ["n"], ["zip", "share", "day", "note"]) == KEPT.encode()


def test_columns_keep_their_order_and_dropped_ones_are_gone(file):
    assert copied(file("a,b,c\n1,x,2\n"), ["c"], ["a"]) == b"a,c\n1,2\n"


def test_a_mark_and_windows_line_ends_come_back(file):
    text = BOM + b'a,b\r\n1,"x\r\ny"\r\n2,z\r\n'
    assert copied(file(text), ["a"], ["b"]) == text


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings_come_back(file, encoding, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_BYTES", 7)
    text = "größe,n\nKöln,1\nÅrhus,2\n".encode(encoding)
    assert copied(file(text, encoding=encoding), ["n"], ["größe"]) == text


@pytest.mark.parametrize("first", ["\n", "1\n", "\r\n"])
def test_the_first_record_may_be_short_or_empty(file, first):
    if not first.strip() and int(pl.__version__.partition(".")[0]) < 2:
        pytest.skip("polars 1 skips empty lines before the first record")
    source = file(f"x,t\n{first}2,b\n3,c\n")
    one = int(first) if first.strip() else None
    assert source.read(["x"], ["t"])[0].rows() == [(one, None), (2, "b"), (3, "c")]
    assert source.counts(["x", "t"]) == [{1: 3}]


def test_a_decimal_comma_comes_back(file):
    text = "x;t\n1,5;a,b\n-2,25;1,0\n"
    source = file(text, decimal_comma=True)
    assert source.read(["x"])[0]["x"].to_list() == [1.5, -2.25]
    assert copied(source, ["x"], ["t"]) == text.encode()


@pytest.mark.parametrize("cells", ["1.234\n5.678\n", "1,5\n1.234\n", "1.234,5\n2\n"])
def test_a_point_beside_a_decimal_comma_is_no_number(file, cells):
    with pytest.raises(
        ValueError,
        match=r"column 'x': .* neither a number .* with --decimal-comma a number has no point, unless --thousands",
    ):
        file(f"x\n{cells}", decimal_comma=True).read(["x"])
    assert file("x\n1,5\n-2,25\n3\n", decimal_comma=True).read(["x"])[0]["x"].to_list() == [1.5, -2.25, 3.0]


def test_the_header_is_read_in_linear_time(file, monkeypatch):
    class Once(list):
        def count(self, name):
            raise AssertionError("which takes the square of the number of columns")

    monkeypatch.setattr(_blocks.csv, "reader", lambda lines, **options: iter([Once(f"c{i}" for i in range(1000))]))
    assert len(file("a\n").names()) == 1000


def test_tabs_and_other_delimiters(file):
    assert copied(file("a\tb\n1\tx,y\n", "in.tsv"), ["a"], ["b"], "out.tsv") == b"a\tb\n1\tx,y\n"
    assert copied(file("a|b\n1|x,y\n", delimiter="|"), ["a"], ["b"]) == b"a|b\n1|x,y\n"


def test_integers_stay_integers_and_large_ones_keep_their_digits(file):
    frame, _ = file("a,b,c\n9007199254740993,1,18446744073709551615\n-5,2.5,1\n").read(["a", "b", "c"])
    assert frame["a"].to_list() == [9007199254740993, -5]
    assert frame.dtypes == [pl.Int64, pl.Float64, pl.UInt64]
    assert frame["c"].to_list() == [2**64 - 1, 1]


def test_a_column_that_becomes_real_far_below_is_read_again(file):
    many = "".join(f"{i}\n" for i in range(5000))
    frame, _ = file(f"a\n{many}0.5\n").read(["a"])
    assert frame["a"].dtype == pl.Float64
    assert frame["a"].to_list() == [*range(5000), 0.5]


def test_dates_are_read_and_written_as_dates(file):
    text = "day,at\n2020-01-31,2020-01-31 10:20:30\n2021-02-28,2020-02-01 00:00:00\n"
    frame, _ = file(text).read(["day", "at"])
    assert frame["day"].to_list()[0] == datetime.date(2020, 1, 31)
    assert frame["at"].to_list()[0] == datetime.datetime(2020, 1, 31, 10, 20, 30)
    assert copied(file(text), ["day", "at"], []) == text.encode()


def test_words_for_missing_matter_in_numbers_only_and_come_back(file):
    source = file("x,t\nNA,NA\n1.5,\n-,-\n", null=("NA", "-"))
    assert source.read(["x"])[0]["x"].to_list() == [None, 1.5, None]
    assert copied(source, ["x"], ["t"]) == b"x,t\nNA,NA\n1.5,\nNA,-\n"


def test_nothing_and_nan_are_missing_numbers(file):
    assert file("x,t\n,a\nNaN,b\n2,c\n").read(["x"])[0]["x"].to_list() == [None, None, 2.0]


def test_blanks_around_numbers_are_no_mistake(file):
    assert file("x,t\n 1,a\n2 ,b\n").read(["x"])[0]["x"].to_list() == [1, 2]


def test_cells_that_are_no_numbers_are_counted_and_not_quoted(file):
    many = "".join(f"{i}\n" for i in range(2000))
    with pytest.raises(
        ValueError, match="column 'pay': 2 cells are neither a number nor a date like 2026-01-31; a decimal"
    ) as caught:
        file(f'pay\n{many}"1,234"\nsecret\n').read(["pay"])
    assert "secret" not in str(caught.value)
    assert "1,234" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n1,2,secret\n", "is not a table: line 3 has 3 cells, the first 2; is the delimiter right"),
        ('a,b\n1,"secret\n1,2\n', "a quote is not closed"),
        ("a,b\né,secret\n".encode("latin-1"), "is not valid UTF-8; try --encoding latin-1"),
        ("", "is empty"),
        ("a,b,a\n1,2,secret\n", "more than one column named 'a'"),
    ],
)
def test_broken_files_are_one_sentence_that_quotes_no_cell(file, content, sentence):
    for use in (lambda source: source.read([], ["a", "b"]), lambda source: source.counts(["a"])):
        with pytest.raises(ValueError, match=sentence) as caught:
            use(file(content))
        assert "secret" not in str(caught.value)


def test_unknown_columns_are_named_beside_the_known_ones(file):
    with pytest.raises(ValueError, match="no column 'c', 'd'; its columns are 'a', 'b'"):
        file("a,b\n1,2\n").read(["d"], ["c"])
    with pytest.raises(ValueError, match=r"; try --delimiter .;."):
        file("a;b\n1;2\n").counts(["a"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": ",,"},
        {"delimiter": '"'},
        *({"encoding": name} for name in ("utf-9", "zlib", "quopri", "undefined")),
    ],
)
def test_wrong_layouts_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        Layout(**wrong)
    with pytest.raises(ValueError, match="decimal_comma needs a delimiter other"):
        Layout(delimiter=",", decimal_comma=True)


cells = st.text(st.sampled_from('a0", \n;é'), max_size=4)


@settings(deadline=None, max_examples=200)
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=8), size=st.integers(1, 40), crlf=st.booleans())
def test_blocks_hold_whole_records(tmp_path_factory, rows, size, crlf):
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n" if crlf else "\n", quoting=csv.QUOTE_ALL).writerows([("x", "y\nz"), *rows])
    path = tmp_path_factory.mktemp("blocks") / "in.csv"
    path.write_text(text.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_blocks, "BLOCK_BYTES", size)
        pieces = list(_blocks.pieces(path, Layout()))
        [counted] = File(path).counts(["x", "y\nz"])
    assert b"".join(pieces) == path.read_bytes()
    assert [row for piece in pieces for row in csv.reader(io.StringIO(piece.decode(), newline=""))] == [
        ["x", "y\nz"],
        *map(list, rows),
    ]
    assert counted == collections.Counter(collections.Counter(rows).values())


def test_text_is_counted_as_it_stands_there(file):
    source = file('x,t\n1,a\n1,a\n1.0,a\n-0.0,\n0.0,\n0.0,""\n')
    one, two = source.counts(["x"], ["x", "t"])
    assert one == {1: 2, 2: 2}
    assert two == {1: 4, 2: 1}
    assert smallest(one) == 1
    assert below(one, 2) == 2


BINARY = ["feather", "parquet", "dta", "sav", "xpt", "xlsx"]


@pytest.mark.parametrize("name", BINARY)
def test_values_come_back_and_are_counted_as_they_are_stored(tmp_path, name):
    frame = pl.DataFrame({"income": [1.5, 1.5, None, 2.25], "region": ["n", "n", "s", "s"], "age": [31, 31, 40, 2]})
    file = File(tmp_path / f"table.{name}")
    file.write(frame, ["income"], {}, file.path)
    again, _ = file.read(["income", "age"], ["region"])
    assert again.rows() == frame.rows()
    assert file.names() == ["income", "region", "age"]
    assert file.numeric() == ["income", "age"]
    assert file.counts(["region", "income"], ["region"]) == [{1: 2, 2: 1}, {2: 2}]
    assert file.read(["age"])[0].columns == ["age"]


@pytest.mark.parametrize("name", ["feather", "parquet"])
def test_minus_zero_is_another_value_than_zero(tmp_path, name):
    file = File(tmp_path / f"table.{name}")
    file.write(pl.DataFrame({"x": [0.0, -0.0, 0.0], "y": [1.0, 1.0, 1.0]}), [], {}, file.path)
    assert file.counts(["y"]) == [{3: 1}]
    assert file.counts(["x", "y"]) == [{1: 1, 2: 1}]


@pytest.mark.parametrize(("name", "other"), [("sav", "dta"), ("dta", "sav"), ("sav", "sav"), ("dta", "dta")])
def test_labels_are_kept(tmp_path, name, other):
    import pyreadstat

    labels = {"column_labels": {"pay": "Income, €"}, "variable_value_labels": {"area": {1: "north", 2: "south"}}}
    frame = pl.DataFrame({"pay": [1.5, 2.5], "area": [1, 2], "left": [1, 1]})
    source, target = File(tmp_path / f"in.{name}"), File(tmp_path / f"out.{other}")
    getattr(pyreadstat, f"write_{name}")(frame, str(source.path), file_label="people", **labels)
    read, meta = source.read(["pay"], ["area"])
    target.write(read, ["pay"], meta, target.path)
    _, found = getattr(pyreadstat, f"read_{other}")(str(target.path))
    assert found.column_names == ["pay", "area"]
    assert found.column_names_to_labels["pay"] == "Income, €"
    assert found.variable_value_labels == {"area": {1: "north", 2: "south"}}
    assert not found.file_label


def test_declared_missing_values_are_no_numbers_and_stay_where_they_are_kept(tmp_path):
    import pyreadstat

    frame = pl.DataFrame({"pay": [10.0, 99.0, 30.0], "area": [1.0, 9.0, 2.0]})
    source, target = File(tmp_path / "in.sav"), File(tmp_path / "out.sav")
    missing = {"pay": [99.0], "area": [9.0]}
    pyreadstat.write_sav(frame, str(source.path), missing_ranges=missing, variable_measure={"area": "nominal"})
    read, meta = source.read(["pay"], ["area"])
    assert read["pay"].to_list() == [10.0, None, 30.0]
    assert read["area"].to_list() == [1.0, 9.0, 2.0]
    target.write(read.with_columns(pay=pl.lit(99.0)), ["pay"], meta, target.path)
    again, found = pyreadstat.read_sav(str(target.path), output_format="polars", user_missing=True)
    assert again["area"].to_list() == [1.0, 9.0, 2.0]
    assert list(found.missing_ranges) == ["area"]  # a masked number is no code for missing
    assert found.variable_measure["area"] == "nominal"


def test_sas_tables_can_only_be_read(tmp_path):
    file = File(tmp_path / "table.sas7bdat")
    with pytest.raises(ValueError, match=r"write \.xpt"):
        file.write(pl.DataFrame({"x": [1]}), ["x"], {}, file.path)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"csv", "tsv"}))
def test_files_of_another_kind_are_one_sentence(file, name):
    with pytest.raises(ValueError, match=f"'in.{name}' cannot be read") as caught:
        file("a,b\n1,secret\n", f"in.{name}").names()
    assert "secret" not in str(caught.value)


# atomic writing


def half_written(path, mistake):
    with writing(path) as [draft]:
        draft.write_text("half")
        raise mistake


def test_nothing_appears_before_the_end_and_drafts_are_gone_after_a_mistake(tmp_path):
    with writing(tmp_path / "a", tmp_path / "b") as drafts:
        for draft in drafts:
            draft.write_text("new")
        assert not (tmp_path / "a").exists()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "new", "b": "new"}
    for mistake in (ValueError, KeyboardInterrupt, SystemExit):
        with pytest.raises(mistake):
            half_written(tmp_path / "c", mistake)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_existing_files_are_kept_unless_told_otherwise(tmp_path):
    (tmp_path / "a").write_text("old")
    with pytest.raises(FileExistsError), writing(tmp_path / "a"):
        pass
    with writing(tmp_path / "a", overwrite=True) as [draft]:
        draft.write_text("new")
    assert (tmp_path / "a").read_text() == "new"


def test_a_file_that_appears_in_the_meantime_is_kept_and_its_companions_are_taken_back(tmp_path):
    with pytest.raises(FileExistsError), writing(tmp_path / "a", tmp_path / "b"):
        (tmp_path / "a").write_text("somebody else's")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "somebody else's"}


@pytest.mark.parametrize("way", ["same", "relative", "symlink", "hard link", "folder link", "dots"])
def test_what_is_read_is_never_written_over(tmp_path, way, monkeypatch):
    source = tmp_path / "in"
    source.write_text("data")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").symlink_to(source)
    os.link(source, tmp_path / "hard")
    (tmp_path / "folder").symlink_to(tmp_path, target_is_directory=True)
    target = {
        "same": source,
        "relative": "in",
        "symlink": "other",
        "hard link": "hard",
        "folder link": "folder/in",
        "dots": f"{tmp_path}/../{tmp_path.name}/in",
    }[way]
    with pytest.raises(ValueError, match="is read by this run"), writing(target, sources=[source], overwrite=True):
        pass
    assert source.read_text() == "data"
    assert not list(tmp_path.glob(".*"))


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with writing(tmp_path / "link") as [draft]:
        draft.write_text("x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "x"


def test_folders_and_missing_folders_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is not a file"), writing(tmp_path):
        pass
    with pytest.raises(FileNotFoundError, match="no such folder"), writing(tmp_path / "nowhere" / "a"):
        pass
    with pytest.raises(ValueError, match="different files"), writing(tmp_path / "a", tmp_path / "a"):
        pass


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    for mode in (0o600, 0o640, 0o666):
        (tmp_path / "a").write_text("old")
        (tmp_path / "a").chmod(mode)
        with writing(tmp_path / "a", overwrite=True) as [draft]:
            assert draft.stat().st_mode & 0o777 == mode
        assert (tmp_path / "a").stat().st_mode & 0o777 == mode


def test_a_secret_is_its_owners_alone(tmp_path):
    (tmp_path / "o.manifest.secret").touch(0o644)
    with writing(tmp_path / "o.manifest.secret", overwrite=True) as [draft]:
        assert draft.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "o.manifest.secret").stat().st_mode & 0o777 == 0o600


def test_permissions_are_the_usual_ones(tmp_path):
    (tmp_path / "usual").write_text("")
    with writing(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_a_file_is_counted_in_blocks(ending, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.integers(0, 9, 1000), "t": rng.choice(["a", "b", ""], 1000).tolist()})
    path = tmp_path / f"t.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_ipc(path)
    file = File(path)
    whole = file.counts(["x", "t"], ["t"], written=frame)
    monkeypatch.setattr(_arrow.Arrow, "columns", None)  # nothing reads the file as a whole
    for module in (parquet, feather):
        monkeypatch.setattr(module, "ROWS_PER_ARROW_BLOCK", 64)
    monkeypatch.setattr(_counts, "HASH_MEMORY", 0)
    monkeypatch.setattr(_counts, "LEAST_HASH_MEMORY", 128 * 100)
    assert file.counts(["x", "t"], ["t"]) == whole
