"""Random tables and files are counted by code that shares nothing with the package; `benchmarks.attack` runs 10⁵."""

import pathlib
import pickle
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from benchmarks import _random_recoding as recoding
from benchmarks import attack, people
from benchmarks._random_recoding import MARK
from benchmarks._random_tables import Request
from mag.files._counts import of_frame

CHUNKS, SIZE = 8, 30


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_random_tables_and_files_hold_k_and_keep_cells(chunk):
    found = attack.run(range(chunk * SIZE, (chunk + 1) * SIZE), share=0.3)
    assert sum(found["cases"].values()) == SIZE
    assert sum(found["published"].values()) > SIZE // 3
    for kind in attack.WRONG:
        assert not found[kind], "\n".join(found[kind])


@pytest.mark.long
def test_thousands_of_random_tables_and_files():
    found = attack.run(range(10**6, 10**6 + 5000), share=0.25)
    for kind in attack.WRONG:
        assert not found[kind], "\n".join(found[kind])


@pytest.mark.parametrize("kind", people.CASES)
def test_units_households_and_sets_of_random_tables_hold(kind):
    found = people.run(kind, range(40))
    assert not found["broken"], "\n".join(found["broken"])
    assert found["published"][kind] >= 25


def test_plain_counting_finds_small_classes():
    """The counters themselves: of units, by wildcards, and within strata."""
    assert people.least(["a", "a", "a", "b", "b"], [1, 1, 2, 3, 3]) == 1
    rows = [(1, None), (1, 2), (None, 2), (3, 2)]
    assert people.least_by_wildcards(rows, [0] * 4, range(4)) == 2
    assert people.least_by_wildcards(rows, [0] * 4, [1, 1, 1, 2]) == 1
    assert people.least_by_wildcards(rows, [0, 0, 1, 1], range(4)) == 2
    with pytest.raises(people.BrokenError, match="a class of 1 units where k = 2"):
        people.require(1, 2, "units")


@pytest.mark.parametrize("kind", ["units", "sets", "suppression, values", "suppression, wildcards"])
def test_releases_that_count_records_are_found(kind, monkeypatch):
    """With `unit=` ignored, cases break."""
    for command in ("microaggregate", "suppress"):
        original = getattr(mag, command)

        def ignore_units(table, k, columns, original=original, **options):
            return original(table, k, columns, **{name: own for name, own in options.items() if name != "unit"})

        monkeypatch.setattr(mag, command, ignore_units)
    assert people.run(kind, range(40))["broken"]


# ---- the recount itself


def asked(masked, by=(), k=2, **options):
    return Request({}, list(masked), list(by), [], [], k, options)


def test_a_class_below_k_is_noticed():
    cells = {"x": [1, 1, 2, 2], "y": [1, 1, 1, 2]}
    attack.check_counts(asked("xy", scope="per-column", k=1), cells, ["x", "y"], [])
    with pytest.raises(attack.Wrong, match="1 records alike"):
        attack.check_counts(asked("xy"), cells, ["x", "y"], [])
    with pytest.raises(attack.Wrong, match="1 records alike"):
        attack.check_counts(asked("xy", scope="per-column"), cells, ["x", "y"], [])


def test_an_altered_cell_is_noticed():
    before, after = {"id": [1, 2], "t": ["mailto:a@x", "b"]}, {"id": [2, 1], "t": ["b", "a@x"]}
    with pytest.raises(attack.Wrong, match="became"):
        attack.check_kept(before, after, "id", [], lambda name, old, new: attack.alike(old, new))


PEOPLE = {
    "age": [21, 23, 41, 44],
    "job": [row[0] for row in recoding.JOBS[:4]],
    "disease": ["flu", "cough", "flu", "ulcer"],
    "salary": [1, 2, 3, 3],
    "note": [f"{MARK}n000{i}" for i in range(4)],
    "secret": [f"{MARK}s000{i}" for i in range(4)],
}


def recoded(**options):
    asked = recoding.Recoding(pa.table(PEOPLE), "mask", 2, ["age", "job"], [], options, ["age", "job"])
    before = pd.DataFrame(PEOPLE, dtype=object)
    ages, jobs = ["[20, 25]", "[20, 25]", "[40, 44]", "[40, 44]"], ["*", "*", "group 1", "group 1"]
    return asked, before, before.drop(columns="secret").assign(age=ages, job=jobs)


