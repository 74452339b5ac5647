"""Cells, labels, sizes and names that break libraries: one sentence of ours, before memory is taken."""

import collections
import datetime
import decimal
import os
import sys
import typing

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import mag
import mag.dp
from mag._lib.errors import InputError
from mag._lib.keys import as_key
from mag._lib.missing import find_missing, is_missing
from mag.commands.cli import main
from mag.graphs.edge_list import read_edge_list

D = decimal.Decimal
X = np.arange(4.0)
HUGE, TINY = D("1E+999999999"), D("1E-999999999")
TREE = mag.Hierarchy.intervals(0, 9, [3]).with_other()


def cells(*listed):
    column = np.empty(len(listed), object)
    column[:] = listed
    return column


# ---- errors

FAR = pl.Series([2**60] * 4).cast(pl.Datetime("ms"))
REFUSED = {
    "a label that is pandas.NA": lambda: mag.Hierarchy.from_levels([["a", pd.NA], ["b", "c"]]),
    "integers of 400 digits": lambda: mag.microaggregate({"a": cells(10**400, 1, 2, 3), "x": X}, 2, ["a", "x"]),
    "long doubles": lambda: mag.microaggregate(
        {"x": X, "s": np.arange(4).astype(np.longdouble)}, 2, ["x"], diversity={"s": 1}
    ),
    "lists with a hierarchy": lambda: mag.generalize(
        pl.DataFrame({"z": [["a"], ["a"], ["b"], ["b"]]}), 2, ["z"], hierarchies={"z": mag.Hierarchy.flat(["a"])}
    ),
    "far dates of polars": lambda: mag.microaggregate(pl.DataFrame({"x": X, "s": FAR}), 2, ["x"], diversity={"s": 1}),
    "far dates of pyarrow": lambda: mag.microaggregate(
        pa.table({"x": X, "s": pa.array([2**60] * 4).cast(pa.timestamp("ms"))}), 2, ["x"], diversity={"s": 1}
    ),
    "far categories of polars": lambda: mag.generalize(pl.DataFrame({"s": FAR}), 2, "s", hierarchies={"s": TREE}),
    "text of 5000 digits": lambda: mag.generalize(
        {"z": cells(10**5000, 10**5000, 1, 1)}, 2, ["z"], hierarchies={"z": mag.Hierarchy.flat(["a"])}
    ),
    "a large exponent": lambda: mag.microaggregate({"x": cells(HUGE, D(1), D(2), D(3)), "y": X}, 2, ["x", "y"]),
    "a small exponent": lambda: mag.microaggregate({"x": cells(TINY, D(1), D(2), D(3)), "y": X}, 2, ["x", "y"]),
    "sensitive exponents": lambda: mag.microaggregate(
        {"x": cells(HUGE, HUGE, D(2), D(2)), "y": X}, 2, "y", closeness={"x": 0.9}
    ),
    "exponents of weights": lambda: mag.microaggregate(
        {"x": cells(HUGE, HUGE, D(2), D(2)), "y": X}, 2, "y", keep="x", weights="x"
    ),
    "ends of intervals": lambda: mag.Hierarchy.intervals(D(0), HUGE, [3]),
    "the start of intervals": lambda: mag.Hierarchy.intervals(TINY, 9, [3]),
    "bounds of a domain": lambda: mag.dp.Numbers(TINY, 9, 1),
    "t": lambda: mag.microaggregate({"x": X, "y": X}, 2, "x", closeness={"y": TINY}),
}


OPTIONS = ("ends of intervals", "the start of intervals", "bounds of a domain", "t")  # which are quoted


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_one_sentence(name):
    with pytest.raises(InputError) as error:
        REFUSED[name]()
    assert str(error.value).endswith(".")
    assert error.value.__cause__ is None
    assert "999999999" not in str(error.value) or name in OPTIONS


