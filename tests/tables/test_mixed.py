"""Mixed data around a release: the command line, files of all formats, risk and utility, comparisons."""

import json
import pickle
from collections import Counter

import numpy as np
import polars as pl
import pytest

import mag
from mag.commands.cli import main
from mag.files import File
from mag.measures import assess
from mag.measures.scales import read_scales
from tests.data.hierarchies import JOBS, LEVELS, TREE
from tests.data.people import mixed_people


def mask(folder, *words, source="in.csv", out="out.csv"):
    """The exit code of `mag mask` in a folder that holds jobs.csv."""
    TREE.to_arx(folder / "jobs.csv", overwrite=True)
    return main(["mask", str(folder / source), "-o", str(folder / out), *map(str, words)])


COLUMNS = ["-k", "3", "-c", "age", "-c", "job", "-c", "degree", "-c", "party", "--drop", "name"]
OPTIONS = ["--order", "degree=low,middle,high", "--aggregate", "party=mode", "--aggregate", "age=range"]


# ---- the command line


def test_the_command_takes_all_that_the_function_takes(tmp_path):
    table = mixed_people()
    table.write_csv(tmp_path / "in.csv")
    words = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}", *OPTIONS, "--importance", "age=2"]
    assert mask(tmp_path, *COLUMNS, *words) == 0
    release = mag.microaggregate(
        table, 3, ["age", "job", "degree", "party"], drop="name", hierarchies={"job": TREE}, importance={"age": 2},
        order={"degree": LEVELS}, aggregate={"party": "mode", "age": "range"},
    )  # fmt: skip
    assert pl.read_csv(tmp_path / "out.csv").rows() == release.data.rows()
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["options"]["importance"] == {"age": 2.0}
    assert manifest["options"]["aggregate"] == {"party": "mode", "age": "range"}
    assert manifest["guarantee"]["generalized"] == ["age", "job"]


def test_one_aggregate_is_for_all_columns(tmp_path):
    mixed_people().write_csv(tmp_path / "in.csv")
    rest = ["--drop", "name", "--drop", "job", "--drop", "degree", "--drop", "party"]
    assert mask(tmp_path, "-k", "5", "-c", "age", "--aggregate", "range", *rest) == 0
    assert pl.read_csv(tmp_path / "out.csv")["age"].str.starts_with("[").any()
    rest = ["--drop", "name", "--drop", "job", "--drop", "degree", "--drop", "age"]
    assert mask(tmp_path, "-k", "5", "-c", "party", "--aggregate", "mode", *rest, "--overwrite") == 0
    assert set(pl.read_csv(tmp_path / "out.csv")["party"]) == {"red", "green"}


MISTAKES = {
    "--aggregate must be one aggregate for all columns, or NAME=HOW, of a column of -c; got 'name=mode'.": [
        "--aggregate", "name=mode",
    ],
    "--aggregate must be one aggregate for all columns, or NAME=HOW, of a column of -c; got 'mean'.": [
        "--aggregate", "mean", "--aggregate", "job=mode",
    ],
    "--aggregate must name a column once; 'job' is named twice.": ["--aggregate", "job=mode"] * 2,
    "--order must be NAME=A,B,..., of a column of -c or --closeness; got 'low,high'.": ["--order", "low,high"],
    "--order must list different categories, those with a comma in quotes; got degree=low,low.": [
        "--order",
        "degree=low,low",
    ],
    "--importance must be NAME=NUMBER, of a column of -c; got 'age=much'.": ["--importance", "age=much"],
    "--importance must be NAME=NUMBER, of a column of -c; got '2'.": ["--importance", "2"],
    "importance['age'] must be a positive number; got 0.0.": [
        *OPTIONS, "--aggregate", "job=mode", "--importance", "age=0",
    ],
    "aggregate of 'party' (nominal) must be one of 'medoid', 'mode'; got 'ancestor'.": [
        "--order", "degree=low,middle,high", "--aggregate", "party=ancestor", "--aggregate", "job=mode",
    ],
    "order['degree'] must hold every value of the column; 1 values of 19 records are not in it.": [
        "--order", "degree=low,high", "--aggregate", "party=mode", "--aggregate", "job=mode",
    ],
    "'in.csv': column 'job' holds text, and categories need --hierarchy, --order, --aggregate NAME=mode, --by, --keep "
    "or --drop.": OPTIONS,
    "aggregate must be one for all columns with --scope per-column; got a dictionary.": [
        "--scope", "per-column", "--aggregate", "age=mode", "--aggregate", "job=mode", "--aggregate", "degree=mode",
        "--aggregate", "party=mode",
    ],
}  # fmt: skip


