"""`mag.generalize` and `mag generalize`: published cells and dtypes, warnings, and values that must not be there."""

import io
import json
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mag
from mag.commands.cli import main
from mag.tables import LatticeNode
from tests.data.frames import CATEGORICAL, LIBRARIES, cells, dtypes, names, smallest_class
from tests.data.hierarchies import ADULT, JOBS, TREE, adult

AGES = mag.Hierarchy.intervals(20, 80, [5, 10, 30])
PEOPLE = {
    "age": [21, 22, 24, 27, 33, 38, 41, 44, 62, 63, 64, 79],
    "job": ["baker", "painter", "baker", "baker", "painter", "painter", "dentist", "surgeon", "dentist", "surgeon",
            "dentist", "unknown"],
    "sex": ["f", "m"] * 6,
    "answer": [f"answer {i}" for i in range(12)],
}  # fmt: skip
TREES = {"age": AGES, "job": TREE}


def recode(table=PEOPLE, k=2, columns=("age", "job"), **options):
    options = {"hierarchies": {name: TREES[name] for name in columns if name in TREES}, "rest": "drop"} | options
    return mag.generalize(table, k, list(columns), **options)


def labels_of(tree, value):
    """A value's label on every level."""
    return [str(label) for label in tree.to_levels()[int(tree.find([value])[0])]]


# ---- what is published


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_value_is_recoded_alike_and_the_rest_is_suppressed(library):
    table = LIBRARIES[library](PEOPLE)
    release = recode(table, 3, max_suppressed=0.25, rest="error", keep="answer", by=None, columns=["age", "job", "sex"])
    assert names(release.data) == list(PEOPLE)
    suppressed = [
        all(cell == root for cell, root in zip(row, ("[20, 80)", "*", "*"), strict=True))
        for row in zip(*(cells(release.data, name) for name in ("age", "job", "sex")), strict=True)
    ]
    assert sum(suppressed) == release.guarantee.suppressed == 3
    for name, tree in TREES.items():
        for value, shown, gone in zip(PEOPLE[name], cells(release.data, name), suppressed, strict=True):
            assert shown == labels_of(tree, value)[-1 if gone else release.levels[name]]
    assert cells(release.data, "answer") == PEOPLE["answer"]
    assert smallest_class(release.data, ["age", "job", "sex"]) == release.guarantee.smallest >= 3
    assert type(release.data) is type(table)


def test_levels_and_the_best_nodes_are_told():
    release = recode(k=3, max_suppressed=0.25)
    assert release.levels == release.lattice[0].levels == release.guarantee.levels == {"age": 2, "job": 1}
    assert release.proven
    assert len(release.lattice) == 5  # of 12 that are allowed
    assert [node.loss for node in release.lattice] == sorted(node.loss for node in release.lattice)
    assert isinstance(release.lattice[0], LatticeNode)
    assert release.lattice[0].suppressed == release.guarantee.suppressed + release.withheld
    assert all(node.smallest >= 3 for node in release.lattice)
    assert release.ncp() == pytest.approx(release.lattice[0].loss)
    assert release.grouping.method == "full-domain"
    assert np.bincount(release.grouping.labels).min() == release.guarantee.smallest
    assert mag.microaggregate({"x": [1, 2]}, 2, "x").levels is None


def test_the_guarantee_says_what_was_done():
    counted = (
        "Every record shares its values of age, job with at least 2 others: k = 3, counted on the published table, "
        "smallest class 3 of {} records. age, job are generalized: true for every record. Each column is published on "
        "one level of its hierarchy: age 2, job 1. "
    )
    kept = " Kept unchanged and not covered: sex."
    shown = "Suppressed: 3 records show the most general label in every column."
    assert str(recode(k=3, max_suppressed=0.25, keep="sex").guarantee) == counted.format(12) + shown + kept
    withheld = recode(k=3, max_suppressed=0.25, keep="sex", show_suppressed_as="withhold")
    assert str(withheld.guarantee) == counted.format(9) + "Withheld: 3 records." + kept


def test_the_loss_is_the_share_of_leaves():
    table = {"job": ["baker", "baker", "painter", "painter", "dentist", "dentist", "surgeon", "surgeon"]}
    assert recode(table, 2, ["job"], max_suppressed=0).ncp() == 0
    release = recode(table, 4, ["job"], max_suppressed=0)
    assert release.levels == {"job": 1}
    assert release.ncp() == release.lattice[0].loss == pytest.approx(0.4)
    assert [node.loss for node in release.lattice] == pytest.approx([0.4, 1])


