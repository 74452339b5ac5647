"""Methods that look at trees: distances from tables of leaves, Mondrian with pooled children, and the cuts of MONA."""

import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import mag
from mag._lib.progress import Progress
from mag.api import warm_up
from mag.frames import frame_of
from mag.frames.categories import categories_of
from mag.methods import METHODS, ona_local
from mag.methods.distances.hierarchies import CategoryColumn, CategoryColumns, select
from mag.methods.mona.parts import divide_wide
from mag.methods.mondrian.cutting import parts_of_trees
from mag.methods.mondrian.halving import labels_of
from mag.tables import _grouping
from tests.compiled.count import compiled
from tests.data.hierarchies import ADULT, adult

DEEP = [["a", "a", "p", "x", "*"], ["b", "b", "p", "x", "*"], ["c", "q", "q", "x", "*"], ["d", "q", "q", "x", "*"]]
DEEP += [["e", "e", "e", "y", "*"], ["f", "f", "f", "y", "*"], ["g", "g", "g", "z", "*"], ["h", "h", "h", "h", "*"]]
TREE = mag.Hierarchy.from_levels(DEEP)  # leaves of different depth, and nodes of one child
LEAVES = [row[0] for row in DEEP]
RANKS = ["low", "middle", "high"]
COLUMNS = ["number", "tree", "flat", "rank"]
OPTIONS = {"hierarchies": {"tree": TREE}, "order": {"rank": RANKS}, "aggregate": {"flat": "mode"}}
BY_DISTANCE = [name for name, method in METHODS.items() if method.accepts("trees") and name != "mondrian"]


def people(rng, n, values=None):
    """A number, a category of a deep tree, one of none, and ranks; `values` is how many each has at most."""
    numbers = rng.normal(size=n) if values is None else rng.integers(0, values, n).astype(float)
    picks = [rng.integers(0, min(most, values or most), n).tolist() for most in (8, 4, 3)]
    listed = zip((LEAVES, ["red", "green", "blue", "gray"], RANKS), picks, strict=True)
    return dict(zip(COLUMNS, [numbers.tolist(), *([labels[i] for i in pick] for labels, pick in listed)], strict=True))


# ---- distances


