"""Options that several commands share, and how their words are read."""

import csv
import functools
import inspect
import pathlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, Any

import typer

from mag._lib.errors import Mistake, ValueMistake
from mag.files import File, Layout

COLUMNS, GROUPING, MISSING, OUTPUT, TEXT = "Columns", "Grouping", "Missing values", "Output", "Text files"  # panels
METHODS = {  # by family; in words, so that help and completion need not load them
    "Default (ona_star; mona for large tables; anneal with --time-limit)": ["auto"],
    "Smallest loss": ["ona_star", "ona_star_gamma", "ona", "lmas", "anneal", "matching"],
    "Maximum distance": ["mdav", "mdav_plus", "mdav_star", "mdav_star_gamma", "md", "v_mdav"],
    "Large tables": ["mona", "mona_2d", "mondrian", "mondrian_v", "mondrian_v2d"],
    "Along one order": ["projection", "zscore", "npn", "tsp", "mdav_order", "cbfs_order"],
    "Others": ["dba", "kmeans_cleanup", "mst", "mu_approx", "nearest_neighbor", "pcl", "sbm", "tfrp"],
}
EVERY_METHOD = [name for names in METHODS.values() for name in names]
COSTS = ["sse", "sae", "maxdist", "roundup", "rounddown", "sse_int"]


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
    return typer.Option(*names, help=help_text, metavar="NAME", autocompletion=complete_column, rich_help_panel=COLUMNS)


def choice_option(help_text: str, words: Iterable[str], panel: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, metavar="NAME", autocompletion=complete(words), rich_help_panel=panel)


