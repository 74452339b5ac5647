"""Columns that look like names of people or households: a warning, as k counts records."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mag
from mag.frames import frame_of
from mag.tables.repeats import find_units

PERSON = np.repeat(np.arange(40), np.arange(40) % 4 + 1)
RNG = np.random.default_rng(0)


def masked(**columns):
    table = pd.DataFrame({"age": RNG.normal(size=PERSON.size), "wage": RNG.normal(size=PERSON.size)} | columns)
    return mag.microaggregate(table, 3, ["age", "wage"], rest="drop")


@pytest.mark.parametrize(
    ("name", "cells"),
    {
        "name": ("patient_id", RNG.permutation(PERSON)),
        "name of a household": ("hhId", [f"h{own}" for own in PERSON]),
        "adjacent texts": ("x1", [f"k{own}" for own in PERSON]),
        "adjacent numbers": ("x2", PERSON),
    }.values(),
)
def test_columns_of_units_cause_a_warning(name, cells):
    sentence = rf"^column '{name}' looks like the names of 40 people or households, which have {PERSON.size} records: "
    with pytest.warns(mag.UnitsWarning, match=sentence):
        masked(**{name: cells})
    assert find_units(frame_of(pl.DataFrame({"one": PERSON, name: cells})), [name], []) == (name, 40)


@pytest.mark.parametrize(
    ("name", "cells"),
    {
        "a record each": ("patient_id", np.arange(PERSON.size)),
        "one unit": ("patient_id", np.zeros(PERSON.size)),
        "returning values": ("x", RNG.permutation(PERSON)),
        "few values": ("x", PERSON // 10),
        "floats": ("x", PERSON * 1.5),
        "lists": ("patient_id", [[1]] * PERSON.size),
        "another name": ("person", RNG.permutation(PERSON)),
    }.values(),
)
def test_other_columns_cause_none(name, cells):
    masked(**{name: cells})  # warnings are errors


def test_with_units_nothing_is_said():
    table = pd.DataFrame({"age": RNG.normal(size=PERSON.size), "patient_id": PERSON})
    mag.microaggregate(table, 3, "age", unit="patient_id")
    mag.microaggregate(table, 3, "age", household="patient_id", k_household=2)


@pytest.mark.parametrize("command", [mag.generalize, mag.suppress])
def test_recoding_and_suppression_warn_too(command):
    table = pd.DataFrame({"job": RNG.choice(["a", "b"], PERSON.size), "patient_id": PERSON})
    with pytest.warns(mag.UnitsWarning, match="'patient_id' looks like the names of 40 people"):
        command(table, 3, "job", drop="patient_id")
    command(table, 3, "job", unit="patient_id")


def test_a_kept_column_counts_by_its_name_only():
    frame = frame_of(pd.DataFrame({"x": PERSON, "patient_id": PERSON}))
    assert find_units(frame, [], ["x"]) is None
    assert find_units(frame, [], ["x", "patient_id"]) == ("patient_id", 40)
