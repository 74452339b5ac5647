"""Every measure of risk: a calculation by hand, and properties of any table."""

import itertools

import numpy as np
import pytest

import mag
from mag import privacy
from mag.measures import closeness
from mag.privacy import MEASURES, IntervalDisclosure, Linkage
from tests.data.records import correlated_records, in_groups_of

# The example of Li, Li & Venkatasubramanian 2007: salaries in thousands, three classes of three records
CLASSES = np.repeat([1, 2, 3], 3)
SALARY = np.array([3, 4, 5, 6, 11, 8, 7, 9, 10])
DISEASES = {  # their tree, of three levels
    "flu": "respiratory infection",
    "pneumonia": "respiratory infection",
    "bronchitis": "respiratory infection",
    "pulmonary edema": "vascular lung disease",
    "pulmonary embolism": "vascular lung disease",
    "gastric ulcer": "stomach disease",
    "stomach cancer": "stomach disease",
    "colitis": "colon disease",
    "colon cancer": "colon disease",
    "respiratory infection": "respiratory system",
    "vascular lung disease": "respiratory system",
    "stomach disease": "digestive system",
    "colon disease": "digestive system",
    "respiratory system": "both",
    "digestive system": "both",
}
SENSITIVE = ["closeness_utility", "distinct_l_diversity", "entropy_l_diversity", "t_closeness"]


# ---- equal records


def test_class_sizes_k_anonymity_and_uniques_by_hand():
    # (m, 1) twice, (f, 1) three times, (f, 2) once
    table = [["m", "1"], ["f", "1"], ["f", "2"], ["m", "1"], ["f", "1"], ["f", "1"]]
    assert privacy.class_sizes(table).tolist() == [2, 3, 1, 2, 3, 3]
    assert privacy.k_anonymity(table) == 1
    assert privacy.uniques(table) == 1
    assert privacy.uniques(table, k=3) == 3
    assert privacy.uniques(table, k=1) == 0
    assert privacy.uniques(table, k=7) == 6


@pytest.mark.parametrize("f", [1, 2, 3, 9, 10, 40])
@pytest.mark.parametrize("p", [1e-4, 0.03, 0.49, 0.51, 0.97, 1.0])
def test_reidentification_risk_is_the_mean_of_the_inverse(f, p):
    # the integral over s = u³, at 20 000 midpoints
    u = (np.arange(20_000) + 0.5) / 20_000
    s, step = u**3, 3 * u**2 / 20_000
    expected = (s ** (f - 1) * p / (p + (1 - p) * s) * step).sum()
    found = privacy.reidentification_risk(np.zeros(f), np.full(f, 1 / p))
    assert found == pytest.approx(np.full(f, expected), rel=1e-5)


def test_reidentification_risk_without_weights_and_with_light_ones():
    table = ["a", "b", "b", "c", "c", "c"]
    assert privacy.reidentification_risk(table).tolist() == pytest.approx([1, 1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3])
    assert privacy.reidentification_risk(table).sum() == pytest.approx(3)  # one in every class
    light = privacy.reidentification_risk(table, [0.5, 1, 0, 1, 1, 1])
    assert light == pytest.approx(privacy.reidentification_risk(table))


nan = np.nan


@pytest.mark.parametrize(
    ("table", "k"),
    [
        ([0.0, -0.0], 2),
        ([nan, nan, -nan], 3),
        ([[nan, 1.0], [nan, 1.0], [nan, 2.0], [nan, 2.0]], 2),
        ([[nan, 1.0], [1.0, nan]], 1),
        (np.array([nan, nan, None, None], dtype=object), 2),
        (np.array([nan, np.float64(nan), "nan"], dtype=object), 1),
        (np.array([0.0, -0.0, 0], dtype=object), 3),
        (np.array([True, 1], dtype=object), 1),
        (np.array([[1, "x"], [1, "x"]], dtype=object), 2),
        (np.array(["NaT", "NaT", "2020-01-01", "2020-01-01"], dtype="datetime64[D]"), 2),
        (np.array([2**53, 2**53 + 1]), 1),  # equal as floats, not as integers
        (np.array([2**63, 2**63 + 1], dtype=np.uint64), 1),
        (np.array([1, 1 + 2.0**-52]), 1),  # the next float
        (["a", "a ", "a"], 1),
        (np.array([b"a", b"a"]), 2),
        (np.array(["a", "b", "a", "b"], dtype=np.dtypes.StringDType()), 2),
        ([True, False, True, False], 2),
        ([["a", "bc"], ["ab", "c"]], 1),  # equal only when glued together
        (np.zeros((5, 3)), 5),
        ([7], 1),
        (np.arange(12.0).reshape(4, 3)[:, ::-1], 1),
        (np.asfortranarray(np.ones((3, 2))), 3),
    ],
    ids=str,
)
def test_which_records_are_equal(table, k):
    assert privacy.k_anonymity(table) == k


