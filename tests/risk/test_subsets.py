"""Frequencies and minimal sample uniques against every pair of records and every subset."""

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mag.risk import subsets
from mag.risk.frequencies import count_classes, count_matches
from mag.risk.suda import dis_scores, points_by_size, share_by_column, share_by_level
from tests.oracles import risk as plain


@st.composite
def tables(draw):
    """Codes of a few columns, with units and weights; value 0 may mean missing."""
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 24))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = [rng.integers(0, rng.integers(1, 5), n) for _ in range(m)]
    return codes, rng.integers(0, max(1, n // 2), n), rng.integers(1, 9, n).astype(float)


def rows_of(codes, blank=None):
    return [
        tuple(None if code == blank else code for code in row)
        for row in zip(*map(np.ndarray.tolist, codes), strict=True)
    ]


@given(tables(), st.booleans(), st.booleans())
def test_frequencies_count_records_or_units(table, with_units, with_weights):
    codes, units, weights = table
    units, weights = units if with_units else None, weights if with_weights else None
    classes, f, F = count_classes(codes, weights, units)
    expected = plain.frequencies(rows_of(codes), weights, None if units is None else units.tolist())
    assert f[classes].tolist() == [own for own, _ in expected]
    if weights is not None:
        assert F[classes].tolist() == pytest.approx([own for _, own in expected])


@given(tables(), st.sampled_from([0.0, 0.5, 1.0]))
def test_a_missing_cell_matches_every_value(table, alpha):
    codes, _, weights = table
    classes, f, F = count_matches(codes, [0] * len(codes), weights, alpha)
    expected = plain.matches(rows_of(codes, blank=0), weights, alpha)
    assert list(zip(f[classes].tolist(), F[classes].tolist(), strict=True)) == expected


def check(found, rows, sizes_on, max_size):
    m, points = len(rows[0]), points_by_size(len(rows[0]))
    minimal = plain.minimal_uniques(rows, sizes_on, max_size)
    scores, shares = plain.suda(minimal, m, points)
    assert found.scores.tolist() == scores.tolist()
    assert found.shares.tolist() == shares.tolist()
    listed = [tuple(np.flatnonzero(own).tolist()) for own in found.members]
    every = [one for size in range(1, max_size + 1) for one in itertools.combinations(range(m), size)]
    assert listed == every
    for place, subset in enumerate(every):
        sizes = sizes_on([tuple(row[j] for j in subset) for row in rows])
        figures = {name: column[place] for name, column in found.figures.items()}
        assert figures["classes"] == len({tuple(row[j] for j in subset) for row in rows})
        assert figures["smallest"] == min(sizes)
        for name, limit in (("uniques", 2), ("below_3", 3), ("below_5", 5)):
            assert figures[name] == sum(size < limit for size in sizes), name
        assert found.minimal[place] == sum(subset in own for own in minimal)


@given(tables(), st.booleans(), st.integers(1, 5))
def test_the_walk_finds_all_minimal_uniques(table, with_units, max_size):
    codes, units, _ = table
    units = units if with_units else None
    owners = None if units is None else units.tolist()
    max_size = min(max_size, len(codes))
    found = subsets.walk(codes, units, max_size, points_by_size(len(codes)))
    check(found, rows_of(codes), lambda part: [f for f, _ in plain.frequencies(part, None, owners)], max_size)


@given(tables(), st.sampled_from([0.0, 0.5, 1.0]), st.integers(1, 5))
def test_minimal_uniques_where_missing_cells_match(table, alpha, max_size):
    codes, max_size = table[0], min(max_size, len(table[0]))
    found = subsets.match(codes, [0] * len(codes), alpha, max_size, points_by_size(len(codes)))
    rows = rows_of(codes, blank=0)
    check(found, rows, lambda part: [f for f, _ in plain.matches(part, None, alpha)], max_size)


def test_without_missing_cells_both_readings_agree():
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 4, 60) for _ in range(5)]
    one = subsets.walk(codes, None, 4, points_by_size(5))
    other = subsets.match(codes, [-1] * 5, 1.0, 4, points_by_size(5))
    assert one.scores.sum() > 0
    for name in ("members", "minimal", "scores", "shares"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_many_columns_and_few_sizes():
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 3, 50) for _ in range(40)]
    found = subsets.walk(codes, None, 2, points_by_size(40))
    assert found.members.shape == (820, 40)
    assert found.minimal.sum() > 0


@pytest.mark.parametrize("m", [1, 4, 7, 8, 12])
@pytest.mark.parametrize(
    ("uniques", "doubles", "fraction"), [(4, 4, 0.01), (157, 124, 0.01), (3, 0, 0.2), (1, 900, 0.5)]
)
def test_dis_scores_in_many_digits(m, uniques, doubles, fraction):
    """sdcMicro computes them in single precision."""
    rng = np.random.default_rng(m)
    scores = rng.integers(0, math.factorial(m) + 1, 200) * (rng.random(200) < 0.4)
    found = dis_scores(scores.astype(float), uniques, doubles, m, fraction)
    with localcontext() as context:
        context.prec = 50
        share, power = Decimal(fraction), 1 + Decimal(8 - m) / 20
        dis = uniques * share / (uniques * share + doubles * (1 - share))
        powers = {score: Decimal(score) ** power for score in scores.tolist() if score}
        total = sum(1 / powers[score] for score in scores.tolist() if score)
        exact = [1 / (1 + (uniques / dis - uniques) / (powers[own] * total)) if own else 0 for own in scores.tolist()]
    assert found.tolist() == pytest.approx([float(own) for own in exact], rel=1e-13, abs=0)


def test_dis_scores_of_nobody_and_of_too_many_columns():
    assert dis_scores(np.zeros(3), 0, 0, 4, 0.1).tolist() == [0, 0, 0]
    assert np.isnan(dis_scores(np.array([0.0, 2.0]), 1, 0, 28, 0.1)).tolist() == [False, True]


def test_shares_of_columns_and_levels():
    scores, shares = np.array([3.0, 1.0, 0.0]), np.array([[3.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    assert share_by_column(scores, shares).tolist() == [0.75, 0.5]
    assert share_by_level(np.array([1, 1, 0]), shares[:, 1]).tolist() == [0.0, 1.0]
    assert np.isnan(share_by_level(np.array([0, 0, 0]), np.zeros(3))).all()
    assert share_by_column(np.zeros(2), np.zeros((2, 1))).tolist() == [0.0]
