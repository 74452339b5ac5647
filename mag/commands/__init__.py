"""One command, one file; typer makes the command line of the function's signature, and the help of its docstring."""

from collections.abc import Callable
from typing import Any

from mag.commands import check, compare, demo, dp, generalize, graph, info, mask, risk, utility, warmup

COMMANDS: dict[str, Callable[..., int | None]] = {
    "check": check.check,
    "compare": compare.compare,
    "demo": demo.demo,
    "dp": dp.dp,
    "generalize": generalize.generalize,
    "graph": graph.graph,
    "info": info.info,
    "mask": mask.mask,
    "risk": risk.risk,
    "utility": utility.utility,
    "warmup": warmup.warmup,
}


def application() -> Callable[..., Any]:
    """The command `mag`: parse the arguments and run the command; errors of the user propagate to the caller."""
    from mag.commands._app import application  # imported here: it needs typer and this table

    return application(COMMANDS)
