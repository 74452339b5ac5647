"""benchmarks/ratio.py: both trees answer, and slower cases are named."""

import numpy as np
import pytest

from benchmarks import ratio

TINY = "univariate/small/100/labels"


@pytest.fixture
def trees():
    both = ratio.Tree(ratio.HERE), ratio.Tree(ratio.HERE)
    yield both
    for tree in both:
        tree.close()


def test_a_tree_beside_itself(trees):
    row = ratio.compare(*trees, ratio.cases(TINY)[TINY](), 0.0)
    assert row["same"] == "yes"
    assert row["calls"] > 0
    assert row["old, µs"] > 0 < row["new, µs"]
    other = ratio.compare(*trees, ("univariate", (np.ones(4), 2), {}, "masked"), 0.0)  # the processes go on
    assert other["same"] == "yes"


def test_another_package_is_no_tree(tmp_path):
    with pytest.raises(RuntimeError, match="imported"):
        ratio.Tree(tmp_path)


def test_what_is_above_the_limit_is_named_last(capsys):
    assert ratio.report([{"case": name, "ratio": found} for name, found in (("a", 1.2), ("b", 0.9), ("c", 1.1))]) == 1
    assert capsys.readouterr().out.splitlines()[-3:] == ["2 of 3 above 1.05", "  1.100  c", "  1.200  a"]
    assert ratio.report([{"case": "b", "ratio": 1.05}]) == 0


def test_every_case_can_be_made():
    made = {name: make() for name, make in ratio.cases("small").items()}
    assert {function for function, *_ in made.values()} == {"univariate"}
    assert {name.partition("/")[0] for name in ratio.cases()} == {"univariate", "batch", "families", "tables"}
