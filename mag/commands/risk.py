"""`mag risk`."""

import pathlib
from typing import Annotated, Any

import typer

from mag._lib.errors import InputValueError
from mag.commands import _options as opt
from mag.commands._output import dump, say, table
from mag.commands._pair import CategoryOptions, read_two_files
from mag.commands._table import read_weights
from mag.files import File, Layout, columns_of

SMALL_CLASS_SIZES = (3, 5)  # class sizes below which records are counted, unless -k says otherwise


@opt.with_text_layout
def risk(
    original: Annotated[pathlib.Path, typer.Argument(metavar="FILE", help="The file, before masking.")],
    masked: Annotated[
        pathlib.Path | None, typer.Argument(metavar="MASKED", help="The file after masking, to compare with.")
    ] = None,
    qi: opt.OptionalQuasiIdentifiers = None,
    weights: opt.Weights = None,
    hierarchy: opt.Hierarchies = None,
    order: opt.Order = None,
    category: opt.Category = None,
    other: opt.Other = "error",
    withheld: opt.WithheldRecords = None,
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="Also count records in classes smaller than k.", metavar="K")
    ] = None,
    as_json: opt.Json = False,
    *,
    text_layout: Layout,
) -> None:
    """Measure disclosure risk: of one file by itself, or of a masked file compared with its original.

    One file: classes of records with equal quasi-identifiers, of any type, and the expected number of re-identified
    records; with --weights, sampling weights, in the population.

    Two files: record linkage and interval disclosure of numeric columns (default: all in common), and linkage of
    columns that --hierarchy, --order or --category declare as categories.  Row i of both must be the same record.
    Records with missing cells are left out.

    Examples:
    mag risk people.csv --qi region --qi age --qi income
    mag risk people.csv --qi region --qi age --weights weight -k 5
    mag risk people.csv out.csv --qi age --qi income
    mag risk people.csv out.csv --qi age --qi job --hierarchy job=jobs.csv
    """
    if masked is None:
        if not qi:
            raise InputValueError("--qi must name the quasi-identifiers of one file; got none.")
        if withheld is not None:
            raise InputValueError("--withheld is used with two files only; leave it out.")
        if hierarchy or order or category or other != "error":
            raise InputValueError("--hierarchy, --order and --category are used with two files only; leave them out.")
        [file] = opt.open_files([original], text_layout)
        names = list(dict.fromkeys(qi))
        risks = _classes(file, names, weights, k)
    else:
        if weights is not None:
            raise InputValueError("--weights is used with one file only; leave it out.")
        declared = CategoryOptions(hierarchy, order, category, other)
        names, before, after, options = read_two_files(original, masked, qi or [], text_layout, withheld, declared)
        from mag.measures.assess import risk as measured

        risks = measured(before, after, k=k, **options)
    if as_json:
        dump({"columns": names} | risks)
        return
    notes = risks.pop("notes", [])
    table(["risk", ", ".join(names)], list(risks.items()))
    for note in notes:
        say(f"Note: {note}")


def _classes(file: File, qi: list[str], weights: str | None, k: int | None) -> dict[str, Any]:
    """The classes of equal records, and what an intruder makes of them."""
    from mag.privacy import class_sizes, reidentification_risk

    frame = columns_of(file.read([], qi)[0], qi)
    if not frame.height:
        raise InputValueError(f"{file.path.name!r} has no records.")
    sizes = class_sizes(frame)
    risks = {
        "records": frame.height,
        "classes": round(float((1 / sizes).sum())),
        "k_anonymity": int(sizes.min()),
        "uniques": int((sizes == 1).sum()),
    }
    risks |= {f"below_{least}": int((sizes < least).sum()) for least in ([k] if k else SMALL_CLASS_SIZES)}
    each = reidentification_risk(frame, None if weights is None else read_weights(file, weights))
    return risks | {
        "expected_reidentifications": float(each.sum()),
        "mean_reidentification_risk": float(each.mean()),
        "largest_reidentification_risk": float(each.max()),
    }
