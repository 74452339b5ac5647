"""Units and households of Parquet files that are masked in parts."""

import json

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import mag
from mag.tables.parquet import _source, joint, per_column

N = 3000


@pytest.fixture
def visits(tmp_path, monkeypatch):
    """Visits of patients of households, in blocks of 400 rows."""
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 400)
    rng = np.random.default_rng(1)
    person = np.sort(rng.integers(0, 500, N))
    table = {"person": pa.array([f"p{own}" for own in person]).dictionary_encode(), "home": person // 3}
    table |= {"age": 20.0 + person % 60, "cost": rng.lognormal(3, 1, N), "ward": rng.choice(["a", "b"], N)}
    pq.write_table(pa.table(table), tmp_path / "in.parquet", row_group_size=300)
    return tmp_path / "in.parquet"


@pytest.mark.parametrize("unit", ["person", "home"])
@pytest.mark.parametrize("memory", [600_000, None])
def test_classes_of_files_have_enough_units(visits, unit, memory):
    out = visits.with_name("out.parquet")
    release = mag.microaggregate(
        visits, 4, ["age", "cost"], by="ward", unit=unit, rest="drop", output=out, memory=memory
    )
    published = pl.read_parquet(out).with_columns(own=pl.read_parquet(visits)[unit])
    assert published.columns == ["age", "cost", "ward", "own"]
    counted = published.group_by("age", "cost", "ward").agg(pl.col("own").n_unique())["own"].min()
    assert counted == release.guarantee.smallest_units >= 4
    assert ("parts" in repr(release)) == (memory is not None)
    manifest = json.loads(out.with_name("out.parquet.manifest.json").read_text())
    assert manifest["options"]["unit"] == manifest["guarantee"]["unit"] == unit
    assert "units" in str(release.guarantee)


def test_classes_of_files_have_enough_households(visits):
    out = visits.with_name("out.parquet")
    options = {"unit": "person", "household": "home", "k_household": 3, "rest": "drop", "memory": 600_000}
    release = mag.microaggregate(visits, 4, ["age", "cost"], output=out, **options)
    published = pl.read_parquet(out).with_columns(pl.read_parquet(visits)["person", "home"])
    counted = published.group_by("age", "cost").agg(pl.col("person", "home").n_unique())
    guarantee = release.guarantee
    assert counted["home"].min() == guarantee.smallest_households >= guarantee.k_household == 3
    assert counted["person"].min() == guarantee.smallest_units >= 4


@pytest.fixture
def clusters(tmp_path, monkeypatch):
    """A hundred records of each of sixteen people, far from those of all others: few people fit into the memory."""
    monkeypatch.setattr(_source, "ROWS_PER_GROUP", 100)
    monkeypatch.setattr(joint, "RECORD", 2000)
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(16), 100)
    table = {"person": person, "area": person // 4, "id": np.arange(1600) // 2}
    table |= {name: 1000.0 * values + rng.normal(size=1600) for name, values in {"x": person, "y": person % 4}.items()}
    pq.write_table(pa.table(table), tmp_path / "in.parquet", row_group_size=70)
    return tmp_path / "in.parquet"


@pytest.mark.parametrize(
    "options",
    [{"unit": "person"}, {"by": "area", "unit": "person"}, {"unit": "id", "household": "person", "k_household": 3}],
    ids=str,
)
def test_parts_hold_enough_people_whose_records_are_alike(clusters, options):
    out = clusters.with_name("out.parquet")
    release = mag.microaggregate(clusters, 3, ["x", "y"], **options, rest="drop", output=out, memory=200_000)
    published = pl.read_parquet(out).with_columns(own=pl.read_parquet(clusters)["person"])
    assert published.group_by("x", "y").agg(pl.col("own").n_unique())["own"].min() >= 3
    assert "parts" in repr(release)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"unit": "person"}, r"k must be an integer in \[1, the number of units=16\]; got 17\."),
        ({"unit": "person", "by": "area"}, "at least k=17 units: 4 of 4 strata have fewer"),
        ({"household": "person", "k_household": 5, "by": "area"}, "k_household=5 households: 4 of 4 strata have fewer"),
    ],
)
def test_too_few_people_are_counted_in_the_file_not_in_a_part(clusters, options, sentence):
    out = clusters.with_name("out.parquet")
    with pytest.raises(mag.InputValueError, match=sentence):
        mag.microaggregate(clusters, 17, ["x", "y"], **options, rest="drop", output=out, memory=200_000)
    assert [own.name for own in clusters.parent.iterdir()] == ["in.parquet"]


