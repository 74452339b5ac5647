"""The figures of sdcMicro 5.8.1 on its own survey, on a small table of its documentation, and on Adult."""

import csv
import inspect
import json

import numpy as np
import polars as pl
import pytest

import mag
from mag.risk import subsets
from mag.risk.frequencies import count_classes
from mag.risk.household import household_risk
from mag.risk.suda import dis_scores
from tests.data.paths import DATA
from tests.oracles.risk import exact_risk, sdcmicro_risk

REFERENCE = DATA.parent / "reference"
KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
ADULT = ["sex", "age", "race", "marital-status", "education", "native-country"]
SINGLE = 2e-7  # sdcMicro computes DIS-SUDA in float32

pytestmark = pytest.mark.skipif(
    not (REFERENCE / "sdcmicro.json").is_file(), reason="the figures of sdcMicro are not part of the project"
)


@pytest.fixture(scope="module")
def figures():
    return json.loads((REFERENCE / "sdcmicro.json").read_text())


@pytest.fixture(scope="module")
def by_record():
    with (REFERENCE / "sdcmicro_survey_records.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {
        name: np.array([np.nan if row[name] in ("", "NA", "NaN") else float(row[name]) for row in rows])
        for name in rows[0]
    }


@pytest.fixture(scope="module")
def survey():
    return pl.read_csv(DATA / "survey.csv")


@pytest.fixture(scope="module")
def assessment(survey):
    return mag.assess(survey, KEYS, weights="sampling_weight", household="ori_hid", sensitive="hhcivil")


@pytest.fixture(scope="module")
def francdat():
    return pl.read_csv(DATA / "francdat.csv")


FRANCDAT = ["Key1", "Key2", "Key3", "Key4"]
FRACTIONS, ALPHAS = (0.1, 0.2), (0, 1)


def close(found, expected, rel=1e-9):
    return np.asarray(found).tolist() == pytest.approx(np.asarray(expected).tolist(), rel=rel, abs=1e-15)


def theirs(fk, Fk):
    return np.array([sdcmicro_risk(f, F) for f, F in zip(fk, Fk, strict=True)])


def test_frequencies_of_the_survey(assessment, by_record, figures):
    assert assessment.records["fk"].to_list() == by_record["fk"].tolist()
    assert assessment.records["Fk"].to_list() == by_record["Fk"].tolist()
    counts = figures["testdata.freqCalc"]["value"]
    assert counts["n1"] == assessment.summary["uniques"]
    assert counts["n_fk_below_3"] == assessment.summary["below_3"]
    assert counts["n_fk_below_5"] == assessment.summary["below_5"]


def test_individual_risk_equals_their_exact_formula_where_that_is_a_number(assessment, by_record):
    risk, known = assessment.records["risk"].to_numpy(), ~np.isnan(by_record["rk_exact"])
    assert close(risk[known], by_record["rk_exact"][known])
    assert (~known).sum() == 176  # all of the class of 176: their fault
    assert risk[~known].tolist() == pytest.approx([exact_risk(176, 17600)] * 176, rel=1e-12)


def test_their_default_formula_is_an_approximation(assessment, by_record):
    risk, fk, Fk = (assessment.records[name].to_numpy() for name in ("risk", "fk", "Fk"))
    assert close(theirs(fk, Fk), by_record["rk"])
    assert close(risk[fk <= 2], by_record["rk"][fk <= 2])
    assert (by_record["rk"] / risk).min() > 1 - 1e-9
    assert (by_record["rk"] / risk).max() < 1.0045


def test_household_and_global_risk(assessment, by_record, survey, figures):
    homes = survey["ori_hid"].to_numpy()
    assert close(household_risk(by_record["rk"], homes), by_record["hier_risk"])
    assert close(household_risk(assessment.records["risk"].to_numpy(), homes), assessment.records["household_risk"])
    value = figures["testdata.measure_risk"]["value"]
    assert by_record["rk"].sum() == pytest.approx(value["global_risk_ER"], rel=1e-9)
    for ours, key in (
        ("expected_reidentifications", "global_risk_ER"),
        ("mean_risk", "global_risk"),
        ("household_reidentifications", "hier_risk_ER"),
        ("mean_household_risk", "hier_risk"),
    ):
        assert 1 < value[key] / assessment.summary[ours] < 1.0003, key


def test_cells_of_few_records_in_up_to_three_columns(survey, figures):
    """Theirs are unsafe at the threshold, too."""
    columns = ["urbrur", "roof", "walls", "sex"]
    subsets_of = dict(mag.assess(survey, columns, max_size=3).subsets.select("subset", "smallest").iter_rows())
    for row in figures["testdata.riskyCells"]["value"]:
        names = [row[dim] for dim in ("dim1", "dim2", "dim3") if row[dim] is not None]
        sizes = survey.group_by(names).len()["len"]
        assert (sizes <= row["threshold"]).sum() == int(row["unsafe_cells"])
        assert subsets_of[", ".join(names)] == sizes.min()


