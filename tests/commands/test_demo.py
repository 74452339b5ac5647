"""`mag demo`: the whole story, from a table that fails to one that holds, with its report."""

import csv
import json
import pathlib
import sys
from collections import Counter

import numpy as np
import pytest

import mag
from mag import demo


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "new" / "folder"
    lines = []
    path = demo.run(folder, 5, say=lines.append)
    return path, lines


def test_the_first_line_is_the_path_of_the_report(told):
    path, lines = told
    assert lines[0] == str(path.resolve())
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_story_goes_from_a_table_that_fails_to_one_that_holds(told):
    _, lines = told
    text = " ".join(" ".join(lines).split())
    places = [
        text.index(part) for part in ("The check for k = 5 fails", "mag.microaggregate(", "at least 4 others", "after")
    ]
    assert places == sorted(places)
    assert "smallest class of equal records 1 5" in text
    assert all(len(line) <= 100 for line in lines[1:])


def test_the_masked_file_is_k_anonymous_as_text(told):
    path, _ = told
    with (path.parent / "masked.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert not {"id", "name"} & set(rows[0])
    counts = Counter(tuple(row[name] for name in ("region", *demo.MASKED_COLUMNS)) for row in rows)
    assert min(counts.values()) >= 5
    with (path.parent / "people.csv").open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    manifest = json.loads((path.parent / "manifest.json").read_text(encoding="utf-8"))
    assert len(people) == 10_000
    assert len(people) - len(rows) == manifest["guarantee"]["withheld"]
    assert any(row["rent"] == "" for row in rows)


def test_the_report_is_about_this_release(told):
    path, _ = told
    page = path.read_text(encoding="utf-8")
    manifest = json.loads((path.parent / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["guarantee"]["text"].replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}") in page
    assert "Published unchanged: satisfaction" in page
    assert page.count("<figure>") >= len(demo.MASKED_COLUMNS)


def test_files_are_not_replaced_unasked(told):
    path, _ = told
    with pytest.raises(
        ValueError, match=r"already holds report\.html, .*; choose another folder, or pass overwrite=True\."
    ):
        demo.run(path.parent, say=lambda line: None)


@pytest.mark.parametrize("k", [0, 10_001])
def test_a_wrong_k_is_refused_before_anything_is_written(tmp_path, k):
    with pytest.raises(ValueError, match=r"k must be an integer in \[1, n=10000\]"):
        demo.run(tmp_path / "demo", k)
    assert not (tmp_path / "demo").exists()


def test_people_are_the_same_each_time():
    one, two = demo.people(500), demo.people(500)
    assert all(np.array_equal(one[name], two[name], equal_nan=one[name].dtype.kind == "f") for name in one)
    assert mag.privacy.k_anonymity(np.column_stack([one["age"], one["income"]])) == 1


def test_without_polars_there_is_a_report_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setattr(demo, "people", lambda register=demo.people: register(1500))
    path = demo.run(tmp_path, 3, say=lambda line: None)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["manifest.json", "report.html"]
    assert path == pathlib.Path(tmp_path, "report.html")
