"""The `mag` command: what is common to all its commands, above all how it fails."""

import contextlib
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from mag import __version__
from mag._lib.terminal import printable

EXTRAS = {"fastexcel": "xlsx", "xlsxwriter": "xlsx"}  # all other libraries come with the extra "cli"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0, 1 where k is violated, 2 for a mistake.

    Examples
    --------
    >>> from mag.cli import main
    >>> main(["--version"])
    mag 0.1.0
    0
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments == ["--version"]:  # works without the libraries of the extra
        print(f"mag {__version__}")
        return 0
    try:
        with _terminable(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of libraries may quote cells
            return _run(arguments)
    except KeyboardInterrupt:
        return _failed("interrupted; nothing was written.", 130)
    except _Terminated:
        return _failed("terminated; nothing was written.", 143)
    except ModuleNotFoundError as error:
        if not error.name or error.name.startswith("mag"):
            raise
        return _failed(f"{error.name} is missing; pip install 'mag-sdc[{EXTRAS.get(error.name, 'cli')}]'.", 2)
    except BrokenPipeError:  # the reader of the output has gone
        sys.stderr.close()
        return 141
    except OSError as error:
        return _failed(f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror or error}.", 2)
    except MemoryError:
        return _failed("there is not enough memory.", 2)
    except RuntimeError as error:  # a count that fails, see mag.verify
        return _failed(str(error), 1)
    except (TypeError, ValueError) as error:
        return _failed(re.sub(r"\b([a-z_]+)='([\w-]+)'", _as_option, str(error)), 2)


def _run(arguments: list[str]) -> int:
    from mag.commands import COMMANDS, application

    try:
        code = application()(arguments, prog_name="mag", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):  # typer's own mistakes have it, in all its versions
            raise
        sentence = error.format_message()
        if type(error).__name__ == "NoArgsIsHelpError":
            print(sentence)
            return 2
        if sentence.startswith("No such command"):
            sentence = f"{sentence.partition('.')[0]}; the commands are {', '.join(COMMANDS)}."
        return _failed(sentence, 2)
    if code == 130:  # what typer makes of an interruption
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _failed(sentence: str, code: int) -> int:
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


def _as_option(keyword: re.Match[str]) -> str:
    """small_strata='merge' is --small-strata merge here."""
    return f"--{keyword[1].replace('_', '-')} {keyword[2]}"


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
