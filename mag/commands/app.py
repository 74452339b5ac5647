"""`mag app`; run as a module it is the process in which the app computes."""

import contextlib
import io
import pathlib
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from mag.commands._output import heard_by, say


def app(
    source: Annotated[
        pathlib.Path | None, typer.Argument(metavar="[FILE]", help="The file to open (default: choose it there).")
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the address in a browser, or only print it.")
    ] = True,
) -> None:
    """Open a page in your browser that leads from a raw file to a verified release, on this machine alone.

    The page shows the file's columns, the risk before masking, hierarchies, methods and group sizes, the result, and
    writes the release with its manifest, report, plan, command line and Python script.  The server takes requests from
    this machine with the token of the printed address only, sends nothing anywhere, and removes its files when it
    ends, by Ctrl-C.

    Examples:
    mag app survey.csv
    mag app --no-browser
    """
    from mag.app import serve
    from mag.files import File

    if source is not None:
        File(source).names()  # or a sentence, before anything is started
        source = source.absolute()
    command = [sys.executable, "-m", "mag.commands.app"]
    serve(source, command, lambda address: say(f"Open {address}  (Ctrl-C ends it)"), browser)


def run(arguments: Sequence[str], listener: Callable[[float], object]) -> tuple[int, str, str]:
    """Run a command in this process: its exit code, its output and its complaint."""
    from mag.commands.cli import main

    output, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(complaint), heard_by(listener):
        code = main(arguments)
    return code, output.getvalue(), complaint.getvalue()


if __name__ == "__main__":
    from mag.app import work

    work(run, pathlib.Path(sys.argv[1]))
