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
from mag.commands._options import (
    Aggregate,
    By,
    DecimalComma,
    Delimiter,
    Encoding,
    Json,
    Missing,
    Null,
    Quiet,
    SmallStrata,
    Threads,
    layout,
    open_files,
    parse_integers,
    parse_settings,
)
from mag.commands._output import bar, dump, say
from mag.files import FORMATS, File, columns_of, smallest

if TYPE_CHECKING:
    from mag.table import FileRelease, Guarantee, Release


def mask(
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file to mask.")],
    k: Annotated[list[str], typer.Option("-k", help="Smallest group size; with --scope per-column also NAME=K.")],
    column: Annotated[list[str], typer.Option("--column", "-c", help="A column to mask; repeatable.", metavar="NAME")],
    out: Annotated[pathlib.Path | None, typer.Option("--out", "-o", help="The file to write.")] = None,
    by: By = None,
    keep: Annotated[list[str] | None, typer.Option("--keep", help="Publish this column as it is; repeatable.")] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Do not publish this column; repeatable.")] = None,
    scope: Annotated[
        str, typer.Option(help="joint: whole records are alike; per-column: values by themselves.")
    ] = "joint",
    method: Annotated[str, typer.Option("--method", "-m", help="How to group records jointly.")] = "auto",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="Of the method, like rho=0.5; repeatable.")
    ] = None,
    cost: Annotated[str | None, typer.Option(help="What is least, per column: sse (default), sae, maxdist, …")] = None,
    aggregate: Aggregate = None,
    standardize: Annotated[
        bool | None, typer.Option("--standardize/--no-standardize", help="Measure columns in standard deviations.")
    ] = None,
    weights: Annotated[str | None, typer.Option(help="A column of weights, which is kept or dropped.")] = None,
    missing: Missing = "error",
    small_strata: SmallStrata = "error",
    decimals: Annotated[
        list[str] | None, typer.Option("--round", help="Decimals, or NAME=DECIMALS; repeatable.")
    ] = None,
    shuffle: Annotated[bool, typer.Option("--shuffle", help="Publish the records in random order.")] = False,
    seed: Annotated[int | None, typer.Option(help="For --shuffle and methods that draw random numbers.")] = None,
    threads: Threads = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which the best so far is taken.")] = None,
    report: Annotated[pathlib.Path | None, typer.Option(help="Write a report, one HTML page.")] = None,
    prove_input: Annotated[
        bool,
        typer.Option("--prove-input", help=f"Put a salted hash of IN into the manifest; the salt into OUT{SECRET}."),
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that exist; never IN.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything but write.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    delimiter: Delimiter = None,
    decimal_comma: DecimalComma = False,
    encoding: Encoding = "utf-8",
    null: Null = None,
) -> None:
    """Mask columns of a file so that every record is like at least k-1 others, and prove it on the file written.

    Beside OUT a manifest is written: options, versions, the hash of OUT and the k that was counted on it.  Every column
    of IN must be named by -c, --by, --keep or --drop.
    """
    if out is None and not dry_run:
        raise ValueMistake("--out names the file to write; leave it out with --dry-run only.")
    text_layout = layout(delimiter, decimal_comma, encoding, null)
    read, *written = open_files([source, *([] if out is None else [out])], text_layout)
    targets = _targets(out, report, prove_input, source, overwrite)
    roles = {"-c": column, "--by": by or [], "--keep": keep or [], "--drop": drop or []}
    _check_roles(read, roles)
    options: dict[str, Any] = {
        "by": by or None, "keep": roles["--keep"], "scope": scope, "method": method, "cost": cost,
        "aggregate": aggregate, "standardize": standardize, "missing": missing, "small_strata": small_strata,
        "shuffle": shuffle, "random_state": seed,
        "threads": threads, "time_limit": time_limit,
        "round": parse_integers("--round", decimals) if decimals else None,
    }  # fmt: skip
    options |= _read_method_options(option or [])
    group_size, before = parse_integers("-k", k), _stamp(source)
    if out is not None and not (dry_run or report or prove_input) and _by_column([read, *written], options):
        options["weights"] = weights
        streamed = _mask_by_column(source, group_size, roles, options, {"output": out, "overwrite": overwrite}, quiet)
        if as_json:
            dump(streamed.manifest())
        elif not quiet:
            _say(streamed.guarantee, streamed.warnings, targets.values(), dry_run)
        return
    salt = secrets.token_bytes(32) if prove_input else None
    with ThreadPoolExecutor(1) as aside:  # hashes while others work
        proof = None if salt is None or dry_run else aside.submit(digest, source, salt)
        frame, meta = read.read(column, [*roles["--by"], *roles["--keep"]])
        if weights is not None:
            options["weights"] = _weights(read, weights, roles)
        from mag.table import microaggregate

        with bar(f"grouping {frame.height} records", quiet) as progress:
            release = microaggregate(frame, group_size, column, progress=progress, **options)
        if _stamp(source) != before:
            raise ValueMistake(f"{source.name!r} has changed while it was read; nothing was written.")
        unread = {"drop": len(roles["--drop"])} | ({"weights": weights} if weights in roles["--keep"] else {})
        release = release.with_options(**unread)
        manifest, guarantee, warnings = _manifest(release), release.guarantee, release.warnings
        if not dry_run:
            with writing(*targets.values(), sources=[source], overwrite=overwrite) as paths:
                [target], drafts = written, dict(zip(targets, paths, strict=True))
                stored = target.write(release.data, column, meta, drafts["out"])
                if report is not None:
                    release.report(drafts["report"])
                if target.format.text:  # the count needs memory, too
                    stored = columns_of(stored, roles["--by"] + roles["--keep"])
                del release, frame
                hashed = aside.submit(digest, drafts["out"])
                manifest["verified"] = verify_file(target, drafts["out"], guarantee, stored)
                manifest["files"] = {"output": _file(targets["out"], drafts["out"], hashed.result())}
                if salt is not None and proof is not None:
                    manifest["files"]["input"] = {"name": source.name, "hmac_sha256": proof.result()}
                    drafts["secret"].write_text(salt.hex() + "\n")
                drafts["manifest"].write_text(json.dumps(manifest, indent=1) + "\n")
    if as_json:
        dump(manifest)
    elif not quiet:
        _say(guarantee, warnings, targets.values(), dry_run)