def test_importance_decides_which_column_stays_exact():
    table = {"x": ["a", "a", "b", "b"], "y": ["c", "d", "c", "d"]}
    for important, other in (("x", "y"), ("y", "x")):
        release = mag.generalize(table, 2, ["x", "y"], importance={important: 2}, max_suppressed=0)
        assert release.levels == {important: 0, other: 1}
        assert release.lattice[0].loss == pytest.approx(1 / 3)
        assert release.ncp() == 0.5
    assert mag.generalize(table, 2, ["x", "y"], max_suppressed=0).levels == {"x": 0, "y": 1}  # of equal ones the lower


def test_strata_are_not_recoded():
    table = {"x": ["a", "b", "a", "b", "a"], "g": [1, 1, 2, 2, 3]}
    release = mag.generalize(table, 2, "x", by="g", max_suppressed=0.2)
    assert release.data["g"].tolist() == [1, 1, 2, 2]
    assert release.data["x"].tolist() == ["*"] * 4
    assert release.withheld == 1
    with pytest.raises(
        mag.InputValueError, match=r"even on the highest levels 1 records are in strata of fewer than k=2"
    ):
        mag.generalize(table, 2, "x", by="g", max_suppressed=0.19)


@pytest.mark.parametrize("suppressed", ["root", "withhold"])
def test_few_suppressed_records_are_no_small_class(suppressed):
    """One or two records alone in their classes, k = 3: as the root they would be a class of one or two."""
    for lonely in (["baker"], ["baker", "painter"]):
        table = {"job": ["dentist"] * 6 + lonely, "answer": list(range(6 + len(lonely)))}
        release = recode(table, 3, ["job"], max_suppressed=0.5, keep="answer", show_suppressed_as=suppressed)
        assert release.withheld == len(lonely)
        assert release.data["answer"].tolist() == list(range(6))
        said = any("withheld: together they would be a class of fewer than k" in text for text in release.warnings)
        assert said == (suppressed == "root")
    table = {"job": ["dentist"] * 6 + ["baker", "painter", "surgeon"]}
    release = recode(table, 3, ["job"], max_suppressed=0.5, show_suppressed_as=suppressed)
    assert release.withheld == (0 if suppressed == "root" else 3)
    assert release.data["job"].tolist()[6:] == (["*"] * 3 if suppressed == "root" else [])


def test_suppressed_records_are_a_class_in_every_stratum():
    table = {"x": list("aaabc") + list("aaade"), "g": [1] * 5 + [2] * 5}
    release = mag.generalize(table, 2, "x", by="g", max_suppressed=0.4)
    assert release.data["x"].tolist() == list("aaa**") * 2
    table = {"x": list("aaab") + list("aaac"), "g": [1] * 4 + [2] * 4}
    assert mag.generalize(table, 2, "x", by="g", max_suppressed=0.4).withheld == 2  # two of them, but one in each


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_published_tables_are_anonymous_and_true(data):
    n = data.draw(st.integers(2, 30))
    draw = lambda values: data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))  # noqa: E731
    table = {"age": draw([21, 22, 35, 36, 61]), "job": draw([row[0] for row in JOBS]), "g": draw([0, 1])}
    k, suppress = data.draw(st.integers(1, n)), data.draw(st.sampled_from([0, 0.1, 0.5, 1]))
    how = data.draw(st.sampled_from(["root", "withhold"]))
    try:
        release = recode(table, k, by="g", max_suppressed=suppress, show_suppressed_as=how, shuffle=False)
    except mag.InputValueError:
        sizes = Counter(table["g"])
        assert sum(size for size in sizes.values() if size < k) > suppress * n or all(s < k for s in sizes.values())
        return
    assert smallest_class(release.data, ["g", "age", "job"]) >= k
    assert release.withheld + release.guarantee.suppressed <= suppress * n
    stays = np.setdiff1d(np.arange(n), release.withheld_rows())
    for name, tree in TREES.items():
        for row, shown in zip(stays.tolist(), cells(release.data, name), strict=True):
            assert shown in labels_of(tree, table[name][row])


def test_criteria_are_met_and_counted_on_the_published_table():
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(20, 80, 300),
        "job": rng.choice([row[0] for row in JOBS], 300),
        "disease": rng.choice(["flu", "cough", "ulcer"], 300, p=[0.7, 0.2, 0.1]),
        "income": rng.integers(1, 9, 300),
    }
    plain = recode(table, 3, max_suppressed=0.1, keep=["disease", "income"])
    classes = ["age", "job"]
    for diversity, counted in ((2, mag.verify.distinct), (("entropy", 1.5), mag.verify.entropy)):
        release = recode(table, 3, max_suppressed=0.1, diversity={"disease": diversity})
        least = counted(release.data, classes, "disease")
        assert least >= (2 if diversity == 2 else 1.5) > counted(plain.data, classes, "disease")
        assert release.guarantee.diversity["disease"].counted == least
        assert release.guarantee.sensitive == ("disease",)
        assert release.ncp() >= plain.ncp()
    release = recode(table, 3, max_suppressed=0.1, closeness={"income": 0.15}, show_suppressed_as="withhold")
    assert float(mag.verify.closeness(release.data, classes, "income")) == release.guarantee.closeness["income"].counted
    assert release.guarantee.closeness["income"].counted <= 0.15 < mag.verify.closeness(plain.data, classes, "income")
    ranks = recode(
        table, 3, max_suppressed=0.2, closeness={"disease": mag.Closeness(0.2, ground="ordered")},
        order={"disease": ["flu", "cough", "ulcer"]},
    )  # fmt: skip
    assert ranks.guarantee.closeness["disease"].counted <= 0.2


