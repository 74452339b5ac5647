"""Diversity and closeness of releases: enforced in every way, recounted by other code, and never broken silently."""

import collections
import dataclasses
import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag import verify
from mag._lib.progress import Progress
from mag.methods.distances.hierarchies import CategoryColumn, CategoryColumns
from mag.methods.mondrian.cutting import total_loss
from mag.methods.mondrian.pairs import CLOSE, Rule
from mag.tables import _grouping
from mag.tables.criteria import closeness_of, diversity_of, ground_of
from mag.tables.criteria.enforce import ENFORCE, Constraint, Enforced, _enforce, enforce
from mag.tables.criteria.enforce._balance import trim
from mag.tables.criteria.enforce.buckets import draw_groups, group_by_buckets, numbers_of_buckets
from mag.tables.criteria.enforce.cut import cut_groups
from mag.tables.criteria.enforce.merge import merge_groups
from mag.tables.criteria.equal import Equal
from tests.data.frames import LIBRARIES, cells
from tests.data.paths import DATA
from tests.oracles import criteria as oracle

DISEASES = ["cough", "flu", "skin", "ulcer"]
WAYS = ["auto", *ENFORCE]


def people(n=160, seed=0):
    """Numbers to mask that predict what is sensitive, strata, and missing cells among the sensitive ones."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    pay = np.round(age / 9 + rng.gamma(2, 1, n), 1)
    disease = np.array(DISEASES)[np.clip((age / 30 + rng.normal(0, 1, n)).astype(int), 0, 3)]
    return {
        "age": age,
        "height": rng.normal(170, 9, n),
        "region": np.array(["north", "south"])[rng.integers(0, 2, n)].tolist(),
        "disease": [None if i % 23 == 5 else str(one) for i, one in enumerate(disease)],
        "pay": [None if i % 31 == 7 else float(x) for i, x in enumerate(pay)],
    }


def classes_of(table, columns):
    """Records that print alike: the slow and obvious classes."""
    found = collections.defaultdict(list)
    for row, key in enumerate(zip(*([repr(cell) for cell in cells(table, name)] for name in columns), strict=True)):
        found[key].append(row)
    return list(found.values())


def is_absent(cell):
    return cell is None or cell is pd.NA or cell != cell


def values_of(table, name):
    """The sensitive values; missing cells alike, and last."""
    return [math.inf if is_absent(cell) else cell for cell in cells(table, name)]


def emd(group, everybody):
    """Over ranks, in fractions: Σ |F_group − F_all| over all distinct values but the last."""
    ranks = sorted(set(everybody))
    apart = [
        abs(Fraction(sum(v <= x for v in group), len(group)) - Fraction(sum(v <= x for v in everybody), len(everybody)))
        for x in ranks[:-1]
    ]
    return sum(apart, Fraction(0)) / max(len(ranks) - 1, 1)


def half_difference(group, everybody):
    p, q = collections.Counter(group), collections.Counter(everybody)
    return sum(abs(Fraction(p[v], len(group)) - Fraction(q[v], len(everybody))) for v in q) / 2


# ---- releases


DEMANDS = {
    "distinct": {"diversity": {"disease": 3}},
    "entropy": {"diversity": {"disease": ("entropy", 2.5)}},
    "recursive": {"diversity": {"disease": ("recursive", 2, 2)}},
    "ordered": {"closeness": {"pay": 0.2}},
    "equal": {"closeness": {"disease": 0.25}},
    "all": {"diversity": {"disease": 2}, "closeness": {"disease": 0.35, "pay": 0.25}},
    "combined": {"diversity": {("disease", "pay"): 5}},
}


def holds(demand, group, everybody):
    """By the definitions, on lists of (disease, pay)."""
    disease, pay = ([pair[place] for pair in group] for place in (0, 1))
    all_disease, all_pay = ([pair[place] for pair in everybody] for place in (0, 1))
    counts = sorted(collections.Counter(disease).values(), reverse=True)
    return {
        "distinct": len(set(disease)) >= 3,
        "entropy": oracle.at_least_entropy(counts, Fraction(5, 2)),
        "recursive": counts[0] < 2 * sum(counts[1:]),
        "ordered": emd(pay, all_pay) <= Fraction(1, 5),
        "equal": half_difference(disease, all_disease) <= Fraction(1, 4),
        "all": len(set(disease)) >= 2
        and half_difference(disease, all_disease) <= Fraction(35, 100)
        and emd(pay, all_pay) <= Fraction(1, 4),
        "combined": len(set(group)) >= 5,
    }[demand]


@pytest.mark.parametrize("enforce", WAYS)
@pytest.mark.parametrize("demand", DEMANDS)
def test_every_published_class_satisfies_the_definition(demand, enforce):
    table = people()
    release = mag.microaggregate(
        pd.DataFrame(table), 4, ["age", "height"], drop="region", rest="keep", enforce=enforce, **DEMANDS[demand]
    )
    data = release.data
    everybody = list(zip(*(values_of(data, name) for name in ("disease", "pay")), strict=True))
    found = classes_of(data, ["age", "height"])
    assert min(map(len, found)) >= 4
    assert len(found) > 1
    for rows in found:
        assert holds(demand, [everybody[row] for row in rows], everybody)
    for name in ("disease", "pay"):  # published as they are, where they were
        assert [*map(repr, values_of(data, name))] == [*map(repr, values_of(table, name))]


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_is_read_and_recounted_alike(library):
    table = people()
    table["disease"] = [one or "none" for one in table["disease"]]
    table["pay"] = [np.nan if x is None else x for x in table["pay"]]
    demands = {"diversity": {"disease": 3}, "closeness": {"pay": 0.2}}
    plain = mag.microaggregate(pd.DataFrame(table), 4, ["age", "height"], by="region", **demands)
    release = mag.microaggregate(LIBRARIES[library](table), 4, ["age", "height"], by="region", **demands)
    np.testing.assert_array_equal(release.grouping.labels, plain.grouping.labels)
    assert str(release.guarantee) == str(plain.guarantee)
    assert release.guarantee.closeness["pay"].counted <= 0.2


def test_groups_never_mix_strata_and_are_compared_with_the_whole_table():
    table = people(400)
    release = mag.microaggregate(
        pl.DataFrame(table), 4, ["age", "height"], by="region", rest="keep", closeness={"pay": 0.2}
    )
    pay, regions = values_of(release.data, "pay"), cells(release.data, "region")
    for group in range(release.grouping.n_groups):
        rows = np.flatnonzero(release.grouping.labels == group)
        assert len({regions[row] for row in rows}) == 1
        assert emd([pay[row] for row in rows], pay) <= Fraction(1, 5)


def test_withheld_records_count_for_nothing():
    """The table that classes are compared with is the published one."""
    table = people(120)
    table["age"] = [None if i % 3 == 0 else int(x) for i, x in enumerate(table["age"])]
    table["pay"] = [900.0 if i % 3 == 0 else 0.0 if i % 3 == 1 else 1.0 for i in range(120)]
    release = mag.microaggregate(
        pl.DataFrame(table), 4, ["age", "height"], missing="drop", rest="drop", closeness={"pay": 0}, shuffle=True
    )
    pay = cells(release.data, "pay")
    assert (len(pay), set(pay)) == (80, {0.0, 1.0})
    for rows in classes_of(release.data, ["age", "height"]):
        assert sum(pay[row] for row in rows) * 2 == len(rows)


def test_columns_of_categories_are_masked_beside_sensitive_ones():
    table = people()
    release = mag.microaggregate(
        pd.DataFrame(table), 4, ["age", "region"], rest="drop", diversity={"disease": 3}, aggregate={"region": "mode"}
    )
    values = values_of(release.data, "disease")
    for rows in classes_of(release.data, ["age", "region"]):
        assert len({values[row] for row in rows}) >= 3


@pytest.mark.parametrize("columns", [["age"], ["age", "height"]])
def test_one_column_and_several(columns):
    release = mag.microaggregate(pd.DataFrame(people()), 3, columns, rest="drop", diversity={"disease": 3})
    assert release.guarantee.diversity["disease"].counted >= 3
    assert release.guarantee.smallest >= 3


def test_hierarchical_closeness_and_ordered_categories():
    tree = mag.Hierarchy.from_parents({"cough": "lung", "flu": "lung", "lung": "any", "skin": "any", "ulcer": "any"})
    table = pd.DataFrame(people())
    ranked = table.assign(
        disease=pd.Categorical(table["disease"], ["flu", "cough", "skin", "ulcer", "gout"], ordered=True)
    )
    trees = mag.microaggregate(
        table, 4, ["age", "height"], rest="drop", closeness={"disease": mag.Closeness(0.2, hierarchy=tree)}
    )
    ranks = mag.microaggregate(ranked, 4, ["age", "height"], rest="drop", closeness={"disease": 0.2})
    named = mag.microaggregate(
        table,
        4,
        ["age", "height"],
        rest="drop",
        closeness={"disease": 0.2},
        order={"disease": ["flu", "cough", "skin", "ulcer"]},
    )
    assert trees.guarantee.closeness["disease"].criterion == "hierarchical"
    assert ranks.guarantee.closeness["disease"] == named.guarantee.closeness["disease"]
    assert ranks.guarantee.closeness["disease"].criterion == "ordered"
    assert b"gout" not in pickle.dumps(ranks)  # a category that nobody has
    everybody = [["flu", "cough", "skin", "ulcer", math.inf].index(one) for one in values_of(ranks.data, "disease")]
    for rows in classes_of(ranks.data, ["age", "height"]):
        assert emd([everybody[row] for row in rows], everybody) <= Fraction(1, 5)


def test_what_is_met_already_changes_nothing():
    plain = mag.microaggregate(pd.DataFrame(people()), 4, ["age", "height"], rest="keep")
    release = mag.microaggregate(pd.DataFrame(people()), 4, ["age", "height"], rest="keep", diversity={"pay": 2})
    np.testing.assert_array_equal(release.grouping.labels, plain.grouping.labels)
    assert release.grouping.method == plain.grouping.method


def test_missing_is_one_value_whatever_it_is_called():
    """Also where a column mixes None and NaN; and −0.0 is 0.0."""
    table = {
        "age": [1, 1, 2, 2],
        "x": np.array([None, float("nan"), "a", "b"], object),
        "y": [0.0, -0.0, 1.0, float("nan")],
    }
    assert verify.distinct(table, ["age"], "x") == 1
    assert verify.distinct(table, ["age"], "y") == 1
    release = mag.microaggregate(table, 2, "age", diversity={"x": 2, "y": 2})
    assert release.guarantee.smallest == 4  # all together, since two alone are not diverse


# ---- the guarantee


def test_the_guarantee_the_manifest_and_the_report_say_it(tmp_path):
    release = mag.microaggregate(
        pd.DataFrame(people()),
        4,
        ["age", "height"],
        drop="region",
        diversity={"disease": 3},
        closeness={"pay": mag.Closeness(0.2)},
    )
    text = str(release.guarantee)
    assert (
        "Every class holds at least 3 different values of disease (fewest 3); the distribution of pay in every" in text
    )
    assert "class is within 0.2 of the table's (earth mover's distance over ranks; largest 0." in text
    assert "Sensitive and kept as they are: disease, pay." in text
    manifest = json.loads(json.dumps(release.manifest()))
    assert manifest["guarantee"]["diversity"] == {"disease": {"criterion": "distinct", "l": 3, "counted": 3.0}}
    assert manifest["guarantee"]["closeness"]["pay"]["t"] == 0.2
    assert manifest["guarantee"]["sensitive"] == manifest["options"]["sensitive"] == ["disease", "pay"]
    page = release.report(tmp_path / "report.html").read_text()
    assert "different values of disease" in page
    assert str(pickle.loads(pickle.dumps(release)).guarantee) == text


def test_sensitive_columns_without_a_demand_are_named():
    release = mag.microaggregate(pd.DataFrame(people()), 4, ["age", "height"], sensitive="disease", rest="drop")
    assert release.guarantee.sensitive == ("disease",)
    [note] = [note for note in release.warnings if "disease" in note]
    least = verify.distinct(release.data, ["age", "height"], "disease")
    values = "a single value" if least == 1 else f"only {least} different values"
    assert note == f"No diversity or closeness was requested for disease: at least one class has {values}."


# ---- mistakes


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"diversity": {"age": 2}}, "'age' is in columns: its values would be masked"),
        ({"diversity": {"disease": 6}}, "diversity of 'disease' can be at most 5; got 6."),
        ({"diversity": {"disease": ("entropy", 4.9)}}, "entropy diversity of 'disease' can be at most 4.377; got 4.9."),
        ({"diversity": {"disease": ("recursive", 0.1, 2)}}, "is more than all records together have"),
        ({"diversity": {"nothing": 2}}, "diversity must name columns of the table; got 'nothing'."),
        ({"diversity": {("disease", "nothing"): 2}}, "diversity must name columns of the table; got 'nothing'."),
        ({"diversity": 3}, "diversity must be a dictionary by column; got 3."),
        ({"closeness": {"pay": 2}}, "closeness['pay'] must be a number from 0 to 1 or a mag.Closeness; got 2."),
        ({"closeness": {"disease": mag.Closeness(0.1, "ordered")}}, "needs values with an order"),
        ({"closeness": {("disease", "pay"): mag.Closeness(0.1, "ordered")}}, "needs values with an order"),
        ({"diversity": {"region": 2}, "by": "region"}, "'region' is in by and sensitive"),
        ({"diversity": {"region": 2}, "drop": "region"}, "'region' is in drop and sensitive"),
        ({"sensitive": "disease", "keep": "disease"}, "'disease' is in keep and sensitive"),
        ({"diversity": {"disease": 2}, "scope": "per-column"}, "are for scope='joint'"),
        ({"order": {"disease": ["a"]}, "diversity": {"disease": 2}}, "order must name columns that are masked, or"),
        (
            {"order": {"disease": ["a"]}, "closeness": {"disease": mag.Closeness(0.9, "equal")}},
            "over ranks; got 'disease'",
        ),
        ({"order": {"disease": ["a"]}, "closeness": {("disease", "pay"): 0.9}}, "over ranks; got 'disease'"),
        ({"enforce": "merge"}, "enforce is not used without diversity= or closeness=; got 'merge'."),
        ({"enforce": "strata", "diversity": {"disease": 2}}, "enforce must be one of "),
        ({"closeness": {"pay": 0.001}, "by": "region"}, "closeness of 'pay' cannot be met in 2 of 2 strata"),
    ],
)
def test_mistakes_are_one_sentence(options, sentence):
    with pytest.raises(mag.InputError) as error:
        mag.microaggregate(pd.DataFrame(people()), 4, ["age", "height"], rest="drop", **options)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_unhashable_sensitive_values_are_refused():
    table = pd.DataFrame({"age": [1, 2, 3, 4], "x": [[1], [2], [1], [2]]})
    with pytest.raises(mag.InputError, match="holds others"):
        mag.microaggregate(table, 2, "age", diversity={"x": 2})


def test_a_column_of_keep_may_be_demanded():
    release = mag.microaggregate(
        pd.DataFrame(people()), 4, ["age", "height"], keep=["disease", "pay"], drop="region", diversity={"disease": 2}
    )
    assert (release.guarantee.kept, release.guarantee.sensitive) == (("pay",), ("disease",))


# ---- the recount


@given(table=oracle.tables(), missing=st.booleans())
def test_the_recount_agrees_with_transport_and_with_the_criteria(table, missing):
    counts, totals = table
    names = oracle.NAMES[: len(totals)]
    rows = [(group, j) for group, row in enumerate(counts) for j, c in enumerate(row) for _ in range(int(c))]
    shown = [None if missing and j == len(names) - 1 else names[j] for _, j in rows]
    held = [*names[: len(names) - missing], *[None] * missing]
    published = {"group": [group for group, _ in rows], "x": np.array([*shown, 0], object)[:-1]}
    assert verify.distinct(published, ["group"], "x") == min(np.count_nonzero(counts, axis=1))
    for l in (1, 2, Fraction(3, 2), 3):  # noqa: E741
        exact = all(oracle.at_least_entropy(row, l) for row in counts)
        assert verify.is_uncertain(published, ["group"], "x", Fraction(l)) == exact
        assert diversity_of("d", ("entropy", l)).holds(counts, totals).all() == exact
    least = diversity_of("d", ("entropy", 1)).measure(counts, totals).min()
    assert verify.entropy(published, ["group"], "x") == pytest.approx(least)
    ratio = verify.recursive(published, ["group"], "x", 2)
    for c in (Fraction(1, 2), Fraction(1), Fraction(2)):
        assert diversity_of("d", ("recursive", c, 2)).holds(counts, totals).all() == (ratio < c)
    for ground in ("equal", "ordered", "hierarchical"):
        tree = oracle.TREE if ground == "hierarchical" else None
        far = verify.closeness(published, ["group"], "x", ground=ground, order=names, hierarchy=tree)
        expected = max(oracle.distance(ground, row, totals, held if tree else names) for row in counts)
        assert far == expected


def test_the_recount_of_an_empty_table_and_of_unknown_columns():
    empty = {"age": np.zeros(0), "x": np.zeros(0)}
    assert verify.distinct(empty, ["age"], "x") == verify.entropy(empty, ["age"], "x") == 0
    assert verify.closeness(empty, ["age"], "x") == verify.recursive(empty, ["age"], "x", 2) == 0
    with pytest.raises(mag.InputError, match="must name columns of the table; got 'y'"):
        verify.distinct(empty, ["age"], "y")
    with pytest.raises(mag.InputError, match="hierarchy is needed"):
        verify.closeness({"age": [1], "x": [1]}, ["age"], "x", ground="hierarchical")
    with pytest.raises(mag.InputError, match="values with an order"):
        verify.closeness({"age": [1, 1], "x": np.array([1, "a"], object)}, ["age"], "x")


@pytest.mark.parametrize("dates", ["datetime64[ns]", "datetime64[D]"])
def test_the_recount_reads_dates_of_every_library(dates):
    days = np.array(["2026-01-01", "2026-03-01", "NaT", "2026-02-01", "2026-01-01", "2026-02-01"], dates)
    ages = [1, 1, 1, 2, 2, 2]
    ranks = [0, 2, 3, 1, 0, 1]
    expected = max(emd(ranks[:3], ranks), emd(ranks[3:], ranks))
    tables = [{"age": ages, "day": days}, pd.DataFrame({"age": ages, "day": days})]
    tables += [pl.from_pandas(tables[1]), pa.table({"age": ages, "day": pa.array(tables[1]["day"])})]
    for table in tables:
        assert verify.closeness(table, ["age"], "day") == expected
        assert mag.microaggregate(table, 2, "age", closeness={"day": 1}).guarantee.closeness["day"].holds


BROKEN = {  # algorithms that do not do their work
    "enforce": (
        _grouping,
        "enforce",
        lambda z, k, labels, *others, **more: Enforced(labels, int(labels.max()) + 1, ["merge"]),
    ),
    "judge_groups": (
        Constraint,
        "judge_groups",
        lambda self, labels: (np.ones(labels.max() + 1, bool), np.zeros(labels.max() + 1)),
    ),
}


@pytest.mark.parametrize("demand", DEMANDS)
@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_algorithm_publishes_nothing(broken, demand, monkeypatch):
    monkeypatch.setattr(*BROKEN[broken])
    with pytest.raises(mag.NotAnonymousError, match=r"would break a promise, that .* nothing is published"):
        mag.microaggregate(pd.DataFrame(people()), 2, ["age", "height"], rest="drop", **DEMANDS[demand])


def test_a_file_that_breaks_a_promise_is_not_published(tmp_path, mag_, monkeypatch):
    pl.DataFrame(people()).write_csv(tmp_path / "in.csv")
    monkeypatch.setattr(*BROKEN["enforce"])
    arguments = ("-k", 2, "-c", "age", "-c", "height", "--drop", "region", "--keep", "pay", "--diversity", "disease=3")
    code, _, complaint = mag_("mask", tmp_path / "in.csv", "-o", tmp_path / "out.csv", *arguments)
    assert code != 0
    assert "would break a promise" in complaint
    assert not (tmp_path / "out.csv").exists()


# ---- bounds of t-closeness first (Soria-Comas et al. 2015), by brute force


def buckets(values, b):
    """Sorted values in b buckets of equal size."""
    size = len(values) // b
    return [sorted(values)[i * size : (i + 1) * size] for i in range(b)]


@pytest.mark.parametrize(
    ("n", "b", "each"), [(6, 2, 1), (6, 3, 1), (8, 2, 1), (8, 4, 1), (9, 3, 1), (8, 2, 2), (9, 3, 2)]
)
def test_equally_many_of_each_bucket_are_within_the_bound(n, b, each):
    values = list(range(n))
    draws = itertools.product(*(itertools.combinations(bucket, each) for bucket in buckets(values, b)))
    worst = max(emd(list(itertools.chain(*draw)), values) for draw in draws)
    bound = Fraction(n - b, 2 * b * (n - 1))
    assert worst == bound if each == 1 else worst < bound


@pytest.mark.parametrize(("n", "k"), [(6, 2), (6, 3), (8, 2), (9, 3), (10, 2), (10, 5), (7, 1)])
def test_the_least_distance_of_k_records(n, k):
    least = min(emd(group, range(n)) for group in itertools.combinations(range(n), k))
    bound = Fraction((n + k) * (n - k), 4 * n * (n - 1) * k)
    assert least == bound if n // k % 2 and n % k == 0 else least > bound


def test_ties_break_the_published_bound():
    values = [0, 0, 0, 1]
    assert emd([0, 0], values) == Fraction(1, 4) > Fraction(4 - 2, 2 * 2 * (4 - 1)) == Fraction(1, 6)


@pytest.mark.parametrize(("n", "b"), [(4, 2), (6, 2), (6, 3)])
def test_the_bound_with_ties_is_reached(n, b):
    """Over all multisets of values and all draws of one from each bucket."""
    worst = Fraction(0)
    for values in itertools.combinations_with_replacement(range(n), n):
        for draw in itertools.product(*(set(bucket) for bucket in buckets(values, b))):
            worst = max(worst, emd(draw, values))
    assert worst == Fraction(n - b, b * n)


@pytest.mark.parametrize("t", [0.3, 0.15, 0.05])
def test_buckets_of_different_values_need_no_repair(t):
    """The first number of buckets is enough where all values differ and every bucket is used up."""
    rng = np.random.default_rng(1)
    n = 240
    z, codes = rng.normal(size=(n, 2)), rng.permutation(n)
    constraint = Constraint.of("x", ground_of(closeness_of("t", t), [0] * n, True, "x"), codes)
    b = numbers_of_buckets(constraint, 4)[0]
    assert Fraction(n - b, 2 * b * (n - 1)) <= Fraction(str(t)) < Fraction(n - b + 1, 2 * (b - 1) * (n - 1))
    [drawn] = group_by_buckets(z, 4, constraint)
    assert constraint.judge_groups(drawn)[0].all()
    assert np.bincount(drawn).min() >= 4


# ---- merging and drawing


@given(
    labels=st.lists(st.integers(0, 5), min_size=6, max_size=24),
    values=st.lists(st.integers(0, 3), min_size=24, max_size=24),
    least=st.integers(1, 4),
)
def test_merging_joins_whole_groups_until_all_hold(labels, values, least):
    labels = np.unique(labels, return_inverse=True)[1]
    codes = np.unique(values[: labels.size], return_inverse=True)[1]
    constraint = Constraint.of("x", diversity_of("d", min(least, codes.max() + 1)), codes)
    z = np.random.default_rng(0).normal(size=(labels.size, 2))
    merged = merge_groups(z, labels, [constraint])
    assert constraint.judge_groups(merged)[0].all()
    for group in range(labels.max() + 1):
        assert len(set(merged[labels == group])) == 1
    if constraint.judge_groups(labels)[0].all():
        np.testing.assert_array_equal(merged, labels)


def test_the_nearest_records_with_enough_values_are_taken():
    """Of all sets of k records with enough values, the one nearest to the seed: by enumeration."""
    from mag.tables.criteria.enforce.buckets import take_values

    rng = np.random.default_rng(3)
    for _ in range(40):
        codes, away = rng.integers(0, 4, 9), rng.random(9)
        for k, different in ((3, 2), (4, 3), (3, 3)):
            places = take_values(codes, k, different)(np.arange(9), away)
            sets = [s for s in itertools.combinations(range(9), k) if len(set(codes[list(s)])) >= different]
            if places is None:
                assert not sets
                continue
            assert len(set(places.tolist())) == k
            assert len(set(codes[places])) >= different
            assert away[places].sum() == pytest.approx(min(away[list(s)].sum() for s in sets))


def test_records_that_are_left_over_join_groups():
    z = np.arange(11.0)[:, None]
    labels = draw_groups(z, 3, lambda left, away: np.argsort(away)[:3] if left.size >= 3 else None)
    assert np.bincount(labels).tolist() == [3, 4, 4]


# ---- cutting


def random_records(seed):
    """Two numbers and a tree of two levels, beside sensitive codes that they predict."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 120))
    leaf = rng.integers(0, 5, n)
    codes = np.unique(np.clip(leaf + rng.integers(-1, 2, n), 0, 4), return_inverse=True)[1]
    z = np.column_stack([rng.normal(size=n) + leaf, rng.integers(0, 4, n).astype(float), np.zeros(n)])
    levels = np.array([[0, 5, 7], [1, 5, 7], [2, 6, 7], [3, 6, 7], [4, 4, 7]])
    loss = np.array([0, 0, 0, 0, 0, 0.4, 0.4, 1.0])
    column = CategoryColumn(leaf, levels, loss, np.zeros((5, 1)), 2, 1.0)
    return z, CategoryColumns(np.array([0, 1]), [column], np.ones(2)), codes, rng


