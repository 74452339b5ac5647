"""One command, one file; typer makes the command line of the function's signature, and the help of its docstring.

Commands are imported when they are first used: `cli` answers ``mag --version`` without the libraries of the extra.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

COMMANDS = (
    "app",
    "assess",
    "check",
    "compare",
    "demo",
    "dp",
    "generalize",
    "graph",
    "info",
    "look",
    "mask",
    "plan",
    "rerun",
    "risk",
    "suppress",
    "utility",
    "warmup",
)


def function_of(command: str) -> Callable[..., int | None]:
    """The function of a command: the one in its file that has its name."""
    return getattr(import_module(f"mag.commands.{command}"), command)


def application() -> Callable[..., Any]:
    """The command `mag`; called with arguments it runs, and leaves mistakes to its caller."""
    from mag.commands._app import application  # which needs typer

    return application({name: function_of(name) for name in COMMANDS})