@pytest.mark.parametrize(("table", "k"), [("francdat", 2), ("testdata", 3)])
def test_no_more_cells_are_suppressed(francdat, survey, figures, table, k):
    frame, keys = (francdat, FRANCDAT) if table == "francdat" else (survey.select(KEYS), KEYS)
    value = figures[f"{table}.kAnon{k}"]["value"]
    theirs_by_key = value["suppressed"] if table == "francdat" else value["suppressed_by_key"].values()
    release = mag.suppress(frame, k, keys, missing="wildcard", rest="drop")
    assert 0 < release.guarantee.cells <= sum(theirs_by_key)
    assert mag.verify.recount_wildcard(release.data, keys) >= k


def test_suda_scores_and_contributions_of_the_survey(assessment, by_record, figures):
    records = assessment.records
    assert records["suda"].to_list() == by_record["suda"].tolist()
    for name in KEYS:
        assert close(records[f"{name}_contribution"], by_record[f"{name}_contribution"]), name
    assert close(records["dis_suda"], by_record["dis_suda"], SINGLE)
    value = figures["testdata.suda2"]["value"]
    shares = dict(assessment.columns.select("column", "suda_share").iter_rows())
    for row in value["attribute_contributions"]:
        assert 100 * shares[row["variable"]] == pytest.approx(row["contribution"], rel=1e-9)
    check_levels(assessment.levels, survey_levels=value["attribute_level_contributions"])


def check_levels(levels, survey_levels):
    """Values of few records are not named: their shares are compared without the values."""
    named = {(row["column"], row["level"]): row["suda_share"] for row in levels.iter_rows(named=True) if row["level"]}
    for row in survey_levels:
        share = named.pop((row["variable"], str(row["attribute"])), None)
        if share is not None:
            assert 100 * share == pytest.approx(row["contribution"], rel=1e-9)
    assert not named
    for column in KEYS:
        ours = levels.filter(pl.col("column") == column)["suda_share"].sort().to_numpy() * 100
        expected = sorted(row["contribution"] for row in survey_levels if row["variable"] == column)
        assert close(ours, expected)


def scores_of_their_other_way(table, names):
    """By `original_scores=FALSE` a minimal unique of s of m columns has ``(2^(m−s) − 1) / C(m, s)`` points.

    Scores, DIS-SUDA, and for every record and column the points of minimal uniques with the column.
    """
    m, codes = len(names), [np.unique(table[name].to_numpy(), return_inverse=True)[1] for name in names]
    points = np.array([0.0] + [(2 ** (m - s) - 1) / points_choose(m, s) for s in range(1, m + 1)])
    found, sizes = subsets.walk(codes, None, m, points), count_classes(codes).sample
    dis = dis_scores(found.scores, int((sizes == 1).sum()), int((sizes == 2).sum()) * 2, m, 0.01)
    return found.scores, dis, found.shares


def test_their_other_scores(survey, by_record):
    scores, dis, _ = scores_of_their_other_way(survey, KEYS)
    assert close(scores, by_record["suda_alt"])
    assert close(dis, by_record["dis_suda_alt"], SINGLE)


def test_other_scores_of_the_small_table(francdat, figures):
    scores, dis, shares = scores_of_their_other_way(francdat, FRANCDAT)
    value = figures["francdat.suda2.original_scores_FALSE"]["value"]
    assert close(scores, value["score"])
    assert close(dis, value["disScore"], SINGLE)
    expected = [[row[f"{name}_contribution"] for name in FRANCDAT] for row in value["contributionPercent"]]
    require_equal(shares / np.where(scores > 0, scores, 1)[:, None], expected)


def points_choose(m, s):
    return np.prod(np.arange(m - s + 1, m + 1)) / np.prod(np.arange(1.0, s + 1))


def summarize(values):
    """As the figures of a column are written down, rows from 1 on."""
    known, largest = values[~np.isnan(values)], np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")[:10]
    return {
        "n": values.size, "sum": known.sum(), "mean": known.mean(), "min": known.min(), "max": known.max(),
        "sd": known.std(ddof=1), "na": values.size - known.size, "first20": values[:20],
        "largest10_rows_1based": largest + 1, "largest10": values[largest],
    }  # fmt: skip


def total_of(risk, prefix="global_"):
    return {f"{prefix}risk": risk.mean(), f"{prefix}risk_ER": risk.sum(), f"{prefix}risk_pct": 100 * risk.mean()}


