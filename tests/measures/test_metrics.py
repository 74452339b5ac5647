"""Every measure of loss: a calculation by hand, and properties of any release."""

import importlib

import numpy as np
import pytest

import mag
from mag import metrics
from mag.metrics import METRICS
from tests.data.records import correlated_records, in_groups_of

# Thaeter, table 2.1, and the two groupings of table 3.1
TEST_DATA = np.array([[3, 6], [6, 3], [9, 3], [9, 3], [12, 6], [12, 9]])
GLOBAL, LOCAL = [0, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1]
TREE = {"flu": "lung", "cough": "lung", "lung": "inner", "ulcer": "inner", "inner": "any", "burn": "any", "any": "any"}

PAIRS = [  # measures of an original and a masked table that are 0 where nothing changed
    "correlation_difference",
    "eigenvalue_difference",
    "il1",
    "il1s",
    "il_correl",
    "information_loss",
    "propensity_mse",
    "share_change",
    "sse",
]


# ---- by hand


def test_sse_by_hand():
    # (1−2)² + (3−2)² + (10−12)² + (14−12)² = 1 + 1 + 4 + 4
    assert metrics.sse([1, 3, 10, 14], [2, 2, 12, 12]) == 10
    # columns have variances 1 and 4 (of n): 1²/1 + 2²/4 for either record
    assert metrics.sse([[0, 0], [2, 4]], [[1, 2], [1, 2]], standardize=True) == 4


def test_sst_by_hand():
    # mean 7: 36 + 16 + 9 + 49
    assert metrics.sst([1, 3, 10, 14]) == 110
    # n times the two columns that vary
    assert metrics.sst([[0, 0, 7], [2, 4, 7]], standardize=True) == pytest.approx(4)


def test_information_loss_by_hand():
    assert metrics.information_loss([1, 3, 10, 14], [2, 2, 12, 12]) == pytest.approx(10 / 110)
    # first column unchanged, second replaced by its mean: half of the standardized variation, 4/5 of the raw
    X, Y = [[0, 0], [2, 4]], [[0, 2], [2, 2]]
    assert metrics.information_loss(X, Y) == pytest.approx(1 / 2)
    assert metrics.information_loss(X, Y, standardize=False) == pytest.approx(8 / 10)


def test_il1_by_hand():
    # |1−2|/1 + |4−2|/4 + |−5+4|/5 = 1 + 0.5 + 0.2; 0 → 3 has no relative change, 0 → 0 has none
    original, masked = [1, 4, -5, 0, 0], [2, 2, -4, 3, 0]
    assert metrics.il1(original, masked, normalized=False) == pytest.approx(170)
    assert metrics.il1(original, masked) == pytest.approx(1.7 / 4)


def test_share_change_by_hand():
    X = np.arange(40.0)
    assert metrics.share_change(X, X) == 0.0
    masked = np.where(np.abs(X - 19.5) < 4, np.where(X < 19.5, 15.0, 24.0), X)  # 16 to 23 moved: bins of 4 are empty
    assert metrics.share_change(X, masked, bins=10) == 4 / 40
    assert metrics.share_change(np.column_stack([X, X]), np.column_stack([X, masked]), bins=10) == 4 / 40
    tied = np.repeat([0.0, 1.0], [30, 10])
    assert metrics.share_change(tied, np.full(40, 0.25)) == 10 / 40  # bins begin at 0 and 1; all means are in the first
    with pytest.raises(mag.InputValueError, match="bins must be an integer in"):
        metrics.share_change(X, X, bins=1)


def test_share_change_sees_the_gap_at_a_median():
    X = np.random.default_rng(0).normal(size=(6000, 3))
    halves, whole = (mag.multivariate(X, 5, method=m).masked for m in ("mona", "ona_star"))
    assert metrics.share_change(X, whole) < 0.025 < metrics.share_change(X, halves)


def test_il1s_by_hand():
    # s² = ((−2)² + 0 + 2²)/2 = 4: (1 + 0 + 1) / (√2 · 2)
    assert metrics.il1s([1, 3, 5], [2, 3, 4], normalized=False) == pytest.approx(2 / (2 * np.sqrt(2)))
    assert metrics.il1s([1, 3, 5], [2, 3, 4]) == pytest.approx(2 / (2 * np.sqrt(2)) / 3)


