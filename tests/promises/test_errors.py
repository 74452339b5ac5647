"""Whose fault an error is: a mistake of the caller, a group below k, or a defect."""

import ast
import pathlib
import pickle
import sys

import numpy as np
import pytest

import mag
from mag._lib import errors

ROOT = pathlib.Path(mag.__file__).parent
KINDS = [mag.InputValueError, mag.InputTypeError, mag.InputRuntimeError, mag.NotAnonymousError]


def calls(path):
    """Names that a file calls."""
    nodes = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_errors_of_ours_about_arguments_are_mistakes(path):
    assert not calls(path) & {"ValueError", "TypeError"}


def test_one_constant_says_where_to_report():
    assert [path.name for path in ROOT.rglob("*.py") if "please report" in path.read_text()] == ["errors.py"]
    assert str(errors.group_below(3)).endswith("please report this at https://github.com/mag-sdc/mag/issues.")


@pytest.mark.parametrize("kind", KINDS)
def test_errors_travel_between_processes(kind):
    copy = pickle.loads(pickle.dumps(kind("a sentence.")))
    assert type(copy) is kind
    assert str(copy) == "a sentence."


@pytest.mark.parametrize(
    ("call", "builtin"),
    [
        (lambda: mag.univariate([1.0, 2.0], 3), ValueError),
        (lambda: mag.univariate([1.0, 2.0], 1.5), TypeError),
        (lambda: mag.univariate([1.0, np.nan], 1), ValueError),
        (lambda: mag.microaggregate({"a": ["x", "y"]}, 1, "a", scope="per-column"), TypeError),
        (lambda: mag.microaggregate({"a": [1, 2], "b": [1, 2]}, 2, "a", by="b"), ValueError),
        (lambda: mag.distributed.columns([1.0, 2.0], 1), TypeError),
        (lambda: mag.metrics.propensity_mse([[0.0], [1.0]], [[0.0], [1.0]], ridge="none"), TypeError),
    ],
)
def test_mistakes_are_of_the_builtin_class_too(call, builtin):
    with pytest.raises(mag.InputError) as caught:
        call()
    assert isinstance(caught.value, builtin)
    assert not isinstance(caught.value, mag.NotAnonymousError)


def test_every_recount_raises_the_same_error():
    assert mag.verify.NotAnonymousError is mag.NotAnonymousError
    assert not issubclass(mag.NotAnonymousError, mag.InputError)
    da = pytest.importorskip("dask.array")
    with pytest.raises(mag.NotAnonymousError, match="got 1, in 2 of 2 classes"):
        mag.distributed.verify(da.from_array(np.array([1.0, 2.0])), 2)


def test_a_regression_that_does_not_converge_is_no_violation(monkeypatch):
    monkeypatch.setattr(sys.modules[mag.metrics.propensity_mse.__module__], "MAX_NEWTON_STEPS", 0)
    x = np.arange(12.0)[:, None]
    with pytest.raises(mag.InputRuntimeError, match="has not converged in 0 steps; raise ridge"):
        mag.metrics.propensity_mse(x, x + 1)
