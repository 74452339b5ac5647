"""The report of `mag.suppress`: cells, classes, promises, and nothing of the original on an external page."""

import html
import re

import numpy as np
import pandas as pd
import pytest

import mag

RARE = 918_273_645


@pytest.fixture(scope="module")
def table():
    generator = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"age": generator.integers(20, 32, 400).astype(float), "job": generator.choice(list("xyz"), 400)}
    )
    frame.loc[:36, "age"] = RARE + np.arange(37)
    frame.loc[37:67, "age"] = np.nan
    return frame.assign(person=np.arange(400) // 2)


def page_of(release, tmp_path, **options):
    page = release.report(tmp_path / "page.html", overwrite=True, **options).read_text(encoding="utf-8")
    return page, " ".join(html.unescape(re.sub("<style>.*?</style>|<[^>]+>", " ", page, flags=re.S)).split())


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_an_internal_page_counts_cells_and_says_how_they_are_read(table, tmp_path, missing):
    release = mag.suppress(table, 5, ["age", "job"], missing=missing, unit="person")
    _, text = page_of(release, tmp_path)
    assert str(release.guarantee) in text
    assert f"Cells suppressed {release.guarantee.cells} " in text
    for name, cells in release.suppressed.items():
        before = int(table[name].isna().sum())
        assert re.search(rf"\b{name} {cells} {before} [0-9.]+ ?%", text)
    weaker = f"This is weaker than k-anonymity: {release.guarantee.below_k} records"
    assert (weaker in text) == (missing == "wildcard")
    assert "Distributions before and after" in text
    assert str(RARE) not in text


@pytest.mark.parametrize("missing", ["value", "wildcard"])
def test_an_external_page_does_not_say_which_missing_cells_were_suppressed(table, tmp_path, missing):
    release = mag.suppress(table, 5, ["age", "job"], missing=missing, unit="person")
    _, text = page_of(release, tmp_path, audience="external")
    gone = release.suppressed["age"]
    published = int(release.data["age"].isna().sum())
    assert (gone, published) == (39, 70)
    assert f"Cells missing {release.data[['age', 'job']].isna().sum().sum()} " in text
    assert re.search(rf"\bage {published} ", text)
    assert not re.search(r"\b39\b", text)
    assert "before" not in text.replace("published before or after", "")
    assert "warning" not in text


def test_sets_have_a_promise_and_a_picture_each(table, tmp_path):
    release = mag.suppress(table, 5, ["age", "job"], sets=[["age"], (["job"], 9)], unit="person")
    page, text = page_of(release, tmp_path)
    assert "age: k = 5 units" in text
    assert "job: k = 9 units" in text
    assert "This is not joint k-anonymity" in text
    assert page.count("that are equal cell by cell.</p>") == 2


def test_a_pickle_has_an_external_page_only(table, tmp_path):
    import pickle

    release = pickle.loads(pickle.dumps(mag.suppress(table, 5, ["age", "job"], unit="person")))
    assert "Suppressed cells" in page_of(release, tmp_path, audience="external")[1]
    with pytest.raises(mag.InputError, match="an internal report need the original table"):
        release.report(tmp_path / "other.html")


def test_mistakes_are_one_sentence(table, tmp_path):
    release = mag.suppress(table, 5, ["age", "job"], unit="person")
    with pytest.raises(mag.InputError, match=r"^audience must be one of"):
        release.report(tmp_path / "page.html", audience="everyone")
    (tmp_path / "page.html").write_text("")
    with pytest.raises(FileExistsError):
        release.report(tmp_path / "page.html")
