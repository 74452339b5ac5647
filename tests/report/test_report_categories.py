"""Categories in the report: bars of levels, tables, and no disclosure of small categories."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag import report
from mag.report import _levels
from tests.data.hierarchies import JOBS, LEVELS, TREE
from tests.data.people import mixed_people
from tests.report.browser import CHROMIUM, opened
from tests.report.reader import Reader


def objects(cells):
    column = np.empty(len(cells), object)
    column[:] = cells
    return column


def page_of(release, tmp_path):
    return release.report(tmp_path / "report.html", overwrite=True).read_text(encoding="utf-8")


# ---- no bar tells of fewer than k


@given(st.data(), st.integers(1, 6), st.booleans())
def test_bars_tell_of_none_or_at_least_k(data, k, generalized):
    size = data.draw(st.integers(k, 60))
    before = data.draw(st.lists(st.sampled_from("abcdefgh"), min_size=size, max_size=size))
    more = st.sampled_from(["*", "ab", *"abcdefgh"])
    after = [data.draw(st.sampled_from([cell, "*"]) if generalized else more) for cell in before]
    bars = _levels.bars(objects(before), objects(after), sorted(set(after)), k, generalized)
    if bars is None:
        return
    was, now = (np.array([getattr(bar, side) for bar in bars]) * size for side in ("before", "after"))
    assert was.sum() == pytest.approx(size)
    assert now.sum() == pytest.approx(size)
    assert ((was.round() == 0) | (was.round() >= k)).all()
    if generalized:
        assert ((np.abs(was - now).round() == 0) | (np.abs(was - now).round() >= k)).all()
    words = {word for bar in bars for word in re.split(", | and ", bar.label)}
    assert {word for word in words if not re.fullmatch(r"\d+ more|others", word)} <= set(after)


def test_bars_by_hand():
    before = objects(["a"] * 6 + ["b"] * 6 + ["c"] * 2 + ["d"] * 3)
    after = objects(["a"] * 6 + ["b"] * 6 + ["b"] * 5)
    assert _levels.bars(before, after, ["a", "b"], 3, False) == [
        ("a", 6 / 17, 6 / 17), ("b", 6 / 17, 11 / 17), ("others", 5 / 17, 0.0),
    ]  # fmt: skip
    assert _levels.bars(before, after, ["a", "b"], 6, False) == [("a", 6 / 17, 6 / 17), ("b", 11 / 17, 11 / 17)]
    assert _levels.bars(before, after, ["a", "b"], 12, False) is None  # one bar for all
    assert _levels.bars(before, after, ["a", "b"], 18, False) is None
    assert _levels.bars(objects([None] * 9), objects([None] * 9), [], 2, True) is None


def test_the_rest_of_many_levels_is_one_bar():
    cells = objects([str(i) for i in range(30) for _ in range(3 + i)])
    bars = _levels.bars(cells, cells, [str(i) for i in range(30)], 3, False)
    assert len(bars) == _levels.MAX_BARS
    assert [bar.label for bar in bars] == [*map(str, range(19, 30)), "others"]


@pytest.mark.parametrize("how", ["ancestor", "mode"])
def test_a_rare_value_leaves_no_trace(how, tmp_path):
    """Which of the values that are not published a record had does not change the bars, nor is any of them named."""
    jobs = [row[0] for row in JOBS]
    common = mixed_people(60)["job"].to_list()
    pages = []
    rows = [*JOBS, ["secret one", *JOBS[0][1:]], ["secret two", *JOBS[0][1:]]]
    tree = mag.Hierarchy.from_levels(rows)
    for rare in ("secret one", "secret two"):
        table = pl.DataFrame({"job": [rare, *common], "age": [30, *mixed_people(60)["age"].to_list()]})
        release = mag.microaggregate(
            table, 4, ["job", "age"], hierarchies={"job": tree}, aggregate={"job": how}, method="mdav"
        )
        assert "secret" not in str(release.data["job"].to_list())
        page = page_of(release, tmp_path)
        assert "secret" not in page
        pages.append(re.findall(r"<svg.*?</svg>", page, re.S))
    assert pages[0] == pages[1]
    assert any(job in "".join(pages[0]) for job in jobs)


# ---- what the page says


def test_the_page_has_levels_tables_and_notes(tmp_path):
    table = mixed_people(200).with_columns(pl.when(pl.int_range(200) < 9).then(None).otherwise("party").alias("x"))
    release = mag.microaggregate(
        table, 3, ["age", "job", "degree", "party"], rest="drop", hierarchies={"job": TREE},
        order={"degree": LEVELS}, aggregate={"age": "range", "party": "mode"},
    )  # fmt: skip
    text = Reader(page_of(release, tmp_path)).text
    for part in (
        "Guaranteed At least 3 records share each published combination of age , job , degree , party",
        "Certainty penalty",
        "Published as ranges, true for every record; drawn at their middles.",
        "Loss by column",
        "Normalized certainty penalty",
        "Intervals use numbers only: age, job, degree, party are left out.",
        "Bars of categories have published labels only",
        "Unmasked Published",
    ):
        assert part in text, part
    assert text.index(" low ") < text.index(" middle ") < text.index(" high ")
    assert "Correlations" not in text
    numbers = mag.microaggregate(table, 3, ["age", "job"], rest="drop", hierarchies={"job": TREE})
    text = Reader(page_of(numbers, tmp_path)).text
    assert "Information loss (numbers)" in text
    assert "Over all columns of numbers" in text


def test_missing_cells_of_categories_are_counted(tmp_path):
    gaps = pl.int_range(100) % 10 == 0
    table = mixed_people(100).with_columns(pl.when(gaps).then(None).otherwise(pl.col("job")).alias("job"))
    release = mag.microaggregate(table, 3, ["job"], rest="drop", hierarchies={"job": TREE}, missing="group")
    text = Reader(page_of(release, tmp_path)).text
    assert "true for every record, 10 cells missing." in text
    assert "Computed on 90 records, left out because of missing cells: 10 records" in text


def test_groups_are_equal_only_if_their_categories_are(tmp_path):
    table = {"x": ["a", "b"] * 6, "y": [1.0] * 12}
    text = Reader(page_of(mag.microaggregate(table, 12, ["x", "y"], aggregate={"x": "mode"}), tmp_path)).text
    assert "all records had the same values" not in text
    assert "Levels are not shown: they would reveal fewer than k records." in text


def test_labels_are_never_markup(tmp_path):
    labels = ["</text><script>alert(1)</script>", '" onload="alert(1)', "x" * 3000, "\x00عمر"]
    table = {"x": [label for label in labels for _ in range(5)]}
    reader = Reader(page_of(mag.microaggregate(table, 5, "x", aggregate="mode"), tmp_path))
    assert "script" not in reader.tags
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    assert labels[0][:26] in " ".join(reader.words)


def test_categories_of_another_length_are_refused():
    own = report.Category(before=objects(["a"]), after=objects(["a"]), order=["a"], generalized=True)
    content = {"title": "", "guarantee": "", "scope": "joint", "k": 1, "smallest": 1, "original": {}, "masked": {}}
    with pytest.raises(ValueError, match="every column of categories must have as many records as labels"):
        report.ReportFacts(**content, labels=np.zeros(2, int), categories={"x": own})


def test_levels_are_drawn_by_matplotlib():
    pytest.importorskip("matplotlib")
    release = mag.microaggregate(
        mixed_people(100),
        3,
        ["age", "job", "party"],
        rest="drop",
        hierarchies={"job": TREE},
        aggregate={"age": "range", "party": "mode"},
    )
    every = release.plot()
    assert [axes.get_title(loc="left") for axes in every] == ["age", "job", "party"]
    labels = [label.get_text() for label in every[1].get_yticklabels()]
    assert {word for label in labels for word in label.split(", ")} <= {*release.data["job"], "others"}
    with pytest.raises(ValueError, match="must be among the masked ones; got 'degree'"):
        release.plot(["degree"])
    alike = mag.microaggregate({"x": ["a", "b"] * 6, "y": [1.0] * 12}, 12, ["x", "y"], aggregate={"x": "mode"})
    assert alike.plot(["x"])[0].texts


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_a_phone_shows_levels_without_sideways_scrolling(tmp_path):
    table = mixed_people(100).with_columns(pl.col("party") + pl.lit("long " * 40))
    options = {"hierarchies": {"job": TREE}, "aggregate": {"party": "mode"}}
    release = mag.microaggregate(table, 3, ["job", "party"], rest="drop", **options)
    script = (
        "const page = this.contentDocument.documentElement; "
        "const bars = [...page.querySelectorAll('figure svg text')].map(t => t.getBoundingClientRect().right); "
        "document.title = [page.scrollWidth, page.clientWidth, Math.ceil(Math.max(...bars))].join(' ')"
    )
    printed = opened(page_of(release, tmp_path), 390, 800, "--dump-dom", onload=script)
    needed, given_width, right = map(int, re.search(r"<title>([\d ]+)</title>", printed).group(1).split())
    assert needed <= given_width == 390
    assert right <= 390
