"""`mag utility`."""

from mag.commands import _options as opt
from mag.commands._output import dump, say, table
from mag.commands._pair import CategoryOptions, read_two_files
from mag.files import Layout

BY_COLUMN = {
    "information_loss_by_column": "information loss of",
    "share_change_by_column": "change of a share of",
    "gower_distance_by_column": "distance of",
    "total_variation_by_column": "change of frequencies of",
}


@opt.with_text_layout
def utility(
    original: opt.Original,
    masked: opt.Masked,
    column: opt.Column = None,
    hierarchy: opt.Hierarchies = None,
    order: opt.Order = None,
    category: opt.Category = None,
    other: opt.Other = "error",
    withheld: opt.WithheldRecords = None,
    as_json: opt.Json = False,
    *,
    text_layout: Layout,
) -> None:
    """Measure what masking has cost: information loss, correlations, distinguishability.

    Row i of both files must be the same record.  Records with a missing cell in one of the columns are left out.  Of
    columns that --hierarchy, --order or --category declare as categories: how far cells are from the published ones,
    the normalized certainty penalty, and how frequencies have changed.

    Examples:
    mag utility people.csv out.csv
    mag utility people.csv out.csv -c age -c income --withheld withheld.csv
    mag utility people.csv out.csv -c age -c job -c degree --hierarchy job=jobs.csv --order degree=low,mid,high
    """
    declared = CategoryOptions(hierarchy, order, category, other)
    names, before, after, options = read_two_files(original, masked, column or [], text_layout, withheld, declared)
    from mag.measures.assess import utility as measured

    utilities = measured(before, after, **options)
    utilities |= {  # lists have no names
        key: dict(zip(names, figures, strict=True))
        for key, figures in utilities.items()
        if key in BY_COLUMN and isinstance(figures, list)
    }
    if as_json:
        dump({"columns": names} | utilities)
        return
    notes, rows = utilities.pop("notes", []), []
    by_column = {words: utilities.pop(key, {}) for key, words in BY_COLUMN.items()}
    for words, figures in by_column.items():
        rows += [(f"{words} {name}", figure) for name, figure in figures.items()]
    table(["utility", ", ".join(names)], [*utilities.items(), *rows])
    for note in notes:
        say(f"Note: {note}")
