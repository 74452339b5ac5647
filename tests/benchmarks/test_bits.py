"""The digests of benchmarks/bits.py: they repeat, they name differences, and wrong calls have one, too."""

import numpy as np
import pytest

import mag
from benchmarks import bits

QUICK = "mistakes/k*"


def test_cases_repeat_whatever_the_threads():
    first, second = ({name: bits.digest(bits.attempt(call)) for name, call in bits.cases(threads, QUICK).items()}
                     for threads in (1, 2))  # fmt: skip
    assert first == second
    assert len(set(first.values())) == len(first) == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (np.arange(3), np.arange(3.0)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (ValueError("k"), TypeError("k")),
        (ValueError("k"), ValueError("n")),
        (mag.univariate([1, 2, 3, 9], 2), mag.univariate([1, 2, 3, 9.5], 2)),
    ],
)
def test_a_digest_tells_bits_apart(one, other):
    assert bits.digest(one) == bits.digest(one) != bits.digest(other)


def test_what_has_no_digest_is_no_case():
    with pytest.raises(TypeError, match="got object"):
        bits.digest(object())


def test_a_comparison_lists_what_differs(capsys):
    assert bits.compare({"a": "1", "b": "2"}, {"a": "1", "b": "2"}) == 0
    assert bits.compare({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "4", "d": "5"}) == 1
    assert capsys.readouterr().out.split("\n") == [
        "equal: 2 of 2", "changed: b", "missing: c", "new: d", "equal: 1 of 3", "",
    ]  # fmt: skip