def naive_loss(z, trees, labels):
    """Ranges and nodes, group by group."""
    total = 0.0
    for group in range(labels.max() + 1):
        rows = np.flatnonzero(labels == group)
        for j in trees.numbers.tolist():
            total += rows.size * np.ptp(z[rows, j]) / (np.ptp(z[:, j]) or 1.0)
        for column in trees.columns:
            own = column.levels[column.codes[rows]]
            node = next(nodes[0] for nodes in own.T if len(set(nodes.tolist())) == 1)
            total += rows.size * column.loss[node]
    return total


CUT_FOR = {
    "distinct": lambda rng: diversity_of("d", int(rng.integers(2, 4))),
    "entropy": lambda rng: diversity_of("d", ("entropy", 1.8)),
    "equal": lambda rng: ground_of(closeness_of("t", float(rng.choice([0.1, 0.2, 0.35]))), [0] * 5, False, "x"),
    "ordered": lambda rng: ground_of(closeness_of("t", 0.15), [0] * 5, True, "x"),
}


@pytest.mark.parametrize("name", CUT_FOR)
def test_every_part_of_a_cut_satisfies_the_criterion_and_less_is_lost(name):
    divided = 0
    for seed in range(60):
        z, trees, codes, rng = random_records(seed)
        k, constraint = int(rng.integers(1, 6)), Constraint.of("x", CUT_FOR[name](rng), codes)
        if not constraint.whole[0]:
            continue
        for own in (trees, None):
            labels = cut_groups(z, k, own, [constraint], Progress())
            assert np.array_equal(np.unique(labels), np.arange(labels.max() + 1))
            assert np.bincount(labels).min() >= min(k, labels.size)
            assert constraint.judge_groups(labels)[0].all()
            divided += labels.max() > 0
        labels = cut_groups(z, k, trees, [constraint], Progress())
        lost = naive_loss(z, trees, labels)
        assert total_loss(z, trees, labels) == pytest.approx(lost)
        assert lost <= naive_loss(z, trees, np.zeros(codes.size, np.int64)) + 1e-9
    assert divided > 10