AGGREGATES = ["ancestor", "max", "mean", "median", "medoid", "mid_range", "min", "mode", "range"]
OF_CATEGORIES = ("ancestor", "medoid", "mode")  # what replaces groups of categories, and of nothing else
Aggregate = Annotated[
    list[str] | None,
    typer.Option(
        "--aggregate",
        help="What replaces a group: max, mean (default), median, mid_range, min or range; of categories ancestor, "
        "medoid or mode. Of one column: NAME=HOW, repeatable.",
        metavar="HOW",
        autocompletion=complete(AGGREGATES),
        rich_help_panel=GROUPING,
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
        metavar="NAME=T",
        rich_help_panel=COLUMNS,
    ),
]
Diversity = Annotated[
    list[str] | None,
    typer.Option(
        "--diversity",
        help="A sensitive column, and how many values every class must hold, e.g. disease=3; or disease=entropy:2.5, "
        "disease=recursive:2,3 (c and l). Repeatable.",
        metavar="NAME=L",
        rich_help_panel=COLUMNS,
    ),
]
Sensitive = Annotated[
    list[str] | None,
    column_option("A sensitive column: published as it is, see --diversity, --closeness. Repeatable.", "--sensitive"),
]
DecimalComma = Annotated[
    bool,
    typer.Option("--decimal-comma", help="Read 1,5 as a number; cells are then separated by ;.", rich_help_panel=TEXT),
]
Delimiter = Annotated[
    str | None,
    typer.Option(help="Character between cells (default: comma, tab in .tsv).", metavar="CHAR", rich_help_panel=TEXT),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Do everything except writing files.", rich_help_panel=OUTPUT)]
Encoding = Annotated[str, typer.Option(help="Character encoding.", metavar="NAME", rich_help_panel=TEXT)]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        help="A column of categories and its hierarchy, a file of ARX: they become more general together. Repeatable.",
        metavar="NAME=FILE",
        rich_help_panel=GROUPING,
    ),
]
Importance = Annotated[
    list[str] | None,
    typer.Option(
        "--importance",
        help="How much the distances of a column count (default: 1). Repeatable.",
        metavar="NAME=NUMBER",
        rich_help_panel=GROUPING,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.", rich_help_panel=OUTPUT)]
Method = Annotated[
    str, choice_option("How to group whole records; see the list below.", EVERY_METHOD, GROUPING, "--method", "-m")
]
Methods = Annotated[
    list[str] | None,
    choice_option(
        "A method to try (default: auto); see the list below. Repeatable.", EVERY_METHOD, GROUPING, "--method", "-m"
    ),
]
MethodOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option", help="Method option, e.g. rho=0.5. Repeatable.", metavar="NAME=VALUE", rich_help_panel=GROUPING
    ),
]
Missing = Annotated[
    str,
    choice_option(
        "Records with missing numbers: error, group (with those that miss the same cells) or drop.",
        ["error", "group", "drop"],
        MISSING,
    ),
]
Null = Annotated[
    list[str] | None,
    typer.Option(
        "--null",
        help="Missing codes of all columns, e.g. NA or -9,-8, or of one, e.g. income=-9,-8. Repeatable.",
        metavar="CODES",
        rich_help_panel=MISSING,
    ),
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="A column of categories and all of them in order, e.g. degree=low,mid,high; one with a comma in quotes. "
        "Repeatable.",
        metavar="NAME=A,B,...",
        rich_help_panel=GROUPING,
    ),
]
Other = Annotated[
    str,
    choice_option(
        "Values without a leaf in their hierarchy: error, or root (published as the most general label).",
        ["error", "root"],
        GROUPING,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace files that exist; never the input.", rich_help_panel=OUTPUT)
]
QuasiIdentifiers = Annotated[list[str], column_option("A quasi-identifier. Repeatable.", "--qi", "--column", "-c")]
OptionalQuasiIdentifiers = Annotated[
    list[str] | None, column_option("A quasi-identifier. Repeatable.", "--qi", "--column", "-c")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.", rich_help_panel=OUTPUT)]
Seed = Annotated[
    int | None,
    typer.Option(help="Seed of methods that draw random numbers, and of --shuffle.", rich_help_panel=GROUPING),
]
SmallStrata = Annotated[
    str,
    choice_option(
        "Strata of fewer than k records: error, merge (blanks the --by cells) or suppress (withholds the records).",
        ["error", "merge", "suppress"],
        MISSING,
    ),
]
Threads = Annotated[int | None, typer.Option(help="Number of threads (default: all CPUs).", rich_help_panel=GROUPING)]
TimeLimit = Annotated[
    float | None,
    typer.Option(help="Seconds to search for better groups.", rich_help_panel=GROUPING),
]
Weights = Annotated[str | None, column_option("A column of weights.", "--weights")]

WithheldRecords = Annotated[
    pathlib.Path | None,
    typer.Option(
        "--withheld", help="The file that mag mask --withheld wrote.", metavar="FILE", rich_help_panel=COLUMNS
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
            raise ValueMistake(f"--null must be CODES or NAME=CODES; got {word!r}.")
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
        raise ValueMistake(f"{', '.join(names)}: not used by {files[0].path.suffix} files, only by .csv and .tsv.")
    return files


def parse_integers(option: str, words: Sequence[str]) -> Any:
    """One integer, or NAME=INTEGER for every column."""
    pairs = [word.rpartition("=") for word in words]
    try:
        if len(pairs) == 1 and not pairs[0][1]:
            return int(words[0])
        if all(equals for _, equals, _ in pairs):
            numbers: dict[str, int] = {}
            for name, _, number in pairs:
                _check_once(option, name, numbers)
                numbers[name] = int(number)
            return numbers
    except Mistake:
        raise
    except ValueError:
        pass
    raise ValueMistake(
        f"{option} must be one integer, or NAME=INTEGER for each column; got {', '.join(map(repr, words))}."
    )


def parse_pairs(option: str, form: str, words: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """What NAME=… says of every column that is named; a name may hold =."""
    pairs: dict[str, str] = {}
    for word in words:
        names = [name for name in columns if word.startswith(f"{name}=")]
        if not names:
            raise ValueMistake(f"{option} must be {form}, of a column of -c; got {word!r}.")
        name = max(names, key=len)
        _check_once(option, name, pairs)
        pairs[name] = word[len(name) + 1 :]
    return pairs


def _check_once(option: str, name: str, known: Collection[str]) -> None:
    if name in known:
        raise ValueMistake(f"{option} must name a column once; {name!r} is named twice.")


def parse_aggregates(words: Sequence[str], columns: Sequence[str]) -> Any:
    """One for all columns, or NAME=HOW for some."""
    if not words:
        return None
    if len(words) == 1 and "=" not in words[0]:
        return dict.fromkeys(columns, words[0]) if words[0] in OF_CATEGORIES else words[0]
    return parse_pairs("--aggregate", "one of them for all columns, or NAME=HOW", words, columns)


def parse_hierarchies(words: Sequence[str], columns: Sequence[str], other: str = "error") -> dict[str, Any]:
    """The hierarchy of every column that has one, NAME=FILE; read before anything long begins."""
    from mag._lib.checks import one_of
    from mag.hierarchy import Hierarchy

    paths = parse_pairs("--hierarchy", "NAME=FILE", words, columns)
    if one_of("--other", other, ["error", "root"]) == "error":
        return {name: Hierarchy.read(path) for name, path in paths.items()}
    if not paths:
        raise ValueMistake(f"--other is not used without --hierarchy; got {other!r}.")
    return {name: Hierarchy.read(path).with_other() for name, path in paths.items()}


def parse_orders(words: Sequence[str], columns: Sequence[str]) -> dict[str, list[str]]:
    """The categories of every column that has an order, NAME=A,B,…; one with a comma stands in quotes."""
    orders = {}
    for name, listed in parse_pairs("--order", "NAME=A,B,...", words, columns).items():
        [orders[name]] = csv.reader([listed], skipinitialspace=True)
        if "" in orders[name] or len(set(orders[name])) < len(orders[name]):
            raise ValueMistake(f"--order must list different categories; got {name}={listed}.")
    return orders


def parse_importance(words: Sequence[str], columns: Sequence[str]) -> dict[str, float]:
    """A factor for every column that has one, NAME=NUMBER."""
    factors = {}
    for name, number in parse_pairs("--importance", "NAME=NUMBER", words, columns).items():
        try:
            factors[name] = float(number)
        except ValueError:
            raise ValueMistake(f"--importance must be NAME=NUMBER, of a column of -c; got '{name}={number}'.") from None
    return factors


def parse_categories(
    columns: Sequence[str],
    aggregate: Sequence[str] | None,
    hierarchy: Sequence[str] | None,
    order: Sequence[str] | None,
    importance: Sequence[str] | None,
    other: str,
) -> tuple[list[str], dict[str, Any]]:
    """Which columns are categories, and what the options say of columns, as `mag.microaggregate` takes it."""
    options = {
        "aggregate": parse_aggregates(aggregate or [], columns),
        "hierarchies": parse_hierarchies(hierarchy or [], columns, other) or None,
        "order": parse_orders(order or [], columns) or None,
        "importance": parse_importance(importance or [], columns) or None,
    }
    how = options["aggregate"]
    hows = how if isinstance(how, dict) else dict.fromkeys(columns, how)
    known = {*(options["hierarchies"] or ()), *(options["order"] or ())}
    return [name for name in columns if name in known or hows.get(name) in OF_CATEGORIES], options


def parse_diversity(words: Sequence[str]) -> dict[str, Any]:
    """What is demanded of every sensitive column: L, entropy:L or recursive:C,L."""
    wishes: dict[str, Any] = {}
    for word in words:
        name, equals, wish = word.rpartition("=")
        kind, colon, rest = wish.rpartition(":")
        numbers = [_value(part) for part in rest.split(",")]
        if not (name and equals) or any(isinstance(number, (str, bool)) for number in numbers):
            raise ValueMistake(f"--diversity must be NAME=L, NAME=entropy:L or NAME=recursive:C,L; got {word!r}.")
        _check_once("--diversity", name, wishes)
        wishes[name] = (kind, *numbers) if colon else numbers[0]
    return wishes


def parse_closeness(words: Sequence[str]) -> dict[str, Any]:
    """How close every sensitive column must be: T, T:ordered, T:equal or T:FILE."""
    wishes: dict[str, Any] = {}
    for word in words:
        name, equals, wish = word.rpartition("=")
        number, colon, ground = wish.partition(":")
        t = _value(number)
        if not (name and equals) or isinstance(t, (str, bool)) or (colon and not ground):
            raise ValueMistake(f"--closeness must be NAME=T, or NAME=T:ordered, :equal or :FILE; got {word!r}.")
        _check_once("--closeness", name, wishes)
        from mag.criteria import Closeness

        if not colon:
            wishes[name] = t
        elif ground in ("equal", "ordered"):
            wishes[name] = Closeness(t, ground)
        else:
            wishes[name] = Closeness(t, hierarchy=ground)
    return wishes


def numbers_among(file: File, closeness: dict[str, Any]) -> list[str]:
    """Sensitive columns that are computed with as numbers: those whose order closeness may follow."""
    follow = [name for name, wish in closeness.items() if getattr(wish, "ground", "auto") in ("auto", "ordered")]
    follow = [name for name in follow if getattr(closeness[name], "hierarchy", None) is None]
    file.check_names(list(closeness))
    return [name for name in file.numeric() if name in follow] if follow else []


def parse_method_options(words: Sequence[str]) -> dict[str, Any]:
    """Options of a method, NAME=VALUE; those that all methods share have names of their own on the command line."""
    options = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name.isidentifier():
            raise ValueMistake(f"--option must be NAME=VALUE; got {word!r}.")
        options[name] = _value(value)
    if not options:
        return {}
    from mag.table import microaggregate

    shared = [name for name in options if name in inspect.signature(microaggregate).parameters]
    if shared:
        raise ValueMistake(f"--option is for options of the method; got {', '.join(shared)}, see --help.")
    return options


def _value(word: str) -> Any:
    """True and false, integers, numbers, words."""
    if word in ("true", "false"):
        return word == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
