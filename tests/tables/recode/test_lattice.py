"""Full-domain recoding against a search of all nodes in plain Python and exact arithmetic, for every option."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag.tables.criteria.distinct import Distinct
from mag.tables.criteria.entropy import Entropy
from mag.tables.criteria.equal import Equal
from mag.tables.criteria.ordered import Ordered
from mag.tables.criteria.recursive import Recursive
from mag.tables.recode import Ladder, Lattice, Rules, search
from mag.tables.recode import _lattice as lattice_module
from mag.tables.recode import _rules as rules_module
from mag.tables.recode._classes import number_rows

FINE = mag.Hierarchy.from_levels(
    [["a", "ab", "abc", "*"], ["b", "ab", "abc", "*"], ["c", "c", "abc", "*"], ["d", "d", "d", "*"]]
)
TREES = {
    "letters": FINE,
    "flat": mag.Hierarchy.from_levels([["x", "*"], ["y", "*"], ["z", "*"]]),
    "one": mag.Hierarchy.from_levels([["only", "*"]]),
    "stays": mag.Hierarchy.from_levels([["p", "p", "all"], ["q", "r", "all"], ["s", "r", "all"]]),
}


# ---- the oracle: rows of labels, dictionaries and fractions


def rows_of(name):
    return {row[0]: row for row in TREES[name].to_levels()}


def label(name, value, level):
    """None stays None below the root."""
    rows = list(rows_of(name).values())
    if level == len(rows[0]) - 1:
        return rows[0][-1]
    return None if value is None else rows_of(name)[value][level]


def loss(name, value, level):
    rows = list(rows_of(name).values())
    shared = label(name, value, level)
    below = 0 if shared is None else sum(row[level] == shared for row in rows)
    return Fraction(below, len(rows)) if below > 1 else Fraction(0)


def settle(classes, k, is_root, good):
    """Classes that stay, strata whose suppressed records are shown, by rounds until nothing changes.

    `good(records, published)` are the criteria of the sensitive values.
    """
    kept = {key for key, members in classes.items() if len(members) >= k}
    while True:
        lost = {}
        for key in classes.keys() - kept:
            lost.setdefault(key[0], []).extend(classes[key])
        shown = {stratum for stratum, members in lost.items() if is_root and len(members) >= k}
        while True:
            published = [i for key in kept for i in classes[key]] + [i for stratum in shown for i in lost[stratum]]
            bad = {stratum for stratum in shown if not good(lost[stratum], published)}
            if not bad:
                break
            shown -= bad
        failing = {key for key in kept if not good(classes[key], published)}
        if not failing:
            return kept, lost, shown, published
        kept -= failing


def outcomes(
    columns, values, stratum, k, suppress, is_root=True, importance=None, good=lambda records, published: True
):
    """All nodes that are allowed: loss, suppressed, levels, withheld, smallest class; the best first."""
    n, weights = len(stratum), [Fraction(w) for w in importance or [1] * len(columns)]
    allowed = []
    for levels in itertools.product(*(range(TREES[name].levels.shape[1]) for name in columns)):
        classes = {}
        for i in range(n):
            key = (
                stratum[i],
                *(label(name, own[i], level) for name, own, level in zip(columns, values, levels, strict=True)),
            )
            classes.setdefault(key, []).append(i)
        kept, lost, shown, published = settle(classes, k, is_root, good)
        suppressed = sum(map(len, lost.values()))
        if suppressed > Fraction(str(suppress)) * n or not published:
            continue
        total = Fraction(suppressed) * sum(weights)
        for key in kept:
            for i in classes[key]:
                total += sum(
                    w * loss(name, own[i], level)
                    for w, name, own, level in zip(weights, columns, values, levels, strict=True)
                )
        sizes = [len(classes[key]) for key in kept] + [len(lost[s]) for s in shown]
        allowed.append((total / n / sum(weights), suppressed, levels, n - len(published), min(sizes)))
    return sorted(allowed)


def lattice_of(columns, values, stratum, importance=None, sensitive=()):
    ladders, codes = [], []
    for name, own in zip(columns, values, strict=True):
        labels = sorted({value for value in own if value is not None})
        leaves = TREES[name].find(labels)
        ladders.append(Ladder.of(TREES[name], leaves, None in own))
        codes.append([len(labels) if value is None else labels.index(value) for value in own])
    return Lattice(ladders, np.array(codes).T, np.array(stratum), sensitive, importance)


@st.composite
def tables(draw, is_missing=False):
    columns = draw(st.lists(st.sampled_from(sorted(TREES)), min_size=1, max_size=3))
    n = draw(st.integers(1, 24))
    values = []
    for name in columns:
        every = [*rows_of(name), *([None] if is_missing else [])]
        values.append(draw(st.lists(st.sampled_from(every), min_size=n, max_size=n)))
    stratum = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)) if draw(st.booleans()) else [0] * n
    stratum = [sorted(set(stratum)).index(s) for s in stratum]
    k, suppress = draw(st.integers(1, max(1, n // 3))), draw(st.sampled_from([0, 0.05, 0.1, 0.29, 0.5, 1]))
    importance = draw(
        st.none() | st.lists(st.sampled_from([0.3, 1.0, 2.0]), min_size=len(columns), max_size=len(columns))
    )
    return columns, values, stratum, k, suppress, draw(st.booleans()), importance


def told(lattice, recoding):
    return [
        (outcome.value * lattice.unit, outcome.suppressed, outcome.levels, outcome.withheld, outcome.smallest)
        for outcome in recoding.best
    ]


@settings(max_examples=300, deadline=None)
@given(tables() | tables(is_missing=True))
def test_the_best_ten_nodes_are_those_of_the_oracle(table):
    columns, values, stratum, k, suppress, is_root, importance = table
    expected = outcomes(columns, values, stratum, k, suppress, is_root, importance)
    lattice = lattice_of(columns, values, stratum, importance)
    most = math.floor(Fraction(str(suppress)) * lattice.n)
    recoding = search(lattice, Rules(k, most, is_root), 10**6)
    assert told(lattice, recoding) == expected[:10]
    assert recoding.is_proven
    assert recoding.n_nodes == math.prod(lattice.shape)


@settings(max_examples=50, deadline=None)
@given(tables())
def test_paths_find_allowed_nodes_and_never_better_ones(table):
    columns, values, stratum, k, suppress, is_root, importance = table
    expected = {outcome[2]: outcome for outcome in outcomes(columns, values, stratum, k, suppress, is_root, importance)}
    lattice = lattice_of(columns, values, stratum, importance)
    recoding = search(lattice, Rules(k, math.floor(Fraction(str(suppress)) * lattice.n), is_root), 0)
    assert not recoding.is_proven
    assert bool(recoding.best) == bool(expected)  # monotone: the top node is allowed if any is
    assert all(outcome == expected[outcome[2]] for outcome in told(lattice, recoding))


@settings(max_examples=50, deadline=None)
@given(tables(is_missing=True))
def test_records_are_those_that_the_counts_say(table):
    columns, values, stratum, k, suppress, is_root, importance = table
    lattice = lattice_of(columns, values, stratum, importance)
    rules = Rules(k, math.floor(Fraction(str(suppress)) * lattice.n), is_root)
    for outcome in search(lattice, rules, 10**6).best:
        classes, suppressed, withheld = lattice.records(outcome.levels, rules)
        assert suppressed.sum() == outcome.suppressed
        assert withheld.sum() == outcome.withheld
        assert not (withheld & ~suppressed).any()
        for i, j in itertools.combinations(range(lattice.n), 2):
            alike = stratum[i] == stratum[j] and all(
                label(name, own[i], level) == label(name, own[j], level)
                for name, own, level in zip(columns, values, outcome.levels, strict=True)
            )
            assert (classes[i] == classes[j]) == alike
        kept = Counter(classes[~suppressed].tolist())
        roots = Counter(np.array(stratum)[suppressed & ~withheld].tolist())
        assert min([*kept.values(), *roots.values()]) == outcome.smallest >= k


def test_pruning_looks_at_few_nodes_of_many():
    rng = np.random.default_rng(0)
    columns = ["letters"] * 5
    values = [rng.choice(list("abcd"), 400).tolist() for _ in columns]
    lattice = lattice_of(columns, values, [0] * 400)
    for most in (0, 20, 400):
        recoding = search(lattice, Rules(3, most, True), 10**6)
        assert recoding.n_seen < lattice.n_nodes / 2


def test_classes_that_are_forgotten_are_counted_again(monkeypatch):
    rng = np.random.default_rng(1)
    columns = ["letters", "stays", "flat"]
    values = [rng.choice(list(rows_of(name)), 60).tolist() for name in columns]
    expected = outcomes(columns, values, [0] * 60, 2, 0.1)
    monkeypatch.setattr(lattice_module, "REMEMBERED", 1)
    lattice = lattice_of(columns, values, [0] * 60)
    assert told(lattice, search(lattice, Rules(2, 6, True), 10**6)) == expected[:10]


@pytest.mark.parametrize("size", [3, 10**6, 2**40])
def test_rows_are_numbered_however_many_combinations_there_are(size):
    rng = np.random.default_rng(2)
    columns = [rng.choice(rng.integers(0, size, 3), 50) for _ in range(4)]
    first, place = number_rows(columns, [size] * 4)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert [rows[first[own]] for own in place] == rows
    assert len(first) == len(set(rows))


# ---- criteria of a sensitive column, by their definitions in fractions

DISEASES = [3, 1, 2, 5]


def shares(values, every):
    counts = Counter(values)
    return [Fraction(counts[value], len(values)) for value in every]


def gaps(own, everybody, is_ordered):
    """Differences of two distributions, of cumulated shares where values have an order."""
    every = sorted(set(everybody))
    differences = [a - b for a, b in zip(shares(own, every), shares(everybody, every), strict=True)]
    if is_ordered:
        return sum(map(abs, itertools.accumulate(differences))) / max(len(every) - 1, 1)
    return sum(map(abs, differences)) / 2


def falling(own):
    return sorted(Counter(own).values(), reverse=True)


DEFINITIONS = {  # of a class `own` in a published table `everybody`
    Distinct(2): lambda own, everybody: len(set(own)) >= 2,
    Distinct(3): lambda own, everybody: len(set(own)) >= 3,
    Entropy(Fraction(3, 2)): lambda own, everybody: (
        math.prod(Fraction(len(own), count) ** count for count in Counter(own).values()) >= Fraction(3, 2) ** len(own)
    ),
    Recursive(Fraction(2), 2): lambda own, everybody: falling(own)[0] < 2 * sum(falling(own)[1:]),
    Equal(Fraction(1, 4)): lambda own, everybody: gaps(own, everybody, False) <= Fraction(1, 4),
    Ordered(Fraction(1, 5)): lambda own, everybody: gaps(own, everybody, True) <= Fraction(1, 5),
}


@settings(max_examples=300, deadline=None)
@given(tables(), st.data())
def test_criteria_are_met_as_the_oracle_meets_them(table, data):
    columns, values, stratum, k, suppress, is_root, importance = table
    n = len(stratum)
    diseases = data.draw(st.lists(st.sampled_from(DISEASES), min_size=n, max_size=n))
    criteria = data.draw(st.lists(st.sampled_from(list(DEFINITIONS)), min_size=1, max_size=2, unique=True))

    def good(records, published):
        own, everybody = ([diseases[i] for i in some] for some in (records, published))
        return all(DEFINITIONS[criterion](own, everybody) for criterion in criteria)

    expected = outcomes(columns, values, stratum, k, suppress, is_root, importance, good)
    every, codes = np.unique(diseases, return_inverse=True)
    lattice = lattice_of(columns, values, stratum, importance, [(codes, every.size)])
    rules = Rules(k, math.floor(Fraction(str(suppress)) * n), is_root, [(0, criterion) for criterion in criteria])
    assert told(lattice, search(lattice, rules, 10**6)) == expected[:10]
    assert {outcome[2] for outcome in told(lattice, search(lattice, rules, 0))} <= {outcome[2] for outcome in expected}


def test_only_counts_and_distinct_values_are_monotone_under_suppression():
    others = [criterion for criterion in DEFINITIONS if not isinstance(criterion, Distinct)]
    assert Rules(2, 5, True, [(0, Distinct(2))]).is_monotone
    for criterion in others:
        assert not Rules(2, 5, True, [(0, criterion)]).is_monotone
        assert Rules(2, 0, True, [(0, criterion)]).is_monotone


def test_many_classes_are_looked_at_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    columns = ["letters", "flat"]
    values = [rng.choice(list(rows_of(name)), 80).tolist() for name in columns]
    codes = rng.integers(0, 4, 80)
    rules = Rules(2, 20, True, [(0, Equal(Fraction(1, 3)))])
    lattice = lattice_of(columns, values, [0] * 80, None, [(codes, 4)])
    whole = search(lattice, rules, 10**6).best
    assert whole
    monkeypatch.setattr(rules_module, "COUNTS_PER_BLOCK", 1)
    assert search(lattice, rules, 10**6).best == whole


def test_ranks_of_values_that_are_not_published_do_not_count():
    """Among two ranks the classes of x and of y are 1/6 from all, among three it would be 1/12."""
    values = [["x"] * 3 + ["y"] * 3 + ["z"]]
    codes = np.array([0, 0, 1, 0, 1, 1, 2])
    lattice = lattice_of(["flat"], values, [0] * 7, None, [(codes, 3)])
    rules = Rules(2, 7, False, [(0, Ordered(Fraction(1, 10)))])
    assert search(lattice, rules, 10**6).best[0].levels == (1,)
    assert search(lattice, Rules(2, 7, False, [(0, Ordered(Fraction(1, 6)))]), 10**6).best[0].levels == (0,)
