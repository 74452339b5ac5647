"""`mag look`."""

import pathlib
from dataclasses import asdict
from typing import Annotated

import typer

from mag.commands import _options as opt
from mag.commands._output import dump, warn
from mag.files import Layout

COMMAND_ADVICE = {  # by role, and for dates and codes, as `mag mask` takes it
    "mask": "-c NAME if an intruder may know it; else --keep NAME, or --sensitive NAME",
    "category": "-c NAME with --hierarchy NAME=FILE or --aggregate NAME=mode; else --keep NAME",
    "drop": "--drop NAME: it identifies records, or is empty",
    "keep": "--keep NAME: all records have the same value",
    "dates": "--date NAME=FORMAT, such as --date NAME=%d.%m.%Y",
    "numbers": "--decimal-comma for 1,5; --thousands . for 12.345,50",
    "missing codes": "--null NAME=CODES; --show names them",
}


@opt.with_text_layout_and_dates
def look(
    path: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file, before masking.")],
    show: Annotated[
        bool,
        typer.Option(
            "--show", help="Show values: smallest, largest, codes, unreadable cells.", rich_help_panel=opt.OUTPUT_PANEL
        ),
    ] = False,
    as_json: opt.Json = False,
    *,
    text_layout: Layout,
) -> None:
    """Look at the columns of a file before masking: type, missing cells, distinct values, shapes, suspicious codes.

    The role is a suggestion for mag mask by the type of a column and its distinct values.  In text files, cells that
    cannot be read as the type of most cells of their column are listed by line, where 99.99.9999 is the shape of a
    date.  No value is printed without --show.

    Examples:
    mag look people.csv
    mag look people.csv --null income=-9,-8 --show
    mag look people.csv --decimal-comma --json
    """
    from mag.tables.look import look_at

    [file] = opt.open_files([path], text_layout)
    looked = look_at(*file.understood(), show)
    if hint := file.suggest_delimiter():
        warn(f"{path.name!r} has a single column; {hint}")
    if as_json:
        columns = [asdict(column) | {"advice": COMMAND_ADVICE[column.role]} for column in looked.columns]
        dump({"file": path.name, "records": looked.records, "empty": looked.empty, "columns": columns})
    else:
        print(looked.to_text(COMMAND_ADVICE))