def test_missing_values_of_frames_are_equal():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.array([1, None, None, 1], dtype="Int64"), "b": ["x", None, None, "x"]})
    assert privacy.class_sizes(frame).tolist() == [2, 2, 2, 2]
    pl = pytest.importorskip("polars")
    assert privacy.k_anonymity(pl.DataFrame({"a": [1, None, None, 1], "b": ["x", None, None, "x"]})) == 2


@pytest.mark.parametrize("library", ["pandas", "polars", None])
def test_frames_and_dictionaries_are_read_column_by_column(library):
    table = {"id": np.array([2**53, 2**53 + 1]), "x": np.array([0.5, 0.5]), "name": np.array(["a", "a"])}
    frame = pytest.importorskip(library).DataFrame(table) if library else table
    assert privacy.k_anonymity(frame) == 1  # as one array of floats, both records would be equal
    tree = {"a": "any", "b": "any"}
    assert mag.metrics.ncp(frame, [0, 0], hierarchies={2: tree}) == 2 * 0


def test_columns_of_one_name_all_count():
    pd = pytest.importorskip("pandas")
    assert privacy.k_anonymity(pd.DataFrame([[1, 2], [1, 3]], columns=["a", "a"])) == 1


def test_class_sizes_are_those_of_a_dictionary():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (500, 5)).astype(float)
    rows = [tuple(row) for row in table]
    assert privacy.class_sizes(table).tolist() == [rows.count(row) for row in rows]


@pytest.mark.parametrize("k", [2, 3, 7])
def test_groups_of_k_are_k_anonymous(k):
    X = correlated_records()
    assert privacy.k_anonymity(in_groups_of(k, X)) >= k
    assert privacy.k_anonymity(mag.univariate(X[:, 0], 4).masked) >= 4
    assert privacy.uniques(X) == 60


# ---- sensitive values


def test_l_diversity_by_hand():
    # Thaeter, table 3.4: the first class has the value 1 only
    table, sensitive = [[7, 4]] * 4 + [[3, 7]] * 4, [1, 1, 1, 1, 2, 2, 3, 4]
    assert privacy.distinct_l_diversity(table, sensitive) == 1
    assert privacy.entropy_l_diversity(table, sensitive) == 1
    # the second class alone: 2, 3, 4 with shares 1/2, 1/4, 1/4, entropy ½ log 2 + ½ log 4 = 3/2 log 2
    assert privacy.distinct_l_diversity(table[4:], sensitive[4:]) == 3
    assert privacy.entropy_l_diversity(table[4:], sensitive[4:]) == pytest.approx(2**1.5)


@pytest.mark.parametrize("values", range(1, 30))
def test_entropy_of_equally_frequent_values_is_exactly_their_number(values):
    assert privacy.entropy_l_diversity(np.zeros(3 * values), np.tile(np.arange(values), 3)) == values


@pytest.mark.parametrize(
    ("clusters", "utility"), [([0, 0, 1, 1, 2, 2, 3, 3], 1), ([0, 1, 0, 1, 2, 3, 2, 3], 0), ([0, 1, 2, 3] * 2, 1)]
)
def test_closeness_utility_of_the_thesis(clusters, utility):
    """Table 3.5: H(X) = 1 bit, and clusters that hold one value each, both values, one value each."""
    assert privacy.closeness_utility(clusters, [1, 1, 2, 2, 1, 1, 2, 2]) == utility


