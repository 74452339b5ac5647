"""Options that several commands share; `_parse` reads their words."""

import functools
import inspect
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args

import typer

from mag._lib.errors import InputValueError
from mag._lib.identity import find_files
from mag.api.names import COST_NAMES as COST_NAMES
from mag.api.names import FAMILIES
from mag.files import File, Layout

COLUMNS_PANEL, GROUPING_PANEL, MISSING_PANEL, OUTPUT_PANEL, TEXT_PANEL = (
    "Columns",
    "Grouping",
    "Missing values",
    "Output",
    "Text files",
)  # panels
METHODS = {"Default (ona_star; mona for large tables; anneal with --time-limit)": ["auto"], **FAMILIES}
EVERY_METHOD = [name for names in METHODS.values() for name in names]


class Written:
    """Marks an option that names a file or a folder to write."""


def names_file(parameter: inspect.Parameter) -> bool:
    """Whether an option names a file, as a path or in words with a FILE."""
    kind, *about = get_args(parameter.annotation) or (parameter.annotation,)
    metavars = [getattr(one, "metavar", None) or "" for one in about]
    return pathlib.Path in (kind, *get_args(kind)) or any("FILE" in metavar for metavar in metavars)


def is_written(parameter: inspect.Parameter) -> bool:
    """Whether an option is marked as one that names a file to write."""
    return any(one is Written or isinstance(one, Written) for one in get_args(parameter.annotation))


def read_files(command: Callable[..., Any], values: Mapping[str, Any]) -> list[pathlib.Path]:
    """All files that the options of a command name to be read: those that name a file and are not `Written`."""
    parameters = inspect.signature(command).parameters.values()
    named = [one.name for one in parameters if names_file(one) and not is_written(one)]
    return list(find_files(*(values[name] for name in named)))


