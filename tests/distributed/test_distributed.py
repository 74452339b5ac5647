"""`mag.distributed` on the schedulers of one machine: the groups of `mag` itself, from data in pieces."""

import concurrent.futures
import doctest
import functools
import multiprocessing
import subprocess
import sys

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import mag
import mag.distributed
from mag._backends.cpu import stretches
from mag._lib.rowhash import add_classes, count_classes, shorten, sizes_of_classes
from mag.costs import COSTS
from mag.distributed import _strata, kernels
from mag.distributed._cells import hash_records
from mag.methods.distances import partition as tasks
from tests.data.hostile import integer_columns, real_columns
from tests.data.paths import PROJECT

REALS = ["uniform", "lognormal", "offset", "far_offset", "arange", "constant", "two_values", "duplicates", "quadratic"]
REALS += ["clusters", "one_outlier", "huge", "tiny", "zeros_of_both_signs"]


@pytest.fixture(autouse=True)
def _threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def in_chunks(x, pieces=6):
    """A dask array in uneven chunks, one of them empty."""
    edges = np.unique(np.linspace(0, len(x), pieces + 1) ** 1.3 / len(x) ** 0.3).astype(int)
    sizes = (0, *np.diff(edges).tolist())
    return da.concatenate(
        [da.from_array(x[a : a + n], chunks=-1) for a, n in zip(np.cumsum(sizes) - sizes, sizes, strict=True)]
    )


def assert_as_in_memory(x, k, cost="sse", **options):
    """Labels, masked values and numbers of groups have the very bytes of `mag.univariate`'s."""
    wanted = mag.univariate(x, k, cost=cost)
    chunked = in_chunks(x)
    scaled = mag.distributed.univariate(chunked, k, cost=cost, **options)
    labels, masked, n_groups, total = dask.compute(scaled.labels, scaled.masked, scaled.n_groups, scaled.cost)
    assert scaled.labels.chunks == scaled.masked.chunks == chunked.chunks
    assert (scaled.labels.dtype, scaled.masked.dtype) == (labels.dtype, masked.dtype)
    assert labels.dtype == wanted.labels.dtype
    assert labels.tobytes() == wanted.labels.tobytes()
    assert masked.dtype == wanted.masked.dtype
    assert masked.tobytes() == wanted.masked.tobytes()
    assert n_groups == wanted.n_groups
    assert total == (wanted.cost if cost == "sse_int" else pytest.approx(wanted.cost, rel=1e-12))


# ---- one column


@pytest.mark.parametrize("name", REALS)
@pytest.mark.parametrize("k", [2, 3, 5, 13])
def test_a_column_in_chunks_is_grouped_as_in_memory(name, k):
    assert_as_in_memory(real_columns(3000)[name], k)


OTHERS = [pytest.param(cost, 13, marks=pytest.mark.long) for cost in COSTS if cost != "roundup"]  # slow to compile


@pytest.mark.parametrize(("cost", "k"), [*((cost, 3) for cost in COSTS), ("roundup", 13), *OTHERS])
def test_every_cost_in_chunks(cost, k):
    assert_as_in_memory(np.random.default_rng(k).integers(-300, 300, 2500), k, cost)
    assert_as_in_memory(integer_columns(900)["int8"], k, cost)


@pytest.mark.parametrize("k", [3, 12, 40])
def test_clusters_far_apart(k):
    rng = np.random.default_rng(k)
    assert_as_in_memory(1e9 * rng.integers(0, 20_000 // (2 * k), 20_000) + 1e-6 * rng.random(20_000), k, ranges=9)


@pytest.mark.parametrize("n", [1, 2, 5, 23, 24, 25, 100])
@pytest.mark.parametrize("k", [1, 2, 12])
def test_few_values(n, k):
    if k <= n:
        assert_as_in_memory(np.random.default_rng(n).integers(0, 9, n) * 0.5, k)


@pytest.mark.parametrize("ranges", [1, 2, 40])
def test_any_number_of_ranges(ranges):
    assert_as_in_memory(np.random.default_rng(0).integers(0, 40, 2000) * 1.0, 3, ranges=ranges)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int16, np.uint64, np.bool_])
def test_narrow_and_whole_numbers(dtype):
    x = np.random.default_rng(0).integers(0, 100, 1500)
    assert_as_in_memory((x > 50) if dtype == np.bool_ else x.astype(dtype), 3)


LATER = [pytest.param(13, cost, marks=pytest.mark.long) for cost in ("rounddown", "sae", "sse_int")]


@pytest.mark.parametrize(("k", "cost"), [(3, "sse"), (13, "sse"), (3, "roundup"), (3, "sse_int"), *LATER])
def test_long_columns_are_solved_from_both_ends(k, cost):
    x = np.random.default_rng(k).lognormal(0, 1, 2**21 + 11)
    assert_as_in_memory(np.rint(x * 1000).astype(np.int64) if cost == "sse_int" else x, k, cost)


@pytest.mark.parametrize("k", [3, 13])
def test_long_equally_spaced_columns(k):
    assert_as_in_memory(np.random.default_rng(0).permutation(2**21 + 11) * 1.0, k)


def guess_and_follow(x, k, pieces=6):
    """Stretches of a sorted column as guessed, and as they are."""
    n, ahead = x.size, stretches.run_ahead(k)
    edges = np.linspace(0, n, pieces + 1).astype(int).tolist()
    columns = [stretches.boundary(edge, n, k) for edge in edges[:-1]] + [n]
    guessed, true, state = [], [], stretches.block.fresh(k)
    for q in range(pieces):
        first = max(edges[q] - stretches.tail(k, ahead), 0)
        values = x[first : edges[q + 1]]
        guessed.append(stretches.speculate(values, first, columns[q], columns[q + 1], ahead, "sse", k))
        true.append(stretches.follow(guessed[-1], state, values, first, "sse", k))
        state = true[-1].states[-1]
    return guessed, true


@pytest.mark.parametrize("k", [3, 13])
def test_random_stretches_are_kept_and_equally_spaced_ones_are_followed(k):
    guessed, true = guess_and_follow(np.sort(np.random.default_rng(k).random(60_000)), k)
    assert all(a is b for a, b in zip(guessed, true, strict=True))
    guessed, true = guess_and_follow(np.arange(60_000.0), k)
    assert not all(a is b for a, b in zip(guessed, true, strict=True))