@pytest.mark.parametrize("method", BY_DISTANCE)
@pytest.mark.parametrize("copies", [1, 7])
def test_tables_of_leaves_give_the_groups_of_coordinates(method, copies, monkeypatch):
    """Where no distances tie but those of equal records, of which there are none or many."""
    rng = np.random.default_rng(copies)
    table = people(rng, 420 // copies)
    order = rng.permutation(np.repeat(np.arange(420 // copies), copies)).tolist()
    frame = pl.DataFrame({name: [column[i] for i in order] for name, column in table.items()})
    frame = frame.with_columns(stratum=pl.Series(np.arange(420) % 3 // 2), part=pl.Series(np.arange(420) // 100))
    absent = pl.when(pl.col("part") < 2).then(None).otherwise(pl.col("tree")).alias("tree")
    coordinates = _grouping._comparable
    if method == "mona":  # the same parts for both
        two = (np.arange(420) * 11 % 420, np.array([0, 150]))
        for name in ("parts_of", "parts_of_trees"):
            monkeypatch.setattr(f"mag.methods.mona.{name}", lambda X, *rest: two)
    if method == "ona_local":  # ONA* alone
        monkeypatch.setattr(ona_local, "fall", lambda X, k, labels, *rest: (labels, True))
        monkeypatch.setattr(ona_local, "trade", lambda X, k, labels, *rest: labels)
        monkeypatch.setattr(ona_local, "ONA_GAIN", ona_local.ONA_GAIN_OF_TREES)
    for roles in ({}, {"by": "stratum"}, {"missing": "group"})[: 1 if method == "mona" else 3]:
        frame = frame.with_columns(absent) if "missing" in roles else frame
        for standardize in (True, "range"):
            options = {"method": method, "standardize": standardize, "importance": {"tree": 1.7}, "rest": "drop"}
            options |= OPTIONS | roles
            fast = mag.microaggregate(frame, 5, COLUMNS, **options)
            with monkeypatch.context() as patch:
                patch.setattr(
                    _grouping, "_comparable", lambda units, plan, *places: (coordinates(units, plan, *places)[0], None)
                )
                slow = mag.microaggregate(frame, 5, COLUMNS, **options)
            assert fast.grouping.labels.tolist() == slow.grouping.labels.tolist()
            assert fast.guarantee.smallest >= 5


@pytest.mark.parametrize("method", ["mdav", "ona_star", "mona", "mondrian"])
def test_all_equal_and_few_values_are_grouped(method):
    for values in (1, 2, 3):
        for n in (5, 9, 10, 11, 14, 15, 16, 64, 65, 200):
            frame = pl.DataFrame(people(np.random.default_rng(n), n, values))
            release = mag.microaggregate(frame, 5, COLUMNS, method=method, **OPTIONS)
            assert release.grouping.sizes.min() >= 5
            assert release.grouping.sizes.sum() == n
            if values == 1:
                assert release.ncp() == 0.0


@pytest.mark.parametrize("method", ["mdav", "ona_star", "mona", "mondrian"])
def test_results_do_not_depend_on_threads(method):
    frame = pl.DataFrame(people(np.random.default_rng(0), 600, 6))
    first, second = (mag.microaggregate(frame, 3, COLUMNS, method=method, threads=t, **OPTIONS) for t in (1, 3))
    assert first.grouping.labels.tolist() == second.grouping.labels.tolist()


def test_distances_of_leaves_are_those_of_their_coordinates():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 8, 50)
    column = categories_of(frame_of({"x": [LEAVES[i] for i in codes]}).column("x"), "x", TREE)
    places = column.embedding() * np.sqrt(3.0)
    levels, loss = column.levels()
    tree = CategoryColumn(column.values, levels, loss, places, 0, 3.0)
    squared = np.square(places[:, None] - places).sum(axis=2)
    assert tree.apart == pytest.approx(squared, abs=1e-12)
    assert (tree.apart == tree.apart.T).all()
    assert set((tree.apart / 3).ravel()) == {0.0, 0.25, 0.5, 1.0}


def test_missing_cells_are_far_from_all_in_methods_that_measure():
    frame = pl.DataFrame(people(np.random.default_rng(3), 60)).with_columns(
        tree=pl.when(pl.int_range(60) % 4 == 0).then(None).otherwise(pl.col("tree"))
    )
    for method in ("mdav", "ona_star", "mona", "mondrian"):
        release = mag.microaggregate(frame, 3, COLUMNS, method=method, missing="group", **OPTIONS)
        labels = release.grouping.labels
        assert not set(labels[frame["tree"].is_null().to_numpy()]) & set(labels[frame["tree"].is_not_null().to_numpy()])


def test_some_records_know_their_first_equal():
    X = np.array([[0.0], [1.0], [0.0], [1.0], [1.0]])
    trees = trees_of({"number": [0.0], "tree": ["a", "b", "a", "b", "c"]})
    records = trees.records(np.hstack([X, np.zeros((5, 40))]))
    assert records.twins.tolist() == [0, 1, 0, 1, 4]
    assert select(records, np.array([1, 2, 3, 4])).twins.tolist() == [0, 1, 0, 3]
    assert select(X, np.array([1])).tolist() == [[1.0]]


def test_code_for_categories_is_compiled_before_the_clock_starts():
    frame = pl.DataFrame(people(np.random.default_rng(0), 300))
    for method in ("mdav", "ona_star", "ona_local", "mona", "mondrian"):
        mag.microaggregate(frame, 5, COLUMNS, method="zscore", **OPTIONS)
        warm_up.progress_for([method, "mona"], 5, {}, False, None, 1.0, True)
        before = compiled()
        for seconds in (60.0, 1e-9):
            for standardize in (True, "range"):
                options = OPTIONS | {"method": method, "time_limit": seconds, "standardize": standardize}
                assert mag.microaggregate(frame, 5, COLUMNS, **options).guarantee.smallest >= 5
        assert compiled() == before


# ---- Mondrian


def naive_parts(columns, n, k, limit, allowed=lambda part: True):
    """The rule, in words: `columns` are (values, range, importance) or (paths, losses, importance) of records."""

    def lost(column, part):
        values, measure, importance = column
        own = [values[i] for i in part]
        if isinstance(own[0], float):
            return (max(own) - min(own)) / measure * importance if measure else 0.0
        return measure[next(path[0] for path in zip(*own, strict=True) if len(set(path)) == 1)] * importance

    def cut(column, part):
        values = column[0]
        if isinstance(values[part[0]], float):
            ranked = sorted(part, key=lambda i: values[i])
            places = [p for p in range(k, len(part) - k + 1) if values[ranked[p - 1]] < values[ranked[p]]]
            if not places:
                return None
            p = min(places, key=lambda p: (abs(2 * p - len(part)), p))
            return [ranked[:p], ranked[p:]] if allowed(ranked[:p]) and allowed(ranked[p:]) else None
        level = next(v for v, nodes in enumerate(zip(*(values[i] for i in part), strict=True)) if len(set(nodes)) == 1)
        if level == 0:
            return None
        children = defaultdict(list)
        for i in part:
            children[values[i][level - 1]].append(i)
        fit = [node for node, own in sorted(children.items()) if len(own) >= k and allowed(own)]
        pool = [i for node, own in children.items() if node not in fit for i in own]
        while 0 < len(pool) < k and fit:
            least = min(fit, key=lambda node: (len(children[node]), node))
            fit.remove(least)
            pool += children[least]
        if not fit or (pool and not allowed(pool)):
            return None
        return [children[node] for node in fit] + [pool] * bool(pool)

    def divide(part):
        best, most = None, 0.0
        if len(part) > limit and len(part) >= 2 * k:
            for column in columns:
                parts = cut(column, part)
                if parts is not None:
                    gain = sum(len(own) * (lost(column, part) - lost(column, own)) for own in parts)
                    if gain > most * (1 + 1e-9):
                        best, most = parts, gain
        return [frozenset(part)] if best is None else [final for own in best for final in divide(own)]

    return set(divide(list(range(n))))


def trees_of(table, hierarchies=None, importance=None):
    """The table as methods get it: `CategoryColumns`, whose coordinates are the numbers alone."""
    columns, axes = [], []
    for j, (name, cells) in enumerate(table.items()):
        if isinstance(cells[0], str):
            column = categories_of(
                frame_of({name: cells}).column(name), name, (hierarchies or {"tree": TREE}).get(name)
            )
            levels, loss = column.levels()
            weight = (importance or {}).get(name, 1.0)
            columns.append(CategoryColumn(column.values, levels, loss, column.embedding(), j, 1.0, weight))
        else:
            axes.append(j)
    return CategoryColumns(
        np.array(axes, np.int64), columns, np.array([(importance or {}).get("number", 1.0)] * len(axes))
    )


def naive_columns(table, trees):
    """The same for `naive_parts`."""
    found, at = [], iter(trees.columns)
    for cells in table.values():
        if isinstance(cells[0], str):
            column = next(at)
            found.append(([tuple(column.levels[code]) for code in column.codes], column.loss, column.importance))
        else:
            found.append((cells, max(cells) - min(cells), float(trees.importance[0])))
    return found


def matrix(table):
    """Numbers where they stand, 0 for categories."""
    return np.array([[0.0] * len(cells) if isinstance(cells[0], str) else cells for cells in table.values()]).T


def parts(table, trees, k, limit, allowed=None):
    labels = labels_of(*parts_of_trees(matrix(table), k, limit, trees, 2, Progress(), allowed))
    return {frozenset(np.flatnonzero(labels == part).tolist()) for part in range(labels.max() + 1)}


def random_tables(count):
    for seed in range(count):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 7))
        n = int(rng.integers(k, 3 * k + 1)) if seed % 3 == 0 else int(rng.integers(k, 150))
        table = people(rng, n, [None, 1, 2, 5, 12][seed % 5])
        del table["rank"]
        names = rng.permutation([*table])[: int(rng.integers(1, 4))].tolist()
        importance = {name: float(rng.choice([1.0, 0.5, 3.0])) for name in names}
        yield {name: table[name] for name in names}, n, k, importance, rng


def test_mondrian_follows_its_rule():
    cut = 0
    for table, n, k, importance, rng in random_tables(150):
        trees = trees_of(table, importance=importance)
        if not trees.columns:
            continue
        limit = int(rng.choice([k, 2 * k, 20]))
        expected = naive_parts(naive_columns(table, trees), n, k, limit)
        assert parts(table, trees, k, limit) == expected
        assert min(map(len, expected)) >= k
        cut += len(expected) > 2
    assert cut > 40


def test_every_part_satisfies_the_criteria():
    """Two different answers, as an example."""
    refused = 0
    for table, n, k, importance, rng in random_tables(90):
        trees = trees_of(table, importance=importance)
        answer = rng.integers(0, 3, n)

        def allowed(part, answer=answer):
            return len(set(answer[list(part)].tolist())) > 1

        if not trees.columns or not allowed(range(n)):
            continue
        expected = naive_parts(naive_columns(table, trees), n, k, k, allowed)
        assert parts(table, trees, k, k, allowed) == expected
        assert all(allowed(part) for part in expected)
        refused += not all(allowed(part) for part in parts(table, trees, k, k))
    assert refused > 5


def test_parts_do_not_depend_on_the_order_of_records():
    rng = np.random.default_rng(5)
    table = people(rng, 300, 12)
    del table["rank"]
    order = rng.permutation(300)
    mixed = {name: [cells[i] for i in order] for name, cells in table.items()}
    found = {frozenset(order[list(part)].tolist()) for part in parts(mixed, trees_of(mixed), 4, 4)}
    assert found == parts(table, trees_of(table), 4, 4)


def test_large_parts_are_cut_as_small_ones_are(monkeypatch):
    table = people(np.random.default_rng(6), 500, 12)
    del table["rank"]
    expected = parts(table, trees_of(table), 4, 4)
    monkeypatch.setattr("mag.methods.mondrian.cutting.RECORDS_PER_CALL", 60)
    assert parts(table, trees_of(table), 4, 4) == expected


def test_children_are_pooled_and_publish_their_parent():
    """By hand: p has 2 and 3 records, y 4, the others 1 and 1; k = 4."""
    cells = ["a"] * 2 + ["b"] * 3 + ["e"] * 4 + ["g", "h"]
    found = parts({"tree": cells}, trees_of({"tree": cells}), 4, 4)
    # x is fit; z and h are too few, so that the smallest of the others, y, joins them
    assert found == {frozenset(range(5)), frozenset(range(5, 11))}
    release = mag.microaggregate({"tree": np.array(cells)}, 4, "tree", method="mondrian", hierarchies={"tree": TREE})
    assert sorted(release.data["tree"].tolist()) == ["*"] * 6 + ["p"] * 5


def test_mondrian_of_numbers_alone_halves():
    X = np.random.default_rng(0).normal(size=(40, 2))
    release = mag.microaggregate({"x": X[:, 0], "y": X[:, 1]}, 5, ["x", "y"], method="mondrian")
    assert release.grouping.labels.tolist() == mag.multivariate(X, 5, method="mondrian").labels.tolist()


# ---- Adult


@adult
def test_penalties_on_adult_are_not_above_those_of_the_rule_with_widths():
    """Pooled children, cut by the widest column first: 0.0083, 0.027 and 0.063 for k = 2, 5 and 10."""
    names = ["sex", "age", "race", "marital-status", "education", "native-country"]
    table = pl.read_csv(ADULT / "adult.csv", separator=";").select(names)
    options = {
        "hierarchies": {name: ADULT / f"adult_hierarchy_{name}.csv" for name in names if name != "age"},
        "aggregate": {"age": "range"},
        "standardize": "range",
    }
    for k, most in ((2, 0.0072), (5, 0.0235), (10, 0.0410)):
        release = mag.microaggregate(table, k, names, method="mondrian", **options)
        assert release.ncp() <= most
        assert mag.microaggregate(table, k, names, method="mona", **options).ncp() < 0.85 * release.ncp()
    few = table.head(4000)
    losses = {m: mag.microaggregate(few, 5, names, method=m, **options).ncp() for m in ("ona_star", "mdav", "mondrian")}
    assert losses["ona_star"] < 0.0451 < losses["mondrian"] < 0.0702
    assert losses["mdav"] < 0.0602


def mdav_of_categories(codes, k):
    """MDAV on categories that are equal or not, in rational numbers; equally far records by number."""
    free, groups, n = list(range(len(codes[0]))), [], len(codes[0])

    def from_centroid(i):
        counts = [Counter(column[j] for j in free) for column in codes]
        squares = [sum(count * count for count in one.values()) for one in counts]
        left = len(free)
        terms = zip(codes, counts, squares, strict=True)
        return sum(1 - Fraction(2 * one[column[i]], left) + Fraction(total, left**2) for column, one, total in terms)

    def apart(i, j):
        return sum(column[i] != column[j] for column in codes)

    def take(i):
        group = sorted(free, key=lambda j: (j != i, apart(i, j), j))[:k]
        groups.append(group)
        for j in group:
            free.remove(j)

    while len(free) >= 2 * k:
        away = {i: from_centroid(i) for i in free}
        first = min(free, key=lambda i: (-away[i], i))
        if len(free) >= 3 * k:
            near = sorted(free, key=lambda j: (j != first, apart(first, j), j))[:k]
            second = min((j for j in free if j not in near), key=lambda j: (-apart(first, j), j))
            take(first)
            take(second)
        else:
            take(first)
    groups.append(list(free))
    labels = np.empty(n, int)
    for number, group in enumerate(groups):
        labels[group] = number
    return labels


def test_ties_of_mdav_on_categories_go_to_the_lowest_number():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 5))
        n, d = k * int(rng.integers(3, 12)), int(rng.integers(1, 3))
        codes = rng.integers(0, 5, (d, n)).tolist()
        table = {f"c{j}": [f"v{code}" for code in column] for j, column in enumerate(codes)}
        release = mag.microaggregate(table, k, list(table), method="mdav", standardize="range", aggregate="mode")
        labels, expected = release.grouping.labels, mdav_of_categories(codes, k)
        assert len({*zip(labels.tolist(), expected.tolist(), strict=True)}) == len({*expected.tolist()}), seed


# ---- many categories


def many_leaves(n, m):
    rng = np.random.default_rng(0)
    leaves = [f"v{i}" for i in range(m)]
    tree = mag.Hierarchy.from_levels([[leaf, f"p{i // 10}", f"q{i // 100}", "*"] for i, leaf in enumerate(leaves)])
    table = {"x": rng.normal(size=n), "c": [leaves[i] for i in rng.integers(0, m, n)]}
    return table, {"method": "mondrian", "hierarchies": {"c": tree}}


def test_mondrian_needs_no_coordinates_of_leaves(monkeypatch):
    table, options = many_leaves(3000, 400)
    labels = mag.microaggregate(table, 5, ["x", "c"], **options).grouping.labels
    monkeypatch.setattr(_grouping, "FEW_LEAVES", 10**9)
    assert labels.tolist() == mag.microaggregate(table, 5, ["x", "c"], **options).grouping.labels.tolist()
    table["x"] = table["x"] * 1e200  # squares are scaled, so that coordinates are halved
    wide = mag.microaggregate(table, 5, ["x", "c"], standardize=False, **options).grouping.labels
    monkeypatch.undo()
    assert (
        wide.tolist() == mag.microaggregate(table, 5, ["x", "c"], standardize=False, **options).grouping.labels.tolist()
    )


def test_memory_of_mondrian_does_not_grow_with_leaves_times_records():
    code = """
import resource, mag
from tests.methods.test_hierarchies import many_leaves
def grown(n, m):
    table, options = many_leaves(n, m)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    mag.microaggregate(table, 5, ["x", "c"], **options)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
grown(200, 100)
print(grown(20_000, 5000) // 1024)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ended.stdout) < 300  # MB; 20 000 × 5 000 float64 are 763


def published_groups(table, columns, **options):
    labels = mag.microaggregate(table, 5, columns, **options).grouping.labels.tolist()
    return [labels.index(label) for label in labels]  # by their first records


@pytest.mark.parametrize("method", ["mdav", "mdav_plus", "mdav_star", "ona_star", "mona", "zscore"])
def test_sparse_trees_give_the_groups_of_coordinates(method, monkeypatch):
    table, options = many_leaves(600, 150)
    table["flat"] = [f"f{i % 70}" for i in np.random.default_rng(1).permutation(600)]
    table["few"] = [f"g{i % 3}" for i in range(600)]
    table["s"] = [f"s{i % 2}" for i in range(600)]
    table["c"][::3] = [None] * 200
    columns, options = ["few", "c", "x", "flat"], options | {"method": method, "missing": "group", "rest": "keep"}
    options["aggregate"] = {"flat": "mode", "few": "mode"}
    for roles in ({}, {"by": "s", "importance": {"c": 2.0, "x": 0.5}}, {"standardize": "range"}):
        dense = published_groups(table, columns, **options, **roles)
        with monkeypatch.context() as patch:
            patch.setattr(_grouping, "MANY_CELLS", 0)
            assert published_groups(table, columns, **options, **roles) == dense


LIMITED = """
import resource, mag
from tests.methods.test_hierarchies import many_leaves
def grown(n, m, options):
    table, others = many_leaves(n, m)
    table["s"] = [f"s{{i % 3}}" for i in range(n)]
    options = others | {{"rest": "keep"}} | options
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        assert mag.microaggregate(table, 5, ["x", "c"], **options).guarantee.smallest >= 5
    except mag.InputError as mistake:
        print(mistake)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
options = {options}
grown(200, 100, options)
print(grown(20_000, 10_000, options) // 1024)
"""
DIVERSE = {"diversity": {"s": 2}, "enforce": "merge"}


@pytest.mark.parametrize(
    "options",
    [
        {"method": "auto"},
        {"method": "ona_local", "standardize": "range"},
        {"method": "mona"},
        {"method": "mona", "hierarchies": {}, "aggregate": {"c": "mode"}},
        {"method": "mona", **DIVERSE},
        {"method": "mdav"},
        {"method": "ona_star"},
        {"method": "anneal", "time_limit": 5},
    ],
    ids=str,
)
def test_many_categories_take_little_memory_or_are_refused(options):
    code = LIMITED.format(options=options)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *refused, megabytes = ended.stdout.splitlines()
    assert int(megabytes) < 500  # 20 000 × 10 000 float64 are 1526
    if options["method"] in ("auto", "ona_local", "mona"):
        assert not refused
    else:
        assert "choose method 'ona_local', 'mona' or 'mondrian'" in refused[0]


def test_parts_that_no_tree_divides_are_halved(monkeypatch):
    table = {"a": [f"a{i}" for i in range(900)], "b": [f"b{i // 2}" for i in range(900)]}
    module, made = sys.modules[divide_wide.__module__], []
    expanded = CategoryColumns.expanded_records
    monkeypatch.setattr(module, "NARROW", 100)
    monkeypatch.setattr(module, "WIDE", 20_000)
    monkeypatch.setattr(CategoryColumns, "expanded_records", _watched(expanded, made))
    monkeypatch.setattr(_grouping, "MANY_CELLS", 0)
    release = mag.microaggregate(table, 3, ["a", "b"], method="mona", aggregate="mode")
    assert release.guarantee.smallest >= 3
    assert sum(n for n, _ in made) == 900
    assert max(n for n, _ in made) <= 100
    assert max(wide for _, wide in made) <= 200


def _watched(expanded, made):
    def watch(*args):
        records = expanded(*args)
        made.append((records.n, records.d))
        return records

    return watch