def test_discernibility_and_c_avg_of_the_thesis():
    """Definition 3.7: both groupings have 3² + 3² = 18 and (6/2)/3 = 1."""
    for groups in (GLOBAL, LOCAL):
        assert metrics.discernibility(groups) == 18
        assert metrics.c_avg(groups, k=3) == 1
    # 3² + 2² + 1²; with k = 2 the single record is suppressed and costs n = 6
    assert metrics.discernibility(list("aaabbc")) == 14
    assert metrics.discernibility(list("aaabbc"), k=2) == 9 + 4 + 6
    assert metrics.c_avg(list("aaabbc"), k=2) == 1


@pytest.mark.parametrize(("groups", "printed"), [(GLOBAL, 5.5), (LOCAL, 7.5)])
def test_ncp_of_the_thesis(groups, printed):
    """Behind definition 3.8.  Global: 3 · (9/9 + 3/6) + 3 · (3/9 + 0); local: 3 · (6/9 + 3/6) + 3 · (3/9 + 6/6)."""
    assert metrics.ncp(TEST_DATA, groups) == pytest.approx(printed)
    assert metrics.ncp(TEST_DATA, groups, normalized=True) == pytest.approx(printed / 12)
    assert metrics.total_il(TEST_DATA, groups) == pytest.approx(printed)


def test_ncp_and_total_il_of_categories_by_hand():
    # 4 leaves, height 3.  {flu, cough}: "lung", 2 leaves, height 1.  {flu, ulcer}: "inner", 3 leaves, height 2.
    # {burn, flu}: "any", 4 leaves, height 3.  {burn, burn}: 0
    diseases = ["flu", "cough", "flu", "ulcer", "burn", "flu", "burn", "burn"]
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    assert metrics.ncp(diseases, groups, hierarchies={0: TREE}) == pytest.approx(2 * (2 + 3 + 4 + 0) / 4)
    assert metrics.total_il(diseases, groups, hierarchies={0: TREE}) == pytest.approx(2 * (1 + 2 + 3 + 0) / 3)


def test_ncp_of_mixed_columns_with_weights_by_hand():
    table = np.array([[1, "flu"], [3, "cough"], [5, "burn"], [9, "burn"]], dtype=object)
    # numbers: 2 · 2/8 + 2 · 4/8 = 1.5; categories: 2 · 2/4 = 1
    assert metrics.ncp(table, [0, 0, 1, 1], hierarchies={1: TREE}) == pytest.approx(2.5)
    assert metrics.ncp(table, [0, 0, 1, 1], hierarchies={1: TREE}, weights=[2, 10]) == pytest.approx(13)
    assert metrics.ncp(table, [0, 0, 1, 1], hierarchies={1: TREE}, weights=[2, 10], normalized=True) == pytest.approx(
        13 / (4 * 12)
    )


def test_correlation_difference_by_hand():
    # r = (1, 1, 1) before; turning the third column gives (1, −1, −1)
    X = np.array([[0, 0, 0], [1, 2, 3]])
    Y = X * [1, 1, -1]
    assert metrics.correlation_difference(X, Y) == pytest.approx(4 / 3)
    assert metrics.correlation_difference(X, Y, norm="squared") == pytest.approx(8 / 3)
    assert metrics.correlation_difference(X, Y, norm="maximum") == pytest.approx(2)


def test_eigenvalue_difference_by_hand():
    # r = 1/√5 before: eigenvalues 1 ± 0.4472; 0 after: 1 and 1
    X, Y = [[0, 0], [1, 1], [2, 0], [3, 1]], [[0, 0], [0, 1], [3, 0], [3, 1]]
    r = 1 / np.sqrt(5)
    assert metrics.eigenvalue_difference(X, Y) == pytest.approx(r / (1 + r) + r / (1 - r))
    assert metrics.eigenvalue_difference(X, Y, relative=False) == pytest.approx(r)
    # a perfect correlation has an eigenvalue of 0, which nothing can be compared with
    assert metrics.eigenvalue_difference([[0, 0], [1, 1], [2, 2]], [[0, 0], [1, 2], [2, 2]]) == np.inf


