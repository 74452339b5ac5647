"""Full-domain recoding that counts units and households instead of records."""

import pandas as pd
import pytest

import mag
from tests.data.units import LEVELS, for_seeds, random_people, random_recoding
from tests.oracles.owners import least_owners

TREES = {"job": mag.Hierarchy(LEVELS), "age": mag.Hierarchy.intervals(0, 90, [10, 30])}


@for_seeds(150, 3000)
def test_every_class_of_random_tables_has_enough_units(seeds):
    recoded = 0
    for seed in seeds:
        rng, table = random_people(seed)
        k, columns, options = random_recoding(rng, table)
        try:
            release = mag.generalize(table, k, columns, hierarchies=TREES, **options)
        except mag.InputValueError:
            continue
        recoded += 1
        classes = [*(["region"] if "by" in options else []), *columns]
        people = release.units() if "unit" in options else range(len(release.data))
        assert least_owners(release.data, people, classes) >= k
        if "household" in options:
            least = least_owners(release.data, release.households(), classes)
            assert least == release.guarantee.smallest_households >= options.get("k_household", k)
        assert not {"person", "home"} & {*release.data}
    assert recoded > 0.3 * len(seeds)


def test_five_rows_of_one_person_are_one_unit():
    table = pd.DataFrame({"person": [0] * 5 + [1, 2, 3, 4, 5], "age": [33] * 5 + [71, 72, 73, 74, 75]})
    by_records = mag.generalize(table, 5, "age", hierarchies={"age": TREES["age"]}, rest="drop", max_suppressed=0)
    release = mag.generalize(table, 5, "age", hierarchies={"age": TREES["age"]}, unit="person", max_suppressed=0)
    assert by_records.levels["age"] < release.levels["age"]
    assert (release.guarantee.smallest_units, release.guarantee.unit) == (6, "person")
    withheld = mag.generalize(table, 5, "age", hierarchies={"age": TREES["age"]}, unit="person", max_suppressed=0.5)
    assert withheld.withheld == 5
    assert withheld.levels == by_records.levels


@pytest.mark.parametrize(
    ("options", "sentence"),
    {
        "too few": ({"k": 7}, "k must be an integer in [1, the number of units=6]; got 7."),
        "too few homes": ({"household": "home"}, "k_household must be an integer in [1, the number of households=2]"),
        "strata": ({"by": "home"}, "too few for units and households of every class on any levels"),
        "household columns": ({"household_columns": "age"}, "household_columns"),
    }.values(),
)
def test_wrong_calls_are_one_sentence(options, sentence):
    table = pd.DataFrame({"person": [0] * 5 + [1, 2, 3, 4, 5], "age": [33] * 5 + [71, 72, 73, 74, 75]})
    table["home"] = [0] * 5 + [1] * 5
    options = {"k": 4, "unit": "person", "hierarchies": {"age": TREES["age"]}, "rest": "drop"} | options
    with pytest.raises((mag.InputError, TypeError)) as error:
        mag.generalize(table, columns="age", **options)
    assert sentence in str(error.value)
