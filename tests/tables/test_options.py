"""The list of the options of tables, and its readers; everything derived from options is computed once a call."""

import inspect
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.models import OptionInfo

import mag
from mag.api.table_options import (
    COMPARE,
    DEFAULTS,
    ESTIMATOR,
    GENERALIZE,
    MASK,
    MICROAGGREGATE,
    OPTIONS,
    PARQUET_BY_COLUMN,
    PARQUET_JOINTLY,
    Options,
    accepted,
)
from mag.commands import function_of
from mag.frames import base, frame_of
from mag.methods import METHODS
from mag.tables import _grouping, _pipeline, _request

N = 40
PEOPLE = {
    "age": np.arange(N) * 7 % 60,
    "income": np.arange(N) ** 2 % 97 / 3,
    "job": ["cook", "smith", "nurse", "baker"] * (N // 4),
    "disease": ["flu", "cough", "cold", "flu", "flu"] * (N // 5),
}
OWN = {  # parameters that are no options of tables
    MICROAGGREGATE: ["table", "k", "columns", "options"],
    GENERALIZE: ["table", "k", "columns"],
    COMPARE: ["table", "k", "columns", "methods", "options"],
    ESTIMATOR: ["k", "n_jobs", "options"],
}
ALLOWED = {  # something else than the default
    "aggregate": "median", "closeness": {"job": 0.5}, "diversity": {"job": 2}, "hierarchies": {"job": {"cook": "all"}},
    "method": "mdav", "order": {"job": ["cook"]}, "sensitive": "job", "shuffle": True, "small_strata": "suppress",
    "follow": {"income": "age"}, "special": {"age": [0]}, "sums": {"income": ["age"]},
    "standardize": True, "time_limit": 1.0, "unit": "job",
    "household": "job", "household_columns": "age", "k_household": 2, "sets": [["age", "income"]],
}  # fmt: skip


@pytest.mark.parametrize("function", OWN)
def test_signatures_have_the_options_that_are_accepted(function):
    parameters = inspect.signature(getattr(mag, function)).parameters
    options = accepted(function)
    assert [name for name in parameters if name not in OWN[function]] == [*options]
    for name, option in options.items():
        assert parameters[name].default == option.defaults.get(function, DEFAULTS[name])
        assert re.search(rf"^ *(\w+, )*{name}(, \w+)*( : .*)?$", getattr(mag, function).__doc__, re.M), name


@pytest.mark.parametrize("name", [name for name, option in OPTIONS.items() if option.choices])
def test_other_words_are_refused(name):
    option = OPTIONS[name]
    assert DEFAULTS[name] in option.choices
    call = mag.microaggregate if MICROAGGREGATE in option.accepted_by else mag.generalize
    with pytest.raises(mag.InputValueError, match=rf"^{name} must be one of .*; got 'everything'\.$"):
        call(PEOPLE, 3, ["job"], rest="drop", **{name: "everything"}) if name != "rest" else call(
            PEOPLE, 3, ["job"], rest="everything"
        )


@pytest.mark.parametrize(("engine", "scope"), [(PARQUET_BY_COLUMN, "per-column"), (PARQUET_JOINTLY, "joint")])
def test_files_refuse_what_they_do_not_accept(engine, scope, tmp_path):
    pq.write_table(pa.table(PEOPLE), tmp_path / "in.parquet")
    refused = [name for name in accepted(MICROAGGREGATE) if name not in accepted(engine)]
    assert refused
    for name in refused:
        options = {name: ALLOWED[name], "scope": scope, "output": tmp_path / "out.parquet"}
        with pytest.raises(mag.InputTypeError, match=rf"^{name} is not used for files;"):
            mag.microaggregate(tmp_path / "in.parquet", 3, ["age", "income"], **options)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("command", [MASK, GENERALIZE, COMPARE])
def test_commands_have_the_options_with_their_defaults(command):
    parameters = inspect.signature(function_of(command)).parameters
    shown = {}
    for parameter in parameters.values():
        for about in getattr(parameter.annotation, "__metadata__", ()):
            if isinstance(about, OptionInfo):  # which takes the first of the names for a default
                shown |= dict.fromkeys([about.default, *(about.param_decls or ())], parameter)
    flags = {name: option.flag_of(command) for name, option in OPTIONS.items()}
    assert any(flags.values())
    for name, flag in flags.items():
        if flag is not None:
            parameter = shown[flag.names[0] if flag.names else f"--{name.replace('_', '-')}"]
            assert parameter.default == (DEFAULTS[name] or None if flag.type is None else DEFAULTS[name])


def test_options_are_of_a_call():
    options = Options.of({"k": 2, "columns": "age", "table": 0, "by": "job", "options": {"rho": 0.5}})
    assert (options.by, options.of_method, options.missing) == ("job", {"rho": 0.5}, "error")
    assert [name for name in OPTIONS if options.is_used(name)] == ["by"]
    assert not Options(k=2, columns="age", keep=[]).is_used("keep")


# ---- once a call


def counted(monkeypatch, module, name, calls):
    function = getattr(module, name)

    def count(*arguments, **options):
        calls.append(name)
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, count)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_what_follows_from_options_is_computed_once(make, monkeypatch):
    calls = []
    counted(monkeypatch, _request, "demands_of", calls)
    counted(monkeypatch, _pipeline, "scale_of", calls)
    counted(monkeypatch, _grouping, "_comparable", calls)
    init = base.SeriesColumn.__init__
    table = make(PEOPLE)

    def count(self, series):
        calls.append("column")
        init(self, series)

    monkeypatch.setattr(base.SeriesColumn, "__init__", count)
    release = mag.microaggregate(
        table, 3, ["age", "income", "job"], diversity={"disease": 2}, aggregate={"job": "mode"}
    )
    assert release.guarantee.diversity["disease"].counted >= 2
    assert {name: calls.count(name) for name in ("demands_of", "scale_of", "_comparable")} == {
        "demands_of": 1,
        "scale_of": 3,
        "_comparable": 1,
    }
    assert calls.count("column") <= 2 * len(PEOPLE)  # those of the original, and of the published table
    frame = frame_of(table)
    assert frame.column("age") is frame.column("age")


@pytest.mark.parametrize("method", METHODS)
def test_no_method_changes_the_coordinates(method, monkeypatch):
    """Which groups that must be diverse are measured by afterwards."""
    read, found = _grouping.Comparable.read, []

    def keep(self, places=False):
        z, trees = read(self, places)
        found.append((z, z.copy()))
        return z, trees

    monkeypatch.setattr(_grouping.Comparable, "read", keep)
    for columns, aggregate in ((["age", "income"], None), (["age", "income", "job"], {"job": "mode"})):
        options = {"method": method, "rest": "drop", "diversity": {"disease": 2}, "aggregate": aggregate}
        mag.microaggregate(pl.DataFrame(PEOPLE), 2, columns, **options)
    assert len(found) >= 4
    for z, before in found:
        assert np.array_equal(z, before)