def test_a_stretch_is_followed_no_further_than_to_where_it_meets_the_truth():
    x = np.sort(np.random.default_rng(0).random(40_000))
    wrong = stretches.speculate(x, 0, 1280, x.size, 0, "sse", 11)  # from a forced cut without any run ahead
    state = stretches.solve(x, 0, 0, 1280, "sse", 11, stretches.block.fresh(11)).states[-1]
    right = stretches.solve(x, 0, 1280, x.size, "sse", 11, state)
    met = stretches.follow(wrong, state, x, 0, "sse", 11)
    assert met is not wrong
    assert met.sizes.tobytes() == right.sizes.tobytes() != wrong.sizes.tobytes()
    assert met.states[-1] is wrong.states[-1]


def test_a_short_run_ahead_costs_time_and_nothing_else(monkeypatch):
    x = np.random.default_rng(0).random(20_000)
    monkeypatch.setattr(stretches, "run_ahead", lambda k: 0)
    assert_as_in_memory(x, 11)
    monkeypatch.setattr(stretches, "same", lambda state, other: True)  # without the certificate
    with pytest.raises(AssertionError):
        assert_as_in_memory(x, 11)


def test_mistakes_in_a_column():
    x = np.random.default_rng(0).random(100)
    with pytest.raises(
        TypeError, match=r"x must be a dask array, a dask dataframe or a Spark DataFrame; got a ndarray"
    ):
        mag.distributed.univariate(x, 3)
    chunked = da.from_array(x, chunks=30)
    with pytest.raises(ValueError, match=r"k must be an integer in \[1, n=100\]; got 101"):
        mag.distributed.univariate(chunked, 101)
    with pytest.raises(ValueError, match=r"x must have chunks of known sizes"):
        mag.distributed.univariate(chunked[chunked > 0.5], 3)
    with pytest.raises(TypeError, match=r"cost 'sse_int' needs integers"):
        mag.distributed.univariate(chunked, 3, cost="sse_int")
    x[[3, 50, 99]], x[7] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"^x contains 3 NaN and 1 infinite values; drop or impute them first.$"):
        mag.distributed.univariate(da.from_array(x, chunks=30), 3).labels.compute()
    for wide, cost in ((2**60, "sse"), (2**30, "sse_int")):
        numbers = da.from_array(np.random.default_rng(0).integers(0, wide, 100), chunks=30)
        with pytest.raises(ValueError, match=r"use mag.univariate for wider ones"):
            mag.distributed.univariate(numbers, 3, cost=cost).labels.compute()
    with pytest.raises(ValueError, match=r"differences whose squares underflow"):
        mag.distributed.univariate(da.from_array(np.repeat([0.0, 5e-200, 1.0], 5) + 0.0, chunks=4), 4).labels.compute()


# ---- columns


def test_columns_of_an_array_are_grouped_as_in_memory():
    X = np.random.default_rng(0).normal(size=(700, 7))
    chunked = da.from_array(X, chunks=(300, 3))
    wanted = mag.columns(X, 5)
    for width in (None, 1, 2, 7):
        scaled = mag.distributed.columns(chunked, 5, columns_per_task=width)
        assert scaled.labels.chunks == scaled.masked.chunks == chunked.chunks
        labels, masked, n_groups = dask.compute(scaled.labels, scaled.masked, scaled.n_groups)
        assert labels.dtype == scaled.labels.dtype == wanted.labels.dtype
        assert masked.dtype == scaled.masked.dtype == wanted.masked.dtype
        np.testing.assert_array_equal(labels, wanted.labels)
        np.testing.assert_array_equal(masked, wanted.masked)
        np.testing.assert_array_equal(n_groups, wanted.n_groups)


def test_every_column_has_its_own_k_and_cost():
    X = np.random.default_rng(0).integers(0, 1000, size=(300, 3))
    options = {"k": (2, 5, 9), "cost": ("sse", "roundup", "sse_int")}
    wanted = mag.columns(X, **options)
    scaled = mag.distributed.columns(da.from_array(X, chunks=(100, 2)), **options)
    np.testing.assert_array_equal(scaled.labels.compute(), wanted.labels)
    np.testing.assert_array_equal(scaled.masked.compute(), wanted.masked)
    assert scaled.masked.dtype == wanted.masked.dtype
    assert scaled.k == (2, 5, 9)


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": rng.lognormal(3, 1, n),
            "debt": rng.integers(-(10**6), 10**6, n),
            "rooms": pd.array(rng.integers(1, 9, n), dtype="Int8"),
            "height": rng.normal(170, 10, n).astype(np.float32),
            "share": pd.array(rng.random(n), dtype="double[pyarrow]"),
            "town": pd.Categorical(rng.choice(["A", "B"], n), categories=["A", "B", "none"]),
            "name": rng.choice(["x", "y"], n),
        },
        index=pd.Index(np.sort(rng.random(n)), name="when"),
    )


KEEP = ["town", "name"]


def assert_same_shape(scaled, frame):
    """The frame that comes out is like the one that came in, in everything but its numbers."""
    masked = scaled.compute()
    pd.testing.assert_index_equal(masked.index, frame.compute().index)
    pd.testing.assert_series_equal(masked.dtypes, frame.compute().dtypes)
    pd.testing.assert_series_equal(scaled.dtypes, frame.dtypes)
    assert scaled.divisions == frame.divisions
    assert [len(part) for part in dask.compute(*scaled.to_delayed())] == [
        len(p) for p in dask.compute(*frame.to_delayed())
    ]
    return masked


def test_columns_of_a_frame_keep_dtypes_partitions_and_index():
    table = people()
    frame = dd.from_pandas(table, npartitions=4)
    scaled = mag.distributed.columns(frame, 5, keep=KEEP, columns_per_task=2)
    masked = assert_same_shape(scaled.masked, frame)
    labels = scaled.labels.compute()
    assert (labels.dtypes == np.int32).all()
    for name in ("income", "debt", "rooms", "height", "share"):
        wanted = mag.univariate(table[name].to_numpy(), 5)
        np.testing.assert_array_equal(labels[name], wanted.labels)
        assert masked[name].value_counts().min() >= 5
        away = np.abs(masked[name].to_numpy(np.float64) - wanted.masked)
        assert away.max() <= (0.5 if masked[name].dtype.kind == "i" else 0)
    pd.testing.assert_frame_equal(masked[KEEP], frame[KEEP].compute())


