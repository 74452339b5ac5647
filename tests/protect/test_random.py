"""PRAM and rank swapping: distributions, reach, seeds, and what a manifest does not hold."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from mag.protect import invariant_matrix, pram, swap

JOBS = np.array(["nurse", "cook", "smith"])[np.arange(3000) % 7 % 3]


@pytest.mark.parametrize("stay", [0.0, 0.3, 0.8, 1.0])
def test_the_matrix_keeps_expected_frequencies(stay):
    shares = np.array([0.7, 0.2, 0.06, 0.04])
    matrix = invariant_matrix(shares, stay)
    assert np.allclose(matrix.sum(axis=1), 1)
    assert np.allclose(shares @ matrix, shares)
    assert (matrix >= 0).all()
    assert np.allclose(invariant_matrix(1000 * shares, stay), matrix)
    assert np.allclose(invariant_matrix(shares, 1.0), np.eye(4))


def test_categories_change_as_often_as_the_matrix_says():
    _, code, counts = np.unique(JOBS, return_inverse=True, return_counts=True)
    stays = np.diag(invariant_matrix(counts, 0.7))[code].mean()
    changed = pram({"job": JOBS}, "job", stay=0.7, random_state=1)["job"]
    assert abs((changed == JOBS).mean() - stays) < 4 * np.sqrt(stays * (1 - stays) / JOBS.size)
    after = np.unique(changed, return_counts=True)[1]
    assert np.abs(after - counts).max() < 4 * np.sqrt(JOBS.size)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_every_library_keeps_missing_cells(make):
    cells = np.array(["a", None, "b", "a", None, "b"] * 20, object)
    ranks = np.array([1.0, np.nan, 3.0, 4.0, np.nan, 6.0] * 20)
    table = make({"job": pa.array(cells) if make is pa.table else cells, "x": ranks})
    done = swap(pram(table, "job", random_state=0), "x", random_state=0)
    assert type(done) is type(table)
    frame = pl.DataFrame(dict(done) if make is dict else done, nan_to_null=True)
    assert frame["job"].is_null().to_list() == [cell is None for cell in cells]
    assert frame["x"].fill_nan(None).is_null().to_list() == np.isnan(ranks).tolist()


def test_swapped_values_are_the_same_and_near():
    values = np.random.default_rng(0).permutation(1000)
    swapped = swap({"x": values}, "x", share=0.02, random_state=3)["x"]
    assert np.array_equal(np.sort(swapped), np.sort(values))
    assert np.abs(swapped - values).max() <= 20  # values are their own ranks
    assert (swapped != values).mean() > 0.9


def test_seeds_repeat_and_none_does_not():
    table = {"x": np.arange(500), "job": JOBS[:500]}
    for function, name in ((swap, "x"), (pram, "job")):
        first, second = (function(table, name, random_state=5)[name] for _ in range(2))
        assert (first == second).all()
        free, other = (function(table, name)[name] for _ in range(2))
        assert (free != other).any()


def test_the_manifest_holds_neither_seed_nor_matrix():
    manifest = mag.microaggregate({"age": [1, 2, 3, 4], "job": ["a", "b", "a", "b"]}, 2, "age", keep="job").manifest()
    pram({"job": ["a", "b"]}, "job", stay=0.65, random_state=4321, manifest=manifest)
    swap({"x": [1, 2]}, "x", random_state=4321, manifest=manifest)
    entries = manifest["protected"]
    assert [entry["function"] for entry in entries] == ["pram", "swap"]
    assert entries[0]["options"] == {"matrix": "private"}
    assert "4321" not in str(entries)
    assert "0.65" not in str(entries)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pram({"x": ["a"]}, "x", stay=2), "stay must be "),
        (lambda: swap({"x": [1]}, "x", share=-1), "share must be "),
        (lambda: swap({"x": ["a"]}, "x"), "columns must hold numbers; 'x' holds "),
        (lambda: swap({"x": [1]}, []), "columns must name at least one column of the table; got none."),
        (lambda: invariant_matrix([1, 0]), "shares must be one positive number for each category."),
        (lambda: pram({"x": ["a"]}, "x", random_state="a"), "random_state must be "),
    ],
)
def test_mistakes_are_one_sentence(call, sentence):
    with pytest.raises(mag.InputError) as error:
        call()
    assert str(error.value).startswith(sentence)
