"""`mag dp`."""

import inspect
import pathlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.atomic import MANIFEST, reserving
from mag._lib.errors import InputValueError
from mag._lib.roles import Sentences, assign_roles
from mag.commands._options import (
    COLUMNS_PANEL,
    Delimiter,
    DryRun,
    Encoding,
    Json,
    Out,
    Overwrite,
    Quiet,
    choice_option,
    column_option,
    layout_of,
    open_files,
    read_files,
)
from mag.commands._output import dump, say, warn

if TYPE_CHECKING:
    from mag.dp import Budget, Categories, Domain, Levels, Numbers

MECHANISMS = ["histogram", "means", "mondrian", "sample"]
PRICE, HOW = "Price", "Mechanism"  # panels
ROLE_SENTENCES = Sentences(
    unassigned="{table} has columns without a role: {names}; pass --numbers, --categories or --levels for each column "
    "to publish, and --drop NAME for each other.",
)
NOT_OPTIONS = {  # of the command itself
    "mechanism", "source", "out", "numbers", "categories", "levels", "ledger", "ledger_epsilon", "ledger_delta",
    "overwrite", "dry_run", "as_json", "quiet", "delimiter", "encoding", "sources",
}  # fmt: skip


def _domain(help_text: str, metavar: str) -> Any:
    return typer.Option(help=f"{help_text} Repeatable.", metavar=metavar, rich_help_panel=COLUMNS_PANEL)


def _how(help_text: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=HOW)


def _price(help_text: str, *names: str) -> Any:
    return typer.Option(*names, help=help_text, rich_help_panel=PRICE)