def test_what_no_levels_can_meet_is_said():
    table = {"job": ["baker"] * 6, "disease": list("aaaaab"), "g": [0] * 3 + [1] * 3}
    with pytest.raises(mag.InputValueError, match=r"^diversity of 'disease' can be at most 2; got 3\.$"):
        recode(table, 2, ["job"], diversity={"disease": 3})
    with pytest.raises(mag.InputValueError, match=r"^entropy diversity of 'disease' can be at most 1\.56"):
        recode(table, 2, ["job"], diversity={"disease": ("entropy", 2)})
    with pytest.raises(mag.InputValueError, match="too few for diversity= and closeness= on any levels"):
        recode(table, 2, ["job"], diversity={"disease": 2}, by="g")
    assert recode(table, 2, ["job"], diversity={"disease": 2}, by="g", max_suppressed=0.5).withheld == 3


# ---- cells and dtypes


@pytest.mark.parametrize("library", CATEGORICAL)
def test_categories_keep_their_dtype_without_values_that_are_not_published(library):
    kinds = [row[0] for row in JOBS]
    table = CATEGORICAL[library](["baker", "painter", "dentist", "surgeon", "baker", None], kinds)
    release = mag.generalize(table, 2, "x", hierarchies={"x": TREE}, missing="drop", max_suppressed=0.0)
    assert cells(release.data, "x") == ["crafts", "crafts", "medicine", "medicine", "crafts"]
    before, after = dict(dtypes(table)) if library != "pyarrow" else {}, release.data["x"]
    if library.startswith("pandas"):
        assert isinstance(after.dtype, pd.CategoricalDtype)
        assert sorted(after.cat.categories) == ["crafts", "medicine"]
    elif library == "polars Enum":
        assert after.dtype == pl.Enum(["crafts", "medicine"])
    elif library == "polars":
        assert after.dtype == before["x"]
        assert set(after.unique().to_list()) == {"crafts", "medicine"}
    else:
        assert pa.types.is_dictionary(after.type)
        assert sorted(after.combine_chunks().dictionary.to_pylist()) == ["crafts", "medicine"]


def test_numbers_and_booleans_become_text():
    release = recode({"age": np.array([21.0, 22.0]), "b": [True, False]}, 2, ["age", "b"], max_suppressed=0)
    assert release.data["age"].tolist() == ["[20, 25)"] * 2
    assert release.data["b"].tolist() == ["*"] * 2
    assert "Published as text: age." in release.warnings
    assert "Without a hierarchy a column shows its values or nothing but '*': b." in release.warnings


def test_codes_are_flat_where_that_is_said():
    table = {"zip": [10, 10, 20, 20, 30], "x": list("abcde")}
    release = mag.generalize(table, 2, ["zip", "x"], hierarchies={"zip": mag.Hierarchy.flat}, max_suppressed=0.2)
    assert release.data["zip"].tolist() == ["10", "10", "20", "20"]
    assert release.data["x"].tolist() == ["*"] * 4


def test_values_that_are_published_alike_are_one():
    table = {"x": np.array([1, "1", 1.0, True, "True", "y"], object)}
    release = mag.generalize(table, 2, "x", max_suppressed=0.2)
    assert release.data["x"].tolist() == ["1", "1", "1", "True", "True"]


def test_values_that_read_like_the_root_are_values():
    release = mag.generalize({"x": ["*", "*", "", "", "a"]}, 2, "x", max_suppressed=0.2)
    assert release.data["x"].tolist() == ["*", "*", "", ""]
    release = mag.generalize({"x": ["*", "*", "a", "b"]}, 2, "x", max_suppressed=0.5)
    assert release.data["x"].tolist() == ["*"] * 4
    assert release.guarantee.smallest == 4


