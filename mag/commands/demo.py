"""`mag demo`."""

import pathlib
from typing import Annotated

import typer

from mag.commands._options import Quiet
from mag.commands._output import say


def demo(
    folder: Annotated[pathlib.Path, typer.Option("--folder", "-o", help="Where to write.")] = pathlib.Path("mag-demo"),
    k: Annotated[int, typer.Option("-k", help="Smallest group size.")] = 5,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist.")] = False,
    quiet: Quiet = False,
) -> None:
    """Mask a generated table of 10 000 people: the file, its guarantee, its report."""
    from mag.demo import run

    report = run(folder, k, overwrite=overwrite, say=(lambda line: None) if quiet else say)
    if quiet:
        say(report)