@pytest.mark.parametrize("cost", ["sse", "sae", "maxdist"])
def test_integers_are_rounded_half_away_from_zero(cost):
    values = np.array([-(2**60) - 1, -(2**60), -2, -1, 1, 2, 2**60, 2**60 + 1])
    masked = kernels.mask_column(values, np.repeat(np.arange(4), 2), cost, keep=True)
    assert masked.tolist() == [-(2**60) - 1] * 2 + [-2] * 2 + [2] * 2 + [2**60 + 1] * 2


def test_mistakes_in_columns():
    X = np.random.default_rng(0).random((50, 3))
    with pytest.raises(
        TypeError, match=r"X must be a dask array, a dask dataframe or a Spark DataFrame; got a ndarray"
    ):
        mag.distributed.columns(X, 3)
    with pytest.raises(ValueError, match=r"keep is not used by dask arrays"):
        mag.distributed.columns(da.from_array(X), 3, keep=["a"])
    X[:2, 1], X[3, 2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"^X contains 2 NaN and 1 infinite values in columns 1, 2;"):
        mag.distributed.columns(da.from_array(X, chunks=(20, 1)), 3, columns_per_task=3).labels.compute()
    frame = dd.from_pandas(people(), npartitions=3)
    with pytest.raises(ValueError, match=r"got 'name' in addition; keep or drop them"):
        mag.distributed.columns(frame, 3, columns=["income", "debt", "rooms", "height", "share"], keep="town")
    with pytest.raises(ValueError, match=r"^columns must name every column once; got 'debt' more than once\.$"):
        mag.distributed.columns(frame[["debt", "name"]], 3, columns=["debt", "debt"], keep="name")
    with pytest.raises(ValueError, match=r"^columns and keep must not overlap; got 'debt', 'name' in both\.$"):
        mag.distributed.columns(frame[["debt", "name"]], 3, columns=["debt", "name"], keep=["debt", "name"])
    with pytest.raises(
        ValueError,
        match=r"^keep must name columns of X; got 'Town', 'y', which it does not have, did you mean 'town'\?$",
    ):
        mag.distributed.columns(frame, 3, keep=["Town", "y"])
    with pytest.raises(TypeError, match=r"columns must hold real numbers; got dtype category in column 'town'"):
        mag.distributed.columns(frame, 3, keep="name")
    with pytest.raises(ValueError, match=r"k must be an integer in \[1, n=600\]; got 601"):
        mag.distributed.columns(frame, 601, keep=KEEP).labels.compute()


def odd_partition(change):
    """A frame whose second partition of four differs from the others."""
    table = people()
    parts = [table.iloc[i : i + 150] for i in range(0, 600, 150)]
    parts[1] = change(parts[1].copy())
    return dd.from_map(lambda i: parts[i], range(4), meta=table.iloc[:0])


@pytest.mark.parametrize("function", [mag.distributed.columns, mag.distributed.multivariate])
def test_a_partition_that_differs_is_one_clear_error(function):
    other = odd_partition(lambda part: part.assign(income=part["income"].astype(str).astype(object)))
    with pytest.raises(
        TypeError, match=r"^column 'income' must have dtype float64 in all partitions; got (object|string) in 1 of 4"
    ):
        function(other, 3, keep=KEEP).masked.compute()
    missing = odd_partition(lambda part: part.assign(income=part["income"].where(part["rooms"] != 3)))
    count = int((people().iloc[150:300]["rooms"] == 3).sum())
    with pytest.raises(ValueError, match=rf"^column 'income' contains {count} NaN values; drop or impute them first.$"):
        function(missing, 3, keep=KEEP).masked.compute()
    missing = odd_partition(lambda part: part.assign(rooms=part["rooms"].where(part["debt"] > 0)))
    with pytest.raises(ValueError, match=r"^column 'rooms' contains \d+ NaN values"):
        function(missing, 3, keep=KEEP).masked.compute()


# ---- records