@pytest.mark.parametrize("library", LIBRARIES)
def test_missing_is_a_value_below_the_root(library):
    table = LIBRARIES[library]({"job": ["baker", "baker", None, None, "dentist", "surgeon"]})
    if library == "dict":
        table = {"job": np.array(["baker", "baker", None, None, "dentist", "surgeon"], object)}
    grouped = recode(table, 2, ["job"], missing="group", max_suppressed=0)
    shown = [None if pd.isna(cell) else cell for cell in cells(grouped.data, "job")]
    assert shown == ["crafts", "crafts", None, None, "medicine", "medicine"]
    dropped = recode(table, 2, ["job"], missing="drop", max_suppressed=0)
    assert cells(dropped.data, "job") == ["crafts", "crafts", "medicine", "medicine"]
    assert dropped.withheld == 2
    three = recode(table, 3, ["job"], missing="group", max_suppressed=0)
    assert cells(three.data, "job") == ["*"] * 6


def test_groups_are_the_classes_that_are_published():
    """A label on a lower level may be called as the root is, which suppressed records show."""
    rows = [["a", "*", "*"], ["b", "b", "*"], ["c", "c", "*"], ["d", "g", "*"], ["e", "g", "*"]]
    tree = mag.Hierarchy.from_levels(rows)
    release = mag.generalize({"q": list("aaaabcde")}, 2, "q", hierarchies={"q": tree}, max_suppressed=0.25)
    assert release.data["q"].tolist() == [*"******", "g", "g"]
    assert release.grouping.sizes.tolist() == [6, 2]
    assert (release.guarantee.n_groups, release.guarantee.suppressed) == (2, 2)


def test_values_without_a_leaf_lose_all():
    tree = mag.Hierarchy.from_levels([["a", "g", "*"], ["b", "g", "*"], ["c", "h", "*"]])
    table = {"q": ["a", "a", "z", "z", "b", "b"]}
    release = mag.generalize(table, 2, "q", hierarchies={"q": tree.with_other()}, max_suppressed=0)
    assert release.data["q"].tolist() == ["a", "a", "*", "*", "b", "b"]
    assert [node.loss for node in release.lattice] == pytest.approx([1 / 3, (2 + 4 * 2 / 3) / 6, 1])
    with pytest.raises(ValueError, match=r"no leaf for 1 values of 2 records; .*with_other takes them for its root\.$"):
        mag.generalize(table, 2, "q", hierarchies={"q": tree}, max_suppressed=0)


def test_missing_cells_of_suppressed_records_are_not_told_apart():
    table = {"job": np.array(["baker"] * 4 + [None, "surgeon"], object)}
    release = recode(table, 2, ["job"], missing="group", max_suppressed=0.4)
    assert release.data["job"].tolist() == ["baker"] * 4 + ["*"] * 2


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_column_may_be_missing_throughout(library):
    make = LIBRARIES[library]
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](
        {"job": pd.Series([None] * 3, dtype="str") if library == "pandas" else make({"a": ["x"] * 3})["a"]}
    )
    if library == "polars":
        table = table.with_columns(pl.lit(None, pl.String).alias("job"))
    if library == "pyarrow":
        table = pa.table({"job": pa.array([None] * 3, pa.string())})
    release = mag.generalize(table, 3, "job", missing="group", max_suppressed=0)
    assert all(cell is None or cell != cell for cell in cells(release.data, "job"))
    assert release.ncp() == 0


def test_a_hierarchy_of_one_level_does_not_show_what_is_missing():
    tree = mag.Hierarchy.from_levels([["baker"]])
    table = {"job": np.array(["baker", "baker", "baker", None], object)}
    release = mag.generalize(table, 2, "job", hierarchies={"job": tree}, missing="group", max_suppressed=0)
    assert release.data["job"].tolist() == ["*"] * 4
    assert (
        mag.generalize({"job": ["baker"] * 3}, 2, "job", hierarchies={"job": tree}).data["job"].tolist()
        == ["baker"] * 3
    )


def test_dates_and_every_way_to_write_a_hierarchy(tmp_path):
    days = np.array(["2026-01-05", "2026-01-09", "2026-03-01", "2026-03-30"], "M8[D]")
    release = mag.generalize({"day": days}, 2, "day", hierarchies={"day": mag.Hierarchy.dates}, max_suppressed=0)
    assert release.data["day"].tolist() == ["2026-01"] * 2 + ["2026-03"] * 2
    TREE.to_arx(tmp_path / "job.csv")
    parents = {row[i]: row[i + 1] for row in JOBS for i in (0, 1)}
    for source in (TREE, tmp_path / "job.csv", str(tmp_path / "job.csv"), parents, lambda values: TREE):
        assert recode(hierarchies={"age": AGES, "job": source}, k=3, max_suppressed=0.25).levels == {"age": 2, "job": 1}


