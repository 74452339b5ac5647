"""Bad input gets one clear sentence, and nothing is modified."""

import re

import numpy as np
import pytest

import mag
from mag.costs import COSTS

X = [3.0, 1.0, 2.0, 5.0]

CASES = [
    # x
    ({"x": []}, "x must hold at least one value; got none."),
    ({"x": 5.0}, "x must have one dimension; got an array of shape ()."),
    ({"x": np.zeros((2, 3))}, "x must have one dimension; got an array of shape (2, 3)."),
    ({"x": ["a", "b"]}, "x must hold real numbers; got dtype string."),
    ({"x": [b"a"]}, "x must hold real numbers; got dtype bytes."),
    ({"x": [1.0, None]}, "x must hold real numbers; got dtype object."),
    ({"x": [1.0, 2j]}, "x must hold real numbers; got dtype complex."),
    ({"x": np.array(["2020-01-01"], "M8[D]")}, "x must hold real numbers; got dtype datetime64[D]."),
    ({"x": [[1.0], [2.0, 3.0]]}, "x must be an array of numbers; NumPy cannot read the list given."),
    ({"x": [1.0, np.nan]}, "x contains 1 NaN value; drop or impute them first."),
    ({"x": [np.inf, -np.inf, 1.0]}, "x contains 2 infinite values; drop or impute them first."),
    ({"x": [np.inf, np.nan, np.nan]}, "x contains 2 NaN and 1 infinite values; drop or impute them first."),
    (
        {"x": np.ma.masked_array([1.0, 2.0], [True, False])},
        "x must not be a masked array; use x.compressed() or x.filled(...) first.",
    ),
    (
        {"x": np.ones(4, np.longdouble)},
        f"x must be float64 or narrower; got {np.dtype(np.longdouble).name}, convert it to float64 first.",
    ),
    # k
    *[
        ({"k": k}, f"k must be an integer in [1, n=4]; got {shown}.")
        for k, shown in (
            (0, "0"),
            (-1, "-1"),
            (5, "5"),
            (2.0, "2.0"),
            ("3", "'3'"),
            (True, "True"),
            (np.True_, "True"),
            (None, "None"),
            (np.float64(2), "2.0"),
            ([2], "a list"),
            (np.nan, "nan"),
        )
    ],
    # options
    ({"cost": "mse"}, f"cost must be one of {', '.join(map(repr, COSTS))}; got 'mse'."),
    ({"cost": 3}, f"cost must be one of {', '.join(map(repr, COSTS))}; got 3."),
    ({"cost": "sse_int"}, "cost 'sse_int' needs integers; got float64, round x to integers first."),
    ({"backend": "gpu"}, "backend must be one of 'auto', 'cpu', 'cuda'; got 'gpu'."),
    ({"assume_sorted": "yes"}, "assume_sorted must be True or False; got 'yes'."),
    ({"assume_sorted": True}, "assume_sorted must be False; got True, but x is not in ascending order."),
    ({"group_penalty": -1}, "group_penalty must be a finite number that is not negative; got -1."),
    ({"group_penalty": np.nan}, "group_penalty must be a finite number that is not negative; got nan."),
    ({"group_penalty": "1"}, "group_penalty must be a finite number that is not negative; got '1'."),
    ({"soft": np.inf}, "soft must be a finite number that is not negative; got inf."),
    ({"soft": True}, "soft must be a finite number that is not negative; got True."),
    ({"max_groups": 0}, "max_groups must be an integer in [1, n=4]; got 0."),
    ({"max_groups": 1.5}, "max_groups must be an integer in [1, n=4]; got 1.5."),
    (
        {"x": [1, 2, 3, 4], "cost": "sse_int", "group_penalty": 0.5},
        "group_penalty must be an integer in [0, 2**53]; got 0.5.",
    ),
    ({"threads": 0}, "threads must be None or a positive integer; got 0."),
    ({"threads": 2.0}, "threads must be None or a positive integer; got 2.0."),
    ({"threads": True}, "threads must be None or a positive integer; got True."),
    # weights
    ({"weights": [1, 1, 1, -1]}, "weights must not be negative; got 1 below 0."),
    ({"weights": [1, 1, 1, np.nan]}, "weights contains 1 NaN value; drop or impute them first."),
    ({"weights": [1, 1, 1]}, "weights must hold one weight per record, n=4; got 3."),
    ({"weights": [0, 0, 0, 0]}, "weights must not all be zero; got only zeros."),
    ({"weights": np.ones((4, 1))}, "weights must have one dimension; got an array of shape (4, 1)."),
    ({"weights": ["a"] * 4}, "weights must hold real numbers; got dtype string."),
    *[
        ({"weights": [1] * 4, "cost": cost}, f"weights are used by the costs 'sae' and 'sse' only; got cost {cost!r}.")
        for cost in ("maxdist", "roundup", "rounddown", "sse_int")
    ],
]


@pytest.mark.parametrize(("change", "sentence"), CASES, ids=[sentence[:60] for _, sentence in CASES])
def test_bad_input_gets_one_sentence(change, sentence):
    arguments = {"x": X, "k": 2, **change}
    with pytest.raises((TypeError, ValueError)) as caught:
        mag.univariate(**arguments)
    assert str(caught.value) == sentence


def test_the_message_for_an_unknown_solver_lists_all():
    with pytest.raises(ValueError, match=r"^solver must be one of 'auto', .*'staggered', 'wilber'; got 'fast'\.$"):
        mag.univariate(X, 2, solver="fast")


def test_messages_never_quote_data():
    secret = 123456.789
    for change in ({"x": [secret, np.nan]}, {"weights": [-secret, 1, 1, 1]}, {"x": [secret, "a"]}):
        with pytest.raises((TypeError, ValueError)) as caught:
            mag.univariate(**{"x": X, "k": 1, **change})
        assert not re.search("123456|789", str(caught.value))


def test_unknown_arguments_are_refused():
    with pytest.raises(TypeError):
        mag.univariate(X, 2, gamma=1)


@pytest.mark.parametrize("assume_sorted", [False, True])
def test_input_is_never_modified(assume_sorted):
    x = np.sort(np.random.default_rng(0).random(300))
    weights = np.random.default_rng(1).random(300)
    before = x.copy(), weights.copy()
    x.setflags(write=False)
    weights.setflags(write=False)
    for options in ({}, {"weights": weights}, {"max_groups": 3}, {"soft": 0.1}, {"solver": "staggered"}):
        grouping = mag.univariate(x, 3, assume_sorted=assume_sorted, **options)
        _ = grouping.cost, grouping.masked, grouping.information_loss
        grouping.labels[:] = 0
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(weights, before[1])
