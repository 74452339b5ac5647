"""Options that several commands share, and how their words are read."""

import pathlib
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from mag._lib.errors import ValueMistake
from mag.files import File, Layout

TEXT = "Text files"  # a panel of the help

Aggregate = Annotated[str | None, typer.Option(help="max, mean (default), median, mid_range or min of a group.")]
By = Annotated[list[str] | None, typer.Option("--by", help="Groups never cross values of this column; repeatable.")]
Column = Annotated[list[str] | None, typer.Option("--column", "-c", help="A column; repeatable.", metavar="NAME")]
DecimalComma = Annotated[
    bool, typer.Option("--decimal-comma", help="Numbers like 1,5; ; is then the delimiter.", rich_help_panel=TEXT)
]
Delimiter = Annotated[str | None, typer.Option(help="What separates cells (, or a tab).", rich_help_panel=TEXT)]
Encoding = Annotated[str, typer.Option(help="Of the characters.", rich_help_panel=TEXT)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Missing = Annotated[str, typer.Option(help="Records with missing numbers: error, group or drop.")]
Null = Annotated[
    list[str] | None, typer.Option("--null", help="A word for a missing number; repeatable.", rich_help_panel=TEXT)
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but mistakes.")]
SmallStrata = Annotated[str, typer.Option(help="Strata of fewer than k records: error, merge or suppress.")]
Threads = Annotated[int | None, typer.Option(help="How many may work; all processors by default.")]

Masked = Annotated[pathlib.Path, typer.Argument(metavar="MASKED", help="The file after masking.")]
Original = Annotated[pathlib.Path, typer.Argument(metavar="ORIGINAL", help="The file before masking.")]


def layout(delimiter: str | None, decimal_comma: bool, encoding: str, null: list[str] | None) -> Layout:
    """The options of text files; a tab may be written \\t."""
    return Layout("\t" if delimiter == "\\t" else delimiter, decimal_comma, encoding, tuple(null or ()))


def opened(paths: Sequence[pathlib.Path], asked: Layout) -> list[File]:
    """The files; options of text files without a text file are a mistake."""
    files = [File(path, asked) for path in paths]
    if asked != Layout() and not any(file.format.text for file in files):
        given = [
            f"--{name.replace('_', '-')}" for name, value in vars(asked).items() if value != getattr(Layout(), name)
        ]
        raise ValueMistake(f"{', '.join(given)}: not used by {files[0].path.suffix} files, only by .csv and .tsv.")
    return files


def whole(option: str, words: Sequence[str]) -> Any:
    """One integer, or NAME=INTEGER for every column."""
    pairs = [word.rpartition("=") for word in words]
    try:
        if len(pairs) == 1 and not pairs[0][1]:
            return int(words[0])
        if all(equals for _, equals, _ in pairs):
            return {name: int(number) for name, _, number in pairs}
    except ValueError:
        pass
    raise ValueMistake(
        f"{option} must be one integer, or NAME=INTEGER for each column; got {', '.join(map(repr, words))}."
    )


def settings(words: Sequence[str]) -> dict[str, Any]:
    """Options of a method, NAME=VALUE: true and false, integers, numbers, words."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise ValueMistake(f"--option must be NAME=VALUE; got {word!r}.")
        found[name] = _value(value)
    return found


def _value(word: str) -> Any:
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