def assert_k(X, k, pieces=7, **options):
    """Groups of k or more, counted from the labels and from the masked records."""
    chunked = da.from_array(X, chunks=(max(len(X) // pieces, 1), 2))
    scaled = mag.distributed.multivariate(chunked, k, **options)
    assert scaled.masked.chunks == chunked.chunks
    assert scaled.labels.chunks == chunked.chunks[:1]
    labels, masked, n_groups, loss = dask.compute(
        scaled.labels, scaled.masked, scaled.n_groups, scaled.information_loss
    )
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.size == n_groups
    assert mag.distributed.verify(scaled.masked, k) == mag.privacy.k_anonymity(masked) >= k
    means = np.array([X[labels == g].mean(axis=0) for g in range(min(n_groups, 50))])
    np.testing.assert_allclose(means, np.array([masked[labels == g][0] for g in range(len(means))]), rtol=1e-12)
    assert loss == pytest.approx(mag.metrics.information_loss(X, masked), abs=1e-9)
    return loss


@pytest.mark.parametrize("method", ["mona", "ona_star"])
def test_records_lose_about_as_much_as_in_memory(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 4)) @ rng.normal(size=(4, 4)) + 1e6
    loss = assert_k(X, 4, method=method, parts=8)
    assert loss < 1.06 * mag.multivariate(X, 4, method="mona").information_loss


@pytest.mark.parametrize("k", [1, 2, 7])
def test_tied_constant_and_few_records(k):
    rng = np.random.default_rng(k)
    tied = rng.integers(0, 2, (900, 3))
    tied[:, 0] = 1
    for X in (tied, np.ones((500, 2)), rng.random((15, 2)), rng.random((13, 2)), rng.integers(0, 9, (300, 2)) * 1e300):
        assert_k(X, k, parts=16)


def test_an_unlucky_sample_is_repaired(monkeypatch):
    """All the sample from one corner: most parts get next to nothing."""
    monkeypatch.setattr(
        tasks,
        "sample_records",
        lambda records, chunk, *_: tasks.add_chance(
            np.random.default_rng(chunk).normal(3.0, 0.1, (50, len(records))), np.arange(50)
        ),
    )
    X = np.random.default_rng(0).normal(size=(2000, 3))
    scaled = mag.distributed.multivariate(da.from_array(X, chunks=(300, 3)), 20, parts=32)
    with dask.config.set(scheduler="sync"):
        labels = scaled.labels.compute()
    assert np.bincount(labels).min() >= 20


@pytest.mark.parametrize("seed", range(20))
def test_repaired_parts_have_2k_records(seed):
    rng = np.random.default_rng(seed)

    def tree(depth):
        return None if depth == 0 or rng.random() < 0.2 else tasks.SplitTree(0, 0.0, (tree(depth - 1), tree(depth - 1)))

    def leaves(tree):
        return 1 if tree is None else sum(map(leaves, tree.halves))

    grown = tree(5)
    counts = rng.integers(0, 12, (3, leaves(grown))) * rng.integers(0, 2, leaves(grown))
    part = tasks.repair_parts(list(counts), grown, 10)
    sizes = np.bincount(part, counts.sum(axis=0))
    assert sizes.min() >= 20 or sizes.size == 1
    assert (np.diff(part) >= 0).all()


def test_units_do_not_feel_offsets_and_magnitudes():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, (1000, 3)) * 1.0
    plain = mag.distributed.multivariate(da.from_array(X, chunks=(300, 3)), 5).labels.compute()
    for other in (X + 2.0**40, X * 2.0**900, X * [1.0, 2.0**-700, -4.0]):
        moved = mag.distributed.multivariate(da.from_array(other, chunks=(300, 3)), 5).labels.compute()
        if (other >= 0).all():
            np.testing.assert_array_equal(moved, plain)
        assert np.bincount(moved).min() >= 5


def test_records_of_a_frame_keep_dtypes_partitions_and_index():
    frame = dd.from_pandas(people(), npartitions=4)
    scaled = mag.distributed.multivariate(frame, 5, keep=KEEP)
    masked = assert_same_shape(scaled.masked, frame)
    labels = scaled.labels.compute()
    assert labels.value_counts().min() >= 5
    pd.testing.assert_index_equal(labels.index, masked.index)
    assert mag.distributed.verify(scaled.masked, 5, columns=["income", "debt", "rooms", "height", "share"]) >= 5
    debts = people()["debt"].groupby(labels.to_numpy()).mean()
    assert np.abs(masked["debt"].groupby(labels).first() - debts).max() <= 0.5
    pd.testing.assert_frame_equal(masked[KEEP], frame[KEEP].compute())


def test_mistakes_with_records():
    X = da.from_array(np.random.default_rng(0).random((50, 3)), chunks=(20, 3))
    with pytest.raises(ValueError, match=r"method must be one of 'mona', 'ona_star'; got 'mdav'"):
        mag.distributed.multivariate(X, 3, method="mdav")
    with pytest.raises(ValueError, match=r"rho is not used by method 'ona_star'"):
        mag.distributed.multivariate(X, 3, method="ona_star", rho=0.4)
    with pytest.raises(ValueError, match=r"parts must be a power of two; got 3"):
        mag.distributed.multivariate(X, 3, parts=3)
    with pytest.raises(ValueError, match=r"X must have two columns or more; got one"):
        mag.distributed.multivariate(X[:, :1], 3)
    with pytest.raises(ValueError, match=r"column 1 contains 50 NaN values"):
        mag.distributed.multivariate(X * [1, np.nan, 1], 3).labels.compute()


@pytest.mark.parametrize("dtype", ["i8", "u1", "?", "f4"])
def test_parts_without_records_are_no_error(dtype):
    X = np.random.default_rng(0).integers(0, 50, (20, 2)).astype(dtype)
    scaled = mag.distributed.multivariate(da.from_array(X, chunks=(5, 2)), 4)
    assert mag.distributed.verify(scaled.masked, 4) >= 4
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b"]), npartitions=4)
    if dtype != "?":
        assert mag.distributed.verify(mag.distributed.multivariate(frame, 4).masked, 4) >= 4


# ---- strata and weights


def survey(n=3000, seed=0):
    """Strata of all sizes from 20 on, of text with missing cells and of categories, which no partition has all of."""
    rng = np.random.default_rng(seed)
    town = np.minimum(rng.geometric(0.12, n), 12)
    table = pd.DataFrame(
        {
            "income": rng.lognormal(3, 1, n) * town,
            "town": np.array(["A", None, *"CDEFGHIJKLM"], object)[town],
            "age": rng.integers(-40, 40, n),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
            "weight": rng.integers(0, 5, n).astype(np.float32),
            "name": rng.choice(["x", "y"], n),
        }
    )
    return table[table.groupby(["town", "sex"], dropna=False, observed=True)["age"].transform("size") >= 20]


SURVEYED = {"by": ["town", "sex"], "weights": "weight", "keep": "name"}
MASKED = ["income", "age"]


@pytest.mark.parametrize("options", [{"parts": 1}, {"parts": 4}, {"parts": 64}, {"method": "ona_star"}])
def test_groups_do_not_mix_strata(options):
    table, k = survey(), 5
    frame = dd.from_pandas(table, npartitions=7, sort=False)
    scaled = mag.distributed.multivariate(frame, k, **SURVEYED, **options)
    masked = assert_same_shape(scaled.masked, frame)
    labels, (n_groups, loss) = scaled.labels.compute(), dask.compute(scaled.n_groups, scaled.information_loss)
    unchanged = ["town", "sex", "weight", "name"]
    pd.testing.assert_frame_equal(masked[unchanged], frame.compute()[unchanged])
    sizes = labels.value_counts()
    assert (sizes.min(), len(sizes)) >= (k, n_groups)
    strata = pd.Series(pd.factorize(table["town"].astype(str) + table["sex"].astype(str))[0], table.index)
    assert (strata.groupby(labels).nunique() == 1).all()
    smallest = masked.groupby(["town", "sex", *MASKED], dropna=False, observed=True).size().min()
    assert smallest == mag.distributed.verify(scaled.masked, k, columns=["town", "sex", *MASKED]) >= k
    means = table[MASKED].astype(float)
    for _, rows in table.groupby(labels):
        weights = rows["weight"] if rows["weight"].sum() else None
        means.loc[rows.index] = np.average(rows[MASKED], axis=0, weights=weights)
    np.testing.assert_allclose(masked["income"], means["income"], rtol=1e-12)
    assert (masked["age"] - means["age"]).abs().max() <= 0.5 + 1e-12
    assert loss == pytest.approx(mag.metrics.information_loss(table[MASKED], means), rel=1e-9)


def test_one_part_gives_the_same_groups_from_any_number_of_partitions():
    table = survey()
    results = []
    for partitions in (1, 2, 7):
        frame = dd.from_pandas(table, npartitions=partitions, sort=False)
        scaled = mag.distributed.multivariate(frame, 5, **SURVEYED, parts=1)
        results.append(dask.compute(scaled.labels, scaled.masked))
    for labels, masked in results[1:]:
        pd.testing.assert_series_equal(labels, results[0][0])
        pd.testing.assert_frame_equal(masked, results[0][1])


@pytest.mark.parametrize("parts", [1, 8])
def test_strata_lose_about_as_much_as_in_memory(parts):
    table = survey().drop(columns=["weight", "name"])
    frame = dd.from_pandas(table, npartitions=4, sort=False)
    loss = mag.distributed.multivariate(frame, 5, by=["town", "sex"], parts=parts).information_loss.compute()
    wanted = mag.microaggregate(table, 5, MASKED, by=["town", "sex"], method="mona")
    assert loss < 1.1 * mag.metrics.information_loss(table[MASKED], wanted.data[MASKED])


def test_equal_weights_are_no_weights():
    table = survey().assign(weight=4)
    frame = dd.from_pandas(table, npartitions=3, sort=False)
    weighted = mag.distributed.multivariate(frame, 5, weights="weight", keep=["town", "sex", "name"]).masked.compute()
    plain = mag.distributed.multivariate(frame, 5, keep=["town", "sex", "name", "weight"]).masked.compute()
    pd.testing.assert_frame_equal(weighted, plain, rtol=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_parts_hold_whole_strata_or_2k_records_of_them(seed):
    """Even where the sample is unlucky: of some strata it holds nothing, of others the records at one end."""
    rng, k, parts = np.random.default_rng(seed), 5, int(2 ** np.random.default_rng(seed).integers(0, 6))
    sizes = rng.integers(k, 30 * k, rng.integers(1, 30))
    strata = rng.permutation(np.repeat(np.arange(sizes.size), sizes))
    records = [rng.random(strata.size), rng.random(strata.size)]
    transform = tasks.locate_columns([tasks.examine_chunk(records)], ["a", "b"], k)
    rows = np.flatnonzero((strata % 3 > 0) & (records[0] > rng.random()))
    z = tasks.add_chance(tasks.standardize_records([column[rows] for column in records], transform), rows)
    tree = tasks.grow_forest([np.column_stack([z, strata[rows]])], sizes, transform, parts, k)
    leaves = tasks.assign_leaves(records, 0, transform, tree, strata)
    counts = [tasks.count_leaves(leaves, parts, sizes)]
    repaired = tasks.repair_parts(counts, tree, k)
    assert len(set(zip(repaired[leaves], strata, strict=True))) == len(set(repaired[leaves]))
    part = tasks.fill_parts(counts, repaired, parts)[leaves]
    assert part.max() < parts
    found = np.zeros((sizes.size, parts), int)
    np.add.at(found, (strata, part), 1)
    assert ((found == 0) | (found >= 2 * k) | (found == sizes[:, None])).all()


def test_strata_that_share_a_word_of_their_hash_are_apart(monkeypatch):
    def collide(frame):
        first, second = hash_records(frame)
        return np.zeros_like(first), second

    monkeypatch.setattr(_strata, "hash_records", collide)
    frame = dd.from_pandas(survey(), npartitions=3, sort=False)
    scaled = mag.distributed.multivariate(frame, 5, **SURVEYED)
    with dask.config.set(scheduler="sync"):
        assert mag.distributed.verify(scaled.masked, 5, columns=["town", "sex", *MASKED]) >= 5


def test_weighted_means_of_integers_are_rounded_half_away_from_zero():
    values, labels = np.array([-3, -2, 2, 3, 0, 2**62 + 1]), np.array([0, 0, 1, 1, 2, 2])
    masked = kernels.mask_records(values, labels, True, np.array([1.0, 1.0, 1.0, 1.0, 0.0, 2.0]))
    assert masked.tolist() == [-3, -3, 3, 3, 2**62 + 1, 2**62 + 1]
    assert kernels.mask_records(values[:4], labels[:4], True, np.array([3.0, 1, 0, 0])).tolist() == [-3, -3, 3, 3]


def test_mistakes_with_strata_and_weights():
    table = survey()
    frame = dd.from_pandas(table, npartitions=3, sort=False)
    sizes = table.groupby(["town", "sex"], dropna=False, observed=True).size()
    k = int(sizes.sort_values().iloc[1]) + 1
    small = sizes[sizes < k]
    with pytest.raises(
        mag.InputValueError,
        match=rf"^every stratum must have at least k={k} records: {len(small)} of {len(sizes)} strata are too small, "
        rf"with {small.sum()} of {len(table)} records in all; use fewer columns in by, or a smaller k\.$",
    ):
        mag.distributed.multivariate(frame, k, **SURVEYED).masked.compute()
    with pytest.raises(ValueError, match=r"^columns and by must not overlap; got 'age' in both\.$"):
        mag.distributed.multivariate(frame, 5, columns=MASKED, by="age", keep=["town", "sex", "weight", "name"])
    with pytest.raises(ValueError, match=r"^by must name columns of X; got 'Town', which it does not have, did you"):
        mag.distributed.multivariate(frame, 5, by="Town")
    with pytest.raises(ValueError, match=r"^weights must name a column of X; got \['weight'\]\.$"):
        mag.distributed.multivariate(frame, 5, by=["town", "sex"], keep="name", weights=["weight"])
    with pytest.raises(TypeError, match=r"^weights must hold real numbers; got dtype category in column 'sex'\.$"):
        mag.distributed.multivariate(frame, 5, by="town", keep="name", weights="sex")
    X = da.from_array(table[MASKED].to_numpy(), chunks=(500, 2))
    for option in ("by", "weights"):
        with pytest.raises((ValueError, TypeError), match=rf"^{option} is not used by dask arrays"):
            mag.distributed.multivariate(X, 5, **{option: 1})
    for weight, sentence in (
        (table["weight"] - 1, rf"weights must not be negative; got {(table['weight'] == 0).sum()} negative\."),
        (0, r"weights must not all be zero; got only zeros\."),
        (table["weight"].where(table["weight"] > 0), r"column 'weight' contains \d+ NaN values; drop or impute them"),
    ):
        other = dd.from_pandas(table.assign(weight=weight), npartitions=3, sort=False)
        with pytest.raises(mag.InputValueError, match=f"^{sentence}"):
            mag.distributed.multivariate(other, 5, **SURVEYED).masked.compute()


# ---- units


def visits(seed, n=1500):
    """Visits of people who have one to many, in wards; people are unevenly many."""
    rng = np.random.default_rng(seed)
    person = np.minimum(rng.geometric(0.01, n), 300)
    table = pd.DataFrame({"person": person, "age": 20.0 + person % 50, "cost": rng.lognormal(3, 1, n)})
    return table.assign(ward=rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]))