def test_shuffled_records_stay_whole():
    release = recode(k=3, keep="answer", shuffle=True, random_state=1, max_suppressed=0.25)
    plain = recode(k=3, keep="answer", max_suppressed=0.25)
    together = [
        Counter(zip(*(cells(one.data, name) for name in ("age", "job", "answer")), strict=True))
        for one in (release, plain)
    ]
    assert together[0] == together[1]
    assert cells(release.data, "answer") != cells(plain.data, "answer")
    assert "withheld" in release.manifest()["options"]["random_state"]
    by_label = {}
    for label, row in zip(
        release.grouping.labels.tolist(),
        zip(cells(release.data, "age"), cells(release.data, "job"), strict=True),
        strict=True,
    ):
        assert by_label.setdefault(label, row) == row


@pytest.mark.parametrize("library", CATEGORICAL)
def test_no_order_of_categories_is_that_of_the_original(library):
    """A hierarchy of columns of the table has its order; two tables in reverse must not be told apart."""
    dictionaries = []
    for cells_in in (["b", "a", "c", "d"] * 3, ["d", "c", "a", "b"] * 3):
        rows = {"x": cells_in, "y": [cell.upper() for cell in cells_in]}
        tree = mag.Hierarchy.from_columns(rows, ["x", "y"])
        table = CATEGORICAL[library](cells_in, list("abcd"))
        release = mag.generalize(table, 3, "x", hierarchies={"x": tree}, shuffle=True, random_state=0)
        column = release.data["x"]
        if library == "pyarrow":
            dictionaries.append(column.combine_chunks().dictionary.to_pylist())
        elif library.startswith("pandas"):
            dictionaries.append(list(column.cat.categories))
        else:
            dictionaries.append(str(column.dtype))
    assert dictionaries[0] == dictionaries[1]


# ---- searches that are cut short


def test_too_many_nodes_are_searched_along_paths():
    release = recode(k=3, max_suppressed=0.25, max_nodes=11)
    assert not release.proven
    assert not release.grouping.complete
    assert not release.manifest()["complete"]
    [said] = [text for text in release.warnings if "max_nodes" in text]
    assert "There are 12 combinations of levels" in said
    assert "mag.microaggregate recodes locally" in said
    assert recode(k=3, max_suppressed=0.25, max_nodes=12).proven


def test_a_lattice_of_billions_of_nodes_ends_at_once():
    rng = np.random.default_rng(0)
    columns = [f"x{j}" for j in range(20)]
    tree = mag.Hierarchy.intervals(0, 27, [1, 3, 9])
    table = {name: rng.integers(0, 27, 200) for name in columns}
    release = mag.generalize(table, 3, columns, hierarchies=dict.fromkeys(columns, tree))
    assert smallest_class(release.data, columns) >= 3
    assert not release.proven


# ---- mistakes


