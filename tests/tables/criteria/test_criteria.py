"""Criteria in exact integers, against their definitions in fractions and transport that is searched."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag.tables.criteria import CRITERIA, closeness_of, diversity_of, ground_of
from mag.tables.criteria._transport import excess
from tests.oracles.criteria import NAMES, TREE, at_least_entropy, distance, tables

TINY = Fraction(1, 10**30)


@pytest.mark.parametrize("ground", ["equal", "hierarchical", "ordered"])
@given(table=tables(), missing=st.booleans())
def test_closeness_is_the_cheapest_transport(ground, table, missing):
    counts, totals = table
    names = [*NAMES[: len(totals) - missing], *[None] * missing] if ground == "hierarchical" else NAMES[: len(totals)]
    tree = TREE if ground == "hierarchical" else None
    for t_less in (Fraction(0), TINY):
        for row in counts:
            far = distance(ground, row, totals, names)
            t = max(far - t_less, Fraction(0))
            criterion = ground_of(mag.Closeness(t, ground, tree), names, True, "x")
            assert criterion.holds(row[None], totals)[0] == (far <= t)
            assert criterion.measure(row[None], totals)[0] == pytest.approx(float(far), abs=1e-12)


@given(table=tables(6), t=st.sampled_from([Fraction(0), Fraction(1, 7), Fraction(1, 4), Fraction(1, 2)]))
def test_ordered_closeness_of_few_values_among_many(table, t):
    counts, totals = table
    criterion = CRITERIA["ordered"](t)
    row, value = np.nonzero(counts)
    holds, measure = criterion.judge_pairs(row, value, counts[row, value], totals)
    assert holds.tolist() == criterion.holds(counts, totals).tolist()
    np.testing.assert_allclose(measure, criterion.measure(counts, totals), atol=1e-15)


def test_closeness_of_every_class_at_once():
    counts = np.array([[3, 0, 1], [0, 2, 2], [1, 1, 0]])
    totals = counts.sum(axis=0)
    for ground in ("equal", "ordered"):
        far = [distance(ground, row, totals, NAMES[:3]) for row in counts]
        for t in [*far, Fraction(1), Fraction(0)]:
            criterion = ground_of(mag.Closeness(t, ground), NAMES[:3], True, "x")
            assert criterion.holds(counts, totals).tolist() == [one <= t for one in far]


@given(table=tables(5), least=st.sampled_from([1, 2, 3, Fraction(5, 2), 1.5, 4]))
def test_entropy_is_decided_in_integers(table, least):
    counts, totals = table
    criterion = diversity_of("diversity", ("entropy", least))
    assert criterion.holds(counts, totals).tolist() == [at_least_entropy(row, least) for row in counts]
    shares = [[c / sum(row) for c in row if c] for row in counts.tolist()]
    effective = [math.exp(-sum(p * math.log(p) for p in row)) for row in shares]
    assert criterion.measure(counts, totals) == pytest.approx(effective)


def test_equal_counts_have_exactly_the_entropy_of_their_number():
    """Where logarithms are off by their rounding, for small counts and for large ones."""
    for least, count in itertools.product(range(1, 40), (1, 3, 7, 10**5)):
        counts = np.full((1, least), count)
        assert diversity_of("d", ("entropy", least)).holds(counts, counts[0]).all()
        assert not diversity_of("d", ("entropy", least + Fraction(1, 10**15))).holds(counts, counts[0]).any()


@given(table=tables(5), least=st.integers(1, 4), c=st.sampled_from([1, 2, 0.5, 0.1, Fraction(1, 3)]))
def test_recursive_follows_its_definition(table, least, c):
    counts, totals = table
    exact = Fraction(str(c)) if isinstance(c, float) else Fraction(c)
    expected = [sorted(row)[-1] < exact * sum(sorted(row, reverse=True)[least - 1 :]) for row in counts.tolist()]
    assert diversity_of("diversity", ("recursive", c, least)).holds(counts, totals).tolist() == expected


@given(table=tables(5), least=st.integers(1, 4))
def test_distinct_counts_values(table, least):
    counts, totals = table
    expected = [len([c for c in row if c]) for row in counts.tolist()]
    criterion = diversity_of("diversity", least)
    assert criterion.measure(counts, totals).tolist() == expected
    assert criterion.holds(counts, totals).tolist() == [many >= least for many in expected]
    assert (criterion.why_not(totals, "x") is None) == (least <= len(totals))


def every_criterion(names):
    yield from (diversity_of("d", wish) for wish in (2, ("entropy", 1.5), ("entropy", 2), ("recursive", 2, 2)))
    for t, ground in itertools.product((0.1, Fraction(1, 3)), ("equal", "ordered", "hierarchical")):
        tree = TREE if ground == "hierarchical" else None
        yield ground_of(mag.Closeness(t, ground, tree), names, True, "x")


@given(table=tables())
def test_merging_keeps_what_holds(table):
    """Why merging ends: two classes that satisfy a criterion make one that does, and all make one if any can."""
    counts, totals = table
    for criterion in every_criterion(NAMES[: len(totals)]):
        holds = criterion.holds(counts, totals)
        for a, b in itertools.combinations(np.flatnonzero(holds).tolist(), 2):
            assert criterion.holds((counts[a] + counts[b])[None], totals)[0]
        whole = criterion.holds(totals[None], totals)[0]
        assert whole == (criterion.why_not(totals, "x") is None)
        assert whole or not holds.all()


def test_counts_that_exceed_64_bits_are_summed_in_longer_integers():
    n, m = 2**22, 2**21
    counts = np.zeros((1, m), np.int64)
    counts[0, 0] = n
    totals = np.full(m, 2)
    assert excess(counts[:, :4], np.array([n * n, 1, 1, 1]))[0].dtype == object
    far = Fraction(sum(range(m)) * 2, n * (m - 1))  # all stand at the first of m values
    assert ground_of(mag.Closeness(far, "ordered"), [0] * m, True, "x").holds(counts, totals)[0]
    assert not ground_of(mag.Closeness(far - TINY, "ordered"), [0] * m, True, "x").holds(counts, totals)[0]


def test_fractions_are_what_is_printed():
    assert closeness_of("closeness", 0.2).t == Fraction(1, 5)
    assert closeness_of("closeness", np.float64(0.1)).t == Fraction(1, 10)
    assert type(closeness_of("closeness", np.int64(1)).t.numerator) is int


def test_the_ground_follows_from_the_values():
    assert type(ground_of(closeness_of("c", 0.1), NAMES, True, "x")) is CRITERIA["ordered"]
    assert type(ground_of(closeness_of("c", 0.1), NAMES, False, "x")) is CRITERIA["equal"]
    assert type(ground_of(mag.Closeness(0.1, hierarchy=TREE), NAMES, True, "x")) is CRITERIA["hierarchical"]


@pytest.mark.parametrize(
    ("wish", "sentence"),
    [
        (2.5, "must be an integer, ('entropy', l) or ('recursive', c, l); got 2.5"),
        (True, "must be an integer, ('entropy', l) or ('recursive', c, l); got True"),
        (0, "in [1, 2**53="),
        (("entropy", 0.5), "must be ('entropy', l) with a number l from 1 on; got 0.5"),
        (("entropy", math.nan), "from 1 on; got nan"),
        (("recursive", 0, 2), "with a positive number c; got 0"),
        (("recursive", 2), "must be an integer, ("),
        (("gini", 2), "must be an integer, ("),
    ],
)
def test_mistakes_of_diversity(wish, sentence):
    with pytest.raises(mag.InputError) as error:
        diversity_of("diversity['x']", wish)
    assert sentence in str(error.value)
    assert str(error.value).startswith("diversity['x'] must be ")


def test_mistakes_of_closeness():
    for wish in (1.5, -0.1, math.inf, "0.2", None, True):
        with pytest.raises(mag.InputError, match=r"must be a number from 0 to 1 or a mag\.Closeness"):
            closeness_of("closeness['x']", wish)
    with pytest.raises(mag.InputError, match="hierarchy is needed with ground 'hierarchical'"):
        mag.Closeness(0.1, "hierarchical")
    with pytest.raises(mag.InputError, match="hierarchy is not used by ground 'equal'"):
        mag.Closeness(0.1, "equal", TREE)
    with pytest.raises(mag.InputError, match="has no leaf for 1 values"):
        ground_of(mag.Closeness(0.1, hierarchy=TREE), ["flu", "gout", None], False, "x")
    with pytest.raises(mag.InputError, match="needs values with an order"):
        ground_of(mag.Closeness(0.1, "ordered"), NAMES, False, "x")


def test_what_cannot_be_met_is_one_sentence():
    totals = np.array([8, 1, 1])
    assert diversity_of("d", 4).why_not(totals, "disease") == "diversity of 'disease' can be at most 3; got 4."
    sentence = diversity_of("d", ("entropy", 2)).why_not(totals, "disease")
    assert sentence == "entropy diversity of 'disease' can be at most 1.894; got 2."
    assert "is more than all records together have" in diversity_of("d", ("recursive", 2, 2)).why_not(totals, "d")
