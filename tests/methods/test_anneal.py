"""Annealing: feasible always, never worse than its start, exact deltas, the optimum of few records."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag._backends import cpu
from mag._compiled.work import work_for
from mag._lib.progress import Progress
from mag.methods import anneal
from mag.methods._best_of import sum_of_squares
from mag.methods.anneal import falling, regions
from mag.methods.anneal.moves import chain_at, cool, enter, leave
from mag.methods.anneal.recombine import best_parts
from mag.methods.anneal.schedule import melt, warm
from mag.methods.distances.neighbors import neighbors
from tests.data.records import records


def group(X, k, **options):
    grouping = mag.multivariate(X, k, method="anneal", **options)
    assert (grouping.sizes >= k).all()
    if len(X) >= 2 * k:
        assert (grouping.sizes < 2 * k).all()
    return grouping


def blocks(n, k):
    """Labels of consecutive groups."""
    return np.minimum(np.arange(n) // k, n // k - 1)


def least_cost(X, k):
    """The optimum, by trying every group of the first record that is left."""

    def cost(rows):
        return np.square(X[rows] - X[rows].mean(axis=0)).sum()

    def best(left):
        if not left:
            return 0.0
        first, others = left[0], left[1:]
        return min(
            (
                cost([first, *more]) + best([i for i in others if i not in more])
                for size in range(k, 2 * k)
                if size <= len(left) and len(left) - size not in range(1, k)
                for more in combinations(others, size - 1)
            ),
            default=np.inf,
        )

    return best(list(range(len(X))))


@pytest.mark.parametrize(("n", "k"), [(9, 2), (8, 3), (9, 4), (7, 2), (9, 3)])
def test_few_records_reach_the_optimum(n, k):
    reached = 0
    for seed in range(10):
        X = records(n, 2, seed)
        found = group(X, k, standardize=False, iterations=500, random_state=seed)
        optimum = least_cost(X, k)
        assert found.cost >= optimum * (1 - 1e-9)
        reached += found.cost <= optimum * (1 + 1e-9)
    assert reached >= 9


HOSTILE = st.sampled_from(["normal", "ties", "constant column", "outliers", "huge", "tiny", "equal"])


def hostile(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if kind == "ties":
        X = rng.integers(3, size=(n, d)).astype(float)
    if kind == "constant column":
        X[:, 0] = 7.0
    if kind == "outliers":
        X **= 9
    if kind == "equal":
        X[:] = 1.0
    return X * {"huge": 1e300, "tiny": 1e-300}.get(kind, 1.0)


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 40), st.integers(1, 7), st.integers(1, 6), HOSTILE, st.integers(0, 99), st.booleans())
def test_any_grouping_is_feasible_and_never_worse_than_its_start(n, k, d, kind, seed, standardize):
    k = min(k, n)
    X = hostile(kind, n, d, seed)
    start = np.random.default_rng(seed).permutation(blocks(n, k))
    found = group(X, k, init=start, iterations=30, random_state=seed, standardize=standardize)
    if n >= 2 * k > 2 and d > 1:
        z = found._facts.standard.z
        assert found._facts.squares <= sum_of_squares(z, start) * (1 + 1e-9) + 1e-25


@settings(deadline=None, max_examples=50)
@given(
    st.integers(20, 60), st.integers(2, 6), st.integers(1, 6), st.integers(0, 99), st.sampled_from([0.01, 1.0, 30.0])
)
def test_what_steps_change_is_what_the_cost_changes(n, k, d, seed, heat):
    X = records(n, 4 * -(-d // 4), seed)
    X[:, d:] = 0.0
    near = neighbors(X, min(24, n - 1)).astype(np.int32)
    labels = np.random.default_rng(seed).permutation(blocks(n, k))
    labels = np.minimum(labels, n // k - 1)
    before = sum_of_squares(X, labels)
    state = work_for(chain_at, None, None, *X.shape, k, near.shape[1]), X, near, k
    enter(*state, labels, 12345 + seed)
    change = cool(*state, heat, n, 2000)
    leave(*state, labels)
    sizes = np.bincount(labels)
    assert ((sizes == 0) | ((sizes >= k) & (sizes < 2 * k))).all()
    assert before + change == pytest.approx(sum_of_squares(X, labels), rel=1e-9)


def test_every_move_is_made():
    """Groups become fewer and more, larger and smaller."""
    X = records(60, 4)
    near = neighbors(X, 24).astype(np.int32)
    state = work_for(chain_at, None, None, *X.shape, 3, near.shape[1]), X, near, 3
    labels, counts, sizes = blocks(60, 3), set(), set()
    enter(*state, labels, 1)
    for _ in range(200):
        cool(*state, 1.0, 60, 100)
        leave(*state, labels)
        counts.add(np.unique(labels).size)
        sizes |= set(np.unique(labels, return_counts=True)[1].tolist())
    assert sizes == {3, 4, 5}
    assert len(counts) > 3


@pytest.mark.parametrize("direct", [True, False], ids=["whole", "parts"])
def test_results_do_not_depend_on_threads(monkeypatch, direct):
    if not direct:
        monkeypatch.setattr(anneal, "DIRECT", 0)
        monkeypatch.setattr(regions, "RECORDS_PER_PART", 60)
    X = records(400, 3)
    found = [group(X, 3, iterations=200, random_state=5, threads=threads).labels for threads in (1, 2, 3, 1)]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    assert (group(X, 3, iterations=200, random_state=6).labels != found[0]).any()


def test_parts_lose_little_more_than_the_whole(monkeypatch):
    """They are divided anew in every round: with the same borders each time, it would be a quarter more."""
    X = records(600, 3)
    start = mag.multivariate(X, 4, method="mondrian_v")
    whole = group(X, 4, init=start.labels, iterations=500)
    monkeypatch.setattr(anneal, "DIRECT", 0)
    monkeypatch.setattr(anneal, "EFFORT", 300)
    monkeypatch.setattr(regions, "RECORDS_PER_PART", 60)
    found = group(X, 4, init=start.labels, iterations=9000)
    assert found.information_loss < 1.15 * whole.information_loss < 0.8 * start.information_loss


def test_more_steps_lose_less_and_less_than_ona_star():
    X = records(500, 4)
    loss = [group(X, 4, iterations=steps).information_loss for steps in (0, 100, 3000)]
    assert loss[0] == pytest.approx(mag.multivariate(X, 4, method="ona_star").information_loss)
    assert loss[0] >= loss[1] > loss[2]
    assert loss[2] < 0.97 * loss[0]


@pytest.mark.parametrize("init", ["mdav", "mondrian", "kmeans_cleanup", "projection", "zscore"])
def test_every_method_is_a_start(init):
    X = records(90, 3)
    given = mag.multivariate(X, 3, method=init)
    found = group(X, 3, init=init, iterations=100)
    again = group(X, 3, init=given.labels, iterations=100)
    assert max(found.information_loss, again.information_loss) <= given.information_loss


def test_a_time_limit_ends_the_search():
    X = records(300, 3)
    found = group(X, 3, time_limit=0.3)
    assert found.complete is False
    assert found.information_loss < mag.multivariate(X, 3, method="ona_star").information_loss
    assert group(X, 3, time_limit=1e6, iterations=10).complete
    assert group(X[:10], 3, time_limit=1e6).complete  # few records are soon done
    assert not group(X, 3, time_limit=0.2, iterations=1e9).complete


def test_auto_anneals_if_there_is_a_time_limit():
    X = records(300, 3)
    assert mag.multivariate(X, 3, time_limit=0.2).method == "anneal"
    assert mag.multivariate(X, 3).method == "ona_local"


def test_auto_begins_with_what_fits_into_the_limit(monkeypatch):
    began = []
    for name in ("ona_star", "mona"):

        def run(X, k, *, threads, progress, name=name):
            began.append(name)
            return mag.methods.METHODS["mdav"].group(X, k, engine=cpu, threads=threads, progress=progress)

        monkeypatch.setitem(mag.methods.METHODS, name, replace(mag.methods.METHODS["mdav"], group=run))
    X = records(200, 2)
    group(X, 3, time_limit=60, iterations=1)
    began.clear()  # what was compiled first is run first
    assert group(X, 3, time_limit=60, iterations=1).details["init"] == "ona_star"
    monkeypatch.setattr(mag.methods, "ONA_WORK_PER_SECOND", 0)
    assert group(X, 3, time_limit=60, iterations=1).details["init"] == "mona"
    assert began == ["ona_star", "mona"]
    monkeypatch.setattr(mag.methods, "MAX_ONA_WORK", 200)
    assert group(X, 3, time_limit=60, iterations=1).details["init"] == "ona_local"
    assert began == ["ona_star", "mona"]


@pytest.fixture
def clock(monkeypatch):
    """Time that passes with the work alone: a step takes a microsecond, a look at the clock ten."""
    now = [0.0]

    def monotonic():
        now[0] += 1e-5
        return now[0]

    class TimedRegion(falling.Region):
        def run(self, plan, progress):
            now[0] += 1e-6 * plan.steps.sum() * self.scale.size
            super().run(plan, progress)

    monkeypatch.setattr("mag._lib.progress.time.monotonic", monotonic)
    monkeypatch.setattr(falling, "Region", TimedRegion)
    monkeypatch.setattr(mag.methods, "MAX_ONA_WORK", 0)
    return now


@pytest.mark.parametrize("n", [700, 2500, 6100])
def test_more_time_never_means_more_loss(n, clock, monkeypatch):
    """As `auto` with a limit, and never much later than that."""
    monkeypatch.setattr(anneal, "DIRECT", 0)
    monkeypatch.setattr(falling, "RECORDS_PER_PART", 300)
    X, losses = records(n, 3), []
    for steps in (0, 20, 60, 200, 600, 2000):
        limit, began = 0.02 + 1e-6 * steps * n, clock[0]
        resources = mag.methods.Resources(np.random.default_rng(0), Progress(None, limit))
        labels, _ = mag.methods.METHODS["anneal"].run(X, 3, resources)
        assert np.bincount(labels).min() >= 3
        assert clock[0] - began < 1.3 * limit + 0.02
        losses.append(sum_of_squares(X, labels))
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.97 * losses[0]


def test_mona_takes_over_where_ona_star_did_not_end_in_time(monkeypatch):
    """The result says so; what there was time for is not lost, where that is better."""
    best = mag.multivariate(records(200, 2), 3, method="ona_star").labels

    def cut(labels):
        def run(X, k, *, threads, progress):
            if progress.seconds_left() < 1e9:
                progress.stop()
            return labels[: len(X)].copy()

        return replace(mag.methods.METHODS["mdav"], group=run)

    X = records(200, 2)
    group(X, 3, time_limit=60, iterations=1)
    for labels, start in ((np.zeros(200, int), "mona"), (best.astype(int), "ona_star, cut short")):
        monkeypatch.setitem(mag.methods.METHODS, "ona_star", cut(labels))
        found = mag.multivariate(X, 3, method="anneal", time_limit=60, iterations=1)
        assert found.details["init"] == start
        assert found.sizes.max() <= 5


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"init": "best"}, ValueError, "init must be one of 'auto', 'cbfs_order'"),
        ({"init": "anneal"}, ValueError, "init must be one of"),
        ({"init": np.zeros(29, int)}, ValueError, "init must hold one label per record, n=30; got an array of shape"),
        ({"init": np.zeros(30)}, TypeError, "init must hold integers, a label per record; got dtype float64."),
        ({"init": np.arange(30) // 2}, ValueError, "init must have groups of at least k=3 records; got one of 2."),
        ({"iterations": -1}, ValueError, "iterations must be a number that is not negative; got -1."),
        ({"restarts": 0}, ValueError, r"restarts must be an integer in \[1, most=1000\]; got 0."),
        ({"gamma": 1.0}, TypeError, "gamma is not used by method 'anneal'"),
    ],
)
def test_wrong_options_are_told(options, error, sentence):
    with pytest.raises(error, match=sentence):
        mag.multivariate(records(30, 2), 3, method="anneal", **options)


def test_large_groups_of_the_start_are_split():
    X = records(40, 2)
    assert group(X, 3, init=np.zeros(40, int), iterations=0).sizes.max() < 6


@pytest.mark.parametrize("kind", ["normal", "ties", "outliers", "equal", "huge"])
def test_many_records_are_annealed_as_a_whole_from_their_start(kind, monkeypatch):
    monkeypatch.setattr(anneal, "DIRECT", 50)
    X = hostile(kind, 400, 3, 1)
    start = mag.multivariate(X, 4, method="ona_star")
    found = group(X, 4, iterations=300, random_state=0)
    assert found.information_loss <= start.information_loss * (1 + 1e-12)
    if kind == "normal":
        assert found.information_loss < 0.97 * start.information_loss
    again = group(X, 4, iterations=300, random_state=0, threads=1)
    np.testing.assert_array_equal(found.labels, again.labels)
    timed = group(X, 4, init=start.labels, time_limit=0.05)
    assert timed.information_loss <= start.information_loss * (1 + 1e-12)


def test_who_has_less_time_begins_with_less_heat():
    scale = np.random.default_rng(0).uniform(1, 2, 1000)
    first = [warm(scale, 2.0, 8, 10**6, possible).plan(0, np.inf).heats[0] for possible in (1, 10, 100, 1000)]
    assert first == sorted(set(first))


def test_the_best_parts_of_two_groupings():
    X = np.array([[0.0], [1], [10], [11], [20], [21], [30], [31]])
    good_left, good_right = [0, 0, 1, 1, 2, 3, 3, 2], [0, 1, 1, 0, 2, 2, 3, 3]
    best = best_parts(X, [np.array(good_left), np.array(good_right)])
    np.testing.assert_array_equal(best, [0, 0, 1, 1, 2, 2, 3, 3])


@pytest.mark.parametrize("schedule_of", [melt, lambda *facts: warm(*facts, np.inf)], ids=["melt", "warm"])
def test_heat_falls_and_records_join_in_until_all_take_part(schedule_of):
    scale = np.random.default_rng(0).pareto(1.0, 1000)
    schedule = schedule_of(scale, scale.mean(), 8, 100)
    plans = [schedule.plan(turn, np.inf) for turn in range(8)]
    heats = np.concatenate([plan.heats for plan in plans])
    falling = np.sort(scale)[::-1]
    steps = [(active, steps) for plan in plans for _, active, steps in plan.of(falling)]
    assert (np.diff(heats) < 0).all()
    assert (np.diff([active for active, _ in steps]) >= 0).all()
    assert steps[0][0] < 100
    assert steps[-1][0] == 1000
    assert sum(steps for _, steps in steps) == pytest.approx(100 * 1000, rel=0.01)
    assert not schedule.hurried


def test_a_schedule_keeps_to_the_time_that_is_left():
    schedule = melt(np.ones(1000), 1.0, 8, 10**6)
    plan = schedule.plan(0, 0.1)
    assert schedule.hurried
    assert sum(steps for _, _, steps in plan.of(np.ones(1000))) < 10**5