@pytest.mark.parametrize("sentence", MISTAKES)
def test_mistakes_on_the_command_line_are_one_sentence(sentence, tmp_path, capsys):
    mixed_people().write_csv(tmp_path / "in.csv")
    assert mask(tmp_path, *COLUMNS, *MISTAKES[sentence]) == 2
    assert " ".join(capsys.readouterr().err.split()) == f"mag: {sentence}"
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("command", ["risk", "utility"])
def test_a_column_that_is_named_twice_is_measured_once(command, tmp_path, capsys):
    path = tmp_path / "in.csv"
    mixed_people().write_csv(path)
    words = [command, str(path), str(path), "--category", "party", "--json"]
    assert main([*words, "-c", "party", "-c", "party"]) == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["party"]


def test_categories_with_commas_stand_in_quotes(tmp_path):
    pl.DataFrame({"x": ["a, b", "c", "a, b", "c"] * 2}).write_csv(tmp_path / "in.csv")
    assert mask(tmp_path, "-k", "2", "-c", "x", "--order", 'x="a, b", c') == 0
    assert Counter(pl.read_csv(tmp_path / "out.csv")["x"]) == {"a, b": 4, "c": 4}


def test_codes_of_missing_categories_are_missing_and_written_again(tmp_path):
    lines = [
        "job,age",
        *(f"{job},{age}" for job, age in zip(["baker", "painter", "NA", "surgeon"] * 3, range(12), strict=True)),
    ]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    words = ["-k", "3", "-c", "job", "-c", "age", "--hierarchy", f"job={tmp_path / 'jobs.csv'}", "--missing", "group"]
    assert mask(tmp_path, *words) == 2  # a value without a leaf
    assert mask(tmp_path, *words, "--null", "job=NA") == 0
    out = pl.read_csv(tmp_path / "out.csv")
    assert [i for i, job in enumerate(out["job"]) if job == "NA"] == [2, 6, 10]
    assert out.group_by("job", "age").len()["len"].min() >= 3


# ---- files


def stored(folder, name, table):
    """A file of this format, written by its own library."""
    path = folder / name
    if name.endswith("parquet"):
        table.write_parquet(path)
    elif name.endswith("xlsx"):
        table.write_excel(path)
    else:
        import pyreadstat

        getattr(pyreadstat, {"sav": "write_sav", "dta": "write_dta"}[name.split(".")[1]])(table, str(path))
    return path


@pytest.mark.parametrize("name", ["in.sav", "in.dta", "in.parquet", "in.xlsx"])
def test_files_of_all_formats_with_hierarchies(name, tmp_path):
    table = mixed_people()
    stored(tmp_path, name, table)
    words = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}", *OPTIONS]
    out = name.replace("in", "out")
    assert mask(tmp_path, *COLUMNS, *words, source=name, out=out) == 0
    read = File(tmp_path / out).read(["age", "job", "degree", "party"])[0]
    release = mag.microaggregate(
        table, 3, ["age", "job", "degree", "party"], drop="name", hierarchies={"job": TREE},
        order={"degree": LEVELS}, aggregate={"party": "mode", "age": "range"},
    )  # fmt: skip
    assert (
        read.select("age", "job", "degree", "party").rows()
        == release.data.select("age", "job", "degree", "party").rows()
    )


