"""Hierarchies: every constructor, every mistake in one sentence, files of ARX, and the figures that groups need."""

import datetime
import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import mag
from tests.data.hierarchies import ADULT, JOBS, adult, rows


def node(tree, label, level):
    return next(n for n in set(tree.levels[:, level].tolist()) if tree.labels[n] == label)


def test_loss_counts_leaves_and_height_counts_labels():
    tree = mag.Hierarchy.from_levels(JOBS)
    assert [tree.loss[node(tree, *place)] for place in (("baker", 0), ("crafts", 1), ("*", 2))] == [0, 0.4, 1]
    assert tree.loss[node(tree, "unknown", 1)] == 0
    assert [tree.height[node(tree, *place)] for place in (("baker", 0), ("unknown", 1), ("crafts", 1), ("*", 2))] == [
        0, 0, 1, 2,
    ]  # fmt: skip


def test_closest_common_ancestors():
    tree = mag.Hierarchy.from_levels(JOBS)
    leaves = tree.find(["baker", "painter", "dentist", "dentist", "surgeon", "painter", "unknown", "unknown"])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert [tree.labels[n] for n in tree.common_ancestors(leaves, groups)] == ["crafts", "dentist", "*", "unknown"]
    assert tree.loss[tree.common_ancestors(leaves, groups)].tolist() == [0.4, 0, 1, 0]


@given(rows())
def test_levels_are_given_back_by_every_way(tmp_path_factory, listed):
    tree = mag.Hierarchy.from_levels(listed)
    assert tree.to_levels() == listed
    path = tmp_path_factory.mktemp("tree") / "tree.csv"
    tree.to_arx(path)
    assert mag.Hierarchy.read(path) == tree
    parents = {child: parent for row in listed for child, parent in itertools.pairwise(row)}
    assert sorted(map(str, mag.Hierarchy.from_parents(parents).to_levels())) == sorted(map(str, listed))


@given(rows())
def test_the_common_ancestor_of_two_leaves_is_their_first_common_label(listed):
    tree = mag.Hierarchy.from_levels(listed)
    for one in range(len(listed)):
        for other in range(len(listed)):
            (found,) = tree.common_ancestors(np.array([one, other]), np.array([0, 0]))
            level = next(v for v in range(4) if listed[one][v] == listed[other][v])
            assert tree.labels[found] == listed[one][level]
            below = sum(row[level] == listed[one][level] for row in listed)
            assert tree.loss[found] == (below / len(listed) if below > 1 else 0)


def test_parents_of_any_depth_are_padded_downwards():
    tree = mag.Hierarchy.from_parents({"flu": "lung", "cough": "lung", "lung": "any", "ulcer": "any"})
    assert tree.to_levels() == [["flu", "lung", "any"], ["cough", "lung", "any"], ["ulcer", "ulcer", "any"]]
    assert tree.height[tree.root] == 2


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_a_table(make):
    table = make({"city": ["a", "b", "a", "c"], "state": ["x", "x", "x", "y"]})
    tree = mag.Hierarchy.from_columns(table, ["city", "state"])
    assert tree.to_levels() == [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]
    assert tree.warnings == ("columns has no single root: '*' was added above its last level.",)


def test_intervals_hold_their_low_end_and_not_their_high_end():
    tree = mag.Hierarchy.intervals(0, 12, [5, 10])
    assert tree.find([0, 4.999, 5, 11.5, 12, -1, float("nan")]).tolist() == [0, 0, 1, 2, -1, -1, -1]
    assert tree.to_levels()[2] == ["[10, 12)", "[10, 12)", "[0, 12)"]
    assert tree.check([3, 12, None]) == [12]
    assert pickle.loads(pickle.dumps(tree)).find([4.9, 12, -1]).tolist() == [0, -1, -1]
    tenths = mag.Hierarchy.intervals(0, 1, [0.1, 0.3])
    assert [tenths.labels[leaf] for leaf in tenths.find([0.3, 0.6, 0.7])] == ["[0.3, 0.4)", "[0.6, 0.7)", "[0.7, 0.8)"]
    long = mag.Hierarchy.intervals(0, 5_000_000, [1234567])
    assert [long.labels[leaf] for leaf in long.find([1234567])] == ["[1234567, 2469134)"]
    named = mag.Hierarchy.intervals(0, 10, [5], labels=lambda low, high: f"{low} to {high - 1}")
    assert named.to_levels() == [["0 to 4", "0 to 9"], ["5 to 9", "0 to 9"]]


def test_decimal_widths_are_nested_as_they_are_written():
    assert len(mag.Hierarchy.intervals(0, 1, [0.25, 0.5]).levels) == 4


def test_prefixes_and_dates():
    codes = mag.Hierarchy.prefixes([23552, "23701", "9"], keep=[3, 1])
    assert codes.to_levels()[0] == ["23552", "235**", "2****", "*"]
    assert codes.to_levels()[2] == ["9", "9", "9", "*"]
    assert codes.find([23552]).tolist() == [0]
    days = mag.Hierarchy.dates([datetime.date(2026, 11, 17), "2019-01-31"], ["month", "quarter", "year", "decade"])
    assert days.to_levels()[0] == ["2026-11-17", "2026-11", "2026-Q4", "2026", "2020s", "*"]
    assert days.find([datetime.datetime(2019, 1, 31), pd.Timestamp("2026-11-17"), "2020-01-01"]).tolist() == [1, 0, -1]


