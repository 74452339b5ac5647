"""The `mag` command: the part that all commands share, above all how errors are reported.

Exit codes follow from the classes of errors (`_lib/errors`): errors of the user and of the operating system are printed
as one sentence; every other error is a defect of mag and shows its traceback.
"""

import contextlib
import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from mag import __version__
from mag._lib.errors import REPORT, CacheWarning, InputError, NotAnonymousError
from mag._lib.terminal import printable
from mag._lib.wording import Spelling, spelling
from mag.commands import COMMANDS, application, function_of
from mag.commands._output import running

VIOLATED, MISTAKE, DEFECT = 1, 2, 70  # exit codes; 70 is EX_SOFTWARE of sysexits.h
SPELLED_AS = {"methods": "method", "random_state": "seed"}  # keywords of Python, and parameters of commands
EXTRAS = {  # all others: "cli"
    "jinja2": "app",
    "starlette": "app",
    "uvicorn": "app",
    "fastexcel": "xlsx",
    "opendp": "dp",
    "rustworkx": "matching",
    "scipy": "matching",
    "xlsxwriter": "xlsx",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 if k is violated, 2 for a user error, 70 for a defect of mag.

    With ``MAG_DEBUG=1`` in the environment every failure shows its traceback.

    Examples
    --------
    >>> from mag.commands.cli import main
    >>> main(["--version"])
    mag 0.1.0
    0
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments == ["--version"]:  # works without the libraries of the extra
        print(f"mag {__version__}")
        return 0
    if arguments in (["info"], ["info", "--json"]):  # so does this
        from mag.commands._environment import show

        show(as_json="--json" in arguments)
        return 0
    try:
        with _terminable(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of libraries may quote cells
            warnings.simplefilter("always", CacheWarning)
            warnings.showwarning = _note
            return _run(arguments)
    except KeyboardInterrupt:
        return _complain("interrupted; nothing was written.", 130)
    except _Terminated:
        return _complain("terminated; nothing was written.", 143)
    except BrokenPipeError:  # the reader of the output has gone
        sys.stderr.close()
        return 141
    except NotAnonymousError as error:
        return _complain(str(error), VIOLATED)
    except InputError as error:
        return _complain(str(error), MISTAKE)
    except OSError as error:
        sentence = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror or error}."
        return _complain(sentence, MISTAKE)
    except MemoryError:
        return _complain("there is not enough memory.", MISTAKE)
    except BaseException as error:  # a Rust panic is a BaseException, not an Exception
        if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] != "mag":
            sentence = f"{error.name} is missing; pip install 'mag-sdc[{EXTRAS.get(error.name, 'cli')}]'."
            return _complain(sentence, MISTAKE)
        return _complain(
            f"this is a defect of mag; {REPORT} Look for data in these lines before you send them.", DEFECT
        )


def _run(arguments: list[str]) -> int:
    try:
        with running(arguments), spelling(_spell_for("".join(arguments[:1]))):
            code = application()(arguments, prog_name="mag", standalone_mode=False)
    except SystemExit as done:  # typer exits this way after shell completion
        code = done.code
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own errors have it, in all its versions
            raise
        sentence = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":
            print(sentence)
            return MISTAKE
        if sentence.startswith("No such command"):
            sentence = f"{sentence.partition('.')[0]}; the commands are {', '.join(COMMANDS)}."
        return _complain(sentence, MISTAKE)
    if code == 130:  # typer's code for an interrupt
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _note(message: Warning | str, *place: Any, **more: Any) -> None:
    """A warning as a line, without its place in the sources."""
    print(f"mag: note: {printable(message)}", file=sys.stderr)


def _complain(sentence: str, code: int) -> int:
    if code == DEFECT or os.environ.get("MAG_DEBUG") == "1":
        for line in traceback.format_exc().splitlines():
            print(printable(line), file=sys.stderr)
    sentence = printable(sentence)
    try:
        from rich.console import Console
        from rich.text import Text
    except ModuleNotFoundError:
        print(f"mag: {sentence}", file=sys.stderr)
    else:
        console = Console(stderr=True, soft_wrap=True, highlight=False)
        console.print(Text.assemble(("mag: ", "bold red"), sentence))
    return code


def _spell_for(command: str) -> Spelling:
    """Name the options of a command as a user writes them: small_strata='merge' as --small-strata merge."""

    def spell(option: str, values: tuple[Any, ...]) -> str | None:
        if command not in COMMANDS:
            return None
        from mag.commands._options import flags_of  # needs an extra, without which `mag info` runs

        flags = flags_of(function_of(command))
        written = flags.get(SPELLED_AS.get(option, option), flags.get(option))
        if written is None:
            return None
        return written if values in ((), (True,)) else f"{written} {f' or {written} '.join(map(str, values))}"

    return spell


class _Terminated(BaseException):
    """SIGTERM, so that drafts are removed on the way out."""


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