SETTINGS = ("threshold", "max_risk", "cpu_seconds")  # of sdcMicro, no figures of the table


def ours_of(key, assessment, survey):
    """Our figures in place of those of a key; by sdcMicro's default formula where that is an approximation."""
    fk, Fk, risk = (assessment.records[name].to_numpy() for name in ("fk", "Fk", "risk"))
    approximate, homes = theirs(fk, Fk), survey["ori_hid"].to_numpy()
    of_home = household_risk(approximate, homes)
    hier = total_of(of_home, "hier_") | {"hier": summarize(of_home)}
    if key == "freqCalc":
        sizes = {"n1": (fk == 1).sum(), "n2": (fk == 2).sum(), "n_fk_below_3": (fk < 3).sum()}
        return sizes | {"n_fk_below_5": (fk < 5).sum(), "fk": summarize(fk.astype(float)), "Fk": summarize(Fk)}
    if key.startswith("kAnon_violations"):
        k = int(key[-1])
        return [(fk < k).sum(), (Fk < k).sum()]
    alone = mag.assess(survey, KEYS, max_size=1).records["risk"].to_numpy()
    return {
        "indivRisk": summarize(approximate),
        "indivRisk.exact": summarize(np.where(fk == 176, np.nan, risk)),  # their overflow
        "measure_risk": total_of(approximate) | hier,
        "measure_risk.fast_hier_FALSE": hier,
        "measure_risk.no_weights": total_of(alone),
        "createSdcObj.risk_global": total_of(approximate, "") | total_of(of_home, "hier_"),
    }[key]


OF_RISK = ("freqCalc", "indivRisk", "measure_risk", "suda2", "risk_global", "kAnon_violations")
OF_SURVEY = [
    "freqCalc", "indivRisk", "indivRisk.exact", "measure_risk", "measure_risk.fast_hier_FALSE",
    "measure_risk.no_weights", "createSdcObj.risk_global",
    "kAnon_violations.k2", "kAnon_violations.k3", "kAnon_violations.k5",
]  # fmt: skip


