"""How a method for records is run: with checked options, so that Ctrl-C ends it, and with groups in order."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mag._backends.protocol import Backend
from mag._lib.errors import REPORT, InputTypeError, InputValueError
from mag._lib.interrupt import interruptible
from mag._lib.nearest import ask_nearest
from mag._lib.notice import working_on
from mag._lib.number import number_by_first_row, number_rows
from mag.methods import METHODS, Resources, check_init

KEYWORDS_ELSEWHERE = {  # what other libraries and papers call options
    "hierarchy": "hierarchies",
    "l": "diversity",
    "n_jobs": "threads",
    "qi": "columns",
    "quasi_identifiers": "columns",
    "seed": "random_state",
    "strata": "by",
    "t": "closeness",
}


def check_options(name: str, k: int, options: dict[str, Any], time_limit: Any, engine: Backend, backend: str) -> None:
    """Reject options that the method does not have, a k that it does not support, and invalid values."""
    method = METHODS[name]
    if method.k not in (None, k):
        raise InputValueError(f"method {name!r} needs k={method.k}; got k={k}.")
    for option in [*options, *([] if time_limit is None else ["time_limit"])]:
        if option not in method.options:
            listed = ", ".join(method.options) or "none"
            raise InputTypeError(f"{option} is not used by method {name!r}; its options are: {listed}.")
    if engine.on_device and not method.accepts("engine"):
        raise InputTypeError(f"backend {backend!r} is not used by method {name!r}; use 'auto' or 'cpu'.")
    if "init" in options:
        check_init(k, options["init"])
    method.check(k, **{option: setting for option, setting in options.items() if option not in ("init", "integer")})


def check_keywords(function: str, options: Iterable[str], own: Iterable[str]) -> None:
    """Reject keywords that neither the function nor any method has, as misspelled."""
    for option in options:
        if not any(option in method.options for method in METHODS.values()):
            known = sorted({*own, *(name for method in METHODS.values() for name in method.options)})
            meant = KEYWORDS_ELSEWHERE.get(option)
            near = f", did you mean {meant}?" if meant in known else ask_nearest(option, known, quote=False)
            raise InputTypeError(f"{option} is not an option of {function} or of a method{near or '.'}")


def run_method(
    name: str, X: np.ndarray, k: int, resources: Resources, options: dict[str, Any]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Let a method group records; Ctrl-C ends it."""
    with working_on(name, resources.progress.quiet):
        if resources.engine.on_device:  # a device and its stream belong to the thread that chose them
            return METHODS[name].run(X, k, resources, options)
        return interruptible(METHODS[name].run, X, k, resources, options)


def number_groups(labels: Any, n: int) -> tuple[np.ndarray, int]:
    """Labels 0, 1, … in the order of the groups' first records."""
    labels = np.asarray(labels)
    if labels.shape != (n,):
        raise RuntimeError(f"A method gave labels of shape {labels.shape} to n={n} records; {REPORT}")
    if not n:
        return np.zeros(0, np.int32), 0
    groups = number_by_first_row(number_rows([labels - labels.min()]).astype(np.int32))
    return groups, int(groups.max()) + 1
