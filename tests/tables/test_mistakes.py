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
    with pytest.raises(mag.InputTypeError, match=r"got a Dask frame, use mag\.distributed\.multivariate"):
        mag.microaggregate(dd.from_pandas(pd.DataFrame(PEOPLE), npartitions=1), 2, ["age", "income"])


@pytest.mark.parametrize("dtype", ["string", "category", object])
def test_text_in_a_dask_frame_is_one_sentence(dtype):
    dd = pytest.importorskip("dask.dataframe")
    people = pd.DataFrame(PEOPLE).assign(name=pd.Series(list("abcd"), dtype=dtype))
    with pytest.raises(mag.InputTypeError, match=r"^columns must hold real numbers; got .* in column 'name', keep or"):
        mag.distributed.multivariate(dd.from_pandas(people, npartitions=1), 2).labels.compute()
