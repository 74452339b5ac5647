"""TOML is read back by the standard library as it was written."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from mag._lib.toml import write_key, write_value

TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, VALUES)
def test_values_and_keys_are_read_back(key, value):
    assert tomllib.loads(f"{write_key(key)} = {write_value(value)}") == {key: value}
