"""`mag.assess`: frames in the caller's library, units, missing keys, roles, and no cells in what it shows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
from mag import report
from tests.oracles import risk as plain

N = 120
RNG = np.random.default_rng(5)
PEOPLE = {
    "sex": ["f", "m"] * (N // 2),
    "age": (20 + RNG.integers(0, 25, N)).tolist(),
    "job": RNG.choice(["smith", "nurse", "clerk", "pilot", None], N, p=[0.4, 0.3, 0.2, 0.05, 0.05]).tolist(),
    "town": RNG.choice(["A", "B", "C"], N).tolist(),
    "person": [f"p{i // 2}" for i in range(N)],
    "home": [f"h{i // 5}" for i in range(N)],
    "illness": RNG.choice(["flu", "cold"], N).tolist(),
    "weight": RNG.integers(5, 60, N).astype(float).tolist(),
}
QI = ["sex", "age", "job", "town"]
ROWS = list(zip(*(PEOPLE[name] for name in QI), strict=True))
LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "arrays": lambda columns: {name: np.array(cells, object) for name, cells in columns.items()},
}
TABLES = ("records", "classes", "subsets", "columns", "levels")


def column(table, name):
    cells = table[name]
    return cells.to_pylist() if hasattr(cells, "to_pylist") else list(cells)


def close(found, expected):
    return found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_are_of_the_library_of_the_table(library):
    table = LIBRARIES[library](PEOPLE)
    options = {"weights": [float(w) for w in PEOPLE["weight"]], "household": "home", "sensitive": "illness"}
    found, same = mag.assess(table, QI, **options), mag.assess(pl.DataFrame(PEOPLE), QI, **options)
    for name in TABLES:
        ours, other = getattr(found, name), getattr(same, name)
        assert isinstance(ours, dict if library == "arrays" else type(table))
        for heading in other.columns:
            cells = [None if cell is None or cell != cell else cell for cell in column(ours, heading)]
            assert cells == [None if cell is None or cell != cell else cell for cell in other[heading]], heading
    assert repr(found) == repr(same)


def test_frequencies_and_risks_of_records():
    found = mag.assess(pl.DataFrame(PEOPLE), QI, weights="weight", household="home")
    expected = plain.frequencies(ROWS, PEOPLE["weight"])
    records = found.records
    assert records["fk"].to_list() == [f for f, _ in expected]
    assert close(records["Fk"].to_list(), [F for _, F in expected])
    assert close(records["risk"].to_list(), [plain.exact_risk(f, F) for f, F in expected])
    apart = 1 - np.array([np.prod(1 - records["risk"].to_numpy()[5 * (i // 5) : 5 * (i // 5) + 5]) for i in range(N)])
    assert close(records["household_risk"].to_list(), apart.tolist())
    assert close(found.summary["household_reidentifications"], apart.sum())


def test_classes_are_numbered_by_size_and_counted():
    found = mag.assess(pl.DataFrame(PEOPLE), QI, sensitive=["illness", "home"])
    classes, records = found.classes, found.records
    assert classes["fk"].is_sorted()
    for place, row in enumerate(classes.iter_rows(named=True)):
        own = [i for i, number in enumerate(records["class"]) if number == place]
        assert len({ROWS[i] for i in own}) == 1
        assert row["records"] == len(own) == row["fk"]
        assert row["first_record"] == own[0]
        assert row["illness_distinct"] == len({PEOPLE["illness"][i] for i in own})
    single = [row for row in classes.iter_rows(named=True) if row["fk"] >= 2 and row["illness_distinct"] == 1]
    assert found.summary["sensitive"]["illness"] == {"classes": len(single), "records": sum(r["fk"] for r in single)}


def test_units_are_counted_once():
    found = mag.assess(pl.DataFrame(PEOPLE), ["sex", "town"], unit="person", weights="weight")
    rows = list(zip(PEOPLE["sex"], PEOPLE["town"], strict=True))
    expected = plain.frequencies(rows, PEOPLE["weight"], PEOPLE["person"])
    assert found.records["fk"].to_list() == [f for f, _ in expected]
    assert close(found.records["Fk"].to_list(), [F for _, F in expected])
    assert found.summary["units"] == N // 2
    best = {}
    for person, risk in zip(PEOPLE["person"], found.records["risk"], strict=True):
        best[person] = max(best.get(person, 0), risk)
    assert close(found.summary["expected_reidentifications"], sum(best.values()))


def test_five_records_of_one_person_are_unique():
    table = {"sex": ["f"] * 5 + ["m"] * 2, "person": [7] * 5 + [8, 9]}
    assert mag.assess(table, "sex").summary["smallest"] == 2
    found = mag.assess(table, "sex", unit="person")
    assert (found.summary["smallest"], found.summary["uniques"]) == (1, 5)
    assert found.records["suda"].tolist() == [1.0] * 5 + [0.0] * 2


def test_columns_without_which_fewer_are_unique():
    found = mag.assess(pl.DataFrame(PEOPLE), QI)
    for row in found.columns.iter_rows(named=True):
        place = QI.index(row["column"])
        rest = [own[:place] + own[place + 1 :] for own in ROWS]
        assert row["unique_without"] == sum(f == 1 for f, _ in plain.frequencies(rest))
        assert row["unique_alone"] == sum(f == 1 for f, _ in plain.frequencies([own[place] for own in ROWS]))
        assert row["missing"] == sum(cell is None for cell in PEOPLE[row["column"]])
        assert row["values"] == len({*PEOPLE[row["column"]]} - {None})
    assert found.columns["suda_share"].is_sorted(descending=True)


def test_a_missing_key_is_a_value_or_matches_all():
    strict = mag.assess(pl.DataFrame(PEOPLE), QI)
    assert strict.records["fk"].to_list() == [f for f, _ in plain.frequencies(ROWS)]
    for alpha in (None, 0.5):
        wild = mag.assess(pl.DataFrame(PEOPLE), QI, missing="wildcard", alpha=alpha)
        expected = plain.matches(ROWS, alpha=1.0 if alpha is None else alpha)
        assert wild.records["fk"].to_list() == [f for f, _ in expected]
    assert wild.summary["uniques"] < strict.summary["uniques"]


def test_all_kinds_of_missing_cells_are_one_value_and_zero_has_one_sign():
    table = {"a": [None, float("nan"), 0.0, -0.0, 1.0], "b": [1, 1, 1, 1, True]}
    assert mag.assess(table, ["a"]).records["fk"].tolist() == [2, 2, 2, 2, 1]


def test_subsets_are_limited():
    wide = {f"q{j}": RNG.integers(0, 3, 40) for j in range(30)}
    assert mag.assess(wide, [*wide]).summary["max_size"] == 3
    assert len(mag.assess(wide, [*wide], max_size=2).subsets["size"]) == 30 + 435


def test_population_uniques_need_a_population():
    assert "population_uniques_zayatz" not in mag.assess(PEOPLE, QI).summary
    known = mag.assess(PEOPLE, QI, sampling_fraction=0.25).summary
    assert known["population"] == 4 * N
    assert 0 < known["population_uniques_zayatz"] < 4 * N
    whole = mag.assess(PEOPLE, QI, sampling_fraction=1.0).summary
    assert whole["population_uniques_zayatz"] == pytest.approx(whole["uniques"])


SECRET = "Zebulon-417"


@pytest.fixture(scope="module")
def with_secret():
    table = pl.DataFrame(PEOPLE).with_columns(
        pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(SECRET)).otherwise("job").alias("job"),
        pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(SECRET)).otherwise("illness").alias("illness"),
        pl.when(pl.int_range(pl.len()) == 5).then(pl.lit(SECRET)).otherwise("home").alias("home"),
    )
    return mag.assess(table, QI, unit="person", household="home", sensitive="illness", weights="weight")


def test_no_rare_cell_is_in_the_result(with_secret, tmp_path):
    page = with_secret.report(tmp_path / "risk.html").read_text(encoding="utf-8")
    shown = [repr(with_secret), with_secret._repr_html_(), page, str(with_secret.summary)]
    assert not any(SECRET in text or "nurse" in text for text in shown)
    assert SECRET.encode() not in pickle.dumps(with_secret)
    levels = with_secret.levels.filter(pl.col("column") == "job")
    assert {*levels["level"]} == {"smith", "nurse", "clerk", None}
    assert levels.filter(pl.col("level").is_null() & (pl.col("first_record") == 3)).height == 1


def test_the_page_shows_columns_and_loads_nothing(with_secret, tmp_path):
    page = with_secret.report(tmp_path / "risk.html", title="Before <masking>").read_text(encoding="utf-8")
    assert "Before &lt;masking&gt;" in page
    assert "http" not in page.replace("http-equiv", "")
    assert all(name in page for name in QI)
    with pytest.raises(FileExistsError):
        with_secret.report(tmp_path / "risk.html")


def test_the_picture_has_two_bars_for_every_column(with_secret):
    pytest.importorskip("matplotlib").use("agg")
    axes = with_secret.plot()
    assert len(axes.patches) == 2 * len(QI)


MISTAKES = {
    "no column": ({"qi": []}, "qi must name at least one column of the table; got none."),
    "unknown": ({"qi": "agee"}, "qi must name columns of the table; got 'agee', which it does not have, did you mean"),
    "two roles": ({"unit": "age"}, "a column must have one role; 'age' is in qi and unit."),
    "weights in qi": ({"weights": "age"}, "a column must have one role; 'age' is in qi and weights."),
    "two units": ({"unit": ["person", "home"]}, "unit must name one column of the table; got 2."),
    "text weights": ({"weights": "illness"}, "weights must hold numbers"),
    "no weights": ({"weights": "wait"}, "weights must name a column of the table or be an array; got 'wait'."),
    "short weights": ({"weights": [1.0]}, f"weights must hold one weight per record, n={N}; got 1."),
    "missing unit": ({"qi": "age", "unit": "job"}, "unit must not have missing cells; got"),
    "missing household": ({"qi": "age", "household": "job"}, "household must not have missing cells; got"),
    "reading": ({"missing": "skip"}, "missing must be one of 'value', 'wildcard'; got 'skip'."),
    "alpha alone": ({"alpha": 0.5}, "alpha is not used by missing='value'; leave it out."),
    "alpha": ({"missing": "wildcard", "alpha": 2}, "alpha must be a number from 0 to 1; got 2."),
    "units and wildcards": (
        {"missing": "wildcard", "unit": "person"},
        "unit is not used by missing='wildcard', which counts records; leave it out.",
    ),
    "size": ({"max_size": 5}, "max_size must be an integer in [1, the number of quasi-identifiers=4]; got 5."),
    "fraction": ({"sampling_fraction": 0}, "sampling_fraction must be above 0; got 0."),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_get_one_sentence(case):
    options, sentence = MISTAKES[case]
    with pytest.raises(mag.InputError) as error:
        mag.assess(PEOPLE, **({"qi": QI} | options))
    assert str(error.value).startswith(sentence)
    assert str(error.value).count("\n") == 0


def test_more_mistakes():
    with pytest.raises(mag.InputError, match=r"table must hold at least one record; got none."):
        mag.assess({"a": []}, "a")
    many = {f"q{j}": [0, 1] for j in range(63)}
    with pytest.raises(mag.InputError, match=r"qi must name at most 62 columns; got 63."):
        mag.assess(many, [*many])
    del many["q62"]
    with pytest.raises(mag.InputError, match="max_size must leave at most 1000000 subsets; 8 of 62 columns have"):
        mag.assess(many, [*many], max_size=8)
    with pytest.raises(mag.InputError, match="qi must hold values that can be hashed"):
        mag.assess(pl.DataFrame({"a": [[1], [2]]}), "a")


def test_shares_are_never_rounded_to_all():
    assert [report.percent(share) for share in (0.0, 0.123, 0.9949, 0.995, 0.9999, 1.0)] == [
        "0 %",
        "12 %",
        "99 %",
        "> 99 %",
        "> 99 %",
        "100 %",
    ]


# ---- lazy frames


def duckdb_relation(columns):
    return pytest.importorskip("duckdb").connect().from_arrow(pa.table(columns))


LAZY = {"polars": pl.LazyFrame, "duckdb": duckdb_relation}


@pytest.mark.parametrize("library", LAZY)
def test_counts_of_lazy_frames_are_those_of_frames(library):
    rng = np.random.default_rng(2)
    pay = rng.choice([0.0, -0.0, np.nan, 1.5], N)
    people = PEOPLE | {"pay": [None if i % 9 == 0 else x for i, x in enumerate(pay.tolist())]}
    names = [*QI, "pay"]
    found = mag.assess(LAZY[library](people), names, sensitive="illness", sampling_fraction=0.1)
    expected = mag.assess(pl.DataFrame(people), names, sensitive="illness", sampling_fraction=0.1)
    assert list(found.summary) == list(expected.summary)
    for key, figure in expected.summary.items():
        assert found.summary[key] == (pytest.approx(figure) if isinstance(figure, float) else figure), key
    assert (found.records, found.classes, found.levels) == (None, None, None)
    for name in ("classes", "smallest", "uniques", "below_3", "below_5"):
        own, other = (
            dict(zip(column(x.subsets, "subset"), column(x.subsets, name), strict=True)) for x in (found, expected)
        )
        assert own == other
    assert {row[:5] for row in found.column_risks} == {row[:5] for row in expected.column_risks}
    assert sorted(column(found.columns, "column")) == sorted(names)
    assert "SUDA share\npay" not in repr(found)
    assert " –" in repr(found)


@pytest.mark.parametrize("option", ["weights", "unit", "household", "missing", "alpha"])
def test_lazy_frames_have_no_figures_of_records(option):
    setting = {"weights": "weight", "unit": "person", "household": "home", "missing": "wildcard", "alpha": 0.5}[option]
    with pytest.raises(mag.InputError, match=rf"^{option}.* is not used by a lazy frame.*collect it"):
        mag.assess(pl.LazyFrame(PEOPLE), QI, **{option: setting})
    assessment = mag.assess(pl.LazyFrame(PEOPLE), ["sex"])
    with pytest.raises(mag.InputRuntimeError, match="plot and report need scores of records"):
        assessment.plot()
    with pytest.raises(mag.InputValueError, match="at least one record"):
        mag.assess(pl.LazyFrame(PEOPLE).head(0), QI)