def complete(words: Iterable[str]) -> Callable[[str], list[str]]:
    """What a shell offers for an option: those of the words that begin as the user has begun."""
    offered = list(words)
    return lambda incomplete: [word for word in offered if word.startswith(incomplete)]


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the file that the command line names before; none where it cannot be read."""
    options = [ctx.params.get(name) for name in ("delimiter", "decimal_comma", "encoding")]
    try:  # an option without a value ends the parsing: what stands before it is left over
        names = File(ctx.args[0], layout(options[0], bool(options[1]), options[2] or "utf-8", None)).names()
    except Exception:  # a completion must not fail
        return []
    return [name for name in names if name.startswith(incomplete)]


def column_option(help_text: str, *names: str) -> Any:
    return typer.Option(
        *names, help=help_text, metavar="NAME", autocompletion=complete_column, rich_help_panel=COLUMNS_PANEL
    )


def choice_option(help_text: str, words: Iterable[str], panel: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, metavar="NAME", autocompletion=complete(words), rich_help_panel=panel)


def other_option(panel: str) -> Any:
    text = "Values without a leaf in their hierarchy: error, or root (published as the most general label)."
    return choice_option(text, ["error", "root"], panel)


AGGREGATES = ["ancestor", "max", "mean", "median", "medoid", "mid_range", "min", "mode", "range"]
Aggregate = Annotated[
    list[str] | None,
    typer.Option(
        "--aggregate",
        help="What replaces a group: max, mean (default), median, mid_range, min or range; of categories ancestor, "
        "medoid or mode. Of one column: NAME=HOW, repeatable.",
        metavar="HOW",
        autocompletion=complete(AGGREGATES),
        rich_help_panel=GROUPING_PANEL,
    ),
]
By = Annotated[
    list[str] | None, column_option("A stratum column: groups never mix its values, which stay. Repeatable.", "--by")
]
Category = Annotated[
    list[str] | None,
    column_option("A column of categories without hierarchy or order. Repeatable.", "--category"),
]
Column = Annotated[
    list[str] | None,
    column_option("A column to look at (default: all numbers, and declared categories). Repeatable.", "--column", "-c"),
]
ToMask = Annotated[
    list[str],
    column_option(
        "A quasi-identifier to mask: numbers, dates, or categories by --hierarchy, --order or --aggregate NAME=mode.",
        "--column",
        "-c",
    ),
]
Closeness = Annotated[
    list[str] | None,
    typer.Option(
        "--closeness",
        help="A sensitive column, and how far its distribution in a class may be from the table's, e.g. income=0.2; "
        "behind a colon the distance of values: ordered, equal, or a hierarchy's file. Repeatable.",
        metavar="NAME=T[:FILE]",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Diversity = Annotated[
    list[str] | None,
    typer.Option(
        "--diversity",
        help="A sensitive column, and how many values every class must hold, e.g. disease=3; or disease=entropy:2.5, "
        "disease=recursive:2,3 (c and l); disease+income=3 counts combined values. Repeatable.",
        metavar="NAME=L",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Sensitive = Annotated[
    list[str] | None,
    column_option("A sensitive column: published as it is, see --diversity, --closeness. Repeatable.", "--sensitive"),
]
DecimalComma = Annotated[
    bool,
    typer.Option(
        "--decimal-comma", help="Read 1,5 as a number; cells are then separated by ;.", rich_help_panel=TEXT_PANEL
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Character between cells (default: comma, tab in .tsv).", metavar="CHAR", rich_help_panel=TEXT_PANEL
    ),
]
Drop = Annotated[list[str] | None, column_option("Do not publish this column. Repeatable.", "--drop")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Do everything except writing files.", rich_help_panel=OUTPUT_PANEL)
]
Encoding = Annotated[str, typer.Option(help="Character encoding.", metavar="NAME", rich_help_panel=TEXT_PANEL)]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        help="A column of categories and its hierarchy, a CSV file in the format of ARX. Repeatable.",
        metavar="NAME=FILE",
        rich_help_panel=GROUPING_PANEL,
    ),
]
Importance = Annotated[
    list[str] | None,
    typer.Option(
        "--importance",
        help="How much the distances of a column count (default: 1). Repeatable.",
        metavar="NAME=NUMBER",
        rich_help_panel=GROUPING_PANEL,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT_PANEL)
]
Keep = Annotated[
    list[str] | None, column_option("Publish this column unchanged: it is not protected. Repeatable.", "--keep")
]
Method = Annotated[
    str,
    choice_option("How to group whole records; see the list below.", EVERY_METHOD, GROUPING_PANEL, "--method", "-m"),
]
Methods = Annotated[
    list[str] | None,
    choice_option(
        "A method to try (default: auto); see the list below. Repeatable.",
        EVERY_METHOD,
        GROUPING_PANEL,
        "--method",
        "-m",
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        help="Method option, e.g. rho=0.5. Repeatable.",
        metavar="NAME=VALUE",
        rich_help_panel=GROUPING_PANEL,
    ),
]
Missing = Annotated[
    str,
    choice_option(
        "Records with missing numbers: error, group (with those that miss the same cells) or drop.",
        ["error", "group", "drop"],
        MISSING_PANEL,
    ),
]
Null = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        help="Missing codes of all columns, e.g. NA or -9,-8, or of one, e.g. income=-9,-8. Repeatable.",
        metavar="CODES",
        rich_help_panel=MISSING_PANEL,
    ),
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="A column of categories and all of them in order, e.g. degree=low,mid,high; one with a comma in quotes. "
        "Repeatable.",
        metavar="NAME=A,B,...",
        rich_help_panel=GROUPING_PANEL,
    ),
]
OrderOfSensitive = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="A sensitive column and its values in order, for --closeness, e.g. degree=low,mid,high. Repeatable.",
        metavar="NAME=A,B,...",
        rich_help_panel=COLUMNS_PANEL,
    ),
]
Other = Annotated[str, other_option(GROUPING_PANEL)]
Out = Annotated[
    pathlib.Path | None,
    typer.Option("--out", "-o", help="The file to write.", metavar="OUT", rich_help_panel=OUTPUT_PANEL),
    Written,
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace files that exist; never one that is read.", rich_help_panel=OUTPUT_PANEL),
]
QuasiIdentifiers = Annotated[list[str], column_option("A quasi-identifier. Repeatable.", "--qi", "--column", "-c")]
OptionalQuasiIdentifiers = Annotated[
    list[str] | None, column_option("A quasi-identifier. Repeatable.", "--qi", "--column", "-c")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUTPUT_PANEL)]
Report = Annotated[
    pathlib.Path | None,
    typer.Option("--report", help="Write a report, one HTML page.", metavar="FILE", rich_help_panel=OUTPUT_PANEL),
    Written,
]
Seed = Annotated[
    int | None,
    typer.Option(help="Seed of methods that draw random numbers, and of --shuffle.", rich_help_panel=GROUPING_PANEL),
]
Shuffle = Annotated[
    bool, typer.Option("--shuffle", help="Publish the records in random order.", rich_help_panel=OUTPUT_PANEL)
]
SmallStrata = Annotated[
    str,
    choice_option(
        "Strata of fewer than k records: error, merge (blanks the --by cells) or suppress (withholds the records).",
        ["error", "merge", "suppress"],
        MISSING_PANEL,
    ),
]
Threads = Annotated[
    int | None, typer.Option(help="Number of threads (default: all CPUs).", rich_help_panel=GROUPING_PANEL)
]
TimeLimit = Annotated[
    float | None,
    typer.Option(help="Seconds to search for better groups.", rich_help_panel=GROUPING_PANEL),
]
Weights = Annotated[str | None, column_option("A column of weights.", "--weights")]
Withheld = Annotated[
    pathlib.Path | None,
    typer.Option(
        "--withheld",
        help="Write the numbers of the withheld records of IN; keep it with IN.",
        metavar="FILE",
        rich_help_panel=OUTPUT_PANEL,
    ),
    Written,
]
WithheldRecords = Annotated[
    pathlib.Path | None,
    typer.Option(
        "--withheld", help="The file that mag mask --withheld wrote.", metavar="FILE", rich_help_panel=COLUMNS_PANEL
    ),
]

Masked = Annotated[pathlib.Path, typer.Argument(metavar="MASKED", help="The file after masking.")]
Original = Annotated[pathlib.Path, typer.Argument(metavar="ORIGINAL", help="The file before masking.")]


def layout(delimiter: str | None, decimal_comma: bool, encoding: str, null: list[str] | None) -> Layout:
    """The options of text files, where a tab may be written \\t, and codes for missing numbers."""
    general: list[str] = []
    special: dict[str, tuple[str, ...]] = {}
    for word in null or ():
        name, equals, codes = word.rpartition("=")
        if equals and not (name and codes):
            raise InputValueError(f"--null must be CODES or NAME=CODES; got {word!r}.")
        if equals:
            special[name] = (*special.get(name, ()), *codes.split(","))
        else:
            general += codes.split(",")
    return Layout("\t" if delimiter == "\\t" else delimiter, decimal_comma, encoding, tuple(general), special)


def with_text_layout(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of text files in place of its last parameter, `text_layout`."""

    def run(
        *,
        delimiter: Delimiter = None,
        decimal_comma: DecimalComma = False,
        encoding: Encoding = "utf-8",
        null: Null = None,
        **options: Any,
    ) -> None:
        command(**options, text_layout=layout(delimiter, decimal_comma, encoding, null))

    (*own, _), (*text, _) = (inspect.signature(function).parameters.values() for function in (command, run))
    every = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *text)]
    functools.update_wrapper(run, command)
    run.__signature__ = inspect.Signature(every, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return run


def open_files(
    sources: Sequence[pathlib.Path], text_layout: Layout, targets: Sequence[pathlib.Path] = ()
) -> list[File]:
    """The files to read and to write; options of text files without a text file are a mistake."""
    files = [File(path, text_layout) for path in sources]
    files += [File(path, text_layout, to_write=True) for path in targets]
    usual = Layout()
    names = [
        f"--{name.replace('_', '-')}"
        for name in ("delimiter", "decimal_comma", "encoding")
        if getattr(text_layout, name) != getattr(usual, name)
    ]
    if names and not any(file.format.text for file in files):
        raise InputValueError(f"{', '.join(names)}: not used by {files[0].path.suffix} files, only by .csv and .tsv.")
    return files
