"""`mag plan`."""

import pathlib
from typing import Annotated

import typer

from mag.commands import _options as opt
from mag.commands._output import say, warn
from mag.commands._plan import text_of
from mag.files import Layout


@opt.with_text_layout_and_dates
def plan(
    source: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file to mask.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Smallest group size.", metavar="K")] = 5,
    out: Annotated[
        pathlib.Path | None,
        typer.Option("--out", "-o", help="The plan to write (default: print it).", metavar="PLAN"),
        opt.Written,
    ] = None,
    overwrite: opt.Overwrite = False,
    *,
    text_layout: Layout,
) -> None:
    """Suggest a plan for masking a file: the role of every column with the reason, as TOML to edit.

    Suggestions follow from types, names of columns, and the records that columns make unique; no value is written.
    mag mask --plan takes the file.

    Examples:
    mag plan people.csv -o plan.toml
    mag mask people.csv -o masked.csv --plan plan.toml
    """
    from mag._lib.atomic import reserving
    from mag.tables.plan import plan_for

    [file] = opt.open_files([source], text_layout)
    with reserving(*([] if out is None else [out]), sources=[source], overwrite=overwrite) as reserved:
        text = str(plan_for(*file.understood(), k, text_of(text_layout)))
        if hint := file.suggest_delimiter():
            warn(f"{source.name!r} has a single column; {hint}")
        if out is None:
            print(text, end="")
            return
        with reserved.drafts() as [draft]:
            draft.write_text(text, encoding="utf-8")
    say(f"Written: {out}. Check every role, then run mag mask --plan.")
