"""Codes among numbers: found whatever their rank, and no false alarm on counts."""

import os
import pathlib

import numpy as np
import polars as pl
import pytest

import mag
from mag.measures.codes import Codes, find_codes

DATA = pathlib.Path(os.environ.get("MAG_DATA", pathlib.Path(mag.__file__).parents[2] / "shared" / "data"))
RNG = np.random.default_rng(4)
RENT = RNG.normal(400, 300, 900).round() + 0.5  # many distinct numbers, some of them below 0
INCOME = np.append(RNG.lognormal(10, 1, 900).round(), [250_000.0, 300_000.0])  # some above 99999


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ([0, 1, 2, 3, 4] * 30 + [-9] * 30, {-9: 30}),
        ([0, 1, 2, 3, 4] * 30 + [-9] * 30 + [-8] * 5, {-9: 30, -8: 5}),
        ([0, 1, 2, 3, 4] * 30 + [99] * 9 + [98] * 4, {98: 4, 99: 9}),
        (list(range(13)) * 9 + [-9] * 4, {-9: 4}),
        ([*RENT, *[-9] * 40], {-9: 40}),
        ([*RENT, *[-99] * 40, *[-88] * 20], {-99: 40, -88: 20}),
        ([*INCOME, *[99999] * 50], {99999: 50}),
        ([*INCOME, *[-1] * 900], {-1: 900}),
        ([*RNG.integers(18, 90, 500), *[999] * 20], {999: 20}),
    ],
)
def test_missing_codes_are_found_whatever_their_rank(values, missing):
    assert find_codes(np.array(values, float)).missing == missing


def test_a_largest_fraction_may_be_a_top_code():
    """Columns without whole numbers are not sorted unless several records share the largest value."""
    fractions = RNG.random(500) * 0.9
    assert find_codes(fractions) == Codes({})
    assert find_codes(np.append(fractions, [0.95] * 30)) == Codes({}, top=30)


@pytest.mark.parametrize(
    "values",
    [
        np.repeat([0, 1, 2, 3, 4, 5, 8], [400, 250, 300, 90, 20, 5, 1]),  # children
        RNG.poisson(2.5, 1000) + 1,  # persons of a household
        RNG.integers(1, 13, 1000),  # months
        RNG.integers(0, 100, 5000),  # ages
        RNG.integers(-3, 4, 300),  # a scale
        np.repeat([1, 2, 3, 4, 5], [50, 120, 300, 200, 90]),  # answers in order
        np.repeat([1, 2], [600, 400]),  # whose rounded mean is the mode
        RNG.integers(1, 8, 300) * 10,
        np.arange(12),
        RENT,
        INCOME,
        np.zeros(50),
        np.empty(0),
    ],
)
def test_counts_scales_and_amounts_are_no_codes(values):
    found = find_codes(np.asarray(values, float))
    assert (found.missing, found.categories) == ({}, 0)


@pytest.mark.skipif(not DATA.exists(), reason="the public data sets are not here: set MAG_DATA")
def test_codes_of_the_survey_are_noted_and_its_counts_are_not():
    survey = pl.read_csv(DATA / "survey.csv")
    found = {name: find_codes(survey[name].to_numpy()) for name in survey.columns}
    noted = [name for name, codes in found.items() if codes.categories]
    assert noted == ["roof", "walls", "water", "electcon", "relat", "hhcivil"]
    assert found["relat"] == Codes({}, categories=9)
    assert not any(codes.missing for codes in found.values())
    adult = pl.read_csv(DATA / "adult.csv")
    assert [name for name in adult.columns if find_codes(adult[name].to_numpy()).categories] == ["education_num"]
    assert not any(find_codes(adult[name].to_numpy()).missing for name in adult.columns)


def test_python_warns_in_its_own_words():
    table = {"kids": [0, 1, 2, 3, 4] * 30 + [-9] * 30, "relat": np.repeat([1, 2, 3, 4], [60, 5, 60, 55])}
    with pytest.warns(mag.CodesWarning) as noted:
        release = mag.microaggregate(table, 5, ["kids", "relat"])
    assert [str(one.message) for one in noted] == [
        "Column 'kids' has values that look like missing codes: -9 (30 records); they are averaged as numbers unless "
        "you replace them by missing values.",
        "Column 'relat' has 4 whole values; means of codes tell nothing: pass aggregate={'relat': 'mode'}, or list "
        "it in keep=.",
    ]
    assert all(pathlib.Path(one.filename).name == "test_codes.py" for one in noted)
    assert "codes" not in str(release.manifest())
    with pytest.warns(mag.CodesWarning, match=r"missing codes: 1 rarer value \(30 records\)"):
        mag.microaggregate(table, 40, "kids", drop="relat")


def test_codes_that_are_treated_as_such_are_silent():
    table = {"age": np.arange(180), "relat": np.repeat([1, 2, 3, 4], [60, 5, 60, 55])}
    release = mag.microaggregate(table, 5, ["age", "relat"], aggregate={"relat": "mode"})
    assert set(release.data["relat"].tolist()) <= {1, 2, 3, 4}


def test_zeros_that_vanish_are_counted():
    savings = np.append(np.zeros(103), RNG.lognormal(8, 1, 200))
    release = mag.microaggregate({"x": savings, "y": RNG.normal(size=303)}, 10, ["x", "y"])
    left = int((release.data["x"] == 0).sum())
    assert left < 93
    assert f"Zeros of x: {103 - left} of 103 were averaged with other numbers." in release.warnings
    alone = mag.microaggregate({"x": savings}, 10, "x")
    assert not [note for note in alone.warnings if "Zeros" in note]


def test_the_command_line_notes_them_in_its_own_words(tmp_path, capsys):
    from mag.commands.cli import main

    path = tmp_path / "in.csv"
    pl.DataFrame({"relat": np.repeat([1, 2, 3, 4], [60, 5, 60, 55])}).write_csv(path)
    assert main(["mask", str(path), "--dry-run", "-k", "5", "-c", "relat"]) == 0
    assert capsys.readouterr().err == (
        "mag: note: column 'relat' has 4 whole values; means of codes tell nothing: --aggregate relat=mode, or "
        "--keep relat\n"
    )
    assert main(["mask", str(path), "--dry-run", "-k", "5", "-c", "relat", "--aggregate", "relat=mode"]) == 0
    assert capsys.readouterr().err == ""
