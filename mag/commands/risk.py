"""`mag risk`."""

from typing import Annotated

import typer

from mag.commands._options import Column, DecimalComma, Delimiter, Encoding, Json, Masked, Null, Original, layout
from mag.commands._output import dump, table
from mag.commands._pair import pair


def risk(
    original: Original,
    masked: Masked,
    column: Column = None,
    k: Annotated[int | None, typer.Option("-k", help="Count the records that fewer than k are like.")] = None,
    as_json: Json = False,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    encoding: Encoding = "utf-8",
    null: Null = None,
) -> None:
    """Measure what a masked file still gives away: equal records, linkage, intervals.

    Row i of both files must be the same record.  Without -c, all columns that are numbers in both files are compared.
    """
    names, before, after = pair(original, masked, column or [], layout(delimiter, decimal_comma, encoding, null))
    from mag.assess import risk as measured

    risks = measured(before, after, k=k)
    if as_json:
        dump({"columns": names} | risks)
        return
    table(["risk", ", ".join(names)], list(risks.items()))
