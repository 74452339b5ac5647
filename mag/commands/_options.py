"""Options that several commands share; `_parse` reads their words."""

import functools
import inspect
import operator
import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, get_args

import typer

from mag._lib.errors import InputValueError
from mag._lib.identity import find_files
from mag.api.names import COST_NAMES as COST_NAMES
from mag.api.names import FAMILIES
from mag.api.table_options import COLUMNS_PANEL as COLUMNS_PANEL
from mag.api.table_options import DEFAULTS, GENERALIZE, MASK, OPTIONS, Flag
from mag.api.table_options import GROUPING_PANEL as GROUPING_PANEL
from mag.api.table_options import LEVELS_PANEL as LEVELS_PANEL
from mag.api.table_options import MISSING_PANEL as MISSING_PANEL
from mag.api.table_options import OUTPUT_PANEL as OUTPUT_PANEL
from mag.files import File, Layout
from mag.files import layout_of as layout_of

TEXT_PANEL = "Text files"  # panel
METHODS = {"Default (ona_local; ona_star for many columns; anneal with --time-limit)": ["auto"], **FAMILIES}
EVERY_METHOD = [name for names in METHODS.values() for name in names]
# words that a shell completes, in addition to the choices of options
WORDS_OF_OPTION = {"cost": COST_NAMES, "method": EVERY_METHOD}


class Written:
    """Marks an option that names a file or a folder to write."""


def names_file(parameter: inspect.Parameter) -> bool:
    """Whether an option names a file, as a path or in words with a FILE."""
    kind, *about = get_args(parameter.annotation) or (parameter.annotation,)
    metavars = [getattr(one, "metavar", None) or "" for one in about]
    return pathlib.Path in (kind, *get_args(kind)) or any("FILE" in metavar for metavar in metavars)


def flags_of(command: Callable[..., Any]) -> dict[str, str]:
    """How the command line calls every parameter that is an option: the first of its names."""
    flags = {}
    for name, parameter in inspect.signature(command).parameters.items():
        for about in get_args(parameter.annotation)[1:]:
            if isinstance(first := getattr(about, "default", None), str) and first.startswith("-"):
                flags[name] = first.partition("/")[0]
            elif isinstance(about, typer.models.OptionInfo):
                flags[name] = f"--{name.replace('_', '-')}"
    return flags


def is_written(parameter: inspect.Parameter) -> bool:
    """Whether an option is marked as one that names a file to write."""
    return any(one is Written or isinstance(one, Written) for one in get_args(parameter.annotation))


def read_files(command: Callable[..., Any], values: Mapping[str, Any]) -> list[pathlib.Path]:
    """All files that a command reads: those that its options name and that are not marked `Written`."""
    parameters = inspect.signature(command).parameters.values()
    named = [one.name for one in parameters if names_file(one) and not is_written(one)]
    return list(find_files(*(values[name] for name in named)))


def complete(words: Iterable[str]) -> Callable[[str], list[str]]:
    """Completions that a shell offers for an option: the words that begin with the typed text."""
    offered = list(words)
    return lambda incomplete: [word for word in offered if word.startswith(incomplete)]