def test_il_correl_by_hand():
    # Diagonals of the inverses: 1/(1 − r²) twice for two columns, so the direction (1, 1)/√2 never changes.
    X, Y = [[0, 0], [1, 1], [2, 0], [3, 1]], [[0, 0], [0, 1], [3, 0], [3, 1]]
    assert metrics.il_correl(X, Y) == pytest.approx(0, abs=1e-15)
    # Three columns, of which two correlate by r: (a, a, 1) with a = 1/(1 − r²), against (1, 1, 1)
    X = np.array([[0, 0, 0], [1, 1, 1], [2, 0, 1], [3, 1, 0]])  # r² = 1/5: a = 5/4
    Y = np.array([[0, 0, 0], [0, 1, 1], [3, 0, 1], [3, 1, 0]])
    before, after = np.array([5, 5, 4]) / np.sqrt(66), np.ones(3) / np.sqrt(3)
    assert metrics.il_correl(X, Y) == pytest.approx(np.sqrt(((before - after) ** 2).sum() / 2))


def test_propensity_mse_by_hand():
    # One binary column, 1 in a quarter of the original and in three quarters of the masked records: among ones p = 3/4,
    # among zeros 1/4, always 1/4 away from 1/2
    original, masked = [0, 0, 0, 1], [0, 1, 1, 1]
    assert metrics.propensity_mse(original, masked, quadratic=False, ridge=1e-9) == pytest.approx(1 / 16)


def test_propensity_mse_of_group_means_needs_squares():
    X = correlated_records(200)
    Y = in_groups_of(10, X)
    assert metrics.propensity_mse(X, Y, quadratic=False) == pytest.approx(0, abs=1e-20)
    assert metrics.propensity_mse(X, Y) > 1e-3


def test_propensity_mse_agrees_with_gradient_descent():
    """The same convex problem, solved by scipy."""
    optimize = pytest.importorskip("scipy.optimize")
    X, Y = correlated_records(40, 2, seed=1), correlated_records(40, 2, seed=2)
    Z = np.concatenate((X, Y))
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    y = np.repeat([0, 1], 40)

    def loss(b):
        eta = b[0] + Z @ b[1:]
        return np.logaddexp(0, eta).sum() - y @ eta + 0.05 * (b[1:] ** 2).sum()

    b = optimize.minimize(loss, np.zeros(3), tol=1e-12).x
    p = 1 / (1 + np.exp(-b[0] - Z @ b[1:]))
    found = metrics.propensity_mse(X, Y, quadratic=False, ridge=0.1)
    assert found == pytest.approx(((p - 0.5) ** 2).mean(), rel=1e-5)


# ---- for any release


@pytest.mark.parametrize("name", PAIRS)
def test_a_release_that_changes_nothing_loses_nothing(name):
    X = correlated_records()
    assert METRICS[name](X, X) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", PAIRS)
def test_a_coarser_release_loses_more_than_nothing(name):
    X = correlated_records()
    # records that are near in one column only: means and correlations of the others suffer
    assert METRICS[name](X, in_groups_of(8, X)) > 1e-4


@pytest.mark.parametrize("name", PAIRS)
def test_the_order_of_records_does_not_matter(name):
    X = correlated_records()
    Y = in_groups_of(8, X)
    order = np.random.default_rng(1).permutation(len(X))
    assert METRICS[name](X[order], Y[order]) == pytest.approx(METRICS[name](X, Y), rel=1e-9)


@pytest.mark.parametrize("name", sorted({*PAIRS} - {"il1", "sse"}))
def test_the_unit_and_the_origin_of_a_column_do_not_matter(name):
    X = correlated_records()
    Y = in_groups_of(8, X)
    unit, origin = np.array([1e6, 1e-3, -7]), np.array([1e3, 5, 0])
    assert METRICS[name](X * unit + origin, Y * unit + origin) == pytest.approx(METRICS[name](X, Y), rel=1e-6)