@pytest.mark.filterwarnings("ignore::mag.UnitsWarning")
@pytest.mark.parametrize("option", ["unit", "household"])
def test_a_file_with_classes_of_too_few_is_refused(visits, monkeypatch, option):
    """Parts that are masked as if every record were a unit of its own."""
    release_table = joint.release_table

    def ignore_owners(table, options):
        changed = {option: None, "drop": [*options.drop, getattr(options, option)]}
        return release_table(table, joint.replace(options, **changed))

    monkeypatch.setattr(joint, "release_table", ignore_owners)
    out = visits.with_name("out.parquet")
    with pytest.raises(mag.NotAnonymousError, match=rf"a class of \d {option}s in age, cost where k=5 {option}s are"):
        mag.microaggregate(visits, 5, ["age", "cost"], **{option: "home"}, rest="drop", output=out)
    assert not out.exists()


@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_small_strata_of_files_get_a_remedy_that_files_have(visits, scope):
    table = pl.read_parquet(visits).with_columns(ward=pl.col("home").cast(str))
    table.write_parquet(visits)
    options = {"by": "ward", "unit": "home", "scope": scope, "rest": "drop", "output": visits.with_name("out.parquet")}
    with pytest.raises(mag.InputValueError) as error:
        mag.microaggregate(visits, 2, ["age", "cost"], **options)
    assert "every stratum must have at least k=2 units: " in str(error.value)
    assert str(error.value).endswith("; use fewer columns in by, or a smaller k.")


@pytest.mark.parametrize("unit", ["person", "home"])
@pytest.mark.parametrize("options", [{}, {"by": "ward"}, {"weights": "age"}], ids=str)
def test_files_by_column_have_enough_units(visits, unit, options):
    out = visits.with_name("out.parquet")
    ks = {"age": 3, "cost": 4}
    release = mag.microaggregate(visits, ks, [*ks], unit=unit, scope="per-column", rest="drop", output=out, **options)
    published = pl.read_parquet(out)
    frame = mag.microaggregate(
        pl.read_parquet(visits), ks, [*ks], unit=unit, scope="per-column", rest="drop", **options
    )
    assert published.select(*ks).equals(frame.data.select(*ks))
    assert unit not in published.columns
    published, by = (
        published.with_columns(own=pl.read_parquet(visits)[unit]),
        [*([options["by"]] if "by" in options else [])],
    )
    found = {name: published.group_by(*by, name).agg(pl.col("own").n_unique())["own"].min() for name in ks}
    guarantee = release.guarantee
    assert found == guarantee.smallest_units_by_column == frame.guarantee.smallest_units_by_column
    assert all(found[name] >= k for name, k in ks.items())
    assert guarantee.smallest_units == frame.guarantee.smallest_units
    assert "minimum number of units" in str(guarantee)


@pytest.mark.filterwarnings("ignore::mag.UnitsWarning")
def test_a_file_by_column_with_too_few_units_is_refused(visits, monkeypatch):
    release_table = per_column.release_table

    def ignore_units(table, options):
        return release_table(table, per_column.replace(options, unit=None, drop=[*options.drop, options.unit]))

    monkeypatch.setattr(per_column, "release_table", ignore_units)
    out = visits.with_name("out.parquet")
    with pytest.raises(mag.NotAnonymousError, match=r"a class of \d units in age where k=9 units are promised"):
        mag.microaggregate(visits, 9, ["age", "cost"], unit="home", scope="per-column", rest="drop", output=out)
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"household": "home", "household_columns": "age"}, "household_columns is not used for files;"),
        ({"sets": [["age"], ["cost"]]}, "sets is not used for files;"),
        ({"household": "home", "scope": "per-column"}, "household is not used for files;"),
        ({"unit": "doctor"}, "unit must name columns of the table; got 'doctor'"),
    ],
)
def test_wrong_calls_are_one_sentence(visits, options, sentence):
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(visits, 4, ["age", "cost"], rest="drop", output=visits.with_name("out.parquet"), **options)
    assert sentence in str(error.value)
