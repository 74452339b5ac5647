"""Every method of the table, on shapes that break implementations; a new method is tested by existing."""

import dataclasses
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mag
from mag._lib.progress import Progress
from mag.methods import METHODS
from tests.data.records import hostile_tables
from tests.oracles.groups import check, least_loss

ANY = [name for name, method in METHODS.items() if method.k is None]  # "matching" has tests of its own
RANDOM = [name for name, method in METHODS.items() if "random_state" in method.options]
LIMITED = [name for name, method in METHODS.items() if "time_limit" in method.options]
# Mondrian and MONA halve blindly, and groups of k that ONA starts with at random exchange nothing
SEEING = [name for name in ANY if name not in ("mona", "mona_2d", "mondrian", "mondrian_v", "mondrian_v2d", "ona")]
WHOLE = [name for name, method in METHODS.items() if "integer" in method.options]


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("name", hostile_tables(40))
@pytest.mark.parametrize("method", ANY)
def test_groups_have_at_least_k_records_and_the_cost_is_theirs(method, name, standardize):
    X = hostile_tables(40)[name]
    for k in (2, 5, 19):
        check(X, k, mag.multivariate(X, k, method=method, standardize=standardize), standardize)


@pytest.mark.parametrize("method", ANY)
def test_few_records(method):
    rng = np.random.default_rng(1)
    for k in (1, 2, 3, 5):
        for n in (k, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k):
            X = rng.normal(size=(n, 3))
            grouping = mag.multivariate(X, k, method=method)
            check(X, k, grouping)
            if n < 2 * k:
                assert grouping.n_groups == 1
            if k == 1:
                assert grouping.n_groups == n
                assert grouping.cost == 0


@pytest.mark.parametrize("method", ANY)
def test_one_column_is_solved_exactly(method):
    for x in (np.random.default_rng(2).normal(size=50), np.random.default_rng(2).integers(0, 30, 50)):
        grouping = mag.multivariate(x[:, None], 5, method=method, standardize=False)
        assert grouping.cost == pytest.approx(mag.univariate(x, 5).cost, rel=1e-12)
        loss = mag.multivariate(x[:, None], 5, method=method).information_loss
        assert loss == pytest.approx(mag.univariate(x, 5).information_loss, rel=1e-12)


@pytest.mark.parametrize("method", ANY)
def test_no_method_beats_the_optimum_of_few_records(method):
    rng = np.random.default_rng(3)
    for n, k in ((6, 2), (8, 2), (8, 3), (10, 5)):
        X = rng.normal(size=(n, 2))
        best = least_loss(X, k)
        found = mag.multivariate(X, k, method=method, standardize=False).cost
        assert best * (1 - 1e-12) <= found <= np.square(X - X.mean(axis=0)).sum() * (1 + 1e-12)


@pytest.mark.parametrize("method", SEEING)
def test_groups_that_everybody_sees_are_found(method):
    rng = np.random.default_rng(4)
    X = np.repeat([[0.0, 0.0], [9.0, 1.0], [2.0, 30.0]], 5, axis=0) + 0.01 * rng.normal(size=(15, 2))
    grouping = mag.multivariate(X, 5, method=method)
    assert grouping.labels.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    np.testing.assert_allclose(grouping.representatives, X.reshape(3, 5, 2).mean(axis=1))


@pytest.mark.parametrize("method", ANY)
def test_the_same_bytes_on_any_number_of_threads_and_from_any_layout(method):
    X = np.random.default_rng(5).normal(size=(700, 4))
    one = mag.multivariate(X, 5, method=method, threads=1)
    frozen = X.copy()
    frozen.flags.writeable = False
    for other, threads in ((X, 2), (X, 5), (X, None), (np.asfortranarray(X), 2), (frozen, 1), (X.tolist(), 1)):
        again = mag.multivariate(other, 5, method=method, threads=threads)
        assert one.labels.tobytes() == again.labels.tobytes()
        assert one.masked.tobytes() == again.masked.tobytes()
    assert frozen.tobytes() == X.tobytes()


