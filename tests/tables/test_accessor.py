"""``frame.mag``: the functions themselves as methods of frames, registered by `import mag.pandas` and `mag.polars`."""

import inspect
import subprocess
import sys
import warnings

import pandas as pd
import polars as pl
import pytest

import mag
import mag.pandas
import mag.polars
from mag.tables.accessor import OFFERED, TableAccessor

CELLS = {"age": [31, 52, 30, 55, 41, 29], "job": ["cook", "baker"] * 3, "person_id": [1, 1, 2, 2, 3, 3]}
CALLS = {
    "assess": {"qi": ["age", "job"]},
    "check": {"k": 2, "qi": "job"},
    "generalize": {"k": 2, "columns": "job", "rest": "drop"},
    "look": {},
    "microaggregate": {"k": 2, "columns": "age", "by": "job", "drop": "person_id"},
    "plan": {},
    "suppress": {"k": 2, "columns": "job", "rest": "drop"},
}


def test_every_function_has_a_call_here():
    assert {function.__name__ for function in OFFERED} == set(CALLS)


@pytest.mark.filterwarnings("ignore::mag.UnitsWarning")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_methods_are_the_functions(make, name):
    table = make(CELLS)
    found, expected = getattr(table.mag, name)(**CALLS[name]), getattr(mag, name)(table, **CALLS[name])
    assert repr(found) == repr(expected)
    assert getattr(found, "data", table).equals(getattr(expected, "data", table))


@pytest.mark.parametrize("function", OFFERED)
def test_signatures_and_docstrings_are_those_of_the_functions(function):
    method = getattr(TableAccessor, function.__name__)
    first, *others = inspect.signature(method).parameters.values()
    assert (first.name, others) == ("self", [*inspect.signature(function).parameters.values()][1:])
    assert method.__doc__ == function.__doc__
    bound = getattr(pd.DataFrame(CELLS).mag, function.__name__)
    assert list(inspect.signature(bound).parameters) == list(inspect.signature(function).parameters)[1:]


def test_lazy_frames_of_polars_have_them_too():
    people = pl.LazyFrame(CELLS)
    assert people.mag.check(3, "job")
    assert people.mag.suppress(2, "job", rest="drop", unit="person_id").data.columns == ["job"]


def test_a_warning_names_the_line_of_its_caller():
    for call in (
        pd.DataFrame(CELLS).mag.microaggregate,
        lambda *a, **b: mag.microaggregate(pl.DataFrame(CELLS), *a, **b),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(2, "age", by="job", drop="person_id")
        assert [(one.category, one.filename) for one in caught] == [(mag.UnitsWarning, __file__)]


def test_an_accessor_shows_no_cell():
    frame = pd.DataFrame({"name": ["canary"]})
    assert "canary" not in repr(frame.mag) + repr(frame.mag.check)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_nothing_is_registered_unasked(library):
    script = f"""if True:
        import sys, {library}, mag
        mag.check
        assert not hasattr({library}.DataFrame, "mag")
        assert "mag.tables.accessor" not in sys.modules
        import mag.{library}
        assert hasattr({library}.DataFrame, "mag")
        """
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named(library):
    script = f"import sys; sys.modules[{library!r}] = None; import mag.{library}"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert f"ImportError: mag.{library} needs {library}; pip install {library}." in run.stderr