def require_equal(found, expected, rel=1e-9):
    """The same keys, but for settings, and the same numbers; None is NaN."""
    if isinstance(expected, dict):
        wanted = {key: own for key, own in expected.items() if key not in SETTINGS}
        assert {*found} == {*wanted}
        for key, own in wanted.items():
            require_equal(found[key], own, rel)
        return
    wanted = np.array([np.nan if own is None else own for own in np.ravel(expected)])
    assert np.ravel(found).tolist() == pytest.approx(wanted.tolist(), rel=rel, abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("key", OF_SURVEY)
def test_every_figure_of_frequencies_and_risks(assessment, survey, figures, key):
    require_equal(ours_of(key, assessment, survey), figures[f"testdata.{key}"]["value"])


@pytest.mark.parametrize("key", ["suda2", "suda2.original_scores_FALSE"])
def test_every_figure_of_scores(assessment, survey, figures, key):
    value = figures[f"testdata.{key}"]["value"]
    if key == "suda2":
        scores, dis = (assessment.records[name].to_numpy() for name in ("suda", "dis_suda"))
    else:
        scores, dis, shares = scores_of_their_other_way(survey, KEYS)
        require_equal(
            100 * shares.sum(axis=0) / scores.sum(), [row["contribution"] for row in value["attribute_contributions"]]
        )
    require_equal(summarize(scores), value["score"])
    require_equal(summarize(dis), value["disScore"], SINGLE)


def test_no_figure_of_risk_is_left_out(figures):
    """Every key is in the table of the survey's figures, or in a test of the small table or of Adult."""
    tested = {f"testdata.{key}" for key in (*OF_SURVEY, "suda2", "suda2.original_scores_FALSE")}
    for test in (test_the_small_table, test_other_scores_of_the_small_table, test_adult):
        tested |= {key for key in figures if f'"{key}"' in inspect.getsource(test)}
    tested |= {f"francdat.indivRisk.{formula}" for formula in ("approx", "exact")}
    tested |= {f"francdat.suda2.DisFraction{fraction}" for fraction in FRACTIONS}
    tested |= {f"francdat_missing.freqCalc.alpha{alpha}" for alpha in ALPHAS}
    assert {key for key in figures if any(kind in key for kind in OF_RISK)} == tested


def test_distinct_sensitive_values(assessment, figures):
    distinct = assessment.classes["hhcivil_distinct"].to_numpy()[assessment.records["class"].to_numpy()]
    value = figures["testdata.ldiversity.hhcivil"]["value"]["hhcivil_Distinct_Ldiversity"]
    assert (distinct.sum(), distinct.max()) == (value["sum"], value["max"])
    assert distinct[:20].tolist() == value["first20"]


def test_distinct_values_of_two_sensitive_columns(survey, figures):
    found = mag.assess(survey, ["urbrur", "roof", "sex"], sensitive=["hhcivil", "water"])
    for name in ("hhcivil", "water"):
        distinct = found.classes[f"{name}_distinct"].to_numpy()[found.records["class"].to_numpy()]
        value = figures["testdata.ldiversity.two"]["value"][f"{name}_Distinct_Ldiversity"]
        assert (distinct.sum(), distinct.min(), distinct.max()) == (value["sum"], value["min"], value["max"])


def test_the_small_table(francdat, figures):
    found = mag.assess(francdat, FRANCDAT, weights="w", sampling_fraction=0.01)
    records = found.records
    assert records["fk"].to_list() == figures["francdat.freqCalc.fk"]["value"]
    assert records["Fk"].to_list() == figures["francdat.freqCalc.Fk"]["value"]
    sizes = records["fk"].to_list()
    assert [sizes.count(1), sizes.count(2)] == figures["francdat.freqCalc.n1_n2"]["value"]
    for formula in ("approx", "exact"):
        assert close(records["risk"], figures[f"francdat.indivRisk.{formula}"]["value"])
    risk = figures["francdat.measure_risk"]["value"]
    require_equal(total_of(records["risk"].to_numpy()), risk)
    value = figures["francdat.suda2"]["value"]
    assert records["suda"].to_list() == value["score"]
    assert close(records["dis_suda"], value["disScore"], SINGLE)
    for name in FRANCDAT:
        expected = [row[f"{name}_contribution"] for row in value["contributionPercent"]]
        assert close(records[f"{name}_contribution"], expected)
    shares = dict(found.columns.select("column", "suda_share").iter_rows())
    for row in value["attribute_contributions"]:
        assert 100 * shares[row["variable"]] == pytest.approx(row["contribution"], rel=1e-9)
    levels = {key: np.array(own["suda_share"]) for (key,), own in found.levels.group_by("column")}
    for name in FRANCDAT:
        expected = [
            row["contribution"] or 0.0 for row in value["attribute_level_contributions"] if row["variable"] == name
        ]
        assert close(np.sort(100 * np.nan_to_num(levels[name])), np.sort(expected)), name
    without = mag.assess(francdat, FRANCDAT).records["risk"]
    assert without.to_list() == figures["francdat.indivRisk.population"]["value"]


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_sampling_fractions(francdat, figures, fraction):
    records = mag.assess(francdat, FRANCDAT, sampling_fraction=fraction).records
    value = figures[f"francdat.suda2.DisFraction{fraction}"]["value"]
    assert records["suda"].to_list() == value["score"]
    assert close(records["dis_suda"], value["disScore"], SINGLE)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_missing_keys(francdat, figures, alpha):
    blank = francdat.with_columns(
        pl.when(pl.int_range(pl.len()) != row).then(name).alias(name) for row, name in ((4, "Key4"), (6, "Key1"))
    )
    found = mag.assess(blank, FRANCDAT, weights="w", missing="wildcard", alpha=alpha).records
    value = figures[f"francdat_missing.freqCalc.alpha{alpha}"]["value"]
    assert found["fk"].to_list() == value["fk"]
    assert found["Fk"].to_list() == value["Fk"]
    assert close(found["risk"], value["rk"])


def test_adult(figures):
    table = pl.read_csv(DATA / "adult_arx" / "adult.csv", separator=";")
    found = mag.assess(table, ADULT, weights=np.full(len(table), 10.0))
    value = figures["adult.suda2.6keys"]["value"]
    again = figures["adult.suda2.6keys"]["independent_recount"]
    scores = found.records["suda"]
    assert (scores.sum(), scores.max(), (scores > 0).sum()) == (value["sum"], value["max"], value["records_above_0"])
    sizes = found.subsets.group_by("size").agg(pl.col("minimal_uniques").sum()).sort("size")
    assert sizes["minimal_uniques"].to_list() == again["msu_by_size"]
    shares = dict(found.columns.select("column", "suda_share").iter_rows())
    assert close([100 * shares[name] for name in ADULT], again["contribution_percent"])
    value = figures["adult.measure_risk.w10"]["value"]
    assert found.summary["expected_reidentifications"] == pytest.approx(value["mag_exact_sum"], rel=1e-12)
    assert theirs(found.records["fk"], found.records["Fk"]).sum() == pytest.approx(value["global_risk_ER"], rel=1e-9)
    assert found.summary["uniques"] == value["uniques"]