@pytest.mark.parametrize("method", ANY)
def test_units_do_not_matter(method):
    X = np.random.default_rng(6).normal(size=(60, 3))
    expected = mag.multivariate(X, 5, method=method).labels
    np.testing.assert_array_equal(mag.multivariate(X * [2.0**40, 1.0, 2.0**-900], 5, method=method).labels, expected)


@pytest.mark.parametrize("method", RANDOM)
def test_a_seed_fixes_the_groups(method):
    X = np.random.default_rng(7).normal(size=(300, 3))
    for seed in (0, 3):
        expected = mag.multivariate(X, 5, method=method, random_state=seed).labels
        for same in (seed, np.random.default_rng(seed)):
            np.testing.assert_array_equal(mag.multivariate(X, 5, method=method, random_state=same).labels, expected)
    np.testing.assert_array_equal(
        mag.multivariate(X, 5, method=method).labels, mag.multivariate(X, 5, method=method, random_state=0).labels
    )


@pytest.mark.parametrize("method", LIMITED)
def test_the_best_so_far_is_returned_when_time_is_up(method):
    X = np.random.default_rng(8).normal(size=(2000, 3))
    cut_short = mag.multivariate(X, 5, method=method, time_limit=1e-9)
    check(X, 5, cut_short)
    assert not cut_short.complete
    assert repr(cut_short).endswith(", stopped by time_limit>")
    assert mag.multivariate(X[:50], 5, method=method, time_limit=1e9).complete


@pytest.mark.parametrize("method", ANY)
def test_progress_goes_from_0_to_1(method):
    X, seen = np.random.default_rng(9).normal(size=(500, 3)), []
    mag.multivariate(X, 5, method=method, progress=seen.append)
    assert all(0 <= fraction <= 1 for fraction in seen)
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_progress_never_goes_back(monkeypatch):
    monkeypatch.setattr("mag._lib.progress.PAUSE", 0.0)
    monkeypatch.setattr("mag.methods.orders.lines.NUMBERS_PER_BLOCK", 1)
    X, seen = np.random.default_rng(9).normal(size=(60, 3)), []
    mag.multivariate(X, 5, method="projection", n_projections=50, refine=3, progress=seen.append)
    assert len(seen) > 20
    assert seen == sorted(seen)


