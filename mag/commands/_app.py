"""The commands put together by typer."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from mag import __version__
from mag.commands._options import METHODS

TOPICS = {  # of the help, in this order
    "Publish a file": ("mask", "generalize", "suppress", "graph", "dp", "check", "rerun"),
    "Decide and assess": ("app", "look", "assess", "plan", "risk", "compare", "utility"),
    "Get started": ("demo", "info", "warmup"),
}


def application(commands: dict[str, Callable[..., int | None]]) -> Callable[..., Any]:
    """The command `mag`: parse the arguments and run the command; errors of the user propagate to the caller."""
    app = typer.Typer(
        help="Microaggregation: publish k-anonymous tables with little information loss.",
        epilog="Examples:\n\nmag demo\n\nmag mask people.csv -o out.csv -k 5 -c age -c income --by region --drop name"
        "\n\nmag COMMAND --help shows the options and examples of a command.",
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_everywhere)
    for topic, names in TOPICS.items():
        for name in names:
            help_text, epilog = describe(commands[name])
            app.command(name, help=help_text, epilog=epilog, rich_help_panel=topic)(commands[name])
    return typer.main.get_command(app)


def describe(command: Callable[..., Any]) -> tuple[str, str]:
    """The help of a command, and the examples and methods below its options, from its docstring."""
    text, _, examples = (inspect.getdoc(command) or "").partition("\n\nExamples:\n")
    paragraphs = [" ".join(paragraph.split()) for paragraph in text.split("\n\n")]
    below = ["Examples:", *(line.strip() for line in examples.splitlines())] if examples else []
    if "method" in inspect.signature(command).parameters:
        below += ["Methods (-m):", *(f"{family}: {', '.join(names)}." for family, names in METHODS.items())]
    return "\n\n".join(paragraphs), "\n\n".join(below)


def _version(show: bool) -> None:
    if show:
        print(f"mag {__version__}")
        raise typer.Exit


def _everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options without a command."""
