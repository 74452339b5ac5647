"""`mag check`."""

import pathlib
from typing import Annotated

import typer

from mag.commands._options import Delimiter, Encoding, Json, Quiet, layout, open_files
from mag.commands._output import dump, say


def check(
    path: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="A file that is to be published.")],
    qi: Annotated[
        list[str], typer.Option("--qi", "-c", help="A quasi-identifying column; repeatable.", metavar="NAME")
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="Smallest number of records that must be alike.")],
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> int:
    """Count the records of a file that are alike in some columns; exit code 1 where they are fewer than k.

    Missing is a value.  In text files the text of the cells is compared: 1.0 is not 1.
    """
    from mag.files import below, smallest

    [file] = open_files([path], layout(delimiter, False, encoding, None))
    [sizes] = file.counts(list(dict.fromkeys(qi)))
    records, least, few = sum(size * count for size, count in sizes.items()), smallest(sizes), below(sizes, k)
    holds = few == 0 and records > 0
    if as_json:
        summary = {"file": str(path), "qi": qi, "k": k, "holds": holds, "smallest": least, "violating": few}
        dump(summary | {"records": records, "classes": sum(sizes.values())})
    elif not records:
        say(f"no: {path.name} has no records.")
    elif not quiet:
        if holds:
            say(f"yes: every record of {path.name} is like at least {k - 1} others; smallest class {least}.")
        else:
            say(f"no: {few} of {records} records are like fewer than {k - 1} others; smallest class {least}, k={k}.")
    return 0 if holds else 1
