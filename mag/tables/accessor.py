"""The functions that frames offer as methods: ``frame.mag.check(5, ["age", "job"])``."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

from mag.tables import generalize, microaggregate, suppress
from mag.tables.assess import assess
from mag.tables.check import check
from mag.tables.look import look
from mag.tables.plan import plan

OFFERED = (assess, check, generalize, look, microaggregate, plan, suppress)


class TableAccessor:
    """The functions of mag that take a table first, as methods of a frame."""

    def __init__(self, table: Any) -> None:
        self._table = table


def _as_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with the frame in place of its first parameter."""

    @functools.wraps(function)
    def method(self: TableAccessor, *arguments: Any, **options: Any) -> Any:
        return function(self._table, *arguments, **options)

    signature = inspect.signature(function)
    _, *others = signature.parameters.values()
    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = signature.replace(parameters=[itself, *others])  # type: ignore[attr-defined]
    return method


for _function in OFFERED:
    setattr(TableAccessor, _function.__name__, _as_method(_function))