@pytest.mark.parametrize(("rows", "distance"), [([0, 1, 2], 0.375), ([3, 4, 5], 0.167), ([6, 7, 8], 0.236)])
def test_ordered_distance_of_the_paper(rows, distance):
    # {3, 4, 5} against 3 … 11: sums of shares differ by 2/9, 4/9, 6/9, 5/9, …, 1/9: 27/9 in all, by 8.  The paper has
    # 0.375 and 0.167 for the first two classes; {7, 9, 10}: (1 + 2 + 3 + 4 + 2 + 3 + 1 + 1)/9/8 = 17/72.  The other six
    # records are half as far away.
    assert privacy.t_closeness(np.isin(np.arange(9), rows), SALARY) == pytest.approx(distance, abs=6e-4)
    assert privacy.t_closeness(CLASSES, SALARY) == pytest.approx(0.375)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ("flu", "bronchitis", 1 / 3),
        ("flu", "pulmonary embolism", 2 / 3),
        ("flu", "stomach cancer", 1),
        ("flu", "flu", 0),
    ],
)
def test_hierarchical_distance_of_the_paper(one, other, distance):
    """The distances are the paper's.  Half of everybody has either disease: a class of one is half the way from it."""
    t = privacy.t_closeness([0, 1], [one, other], hierarchy=DISEASES)
    assert t == pytest.approx(distance / 2)


def test_equal_distance_by_hand():
    # shares (2/3, 1/3, 0) and (0, 0, 1) against (2/4, 1/4, 1/4): ½ (1/6 + 1/12 + 1/4) and ½ (1/2 + 1/4 + 3/4)
    assert privacy.t_closeness([0, 0, 0, 1], list("aabc")) == pytest.approx(0.75)
    assert privacy.t_closeness([0, 0, 0, 0], list("aabc")) == 0


def emd(P, Q, D):
    """The least work of moving P to Q, by linear programming."""
    optimize = pytest.importorskip("scipy.optimize")
    m = len(P)
    flows = [np.kron(np.eye(m)[i], np.ones(m)) for i in range(m)] + [np.tile(np.eye(m)[j], m) for j in range(m)]
    return optimize.linprog(D.ravel(), A_eq=np.array(flows), b_eq=np.concatenate((P, Q))).fun


def ancestors(node):
    return [node] + (ancestors(DISEASES[node]) if node in DISEASES else [])


@pytest.mark.parametrize("ground", ["equal", "hierarchical", "ordered"])
@pytest.mark.parametrize("seed", range(3))
def test_earth_movers_distance_is_that_of_linear_programming(ground, seed):
    rng = np.random.default_rng(seed)
    tree = {**DISEASES, "burn": "both"}  # not all leaves are equally deep
    names = np.array([name for name in tree if name not in tree.values()])
    m = len(names)
    values = rng.permutation(np.concatenate((np.arange(m), rng.integers(0, m, 30))))
    classes = rng.integers(0, 4, values.size)
    height = {"both": 3, "respiratory system": 2, "digestive system": 2}
    D = np.ones((m, m)) - np.eye(m)
    if ground == "ordered":
        D = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / (m - 1)
    if ground == "hierarchical":
        for i, j in itertools.permutations(range(m), 2):
            ways = [ancestors(names[i]) if names[i] != "burn" else ["burn", "both"], ancestors(names[j]) + ["both"]]
            D[i, j] = height.get(next(node for node in ways[0] if node in ways[1]), 1) / 3
    Q = np.bincount(values, minlength=m) / values.size
    shares = [np.bincount(values[classes == c], minlength=m) / (classes == c).sum() for c in range(4)]
    sensitive = values if ground == "ordered" else names[values]
    found = privacy.t_closeness(classes, sensitive, ground=ground, hierarchy=tree if ground == "hierarchical" else None)
    assert found == pytest.approx(max(emd(P, Q, D) for P in shares))


@pytest.mark.parametrize("ground", ["equal", "ordered"])
@pytest.mark.parametrize("m", [1, 2, 9, 500])
@pytest.mark.parametrize("cells", [1, 100, 2**20])
def test_distances_from_everybody_are_those_of_the_matrix(ground, m, cells, monkeypatch):
    rng = np.random.default_rng(m)
    classes = np.concatenate((np.arange(40), rng.integers(0, 40, 160)))
    values = np.unique(rng.integers(0, m, 200), return_inverse=True)[1]
    m = values.max() + 1
    monkeypatch.setattr(closeness, "SHARES_PER_BLOCK", cells)
    matrix = closeness.in_blocks(getattr(closeness, ground))(classes, values, m)
    np.testing.assert_allclose(
        getattr(closeness, f"{ground}_from_all")(classes, values, m), matrix, rtol=1e-12, atol=1e-14
    )