def test_labels_and_declared_missing_values_of_spss_follow_categories(tmp_path):
    import pyreadstat

    rng = np.random.default_rng(1)
    job, degree = rng.integers(1, 6, 80).astype(float), rng.integers(1, 4, 80).astype(float)
    job[:6] = -9.0
    table = pl.DataFrame({"job": job, "degree": degree, "party": rng.integers(1, 3, 80).astype(float)})
    labels = {
        "job": {float(i + 1): row[0] for i, row in enumerate(JOBS)} | {-9.0: "refused"},
        "degree": {1.0: "low", 2.0: "middle", 3.0: "high", 4.0: "never"},
    }
    pyreadstat.write_sav(table, str(tmp_path / "in.sav"), variable_value_labels=labels, missing_ranges={"job": [-9.0]})
    codes = mag.Hierarchy.from_levels([[str(i + 1), *row[1:]] for i, row in enumerate(JOBS)])
    codes.to_arx(tmp_path / "codes.csv")
    words = ["-k", "4", "-c", "job", "-c", "degree", "-c", "party", "--missing", "group"]
    words += ["--hierarchy", f"job={tmp_path / 'codes.csv'}", "--order", "degree=1,2,3,4", "--aggregate", "party=mode"]
    assert mask(tmp_path, *words, source="in.sav", out="out.sav") == 0
    out, meta = pyreadstat.read_sav(str(tmp_path / "out.sav"), output_format="polars", user_missing=True)
    known = {label for row in codes.to_levels() for label in row}
    assert set(out["job"].to_list()) <= known | {""}
    assert (out["job"] == "").sum() == 6
    assert set(out["degree"].to_list()) <= {1.0, 2.0, 3.0}
    assert set(meta.variable_value_labels["degree"]) == set(out["degree"].to_list())  # of published values only
    assert "job" not in meta.variable_value_labels
    assert out.group_by("job", "degree", "party").len()["len"].min() >= 4


# ---- distances


def naive_distance(x, y, tree):
    """The loss of the closest common ancestor, by the rows of the tree."""
    leaf = next(row for row in tree if row[0] == x)
    label = next(label for label in leaf if any(label in row[row.index(y) :] for row in tree if y in row))
    below = {row[0] for row in tree if label in row}
    return len(below) / len(tree) if len(below) > 1 else 0.0


def naive_linkage(squares, masked):
    """Expected, possible and certain links, by all pairs."""
    n = len(masked)
    expected = possible = certain = 0
    for i in range(n):
        nearest = [j for j in range(n) if squares[i][j] <= min(squares[i]) * (1 + 1e-9)]
        if any(masked[j] == masked[i] for j in nearest):
            expected, possible, certain = expected + 1 / len(nearest), possible + 1, certain + (len(nearest) == 1)
    return expected / n, possible / n, certain / n


@pytest.mark.parametrize("standardize", [True, False, "range"])
@pytest.mark.parametrize("seed", range(3))
def test_linkage_of_mixed_records_by_all_pairs(seed, standardize):
    table = mixed_people(40, seed).drop("name")
    names = ["age", "job", "degree", "party"]
    release = mag.microaggregate(
        table, 2 + seed, names, hierarchies={"job": TREE}, order={"degree": LEVELS},
        aggregate={
            "degree": ["median", "range", "max"][seed], "age": ["mean", "range", "range"][seed], "party": "mode",
        },
    )  # fmt: skip
    before, after = table.select(names).rows(), release.data.select(names).rows()

    def ends(cell, read):
        if isinstance(cell, str) and cell.startswith("["):
            return [read(part) for part in cell.strip("[]").split(", ")]
        return [read(cell), read(cell)]

    def hull(value, cell, read):
        low, high = ends(cell, read)
        return max(read(value), high) - min(read(value), low)

    def squares(record, masked):
        """Of every column, the squared distance of a record from a masked one."""
        return [
            hull(record[0], masked[0], float) ** 2,
            naive_distance(record[1], masked[1], JOBS),
            hull(record[2], masked[2], lambda word: LEVELS.index(word) / 2) ** 2,
            float(record[3] != masked[3]),
        ]

    own = np.array([[squares(one, other) for other in before] for one in before])
    units = own.mean(axis=(0, 1)) / 2 if standardize is True else np.ones(4)
    if standardize == "range":
        units = np.array([(table["age"].max() - table["age"].min()) ** 2, 1, 1, 1])
    far = [[sum(np.array(squares(one, other)) / units) for other in after] for one in before]
    linkage = mag.privacy.distance_linkage(
        table.select(names), release.data.select(names), hierarchies={"job": TREE}, order={"degree": LEVELS},
        standardize=standardize,
    )  # fmt: skip
    assert (linkage.expected, linkage.possible, linkage.certain) == pytest.approx(naive_linkage(far, after))
    assert linkage.expected <= 1 / (2 + seed)