def _by_column(files: list[File], options: dict[str, Any]) -> bool:
    """Whether one column at a time will do: from Parquet to Parquet, each column by itself, no record withheld."""
    every_record = options["missing"] != "drop" and options["small_strata"] == "error" and not options["shuffle"]
    return every_record and options["scope"] == "per-column" and {file.format for file in files} == {FORMATS["parquet"]}


def _mask_by_column(
    source: pathlib.Path,
    k: Any,
    roles: dict[str, list[str]],
    options: dict[str, Any],
    files: dict[str, Any],
    quiet: bool,
) -> "FileRelease":
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


def _targets(
    out: pathlib.Path | None, report: pathlib.Path | None, prove: bool, source: pathlib.Path, overwrite: bool
) -> dict[str, pathlib.Path]:
    """OUT, what stands beside it and the report, all of which can be written, before anything long begins."""
    targets = {} if out is None else {"out": out, "manifest": out.with_name(out.name + MANIFEST)}
    if out is not None and prove:
        targets["secret"] = out.with_name(out.name + SECRET)
    if report is not None:
        targets["report"] = report
    for target in targets.values():
        check_target(target, [source], overwrite)
    return targets


def _read_method_options(words: Sequence[str]) -> dict[str, Any]:
    """Options of the method; those that all methods share have names of their own on the command line."""
    options = parse_settings(words)
    if not options:
        return {}
    import inspect

    from mag.table import microaggregate

    shared = [name for name in options if name in inspect.signature(microaggregate).parameters]
    if shared:
        raise ValueMistake(f"--option is for options of the method; got {', '.join(shared)}, see mag mask --help.")
    return options


ROLES = Sentences(
    repeated="a column must be named once; {name} is named by {role} and {role}.",
    shared="a column must be named once; {name} is named by {role} and {other}.",
    unassigned="{table} has columns that are not named: {names}; name them by --keep (published as they are, not "
    "covered by the guarantee) or by --drop (not published).",
)


def _check_roles(file: File, roles: dict[str, list[str]]) -> None:
    file.check_names([name for names in roles.values() for name in names])
    assign_roles(roles, file.names(), repr(file.path.name), ROLES)


def _weights(file: File, name: str, roles: dict[str, list[str]]) -> Any:
    """Read by themselves: where the column is kept, its cells stay as they are."""
    if name not in [*roles["--keep"], *roles["--drop"]]:
        raise ValueMistake(f"--weights must name a column of --keep or --drop; got {name!r}.")
    column = file.read([name])[0][name]
    if not column.dtype.is_numeric() or column.null_count():
        raise ValueMistake(f"--weights: {name!r} must hold numbers, none missing; {column.null_count()} are missing.")
    return column.to_numpy()


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