def test_mt_closeness_by_hand():
    # Classes at 1, 2, 8, 9.  {1}: flu, flu; the ball of 1 and 2 holds flu ¾, cough ¼: ¼ away.  {2}: half flu, half
    # cough, ¼ away from the same ball.  {8} and {9}: ulcers only, as is the ball of both: 0.
    age, disease = [1, 1, 2, 2, 8, 8, 9, 9], ["flu", "flu", "flu", "cough"] + ["ulcer"] * 4
    assert privacy.mt_closeness(age, disease, m=4) == 0.25
    # Balls of 5 and more, shares of (flu, cough, ulcer): {1, 2, 8} has (½, 1/6, 1/3), ½ from {1} and 1/3 from {2};
    # {8, 9, 2} has (1/6, 1/6, 2/3), 1/3 from {8} and {9}.
    assert privacy.mt_closeness(age, disease, m=5) == pytest.approx(1 / 2)
    assert privacy.mt_closeness(age, disease, m=2) == 0
    # given supersets: below and above 5
    assert privacy.mt_closeness(age, disease, m=4, supersets=np.array(age) > 5) == 0.25


@pytest.mark.parametrize("seed", range(100))
def test_mt_closeness_by_all_balls(seed):
    """Places on a grid: many classes are equally far, and balls take all of them or none."""
    random = np.random.default_rng(seed)
    ground = ["ordered", "equal", "hierarchical"][seed % 3]
    n, size = int(random.integers(5, 250)), int(random.integers(2, 20))
    table, m = random.integers(0, size, (n, random.integers(1, 3))), int(random.integers(1, n + 1))
    leaves = sorted(set(DISEASES) - set(DISEASES.values()))
    codes = random.integers(0, random.integers(2, len(leaves)), n)
    values = np.array(leaves)[codes] if ground == "hierarchical" else codes
    options = {"ground": ground, "hierarchy": DISEASES if ground == "hierarchical" else None}
    codes, n_values, distances = closeness.read_sensitive(values, n, **options)

    def distribution(records):
        return (np.bincount(codes[records], minlength=n_values) / records.sum())[None]

    scale = table.std(axis=0)
    places, worst = table / np.where(scale > 0, scale, 1), 0.0
    for own in np.unique(table, axis=0):
        members = (table == own).all(axis=1)
        far = np.square(places - places[members][0]).sum(axis=1)
        balls = [far <= radius * (1 + 1e-9) for radius in np.unique(far)]
        near = [distances.between(distribution(members), distribution(ball))[0] for ball in balls if ball.sum() >= m]
        worst = max(worst, min(near))
    assert privacy.mt_closeness(table, values, m, **options) == pytest.approx(worst, rel=1e-12, abs=1e-15)


def test_mt_closeness_grows_with_m_up_to_t_closeness():
    rng = np.random.default_rng(0)
    table, values = in_groups_of(4, correlated_records()), rng.integers(0, 5, 60)
    found = [privacy.mt_closeness(table, values, m) for m in range(1, 61)]
    assert found[0] == 0
    assert (np.diff(found) >= 0).all()
    assert found[-1] == pytest.approx(privacy.t_closeness(table, values))


@pytest.mark.parametrize("name", SENSITIVE)
def test_the_order_of_records_does_not_matter_to_sensitive_values(name):
    rng = np.random.default_rng(0)
    table, values = rng.integers(0, 4, (80, 2)), rng.integers(0, 5, 80)
    order = rng.permutation(80)
    assert MEASURES[name](table[order], values[order]) == pytest.approx(MEASURES[name](table, values))
    # nor do names
    assert MEASURES[name](table.astype(str), values) == pytest.approx(MEASURES[name](table, values))


@pytest.mark.parametrize("name", SENSITIVE)
@pytest.mark.parametrize("n", [1, 4])
def test_one_record_and_constant_columns_tell_nothing(name, n):
    nothing = {"distinct_l_diversity": 1, "entropy_l_diversity": 1}.get(name, 0)
    assert MEASURES[name](np.zeros(n), np.full(n, 3)) == nothing
    assert MEASURES[name](np.arange(n), np.full(n, "x")) == nothing


# ---- linkage