def test_progress_draws_a_bar(capsys):
    mag.multivariate(np.random.default_rng(9).normal(size=(50, 3)), 5, method="npn", progress=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("\r[..............................]   0% compiling or loading code")
    assert printed.err.rstrip().endswith("] 100%")
    assert printed.err.count("\n") == 1


def test_progress_stops_when_time_is_up():
    seen = []
    progress = Progress(seen.append, 1e9)
    assert not progress.span(0.5, 1.0).step(0.5)
    assert seen == [0.75]
    assert progress.seconds_left() > 1e8
    assert Progress(None, 1e-9).step(0.0)
    assert Progress().seconds_left() == float("inf")


def test_a_span_of_progress_is_a_view(monkeypatch):
    """Two spans that are made before either is used do not disturb each other, and fractions nest."""
    monkeypatch.setattr("mag._lib.progress.PAUSE", 0.0)
    seen = []
    progress = Progress(seen.append)
    first, second = progress.span(0.0, 0.5), progress.span(0.5, 1.0)
    first.step(0.5)
    first.span(0.5, 1.0).step(0.5)
    second.step(0.0)
    second.silent().step(1.0)
    second.limited(1e9).step(0.5)
    progress.step(1.0)
    assert seen == [0.25, 0.375, 0.5, 0.75, 1.0]


def test_views_of_progress_stop_together_unless_the_time_is_their_own():
    progress = Progress(None, 1e9)
    short = progress.limited(0.0)
    assert short.step(0.0)
    assert short.span(0.0, 0.5).stopped
    assert not progress.stopped
    assert 1e8 < progress.share(0.5, 0.75).seconds_left() < 6e8
    progress.span(0.0, 0.5).silent().stop()
    assert progress.stopped


@pytest.mark.parametrize("method", WHOLE)
def test_integers_are_published_as_asked(method):
    rng = np.random.default_rng(10)
    for dtype in (np.int8, np.int64, np.uint16, np.bool_):
        X = rng.integers(0, 100, (60, 3)).astype(dtype)
        plain, whole = mag.multivariate(X, 3, method=method), mag.multivariate(X, 3, method=method, integer=True)
        assert plain.masked.dtype == np.float64
        assert whole.masked.dtype == dtype
        unit = np.where(X.std(axis=0) > 0, 1 / np.where(X.std(axis=0) > 0, X.std(axis=0), 1), 0)
        away = (X.astype(np.float64) - whole.masked.astype(np.float64)) * unit
        assert whole.cost == pytest.approx(np.square(away).sum(), rel=1e-9)
        for g in range(whole.n_groups):
            mean = X[whole.labels == g].astype(np.float64).mean(axis=0)
            assert (np.abs(whole.representatives[g].astype(np.float64) - mean) <= 0.5 + 1e-12).all()


def test_halves_are_rounded_away_from_zero():
    X = np.array([[7, -7], [8, -8]])
    assert mag.multivariate(X, 2, method="zscore", integer=True).representatives.tolist() == [[8, -8]]
    one = mag.multivariate(X[:, 1:], 2, method="zscore", integer=True)
    assert one.representatives.tolist() == [[-8]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_floats_keep_their_dtype(dtype):
    X = np.random.default_rng(11).normal(size=(30, 2)).astype(dtype)
    grouping = mag.multivariate(X, 3, method="zscore")
    assert grouping.masked.dtype == grouping.representatives.dtype == dtype


def test_extreme_values_have_means():
    X = np.array([[1.7e308, 0.0], [-1.7e308, 0.0], [1.7e308, 1.0], [1.7e308, 1.0], [1e-300, 5.0], [0.0, 5.0]])
    grouping = mag.multivariate(X, 2, method="npn", standardize=False)
    assert np.isfinite(grouping.masked).all()
    assert grouping.cost == np.inf
    assert np.isfinite(grouping.information_loss)


@pytest.mark.parametrize("method", ["mdav", "npn", "ona_star", "zscore"])
def test_offsets_cost_no_digits(method):
    """Of methods without chance: an exchange of "tsp" that gains next to nothing may be taken or not."""
    X = np.random.default_rng(12).integers(0, 1000, (80, 3)) / 8
    near = mag.multivariate(X, 4, method=method)
    far = mag.multivariate(X + 2.0**40, 4, method=method)
    np.testing.assert_array_equal(near.labels, far.labels)
    np.testing.assert_allclose(far.representatives - 2.0**40, near.representatives, atol=1e-3)
    assert far.information_loss == pytest.approx(near.information_loss, rel=1e-9)


def test_results_survive_pickling_and_are_frozen():
    grouping = mag.multivariate(np.random.default_rng(13).normal(size=(30, 3)), 4, method="zscore")
    again = pickle.loads(pickle.dumps(grouping))
    assert repr(again) == repr(grouping)
    np.testing.assert_array_equal(again.masked, grouping.masked)
    assert isinstance(grouping, mag.Grouping)
    with pytest.raises(AttributeError, match="cannot be changed: k is read-only"):
        grouping.k = 3
    assert repr(grouping).startswith("<RecordGrouping: 30 records of 3 columns in 7 groups of 4 to ")


def test_arrays_go_out_as_they_came_in(xp):
    X = np.random.default_rng(14).normal(size=(60, 3))
    for method in ANY:
        expected, found = mag.multivariate(X, 5, method=method), mag.multivariate(xp.make(X), 5, method=method)
        for name in ("labels", "sizes", "representatives", "masked"):
            assert isinstance(getattr(found, name), xp.kind)
            np.testing.assert_array_equal(xp.numpy(getattr(found, name)), getattr(expected, name))


def test_details_are_of_the_same_library(xp):
    X = np.random.default_rng(14).normal(size=(60, 3))
    details = mag.multivariate(xp.make(X), 5, method="projection", n_projections=3, return_scores=True).details
    assert isinstance(details["scores"], xp.kind)
    assert tuple(details["directions"].shape) == (3, 4)


def test_a_group_below_k_is_withheld(monkeypatch):
    X = np.zeros((7, 2))
    for labels in ([0, 0, 0, 0, 0, 1, 1], np.arange(7) - 3, [9] * 6 + [-9]):
        monkeypatch.setitem(
            METHODS, "zscore", replace(METHODS["zscore"], group=lambda X, k, labels=labels: np.array(labels))
        )
        with pytest.raises(mag.NotAnonymousError, match="fewer than k=3 records was found and withheld"):
            mag.multivariate(X, 3, method="zscore")
    monkeypatch.setitem(METHODS, "zscore", replace(METHODS["zscore"], group=lambda X, k: np.zeros(6)))
    with pytest.raises(RuntimeError, match=r"labels of shape \(6,\) to n=7 records"):
        mag.multivariate(X, 3, method="zscore")


def test_random_state_is_zero_and_methods_that_draw_nothing_ignore_it():
    X = np.random.default_rng(0).normal(size=(60, 3))
    for method in ("mdav", "zscore", "auto", "anneal"):
        plain = mag.multivariate(X, 4, method=method).labels
        for same in (0, None):
            assert (mag.multivariate(X, 4, method=method, random_state=same).labels == plain).all()
        other = mag.multivariate(X, 4, method=method, random_state=7).labels
        assert (other == plain).all() or method == "anneal"
    with pytest.raises(ValueError, match="random_state must be an integer in"):
        mag.multivariate(X, 4, method="mdav", random_state=-1)


@pytest.mark.parametrize("call", [mag.multivariate, mag.columns])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_a_frame_that_are_no_numbers_are_named(call, make):
    frame = make({"age": [1, 2, 3], "sex": ["f", "m", "f"], "income": [1.5, 2.0, 3.0], "town": ["a", "b", "c"]})
    with pytest.raises(TypeError, match="X must hold real numbers; encode or leave out the columns 'sex', 'town'\\."):
        call(frame, 2)


WRONG = [
    ({"k": 41}, ValueError, r"k must be an integer in \[1, n=40\]; got 41."),
    (
        {"method": "mdva"},
        ValueError,
        "method must be one of 33 names; got 'mdva', did you mean 'mdav', 'md' or 'v_mdav'",
    ),
    ({"gamma": 1}, TypeError, "gamma is not used by method 'zscore'; its options are: integer."),
    ({"time_limit": 1}, TypeError, "time_limit is not used by method 'zscore'"),
    ({"method": "kmeans_cleanup", "integer": False}, TypeError, "integer is not used by method 'kmeans_cleanup'"),
    ({"method": "kmeans_cleanup", "factor": 0}, ValueError, "factor must be a positive number; got 0."),
    ({"method": "kmeans_cleanup", "factor": "1"}, TypeError, "factor must be a positive number; got '1'."),
    ({"method": "tsp", "exchanges": -1}, ValueError, "exchanges must be a number that is not negative; got -1."),
    ({"method": "tsp", "random_state": -1}, ValueError, "random_state must be an integer in"),
    ({"method": "tsp", "random_state": "1"}, TypeError, "random_state must be an integer in"),
    ({"method": "tsp", "time_limit": 0}, ValueError, "time_limit must be None or a positive number of seconds; got 0."),
    ({"method": "tsp", "time_limit": "1"}, TypeError, "time_limit must be None or a positive number"),
    ({"progress": 1}, TypeError, "progress must be True, False or a function; got 1."),
    ({"standardize": 1}, TypeError, "standardize must be True or False; got 1."),
    ({"integer": True}, TypeError, "integer=True needs integers; got float64"),
    ({"backend": "tpu"}, ValueError, "backend must be one of 'auto', 'cpu'.*; got 'tpu'."),
    ({"threads": 0}, ValueError, "threads must be None or a positive integer; got 0."),
    ({"method": "projection", "directions": "random"}, ValueError, "directions must be one of 'gaussian', 'pca', 'uni"),
    ({"method": "projection", "directions": np.ones((2, 4))}, ValueError, r"directions must be .* shape \(d=3, m\)"),
    ({"method": "projection", "directions": np.full((3, 1), np.nan)}, ValueError, "directions must be finite"),
    ({"method": "projection", "n_projections": 0}, ValueError, "n_projections must be an integer in"),
    ({"method": "projection", "directions": "pca", "n_projections": 3}, TypeError, "n_projections is not used by"),
    (
        {"method": "projection", "directions": np.eye(4), "n_projections": 3},
        TypeError,
        "n_projections is not used by an array of directions; leave it out.",
    ),
    ({"method": "projection", "refine": 1.5}, TypeError, "refine must be an integer in"),
    ({"method": "projection", "ordered": 1}, TypeError, "ordered must be True or False; got 1."),
]


@pytest.mark.parametrize(("options", "error", "sentence"), WRONG)
def test_mistakes_get_one_sentence(options, error, sentence):
    X = np.random.default_rng(15).normal(size=(40, 3))
    with pytest.raises(error, match=sentence):
        mag.multivariate(X, **({"k": 3, "method": "zscore"} | options))


def test_wrong_data_get_one_sentence():
    with pytest.raises(ValueError, match=r"X contains 1 NaN and 2 infinite values in columns 0, 1"):
        mag.multivariate([[np.nan, np.inf], [1.0, -np.inf], [1.0, 2.0]], 2)
    with pytest.raises(ValueError, match="X must have two dimensions"):
        mag.multivariate([1.0, 2.0, 3.0], 2)
    wide = np.array([[0, 0], [2**60, 1], [5, 1], [9, 7]])
    with pytest.raises(ValueError, match=r"integer=True needs columns whose range times n is below 2\*\*52"):
        mag.multivariate(wide, 2, method="zscore", integer=True)
    whole = wide[:, 1:].repeat(2, axis=1)
    with pytest.raises(ValueError, match="ordered must be True with integer=True; got False"):
        mag.multivariate(whole, 2, method="projection", integer=True, ordered=False)


def test_options_are_checked_without_a_run(monkeypatch):
    def runs(X, k, *, rho=0.5, threads, progress):
        raise AssertionError("the method ran")

    monkeypatch.setitem(METHODS, "mona", dataclasses.replace(METHODS["mona"], group=runs))
    assert mag.multivariate(np.eye(3), 2, method="mona", rho=0.4).n_groups == 1
    with pytest.raises(ValueError, match="rho must be a number from 0 to 1; got 2"):
        mag.multivariate(np.eye(9), 2, method="mona", rho=2, time_limit=1)


@pytest.mark.parametrize(("n", "d", "k"), [(5, 3, 3), (6, 3, 1), (9, 1, 2)])
def test_options_are_checked_where_the_method_has_nothing_to_do(n, d, k):
    X = np.random.default_rng(0).normal(size=(n, d))
    with pytest.raises(TypeError, match="gamma must be 'search' or a number that is not negative; got 'x'"):
        mag.multivariate(X, k, method="v_mdav", gamma="x")
    assert mag.multivariate(X, k, method="v_mdav", gamma=0.3).sizes.min() >= k
    with pytest.raises(ValueError, match="rho must be a number from 0 to 1; got 2"):
        mag.multivariate(X, k, method="mona", rho=2)
    assert mag.multivariate(X, k, method="projection", directions=np.ones((d, 2))).sizes.min() >= k
