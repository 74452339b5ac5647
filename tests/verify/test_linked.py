"""Two releases of the same people: linked classes by brute force, and one sentence for each mistake."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mag
from mag.verify import count_linked

RELEASE = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 1), st.integers(0, 1)), max_size=9, unique_by=lambda r: r[0]
)


@given(RELEASE.filter(bool), RELEASE, st.integers(1, 3))
def test_counts_are_those_of_all_pairs(new, old, k):
    k = min(k, len(new))
    views = {key: (tuple(own), None) for key, *own in new}
    for key, *own in old:
        views[key] = (views.get(key, (None, None))[0], tuple(own))
    sizes = {key: sum(other == view for other in views.values()) for key, view in views.items()}
    gone = [key for key, view in views.items() if view[0] is None]
    tables = [
        {
            name: np.array(column, int)
            for name, column in zip("iab", zip(*own, strict=True) if own else ((), (), ()), strict=True)
        }
        for own in (new, old)
    ]
    found = count_linked(*tables, ["a", "b"], "i", k)
    assert found == (
        sum(None not in view for view in views.values()),
        sum(view[1] is None for view in views.values()),
        len(gone),
        min(sizes.values()),
        sum(sizes[key] < k for key, view in views.items() if view[0] is not None),
        sum(sizes[key] == 1 for key, view in views.items() if view[0] is not None),
        sum(sizes[key] < k for key in gone),
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_of_every_library(make):
    old = make({"who": ["p", "q", "r", "s"], "age": [1.0, 1.0, 2.0, 2.0]})
    new = make({"who": ["s", "r", "q", "p"], "age": [3.0, 3.0, 4.0, 4.0], "job": ["a", "a", "a", "a"]})
    assert count_linked(new, old, ["age", "job"], "who", 2)[:5] == (4, 0, 0, 2, 0)


@pytest.mark.parametrize(
    ("columns", "link", "sentence"),
    [
        (["agee"], "i", "columns must name columns of the table"),
        (["new"], "i", "columns must have names that both releases have"),
        (["a"], "a", "columns must have names that both releases have"),
        (["a"], "j", "id must name columns of the table"),
        (["a"], "b", "id must have a different value in every record of the old release; 1 records repeat one"),
        (["a"], "n", "id must not have missing cells; got 1 in"),
    ],
)
def test_mistakes_are_one_sentence(columns, link, sentence):
    table = pd.DataFrame({"i": [1, 2], "a": [1, 1], "b": [5, 5], "n": [1.0, None]})
    with pytest.raises(mag.InputError, match=sentence) as error:
        count_linked(table.assign(new=1, b=[5, 6]), table, columns, link, 1)
    assert "\n" not in str(error.value)


def test_the_command_counts_linked_classes(mag_, tmp_path):
    paths = tmp_path / "old.csv", tmp_path / "new.parquet"
    pl.DataFrame({"who": ["p", "q", "r", "s", "t", "u"], "age": ["1", "1", "2", "2", "2", "2"]}).write_csv(paths[0])
    pl.DataFrame({"who": ["p", "q", "r", "s", "v", "w"], "age": [3, 3, 4, 4, 4, 4]}).write_csv(
        paths[1].with_suffix(".csv")
    )
    new = paths[1].with_suffix(".csv")
    code, printed, _ = mag_("check", new, "--qi", "age", "-k", 2, "--against", paths[0], "--id", "who")
    assert code == 0
    assert "PASS k=2, linked: 0 of 8 records" in printed
    code, printed, _ = mag_("check", new, "--qi", "age", "-k", 3, "--against", paths[0], "--id", "who", "--json")
    assert code == 1
    assert '"below_k": 6' in printed
    code, _, complaint = mag_("check", new, "--qi", "age", "-k", 2, "--against", paths[0])
    assert (code, "--against and --id are used together" in complaint) == (2, True)
    code, _, complaint = mag_("check", new, "--qi", "age", "-k", 2, "--against", paths[0], "--id", "whom")
    assert (code, complaint.count("\n")) == (2, 1)