def crossing(low, high):
    """Intervals of 15 are odd or even, which those of 30 cut across."""
    return str((low - 20) // 15 % 2) if high - low == 15 else f"{low}-{high}"


WRONG = {
    "no hierarchy": (
        {"columns": ["age"], "hierarchies": None},
        "^hierarchies must have an entry for 'age', which holds no categories",
    ),
    "k": ({"k": 13}, r"^k must be an integer in \[1, n=12\]; got 13\.$"),
    "k of a column": ({"k": {"age": 2}}, r"^k must be an integer in \[1, n=12\]; got a dict\.$"),
    "max_suppressed": ({"max_suppressed": 1.5}, r"^max_suppressed must be a number from 0 to 1; got 1\.5\.$"),
    "suppress as text": ({"max_suppressed": "5%"}, r"^max_suppressed must be a number from 0 to 1; got '5%'\.$"),
    "show_suppressed_as": (
        {"show_suppressed_as": "star"},
        r"^show_suppressed_as must be one of 'root', 'withhold'; got 'star'\.$",
    ),
    "max_nodes": ({"max_nodes": 0}, r"^max_nodes must be an integer in \[1, 10\*\*7=10000000\]; got 0\.$"),
    "importance": ({"importance": {"age": 0}}, r"^importance\['age'\] must be a positive number; got 0\.$"),
    "importance elsewhere": (
        {"importance": {"sex": 2}},
        r"^importance must name columns that are masked; got 'sex'\.$",
    ),
    "hierarchies elsewhere": (
        {"hierarchies": {"sex": TREE}},
        r"^hierarchies must name columns that are masked; got 'sex'\.$",
    ),
    "hierarchies as a tree": (
        {"hierarchies": TREE},
        r"^hierarchies must be a dictionary by column; got a Hierarchy\.$",
    ),
    "values without a leaf": (
        {"columns": ["sex"], "hierarchies": {"sex": TREE}},
        r"^hierarchies\['sex'\] has no leaf for 2 values of 12 records",
    ),
    "no tree": (
        {"hierarchies": {"age": AGES, "job": lambda values: mag.Hierarchy([[value, value] for value in values])}},
        r"^rows must have one label on the highest level; got several\.$",
    ),
    "not nested": (
        {
            "hierarchies": {
                "age": lambda values: mag.Hierarchy.intervals(20, 80, [5, 15, 30], labels=crossing),
                "job": TREE,
            }
        },
        r"^rows must have one parent for every label; some of level 1 have several on level 2\.$",
    ),
    "a rule that makes no hierarchy": (
        {"hierarchies": {"age": AGES, "job": list}},
        r"^hierarchies\['job'\] must make a mag\.Hierarchy of the column's values; got a list\.$",
    ),
    "roles": ({"rest": "error"}, "^every column must be in columns, by, keep or drop; 'sex', 'answer' in none"),
    "order": (
        {"order": {"job": ["baker"]}},
        r"^order must name sensitive columns; got 'job'\.$|^order must name columns",
    ),
    "missing": ({"missing": "skip"}, r"^missing must be one of 'drop', 'error', 'group'; got 'skip'\.$"),
    "sensitive and masked": ({"diversity": {"job": 2}}, "^'job' is in columns: its values would be masked"),
}


@pytest.mark.parametrize("case", WRONG)
def test_mistakes_are_one_sentence(case):
    options, sentence = WRONG[case]
    with pytest.raises(mag.InputError, match=sentence) as caught:
        recode(**options)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert not any(value in str(caught.value) for value in PEOPLE["job"])


def test_empty_tables_and_missing_cells_are_mistakes():
    with pytest.raises(mag.InputValueError, match="at least one record"):
        recode({"job": np.array([], str)}, 1, ["job"])
    with pytest.raises(mag.InputValueError, match=r"columns have missing values: 1 in 'job'; pass missing='group'"):
        recode({"job": np.array(["baker", None], object)}, 1, ["job"])
    with pytest.raises(mag.InputValueError, match="at least one record"):
        recode({"job": np.array([None, None], object)}, 1, ["job"], missing="drop")


# ---- what leaves


def secrets_of(release):
    """Labels of the original that are on a lower level than the published ones."""
    secrets = []
    for name, tree in TREES.items():
        for value in PEOPLE[name]:
            secrets += labels_of(tree, value)[: release.levels[name]]
    published = {cell for name in TREES for cell in cells(release.data, name)}
    return set(secrets) - published


def test_nothing_below_the_levels_leaves(tmp_path):
    table = dict(PEOPLE, name=[f"person {i}" for i in range(12)])
    for library in LIBRARIES.values():
        release = recode(library(table), 3, max_suppressed=0.25, keep="sex")
        page = release.report(tmp_path / "report.html", overwrite=True).read_text()
        copy = pickle.loads(pickle.dumps(release))
        assert copy.levels == release.levels
        assert copy.proven
        assert copy.lattice == ()
        outputs = {
            "manifest": json.dumps(release.manifest(), default=str), "report": page, "text": repr(release),
            "html": release._repr_html_(), "pickle": pickle.dumps(release).decode("latin-1"),
            "warnings": " ".join(release.warnings),
        }  # fmt: skip
        for secret in secrets_of(release) | set(table["name"]):
            for where, text in outputs.items():
                assert secret not in text, f"{secret} in {where}"


def test_the_report_shows_levels(tmp_path):
    release = recode(k=3, max_suppressed=0.25)
    page = release.report(tmp_path / "report.html").read_text()
    assert "Generalization report" in page
    assert "2 of 3" in page
    assert "No other levels lose less." in page
    assert (
        "not all were searched" in recode(k=3, max_suppressed=0.25, max_nodes=3).report(tmp_path / "r.html").read_text()
    )
    assert "Distributions before and after" in page


def test_bars_of_the_report_count_values_on_the_published_level():
    release = recode(k=3, max_suppressed=0.25)
    bars = release._compared.categories(release.guarantee.generalized, release.levels)["age"]
    before, after = Counter(bars.compared.tolist()), Counter(bars.after.tolist())
    assert set(before) <= set(after)
    assert {label: count - after[label] for label, count in before.items() if count != after[label]}
    assert all(count >= after[label] for label, count in before.items())


def test_risk_and_utility_follow_the_hierarchies():
    release = recode(k=3, max_suppressed=0.25)
    assert release.risk()["k_anonymity"] >= 3
    assert release.utility()["ncp"] == release.ncp()
    with pytest.raises(mag.InputRuntimeError, match="counts all"):
        release.ncp("used")


def test_levels_are_drawn():
    pytest.importorskip("matplotlib")
    assert len(recode(k=3, max_suppressed=0.25).plot()) == 2


def test_the_manifest_says_which_levels():
    manifest = recode(k=3, max_suppressed=0.25, importance={"age": 2}).manifest()
    assert manifest["guarantee"]["levels"] == {"age": 2, "job": 1}
    assert manifest["options"] == {
        "k": 3, "columns": ["age", "job"], "by": [], "hierarchies": ["age", "job"], "importance": {"age": 2},
        "missing": "error", "keep": [], "drop": 2, "shuffle": False, "random_state": None, "max_suppressed": 0.25,
        "show_suppressed_as": "root", "max_nodes": 10**6,
    }  # fmt: skip
    assert manifest["method"] == "full-domain"


# ---- Adult


@adult
@pytest.mark.parametrize(
    ("suppress", "losses"),
    [(0, (0.533, 0.586, 0.586)), (0.05, (0.098, 0.153, 0.185)), (1, (0.082, 0.133, 0.167))],
)
def test_the_figures_of_adult(suppress, losses):
    columns = ["sex", "age", "race", "marital-status", "education", "native-country"]
    people = pl.read_csv(ADULT / "adult.csv", separator=";").select(columns)
    trees = {name: ADULT / f"adult_hierarchy_{name}.csv" for name in columns}
    for k, loss in zip((2, 5, 10), losses, strict=True):
        release = mag.generalize(people, k, columns, hierarchies=trees, max_suppressed=suppress)
        assert release.ncp() == pytest.approx(loss, abs=5e-4)
        assert release.proven


# ---- files


@pytest.fixture
def folder(tmp_path):
    pl.DataFrame(PEOPLE).write_csv(tmp_path / "people.csv")
    TREE.to_arx(tmp_path / "job.csv")
    return tmp_path


ROLES = ["-c", "age", "-c", "job", "--keep", "sex", "--drop", "answer"]
HOW = ["--intervals", "age=20:80:5,10,30", "-k", "3", "--max-suppressed", "0.25"]


def run(folder, *arguments, source="people.csv"):
    return main(
        [
            "generalize",
            str(folder / source),
            *ROLES,
            *HOW,
            "--hierarchy",
            f"job={folder / 'job.csv'}",
            *map(str, arguments),
        ]
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "xlsx", "sav", "dta"])
def test_files_of_every_format(folder, ending, capsys):
    out = folder / f"out.{ending}"
    assert (
        run(
            folder,
            "-o",
            out,
            "--report",
            folder / "report.html",
            "--withheld",
            folder / "withheld.txt",
            "--show-suppressed-as",
            "withhold",
        )
        == 0
    )
    said = capsys.readouterr().out
    assert said.startswith("Searching 12 combinations of levels.\nEvery record shares its values of age, job with")
    manifest = json.loads((folder / f"out.{ending}.manifest.json").read_text())
    assert manifest["guarantee"]["levels"] == {"age": 2, "job": 1}
    assert manifest["verified"]["smallest"] == 3
    assert manifest["verified"]["records"] == 9
    assert "seconds" not in manifest
    assert (folder / "withheld.txt").read_text().split() == ["record", "7", "8", "12"]
    assert "Levels" in (folder / "report.html").read_text()
    assert main(["check", str(out), "--qi", "age", "--qi", "job", "-k", "3"]) == 0