PUBLISHED = {
    "intervals and integers of 400 digits": lambda: mag.generalize(
        {"a": cells(10**400, 10**400, 1, 1)}, 2, ["a"], hierarchies={"a": TREE}
    ),
    "strata of 5000 digits": lambda: mag.microaggregate({"a": cells(10**5000, 10**5000, 1, 1), "x": X}, 2, "x", by="a"),
    "lists of 5000 digits": lambda: mag.microaggregate(
        {"a": cells([10**5000], [10**5000], [1], [1]), "x": X}, 2, "x", by="a"
    ),
    "signaling NaN": lambda: mag.microaggregate(
        {"x": X, "s": cells(D(1), D(2), D("sNaN"), D(1))}, 2, ["x"], diversity={"s": 2}
    ),
    "strata of signaling NaN": lambda: mag.microaggregate(
        {"x": X, "s": cells(D(1), D("sNaN"), D("sNaN"), D(1))}, 2, ["x"], by="s"
    ),
    "zero of a large exponent": lambda: mag.microaggregate(
        {"x": cells(D("0E+999999999"), D(1), D(2), D(3)), "y": X}, 2, ["x", "y"]
    ),
    "strata of large exponents": lambda: mag.microaggregate(
        {"a": cells(HUGE, HUGE, D(1), D(1)), "x": X}, 2, "x", by="a"
    ),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_it_is_published(name):
    assert PUBLISHED[name]().guarantee.smallest >= 2


# ---- files

LONG = "g" * 200_000


@pytest.mark.parametrize(
    ("files", "argv"),
    [
        ({"g.edges": "# Nodes: 2000000000\na b\nb c\n"}, "graph g.edges -o o.edges -k 2"),
        ({"g.edges": "# Nodes: 99999999999999999999\na b\nb c\n"}, "graph g.edges -o o.edges -k 2"),
        (
            {"h.csv": f"a;{LONG};*\nb;h;*\n", "in.csv": "j,x\na,1\nb,2\na,3\nb,4\n"},
            "mask in.csv -o o.csv -k 2 -c x -c j --hierarchy j=h.csv",
        ),
        ({"in.csv": f"{LONG},x\na,1\nb,2\n"}, "mask in.csv -o o.csv -k 2 -c x"),
    ],
    ids=["vertices", "digits of vertices", "a label", "a header"],
)
def test_files_with_large_sizes_are_a_mistake(files, argv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert main(argv.split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("mag: ")
    assert said.endswith(".\n")
    assert "ggg" not in said
    assert set(os.listdir(tmp_path)) == set(files)


def test_vertices_without_edges_may_be_counted_by_a_comment(tmp_path):
    (tmp_path / "g.edges").write_text("# Nodes: 1000\na b\nb c\n")
    assert read_edge_list(tmp_path / "g.edges").n == 1000


# ---- budgets

DOMAIN = {"a": mag.dp.Numbers(0, 10, 1)}


@pytest.mark.parametrize(
    "release",
    [
        lambda budget: mag.dp.mondrian({"a": [1, 2]}, DOMAIN, epsilon=1e-8, budget=budget),
        lambda budget: mag.dp.histogram({"a": [1, 2]}, DOMAIN, epsilon=1e-9, records=True, budget=budget),
        lambda budget: mag.dp.histogram({"a": [1, 2]}, DOMAIN, epsilon=1e-9, delta=1e-9, records=True, budget=budget),
        lambda budget: mag.dp.histogram({"a": [1, 2]}, DOMAIN, epsilon=0.5, total=10**9, records=True, budget=budget),
    ],
    ids=["mondrian", "histogram", "frequent cells", "total"],
)
def test_a_release_that_does_not_fit_costs_nothing(release):
    budget = mag.dp.Budget(1)
    with pytest.raises(InputError, match=r"^(epsilon|total) must be .*\.$"):
        release(budget)
    assert budget.spent == (0, 0)


# ---- missing cells

MISSING = [None, float("nan"), np.float32("nan"), np.float64("nan"), complex("nan"), D("NaN"), D("sNaN"), pd.NA, pd.NaT]
MISSING += [np.datetime64("NaT"), np.timedelta64("NaT"), np.longdouble("nan")]
PRESENT = [
    0,
    "",
    "nan",
    b"",
    False,
    D(0),
    D("Infinity"),
    [],
    [None],
    np.array([np.nan]),
    {"a": None},
    (),
    np.array([1, 2]),
]
PRESENT += [datetime.date(1, 1, 1), pd.Timestamp(0), np.str_("nan"), np.datetime64(0, "s"), object()]


def test_one_predicate_says_what_is_missing():
    assert all(map(is_missing, MISSING))
    assert not any(map(is_missing, PRESENT))
    assert find_missing(cells(*MISSING, *PRESENT)).tolist() == [True] * len(MISSING) + [False] * len(PRESENT)
    assert find_missing(np.array([1.0, np.nan])).tolist() == [False, True]
    assert find_missing(np.array(["NaT", 0], "M8[s]")).tolist() == [True, False]
    assert not find_missing(np.array([0, 1])).any()


def test_keys_of_nested_cells_can_be_hashed():
    nested = [{"a": [1, None]}, [np.array([1, 2]), {3}], (float("nan"),)]
    assert [as_key(cell) for cell in nested] == [(("a", (1, None)),), ((1, 2), frozenset({3})), (None,)]
    assert len({as_key(cell) for cell in nested}) == 3


NULLABLE = {
    "booleans": pd.array([True, False, None, None] * 2, dtype="boolean"),
    "texts": pd.array(["a", "b", None, None] * 2, dtype="string"),
    "objects": np.array(["a", "b", pd.NA, pd.NA] * 2, object),
    "categories": pd.Categorical(["a", "b", None, None] * 2),
    "arrow": pd.array(["a", "b", None, None] * 2, dtype=pd.ArrowDtype(pa.string())),
}


@pytest.mark.parametrize("name", NULLABLE)
def test_missing_categories_are_measured_and_reported(name, tmp_path):
    frame = pd.DataFrame({"x": np.arange(8.0), "b": NULLABLE[name]})
    release = mag.microaggregate(frame, 2, ["x", "b"], missing="group", aggregate={"b": "mode"})
    assert release.risk()
    assert release.utility()
    release.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size > 1000


@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas", "dict"])
@pytest.mark.parametrize("kind", ["list", "struct"])
def test_nested_categories_are_measured_and_reported(library, kind, tmp_path):
    nested = (
        [["a"], ["a", "b"], [], ["a"]] * 3 if kind == "list" else [{"p": "a"}, {"p": None}, {"p": "a"}, {"p": "b"}] * 3
    )
    table = pa.table({"x": np.arange(12.0), "z": nested})
    frame = {
        "polars": lambda: pl.DataFrame(table),
        "pyarrow": lambda: table,
        "pandas": lambda: table.to_pandas(types_mapper=pd.ArrowDtype),
        "dict": lambda: {"x": np.arange(12.0), "z": cells(*nested)},
    }[library]()
    release = mag.microaggregate(frame, 3, ["x", "z"], aggregate={"z": "mode"})
    assert release.risk()
    assert release.utility()
    release.report(tmp_path / "report.html")


# ---- many columns


class Name(str):
    """A name that counts how often it is compared with another."""

    __slots__ = ()
    compared: typing.ClassVar[collections.Counter] = collections.Counter()

    def __eq__(self, other):
        place = sys._getframe(1)
        Name.compared[f"{place.f_code.co_filename}:{place.f_lineno}"] += 1
        return str.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


def comparisons(make, m, rest, **options):
    names = [f"c{j}" for j in range(2 * m)]
    table = make({Name(name): np.random.default_rng(j).normal(size=9) for j, name in enumerate(names)})
    Name.compared.clear()
    mag.microaggregate(table, 3, list(map(Name, names[:m])), **{rest: list(map(Name, names[m:]))}, **options)
    return Name.compared.copy()


@pytest.mark.parametrize("options", [{"scope": "per-column"}, {"method": "zscore"}], ids=str)
@pytest.mark.parametrize("rest", ["keep", "drop", "by"])
@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["dict", "pandas"])
def test_names_are_compared_a_fixed_number_of_times_a_column(make, rest, options):
    once, twice = (
        comparisons(make, m, rest, **options, **({"small_strata": "merge"} if rest == "by" else {})) for m in (40, 80)
    )
    assert once.total() > 40
    assert twice.total() <= 2.5 * once.total(), twice.most_common(3)
