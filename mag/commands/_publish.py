"""What commands that publish a file share: roles of columns, targets, the manifest, what is printed."""

import os
import pathlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mag._lib.atomic import MANIFEST, SECRET, check_target
from mag._lib.roles import Sentences, assign_roles
from mag.commands._output import say
from mag.files import File

if TYPE_CHECKING:
    from mag.table import Guarantee, Release

ROLES = Sentences(
    repeated="a column must be named once; {name} is named by {role} and {role}.",
    shared="a column must be named once; {name} is named by {role} and {other}.",
    unassigned="{table} has columns without a role: {names}; pass --keep NAME (published unchanged, not protected) or "
    "--drop NAME (not published) for each.",
)


def check_roles(file: File, roles: dict[str, list[str]]) -> None:
    """Every column of the file has one role, named like the option that assigns it."""
    file.check_names([name for names in roles.values() for name in names])
    assign_roles(roles, file.names(), repr(file.path.name), ROLES)


def targets_of(
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


def describe_kept(with_kept: tuple[int, int] | None, guarantee: "Guarantee") -> list[str]:
    """What kept columns do to the classes, in numbers."""
    if with_kept is None:
        return []
    k = guarantee.k if isinstance(guarantee.k, int) else min(guarantee.k.values())
    smallest_class, below_k = with_kept
    return [
        f"With the kept columns, {below_k} of {guarantee.n_records} records are in classes smaller than {k}; the "
        f"smallest class has {smallest_class}."
    ]


def manifest_of(release: "Release") -> dict[str, Any]:
    """Without the times, which depend on withheld records."""
    manifest = release.manifest()
    del manifest["seconds"]
    return manifest


def describe_file(path: pathlib.Path, now: pathlib.Path, digest: str) -> dict[str, Any]:
    """A published file for the manifest."""
    return {"name": path.name, "bytes": now.stat().st_size, "sha256": digest}


def stamp(path: pathlib.Path) -> tuple[int, int, int]:
    """What changes where a file does."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


def say_published(
    guarantee: "Guarantee", warnings: Sequence[str], targets: Iterable[pathlib.Path], dry_run: bool
) -> None:
    say(guarantee)
    for warning in warnings:
        say(f"Note: {warning}")
    say("Nothing was written." if dry_run else f"Written: {', '.join(map(str, targets))}")
