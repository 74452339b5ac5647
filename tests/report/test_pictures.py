"""Views of results: HTML, plots, progress in terminals and notebooks, and comparisons."""

import itertools
import pickle
import sys
import types

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib import pyplot as plt

import mag
from mag._lib.progress import Progress, ProgressBar
from mag.measures import assess
from tests.data.people import people
from tests.data.records import records

mpl.use("agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def release(**options):
    settings = {"rest": "drop"} | options
    return mag.microaggregate(people(), 5, ["income", "age"], **settings)


# ---- HTML

RESULTS = {
    "Grouping": lambda: mag.univariate(records()[:, 0], 4),
    "Grouping, soft": lambda: mag.univariate(records()[:, 0], 4, soft=0.01),
    "ColumnGroupings": lambda: mag.columns(records(), [3, 4, 5], cost=["sse", "sae", "maxdist"]),
    "RecordGrouping": lambda: mag.multivariate(records(), 4, method="mdav", bound="neighbor"),
    "RecordGrouping of one column": lambda: mag.multivariate(records(d=1), 4),
    "TableGrouping": lambda: release(by="region", drop="name").grouping,
    "TableGrouping of columns": lambda: release(scope="per-column").grouping,
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_an_html_form_that_copies_keep(name):
    result = RESULTS[name]()
    text = result._repr_html_()
    assert text.startswith("<table>")
    assert text.endswith("</table>")
    assert f"<b>{name.split(' of ')[0].split(',')[0]}</b>" in text
    assert pickle.loads(pickle.dumps(result))._repr_html_() == text


def test_html_tells_what_matters():
    text = RESULTS["RecordGrouping"]()._repr_html_()
    for word in ("60", "mdav", "information loss", "bound", "gap"):
        assert word in text
    assert "bound" not in mag.multivariate(records(), 4, method="mdav")._repr_html_()
    assert "not guaranteed" in RESULTS["Grouping, soft"]()._repr_html_()
    assert "stopped by time_limit" in mag.multivariate(records(), 4, method="tsp", time_limit=1e-9)._repr_html_()


def test_names_of_columns_are_escaped():
    name = "<script>alert(1)</script>"
    table = {name: np.arange(12.0), "b": np.arange(12.0) ** 2}
    done = mag.microaggregate(table, 3, [name, "b"])
    for text in (done.grouping._repr_html_(), done._repr_html_()):
        assert "<script" not in text


# ---- plots


@pytest.mark.parametrize("name", RESULTS)
def test_results_draw_themselves_where_they_are_told_to(name):
    axes = plt.figure().add_subplot()
    assert RESULTS[name]().plot(axes) is axes
    assert axes.has_data()
    assert RESULTS[name]().plot() is not axes


def test_plots_show_published_values_only():
    x = records()[:, 0]
    grouping = mag.univariate(x, 4)
    (lines,) = [one for one in grouping.plot().collections if len(one.get_paths()) == grouping.n_groups]
    drawn = np.array([path.vertices for path in lines.get_paths()])
    np.testing.assert_array_equal(drawn[:, 0, 0], grouping.representatives)
    np.testing.assert_array_equal(drawn[:, 1, 1], grouping.sizes)
    wide = mag.multivariate(records(), 4, method="mdav")
    np.testing.assert_array_equal(
        wide.plot(columns=(2, 0)).collections[0].get_offsets(), wide.representatives[:, [2, 0]]
    )
    with pytest.raises(ValueError, match=r"columns must be an integer in \[0, d-1=2\]; got 3"):
        wide.plot(columns=(0, 3))


def test_a_release_draws_bins_of_no_fewer_than_k_records():
    done = release()
    income, age = done.plot()
    assert income.get_title(loc="left") == "income"
    for axes, name in ((income, "income"), (age, "age")):
        before, after = (patch.get_data() for patch in axes.patches)
        original = np.asarray(people()[name], float)
        counts = np.rint(before.values * np.diff(before.edges) * original.size)
        assert ((counts == 0) | (counts >= 5)).all()
        published = np.asarray(done.data[name], float)
        assert before.edges[0] >= published.min() - 0.5
        assert before.edges[-1] <= published.max() + 1.5 * np.diff(before.edges).max()
        assert after.values.max() > 0
    (axes,) = done.plot(["age"])
    assert axes.get_title(loc="left") == "age"
    with pytest.raises(ValueError, match="columns must be among the masked ones; got 'region'"):
        done.plot(["region"])
    with pytest.raises(RuntimeError, match="plot and report need the original table"):
        pickle.loads(pickle.dumps(done)).plot()


def test_counts_have_whole_ticks():
    grouping = mag.microaggregate({"a": np.arange(11.0), "b": np.arange(11.0) ** 2}, 5, ["a", "b"]).grouping
    axes = grouping.plot()
    for ticks in (axes.get_xticks(), axes.get_yticks()):
        np.testing.assert_array_equal(ticks, np.rint(ticks))


def test_very_many_groups_are_spans_of_sizes():
    grouping = mag.univariate(np.random.default_rng(0).lognormal(size=20_000), 5)
    assert grouping.n_groups > 3000
    axes = grouping.plot()
    assert not axes.collections
    spans, mean = (patch.get_data() for patch in axes.patches)
    assert spans.values.size == mean.values.size == 100
    assert spans.values.max() == grouping.sizes.max()
    assert np.min(spans.baseline) == grouping.sizes.min()
    assert (np.asarray(spans.baseline) <= mean.values).all()
    assert (mean.values <= spans.values).all()


def test_labels_of_a_comparison_do_not_overlap_and_legends_are_beside():
    found = mag.compare({"a": records()[:, 0], "b": records()[:, 1]}, [3, 4, 5], ["a", "b"], methods=["mdav", "ona"])
    axes = found.plot()
    figure = axes.figure
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert len(boxes) >= 3
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    assert axes.get_legend().get_window_extent().x0 >= axes.get_window_extent().x1


def test_long_numbers_below_an_axis_do_not_run_into_each_other():
    grouping = mag.univariate(np.random.default_rng(0).lognormal(10, 0.6, size=20_000), 5)
    axes = grouping.plot()
    axes.figure.draw_without_rendering()
    low, high = axes.get_xlim()
    boxes = [
        text.get_window_extent()
        for tick, text in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        if low <= tick <= high
    ]
    assert len(boxes) >= 3
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(boxes))


def test_a_release_of_many_columns_draws_those_that_changed_most():
    generator = np.random.default_rng(0)
    table = {f"x{j}": generator.normal(size=60) for j in range(15)}
    table["x14"] = generator.lognormal(sigma=3.0, size=60)
    release = mag.microaggregate(table, 5, list(table))
    every = release.plot()
    assert len(every) == 12
    changes = release.utility()["share_change_by_column"]
    assert [axes.get_title(loc="left") for axes in every] == sorted(changes, key=lambda name: -changes[name])[:12]
    assert [axes.get_legend() is not None for axes in every] == [True] + [False] * 11
    assert len(release.plot(list(table))) == 15


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    grouping = mag.univariate(records()[:, 0], 4)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"plots need matplotlib; pip install 'mag-sdc\[plot\]'"):
        grouping.plot()


