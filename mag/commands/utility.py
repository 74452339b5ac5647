"""`mag utility`."""

from mag.commands import _options as opt
from mag.commands._output import dump, table
from mag.commands._pair import pair
from mag.files import Layout


@opt.with_text_layout
def utility(
    original: opt.Original,
    masked: opt.Masked,
    column: opt.Column = None,
    withheld: opt.WithheldRecords = None,
    as_json: opt.Json = False,
    *,
    text_layout: Layout,
) -> None:
    """Measure what masking has cost: information loss, correlations, distinguishability.

    Row i of both files must be the same record.  Records with a missing cell in one of the columns are left out.

    Examples:
    mag utility people.csv out.csv
    mag utility people.csv out.csv -c age -c income --withheld withheld.csv
    """
    names, before, after = pair(original, masked, column or [], text_layout, withheld)
    from mag.assess import utility as measured

    utilities = measured(before, after)
    each = dict(zip(names, utilities.pop("information_loss_by_column", ()), strict=False))
    if as_json:
        dump({"columns": names} | utilities | {"information_loss_by_column": each})
        return
    rows = list(utilities.items()) + [(f"information loss of {name}", loss) for name, loss in each.items()]
    table(["utility", ", ".join(names)], rows)