def few_people(masked, person, names):
    """The smallest number of different people of a class, counted plainly."""
    found = {}
    for own, *cells in zip(person, *(masked[name] for name in names), strict=True):
        found.setdefault(tuple(cells), set()).add(own)
    return min(map(len, found.values()))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("parts", [1, 8, 64])
@pytest.mark.parametrize("by", [(), ("ward",)])
def test_groups_have_k_units_whatever_the_partitions(seed, parts, by):
    table, k = visits(seed), 2 + seed
    own = table["person"] if seed % 2 else "p" + table["person"].astype(str)
    frame = dd.from_pandas(table.assign(person=own), npartitions=1 + seed, sort=False)
    frame = frame if by else frame.drop(columns="ward")
    scaled = mag.distributed.multivariate(frame, k, by=by, unit="person", parts=parts, random_state=seed)
    assert list(scaled.masked.columns) == [name for name in frame.columns if name != "person"]
    masked = scaled.masked.compute()
    assert list(masked.columns) == list(scaled.masked.columns)
    names = [*by, "age", "cost"]
    smallest = few_people(masked, table["person"], names)
    assert smallest == mag.distributed.verify(scaled.masked, k, names, unit=frame["person"]) >= k
    sizes = table["person"].groupby(scaled.labels.compute()).nunique()
    assert (sizes.min(), len(sizes)) >= (k, scaled.n_groups.compute())