def test_distance_linkage_by_hand():
    # 1 and 2 are nearest to 1.5, 7 and 9 to 8: all four find their pair, and guess right with 1/2
    assert privacy.distance_linkage([1, 2, 7, 9], [1.5, 1.5, 8, 8]) == Linkage(0.5, 1.0, 0.0)
    # 1 → 1 right and alone; 4 → 5 right, alone; 6 → 5 wrong (its own is 10); 11 → 10 right, but 10 is there twice
    assert privacy.distance_linkage([1, 4, 6, 11], [1, 5, 10, 10]) == Linkage((1 + 1 + 0 + 0.5) / 4, 3 / 4, 2 / 4)


def test_distance_linkage_by_all_pairs():
    X = correlated_records(50)
    Y = X + np.random.default_rng(3).normal(size=X.shape)
    D = (((X[:, None] - Y[None]) / X.std(axis=0)) ** 2).sum(axis=2)
    share = (D.argmin(axis=1) == np.arange(50)).mean()
    assert 0 < share < 1
    assert privacy.distance_linkage(X, Y) == Linkage(share, share, share)
    raw = (((X[:, None] - Y[None]) ** 2).sum(axis=2).argmin(axis=1) == np.arange(50)).mean()
    assert privacy.distance_linkage(X, Y, standardize=False) == Linkage(raw, raw, raw)


@pytest.mark.parametrize("measure", [privacy.distance_linkage, privacy.rank_linkage])
@pytest.mark.parametrize("k", [2, 5])
def test_k_anonymity_bounds_linkage(measure, k):
    X = correlated_records()
    risk = measure(X, in_groups_of(k, X))
    assert 0 < risk.expected <= 1 / k
    assert risk.certain == 0
    assert measure(X, X) == Linkage(1.0, 1.0, 1.0)
    assert measure(X, np.zeros_like(X)) == Linkage(pytest.approx(1 / 60), 1.0, 0.0)


def test_rank_linkage_by_hand():
    # ranks 1, 2, 3 and, shared, 1.5, 1.5, 3
    assert privacy.rank_linkage([10, 20, 90], [5, 5, 6]) == Linkage((0.5 + 0.5 + 1) / 3, 1.0, pytest.approx(1 / 3))
    # an increasing transformation hides nothing
    X = correlated_records()
    assert privacy.rank_linkage(X, np.exp(X)).certain == 1


def linkage_by_all_pairs(X, Y):
    far = np.zeros((len(X), len(Y)))
    for j in range(X.shape[1]):
        far += np.square(X[:, None, j] - Y[None, :, j])
    near = far <= far.min(axis=1, keepdims=True) * (1 + 1e-9)
    right, candidates = near.diagonal(), near.sum(axis=1)
    return Linkage(
        pytest.approx((right / candidates).mean(), rel=1e-12), right.mean(), (right & (candidates == 1)).mean()
    )


@pytest.mark.parametrize("seed", range(100))
def test_linkage_with_ties_by_all_pairs(seed):
    """Small integers, scaled by thirds: many records are equally near, up to rounding."""
    random = np.random.default_rng(seed)
    n, d, size = random.integers(20, 200), random.integers(1, 5), random.integers(2, 12)
    X = random.integers(0, size, (n, d)) / 3
    Y = in_groups_of(int(random.integers(1, 5)), X) if seed % 2 else X + random.integers(-1, 2, (n, d)) / 3
    assert privacy.distance_linkage(X, Y, standardize=False) == linkage_by_all_pairs(X, Y)
    ranks = [((Z[:, None] > Z).sum(axis=1) + ((Z[:, None] == Z).sum(axis=1) + 1) / 2) for Z in (X, Y)]
    assert privacy.rank_linkage(X, Y) == linkage_by_all_pairs(*ranks)


