"""`mag.backends`, and the choice of the one that does the work."""

from collections.abc import Callable
from typing import Any

import numpy as np

from mag._backends import BACKENDS, DEVICES
from mag._backends.problem import Problem
from mag._backends.protocol import Backend, DeviceBackend, ToCaller
from mag._lib.checks import one_of
from mag._lib.errors import InputValueError
from mag._lib.interrupt import interruptible

LANE_VALUES_PER_10_MS, SCALAR_VALUES_PER_10_MS = (
    2**18,
    2**12,
)  # values that take solvers with lanes, and others, some ten milliseconds


def backends() -> dict[str, str]:
    """List the backends that can run here, and the reason for those that cannot.

    Returns
    -------
    dict
        "ok" for every backend that can be used, else the reason in one sentence.

    Examples
    --------
    >>> import mag
    >>> mag.backends()["cpu"]
    'ok'
    """
    return {name: backend.why_not() or "ok" for name, backend in BACKENDS.items()}


def backend_of(backend: str, devices: list[int] | None = None) -> Backend:
    """The named backend, if it can be used here; "auto" is the CPU, except for data on a device (`on_device`).

    A caller who names `devices` is told about them where CUDA cannot be used.
    """
    name = one_of("backend", backend, ["auto", *BACKENDS])
    engine = BACKENDS["cpu" if name == "auto" else name]
    if (reason := engine.why_not()) is not None:
        if devices is not None:
            raise InputValueError(
                f"devices need the backend 'cuda', which cannot be used here; got {devices}. {reason}"
            )
        raise InputValueError(f"backend must be one that mag.backends() finds usable; got {backend!r}. {reason}")
    return engine


def on_device(x: Any, backend: str) -> tuple[DeviceBackend, Any, ToCaller] | None:
    """The backend of the device that holds the data, the data there, and their conversion back; None for the host.

    `backend` is "auto" or names the only one that may be used.
    """
    for name, engine in DEVICES.items():
        if backend in ("auto", name) and (place := engine.resident(x)) is not None and engine.why_not() is None:
            return engine, *place
    return None


def runner_for(engine: Backend, values: np.ndarray, problems: list[Problem]) -> Callable[..., Any]:
    """How to call the function that groups: so that Ctrl-C can end it, unless the input is too small to wait for."""
    if engine.on_device or values.size < SCALAR_VALUES_PER_10_MS:  # a device belongs to the thread that chose it
        return _call
    if any(problem.cost.blocks for problem in problems):  # these may run long in a user's function; Ctrl-C ends it
        return _call
    lanes = values.size < LANE_VALUES_PER_10_MS and all(problem.in_lanes(values) for problem in problems)
    return _call if lanes else interruptible


def _call(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)
