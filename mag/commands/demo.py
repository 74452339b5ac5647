"""`mag demo`."""

import pathlib
from typing import Annotated

import typer

from mag._lib.notice import working_on
from mag.commands._options import Overwrite, Quiet, Written
from mag.commands._output import say


def demo(
    folder: Annotated[
        pathlib.Path, typer.Option("--folder", "-o", help="Folder to write.", metavar="FOLDER"), Written
    ] = pathlib.Path("mag-demo"),
    k: Annotated[int, typer.Option("-k", help="Smallest group size.", metavar="K")] = 5,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Mask a generated survey of 10 000 people and write the files, the manifest and the report.

    Examples:
    mag demo
    mag demo -o demo -k 10
    """
    from mag.commands.survey import run

    with working_on(quiet=quiet):
        report = run(folder, k, overwrite=overwrite, say=(lambda line: None) if quiet else say)
    if quiet:
        say(report)