@pytest.mark.parametrize("seed", range(10))
def test_repaired_parts_have_2k_units(seed):
    """Even where the sample is unlucky; each chunk lists no more than 2k units of a leaf."""
    rng, k, parts = np.random.default_rng(seed), 4, 32
    records, units = [rng.random(900), rng.random(900)], rng.integers(0, rng.integers(8, 300), 900).astype(np.uint64)
    strata = np.sort(rng.integers(0, 3, 900))
    sizes = np.bincount(strata)
    transform = tasks.locate_columns([tasks.examine_chunk(records)], ["a", "b"], k)
    rows = np.flatnonzero(records[0] > rng.random())
    z = tasks.add_chance(tasks.standardize_records([column[rows] for column in records], transform), rows)
    tree = tasks.grow_forest([np.column_stack([z, strata[rows]])], sizes, transform, parts, k)
    leaves = tasks.assign_leaves(records, 0, transform, tree, strata)
    chunks = np.array_split(np.arange(900), 3)
    listed = [tasks.list_units(leaves[rows], units[rows], k) for rows in chunks]
    assert max(np.unique(one.leaf, return_counts=True)[1].max() for one in listed) <= 2 * k
    part = tasks.repair_parts([tasks.count_leaves(leaves, parts, sizes)], tree, k, listed)[leaves]
    for p in np.unique(part):
        own = part == p
        assert np.unique(strata[own]).size == 1
        whole = strata == strata[own][0]
        assert np.unique(units[own]).size >= 2 * k or (own == whole).all()


def test_units_whose_records_differ_lose_little():
    """Not all records of a person have to share a group: their means would lose nearly everything."""
    table = visits(0).drop(columns="ward")
    frame = dd.from_pandas(table.assign(age=table["cost"] ** 2), npartitions=3, sort=False)
    loss = mag.distributed.multivariate(frame, 5, unit="person").information_loss.compute()
    assert loss < 0.1
    wanted = mag.microaggregate(frame.compute(), 5, ["age", "cost"], unit="person").utility(False)["information_loss"]
    assert loss < 2 * wanted


def test_verify_counts_a_unit_of_several_partitions_once():
    table = pd.DataFrame({"person": [1, 2, 1, 2, 3, 1], "x": [5, 5, 5, 5, 6, 6]})
    for partitions in (1, 2, 6):
        frame = dd.from_pandas(table, npartitions=partitions)
        assert mag.distributed.verify(frame, 2, unit="person") == 2
        assert mag.distributed.verify(frame["x"], 2, unit=frame["person"]) == 2
        with pytest.raises(mag.NotAnonymousError, match=r"must have k=3 units or more; got 2, in 2 of 2 classes\."):
            mag.distributed.verify(frame, 3, unit="person")
    assert mag.distributed.verify(frame, 1) == 1  # all columns: the person as well
    narrow = dd.from_delayed([dask.delayed(table[:3].astype({"person": "int8"})), dask.delayed(table[3:])])
    assert mag.distributed.verify(narrow, 2, unit="person") == 2