def test_values_that_are_no_text_are_found_as_text():
    tree = mag.Hierarchy.flat(["1", "2", "True"])
    assert tree.find([1, 2.0, True, 3, "1"]).tolist() == [0, 1, 2, -1, 0]


LEVELS = mag.Hierarchy.from_levels
MISTAKES = {
    "rows must hold at least one value; got none.": lambda: LEVELS([]),
    "rows must hold a sequence of labels for every value; got 'abc'.": lambda: LEVELS("abc"),
    "rows must have the same number of labels in every row, 2 as in the first; 1 of 2 have another number, the first "
    "of them row 2.": lambda: LEVELS([["a", "*"], ["b", "x", "*"]]),
    "rows must not have empty labels; row 2 has one.": lambda: LEVELS([["a", "*"], ["b", ""]]),
    "rows must have every value once; 1 of 3 rows repeat one, the first of them row 3.": lambda: LEVELS(
        [["a", "*"], ["b", "*"], ["a", "*"]]
    ),
    "level 1 of rows is not nested: 1 label has more than one parent on level 2, first in row 2.": lambda: LEVELS(
        [["a", "x", "1", "*"], ["b", "x", "2", "*"], ["c", "y", "2", "*"]]
    ),
    "parents must have exactly one root; got 2.": lambda: mag.Hierarchy.from_parents({"a": "x", "b": "y"}),
    "parents must be a tree; got a cycle.": lambda: mag.Hierarchy.from_parents({"a": "b", "b": "a", "c": "*"}),
    "got a cycle.": lambda: mag.Hierarchy.from_parents({"x": "a", "a": "b", "b": "a", "c": "*"}),
    "parents must map every category to its parent; got a list.": lambda: mag.Hierarchy.from_parents([]),
    "columns must name columns of the table; got 'c'.": lambda: mag.Hierarchy.from_columns({"a": ["x"]}, ["a", "c"]),
    "widths must each be a multiple of the one before; got 7 after 5.": lambda: mag.Hierarchy.intervals(0, 9, [5, 7]),
    "low must be a finite number; got nan.": lambda: mag.Hierarchy.intervals(float("nan"), 9, [1]),
    "high must be a finite number; got True.": lambda: mag.Hierarchy.intervals(0, True, [1]),
    "low must be below high; got low=9 and high=9.": lambda: mag.Hierarchy.intervals(9, 9, [1]),
    "keep must list falling numbers of characters; got [2, 3].": lambda: mag.Hierarchy.prefixes(["abc"], [2, 3]),
    "levels must name some of month, quarter, year, decade in this order; got year, month.": lambda: (
        mag.Hierarchy.dates(["2026-11-17"], ["year", "month"])
    ),
    "values must be dates, or text such as 2026-11-17; 1 are neither.": lambda: mag.Hierarchy.dates(["x"], ["year"]),
    "'absent.csv' cannot be read: No such file or directory.": lambda: mag.Hierarchy.read("absent.csv"),
}


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_are_one_sentence(sentence):
    with pytest.raises(mag.InputError) as error:
        MISTAKES[sentence]()
    assert str(error.value).endswith(sentence)


@pytest.mark.parametrize(
    "text", ["a;x;*\r\nb;x;*\r\n", "\ufeffa,x,*\nb,x,*\n", "a\tx\t*\nb\tx\t*", '"a";"x";*\n\nb;x;*']
)
def test_files_of_every_layout(tmp_path, text):
    (tmp_path / "tree.csv").write_bytes(text.encode())
    assert mag.Hierarchy.read(tmp_path / "tree.csv").to_levels() == [["a", "x", "*"], ["b", "x", "*"]]


def test_a_file_in_another_encoding_is_a_mistake(tmp_path):
    (tmp_path / "tree.csv").write_bytes("ä;*".encode("latin-1"))
    with pytest.raises(ValueError, match="must be encoded in UTF-8"):
        mag.Hierarchy.read(tmp_path / "tree.csv")


@adult
def test_the_hierarchies_of_adult(tmp_path):
    people = pl.read_csv(ADULT / "adult.csv", separator=";")
    for path in sorted(ADULT.glob("adult_hierarchy_*.csv")):
        tree = mag.Hierarchy.read(path)
        tree.to_arx(tmp_path / path.name)
        assert mag.Hierarchy.read(tmp_path / path.name) == tree
        assert tree.check(people[path.stem.removeprefix("adult_hierarchy_")].unique()) == []
    ages = mag.Hierarchy.read(ADULT / "adult_hierarchy_age.csv")  # which puts 20 into 15-19, among others
    assert len(ages.warnings) == 1
    assert "look like a range that does not contain their value" in ages.warnings[0]


def test_measures_take_hierarchies():
    tree = mag.Hierarchy.from_levels(JOBS)
    jobs, groups = ["dentist", "dentist", "baker", "painter", "painter", "surgeon"], [0, 0, 1, 1, 2, 2]
    assert mag.metrics.ncp(jobs, groups, hierarchies={0: tree}) == pytest.approx(0.8 + 2)
    assert mag.metrics.total_il(jobs, groups, hierarchies={0: tree}) == pytest.approx(2 * 0.5 + 2)
    assert mag.privacy.t_closeness(groups, jobs, hierarchy=tree) > 0