@pytest.mark.parametrize("seed", range(100))
def test_linkage_of_mixed_records_with_ties_by_all_pairs(seed):
    """Ranges, nodes of a tree and other categories, drawn without regard to the records: few links are right."""
    random = np.random.default_rng(seed)
    n, kinds = random.integers(20, 150), random.permutation(["age", "job", "degree", "party"])[: random.integers(1, 5)]
    nodes = sorted({label for row in JOBS for label in row})
    jobs, parties = [row[0] for row in JOBS], ["a", "b", "c", "d"]
    low = random.integers(20, 40, n)
    before = {
        "age": random.integers(20, 40, n),
        "job": random.choice(jobs, n),
        "degree": random.choice(LEVELS, n),
        "party": random.choice(parties, n),
    }
    after = {
        "age": np.array([f"[{a}, {a + width}]" for a, width in zip(low, random.integers(0, 4, n), strict=True)]),
        "job": random.choice(nodes, n),
        "degree": random.choice([*LEVELS, f"[{LEVELS[0]}, {LEVELS[1]}]"], n),
        "party": random.choice(parties, n),
    }
    keep = random.random(n) < 0.5
    after = {name: np.where(keep, before[name].astype(str), after[name]) for name in kinds}
    before = {name: before[name] for name in kinds}
    options = {
        "hierarchies": {"job": TREE} if "job" in kinds else None,
        "order": {"degree": LEVELS} if "degree" in kinds else None,
    }
    scales, every = read_scales(before, after, **options), np.arange(n)
    far = sum(scale.squared(every, every) / scale.unit(True) ** 2 for scale in scales)
    linkage = mag.privacy.distance_linkage(before, after, **options)
    published = list(zip(*(column.tolist() for column in after.values()), strict=True))
    assert (linkage.expected, linkage.possible, linkage.certain) == pytest.approx(
        naive_linkage(far.tolist(), published), rel=1e-12
    )


def test_standard_deviations_are_those_that_records_are_grouped_by():
    from mag.frames import frame_of
    from mag.frames.categories import categories_of
    from mag.measures.scales import read_scales

    table = mixed_people(50).select("job", "degree", "party")
    scales = read_scales(table, table, {"job": TREE}, {"degree": LEVELS})
    for scale, (tree, order) in zip(scales, [(TREE, None), (None, LEVELS), (None, None)], strict=True):
        column = categories_of(frame_of(table).column(scale.name), scale.name, tree, order)
        points = column.embedding()[column.values]
        assert scale.variance() == pytest.approx(points.var(axis=0).sum())
        every = np.arange(50)
        assert scale.squared(every, every) == pytest.approx(np.square(points[:, None] - points[None]).sum(axis=2))
        assert not scale.apart().any()


def test_frames_of_numbers_are_arrays_of_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)).round(1)
    Y = X.round()
    frames = [pl.DataFrame({"a": table[:, 0], "b": table[:, 1]}) for table in (X, Y)]
    assert mag.privacy.distance_linkage(*frames) == mag.privacy.distance_linkage(X, Y)
    assert mag.privacy.rank_linkage(*frames) == mag.privacy.rank_linkage(X, Y)
    assert assess.risk(*frames) == assess.risk(X, Y)
    for key, value in assess.utility(X, Y).items():
        assert assess.utility(*frames)[key] == pytest.approx(value)


def test_ranks_of_ordered_categories_are_ranks():
    before, after = ["low", "high", "middle", "low"], ["low", "high", "high", "low"]
    numbers = [[LEVELS.index(word) for word in words] for words in (before, after)]
    linkage = mag.privacy.rank_linkage({"x": before}, {"x": after}, order={"x": LEVELS})
    assert linkage == mag.privacy.rank_linkage(*numbers)
    with pytest.raises(ValueError, match="must hold values that have an order; got 'x'"):
        mag.privacy.rank_linkage({"x": before}, {"x": after})


def test_gower_distances_of_generalized_records_are_the_penalty():
    table = mixed_people(80).drop("name")
    names = ["age", "job", "degree"]
    release = mag.microaggregate(
        table, 3, names, rest="drop", hierarchies={"job": TREE}, order={"degree": LEVELS},
        aggregate={"age": "range", "degree": "range"},
    )  # fmt: skip
    options = {"hierarchies": {"job": TREE}, "order": {"degree": LEVELS}}
    far = mag.metrics.gower_distance(table.select(names), release.data.select(names), **options)
    assert far == pytest.approx(release.ncp())
    assert far == pytest.approx(
        mag.metrics.ncp(table.select(names), release.grouping.labels, normalized=True, **options)
    )
    assert release.utility()["gower_distance"] == pytest.approx(far)