def test_linkage_of_many_records_needs_no_matrix():
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(6000, 1))
    tracemalloc.start()
    risk = privacy.distance_linkage(X, X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert risk.certain == 1
    assert peak < 6000 * 6000  # bytes: a matrix of distances has eight times as many


# ---- intervals


def test_sd_intervals_by_hand():
    # masked sd: mean 4.625, squares 13.140625 + 9.765625 + 2 · 11.390625 = 45.6875, by 3, root 3.9025; 0.2 of it: 0.78.
    # |1 − 1| = 0 and |2 − 1.5| = 0.5 inside, |7 − 8| = |9 − 8| = 1 outside
    found = privacy.sd_interval_disclosure([1, 2, 7, 9], [1, 1.5, 8, 8], width=0.2)
    assert found == IntervalDisclosure(0.5, 0.5)
    # two columns: the second is exact for all, so all have at most one value outside (sdcMicro's count)
    original, masked = np.array([[1, 2, 7, 9], [1, 2, 3, 4]]).T, np.array([[1, 1.5, 8, 8], [1, 2, 3, 4]]).T
    assert privacy.sd_interval_disclosure(original, masked, width=0.2) == IntervalDisclosure(0.75, 0.5)
    assert privacy.sd_interval_disclosure(original, masked, width=0.2, outside=1) == IntervalDisclosure(0.75, 1.0)


def test_rank_intervals_by_hand():
    # ten masked values 0, 10, …, 90; ranks that differ by less than 0.2 · 10 reach one neighbor: ± 10
    masked = np.arange(0, 100, 10)
    original = masked + [0, 10, 11, -10, -11, 5, 0, 0, 30, 9]  # 11, −11, 30 are outside; 99 is above the largest, 90
    assert privacy.rank_interval_disclosure(original, masked, width=0.2) == IntervalDisclosure(0.6, 0.6)
    # less than 0.1 · 10 = 1: no neighbor, the value itself
    assert privacy.rank_interval_disclosure(original, masked, width=0.1) == IntervalDisclosure(0.3, 0.3)
    # everything between the smallest and the largest
    assert privacy.rank_interval_disclosure(original, masked, width=5).values == 0.8


@pytest.mark.parametrize("measure", [privacy.sd_interval_disclosure, privacy.rank_interval_disclosure])
def test_intervals_disclose_what_did_not_change(measure):
    X = correlated_records()
    assert measure(X, X) == IntervalDisclosure(1.0, 1.0)
    assert measure([[3.0, 4.0]], [[3.0, 4.0]]) == IntervalDisclosure(1.0, 1.0)
    assert measure([3.0], [4.0]) == IntervalDisclosure(0.0, 0.0)
    wide, narrow = measure(X, in_groups_of(5, X), width=0.5), measure(X, in_groups_of(5, X), width=0.01)
    assert narrow.values < wide.values
    assert narrow.records <= wide.records <= wide.values


@pytest.mark.parametrize(
    "measure",
    [privacy.distance_linkage, privacy.rank_linkage, privacy.sd_interval_disclosure, privacy.rank_interval_disclosure],
)
def test_the_order_of_records_and_the_unit_do_not_matter(measure):
    X = correlated_records()
    Y = in_groups_of(3, X) + np.random.default_rng(3).normal(size=X.shape) / 4
    order = np.random.default_rng(1).permutation(60)
    found, permuted, scaled = measure(X, Y), measure(X[order], Y[order]), measure(X * 1e300, Y * 1e300)
    for name, value in vars(found).items():
        assert getattr(permuted, name) == pytest.approx(value)
        assert getattr(scaled, name) == pytest.approx(value)


# ---- a second opinion


@pytest.mark.parametrize("seed", range(3))
def test_pycanon_agrees(seed):
    """On clean data: no missing values, more than one sensitive value."""
    reason = "pycanon pins exact versions of its dependencies; pip install --no-deps pycanon"
    anonymity = pytest.importorskip("pycanon.anonymity", reason=reason)
    utility = pytest.importorskip("pycanon.metrics", reason=reason)
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 3, (150, 3)), columns=["a", "b", "c"])
    frame["number"] = rng.integers(0, 6, 150)
    frame["name"] = np.array(["flu", "cough", "ulcer"])[rng.integers(0, 3, 150)]
    quasi = ["a", "b", "c"][: 2 if seed else 3]
    table = frame[quasi]
    k = privacy.k_anonymity(table)
    assert k == anonymity.k_anonymity(frame, quasi)
    for name in ("number", "name"):
        sensitive = frame[name].to_numpy()
        assert privacy.distinct_l_diversity(table, sensitive) == anonymity.l_diversity(frame, quasi, [name])
        assert int(privacy.entropy_l_diversity(table, sensitive)) == anonymity.entropy_l_diversity(frame, quasi, [name])
        assert privacy.t_closeness(table, sensitive) == pytest.approx(anonymity.t_closeness(frame, quasi, [name]))
    assert mag.metrics.discernibility(table) == utility.discernability_metric(frame, frame, quasi)
    assert mag.metrics.c_avg(table, k) == pytest.approx(utility.average_ecsize(frame, frame, quasi))


# ---- refusals