# ---- comparisons


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_compare_tries_every_method_and_k(make):
    table, seen = make(people()), []
    comparison = mag.compare(
        table, [10, 3], ["income", "age"], methods=["mdav", "auto"], by="region", progress=seen.append
    )
    assert comparison["method"].tolist() == ["mdav"] * 2 + ["auto (ona_local)"] * 2
    assert comparison["k"].tolist() == [3, 10] * 2
    assert (comparison["smallest"] >= comparison["k"]).all()
    assert set(comparison) == set(comparison.rows[0])
    assert seen[-1] == 1
    assert seen == sorted(seen)
    done = mag.microaggregate(table, 3, ["income", "age"], by="region", method="mdav", drop="name")
    first = comparison.rows[0]
    assert first["information_loss"] == done.utility()["information_loss"]
    assert first["distance_linkage"] == done.risk()["distance_linkage"]
    assert comparison.to_pandas()["k"].tolist() == comparison.to_polars()["k"].to_list() == [3, 10, 3, 10]
    assert repr(comparison).count("\n") == 4
    assert comparison._repr_html_().count("<tr>") == 5
    axes = comparison.plot()
    assert [line.get_label() for line in axes.lines] == ["mdav", "auto (ona_local)"]
    np.testing.assert_allclose(axes.lines[0].get_xdata(), 100 * comparison["information_loss"][:2])
    assert pickle.loads(pickle.dumps(comparison)).rows == comparison.rows


def test_compare_passes_options_limits_and_seeds_to_those_that_take_them():
    table = people()
    options = {"mona": {"rho": 0.4}, "anneal": {"iterations": 5.0}}
    comparison = mag.compare(
        table,
        4,
        ["income", "age"],
        methods=["mona", "zscore", "anneal"],
        options=options,
        time_limit=60,
        random_state=3,
    )
    assert comparison["complete"].all()
    same = mag.microaggregate(table, 4, ["income", "age"], method="anneal", iterations=5.0, random_state=3, rest="drop")
    assert comparison.rows[2]["information_loss"] == same.utility()["information_loss"]
    single = mag.compare(table, np.int64(4), "income", weights=np.ones(200))
    assert single["method"].tolist() == ["auto (univariate)"]