@pytest.mark.parametrize("name", ["discernibility", "ncp", "total_il"])
def test_the_order_of_records_does_not_matter_to_groups(name):
    X, groups = correlated_records(), np.random.default_rng(1).integers(0, 5, 60)
    order = np.random.default_rng(2).permutation(60)
    measure = METRICS[name] if name != "discernibility" else lambda X, groups: metrics.discernibility(groups)
    assert measure(X[order], groups[order]) == pytest.approx(measure(X, groups))


def test_information_loss_is_that_of_the_grouping():
    x = correlated_records(d=1)[:, 0]
    grouping = mag.univariate(x, 4)
    assert metrics.information_loss(x, grouping.masked) == pytest.approx(grouping.information_loss, rel=1e-12)
    assert metrics.sse(x, grouping.masked) == pytest.approx(grouping.cost, rel=1e-12)


def test_one_group_loses_everything():
    X = correlated_records()
    assert metrics.information_loss(X, np.broadcast_to(X.mean(axis=0), X.shape)) == pytest.approx(1)
    assert metrics.ncp(X, np.zeros(60), normalized=True) == pytest.approx(1)
    assert metrics.total_il(X, np.zeros(60)) == pytest.approx(X.size)


def test_separated_tables_have_the_largest_propensity_mse():
    X = correlated_records()
    assert 0.249 < metrics.propensity_mse(X, X + 100) <= 0.25
    assert 0.249 < metrics.propensity_mse(X, X + 100, ridge=1e-6) <= 0.25


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_scale_free_measures_survive_any_magnitude(scale):
    X = correlated_records()
    Y = in_groups_of(8, X)
    for name in sorted({*PAIRS} - {"sse"}):
        assert METRICS[name](X * scale, Y * scale) == pytest.approx(METRICS[name](X, Y), rel=1e-6), name


# ---- edges


@pytest.mark.parametrize("name", sorted({*PAIRS} - {"il_correl"}))
@pytest.mark.parametrize("table", [[[3.0]], [[3.0, 4.0]], [[1, 2], [1, 3], [1, 5]], [7, 7, 7], [[True], [False]]])
def test_one_record_one_column_and_constant_columns(name, table):
    assert METRICS[name](table, table) == 0


def test_a_constant_that_changed_is_lost_without_measure():
    assert metrics.information_loss([7, 7], [7, 8]) == np.inf
    assert metrics.il1s([7, 7], [7, 8]) == np.inf
    with pytest.raises(ValueError, match="original must hold a value other than zero"):
        metrics.il1([0, 0], [1, 1])
    with pytest.raises(ValueError, match="masked must have columns that are neither constant nor"):
        metrics.il_correl([[0, 1], [1, 0], [2, 2]], [[1, 1], [1, 0], [1, 2]])


