"""Misspelled names and tables of the wrong kind are answered with what to write instead."""

import numpy as np
import pandas as pd
import pytest

import mag

PEOPLE = {"age": [31, 52, 30, 55], "income": [2.5, 4.0, 2.0, 4.5]}


@pytest.mark.parametrize(
    ("options", "question"),
    [
        ({"missng": "drop"}, "missng is not an option of microaggregate or of a method, did you mean missing?"),
        ({"l": 2}, "l is not an option of microaggregate or of a method, did you mean diversity?"),
        ({"weigths": 2}, "weigths is not an option of microaggregate or of a method, did you mean weights?"),
        ({"method": "mdva"}, "method must be one of 33 names; got 'mdva', did you mean 'mdav', 'md' or 'v_mdav'?"),
        ({"aggregate": {"incom": "min"}}, "aggregate must name columns that are masked; got 'incom', did you mean 'in"),
    ],
)
@pytest.mark.parametrize("columns", [["age", "income"], ["age"]])
def test_a_misspelled_option_is_answered_with_the_nearest_one_of_the_whole_call(options, question, columns):
    with pytest.raises(mag.InputError) as refused:
        mag.microaggregate(PEOPLE, 2, columns, rest="drop", **options)
    near = question if "income" in columns else question.partition(", did you mean 'in")[0]
    assert str(refused.value).startswith(near)


def test_a_misspelled_option_of_multivariate_is_answered_with_the_nearest_one():
    with pytest.raises(mag.InputTypeError, match=r"^standardze is not an option of .*, did you mean standardize\?$"):
        mag.multivariate([[1, 2], [3, 4]], 2, standardze=False)


@pytest.mark.parametrize(
    ("columns", "end"),
    [
        (["age", "Incom"], "got 'Incom', which it does not have, did you mean 'income'?"),
        (["wage", "zip"], "got 'wage', 'zip', which it does not have, did you mean 'age'?"),
        (["zip"], "got 'zip', which it does not have; its columns are 'age', 'income'."),
        ([7], "got 7, which it does not have; its columns are 'age', 'income'."),
    ],
)
def test_an_unknown_column_is_answered_with_the_nearest_or_all(columns, end):
    with pytest.raises(mag.InputValueError) as refused:
        mag.microaggregate(PEOPLE, 2, columns)
    assert str(refused.value).endswith(end)


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".SAV"])
def test_a_path_given_as_a_frame_is_answered_with_the_function_to_use(ending):
    with pytest.raises(mag.InputTypeError, match=rf"got the path of a {ending.lower()} file, .* the command mag mask"):
        mag.microaggregate(f"people{ending}", 2, ["age"])
    with pytest.raises(mag.InputTypeError, match=r"got a path, read the file first \(such as by polars\.read_csv\)"):
        mag.generalize(f"people{ending}", 2, ["age"], hierarchies={"age": {}})


def test_an_array_is_answered_with_the_function_to_use():
    with pytest.raises(mag.InputTypeError, match=r"got an array, use mag\.multivariate or mag\.columns"):
        mag.microaggregate(np.ones((4, 2)), 2, [0])


def test_a_dask_frame_is_answered_with_the_function_to_use():
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(mag.InputTypeError, match=r"got a Dask frame, use mag\.distributed\.microaggregate"):
        mag.microaggregate(dd.from_pandas(pd.DataFrame(PEOPLE), npartitions=1), 2, ["age", "income"])


@pytest.mark.parametrize("dtype", ["string", "category", object])
def test_text_in_a_dask_frame_is_one_sentence(dtype):
    dd = pytest.importorskip("dask.dataframe")
    people = pd.DataFrame(PEOPLE).assign(name=pd.Series(list("abcd"), dtype=dtype))
    with pytest.raises(mag.InputTypeError, match=r"^columns must hold real numbers; got .* in column 'name', keep or"):
        mag.distributed.multivariate(dd.from_pandas(people, npartitions=1), 2).labels.compute()


LISTED = "must be a mag.Hierarchy, the path of a file, a frame of levels, or a dictionary"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"unit": []}, "unit must name one column of the table; got 0."),
        ({"household": {}}, "household must name one column of the table; got 0."),
        ({"hierarchies": {"age": None}}, f"hierarchies['age'] {LISTED} that maps every category to its parent; got N"),
        ({"order": {"age": -1}}, "order['age'] must list the values in order; got -1."),
        ({"order": {"age": "old"}}, "order['age'] must list the values in order; got 'old'."),
        ({"time_limit": "1 s"}, "time_limit must be None or a positive number of seconds; got '1 s'."),
        ({"time_limit": {}}, "time_limit must be None or a positive number of seconds; got a dict."),
        ({"time_limit": 0, "columns": "age"}, "time_limit is not used by columns that are grouped by themselves"),
        ({"standardize": object()}, "standardize must be True or False; got an object."),
    ],
)
def test_an_option_of_the_wrong_type_is_one_sentence(options, sentence):
    with pytest.raises(mag.InputError) as refused:
        mag.microaggregate(**{"table": PEOPLE, "k": 2, "columns": ["age", "income"]} | options, rest="drop")
    assert str(refused.value).startswith(sentence)


@pytest.mark.parametrize("names", [np.array(["age", "income"]), pd.Index(["age", "income"]), {"age": 0, "income": 0}])
def test_names_of_columns_come_in_every_sequence(names):
    homes = {**PEOPLE, "home": [1, 1, 2, 2], "age": [30, 30, 50, 50], "income": [1.0, 1.0, 2.0, 2.0]}
    options = {"household": "home", "household_columns": names, "rest": "drop"}
    assert mag.microaggregate(homes, 2, names, **options).guarantee.household_columns == ("age", "income")
    assert mag.microaggregate({**PEOPLE, "x": [1, 1, 2, 2]}, 2, "x", keep=names).guarantee.kept == ("age", "income")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"columns": "incom"}, "columns must name columns of the table; got 'incom', which it does not have, did you"),
        ({"columns": ["age", "zip"]}, "columns must name columns of the table; got 'zip', which it does not have; its"),
        ({"columns": []}, "columns must name at least one column of the table; got none."),
        ({"methods": 3}, "methods must be one of 'anneal', 'auto', "),
        ({"methods": [["mdav"]]}, "methods must be one of 'anneal', 'auto', "),
        ({"methods": []}, "methods must hold at least one entry; got none."),
        ({"k": [2, "3"]}, "k must be an integer in [1, n=4]; got '3'."),
        ({"time_limit": "1 s"}, "time_limit must be None or a positive number of seconds; got '1 s'."),
    ],
)
def test_a_comparison_of_the_wrong_things_is_one_sentence_before_anything_is_compiled(options, sentence, monkeypatch):
    monkeypatch.setattr("mag.tables.compare._warm_up", lambda *arguments: pytest.fail("compiled"))
    with pytest.raises(mag.InputError) as refused:
        mag.compare(**{"table": PEOPLE, "k": 2, "columns": ["age", "income"]} | options)
    assert str(refused.value).startswith(sentence)


def test_a_number_given_as_a_frame_is_quoted():
    with pytest.raises(mag.InputTypeError, match=r"or a dictionary of arrays; got 5\.$"):
        mag.look(5)