def dp(
    mechanism: Annotated[
        str, typer.Argument(metavar="MECHANISM", help=f"One of {', '.join(MECHANISMS)}.", autocompletion=None)
    ],
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to read.")],
    epsilon: Annotated[float, _price("ε: the privacy loss that may be spent.")],
    out: Out = None,
    numbers: Annotated[
        list[str] | None, _domain("A column of numbers with public bounds and steps.", "NAME=LOW:HIGH:STEP")
    ] = None,
    categories: Annotated[
        list[str] | None, _domain("A column of categories; all others are 'other'.", "NAME=A,B,C")
    ] = None,
    levels: Annotated[
        list[str] | None,
        _domain("A column at a level of a hierarchy, a file of ARX; 0 is the value itself.", "NAME=FILE:LEVEL"),
    ] = None,
    drop: Annotated[list[str] | None, column_option("A column not to publish. Repeatable.", "--drop")] = None,
    person: Annotated[
        str | None, column_option("A column that identifies a person; not published.", "--person")
    ] = None,
    contributions: Annotated[int | None, _how("The most records of one person (default: 1).")] = None,
    delta: Annotated[float | None, _price("δ of sample; of histogram: count only cells that occur.")] = None,
    beta: Annotated[float | None, _how("Of sample: the probability of a record (default: 1 - e^-ε).")] = None,
    k: Annotated[int | None, _how("The smallest number of records of a cell, a group or a box.", "-k")] = None,
    n: Annotated[int | None, _how("Of means: the number of records, which counts as public.", "-n")] = None,
    depth: Annotated[int | None, _how("Of mondrian: how often boxes are cut (default: 6).")] = None,
    order: Annotated[
        str | None, choice_option("Of mondrian: cycle (default) or spread.", ["cycle", "spread"], HOW)
    ] = None,
    stop: Annotated[bool | None, _how("mondrian: do not split boxes of fewer than about 2k records.", "--stop")] = None,
    centroids: Annotated[bool | None, _how("Of mondrian: means, or boxes.", "--means/--boxes")] = None,
    draw: Annotated[bool | None, _how("Of mondrian: publish a sample in the boxes.", "--draw")] = None,
    neighbors: Annotated[
        str | None,
        choice_option("Of histogram: add_remove (default) or replace.", ["add_remove", "replace"], PRICE),
    ] = None,
    total: Annotated[int | None, _how("Of histogram: a public number of records to scale to.")] = None,
    records: Annotated[bool | None, _how("A row for each record, or for each cell.", "--records/--counts")] = None,
    ledger: Annotated[
        pathlib.Path | None,
        typer.Option(help="The ledger of a budget to charge.", metavar="FILE", rich_help_panel=PRICE),
    ] = None,
    ledger_epsilon: Annotated[float | None, _price("The total ε of a new ledger.")] = None,
    ledger_delta: Annotated[float | None, _price("The total δ of a new ledger (default: 0).")] = None,
    overwrite: Overwrite = False,
    dry_run: DryRun = False,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Publish a table that hardly changes when one person is added or left out: differential privacy.

    Bounds, categories and options count as public: do not take them from the data.  Values outside the bounds are
    clamped without notice.  A dry run also consumes budget.

    Examples:
    mag dp sample people.csv -o out.csv --epsilon 1 --delta 1e-6 --numbers age=0:120:10 --drop name
    mag dp histogram people.csv -o out.csv --epsilon 1 --categories region=north,south --drop name
    mag dp mondrian people.csv -o out.csv --epsilon 2 --numbers age=0:120:1 --depth 5 --drop name
    mag dp means people.csv -o out.csv --epsilon 1 --numbers income=0:200000:100 -k 50 -n 6010 --drop name
    """
    sources = read_files(dp, locals())
    passed = {name: value for name, value in locals().items() if name not in NOT_OPTIONS and value is not None}
    if mechanism not in MECHANISMS:
        raise InputValueError(f"MECHANISM must be one of {', '.join(MECHANISMS)}; got {mechanism!r}.")
    if out is None and not dry_run:
        raise InputValueError("--out must name the file to write, unless --dry-run is passed.")
    targets = [] if out is None else [out, out.with_name(out.name + MANIFEST)]
    [read, *_] = open_files([source], layout_of(delimiter, False, encoding, None), [] if out is None else [out])

    from mag import dp as private

    function = private.MECHANISMS[mechanism]
    unused = [name for name in passed if name not in inspect.signature(function).parameters]
    if unused:
        raise InputValueError(f"--{unused[0].replace('_', '-')} is not used by mag dp {mechanism}; leave it out.")
    with reserving(*targets, sources=sources, overwrite=overwrite, dry_run=dry_run) as reserved:
        domains = _domains(numbers or [], categories or [], levels or [])
        names = [*domains, *([] if person is None else [person])]
        read.check_names([*names, *(drop or [])])
        assign_roles({"columns": names, "--drop": drop or []}, read.names(), repr(source.name), ROLE_SENTENCES)
        passed |= {"drop": None, "budget": _budget(ledger, ledger_epsilon, ledger_delta)}
        if mechanism == "means":
            if len(domains) != 1:
                raise InputValueError(f"mag dp means takes one column of --numbers; got {len(domains)}.")
            [(passed["column"], passed["domain"])] = domains.items()
            for name in ("k", "n"):
                if name not in passed:
                    raise InputValueError(f"-{name} must be passed to mag dp means.")
        else:
            passed["columns"] = domains
        frame, _ = read.read([], names)  # as text, where the format is text: no cell can be refused
        release = function(frame, **passed)
        if out is not None and not dry_run:
            with reserved.drafts() as drafts:
                release.write_drafts(out.name, drafts)
    if as_json:
        dump(release.manifest())
    elif not quiet:
        say(release.guarantee)
        for warning in release.warnings:
            warn(warning)
        say("Nothing was written." if dry_run else f"Written: {', '.join(map(str, targets))}")


def _domains(numbers: Sequence[str], categories: Sequence[str], levels: Sequence[str]) -> "dict[str, Domain]":
    words: list[tuple[str, Callable[[str], Domain]]] = [
        *((word, _numbers) for word in numbers),
        *((word, _categories) for word in categories),
        *((word, _levels) for word in levels),
    ]
    domains: dict[str, Domain] = {}
    for word, make in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text:
            raise InputValueError(f"a domain must be NAME=..., as age=0:120:10; got {word!r}.")
        if name in domains:
            raise InputValueError(f"a column must have one domain; {name!r} has two.")
        domains[name] = make(text)
    return domains


def _numbers(text: str) -> "Numbers":
    from fractions import Fraction

    from mag.dp import Numbers

    try:
        low, high, step = map(Fraction, text.split(":"))
    except (ValueError, ZeroDivisionError):
        raise InputValueError(f"--numbers must be NAME=LOW:HIGH:STEP; got {text!r}.") from None
    return Numbers(low, high, step)


def _categories(text: str) -> "Categories":
    from mag.dp import Categories

    return Categories(text.split(","))


def _levels(text: str) -> "Levels":
    from mag.dp import Levels

    path, colon, level = text.rpartition(":")
    if not colon or not level.isdecimal():
        raise InputValueError(f"--levels must be NAME=FILE:LEVEL; got {text!r}.")
    return Levels(path, int(level))


def _budget(ledger: pathlib.Path | None, epsilon: float | None, delta: float | None) -> "Budget | None":
    from mag.dp import Budget

    if ledger is None:
        if epsilon is not None or delta is not None:
            raise InputValueError("--ledger-epsilon and --ledger-delta are for a new ledger; pass --ledger FILE, too.")
        return None
    if epsilon is not None:
        return Budget(epsilon, 0 if delta is None else delta, ledger)
    try:
        return Budget.load(ledger)
    except FileNotFoundError:
        sentence = f"{ledger.name!r} is a new ledger: pass --ledger-epsilon, the most that may ever be spent."
        raise InputValueError(sentence) from None
