"""Trees of categories, and the hierarchies of ARX for the data set Adult, which are not part of the project."""

import pytest
from hypothesis import strategies as st

import mag
from tests.data.paths import DATA

ADULT = DATA / "adult_arx"
adult = pytest.mark.skipif(not ADULT.is_dir(), reason="the hierarchies of ARX are not part of the project")

JOBS = [
    ["baker", "crafts", "*"],
    ["painter", "crafts", "*"],
    ["dentist", "medicine", "*"],
    ["surgeon", "medicine", "*"],
    ["unknown", "unknown", "*"],
]
TREE = mag.Hierarchy.from_levels(JOBS)
LEVELS = ["low", "middle", "high"]  # an order of categories


@st.composite
def rows(draw):
    """A tree by its rows: the label of a level is the path down to it, some of them cut so that labels stay."""
    paths = draw(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=1, max_size=12, unique=True))
    return [["".join(map(str, path[: 3 - level])) or "*" for level in range(4)] for path in paths]