def test_mistakes_with_units():
    table = visits(0)
    frame = dd.from_pandas(table, npartitions=3, sort=False)
    group = functools.partial(mag.distributed.multivariate, by="ward")
    with pytest.raises(mag.InputValueError, match="every stratum must have at least k=130 units: 1 has fewer; use few"):
        group(frame, 130, unit="person").masked.compute()
    with pytest.raises(mag.InputValueError, match=r"k must be an integer in \[1, the number of units=\d+\]; got 400\."):
        group(frame.drop(columns="ward"), 400, by=(), unit="person").masked.compute()
    with pytest.raises(mag.InputValueError, match="unit must name columns of X; got 'doctor'"):
        group(frame, 5, unit="doctor")
    for cells in (table["person"].to_numpy(), frame["person"]):
        for call in (group, mag.distributed.microaggregate):
            with pytest.raises(mag.InputValueError, match=rf"unit must name one column of X; got {len(table)}\.$"):
                call(frame, 5, unit=cells)
    with pytest.raises(mag.InputValueError, match="by and unit must not overlap; got 'ward'"):
        group(frame, 5, unit="ward", keep="person")
    wrong = {
        "unit must not have missing cells; got 2 in 'person'": pd.array([None, None, *table["person"][2:]], "Int64"),
        "unit must hold integers or text; got dtype float64 in 'person', cast it": table["person"] / 1,
        "unit must hold integers or text; got dtype object in 'person'": [1, "1", *table["person"][2:]],
    }
    for sentence, own in wrong.items():
        with dask.config.set({"dataframe.convert-string": False}):
            other = dd.from_pandas(table.assign(person=own), npartitions=3, sort=False)
        with pytest.raises(mag.InputError, match=sentence):
            group(other, 5, unit="person").masked.compute()
        with pytest.raises(mag.InputError, match=sentence):
            mag.distributed.verify(other, 1, unit="person")
    mixed = dd.from_delayed([dask.delayed(table), dask.delayed(table.astype({"person": str}))], verify_meta=False)
    with pytest.raises(mag.InputTypeError, match="must have one dtype in all partitions; got integers and text in 'pe"):
        mag.distributed.verify(mixed, 1, unit="person")
    with pytest.raises(mag.InputValueError, match="unit must have the partitions of X; got 1, of X there are 3"):
        mag.distributed.verify(frame, 1, unit=dd.from_pandas(table["person"], npartitions=1))
    with pytest.raises(mag.InputValueError, match="unit must name a column of X or be a dask series; got 'doctor'"):
        mag.distributed.verify(frame, 1, unit="doctor")
    short = dd.from_delayed([dask.delayed(table["person"][:2])] * 3, meta=table["person"])
    with pytest.raises(mag.InputValueError, match="unit must have as many records as X in every partition; got 2 and"):
        mag.distributed.verify(frame, 1, unit=short)
    array = da.ones((6, 2))
    for compute in (
        lambda: mag.distributed.multivariate(array, 2, unit="person"),
        lambda: mag.distributed.verify(array, 2, unit="person"),
    ):
        with pytest.raises(mag.InputValueError, match="unit is not used by dask arrays"):
            compute()


# ---- counting


@pytest.mark.parametrize("seed", range(4))
def test_verify_counts_as_the_recount_of_tables_does(seed):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "number": rng.choice([0.0, -0.0, 1.0, np.nan], 200),
            "whole": pd.array(rng.choice([1, 2, None], 200), dtype="Int64"),
            "town": pd.Categorical(rng.choice(["A", "B"], 200)),
            "text": rng.choice(["x", "1", None], 200),
            "day": rng.choice(np.array(["2020-01-01", "NaT"], "M8[s]"), 200),
        }
    )
    for names in (["number"], ["whole", "town"], ["text", "day"], list(table.columns)):
        counted = mag.distributed.verify(dd.from_pandas(table, npartitions=3), 1, columns=names)
        assert counted == mag.verify.recount(table, names)


def test_verify_raises_below_k():
    X = np.repeat(np.arange(10.0), 4)
    assert mag.distributed.verify(da.from_array(X, chunks=7), 4) == 4
    X[5] = 77.0
    with pytest.raises(
        RuntimeError, match=r"^The smallest class of equal records must have k=4 .* got 1, in 2 of 11 cl"
    ):
        mag.distributed.verify(da.from_array(X, chunks=7), 4)
    Y = np.column_stack([np.repeat([1, 2], 4), np.arange(8)])
    assert mag.distributed.verify(da.from_array(Y, chunks=(3, 1)), 4, columns=[0]) == 4
    with pytest.raises(RuntimeError):
        mag.distributed.verify(da.from_array(Y, chunks=(3, 1)), 2)


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ([], r"columns must name at least one column of X; got none\.$"),
        ("c", r"columns must name columns of X; got 'c', which it does not have"),
        (["a", "a"], r"columns must name every column once; got 'a' more than once\.$"),
    ],
)
def test_records_are_compared_in_columns_of_the_table(columns, sentence):
    """Records that are compared in no column would all be equal."""
    frame = dd.from_pandas(pd.DataFrame({"a": [1, 2], "b": [1, 1]}), npartitions=2)
    for unit in (None, "b", frame["b"]):
        with pytest.raises(mag.InputValueError, match=sentence):
            mag.distributed.verify(frame, 1, columns=columns, unit=unit)
    with pytest.raises(mag.InputValueError, match="columns must name at least one column of X; got none"):
        mag.distributed.verify(frame[["b"]], 1, unit="b")
    for wrong in ([], [2], "a"):
        with pytest.raises(mag.InputValueError, match="columns must name"):
            mag.distributed.verify(da.ones((4, 2), chunks=2), 1, columns=wrong)


def test_different_records_have_different_hashes():
    grid = np.stack(np.meshgrid(np.arange(60), np.arange(60), np.arange(60) * 0.5), -1).reshape(-1, 3)
    for hashes in hash_records(grid):  # each half by itself
        assert np.unique(hashes).size == len(grid)
        assert np.unique(hashes & np.uint64(2**40 - 1)).size > 0.999 * len(grid)
        assert np.unique(hashes >> np.uint64(24)).size > 0.999 * len(grid)
    swapped = count_classes(hash_records(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]])))
    assert sorted(swapped.sizes.tolist()) == [1, 2]
    mixed = pd.DataFrame({"x": pd.Series([1, "1", 1.0, None, np.nan, pd.NA, pd.NaT], dtype=object)})
    for hashes in hash_records(mixed):
        assert np.unique(hashes).size == len(mixed)


def test_classes_that_share_a_word_of_their_hash_are_counted_apart():
    first, second = np.array([7, 7, 7, 1, 7], np.uint64), np.array([3, 2, 3, 2, 2], np.uint64)
    for words in ((first, second), (second, first)):
        assert sorted(count_classes(words).sizes.tolist()) == [1, 2, 2]
    both = add_classes([count_classes((first, second))] * 2)
    assert both.first.tolist() == [1, 7, 7]
    assert sorted(both.sizes.tolist()) == [2, 4, 4]


