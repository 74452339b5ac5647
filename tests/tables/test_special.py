"""`special=`: codes among numbers are published as they are, never averaged, and k holds for them."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mag
from mag.commands.cli import main
from mag.tables import _pipeline

INCOMES = [0, 0, 0, 20, 22, 25, -9, -9, -9, 30, 31, 33]
PEOPLE = {"age": [*range(20, 32)], "income": INCOMES, "rent": [5.0, 6.0, 7.0, 8.0] * 3}


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_codes_stay_and_are_not_averaged(make):
    table = make({name: np.array(cells) for name, cells in PEOPLE.items()})
    release = mag.microaggregate(table, 3, ["age", "income"], special={"income": [0, -9]}, keep="rent")
    published = np.array(list(dict(release.data)["income"] if make is dict else release.data["income"].to_numpy()))
    special = np.isin(INCOMES, [0, -9])
    assert (published[special] == np.array(INCOMES)[special]).all()
    assert not np.isin(published[~special], [0, -9]).any()
    assert published[~special].mean() == pytest.approx(np.array(INCOMES)[~special].mean(), abs=1)
    assert mag.verify.recount(release.data, ["age", "income"]) >= 3
    assert release.manifest()["options"]["special"] == {"income": [0, -9]}


@given(
    st.lists(st.sampled_from([None, 0.0, -9.0, 1.0, 2.5, 4.0]), min_size=20, max_size=60),
    st.integers(2, 4),
    st.sampled_from(["mean", "median"]),
)
def test_k_holds_in_random_tables(incomes, k, aggregate):
    table = pl.DataFrame(
        {"income": incomes, "age": [i * 7 % 50 for i in range(len(incomes))]}, schema_overrides={"income": pl.Float64}
    )
    options = {"missing": "group", "small_strata": "suppress", "aggregate": aggregate}
    counts = [incomes.count(cell) for cell in (None, 0.0, -9.0)]
    assume(len(incomes) - sum(counts) >= k or max(counts) >= k)
    release = mag.microaggregate(table, k, ["income", "age"], special={"income": [0, -9]}, **options)
    assert release.data.group_by("income", "age").len()["len"].min() >= k
    kept = np.setdiff1d(np.arange(len(incomes)), release.withheld_rows())
    for i, cell in zip(kept.tolist(), release.data["income"].to_list(), strict=True):
        assert (cell in (0, -9) or incomes[i] in (0, -9)) <= (cell == incomes[i])
        assert (cell is None) == (incomes[i] is None)


@pytest.mark.parametrize(
    ("cells", "codes", "options"),
    [([-1, 1], [0], {}), ([-1.2, 0.9], [0], {"round": 0}), ([-8.0, -10.0], [-9], {}), ([20, 22], [0, 21], {})],
)
def test_groups_that_would_be_published_as_codes_are_an_error(cells, codes, options):
    table = {"x": np.array(cells * 3), "y": np.arange(6)}
    with pytest.raises(mag.InputValueError, match="values that no group of others is published as"):
        mag.microaggregate(table, 6, ["x", "y"], special={"x": codes}, **options)
    release = mag.microaggregate(table, 6, ["x", "y"], special={"x": codes}, aggregate={"x": "max"})
    assert set(release.data["x"].tolist()) == {max(cells)}


def test_codes_of_few_records_are_a_small_stratum():
    table = {"x": [1, 2, 3, 4, -9, -9]}
    with pytest.raises(mag.InputValueError, match="records with the same special values"):
        mag.microaggregate(table, 3, "x", special={"x": [-9]})
    release = mag.microaggregate(table, 3, "x", special={"x": [-9]}, small_strata="suppress")
    assert release.withheld == 2


def test_codes_do_not_stretch_distances():
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 300))
    plain = mag.microaggregate({"x": x, "y": y}, 5, ["x", "y"], method="ona_star")
    others = y.mean() + y.std() * np.array([-1.0, 1.0] * 3)  # which leave the standard deviation of y as it is
    coded = {"x": np.append(x, [-1e6] * 6), "y": np.append(y, others)}
    release = mag.microaggregate(coded, 5, ["x", "y"], method="ona_star", special={"x": [-1e6]})
    assert np.allclose(release.data["x"][:300], plain.data["x"])


def test_a_code_that_was_averaged_is_caught(monkeypatch):
    build = _pipeline.mask

    def averaged(frame, columns, *others):
        return build(
            frame, _pipeline.TableColumns(columns.units, columns.decimals, columns.weights, columns.owners), *others
        )

    monkeypatch.setattr(_pipeline, "mask", averaged)
    with pytest.raises(mag.NotAnonymousError, match="special values of income are published as they are"):
        mag.microaggregate({"income": np.array(INCOMES, float)}, 3, "income", special={"income": [0, -9]})


def test_the_command(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    pl.DataFrame(PEOPLE).write_csv(source)
    words = ["-k", "3", "-c", "age", "-c", "income", "--special", "income=0,-9", "--rest", "drop"]
    assert main(["mask", str(source), "-o", str(out), *words]) == 0
    assert pl.read_csv(out)["income"].to_list()[:3] == [0, 0, 0]
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["options"]["special"] == {"income": [0, -9]}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"special": {"rent": [0]}}, "special must name columns that are masked; got 'rent'"),
        ({"special": {"income": 0}}, "special['income'] must be a list of numbers; got 0."),
        ({"special": {"income": []}}, "special['income'] must be a list of finite numbers, at least one."),
        ({"special": {"income": ["a"]}}, "special['income'] must be a list of finite numbers, at least one."),
        ({"special": {"income": [0]}, "aggregate": "range"}, "special['income'] is for columns that are published as"),
        ({"special": {"income": [0]}, "scope": "per-column"}, "special is for scope='joint'; got scope='per-column'."),
    ],
)
def test_mistakes_are_one_sentence(options, sentence):
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(PEOPLE, 3, ["age", "income"], rest="drop", **options)
    assert str(error.value).startswith(sentence)