def test_a_true_release_passes():
    recoding.check_release(*recoded(diversity={"disease": 2, "salary": ("entropy", 1)}, closeness={"disease": 0.5}))
    recoding.check_bytes(recoded()[0], set(PEOPLE["note"]), pickle.dumps(PEOPLE["note"]))


FALSE = {
    "k": (lambda after: after.assign(age=["[20, 25]", "[21, 25]", "[40, 44]", "[40, 44]"]), {}, "a class of 1"),
    "l": (lambda after: after, {"diversity": {"salary": 2}}, "not 2-diverse"),
    "entropy": (lambda after: after, {"diversity": {"disease": ("entropy", 2.1)}}, "diverse"),
    "recursion": (lambda after: after, {"diversity": {"disease": ("recursive", 1, 2)}}, "diverse"),
    "t": (lambda after: after, {"closeness": {"salary": 0.2}}, "not 0.2-close"),
    "equal values": (lambda after: after, {"closeness": {"disease": 0.2}}, "not 0.2-close"),
    "a kept cell": (lambda after: after.assign(salary=[1, 2, 3, 4]), {}, "salary is not as it was"),
    "a note": (lambda after: after.assign(note=[after["note"][0]] * 4), {}, "the notes"),
    "a range": (lambda after: after.assign(age=["[22, 25]"] * 4), {}, "is published for 21"),
    "an ancestor": (lambda after: after.assign(job=["group 2"] * 4), {}, "'group 2' is published"),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_false_release_is_noticed(name):
    change, options, sentence = FALSE[name]
    asked, before, after = recoded(**options)
    with pytest.raises(attack.Wrong, match=sentence):
        recoding.check_release(asked, before, change(after))


@pytest.mark.parametrize("name", ["note", "secret"])
def test_a_withheld_text_is_noticed(name):
    asked, _, after = recoded()
    with pytest.raises(attack.Wrong, match="as text"):
        recoding.check_bytes(asked, set(after["note"][1:]), pickle.dumps(PEOPLE[name][:1]))


def test_an_error_that_quotes_a_cell_is_noticed():
    with pytest.raises(attack.Wrong, match="quotes a cell"):
        attack.refusal(mag.InputValueError(f"no leaf for {MARK}n0001."))
    with pytest.raises(attack.Wrong, match="no sentence"):
        attack.refusal(KeyError("no sentence"))
    assert attack.refusal(mag.InputValueError("a sentence.")) == "a sentence."


def test_seeds_draw_every_kind_of_case():
    assert {attack.kind_of(seed, 0.3) for seed in range(100)} == set(attack.CASES)


DIFFERENT = {
    "zeros": [0.0, -0.0],
    "last bits": [0.1 + 0.2, 0.3],
    "long integers": [2**53, 2**53 + 1],
    "texts": ["1", "1.0"],
}


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize(
    "make", [np.array, pd.Series, pl.Series, pa.array], ids=["numpy", "pandas", "polars", "pyarrow"]
)
def test_stored_values_that_differ_count_as_different(name, make):
    assert len(set(attack.tokens(make(DIFFERENT[name])))) == 2


def test_nanoseconds_in_nested_cells_count_as_different():
    times = pa.array([1, 2]).cast(pa.time64("ns"))
    column = pa.StructArray.from_arrays([times], ["t"])
    assert len(set(attack.tokens(column))) == 2
    assert len(set(attack.tokens(pl.Series(pl.from_arrow(column))))) == 2
    assert len(set(attack.tokens(pa.array([[1], [1, 2]]).cast(pa.list_(pa.time64("ns")))))) == 2


@pytest.mark.parametrize("form", attack.FORMATS)
def test_readers_read_what_was_written(form):
    table = pa.table({"id": [3, 1], "t": ["mailto:a@x", "_x000D_ b"], "f": [0.1, 2.5]})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, f"a.{form}")
        attack.write(table, form, path)
        cells = attack.read(form, path)
    assert list(cells) == ["id", "t", "f"]
    assert cells["t"] == table["t"].to_pylist()
    assert [float(cell) for cell in cells["f"]] == [0.1, 2.5]


@pytest.mark.parametrize("name", ["len", "*", "^x.*$", "-0 x"])
def test_names_that_mean_something_to_a_library_are_counted(name):
    frame = pl.DataFrame({"x": [0.0, -0.0, 1.0, 1.0], name: [1, 1, 2, 2]})
    assert of_frame(frame, ["x", name]) == {1: 2, 2: 1}
    assert of_frame(frame, [name]) == {2: 2}