@pytest.mark.parametrize("name", sorted(set(MEASURES) - {"k_degree"}))  # a graph without edges is one
def test_nothing_is_refused(name):
    alone = ("class_sizes", "k_anonymity", "reidentification_risk", "uniques")
    others = {"mt_closeness": ([], 1)}.get(name, () if name in alone else ([],))
    with pytest.raises(ValueError, match="must hold at least one row and one column"):
        MEASURES[name]([], *others)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: privacy.k_anonymity(3), ValueError, "table must have one or two dimensions"),
        (lambda: privacy.k_anonymity(np.array([[], []])), ValueError, "table must hold at least one row"),
        (lambda: privacy.k_anonymity([1j]), TypeError, "table must hold numbers, strings, dates or objects; got"),
        (lambda: privacy.k_anonymity(np.array([[1], {}], dtype=object)), TypeError, "values that can be hashed"),
        (lambda: privacy.k_anonymity({}), ValueError, "table must hold at least one row and one column; got no column"),
        (lambda: privacy.k_anonymity({"a": [1], "b": [1, 2]}), ValueError, "every column of table must have as many"),
        (lambda: privacy.k_anonymity(np.ma.array([1])), TypeError, "table must not be a masked array"),
        (lambda: privacy.uniques([1, 2], k=4), ValueError, r"k must be an integer in \[1, n\+1=3\]; got 4"),
        (lambda: privacy.uniques([1, 2], k=2.0), TypeError, "k must be an integer"),
        (lambda: privacy.distinct_l_diversity([1, 2], [1]), ValueError, "sensitive must have as many records as table"),
        (
            lambda: privacy.t_closeness([1, 2], [1]),
            ValueError,
            "sensitive must have as many records as table, n=2; got 1",
        ),
        (
            lambda: privacy.t_closeness([1], [[1, 2]]),
            ValueError,
            "sensitive must have as many columns as one attribute",
        ),
        (
            lambda: privacy.t_closeness([1], ["a"], ground="ordered"),
            TypeError,
            "numbers or dates that follow the order",
        ),
        (lambda: privacy.t_closeness([1], [np.nan]), ValueError, "sensitive contains 1 NaN value"),
        (
            lambda: privacy.t_closeness([1], np.array(["NaT"], "M8[D]")),
            ValueError,
            "sensitive contains 1 missing dates",
        ),
        (lambda: privacy.t_closeness([1], [1], ground="l1"), ValueError, "ground must be one of 'auto', 'equal'"),
        (
            lambda: privacy.t_closeness([1], [1], ground="hierarchical"),
            TypeError,
            "hierarchy must be a mag.Hierarchy, the path",
        ),
        (
            lambda: privacy.t_closeness(["a"], ["a"], ground="equal", hierarchy=DISEASES),
            ValueError,
            "hierarchy is not used",
        ),
        (lambda: privacy.t_closeness(["a"], ["a"], hierarchy=DISEASES), ValueError, "1 distinct values have no leaf"),
        (lambda: privacy.mt_closeness([1, 2], [1, 2], 3), ValueError, r"m must be an integer in \[1, n=2\]; got 3"),
        (lambda: privacy.mt_closeness(["a"], ["a"], 1), TypeError, "table must hold real numbers"),
        (lambda: privacy.mt_closeness([1, 1], [1, 2], 1, supersets=[1, 2]), ValueError, "each class as a whole; got 1"),
        (lambda: privacy.mt_closeness([1, 2], [1, 2], 2, supersets=[1, 2]), ValueError, "hold m=2 records each; the"),
        (lambda: privacy.distance_linkage([1.0], [np.nan]), ValueError, "masked contains 1 NaN value"),
        (lambda: privacy.rank_linkage([1.0, 2.0], [1.0]), ValueError, "masked must have as many records as original"),
        (lambda: privacy.sd_interval_disclosure([1], [1], width=-1), ValueError, "width must be a positive number"),
        (lambda: privacy.rank_interval_disclosure([1], [1], outside=2), ValueError, r"outside must be .*\[0, d=1\]"),
    ],
)
def test_wrong_arguments_are_refused_in_one_sentence(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()


def test_every_array_library_is_read(xp):
    table = xp.make([[1.0, 2.0], [1.0, 2.0], [5.0, 4.0]])
    assert privacy.class_sizes(table).tolist() == [2, 2, 1]
    assert privacy.t_closeness(table, xp.make([1, 2, 3])) == privacy.t_closeness([0, 0, 1], [1, 2, 3])
