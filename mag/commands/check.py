"""`mag check`."""

import pathlib
from typing import Annotated

import typer

from mag.commands._options import Delimiter, Encoding, Json, QuasiIdentifiers, Quiet, layout, open_files
from mag.commands._output import dump, say


def check(
    path: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file to publish.")],
    qi: QuasiIdentifiers,
    k: Annotated[int, typer.Option("-k", min=1, help="Smallest class size allowed.", metavar="K")],
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> int:
    """Check that a file is k-anonymous: exits with 1 if a class has fewer than k records.

    A class is a set of records with equal quasi-identifiers.  A missing cell is a value.  Text files are compared as
    text: 1.0 is not 1.

    Examples:
    mag check out.csv --qi region --qi age --qi income -k 5
    mag check out.csv --qi age -k 5 --quiet || echo "do not publish"
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
        say(f"FAIL k={k}: {path.name} has no records.")
    elif not quiet:
        others = "other" if k == 2 else "others"
        if holds:
            say(f"PASS k={k}: each of {records} records matches at least {k - 1} {others}; smallest class {least}.")
        else:
            say(f"FAIL k={k}: {few} of {records} records match fewer than {k - 1} {others}; smallest class {least}.")
    return 0 if holds else 1