@pytest.mark.parametrize("repeats", [1, 5])
def test_sizes_of_classes_are_those_of_all_blocks(repeats):
    first = np.random.default_rng(0).integers(0, 2**64, 40, np.uint64)
    words = np.tile(first, repeats), np.tile(first[::-1], repeats)  # five times: blocks are shortened
    assert sizes_of_classes([shorten(words)] * 3).tolist() == [3 * repeats] * 40
    assert sizes_of_classes([shorten(tuple(word[:0] for word in words))]).tolist() == []
    for j in (0, 1):  # two classes that share one word
        same = [word.copy() for word in words]
        same[j][same[j] == same[j][1]] = same[j][0]
        assert sizes_of_classes([shorten(same)] * 3).tolist() == [3 * repeats] * 40


OLD_SENTINEL = 0x6D697373696E6721  # what once stood for missing


@pytest.mark.parametrize(
    "column",
    [
        pd.array([OLD_SENTINEL, None], dtype="Int64"),
        pd.array([0, None], dtype="Int64"),
        np.array([OLD_SENTINEL], np.int64).view(np.float64).tolist() + [np.nan],
        [0.0, np.nan],
        np.array([OLD_SENTINEL, np.datetime64("NaT", "ns").view(np.int64)]).view("M8[ns]"),
        pd.array([False, None], dtype="boolean"),
        pd.array(["", None], dtype="string"),
        pd.Series(["", None], dtype=object),
    ],
)
def test_no_value_is_taken_for_a_missing_one(column):
    table = pd.DataFrame({"x": column})
    assert mag.distributed.verify(dd.from_pandas(table, npartitions=1), 1) == 1
    doubled = dd.from_pandas(pd.concat([table, table]), npartitions=2)
    assert mag.distributed.verify(doubled, 1) == 2


def frames(*parts):
    """A dataframe of dask whose partitions need not be alike."""
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0], verify_meta=False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["str 'a'"], [1, 1, "a"]),  # text beside numbers, which once were hashed as they print
        ([1.0], np.array([1.0]).view(np.int64)),
        (np.array([-1]), np.array([2**64 - 1], np.uint64)),
        (np.array([1], "M8[s]"), np.array([1], "M8[ns]")),
        (np.array([1], "m8[s]"), np.array([1])),
    ],
)
def test_partitions_of_other_types_are_not_alike(first, second):
    parts = [pd.DataFrame({"x": pd.Series(part)}) for part in (first, second)]
    with dask.config.set({"dataframe.convert-string": False}):
        assert mag.distributed.verify(frames(*parts), 1) == 1


def test_moments_are_compared_to_the_last_digit():
    pa = pytest.importorskip("pyarrow")
    kinds = [pa.time64("ns"), pa.timestamp("ns", "UTC"), pa.duration("ns"), pa.date32(), pa.time32("s"), pa.int8()]
    for kind in kinds:
        whole = pa.array([1, 2, None, 1, 2, None], pa.int64())
        stored = whole.cast(pa.int32()).cast(kind) if kind.bit_width <= 32 else whole.cast(kind)
        table = pd.DataFrame({"x": pd.Series(stored, dtype=pd.ArrowDtype(kind))})
        assert mag.distributed.verify(dd.from_pandas(table, npartitions=2), 1) == 2, kind
        assert mag.distributed.verify(dd.from_pandas(table[:5], npartitions=2), 1) == 1, kind
    zone = pd.DataFrame({"x": pd.to_datetime([1, 2, 1, 2], utc=True).tz_convert("Europe/Berlin")})
    assert mag.distributed.verify(dd.from_pandas(zone, npartitions=2), 1) == 2


def test_nested_moments_of_arrow_are_counted_to_the_nanosecond():
    pa = pytest.importorskip("pyarrow")
    kinds = {pa.list_(pa.time64("ns")): [[1], [2]], pa.struct([("t", pa.time64("ns"))]): [{"t": 1}, {"t": 2}]}
    for kind, (one, other) in kinds.items():
        for cells, smallest in (([one, other, one, other], 2), ([one, one, one, other], 1)):
            column = pd.Series(pa.array(cells, kind), dtype=pd.ArrowDtype(kind))
            assert mag.distributed.verify(frames(pd.DataFrame({"own": column})), 1) == smallest


def test_what_cannot_be_compared_exactly_is_refused_by_name():
    wrong = [pd.Series([[1], [2]]), pd.Series([np.zeros(2000), np.ones(2000)])]
    if np.dtype(np.longdouble).itemsize > 8:
        wrong += [pd.Series([1, 2], dtype=np.longdouble)]
    for column in wrong:
        with (
            dask.config.set({"dataframe.convert-string": False}),
            pytest.raises(TypeError, match=r"columns that are compared must hold .*; 'own' holds .* exactly.*\.$"),
        ):
            mag.distributed.verify(frames(pd.DataFrame({"own": column})), 1)
    with pytest.raises(TypeError, match="X must hold numbers or dates up to 64 bits; got dtype complex128"):
        mag.distributed.verify(da.from_array(np.ones(4, complex), chunks=2), 1)


# ---- engines


def test_processes_give_the_same():
    X = np.random.default_rng(0).normal(size=(200, 2))
    scaled = mag.distributed.columns(da.from_array(X, chunks=(100, 1)), 3)
    with dask.config.set(scheduler="processes", num_workers=1):
        np.testing.assert_array_equal(scaled.labels.compute(), mag.columns(X, 3).labels)
        assert mag.distributed.verify(scaled.masked[:, 0], 3) >= 3


def test_kernels_need_no_engine():
    code = "import sys, mag.distributed.kernels; print({'dask', 'distributed', 'pandas'} & set(sys.modules))"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"


def test_kernels_run_in_other_processes():
    X = np.random.default_rng(0).normal(size=(200, 3))
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        blocks = list(pool.map(kernels.label_columns, [X[:, :2], X[:, 2:]], [3, 3]))
    np.testing.assert_array_equal(np.hstack(blocks), mag.columns(X, 3).labels)


def test_the_examples_of_the_documentation():
    path = PROJECT / "docs" / "guide" / "distributed.md"
    failed, tried = doctest.testfile(str(path), module_relative=False)
    assert tried > 5
    assert not failed