def test_seconds_of_a_comparison_are_without_compilation(monkeypatch):
    """What a run will use is ready before its clock starts."""
    events = []

    def run(*args, **options):
        events.append("run")
        return mag.microaggregate(*args, **options)

    monkeypatch.setattr("mag.tables.compare.warm_up_method", lambda name, k, options, quiet: events.append((name, k)))
    monkeypatch.setattr("mag.tables.compare.microaggregate", run)
    mag.compare(people(), [3, 4], ["income", "age"], methods=["mdav", "auto"])
    assert events == [
        ("mdav", 3), "run", ("mdav", 4), "run",
        ("ona_star", 3), ("ona_local", 3), ("mona", 3), "run",
        ("ona_star", 4), ("ona_local", 4), ("mona", 4), "run",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"methods": ["mdaw"]}, ValueError, "methods must be one of 33 names; got 'mdaw', did you mean 'mdav'"),
        ({"methods": []}, ValueError, "methods must hold at least one entry"),
        ({"k": []}, ValueError, "k must hold at least one entry"),
        ({"k": 201}, ValueError, r"k must be an integer in \[1, n=200\]; got 201"),
        ({"options": {"mdav": {}}}, ValueError, "options must be of methods that are compared; got 'mdav'"),
        ({"options": {"auto": 3}}, TypeError, "options must be a dictionary of dictionaries"),
        (
            {"methods": "mdav", "options": {"mdav": {"gamma": 1}}},
            TypeError,
            "gamma is not used by method 'mdav'; its options are: time_limit",
        ),
        ({"methods": "matching", "k": 3}, ValueError, "method 'matching' needs k=2; got k=3"),
        ({"progress": 3}, TypeError, "progress must be True, False or a function; got 3"),
    ],
)
def test_wrong_comparisons_are_refused(options, error, sentence):
    settings = {"k": 3, "columns": ["income", "age"]} | options
    with pytest.raises(error, match=sentence):
        mag.compare(people(), **settings)


def test_utility_of_wide_tables_fits_into_memory(monkeypatch):
    """The terms of the propensity score grow with the square of the columns."""
    asked = []
    monkeypatch.setattr(assess, "propensity_mse", lambda X, Y, quadratic: asked.append(quadratic) or 0.0)
    for d in (assess.MAX_PRODUCT_COLUMNS, assess.MAX_PRODUCT_COLUMNS + 1):
        X = records(60, d)
        assert "propensity_mse" in assess.utility(X, X)
        assert "propensity_mse" not in assess.utility(X, X, propensity=False)
    assert asked == [True, "squares"]


# ---- progress


def test_a_bar_updates_in_place(capsys, monkeypatch):
    monkeypatch.setattr("mag._lib.progress.PAUSE", 0.0)
    bar = ProgressBar("grouping \x1b[31m people")
    progress = Progress(bar)
    for fraction in (0.25, 0.5, 0.75):
        progress.step(fraction)
    progress.finish()
    text = capsys.readouterr().err
    assert text.count("\r") == 5
    assert text.count("\n") == 1
    assert text.endswith("\n")
    assert "\x1b" not in text
    assert "compiling or loading code" in text.split("\r")[1]
    assert "left" in text.split("\r")[2]
    bar(0.1)
    assert capsys.readouterr().err == ""  # it is over


def test_a_bar_that_is_not_left_erases_its_line(capsys):
    bar = ProgressBar(leave=False)
    bar(0.5)
    bar.close()
    bar.close()
    last = capsys.readouterr().err.split("\r")
    assert last[-2:] == [" " * len(last[-3].rstrip()), ""]


def test_in_a_notebook_one_display_is_updated(monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, content):
            shown.append(("update", content))

    def display(content, display_id):
        assert display_id is True
        shown.append(("new", content))
        return Handle()

    notebook = types.ModuleType("IPython")
    notebook.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    notebook.display = types.ModuleType("IPython.display")
    notebook.display.HTML, notebook.display.display = str, display
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", notebook.display)
    monkeypatch.setattr("mag._lib.progress.PAUSE", 0.0)
    mag.multivariate(records(500), 5, method="npn", progress=True)
    kinds, contents = zip(*shown, strict=True)
    assert kinds[0] == "new"
    assert set(kinds[1:]) == {"update"}
    assert "compiling or loading code" in contents[0]
    assert 'value="1.000"' in contents[-1]
    assert capsys.readouterr().err == ""
    notebook.get_ipython = lambda: types.SimpleNamespace()  # IPython in a terminal
    mag.multivariate(records(), 5, method="npn", progress=True)
    assert "100%" in capsys.readouterr().err
