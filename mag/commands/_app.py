"""The commands put together by typer."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from mag import __version__


def application(commands: dict[str, Callable[..., int | None]]) -> Callable[..., Any]:
    """The command `mag`; called with arguments it runs, and leaves mistakes to its caller."""
    app = typer.Typer(
        help="Microaggregation: publish tables in groups of at least k records, at little loss.",
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_everywhere)
    for name, command in commands.items():
        app.command(name)(command)
    return typer.main.get_command(app)


def _version(show: bool) -> None:
    if show:
        print(f"mag {__version__}")
        raise typer.Exit


def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say the version and exit.")
    ] = False,
) -> None:
    """Options without a command."""