def test_a_dry_run_writes_nothing(folder, capsys):
    before = sorted(folder.iterdir())
    assert run(folder, "--dry-run") == 0
    assert "Nothing was written." in capsys.readouterr().out
    assert run(folder, "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["guarantee"]["k"] == 3
    assert run(folder, "--dry-run", "--quiet") == 0
    assert capsys.readouterr().out == ""
    assert sorted(folder.iterdir()) == before


def test_too_many_combinations_are_told_beforehand(folder, capsys):
    assert run(folder, "--dry-run", "--max-nodes", 5) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == (
        "There are 12 combinations of levels, more than --max-nodes 5, so that the best found will not be proven best; "
        "mag mask recodes locally, which needs no search and loses less."
    )


def test_missing_codes_are_missing_and_written_again(folder):
    text = (folder / "people.csv").read_text().replace("unknown", "?").replace(",dentist,", ",?,")
    (folder / "gaps.csv").write_text(text)
    assert run(folder, "-o", folder / "out.csv", "--null", "job=?", "--missing", "group", source="gaps.csv") == 0
    jobs = pl.read_csv(folder / "out.csv", infer_schema=False)["job"].to_list()
    assert Counter(jobs) == {"baker": 3, "painter": 3, "?": 3, "*": 3}
    assert run(folder, "--dry-run", "--null", "sex=?", source="gaps.csv") == 2


def test_values_without_a_leaf_show_the_root(folder, capsys):
    text = (folder / "people.csv").read_text().replace(",dentist,", ",diver,")
    (folder / "divers.csv").write_text(text)
    assert run(folder, "--dry-run", source="divers.csv") == 2
    assert "--other root" in capsys.readouterr().err
    assert run(folder, "-o", folder / "out.csv", "--other", "root", source="divers.csv") == 0
    jobs = pl.read_csv(folder / "out.csv", infer_schema=False)["job"]
    divers = pl.read_csv(folder / "divers.csv")["job"] == "diver"
    assert set(jobs.filter(divers).to_list()) == {"*"}


def test_criteria_are_counted_on_the_file(folder, capsys):
    pl.DataFrame(PEOPLE | {"income": [1, 2, 3, 4] * 3}).write_csv(folder / "income.csv")
    roles = ["-c", "age", "-c", "job", "--drop", "answer", "--diversity", "sex=2", "--closeness", "income=0.3"]
    how = [*HOW, "--hierarchy", f"job={folder / 'job.csv'}", "-o", str(folder / "out.csv")]
    assert main(["generalize", str(folder / "income.csv"), *roles, *how]) == 0
    assert "Every class holds at least 2 different values of sex" in capsys.readouterr().out
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    sex, income = manifest["verified"]["sensitive"]
    assert (sex["criterion"], sex["counted"]) == ("distinct", 2)
    assert income["criterion"] == "ordered"
    assert income["counted"] <= 0.3
    assert manifest["options"]["sensitive"] == ["sex", "income"]
    check = ["check", str(folder / "out.csv"), "--qi", "age", "--qi", "job", "-k", "3"]
    assert main([*check, "--diversity", "sex=2", "--closeness", "income=0.3"]) == 0


MISTAKES = {
    "no target": ([], "--out must name the file to write"),
    "two hierarchies": (["--dry-run", "--flat", "age"], "a column must have one hierarchy; 'age' has two"),
    "hierarchy and flat": (["--dry-run", "--flat", "job"], "a column must have one hierarchy; 'job' has two"),
    "flat elsewhere": (["--dry-run", "--flat", "sex"], "--flat must name a column of -c; got 'sex'"),
    "intervals twice": (["--dry-run", "--intervals", "age=0:9:1"], "--intervals must name a column once"),
    "intervals of what": (
        ["--dry-run", "--intervals", "size=0:9:1"],
        "--intervals must be NAME=LOW:HIGH:WIDTHS, of a column of -c",
    ),
    "importance": (["--dry-run", "--importance", "age=much"], "--importance must be NAME=NUMBER"),
    "max_suppressed": (
        ["--dry-run", "--max-suppressed", "2"],
        "--max-suppressed must be a number from 0 to 1; got 2.0.",
    ),
    "diversity": (
        ["--dry-run", "--diversity", "sex=2", "--diversity", "sex=1"],
        "--diversity must name a column once; 'sex' is named twice.",
    ),
    "closeness": (
        ["--dry-run", "--closeness", "sex=0.1", "--closeness", "sex=1"],
        "--closeness must name a column once; 'sex' is named twice.",
    ),
    "show_suppressed_as": (
        ["--dry-run", "--show-suppressed-as", "no"],
        "--show-suppressed-as must be one of 'root', 'withhold'; got 'no'.",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_on_the_command_line(folder, case, capsys):
    arguments, sentence = MISTAKES[case]
    assert run(folder, *arguments) == 2
    assert sentence in capsys.readouterr().err


def test_numbers_need_a_hierarchy_on_the_command_line(folder, capsys):
    roles = ["-c", "age", "--drop", "job", "--drop", "sex", "--drop", "answer"]
    source = str(folder / "people.csv")
    assert main(["generalize", source, "-k", "2", *roles, "--dry-run"]) == 2
    assert "column 'age' holds no categories, and needs --hierarchy age=FILE" in capsys.readouterr().err
    assert main(["generalize", source, "-k", "2", *roles, "--dry-run", "--flat", "age", "--max-suppressed", "1"]) == 0
    assert main(["generalize", source, "-k", "2", *roles, "--dry-run", "--intervals", "age=20:80"]) == 2
    assert "--intervals must be NAME=LOW:HIGH:WIDTH,WIDTH,..." in capsys.readouterr().err


def test_files_hold_nothing_below_the_levels(folder):
    assert run(folder, "-o", folder / "out.parquet", "--report", folder / "report.html") == 0
    release = recode(k=3, max_suppressed=0.25)
    written = b"".join(
        (folder / name).read_bytes() for name in ("out.parquet", "out.parquet.manifest.json", "report.html")
    )
    stored = io.BytesIO()
    pl.read_parquet(folder / "out.parquet").write_csv(stored)
    for secret in secrets_of(release) | set(PEOPLE["answer"]):
        if not secret.isdigit():
            assert secret.encode() not in written + stored.getvalue()
