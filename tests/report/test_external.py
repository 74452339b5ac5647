"""Reports for others: pages of published facts alone."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import mag
from mag import report
from tests.report.reader import Reader

pytestmark = pytest.mark.filterwarnings("ignore::mag.LinkedColumnsWarning", "ignore::mag.UnitsWarning")
K, N = 3, 60
JOBS = ["baker", "cook", "dentist", "surgeon"]
TREE = mag.Hierarchy.from_levels(
    [["baker", "food", "*"], ["cook", "food", "*"], ["dentist", "medicine", "*"], ["surgeon", "medicine", "*"]]
)
INTERNAL_ALONE = ("Distributions before and after", "Information loss", "Correlations", "Risk", "Utility", "warning")


@pytest.fixture(autouse=True)
def one_minute(monkeypatch):
    """Pages that are made one after the other have the same date."""
    monkeypatch.setattr("mag.tables._facts.date_now", lambda: "2026-01-01 00:00 UTC")


def people(spread, withheld):
    """Groups of K records far from each other, with the same means for every spread; two records miss a cell."""
    group, inside = np.divmod(np.arange(N), K)
    income = 1000.0 * group + spread * (inside - 1)
    table = {"income": income, "age": 20 + 10 * group + (inside - 1) * (spread > 10)}
    table |= {"answer": np.where(np.arange(N) % 2, "yes", "no"), "total": 3000.0 * group}
    lost = {"income": [np.nan] * 2, "age": [withheld] * 2, "answer": ["yes"] * 2, "total": [1.0, 2.0]}
    return pd.concat([pd.DataFrame(table), pd.DataFrame(lost)], ignore_index=True)


def page_of(release, folder, audience="external"):
    return release.report(folder / "page.html", overwrite=True, audience=audience).read_bytes()


@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_two_originals_with_one_release_have_one_external_page(scope, tmp_path):
    roles = {"columns": ["income", "age"], "keep": ["answer", "total"], "scope": scope, "missing": "drop"}
    ours, theirs = (mag.microaggregate(people(*own), K, **roles) for own in ((10.0, 33), (300.0, 47)))
    pd.testing.assert_frame_equal(ours.data, theirs.data)
    assert page_of(ours, tmp_path) == page_of(theirs, tmp_path)
    assert page_of(ours, tmp_path, "internal") != page_of(theirs, tmp_path, "internal")


def test_an_external_page_has_the_guarantee_and_no_comparison(tmp_path):
    release = mag.microaggregate(people(10.0, 33), K, ["income", "age"], keep=["answer", "total"], missing="drop")
    assert release.warnings
    internal, external = (Reader(page_of(release, tmp_path, who).decode()).text for who in ("internal", "external"))
    for words in (str(release.guarantee).split("=")[0], "Guaranteed", "Not guaranteed", "20 groups of 3 records"):
        assert words in internal
        assert words in external
    for words in INTERNAL_ALONE:
        assert words in internal
        assert words not in external
    assert "It shows nothing of the original." in external
    assert "No warnings" not in external
    assert "seconds" not in external


def releases():
    """One of each kind."""
    table = people(10.0, 33).assign(job=[JOBS[i * 7 % 4] for i in range(N + 2)], visits=np.arange(N + 2) // 2)
    complete = table.iloc[:N]
    diverse = {"sensitive": ["answer"], "diversity": {"answer": 2}, "closeness": {"answer": 0.5}}
    drop = {"rest": "drop"}
    return {
        "criteria": mag.microaggregate(complete, 4, ["income", "age"], **diverse, **drop),
        "sets": mag.microaggregate(complete, K, ["income", "age"], sets=[["income"], ["age"]], **drop),
        "units": mag.microaggregate(complete, 2, ["income", "age"], unit="visits", keep=["answer"], **drop),
        "categories": mag.microaggregate(complete, K, ["age", "job"], hierarchies={"job": TREE}, by="answer", **drop),
        "ranges": mag.microaggregate(complete, K, ["age", "income"], aggregate="range", **drop),
        "shuffled": mag.microaggregate(complete, K, ["age"], shuffle=True, random_state=7, **drop),
        "levels": mag.generalize(complete, K, ["job"], hierarchies={"job": TREE}, by="answer", **drop),
    }


def test_a_pickle_which_holds_no_original_makes_the_same_external_page(tmp_path):
    for kind, release in releases().items():
        page = page_of(release, tmp_path)
        assert page == page_of(pickle.loads(pickle.dumps(release)), tmp_path), kind
        assert page == page_of(copy.copy(release), tmp_path), kind
        assert page != page_of(release, tmp_path, "internal"), kind
        with pytest.raises(mag.InputRuntimeError, match="need the original table"):
            page_of(pickle.loads(pickle.dumps(release)), tmp_path, "internal")


def test_wrong_audiences_and_facts_are_answered_with_one_sentence(tmp_path):
    release = mag.microaggregate(people(10.0, 33).iloc[:N], K, ["income"], rest="drop")
    with pytest.raises(mag.InputValueError, match="audience must be one of 'external', 'internal'"):
        page_of(release, tmp_path, "everybody")
    with pytest.raises(mag.InputValueError, match="columns must be empty on a page that compares"):
        report.ReportFacts(
            title="Ages", guarantee="Two share every age.", scope="joint", k=2, smallest=2, columns=["age"],
            original={}, masked={}, labels=np.array([0, 0]), risk={"uniques": 0},
        )  # fmt: skip