def test_a_trimmed_child_keeps_the_most_records_that_satisfy_closeness():
    """By enumeration of all counts."""
    rng = np.random.default_rng(5)
    kept_some = 0
    for _ in range(150):
        totals = rng.integers(1, 9, 3) + 5
        counts = np.minimum(rng.integers(0, 6, 3), totals)
        k, t = int(rng.integers(1, 4)), Fraction(int(rng.integers(1, 10)), 20)
        rule = Rule(np.zeros(0, np.int64), totals, int(totals.sum()), CLOSE, t.numerator, t.denominator, np.zeros(0))
        kept = np.zeros(3, np.int64)
        size = trim(rule, k, counts, int(counts.sum()), kept)
        selections = np.array([*itertools.product(*(range(c + 1) for c in counts.tolist()))])
        selections = selections[selections.sum(axis=1) >= k]
        held = Equal(t).holds(selections, totals) if len(selections) else np.zeros(0, bool)
        most = selections[held].sum(axis=1).max(initial=0)
        assert size == kept.sum() <= most
        assert (kept <= counts).all()
        assert size == 0 or Equal(t).holds(kept[None], totals)[0]
        assert size >= most - 1  # shares are rounded
        kept_some += 0 < size < counts.sum()
    assert kept_some > 10


def test_cutting_comes_close_to_the_best_of_all_groupings():
    """By enumeration of all groupings of few records."""
    ratios = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        leaf, codes = rng.integers(0, 5, 8), np.arange(8) % 2
        _, trees, _, _ = random_records(0)
        trees = CategoryColumns(np.array([0]), [dataclasses.replace(trees.columns[0], codes=leaf, first=1)], np.ones(1))
        z = np.column_stack([rng.normal(size=8), np.zeros(8)])
        constraint = Constraint.of("x", diversity_of("d", 2), codes)
        best = min(
            naive_loss(z, trees, labels)
            for labels in all_groupings(8)
            if np.bincount(labels).min() >= 2 and constraint.judge_groups(labels)[0].all()
        )
        lost = naive_loss(z, trees, cut_groups(z, 2, trees, [constraint], Progress()))
        assert lost >= best - 1e-9
        ratios.append(lost / naive_loss(z, trees, np.zeros(8, np.int64)))
    assert np.mean(ratios) < 0.75