def test_records_of_one_value_in_two_signs_of_zero_are_equal():
    assert metrics.discernibility([0.0, -0.0]) == 4
    assert metrics.c_avg([np.nan, np.nan, 1.0, 1.0], k=2) == 1


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize(
    ("original", "masked", "error", "sentence"),
    [
        ([], [], ValueError, "original must hold at least one row and one column"),
        ([1.0, 2.0], [1.0], ValueError, "masked must have as many records as original, n=2; got 1"),
        ([[1.0, 2.0]], [[1.0]], ValueError, "masked must have as many columns as original, d=2; got 1"),
        ([1.0, np.nan], [1.0, 2.0], ValueError, "original contains 1 NaN value"),
        ([1.0, 2.0], [1.0, np.inf], ValueError, "masked contains 1 infinite value"),
        (["a", "b"], [1.0, 2.0], TypeError, "original must hold real numbers; got dtype string"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), ValueError, "original must have two dimensions"),
    ],
)
def test_wrong_tables_are_refused_in_one_sentence(name, original, masked, error, sentence):
    with pytest.raises(error, match=sentence):
        METRICS[name](original, masked)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: metrics.sse([1], [1], standardize=1), TypeError, "standardize must be True or False; got 1"),
        (lambda: metrics.il1([1], [1], normalized="no"), TypeError, "normalized must be True or False"),
        (lambda: metrics.c_avg([1, 1], k=3), ValueError, r"k must be an integer in \[1, n=2\]; got 3"),
        (lambda: metrics.discernibility([]), ValueError, "table must hold at least one row"),
        (lambda: metrics.discernibility([1j]), TypeError, "table must hold numbers, strings, dates or objects"),
        (lambda: metrics.ncp([1, 2], [0]), ValueError, "groups must have as many records as original, n=2; got 1"),
        (lambda: metrics.ncp([1, 2], [0, 0], weights=[1, 2]), ValueError, "one weight per column, d=1; got 2"),
        (
            lambda: metrics.ncp(["a", "b"], [0, 0], order={0: ["a"]}),
            ValueError,
            "every value of the column; 1 distinct",
        ),
        (lambda: metrics.ncp(["a", "b"], [0, 0], order={1: ["a"]}), ValueError, "order must name columns of original"),
        (lambda: metrics.ncp([1, 2], [0, 0], leaves="some"), ValueError, "leaves must be one of 'all', 'used'"),
        (lambda: metrics.ncp(["a"], [0], hierarchies={0: {"b": "c"}}), ValueError, "leaf for every value; 1 distinct"),
        (
            lambda: metrics.ncp(["a"], [0], hierarchies={1: TREE}),
            ValueError,
            r"key of hierarchies must be .*\[0, d-1=0\]",
        ),
        (lambda: metrics.ncp(["a"], [0], hierarchies=[TREE]), TypeError, "hierarchies must map columns to trees"),
        (lambda: metrics.ncp(["a"], [0], hierarchies={0: {"a": "b", "c": "d"}}), ValueError, "exactly one root; got 2"),
        (
            lambda: metrics.ncp(["a"], [0], hierarchies={0: {"a": "b", "b": "c", "c": "b", "r": "r"}}),
            ValueError,
            "cycle",
        ),
        (lambda: metrics.ncp(["a"], [0], hierarchies={0: {"b": "c", "c": "b", "a": "a"}}), ValueError, "cycle"),
        (
            lambda: metrics.propensity_mse([1], [1], ridge=0),
            ValueError,
            "ridge must be a positive number; got 0",
        ),
        (lambda: metrics.propensity_mse([1], [1], ridge="1"), TypeError, "ridge must be a positive number"),
        (lambda: metrics.correlation_difference([1], [1], norm="l2"), ValueError, "norm must be one of 'absolute'"),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_every_array_library_is_read(xp):
    X = xp.make([[1.0, 2.0], [3.0, 1.0], [5.0, 4.0]])
    assert metrics.sse(X, X) == 0
    assert metrics.discernibility(X) == 3


def test_propensity_by_records_is_that_by_terms(monkeypatch):
    """Where there are more squares and products than records, another system of equations gives the same steps."""
    module = importlib.import_module("mag.measures.propensity")
    rng = np.random.default_rng(0)
    for n, d in ((20, 8), (40, 15)):
        X = rng.normal(size=(n, d))
        for Y in (X + 0.1 * rng.normal(size=X.shape), mag.multivariate(X, 5, method="mdav").masked, X + 100.0):
            terms = module._terms(np.concatenate((X, Y)), True)
            assert terms.shape[1] > terms.shape[0]
            weights, gradient = rng.uniform(0, 0.25, 2 * n), terms.T @ rng.normal(size=2 * n)
            steps = [
                make(terms, 1e-3)(weights, gradient) for make in (module._steps_by_terms, module._steps_by_records)
            ]
            assert steps[0] == pytest.approx(steps[1], rel=1e-6, abs=1e-6 * np.abs(steps[0]).max())
            by_records = mag.metrics.propensity_mse(X, Y)
            with monkeypatch.context() as patch:
                patch.setattr(module, "_steps_by_records", module._steps_by_terms)
                assert mag.metrics.propensity_mse(X, Y) == pytest.approx(by_records, abs=1e-9)
