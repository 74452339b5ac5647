"""The report: complete, readable, inert, and no disclosure itself."""

import html
import itertools
import pathlib
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag import report
from mag.commands.survey import people
from mag.report import _bins, _cards, _columns, _groups, _sections, _svg, _text
from mag.report._head import computed
from tests.report.browser import CHROMIUM, opened
from tests.report.reader import Reader

K = 5


def columns(n=500, seed=0):
    """Skewed, tied, dated; every value of income is a number that cannot be met by chance."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    return {
        "age": age,
        "income": np.round(rng.lognormal(10.2, 0.9, n), 2),
        "born": (2026 - age - rng.random(n) - 1970) * 365.25 * 86400 // 86400 * 86400,
    }


def neighbors(x, k):
    """Groups of k in the order of x, the last one with the rest; -1 where x is missing."""
    labels, known = np.full(x.size, -1), np.flatnonzero(~np.isnan(x))
    labels[known] = np.minimum(np.argsort(np.argsort(x[known])) // k, max(known.size // k - 1, 0))
    return labels


def means(x, labels):
    """Every value replaced by the mean of its group; parts, since sums of finite numbers may not be finite."""
    known = labels >= 0
    masked = np.full(x.size, np.nan)
    masked[known] = (np.bincount(labels[known], x[known] / 64) / np.bincount(labels[known]))[labels[known]] * 64
    return masked


def released(original, k=K, scope="joint", **changes):
    """Facts of a release of these columns."""
    labels = np.column_stack([neighbors(column, k) for column in original.values()])
    labels = np.repeat(labels[:, :1], labels.shape[1], axis=1) if scope == "joint" else labels
    masked = {name: means(column, labels[:, place]) for place, (name, column) in enumerate(original.items())}
    content = {
        "title": "A register",
        "guarantee": f"Every record shares its values with at least {k - 1} others: k = {k}.",
        "scope": scope,
        "k": k,
        "smallest": mag.privacy.k_anonymity(masked),
        "original": original,
        "masked": masked,
        "labels": labels[:, 0] if scope == "joint" else labels,
        "kinds": {"born": "datetime"} if "born" in original else {},
        "utility": {"information_loss": 0.0123, "propensity_mse": 0.001, "records": 500.0},
        "risk": {"k_anonymity": 5.0, "uniques": 0.0, "distance_linkage": 0.2},
        "manifest": {"mag": mag.__version__, "options": {"method": "zscore"}, "seed": 7},
    }
    return report.ReportFacts(**content | changes)


def test_the_guarantee_stands_in_the_first_lines():
    facts = released(columns(), untouched=["occupation"])
    text = Reader(report.page(facts)).text
    assert text.startswith(f"A register A register {facts.guarantee}".replace(" = ", " = "))
    head = text[: text.index("Distributions")]
    for part in ("k requested 5", "k counted 5", "Not guaranteed", "not covered: occupation"):
        assert part in head


def test_sections_follow_each_other():
    text = Reader(report.page(released(columns()))).text
    titles = ["Guaranteed", "Groups", "Distributions before and after", "Information loss", "Correlations", "Risk"]
    titles += ["Utility", "What this page reveals", "How it was made"]
    places = [text.index(f" {title} ", text.index("Guaranteed") - 1) for title in titles]
    assert places == sorted(places)
    assert "Domingo-Ferrer & Torra" in text
    assert "options method: zscore" in text


def test_the_page_is_complete_and_inert():
    page = report.page(released(columns()))
    reader = Reader(page)
    assert page.startswith("<!DOCTYPE html>")
    assert ("lang", "en") in reader.attributes
    assert {"header", "main", "footer", "figure", "caption", "title"} <= set(reader.tags)
    assert not {"script", "img", "iframe", "object", "a"} & set(reader.tags)
    policy = next(value for name, value in reader.attributes if name == "content" and "default-src" in value)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not [value for name, value in reader.attributes if name == "style" or name.startswith("on")]
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert all(value in ("col", "row") for name, value in reader.attributes if name == "scope")
    drawn = re.findall(r"<svg [^>]*>", page)
    assert len(drawn) > 5
    assert all("aria-hidden" in svg or ('role="img"' in svg and 'aria-label="' in svg) for svg in drawn)


NAMES = [
    "</script><script>alert(1)</script>",
    '" onload="alert(1)',
    "<b>&amp;&lt;",
    "Größe 年齢 عمر",
    "\x00\x1b\ud800‮",
    "x" * 3000,
    7,
]


def test_names_are_never_markup():
    rng = np.random.default_rng(1)
    original = {name: rng.normal(size=200) for name in NAMES}
    facts = released(
        original, title=NAMES[0], guarantee=NAMES[0], warnings=NAMES[:3], by=NAMES[:2], untouched=NAMES[2:]
    )
    page = report.page(facts)
    page.encode()  # no lone surrogates
    reader = Reader(page)
    assert not {"script", "b"} & set(reader.tags)
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    for name in (NAMES[0], NAMES[2], NAMES[3], "x" * 60 + "…"):
        assert name in " ".join(reader.words)
    assert ("title", NAMES[5]) in reader.attributes
    assert len(page) < 200_000
    assert html.escape(NAMES[0], quote=False) in page


# --- the page is no disclosure --------------------------------------------------------------------


@given(
    st.lists(st.integers(0, 12), min_size=1, max_size=40).filter(any),
    st.integers(1, 12),
)
def test_no_bin_tells_of_fewer_than_k(counts, k):
    if sum(counts) < k:
        counts[0] += k
    cells = _bins.joined(np.array(counts), k)
    assert all(count == 0 or count >= k for _, count in cells)
    assert cells[0][0] == 0
    starts = [first for first, _ in cells]
    assert [sum(counts[a:b]) for a, b in zip(starts, [*starts[1:], len(counts)], strict=True)] == [c for _, c in cells]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [3, 20])
def test_counts_of_the_original_are_none_or_at_least_k(seed, k):
    rng = np.random.default_rng(seed)
    x = [rng.lognormal(0, 2, 300), rng.integers(0, 9, 300).astype(float), rng.standard_cauchy(300), rng.random(300)][
        seed % 4
    ]
    found = _bins.bins(x, means(x, neighbors(x, k)), k)
    counts = np.append(found.before, found.beyond[0]) * x.size
    assert np.allclose(counts, np.rint(counts))
    assert ((np.rint(counts) == 0) | (np.rint(counts) >= k)).all()
    assert found.before.sum() + found.beyond[0] == pytest.approx(1)
    assert found.after.sum() + found.beyond[1] == pytest.approx(1)


def test_the_largest_value_leaves_no_trace():
    original = columns()
    facts = released(original)
    outlier = int(np.argmax(original["income"]))
    income = original["income"].copy()
    income[outlier] *= 1000
    masked = facts.masked["income"]
    drawn = [_svg.distributions("", _bins.bins(x, masked, K), "number") for x in (original["income"], income)]
    here, there = ([(part.tag, part.text, part.attrib) for part in svg.iter()] for svg in drawn)
    assert here == there


@pytest.mark.parametrize("values", [np.arange(300.0), np.random.default_rng(0).random(300), columns()["income"]])
def test_axes_are_made_of_published_values(values):
    masked = means(values, neighbors(values, K))
    edges = _bins.inner_edges(masked)
    found = _bins.bins(values, masked, K)
    assert set(found.edges) <= set(edges)
    assert masked.min() - 1 < edges[0]
    assert edges[-1] <= masked.max() + edges[1] - edges[0]


def test_no_value_of_a_person_is_on_the_page():
    original = columns()
    facts = released(original)
    page = report.page(facts)
    numbers = {float(text) for text in re.findall(r"\d+\.?\d*", page.replace(_text.THIN, ""))}
    for column in ("income", "born"):
        assert not numbers & set(original[column].tolist())
        assert original[column].max() not in numbers
    days = set(np.datetime_as_string(original["born"].astype("M8[s]").astype("M8[D]")))
    assert not days & set(re.findall(r"\d{4}-\d\d-\d\d", page))


def test_a_column_that_fewer_than_k_records_have_is_not_drawn():
    few = np.full(200, np.nan)
    few[:3] = [1.5, 2.5, 9.5]
    assert _bins.bins(few, few, K) is None
    assert np.isnan(_columns.change(few, few, K).spread)
    assert np.isnan(_columns.losses([few], [few], K)[0])
    correlated = _columns.correlations([few, np.arange(200.0)], K)
    assert np.isnan(correlated[0, 1])


def test_correlations_are_those_of_the_records_that_have_both_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)) * 1e6 + 1e9
    assert np.allclose(_columns.correlations(list(X.T), K), np.corrcoef(X.T))
    X[rng.random(X.shape) < 0.3] = np.nan
    found = _columns.correlations(list(X.T), K)
    for i, j in zip(*np.triu_indices(4, 1), strict=True):
        both = ~np.isnan(X[:, [i, j]]).any(axis=1)
        assert found[i, j] == pytest.approx(np.corrcoef(X[both, i], X[both, j])[0, 1])


def test_rows_of_correlations_have_names():
    assert "income 2" in Reader(report.page(released(columns()))).text


def test_a_change_is_measured_on_known_values():
    x = np.array([1.0, 3.0, 10.0, 14.0, np.nan])
    y = np.array([2.0, 2.0, 12.0, 12.0, np.nan])
    found = _columns.change(x, y, 2)
    assert _columns.losses([x], [y], 2) == [pytest.approx(0.090909, abs=1e-6)]  # SSE 10 of SST 110
    assert found.spread == pytest.approx(np.std(y[:4]) / np.std(x[:4]))
    assert found.shift == 0
    assert found[2:] == (2, 1)


def test_losses_are_of_the_records_that_the_headline_is_of(tmp_path):
    """With missing cells, the loss of all columns was larger than that of each."""
    rng = np.random.default_rng(5)
    table = {name: rng.lognormal(0, 1, 400) for name in ("a", "b", "c")}
    table["b"][rng.random(400) < 0.4] = np.nan
    release = mag.microaggregate(table, 5, ["a", "b", "c"], missing="group")
    utility = release.utility()
    before, after = (list(part.values()) for part in release.numbers())
    found = _columns.losses(before, after, 5)
    assert found == pytest.approx(list(utility["information_loss_by_column"].values()))
    assert np.mean(found) == pytest.approx(utility["information_loss"])
    text = Reader(release.report(tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "Information loss of complete records" in text
    whole = int((~np.isnan(table["b"])).sum())
    assert f"All of these figures are of the {whole} records without a missing cell." in text


def test_kept_columns_are_counted_in_the_report(tmp_path):
    table = {"x": np.arange(40.0), "job": np.array(["a"] * 35 + list("bcdef"))}
    release = mag.microaggregate(table, 4, ["x"], keep=["job"])
    _, sizes = np.unique(np.column_stack([release.data["x"].astype(str), table["job"]]), axis=0, return_counts=True)
    assert release.count_with_kept() == (1, sizes[sizes < 4].sum())
    text = Reader(release.report(tmp_path / "r.html").read_text(encoding="utf-8")).text
    assert "Smallest class with kept columns 1" in text
    assert f"finds {sizes[sizes < 4].sum()} of 40 records in classes of fewer than 4." in text
    assert mag.microaggregate(table, 4, ["x"], drop=["job"]).count_with_kept() is None


def test_the_seed_of_a_shuffle_is_not_shown():
    shuffled = {"options": {"shuffle": True, "random_state": 987654}, "seed": 987654}
    assert "987654" not in report.page(released(columns(), manifest=shuffled))
    assert "987654" in report.page(released(columns(), manifest={"options": {"shuffle": False}, "seed": 987654}))


# --- warnings -------------------------------------------------------------------------------------


def sentences(facts):
    return " ".join(Reader(report._page.write_html(report._page.element("p", *s))).text for s in computed(facts))


def test_columns_whose_distribution_changed_are_named():
    facts = released(columns(), utility={"share_change_by_column": {"age": 0.01, "income": 0.03, "born": 0.2}})
    assert "percentage points; compare the distributions of income , born ." in sentences(facts)


def test_groups_of_one_value_are_counted():
    x = np.repeat([1.0, 2.0, 3.0, 4.0], 5)
    x[-1] = 4.5
    labels = np.repeat([0, 1, 2, 3], 5)
    assert _groups.of_one_value([x], labels) == (3, 15)
    assert _groups.of_one_value([x, np.arange(20.0)], labels) == (0, 0)
    facts = released({"x": x}, masked={"x": np.repeat([1.0, 2.0, 3.0, 4.1], 5)}, labels=labels)
    assert "In 3 of 4 groups (15 records) all records had the same values." in sentences(facts)


def test_missing_cells_are_equal_to_each_other():
    x = np.array([np.nan, np.nan, np.nan, 1.0, np.nan, 2.0])
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert _groups.of_one_value([x, np.ones(6)], labels) == (1, 3)
    assert _groups.of_one_value([x], labels) == (0, 0)  # nothing is published there


@pytest.mark.parametrize("k", [3, 5, 30])
def test_groups_that_one_record_dominates_are_counted(k):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(10 * k))
    labels = np.argsort(np.argsort(x)) // k
    assert _groups.dominated([x], labels).groups == 0
    x[labels == 4] += np.where(np.arange(k) == 0, 50.0, 0.0)
    assert _groups.dominated([x], labels) == (1, k)
    facts = released({"x": x}, masked={"x": x}, labels=labels)
    assert "In 1 of 10 groups one record, far from the others," in sentences(facts)


def test_two_records_dominate_each_other_and_small_distances_no_one():
    assert _groups.dominated([np.array([0.0, 9.0, 1.0, 8.0])], np.array([0, 0, 1, 1])).groups == 0
    x = np.concatenate([np.zeros(4), [0.1], np.linspace(50, 99, 15)])
    assert _groups.dominated([x], np.repeat([0, 1, 2, 3], 5)).groups == 0


def test_per_column_is_said_not_to_be_joint():
    facts = released(columns(), scope="per-column", k=5)
    text = Reader(report.page(facts)).text
    assert "This is not joint k-anonymity" in text
    assert "may belong to a single person" in sentences(facts)
    assert "k counted" not in text
    assert "Groups of each column" in text


def test_warnings_of_many_columns_are_one_sentence():
    original = {f"c{j}": np.repeat(np.arange(20.0), 5) for j in range(40)}
    facts = released(original, scope="per-column")
    assert len(computed(facts)) == 2
    assert "these values are published exactly. c0 (20 of 20), c1 (20 of 20)," in sentences(facts)
    assert "and 28 more." in sentences(facts)


def test_k_may_differ_by_column():
    facts = released(columns(), scope="per-column")
    facts = report.ReportFacts(**vars(facts) | {"k": {"age": 3, "income": 4, "born": 5}})
    text = Reader(report.page(facts)).text
    assert "k requested 3 to 5" in text


# --- shapes ---------------------------------------------------------------------------------------


def test_one_column():
    text = Reader(report.page(released({"x": np.random.default_rng(0).random(50)}))).text
    assert "Correlations" not in text
    assert "Distributions" in text


@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_constant_column(scope):
    text = Reader(report.page(released({"x": np.full(50, 3.0), "y": np.arange(50.0)}, scope=scope))).text
    assert "One and the same value is published for all records." in text
    assert "No two columns vary" in text


def test_missing_cells_of_every_pattern():
    rng = np.random.default_rng(0)
    original = {name: rng.random(90) for name in "abc"}
    for place, column in enumerate(original.values()):
        column[place::3] = np.nan  # no record is whole, no two columns... have more than a third in common
    masked = {name: np.where(np.isnan(column), np.nan, 0.5) for name, column in original.items()}
    facts = released(original, masked=masked, labels=np.arange(90) % 3, smallest=30, utility={}, risk={})
    text = Reader(report.page(facts)).text
    assert "30 cells missing" in text
    empty = {name: np.full(90, np.nan) for name in "ab"}
    text = Reader(report.page(released(empty, masked=empty, labels=np.zeros(90, int), smallest=90, risk={}))).text
    assert "Too few values to draw" in text


@pytest.mark.parametrize("scale", [1e-300, 1e300, 1e308])
def test_any_magnitude(scale):
    x = np.random.default_rng(0).random(100) * scale
    x[0] = -x[0]
    Reader(report.page(released({"x": x, "y": 1e15 + np.arange(100.0) / 8})))


def test_two_hundred_columns_stay_small():
    rng = np.random.default_rng(0)
    facts = released({f"column {j}": rng.lognormal(0, 1, 2000) for j in range(200)})
    page = report.page(facts)
    assert len(page.encode()) < 1_500_000
    assert "Each dot is a pair of columns" in Reader(page).text


def test_a_million_records_stay_small():
    rng = np.random.default_rng(0)
    n, d = 1_000_000, 4
    X = rng.lognormal(0, 1, (n, d))
    labels = np.arange(n) // 5
    X = X[np.argsort(X[:, 0])]
    masked = np.repeat(X.reshape(-1, 5, d).mean(axis=1), 5, axis=0)
    tables = {"original": dict(zip("abcd", X.T, strict=True)), "masked": dict(zip("abcd", masked.T, strict=True))}
    facts = report.ReportFacts(**vars(released(columns())) | tables | {"labels": labels, "kinds": {}})
    assert len(report.page(facts).encode()) < 100_000


@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_a_release_writes_its_report(tmp_path, scope):
    table = people(400)
    numbers = ["age", "rent", "born"]
    options = {"by": "region", "keep": "satisfaction", "missing": "group", "small_strata": "suppress", "scope": scope}
    options |= {"drop": [name for name in table if name not in (*numbers, "region", "satisfaction")]}
    options |= {"method": "zscore"} if scope == "joint" else {}
    release = mag.microaggregate(table, 3, numbers, **options)
    reader = Reader(release.report(tmp_path / "report.html", title="Title").read_text(encoding="utf-8"))
    assert str(release.guarantee).replace(" = ", " = ") in reader.text.replace("\N{NO-BREAK SPACE}", " ")
    assert all(warning in reader.text for warning in release.warnings)
    assert "Published unchanged: satisfaction" in reader.text
    assert re.search(r"born( \d{4})+ Spread kept", reader.text)  # an axis of years
    assert f"Computed on {release.risk()['records']:.0f} records" in reader.text
    assert "small strata: suppress" in reader.text


# --- many columns, and what the first lines say ---------------------------------------------------


def test_the_columns_that_changed_most_come_first_and_others_on_demand():
    rng = np.random.default_rng(0)
    changes = {f"c{j}": j / 100 for j in range(30)}
    original = {name: rng.normal(size=200) for name in changes}
    facts = released(original, utility={"information_loss": 0.1, "records": 200, "share_change_by_column": changes})
    shown, others = _cards.choose_columns(facts)
    assert (shown, others) == ([f"c{j}" for j in range(29, 17, -1)], [f"c{j}" for j in range(17, -1, -1)])
    page = report.page(facts)
    folded = Reader(page[page.index("<details>") : page.index("</details>") + len("</details>")])
    assert folded.text.startswith("The other 18 columns")
    assert folded.tags.count("figure") == 18
    assert all(f"c{j} " in folded.text for j in range(18))
    assert "15 more rows" in Reader(page).text  # of losses
    assert _cards.choose_columns(released(columns()))[1] == []


def test_names_of_many_columns_are_a_few_and_a_count():
    table = {f"column{j}": np.arange(12.0) * j for j in range(200)}
    release = mag.microaggregate(table, 3, list(table), method="zscore")
    for text in (repr(release), release._repr_html_().partition("</p>")[0], release.grouping._repr_html_()):
        assert "column11 and 188 more" in text
        assert "column12" not in text
    assert release.manifest()["guarantee"]["columns"] == list(table)
    few, *many = table
    for keep, end in ((many, "column12 and 187 more; the guarantee does not cover them."), (many[0], "cover it.")):
        release = mag.microaggregate(table, 3, few, keep=keep, rest="drop")
        assert next(warning for warning in release.warnings if "Published unchanged" in warning).endswith(end)


@pytest.mark.parametrize(
    ("changes", "tiles"),
    [
        ({"utility": {}}, 5),
        ({}, 6),
        ({"with_kept": (1, 3), "untouched": ["a"]}, 7),
        ({"with_kept": (1, 3), "untouched": ["a"], "utility": {"information_loss": 0.1, "ncp": 0.2}}, 8),
    ],
)
def test_no_figure_is_alone_in_its_row(changes, tiles):
    page = report.page(released(columns(), **changes))
    across = int(re.search(r"figures across-(\d)", page)[1])
    assert page.count('<dd class="meaning">') == tiles
    assert tiles % across != 1
    assert f".across-{across} " in page or across == 2


def test_the_head_tells_what_the_page_is_about(tmp_path):
    release = mag.microaggregate({"a": np.arange(30.0), "b": np.arange(30.0) ** 2}, 3, ["a", "b"])
    path = release.report(tmp_path / "r.html", about={"Data": "<b>people</b>", "Made by": "A. Smith"})
    text = Reader(path.read_text(encoding="utf-8")).text
    assert re.search(r"Data <b>people</b> Made by A. Smith Date 20\d\d-\d\d-\d\d \d\d:\d\d UTC Every record", text)


def test_diversity_and_closeness_have_a_figure(tmp_path):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=60), "b": rng.normal(size=60), "illness": rng.choice(["x", "y", "z"], 60)}
    table["income"] = rng.integers(0, 9, 60)
    options = {"diversity": {"illness": 2}, "closeness": {"income": 0.5}}
    release = mag.microaggregate(table, 5, ["a", "b"], **options)
    page = release.report(tmp_path / "r.html").read_text(encoding="utf-8")
    text = Reader(page).text
    worst = release.guarantee.closeness["income"].counted
    assert "Bar: the smallest figure of a class, 2. Line: at least 2 is required." in text
    assert f"Bar: the largest figure of a class, {worst:.3g}. Line: at most 0.5 is required." in text
    assert text.count("Different values in a class, and how many classes have that many.") >= 1
    line = _svg.CHART_WIDTH - 2 * _svg.SIDE
    assert f'width="{line * worst / (1.15 * 0.5):.1f}"' in page  # the bar ends where the axis says


def test_one_column_has_no_correlation():
    utility = {"correlation_difference": 0.0, "eigenvalue_difference": 0.0, "il1s": 0.1, "records": 500}
    one = {"age": columns()["age"]}
    assert "Mean change of a correlation" not in Reader(report.page(released(one, utility=utility))).text
    assert "Mean change of a correlation" in Reader(report.page(released(columns(), utility=utility))).text


def test_bars_of_losses_have_a_round_scale():
    assert [_sections.scale_of([x]) for x in (0.0, 0.004, 0.02, 0.051, 0.7)] == [0.001, 0.005, 0.02, 0.1, 1.0]
    assert "Loss, 0 to " in Reader(report.page(released(columns()))).text


def test_progress_goes_from_the_first_figure_to_the_last_section(tmp_path):
    seen = []
    release = mag.microaggregate({"a": np.arange(30.0), "b": np.arange(30.0) ** 2}, 3, ["a", "b"])
    release.report(tmp_path / "r.html", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


# --- writing --------------------------------------------------------------------------------------


def test_the_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    facts = released(columns())
    path = report.write(tmp_path / "report.html", facts)
    before = path.read_text(encoding="utf-8")
    assert before == report.page(facts)
    monkeypatch.setattr(report, "page", lambda *facts: before[:100] + "\ud800")  # cannot be encoded: fails on the way
    with pytest.raises(UnicodeEncodeError):
        report.write(path, facts, overwrite=True)
    assert path.read_text(encoding="utf-8") == before
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_facts_that_disagree_are_refused():
    original = columns()
    with pytest.raises(ValueError, match="the same columns"):
        released(original, masked={"age": original["age"]})
    with pytest.raises(ValueError, match="labels must be of shape"):
        released(original, labels=np.zeros((500, 3), int))
    with pytest.raises(ValueError, match="scope must be one of 'joint', 'per-column', 'sets'; got 'both'"):
        report.ReportFacts(**vars(released(original)) | {"scope": "both"})


# --- numbers and dates ----------------------------------------------------------------------------


def test_ticks_are_round_numbers():
    assert [text for _, text in _text.number_ticks(0.3, 98)] == ["20", "40", "60", "80"]
    assert [text for _, text in _text.number_ticks(-0.012, 0.011)] == ["−0.010", "−0.005", "0.000", "0.005", "0.010"]
    assert len({text for _, text in _text.number_ticks(1e15, 1e15 + 10)}) > 2
    assert _text.number_ticks(2, 2) == []


@pytest.mark.parametrize(
    ("first", "last", "texts"),
    [
        ("1921-03-05", "2008-11-30", ["1940", "1960", "1980", "2000"]),
        ("2019-11-20", "2020-12-24", ["2020-01", "2020-04", "2020-07", "2020-10"]),
        ("2020-02-01", "2020-05-20", ["2020-02", "2020-03", "2020-04", "2020-05"]),
        ("2020-02-01T04", "2020-02-01T23", ["2020-02-01 06:00", "2020-02-01 12:00", "2020-02-01 18:00"]),
    ],
)
def test_ticks_are_round_dates(first, last, texts):
    low, high = (float(np.datetime64(end, "s").astype(int)) for end in (first, last))
    ticks = _text.date_ticks(low, high)
    assert [text for _, text in ticks] == texts
    assert all(low <= at <= high for at, _ in ticks)


def test_labels_of_an_axis_do_not_run_into_each_other():
    days = np.arange(0, 8.5, 0.01) * 86400 + 1.5778e9
    drawn = _svg.distributions("", _bins.bins(days, days, 1), "datetime")
    labels = [(float(part.get("x")), len(part.text)) for part in drawn.iter("text")]
    assert len(labels) >= 2
    assert all(a + 6 * len_a / 2 < b - 6 * len_b / 2 for (a, len_a), (b, len_b) in itertools.pairwise(labels))
    assert all(3 * length <= x <= 320 - 3 * length for x, length in labels)


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.0, "0 %"), (1.0, "100 %"), (0.99999, "> 99.9 %"), (1e-6, "< 0.01 %"), (0.1234, "12.3 %"), (np.inf, "∞")],
)
def test_shares(part, text):
    assert _text.share(part) == text.replace(" %", f"{_text.THIN}%")


def test_the_gallery_shows_pictures_that_are_there_and_small():
    folder = pathlib.Path(mag.__file__).parents[1] / "docs" / "figures"
    shown = re.findall(r"!\[[^]]{20,}\]\(([^)]+)\)", (folder / "gallery.md").read_text(encoding="utf-8"))
    assert {path.name for path in (folder / "gallery").iterdir()} <= {pathlib.PurePath(link).name for link in shown}
    assert all((folder / link).stat().st_size < 100_000 for link in shown)


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("scope", ["joint", "per-column"])
def test_a_phone_needs_no_sideways_scrolling(scope):
    original = columns() | {"x" * 300: np.random.default_rng(0).random(500), "a name of words": np.arange(500.0) ** 2}
    facts = released(original, scope=scope, untouched=["y" * 200], manifest={"options": {"z" * 200: "z" * 400}})
    script = (
        "const page = this.contentDocument.documentElement; document.title = [page.scrollWidth, page.clientWidth, "
        "page.querySelectorAll('svg').length, getComputedStyle(page.querySelector('h1')).fontWeight].join(' ')"
    )
    printed = opened(report.page(facts), 390, 800, "--dump-dom", onload=script)
    needed, given, drawn, weight = map(int, re.search(r"<title>([\d ]+)</title>", printed).group(1).split())
    assert given == 390
    assert needed <= given
    assert drawn > 5
    assert weight == 600  # the policy let the page's own style through