def test_total_variation_by_hand():
    jobs = ["baker", "painter", "dentist", "surgeon"]
    flat = mag.metrics.total_variation(jobs, ["baker", "baker", "dentist", "surgeon"])
    assert flat == 0.25
    crafts = sum(row[1] == "crafts" for row in JOBS)
    spread = mag.metrics.total_variation(jobs, ["crafts", "crafts", "dentist", "surgeon"], hierarchies={0: TREE})
    below = [2 / crafts if row[1] == "crafts" else 0 for row in JOBS]
    own = [sum(job == row[0] for job in jobs) * (row[1] == "crafts") for row in JOBS]
    assert spread == pytest.approx(np.abs(np.subtract(below, own)).sum() / 2 / 4)
    ranked = mag.metrics.total_variation(["low", "low", "high"], ["[low, high]", "low", "high"], order={0: LEVELS})
    assert ranked == pytest.approx((abs(2 - 4 / 3) + 1 / 3 + 1 / 3) / 2 / 3)
    with pytest.raises(ValueError, match="must hold a column of categories"):
        mag.metrics.total_variation([1, 2], [1, 2])


def test_the_penalty_of_used_leaves():
    tree = mag.Hierarchy.flat(["a", "b", "c", "d"])
    values, groups = ["a", "b", "a", "a"], [0, 0, 1, 1]
    assert mag.metrics.ncp(values, groups, hierarchies={0: tree}, normalized=True) == 0.5
    half = mag.Hierarchy.from_levels([["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]])
    assert mag.metrics.ncp(values, groups, hierarchies={0: half}, normalized=True) == 0.25
    assert mag.metrics.ncp(values, groups, hierarchies={0: half}, leaves="used", normalized=True) == 0.5
    release = mag.microaggregate({"x": values, "g": groups}, 2, "x", by="g", hierarchies={"x": half})
    assert (release.ncp(), release.ncp("used")) == (0.25, 0.5)
    with pytest.raises(ValueError, match="leaves must be one of"):
        release.ncp("some")


SECRET = {"x": ["baker", "baker", "secret"], "y": [1, 2, 3]}
UNKNOWN = {
    "hierarchies['x'] must have a leaf for every value; 1 distinct values have no leaf.": (
        SECRET, SECRET, {"x": TREE}, None,
    ),
    "column 'x' of masked must hold labels of hierarchies['x']; 1 distinct values are not.": (
        {"x": ["baker"] * 3}, {"x": SECRET["x"]}, {"x": TREE}, None,
    ),
    "order['x'] must hold every value of the column; 1 distinct values are not in it.": (
        SECRET, SECRET, None, {"x": ["baker"]},
    ),
    "column 'x' of masked must hold categories of order['x'] or ranges of them; 1 distinct values are neither.": (
        {"x": ["baker"] * 3}, {"x": SECRET["x"]}, None, {"x": ["baker"]},
    ),
    "column 'y' of masked must hold numbers or ranges such as [20, 39]; 2 distinct values are neither.": (
        {"y": [1, 2, 3]}, {"y": ["secret", "[1, 2]", "[1, secret]"]}, None, None,
    ),
    "original contains 1 missing values in column 'x'; drop them first.": (
        {"x": ["secret", None]}, {"x": ["secret", "secret"]}, None, None,
    ),
    "hierarchies must map columns to trees; got 'secret'.": (SECRET, SECRET, "secret", None),
    "order must map columns to lists of categories; got 'secret'.": (SECRET, SECRET, None, "secret"),
    "order must name columns of original; got 'z'.": (SECRET, SECRET, None, {"z": []}),
}  # fmt: skip


@pytest.mark.parametrize("sentence", UNKNOWN)
def test_no_measure_quotes_a_value(sentence):
    before, after, hierarchies, order = UNKNOWN[sentence]
    for measure in (mag.privacy.distance_linkage, mag.metrics.gower_distance, mag.metrics.total_variation):
        with pytest.raises(mag.InputError) as error:
            measure(before, after, hierarchies=hierarchies, order=order)
        assert str(error.value) == sentence
        assert error.value.__cause__ is None


def test_dates_and_their_ranges_are_numbers():
    days = np.array(["2026-01-01", "2026-01-03", "2026-01-11"], "M8[D]")
    masked = np.array(["[2026-01-01, 2026-01-03]", "[2026-01-01, 2026-01-03]", "2026-01-11"], object)
    assert mag.metrics.gower_distance({"d": days}, {"d": masked}) == pytest.approx(2 * 0.2 / 3)


# ---- risk and utility of a release


def test_incomplete_records_are_left_out_and_counted():
    gaps = pl.int_range(60) % 10 == 0
    table = mixed_people(60).with_columns(pl.when(gaps).then(None).otherwise(pl.col("party")).alias("job"))
    release = mag.microaggregate(
        table, 3, ["age", "job"], rest="drop", missing="group", aggregate={"job": "mode", "age": "mean"}
    )
    for measures in (release.risk(), release.utility()):
        assert (measures["records"], measures["incomplete_records"]) == (54, 6)
    assert release.risk()["k_anonymity"] >= 3


def test_a_release_without_numbers_has_risk_and_utility():
    release = mag.microaggregate(
        mixed_people(60), 4, ["job", "degree"], rest="drop", hierarchies={"job": TREE}, order={"degree": LEVELS}
    )
    risk, utility = release.risk(), release.utility()
    assert risk["k_anonymity"] == release.guarantee.smallest
    assert risk["distance_linkage"] <= 1 / 4
    assert "sd_interval_disclosure" not in risk
    assert "Intervals use numbers only: job, degree are left out." in risk["notes"]
    assert "Ranks use values with an order only: job is left out." in risk["notes"]
    assert "information_loss" not in utility
    assert list(utility["gower_distance_by_column"]) == ["job", "degree"]
    assert utility["ncp"] == release.ncp()


def test_ranges_of_durations_are_left_out():
    table = {"t": np.arange(12).astype("m8[h]"), "y": np.arange(12.0)}
    release = mag.microaggregate(table, 3, ["t", "y"], aggregate={"t": "range"})
    assert "Ranges of durations are left out: t." in release.risk()["notes"]
    assert "information_loss" in release.utility()


# ---- the commands


@pytest.mark.parametrize("name", ["in.csv", "in.parquet", "in.sav"])
def test_risk_and_utility_of_files_are_those_of_the_release(name, tmp_path, capsys):
    table = mixed_people()
    if name.endswith("csv"):
        table.write_csv(tmp_path / name)
    else:
        stored(tmp_path, name, table)
    out = name.replace("in", "out")
    trees, order = ["--hierarchy", f"job={tmp_path / 'jobs.csv'}"], ["--order", "degree=low,middle,high"]
    words = [*trees, *OPTIONS]
    assert mask(tmp_path, *COLUMNS, *words, source=name, out=out) == 0
    release = mag.microaggregate(
        table, 3, ["age", "job", "degree", "party"], drop="name", hierarchies={"job": TREE},
        order={"degree": LEVELS}, aggregate={"party": "mode", "age": "range"},
    )  # fmt: skip
    columns = ["-c", "age", "-c", "job", "-c", "degree", "-c", "party", *trees, *order, "--category", "party"]
    for command, expected in (("risk", release.risk()), ("utility", release.utility())):
        capsys.readouterr()
        assert main([command, str(tmp_path / name), str(tmp_path / out), *columns, "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        for key, value in expected.items():
            assert printed[key] == (pytest.approx(value) if key != "notes" else value), key
    assert main(["utility", str(tmp_path / name), str(tmp_path / out), *columns]) == 0
    shown = capsys.readouterr().out
    assert "change of frequencies of job" in shown
    assert "Note: Information loss" in shown


def test_categories_must_be_declared_in_two_files(tmp_path, capsys):
    mixed_people().write_csv(tmp_path / "in.csv")
    both = [str(tmp_path / "in.csv")] * 2
    assert main(["risk", *both, "-c", "party"]) == 2
    assert "categories need --hierarchy, --order or --category" in " ".join(capsys.readouterr().err.split())
    assert main(["risk", *both, "--category", "party"]) == 0
    assert main(["risk", both[0], "--qi", "party", "--category", "party"]) == 2
    assert "are used with two files only" in capsys.readouterr().err


# ---- comparisons


def test_compare_takes_categories():
    table = mixed_people(80)
    options = {"hierarchies": {"job": TREE}, "order": {"degree": LEVELS}, "importance": {"job": 2}}
    comparison = mag.compare(
        table, [3, 5], ["age", "job", "degree"], methods=["mdav", "ona_star"], standardize="range", **options
    )
    assert len(comparison.rows) == 4
    for row in comparison.rows:
        release = mag.microaggregate(
            table, row["k"], ["age", "job", "degree"], rest="drop", method=row["method"], standardize="range",
            random_state=0, **options,
        )  # fmt: skip
        utility, risk = release.utility(propensity=False), release.risk()
        assert row["ncp"] == release.ncp()
        assert row["total_variation"] == utility["total_variation"]
        assert row["information_loss"] == utility["information_loss"]
        assert row["distance_linkage"] == risk["distance_linkage"]
    pytest.importorskip("matplotlib")
    assert comparison.plot().get_xlabel() == "normalized certainty penalty, %"


def test_compare_of_one_column_of_categories_uses_the_methods():
    table = mixed_people(60)
    comparison = mag.compare(table, 3, "job", methods=["mdav", "ona_star"], hierarchies={"job": TREE})
    assert list(comparison["method"]) == ["mdav", "ona_star"]
    assert "information_loss" not in comparison
    assert "sd_interval_disclosure" not in comparison
    codes = table.with_columns(pl.col("age") // 30)
    coded = mag.compare(codes, 3, "age", methods="mdav", aggregate={"age": "mode"})
    assert coded.rows[0]["ncp"] >= 0
    with pytest.raises(ValueError, match="hierarchies must name columns that are masked; got 'job'"):
        mag.compare(table, 3, "age", hierarchies={"job": TREE})


def test_the_command_compares_categories(tmp_path, capsys):
    mixed_people(80).write_csv(tmp_path / "in.csv")
    TREE.to_arx(tmp_path / "jobs.csv")
    words = ["compare", str(tmp_path / "in.csv"), "-c", "age", "-c", "job", "-c", "party", "-k", "3", "-m", "mdav"]
    words += ["--hierarchy", f"job={tmp_path / 'jobs.csv'}", "--aggregate", "party=mode", "--importance", "party=0.5"]
    assert main([*words, "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["rows"]
    release = mag.microaggregate(
        mixed_people(80), 3, ["age", "job", "party"], rest="drop", method="mdav", hierarchies={"job": TREE},
        aggregate={"party": "mode"}, importance={"party": 0.5},
    )  # fmt: skip
    assert row["penalty, %"] == pytest.approx(100 * release.ncp())
    assert main(words[:-4]) == 2
    assert "column 'party' holds text" in capsys.readouterr().err


# ---- values without a leaf


def test_values_without_a_leaf_are_published_as_the_root():
    table = {"job": ["baker", "painter", "baker", "astronaut", "astronaut", "pilot", "surgeon", "dentist", "surgeon"],
             "age": [20, 21, 22, 40, 41, 42, 60, 61, 62]}  # fmt: skip
    with pytest.raises(ValueError, match="no leaf for 2 values of 3 records"):
        mag.microaggregate(table, 3, ["job", "age"], hierarchies={"job": TREE})
    release = mag.microaggregate(table, 3, ["job", "age"], hierarchies={"job": TREE}, other="root")
    assert release.data["job"].tolist() == ["crafts"] * 3 + ["*"] * 3 + ["medicine"] * 3
    assert release.guarantee.generalized == ("job",)
    crafts, medicine = (sum(row[1] == label for row in JOBS) / len(JOBS) for label in ("crafts", "medicine"))
    assert release.ncp() == pytest.approx(((crafts + 1 + medicine) / 3 + 2 / 42) / 2)
    assert release.utility()["gower_distance_by_column"]["job"] == pytest.approx((crafts + 1 + medicine) / 3)
    assert "Values without a leaf in their hierarchy are published as its root: job." in release.warnings
    assert release.manifest()["options"]["other"] == "root"
    assert b"astronaut" not in pickle.dumps(release)
    assert release.risk()["k_anonymity"] == 3
    rule = mag.microaggregate(
        table, 3, ["job", "age"], hierarchies={"job": lambda values: TREE}, other="root", random_state=0
    )
    assert rule.data["job"].tolist() == release.data["job"].tolist()


def test_a_group_with_a_value_without_a_leaf_is_suppressed():
    table = {"x": ["baker", "baker", "pilot"], "g": [0, 0, 0]}
    release = mag.microaggregate(table, 3, "x", by="g", hierarchies={"x": TREE}, other="root")
    assert release.data["x"].tolist() == ["*"] * 3
    assert (release.ncp(), release.ncp("used")) == (1.0, 1.0)


def test_trees_with_other_values():
    tree = TREE.with_other()
    assert tree.with_other() is tree
    assert tree.check(["baker", "pilot", None, 7]) == []
    assert tree.find(["baker", "pilot"]).tolist() == [[row[0] for row in JOBS].index("baker"), tree.other]
    nodes = {tuple(map(str, row)): node for row, node in zip(TREE.to_levels(), range(len(JOBS)), strict=True)}
    assert len(nodes) == len(JOBS)
    for row in range(len(JOBS)):  # losses are those of the tree as it was
        assert [tree.loss[node] for node in tree.levels[row]] == [TREE.loss[node] for node in TREE.levels[row]]
    intervals = mag.Hierarchy.intervals(0, 20, [5, 10]).with_other()
    assert intervals.find([3, "7", 99, "x", True]).tolist() == [0, 1] + [intervals.other] * 3
    assert intervals.labels[intervals.root] == "*"  # 99 is not in [0, 20)
    named = mag.Hierarchy.from_levels([["a", "*"], ["*", "*"]]).with_other()
    assert named.find(["z", "*"]).tolist() == [1, 1]


@pytest.mark.parametrize("rows", [[["*", "a", "*"], ["b", "a", "*"]], [["a", "*", "c", "*"], ["b", "b", "c", "*"]]])
def test_other_values_are_not_below_an_inner_label(rows):
    tree = mag.Hierarchy.from_levels(rows)
    with pytest.raises(ValueError, match=r"^a hierarchy that takes other values .*[^.]\.$"):
        mag.microaggregate({"x": ["z", "b", "b"]}, 1, "x", hierarchies={"x": tree}, other="root")


def test_mistakes_about_other_values():
    table = {"x": ["baker", "pilot"]}
    for options, sentence in (
        ({"other": "root"}, "other is not used without hierarchies; got 'root'."),
        ({"other": "drop", "hierarchies": {"x": TREE}}, "other must be one of 'error', 'root'; got 'drop'."),
        (
            {"other": "root", "hierarchies": {"x": TREE}, "aggregate": "mode"},
            "values of 'x' without a leaf need the aggregate 'ancestor'; got 'mode'.",
        ),
    ):
        with pytest.raises(mag.InputError) as error:
            mag.microaggregate(table, 2, "x", **options)
        assert str(error.value) == sentence


def test_the_commands_take_other_values(tmp_path, capsys):
    jobs = ["baker", "painter", "pilot"] * 6
    pl.DataFrame({"job": jobs, "age": list(range(18))}).write_csv(tmp_path / "in.csv")
    words = ["-k", "3", "-c", "job", "-c", "age", "--hierarchy", f"job={tmp_path / 'jobs.csv'}"]
    assert mask(tmp_path, *words) == 2
    assert "--other root or its method with_other publishes them as its root" in " ".join(
        capsys.readouterr().err.split()
    )
    assert mask(tmp_path, *words, "--other", "root") == 0
    out = pl.read_csv(tmp_path / "out.csv")
    assert "pilot" not in out["job"].to_list()
    assert json.loads((tmp_path / "out.csv.manifest.json").read_text())["options"]["other"] == "root"
    pair = [str(tmp_path / "in.csv"), str(tmp_path / "out.csv")]
    for command in ("risk", "utility"):
        assert main([command, *pair, *words[2:], "--other", "root"]) == 0
    assert main(["compare", pair[0], *words, "--other", "root", "-m", "mdav"]) == 0
    assert mask(tmp_path, "-k", "3", "-c", "age", "--drop", "job", "--other", "root", "--overwrite") == 2
    assert "--other is not used without --hierarchy; got 'root'." in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_hierarchies_as_frames_and_back(library):
    frame = TREE.to_frame(library)
    names = list(getattr(frame, "column_names", frame.columns))
    assert names == ["level 0", "level 1", "level 2"]
    assert mag.Hierarchy.from_columns(frame, names) == TREE
    table = mixed_people(30)
    released = [
        mag.microaggregate(table, 3, ["job", "age"], rest="drop", hierarchies={"job": tree}).data
        for tree in (TREE, frame)
    ]
    assert released[0].equals(released[1])
    with pytest.raises(ValueError, match="library must be one of 'pandas', 'polars', 'pyarrow'; got 'R'"):
        TREE.to_frame("R")