def complete_column(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the file named earlier on the command line; an empty list if the file cannot be read."""
    options = [ctx.params.get(name) for name in ("delimiter", "decimal_comma", "encoding")]
    try:  # an option without a value ends the parsing: the arguments before it remain
        names = File(ctx.args[0], layout_of(options[0], bool(options[1]), options[2] or "utf-8", None)).names()
    except Exception:  # a completion must not fail
        return []
    return [name for name in names if name.startswith(incomplete)]


def column_option(help_text: str, *names: str) -> Any:
    return typer.Option(
        *names, help=help_text, metavar="NAME", autocompletion=complete_column, rich_help_panel=COLUMNS_PANEL
    )


def choice_option(help_text: str, words: Iterable[str], panel: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, metavar="NAME", autocompletion=complete(words), rich_help_panel=panel)


def option_names(name: str, flag: Flag) -> Sequence[str]:
    """How the command line calls an option of tables."""
    return flag.names or [f"--{name.replace('_', '-')}"]


def table_option(name: str, command: str = MASK) -> Any:
    """An option of tables as this command shows it."""
    flag = OPTIONS[name].flag_of(command)
    assert flag is not None
    names = option_names(name, flag)
    if flag.panel == COLUMNS_PANEL and flag.metavar is None:
        return column_option(flag.help, *names)
    words = flag.words or WORDS_OF_OPTION.get(name) or OPTIONS[name].choices
    metavar = flag.metavar or ("NAME" if words else None)
    completion = complete(words) if words else None
    text = flag.help.replace("{words}", ", ".join(words))
    return typer.Option(*names, help=text, metavar=metavar, autocompletion=completion, rich_help_panel=flag.panel)


def with_table_options(name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command with the options of tables that it passes on, in place of its parameter `table_options`."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        flags = {option: about.flag_of(name) for option, about in OPTIONS.items()}
        plain = {_parameter(option, flag): option for option, flag in flags.items() if flag and flag.type}

        own = inspect.signature(command).parameters
        added = [_as_parameter(parameter, option, name) for parameter, option in plain.items()]
        defaults = {parameter.name: parameter.default for parameter in added}

        def run(**values: Any) -> None:
            given = defaults | values
            command(
                table_options={option: given.pop(parameter) for parameter, option in plain.items()},
                **given,
            )

        after = [*own].index("out" if "out" in own else "option") + 1
        others = [parameter for parameter in own.values() if parameter.name != "table_options"]
        return _with_signature(run, command, [*others[:after], *added, *others[after:]])

    return decorated


def _parameter(option: str, flag: Flag) -> str:
    """The name of a parameter, as the command line calls it."""
    return flag.names[0].partition("/")[0].strip("-").replace("-", "_") if flag.names else option


def _as_parameter(name: str, option: str, command: str) -> inspect.Parameter:
    flag = OPTIONS[option].flag_of(command)
    assert flag is not None
    annotation = operator.getitem(Annotated, (flag.type, table_option(option, command)))
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[option], annotation=annotation)


def _with_signature(
    run: Callable[..., None], command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """`run` in the place of a command, with these parameters."""
    every = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    functools.update_wrapper(run, command)
    run.__signature__ = inspect.Signature(every, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
    return run


Aggregate = Annotated[list[str] | None, table_option("aggregate")]
By = Annotated[list[str] | None, table_option("by")]
Category = Annotated[
    list[str] | None,
    column_option("A column of categories without hierarchy or order. Repeatable.", "--category"),
]
Column = Annotated[
    list[str] | None,
    column_option("A column to measure (default: all numbers, and declared categories). Repeatable.", "--column", "-c"),
]
ToMask = Annotated[
    list[str],
    column_option(
        "A quasi-identifier to mask: numbers, dates, or categories by --hierarchy, --order or --aggregate NAME=mode.",
        "--column",
        "-c",
    ),
]
Closeness = Annotated[list[str] | None, table_option("closeness")]
Diversity = Annotated[list[str] | None, table_option("diversity")]
Sensitive = Annotated[list[str] | None, table_option("sensitive")]
DecimalComma = Annotated[
    bool,
    typer.Option(
        "--decimal-comma", help="Read 1,5 as a number; cells are then separated by ;.", rich_help_panel=TEXT_PANEL
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(help="The mark between thousands, e.g. . in 12.345,50.", metavar="MARK", rich_help_panel=TEXT_PANEL),
]
Dates = Annotated[
    list[str] | None,
    typer.Option(
        "--date",
        help="Format of a column's dates, e.g. born=%d.%m.%Y. Repeatable.",
        metavar="NAME=FORMAT",
        rich_help_panel=TEXT_PANEL,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="Character between cells (default: comma, tab in .tsv).", metavar="CHAR", rich_help_panel=TEXT_PANEL
    ),
]
Drop = Annotated[list[str] | None, table_option("drop")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Do everything except writing files.", rich_help_panel=OUTPUT_PANEL)
]
Encoding = Annotated[str, typer.Option(help="Character encoding.", metavar="NAME", rich_help_panel=TEXT_PANEL)]
Hierarchies = Annotated[list[str] | None, table_option("hierarchies")]
Importance = Annotated[list[str] | None, table_option("importance")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT_PANEL)
]
Keep = Annotated[list[str] | None, table_option("keep")]
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
Null = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        help="Missing codes of all columns, e.g. NA or -9,-8, or of one, e.g. income=-9,-8. Repeatable.",
        metavar="CODES",
        rich_help_panel=MISSING_PANEL,
    ),
]
Order = Annotated[list[str] | None, table_option("order")]
OrderOfSensitive = Annotated[list[str] | None, table_option("order", GENERALIZE)]
Other = Annotated[str, table_option("other")]
Out = Annotated[
    pathlib.Path | None,
    typer.Option("--out", "-o", help="The file to write.", metavar="OUT", rich_help_panel=OUTPUT_PANEL),
    Written,
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace files that exist; never one that is read.", rich_help_panel=OUTPUT_PANEL),
]
OptionalQuasiIdentifiers = Annotated[
    list[str] | None, column_option("A quasi-identifier. Repeatable.", "--qi", "--column", "-c")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUTPUT_PANEL)]
Report = Annotated[
    pathlib.Path | None,
    typer.Option("--report", help="Write a report, one HTML page.", metavar="FILE", rich_help_panel=OUTPUT_PANEL),
    Written,
]
ExternalReport = Annotated[
    pathlib.Path | None,
    typer.Option(
        "--external-report",
        help="Write a report for others, without any figure that only the original gives.",
        metavar="FILE",
        rich_help_panel=OUTPUT_PANEL,
    ),
    Written,
]
Unit = Annotated[str | None, table_option("unit")]
Household = Annotated[str | None, table_option("household")]
Sets = Annotated[list[str] | None, table_option("sets")]
UnitToCount = Annotated[
    str | None,
    column_option("The column that names the person or household of each record: k counts them.", "--unit"),
]
HouseholdToCount = Annotated[
    str | None,
    column_option("The column that names the household of each record: every class has several.", "--household"),
]
KOfHouseholds = Annotated[int | None, table_option("k_household")]
Rest = Annotated[str, table_option("rest")]
Weights = Annotated[str | None, table_option("weights")]
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


def with_text_layout(command: Callable[..., None], dates: bool = False) -> Callable[..., None]:
    """The command with the options of text files in place of its parameter `text_layout`, and --date if `dates`."""

    def run(
        *,
        delimiter: Delimiter = None,
        decimal_comma: DecimalComma = False,
        thousands: Thousands = None,
        encoding: Encoding = "utf-8",
        null: Null = None,
        date: Dates = None,
        **options: Any,
    ) -> None:
        command(**options, text_layout=layout_of(delimiter, decimal_comma, encoding, null, date, thousands))

    (*own, _), (*text, _) = (inspect.signature(function).parameters.values() for function in (command, run))
    return _with_signature(run, command, [*own, *(one for one in text if dates or one.name != "date")])


with_text_layout_and_dates = functools.partial(with_text_layout, dates=True)


def open_files(
    sources: Sequence[pathlib.Path], text_layout: Layout, targets: Sequence[pathlib.Path] = ()
) -> list[File]:
    """The files to read and to write; reject options of text files if no file is a text file."""
    files = [File(path, text_layout) for path in sources]
    files += [File(path, text_layout, to_write=True) for path in targets]
    usual = Layout()
    options = {
        "delimiter": "--delimiter",
        "decimal_comma": "--decimal-comma",
        "thousands": "--thousands",
        "encoding": "--encoding",
        "date_of": "--date",
    }
    names = [option for name, option in options.items() if getattr(text_layout, name) != getattr(usual, name)]
    if names and not any(file.format.text for file in files):
        raise InputValueError(f"{', '.join(names)}: not used by {files[0].path.suffix} files, only by .csv and .tsv.")
    return files