def all_groupings(n):
    """Labels of every partition of n records."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*labels, group] for labels in found for group in range(max(labels) + 2)]
    return map(np.array, found)


def test_categories_are_cut_where_many_groups_would_fail(monkeypatch):
    rng = np.random.default_rng(0)
    table = {"age": rng.integers(18, 80, 600), "job": rng.choice([*"abcdef"], 600), "s": rng.choice([*"uvwxyz"], 600)}
    monkeypatch.setattr(_enforce, "MAX_SEARCH_WORK", 0)
    options = {"aggregate": {"age": "range", "job": "mode"}, "rest": "drop"}
    strict = mag.microaggregate(pd.DataFrame(table), 3, ["age", "job"], closeness={"s": 0.3}, **options)
    assert strict.grouping.method == "mondrian, cut, exchange"
    assert strict.guarantee.closeness["s"].counted <= 0.3
    merged = mag.microaggregate(
        pd.DataFrame(table), 3, ["age", "job"], closeness={"s": 0.3}, enforce="merge", **options
    )
    assert strict.ncp() < merged.ncp()
    weak = mag.microaggregate(pd.DataFrame(table), 3, ["age", "job"], diversity={"s": 2}, **options)
    assert weak.grouping.method.startswith("ona")


@pytest.mark.parametrize("way", WAYS)
def test_every_criterion_holds_when_the_time_is_up(way):
    z, trees, codes, _ = random_records(7)
    for criterion in (diversity_of("d", 3), ground_of(closeness_of("t", 0.2), [0] * 5, False, "x")):
        constraint = Constraint.of("x", criterion, codes)
        labels, late = np.arange(codes.size) // 3, Progress(None, 1e-9)
        labels[labels == labels.max()] -= labels.max() > 0 and codes.size % 3 > 0
        enforced = enforce(z, 3, labels, [np.arange(codes.size)], [constraint], way, trees, late)
        assert constraint.judge_groups(enforced.labels)[0].all()
        assert np.bincount(enforced.labels).min() >= 3


@pytest.mark.parametrize("way", ["auto", "cut"])
def test_a_table_is_cut_to_the_end_when_the_time_is_up(way):
    z, trees, codes, _ = random_records(7)
    equal = ground_of(closeness_of("t", 0.2), [0] * 5, False, "x")
    for criterion in (diversity_of("d", 2), diversity_of("e", ("entropy", 1.8)), equal):
        constraint, late = Constraint.of("x", criterion, codes), Progress(None, 1e-9)
        alone = np.zeros(codes.size, np.int64)
        alone[codes == codes[0]] = 1  # fails
        enforced = enforce(z, 3, alone, [np.arange(codes.size)], [constraint], way, trees, late)
        cut = cut_groups(z, 3, trees, [constraint], Progress())
        assert enforced.n_groups > 1
        assert enforced.ways == ["cut"]
        assert total_loss(z, trees, enforced.labels) <= total_loss(z, trees, cut)
        assert late.stopped == (way == "auto")  # which had no time for the other ways


def test_the_clock_of_criteria_starts_when_the_code_is_loaded(monkeypatch):
    events = []
    for name in ("warm_up", "Progress"):
        call = getattr(_grouping, name)
        monkeypatch.setattr(_grouping, name, lambda *given, call=call, name=name: events.append(name) or call(*given))
    table = people()
    mag.microaggregate(table, 3, ["age", "height"], diversity={"disease": 2}, rest="drop", time_limit=5)
    assert events == ["warm_up", "Progress"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seconds", [20.0, 1e-9])
def test_closeness_with_a_time_limit(way, seconds):
    """The first few records are far from the whole table: no group of them alone is close."""
    rng = np.random.default_rng(0)
    diseases = [*"a" * 40, *rng.choice([*"abcd"], 80)]
    table = {"age": np.arange(120.0), "height": rng.normal(size=120), "disease": diseases}
    options = {"closeness": {"disease": 0.2}, "enforce": way, "time_limit": seconds}
    release = mag.microaggregate(table, 3, ["age", "height"], **options)
    assert release.guarantee.smallest >= 3
    assert release.guarantee.closeness["disease"].holds


# ---- Thaeter's thesis, by hand


def test_table_3_1_of_the_thesis():
    """Ranges of two clusterings; both are 3-anonymous."""
    for clusters, printed in (
        ([0, 1, 1, 1, 0, 0], [("[3, 12]", "[6, 9]"), *[("[6, 9]", "3")] * 3, *[("[3, 12]", "[6, 9]")] * 2]),
        ([0, 0, 0, 1, 1, 1], [*[("[3, 9]", "[3, 6]")] * 3, *[("[9, 12]", "[3, 9]")] * 3]),
    ):
        table = {"x": [3, 6, 9, 9, 12, 12], "y": [6, 3, 3, 3, 6, 9], "cluster": clusters}
        release = mag.microaggregate(table, 3, ["x", "y"], by="cluster", aggregate="range")
        assert list(zip(release.data["x"], release.data["y"], strict=True)) == printed
        assert verify.recount(release.data, ["x", "y"]) == 3


def test_table_3_3_of_the_thesis():
    """Closest common ancestors of figure 3.2; a root is suppression."""
    crafts = dict.fromkeys(["baker", "carpenter", "painter", "electrician"], "craftsperson")
    doctors = dict.fromkeys(["dentist", "dermatologist", "ophthalmologist", "surgeon"], "doctor")
    jobs = mag.Hierarchy.from_parents({**crafts, **doctors, "craftsperson": "ε", "doctor": "ε"})
    low, high = "(1500, 3000]", "(3000, 6000]"
    pay = mag.Hierarchy.from_levels(
        [[2200, low, "ε"], [2800, low, "ε"], [2900, low, "ε"], [3137, high, "ε"], [5800, high, "ε"]]
    )
    table = {
        "job": ["dentist", "dentist", "baker", "painter", "painter", "surgeon", "electrician"],
        "pay": [2800, 5800, 2200, 2900, 3137, 3137, 3137],
        "cluster": [1, 1, 2, 2, 3, 3, 3],
    }
    release = mag.microaggregate(table, 2, ["job", "pay"], by="cluster", hierarchies={"job": jobs, "pay": pay})
    assert list(release.data["job"]) == ["dentist"] * 2 + ["craftsperson"] * 2 + ["ε"] * 3
    assert list(release.data["pay"]) == ["ε"] * 2 + [low] * 2 + ["3137"] * 3
    assert verify.recount(release.data, ["job", "pay"]) == 2


def test_table_3_5_of_the_thesis():
    """Classes of X̂_1 and X̂_2, and of X̂_3: each has the distribution of the table."""
    table = {"QI": [1, 1, 1, 1, 2, 2, 2, 2], "CA": [1, 1, 2, 2, 1, 1, 2, 2]}
    assert verify.closeness(table, ["QI"], "CA") == 0
    assert verify.closeness({**table, "QI": [1.5] * 8}, ["QI"], "CA") == 0
    release = mag.microaggregate(table, 2, "QI", closeness={"CA": 0})
    assert release.data["QI"].tolist() == table["QI"]
    assert release.guarantee.closeness["CA"].counted == 0


# ---- others' figures


def test_pycanon_finds_the_same_k_l_and_t():
    reason = "pycanon pins its dependencies: pip install --no-deps pycanon beartype tabulate"
    anonymity = pytest.importorskip("pycanon.anonymity", reason=reason)
    table = pd.DataFrame(people(300))
    table["disease"], table["pay"] = table["disease"].fillna("none"), table["pay"].fillna(99.0)
    qi = ["age", "height"]
    for demands in DEMANDS.values():
        release = mag.microaggregate(table, 4, qi, by="region", rest="keep", **demands)
        data, classes = release.data, ["region", *qi]
        assert anonymity.k_anonymity(data, classes) == release.guarantee.smallest
        assert anonymity.l_diversity(data, classes, ["disease"]) == verify.distinct(data, classes, "disease")
        assert anonymity.entropy_l_diversity(data, classes, ["disease"]) == int(
            verify.entropy(data, classes, "disease")
        )
        for name, ground in (("pay", "ordered"), ("disease", "equal")):
            assert anonymity.t_closeness(data, classes, [name]) == pytest.approx(
                float(verify.closeness(data, classes, name, ground=ground)), abs=1e-9
            )


@pytest.mark.parametrize(
    ("sensitive", "t", "buckets"), [("FEDTAX", 0.25, 0.4569), ("FICA", 0.25, 0.2818), ("FICA", 0.1, 0.3681)]
)
def test_census_loses_what_was_computed_or_less(sensitive, t, buckets):
    """By ⌈k/b⌉ records of each of b buckets, k = 10, as prototypes found; the best way is not worse."""
    path = DATA / "census.csv"
    if not path.is_file():
        pytest.skip(f"{path.name} is not beside the project; MAG_DATA may say where it is")
    table = pl.read_csv(path).select("TAXINC", "POTHVAL", sensitive)
    losses = {}
    for how in ("buckets", "auto"):
        release = mag.microaggregate(table, 10, ["TAXINC", "POTHVAL"], closeness={sensitive: t}, enforce=how)
        assert release.guarantee.smallest >= 10
        assert release.guarantee.closeness[sensitive].counted <= t
        original = table.select("TAXINC", "POTHVAL").to_numpy().astype(float)
        masked = release.data.select("TAXINC", "POTHVAL").to_numpy().astype(float)
        losses[how] = mag.metrics.information_loss(original, masked, standardize=True)
    assert losses["buckets"] == pytest.approx(buckets, abs=1e-3)
    assert losses["auto"] <= losses["buckets"] + 1e-6


# ---- the command line, and the estimator


@pytest.fixture
def file(tmp_path):
    table = pl.DataFrame(people())
    table.write_csv(tmp_path / "in.csv")
    return tmp_path / "in.csv"


MASK = ("-k", 4, "-c", "age", "-c", "height", "--drop", "region")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_masked_and_checked(file, ending, mag_):
    out = file.with_name(f"out.{ending}")
    demands = ("--diversity", "disease=3", "--closeness", "pay=0.2")
    code, text, _ = mag_("mask", file, "-o", out, *MASK, *demands)
    assert code == 0
    assert "at least 3 different values of disease" in text
    assert "Sensitive and kept as they are: disease, pay." in text
    manifest = json.loads(out.with_name(f"{out.name}.manifest.json").read_text())
    assert [entry["column"] for entry in manifest["verified"]["sensitive"]] == ["disease", "pay"]
    code, text, _ = mag_("check", out, "--qi", "age", "--qi", "height", "-k", 4, *demands)
    assert code == 0
    assert text.count("PASS") == 3
    stricter = ("--diversity", "disease=recursive:0.5,2", "--closeness", "pay=0.01:ordered")
    code, text, _ = mag_("check", out, "--qi", "age", "--qi", "height", "-k", 4, *stricter)
    assert code == 1
    assert text.count("FAIL") == 2
    code, text, _ = mag_("check", out, "--qi", "age", "--qi", "height", "-k", 4, *stricter, "--json")
    assert [entry["holds"] for entry in json.loads(text)["sensitive"]] == [False, False]
    frame = pl.read_csv(out) if ending == "csv" else pl.read_parquet(out)
    assert frame["pay"].to_list() == pl.read_csv(file)["pay"].to_list()


def test_hierarchies_and_entropy_on_the_command_line(file, mag_):
    tree = file.with_name("tree.csv")
    tree.write_text("cough;lung;*\nflu;lung;*\nskin;skin;*\nulcer;belly;*\n")
    out = file.with_name("out.csv")
    demands = ("--closeness", f"disease=0.3:{tree}", "--diversity", "disease=entropy:2", "--keep", "disease")
    code, text, _ = mag_("mask", file, "-o", out, *MASK, "--sensitive", "pay", *demands)
    assert code == 0
    assert "over the hierarchy" in text
    assert "at least as uncertain as 2 equally frequent values" in text


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("command", ["mask", "generalize"])
def test_orders_and_combined_columns_on_the_command_line(tmp_path, mag_, command, ending):
    rng = np.random.default_rng(8)
    table = {
        "age": rng.integers(20, 60, 90),
        "degree": rng.choice(["low", "mid", "top, really"], 90),
        "sex": rng.choice(["f", "m"], 90),
        "a+b": rng.choice(["x", "y"], 90),
    }
    source, out = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    pl.DataFrame(table).write_csv(source) if ending == "csv" else pl.DataFrame(table).write_parquet(source)
    order = ("--order", 'degree=low,mid,"top, really"')
    demands = ("--closeness", "degree=0.25:ordered", "--diversity", "degree+sex=3", "--diversity", "a+b=2")
    levels = ("--intervals", "age=20:60:5,20") if command == "generalize" else ()
    code, text, complaint = mag_(command, source, "-o", out, "-k", 4, "-c", "age", *levels, *demands, *order)
    assert (code, complaint) == (0, "")
    assert "at least 3 different values of degree and sex" in text
    manifest = json.loads(out.with_name(f"{out.name}.manifest.json").read_text())
    counted = manifest["verified"]["sensitive"]
    assert [entry["column"] for entry in counted] == ["degree and sex", "a+b", "degree"]
    published = pl.read_csv(out) if ending == "csv" else pl.read_parquet(out)
    ranks = dict(zip(["low", "mid", "top, really"], range(3), strict=True))
    distance = mag.privacy.t_closeness(
        published["age"].rank("dense").to_numpy(), published["degree"].replace_strict(ranks).to_numpy()
    )
    assert counted[2]["counted"] == pytest.approx(distance)
    code, text, _ = mag_("check", out, "--qi", "age", "-k", 4, *demands, *order)
    assert (code, text.count("PASS")) == (0, 4)
    code, _, complaint = mag_("check", out, "--qi", "age", "-k", 4, *demands)
    assert (code, "needs values with an order" in complaint) == (2, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--diversity", "disease"), "--diversity must be NAME=L"),
        (("--diversity", "disease+nothing=2"), "has no column 'nothing'"),
        (("--order", "region=north,south"), "--order must be NAME=A,B,..., of a column of -c or --closeness"),
        (("--diversity", "disease=many"), "--diversity must be NAME=L"),
        (("--closeness", "pay=0.2:"), "--closeness must be NAME=T"),
        (("--closeness", "pay=near"), "--closeness must be NAME=T"),
        (("--diversity", "nothing=2"), "has no column 'nothing'"),
        (("--diversity", "age=2"), "'age' is named by -c and --sensitive"),
    ],
)
def test_mistakes_on_the_command_line(file, mag_, words, sentence):
    code, _, complaint = mag_("mask", file, "--dry-run", *MASK, "--keep", "disease", "--keep", "pay", *words)
    assert code == 2
    assert sentence in complaint


def test_check_refuses_sensitive_quasi_identifiers(file, mag_):
    code, _, complaint = mag_("check", file, "--qi", "disease", "-k", 1, "--diversity", "disease=1")
    assert (code, "must not be one of --qi" in complaint) == (2, True)


def test_the_estimator_keeps_its_promises():
    pytest.importorskip("sklearn")
    table = people()
    X = np.column_stack([table["age"], table["height"]])
    sensitive = [one or "none" for one in table["disease"]]
    estimator = mag.Microaggregator(4, diversity=3, closeness=0.3)
    masked = estimator.fit_transform(X, sensitive=sensitive)
    assert [promise.criterion for promise in estimator.promises_] == ["distinct", "equal"]
    for rows in classes_of({"x": masked[:, 0], "y": masked[:, 1]}, ["x", "y"]):
        group = [sensitive[row] for row in rows]
        assert len(rows) >= 4
        assert len(set(group)) >= 3
        assert half_difference(group, sensitive) <= Fraction(3, 10)
    means = np.stack([X[estimator.labels_ == g].mean(axis=0) for g in range(estimator.n_groups_)])
    np.testing.assert_allclose(estimator.cluster_centers_, means)
    assert estimator.sizes_.tolist() == np.bincount(estimator.labels_).tolist()
    plain = mag.Microaggregator(4).fit(X)
    assert estimator.information_loss_ >= plain.information_loss_


@pytest.mark.parametrize("library", [pl, pd])
def test_the_estimator_keeps_its_promises_for_frames_with_categories(library):
    pytest.importorskip("sklearn")
    table = people()
    X = library.DataFrame({"age": table["age"], "sensitive": [one or "none" for one in table["region"]]})
    disease, index = [one or "none" for one in table["disease"]], np.arange(len(table["age"]))[::-1]
    values = pd.Series(disease, index=index) if library is pd else disease  # by place, whatever the index says
    estimator = mag.Microaggregator(4, diversity=3, closeness=0.4, aggregate={"sensitive": "mode"})
    masked = estimator.fit_transform(X, sensitive=values)
    assert list(masked.columns) == ["age", "sensitive"]
    assert type(masked) is library.DataFrame
    assert [promise.criterion for promise in estimator.promises_] == ["distinct", "equal"]
    published = {name: list(masked[name]) for name in ("age", "sensitive")}
    for rows in classes_of(published, ["age", "sensitive"]):
        group = [disease[row] for row in rows]
        assert len(rows) >= 4
        assert len(set(group)) >= 3
        assert half_difference(group, disease) <= Fraction(2, 5)
    assert "flu" not in str(vars(estimator))
    with pytest.raises(mag.InputError, match="as many records as X"):
        estimator.fit(X, sensitive=disease[:5])


def test_mistakes_of_the_estimator():
    pytest.importorskip("sklearn")
    X, sensitive = np.arange(20.0).reshape(10, 2), list("abababababab")[:10]
    for estimator, values, sentence in (
        (mag.Microaggregator(2, diversity=2), None, "diversity needs sensitive values, pass them to fit."),
        (mag.Microaggregator(2), sensitive, "sensitive is not used without diversity or closeness"),
        (mag.Microaggregator(2, diversity=3), sensitive, "diversity of 'sensitive' can be at most 2; got 3."),
        (mag.Microaggregator(2, diversity=2), sensitive[:4], "as many records as X, n=10; got 4"),
        (mag.Microaggregator(2, diversity=2, enforce="x"), sensitive, "enforce must be one of"),
        (mag.Microaggregator(2, enforce="merge"), None, "enforce is not used without diversity or closeness"),
    ):
        with pytest.raises(mag.InputError) as error:
            estimator.fit(X, sensitive=values)
        assert sentence in str(error.value)


@pytest.mark.parametrize("wish", [2, ("entropy", 1.5), ("recursive", 2, 2)], ids=str)
@pytest.mark.parametrize("k", [3, 4, 5])
def test_buckets_never_draw_a_small_last_group(wish, k):
    """A few records that are left may have enough different values, but be fewer than k."""
    rng = np.random.default_rng(k)
    for n in range(2 * k, 4 * k):
        z, codes = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % 2)
        for labels in group_by_buckets(z, k, Constraint.of("s", diversity_of("s", wish), codes)):
            assert np.bincount(labels).min() >= k


def test_no_estimator_has_a_group_below_k():
    rng = np.random.default_rng(0)
    for _ in range(120):
        n = int(rng.integers(6, 20))
        X, sensitive = rng.normal(size=(n, 2)), rng.permutation(np.arange(n) % 2).tolist()
        assert mag.Microaggregator(3, diversity=2).fit(X, sensitive=sensitive).sizes_.min() >= 3


@pytest.mark.parametrize("options", [{"unit": "u"}, {"diversity": {"u": 3}}], ids=str)
def test_records_of_one_value_side_by_side_have_a_time_limit(options):
    """Code is warmed up with a few of the records, which need not satisfy what all do."""
    n = 60
    table = pd.DataFrame({"x": np.arange(n), "y": np.arange(n) ** 2 % 17, "u": np.append(np.zeros(n - 6), range(1, 7))})
    release = mag.microaggregate(table, 3, ["x", "y"], time_limit=60, **options)
    counts = table["u"].groupby([release.data["x"], release.data["y"]]).nunique()
    assert counts.min() >= 3
