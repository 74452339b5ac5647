"""`mag mask`."""

import json
import os
import pathlib
import secrets
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mag._lib.atomic import MANIFEST, SECRET, check_target, digest, writing
from mag._lib.errors import ValueMistake
from mag._lib.roles import Sentences, assign_roles
from mag.commands import _options as opt
from mag.commands._codes import note_codes
from mag.commands._output import bar, dump, say
from mag.commands._table import read_table, read_weights, write_withheld
from mag.files import FORMATS, File, Layout, columns_of, smallest

if TYPE_CHECKING:
    from mag.table import FileRelease, Guarantee, Release


@opt.with_text_layout
def mask(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to mask.")],
    column: opt.ToMask,
    k: Annotated[
        list[str],
        typer.Option(
            "-k",
            help="Smallest group size; with --scope per-column also NAME=K. Repeatable.",
            metavar="K",
            rich_help_panel=opt.GROUPING,
        ),
    ],
    out: Annotated[
        pathlib.Path | None,
        typer.Option("--out", "-o", help="The file to write.", metavar="OUT", rich_help_panel=opt.OUTPUT),
    ] = None,
    by: opt.By = None,
    keep: Annotated[
        list[str] | None, opt.column_option("Publish this column unchanged: it is not protected. Repeatable.", "--keep")
    ] = None,
    sensitive: opt.Sensitive = None,
    diversity: opt.Diversity = None,
    closeness: opt.Closeness = None,
    drop: Annotated[list[str] | None, opt.column_option("Do not publish this column. Repeatable.", "--drop")] = None,
    scope: Annotated[
        str,
        opt.choice_option(
            "joint: whole records are equal; per-column: each column alone, a weaker guarantee.",
            ["joint", "per-column"],
            opt.GROUPING,
        ),
    ] = "joint",
    method: opt.Method = "auto",
    option: opt.MethodOption = None,
    cost: Annotated[
        str | None,
        opt.choice_option(f"Cost minimized with --scope per-column: {', '.join(opt.COSTS)}.", opt.COSTS, opt.GROUPING),
    ] = None,
    aggregate: opt.Aggregate = None,
    hierarchy: opt.Hierarchies = None,
    order: opt.Order = None,
    importance: opt.Importance = None,
    other: opt.Other = "error",
    standardize: Annotated[
        bool | None,
        typer.Option(
            "--standardize/--no-standardize",
            help="Divide columns by their standard deviations before distances are computed (default: yes).",
            rich_help_panel=opt.GROUPING,
        ),
    ] = None,
    weights: opt.Weights = None,
    missing: opt.Missing = "error",
    small_strata: opt.SmallStrata = "error",
    decimals: Annotated[
        list[str] | None,
        typer.Option(
            "--round",
            help="Number of decimals, or NAME=DECIMALS. Repeatable.",
            metavar="DECIMALS",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Publish the records in random order.", rich_help_panel=opt.OUTPUT)
    ] = False,
    seed: opt.Seed = None,
    threads: opt.Threads = None,
    time_limit: opt.TimeLimit = None,
    report: Annotated[
        pathlib.Path | None,
        typer.Option(help="Write a report, one HTML page.", metavar="FILE", rich_help_panel=opt.OUTPUT),
    ] = None,
    prove_input: Annotated[
        bool,
        typer.Option(
            "--prove-input",
            help=f"Put a salted hash of IN into the manifest and the salt into OUT{SECRET}.",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = False,
    withheld: Annotated[
        pathlib.Path | None,
        typer.Option(
            help="Write the numbers of the withheld records of IN; keep it with IN.",
            metavar="FILE",
            rich_help_panel=opt.OUTPUT,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="From Parquet to Parquet, jointly: group in parts, so that data take no more than this at once.",
            metavar="SIZE",
            rich_help_panel=opt.GROUPING,
        ),
    ] = None,
    overwrite: opt.Overwrite = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    *,
    text_layout: Layout,
) -> None:
    """Mask a file so that every record equals at least k-1 others, and verify that on the written file.

    Every column of IN needs a role: -c, --by, --keep, --sensitive or --drop; columns of --diversity and --closeness are
    sensitive.  A manifest beside OUT records options, versions, the hash of OUT and what was counted on it.

    Examples:
    mag mask people.csv -o out.csv -k 5 -c age -c income --by region --keep answer --drop name
    mag mask survey.sav -o out.csv -k 3 -c income --null income=-9,-8 --missing group --small-strata suppress
    mag mask people.csv -o out.csv -k 5 -c age -c job -c degree --hierarchy job=jobs.csv --order degree=low,mid,high
    mag mask people.csv -o out.csv -k 5 -c age --diversity disease=3 --closeness income=0.2 --drop name
    mag mask wide.parquet -o out.parquet -k 10 -c x1 -c x2 --scope per-column --report report.html
    mag mask long.parquet -o out.parquet -k 5 -c age -c income --drop name --memory 2GB
    """
    if out is None and not dry_run:
        raise ValueMistake("--out must name the file to write, unless --dry-run is passed.")
    read, *written = opt.open_files([source], text_layout, [] if out is None else [out])
    targets = _targets(out, {"report": report, "withheld": withheld}, prove_input, source, overwrite)
    roles = {"-c": column, "--by": by or [], "--keep": keep or [], "--drop": drop or []}
    diverse, close = opt.parse_diversity(diversity or []), opt.parse_closeness(closeness or [])
    roles["--keep"] = [name for name in keep or [] if name not in {**diverse, **close} or name in (sensitive or [])]
    if hidden := list(dict.fromkeys([*(sensitive or []), *diverse, *close])):
        roles["--sensitive"] = hidden
    _check_roles(read, roles)
    ranked = opt.numbers_among(read, close)
    options: dict[str, Any] = {
        "by": by or None, "keep": roles["--keep"], "scope": scope, "method": method, "cost": cost,
        "standardize": standardize, "missing": missing, "small_strata": small_strata,
        "shuffle": shuffle, "random_state": seed,
        "threads": threads, "time_limit": time_limit,
        "round": opt.parse_integers("--round", decimals) if decimals else None,
        "sensitive": hidden, "diversity": diverse or None, "closeness": close or None,
    }  # fmt: skip
    categories, by_column = opt.parse_categories(column, aggregate, hierarchy, order, importance, other)
    numbers = [name for name in column if name not in categories]
    options |= by_column | {"other": other} | opt.parse_method_options(option or [])
    if weights is not None and weights not in [*roles["--keep"], *roles["--drop"]]:
        raise ValueMistake(f"--weights must name a column of --keep or --drop; got {weights!r}.")
    untouched = [*roles["--by"], *roles["--keep"], *(name for name in hidden if name not in ranked)]
    group_size, before = opt.parse_integers("-k", k), _stamp(source)
    in_memory = dry_run or report or withheld or prove_input or text_layout.has_codes
    if memory is not None and (in_memory or scope != "joint" or not _all_parquet([read, *written])):
        raise ValueMistake(
            "--memory is for --scope joint from Parquet to Parquet, without --dry-run, --report, --withheld, "
            "--prove-input and --null; leave it out."
        )
    if out is not None and not in_memory and (memory is not None or _by_column([read, *written], options)):
        options |= {"weights": weights, "memory": memory}
        for name in () if quiet or memory is not None else column:  # one at a time, as they are masked
            note_codes(read.read([name])[0], [name], group_size, quiet)
        streamed = _mask_stream(source, group_size, roles, options, {"output": out, "overwrite": overwrite}, quiet)
        if as_json:
            dump(streamed.manifest())
        elif not quiet:
            _say(streamed.guarantee, streamed.warnings, targets.values(), dry_run)
        return
    salt = secrets.token_bytes(32) if prove_input else None
    with ThreadPoolExecutor(1) as aside:  # hashes while others work
        proof = None if salt is None or dry_run else aside.submit(digest, source, salt)
        frame, meta = read_table(read, [*numbers, *ranked], untouched, weights, categories)
        note_codes(frame, numbers, group_size, quiet)
        if weights is not None:
            options["weights"] = read_weights(read, weights)
        from mag.table import microaggregate

        with bar(f"grouping {frame.height} records", quiet) as progress:
            release = microaggregate(frame, group_size, column, progress=progress, **options)
        if _stamp(source) != before:
            raise ValueMistake(f"{source.name!r} has changed while it was read; nothing was written.")
        unread = {"drop": len(roles["--drop"])} | ({"weights": weights} if weights in roles["--keep"] else {})
        release = release.with_options(**unread)
        manifest, guarantee, warnings = _manifest(release), release.guarantee, release.warnings
        with_kept = release.count_with_kept()
        if with_kept is not None:
            manifest["with_kept"] = {"smallest": with_kept[0], "below_k": with_kept[1]}
        if not dry_run:
            with writing(*targets.values(), sources=[source], overwrite=overwrite) as paths:
                [target], drafts = written, dict(zip(targets, paths, strict=True))
                stored = target.write(release.data, [*numbers, *ranked], meta, drafts["out"], categories)
                if report is not None:
                    release.report(drafts["report"])
                if withheld is not None:
                    write_withheld(drafts["withheld"], release.withheld_rows().tolist())
                if target.format.text:  # the count needs memory, too
                    stored = columns_of(stored, [*categories, *untouched])
                del release, frame
                hashed = aside.submit(digest, drafts["out"])
                manifest["verified"] = verify_file(target, drafts["out"], guarantee, stored)
                if diverse or close:
                    cells = [*roles["--by"], *column]
                    manifest["verified"]["sensitive"] = verify_sensitive(
                        target, drafts["out"], cells, [hidden, ranked], diverse, close
                    )
                manifest["files"] = {"output": _file(targets["out"], drafts["out"], hashed.result())}
                if salt is not None and proof is not None:
                    manifest["files"]["input"] = {"name": source.name, "hmac_sha256": proof.result()}
                    drafts["secret"].write_text(salt.hex() + "\n")
                drafts["manifest"].write_text(json.dumps(manifest, indent=1) + "\n")
    if as_json:
        dump(manifest)
    elif not quiet:
        _say(guarantee, [*warnings, *_describe_kept(with_kept, guarantee)], targets.values(), dry_run)


def _by_column(files: list[File], options: dict[str, Any]) -> bool:
    """Whether one column at a time will do: from Parquet to Parquet, each column by itself, no record withheld."""
    every_record = options["missing"] != "drop" and options["small_strata"] == "error" and not options["shuffle"]
    return every_record and options["scope"] == "per-column" and _all_parquet(files)


def _all_parquet(files: list[File]) -> bool:
    return {file.format for file in files} == {FORMATS["parquet"]}


def _mask_stream(
    source: pathlib.Path,
    k: Any,
    roles: dict[str, list[str]],
    options: dict[str, Any],
    files: dict[str, Any],
    quiet: bool,
) -> "FileRelease":
    """Column by column, or in parts: never the whole file in memory."""
    from mag.table import microaggregate

    with bar(f"masking {len(roles['-c'])} columns", quiet) as progress:
        return microaggregate(source, k, roles["-c"], drop=roles["--drop"], progress=progress, **options, **files)


def verify_file(file: File, draft: pathlib.Path, guarantee: "Guarantee", stored: Any) -> dict[str, Any]:
    """The k that is counted on the file read back; an error where it is not what was promised, nor the cells stored."""
    from mag._lib.errors import NotAnonymous
    from mag.verify import require

    by, columns = [str(name) for name in guarantee.by], [str(name) for name in guarantee.columns]
    alone = [[*by, name] for name in columns] if guarantee.scope == "per-column" else []
    jointly, *singly = file.counts([*by, *columns], *alone, draft=draft, written=stored)
    n = sum(size * count for size, count in jointly.items())
    if n != guarantee.n_records:
        raise NotAnonymous(
            f"The file holds {n} records where {guarantee.n_records} were written: nothing is published."
        )
    least = guarantee.k if isinstance(guarantee.k, dict) else dict.fromkeys(columns, guarantee.k)
    for name, sizes, cells in zip(columns, singly, alone, strict=False):
        require(smallest(sizes), least[name], cells, n)
    if not alone:
        require(smallest(jointly), min(least.values()), [*by, *columns], n)
    how = "text of its cells" if file.format.text else "stored values"
    counts = {"counted": f"on the file read back, by the {how}", "records": n, "smallest": smallest(jointly)}
    if alone:
        counts["smallest_by_column"] = {name: smallest(sizes) for name, sizes in zip(columns, singly, strict=True)}
    return counts


def verify_sensitive(
    file: File,
    draft: pathlib.Path,
    columns: list[str],
    sensitive: list[list[str]],
    diversity: dict[str, Any],
    closeness: dict[str, Any],
) -> list[dict[str, Any]]:
    """Diversity and closeness, counted on the file read back; `sensitive` are all such columns, and the numbers."""
    from mag.table import recount_promises

    (hidden, ranked), names = sensitive, list(columns)
    frame, _ = file.read(ranked, [*names, *(name for name in hidden if name not in ranked)], draft=draft)
    counted = recount_promises(frame, names, diversity or None, closeness or None)
    return [{"column": promise.name, **promise.require().facts()} for promise in counted]


def _targets(
    out: pathlib.Path | None,
    others: dict[str, pathlib.Path | None],
    prove: bool,
    source: pathlib.Path,
    overwrite: bool,
) -> dict[str, pathlib.Path]:
    """OUT and what is written beside it, all of which can be written, before anything long begins."""
    targets = {} if out is None else {"out": out, "manifest": out.with_name(out.name + MANIFEST)}
    if out is not None and prove:
        targets["secret"] = out.with_name(out.name + SECRET)
    targets |= {name: path for name, path in others.items() if path is not None}
    for target in targets.values():
        check_target(target, [source], overwrite)
    return targets


def _describe_kept(with_kept: tuple[int, int] | None, guarantee: "Guarantee") -> list[str]:
    """What kept columns do to the classes, in numbers."""
    if with_kept is None:
        return []
    k = guarantee.k if isinstance(guarantee.k, int) else min(guarantee.k.values())
    smallest_class, below_k = with_kept
    return [
        f"With the kept columns, {below_k} of {guarantee.n_records} records are in classes smaller than {k}; the "
        f"smallest class has {smallest_class}."
    ]


ROLES = Sentences(
    repeated="a column must be named once; {name} is named by {role} and {role}.",
    shared="a column must be named once; {name} is named by {role} and {other}.",
    unassigned="{table} has columns without a role: {names}; pass --keep NAME (published unchanged, not protected) or "
    "--drop NAME (not published) for each.",
)


def _check_roles(file: File, roles: dict[str, list[str]]) -> None:
    file.check_names([name for names in roles.values() for name in names])
    assign_roles(roles, file.names(), repr(file.path.name), ROLES)


def _manifest(release: "Release") -> dict[str, Any]:
    """Without the times, which depend on withheld records."""
    manifest = release.manifest()
    del manifest["seconds"]
    return manifest


def _file(path: pathlib.Path, now: pathlib.Path, digest: str) -> dict[str, Any]:
    return {"name": path.name, "bytes": now.stat().st_size, "sha256": digest}


def _stamp(path: pathlib.Path) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def _say(guarantee: "Guarantee", warnings: Sequence[str], targets: Iterable[pathlib.Path], dry_run: bool) -> None:
    say(guarantee)
    for warning in warnings:
        say(f"Note: {warning}")
    say("Nothing was written." if dry_run else f"Written: {', '.join(map(str, targets))}")
