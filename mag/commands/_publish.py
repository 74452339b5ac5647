"""From a file to its release: roles of columns, files to write, the recount of the written file, and the summary."""

import contextlib
import getpass
import json
import os
import pathlib
import secrets
import shlex
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from mag._lib.atomic import MANIFEST, SECRET, Reserved, digest, reserving
from mag._lib.errors import InputValueError
from mag._lib.roles import Sentences, assign_roles
from mag.api.table_options import OPTIONS
from mag.commands._options import open_files
from mag.commands._output import bar, command_line, dump, say
from mag.commands._parse import Demands
from mag.commands._plan import text_of
from mag.commands._table import write_withheld
from mag.files import File, Layout, Meta, columns_of, smallest

if TYPE_CHECKING:
    from mag.report import Audience
    from mag.tables import FileRelease, Guarantee, Release, Suppression

Drafts = dict[str, pathlib.Path]
REPORTS: "dict[str, Audience]" = {"report": "internal", "external_report": "external"}  # by name, for whom
HIDDEN = "…"  # in place of words that a report does not show
ROLE_SENTENCES = Sentences(
    repeated="a column must be named once; {name} is named by {role} more than once.",
    shared="a column must be named once; {name} is named by {role} and {other}.",
    unassigned="{table} has columns without a role: {names}; pass --keep NAME (published unchanged, not protected) or "
    "--drop NAME (not published) for each, or --rest drop for all.",
)


class FileRoles(NamedTuple):
    """The columns of a file by role."""

    columns: list[str]
    by: list[str]
    keep: list[str]
    drop: list[str]
    demands: Demands
    owners: dict[str, str]  # the columns of --unit and --household, which are not published

    @classmethod
    def assigned(
        cls,
        file: File,
        columns: list[str],
        by: list[str] | None,
        keep: list[str] | None,
        drop: list[str] | None,
        sensitive: list[str] | None,
        demands: Demands,
        rest: str = "error",
        unit: str | None = None,
        household: str | None = None,
    ) -> "FileRoles":
        """Assign the roles; reject columns without a role or with two; --keep may name a column with a criterion.

        Columns without a role get the role `rest`, unless it is "error".
        """
        from mag._lib.checks import one_of

        demanded = [name for name in demands.columns if name not in (sensitive or [])]
        kept = [name for name in keep or [] if name not in demanded]
        owners = {option: name for option, name in (("unit", unit), ("household", household)) if name is not None}
        dropped = [name for name in drop or [] if name not in owners.values()]  # whether listed or not
        roles = {"-c": columns, "--by": by or [], "--keep": kept, "--drop": dropped}
        roles |= {f"--{option}": [name] for option, name in owners.items()}
        if demands.columns:
            roles["--sensitive"] = demands.columns
        file.check_names([name for names in roles.values() for name in names])
        other = None if one_of("--rest", rest, OPTIONS["rest"].choices) == "error" else f"--{rest}"
        every: dict[str, Any] = assign_roles(roles, file.names(), repr(file.path.name), ROLE_SENTENCES, other)
        return cls(columns, by or [], every["--keep"], every["--drop"], demands, owners)

    @property
    def untouched(self) -> list[str]:
        """Columns whose cells are published exactly as in the file."""
        hidden = [name for name in self.demands.columns if name not in self.demands.ranked]
        return [*self.by, *self.keep, *hidden]

    def options(self) -> dict[str, Any]:
        """As `mag.microaggregate` and `mag.generalize` take them."""
        return {
            "by": self.by or None,
            "keep": self.keep,
            "sensitive": self.demands.columns,
            "diversity": self.demands.diversity or None,
            "closeness": self.demands.closeness or None,
            "order": self.demands.order or None,
        } | self.owners


class Files(NamedTuple):
    """IN, OUT and the files written next to OUT."""

    source: File
    sources: list[pathlib.Path]  # all that is read, IN among them
    target: File | None
    paths: Drafts  # of "out", "manifest", and where requested "withheld", "secret" and `REPORTS`
    overwrite: bool
    dry_run: bool

    @classmethod
    def checked(
        cls,
        source: pathlib.Path,
        sources: list[pathlib.Path],
        out: pathlib.Path | None,
        layout: Layout,
        others: dict[str, pathlib.Path | None],
        prove_input: bool,
        overwrite: bool,
        dry_run: bool,
    ) -> "Files":
        """All that are to be written can be written, before anything long begins."""
        if out is None and not dry_run:
            raise InputValueError("--out must name the file to write, unless --dry-run is passed.")
        read, *written = open_files([source], layout, [] if out is None else [out])
        paths = {} if out is None else {"out": out, "manifest": out.with_name(out.name + MANIFEST)}
        if out is not None and prove_input:
            paths["secret"] = out.with_name(out.name + SECRET)
        paths |= {name: path for name, path in others.items() if path is not None}
        files = cls(read, sources, written[0] if written else None, paths, overwrite, dry_run)
        with files.reserved(dry_run=True):
            return files

    def reserved(self, dry_run: bool) -> contextlib.AbstractContextManager[Reserved]:
        """The files for this run alone, from before IN is read until all have their names."""
        return reserving(*self.paths.values(), sources=self.sources, overwrite=self.overwrite, dry_run=dry_run)

    @contextlib.contextmanager
    def drafts(self, reserved: Reserved) -> Iterator[Drafts]:
        """Hidden names; the files get their final names at the end, or never."""
        with reserved.drafts() as drafts:
            yield dict(zip(self.paths, drafts, strict=True))


class Cells(NamedTuple):
    """How the columns of a release are written: as computed numbers, or as categories, which have codes."""

    computed: list[str]
    categories: list[str]


class Summary(NamedTuple):
    """The facts printed about a release after its table is written."""

    guarantee: Any  # of the release
    notes: list[str]
    manifest: dict[str, Any]

    @classmethod
    def of(cls, release: Any) -> "Summary":
        """From a release; without times, which depend on withheld records."""
        manifest, with_kept = release.manifest(), release.count_with_kept()
        del manifest["seconds"]
        notes = [*release.warnings]
        if with_kept is not None:
            manifest["with_kept"] = {"smallest": with_kept[0], "below_k": with_kept[1]}
            notes.append(_describe_kept(with_kept[0], with_kept[1], release.guarantee))
        return cls(release.guarantee, notes, manifest)

    def print(self, files: Files, as_json: bool, quiet: bool) -> None:
        """One JSON object, or sentences."""
        if as_json:
            dump(self.manifest)
        elif not quiet:
            say(self.guarantee)
            for note in self.notes:
                say(f"Note: {note}")
            written = ", ".join(map(str, files.paths.values()))
            say("Nothing was written." if files.dry_run else f"Written: {written}")


def _describe_kept(smallest_class: int, below_k: int, guarantee: Any) -> str:
    """The classes that include kept columns, in numbers."""
    k = guarantee.k if isinstance(guarantee.k, int) else min(guarantee.k.values())
    few = f"of fewer than {k} units" if guarantee.unit is not None else f"smaller than {k}"
    return (
        f"With the kept columns, {below_k} of {guarantee.n_records} records are in classes {few}; the "
        f"smallest class has {smallest_class}."
    )


# ---- steps


def write_release(
    files: Files,
    roles: FileRoles,
    cells: Cells,
    make_release: Callable[[], tuple[Any, Meta]],
    quiet: bool,
    verify: Callable[..., dict[str, Any]] | None = None,
) -> Summary:
    """Make the release and, but for a dry run, write it, count it on the written file and give the files their names.

    `make_release` reads the file; a file that has changed since is an error.  `verify` counts the written file,
    `verify_file` by default.
    """
    salt = secrets.token_bytes(32) if "secret" in files.paths and not files.dry_run else None
    before = _stamp(files.source.path)
    with (
        files.reserved(files.dry_run) as reserved,
        ThreadPoolExecutor(1) as aside,  # hashes while others work
    ):
        proof = None if salt is None else aside.submit(digest, files.source.path, salt)
        release, meta = make_release()
        if _stamp(files.source.path) != before:
            raise InputValueError(f"{files.source.path.name!r} has changed while it was read; nothing was written.")
        summary = Summary.of(release)
        target, manifest = files.target, summary.manifest
        if text := text_of(files.source.layout, manifest["table"]["columns"]):
            manifest["text"] = text
        if files.dry_run or target is None:
            return summary
        with files.drafts(reserved) as drafts:
            cells_of = {"unit": "units", "household": "households"}
            owners = {option: getattr(release, cells_of[option])() for option in roles.owners}
            stored = _write(files, roles, cells, release, meta, drafts, quiet)
            del release  # the count needs memory, too
            hashed = aside.submit(digest, drafts["out"])
            manifest["verified"] = (verify or verify_file)(target, drafts["out"], summary.guarantee, stored, owners)
            if roles.demands.diversity or roles.demands.closeness:
                manifest["verified"]["sensitive"] = verify_sensitive(target, drafts["out"], roles)
            size = drafts["out"].stat().st_size
            manifest["files"] = {"output": {"name": target.path.name, "bytes": size, "sha256": hashed.result()}}
            if salt is not None and proof is not None:
                manifest["files"]["input"] = {"name": files.source.path.name, "hmac_sha256": proof.result()}
                drafts["secret"].write_text(salt.hex() + "\n")
            drafts["manifest"].write_text(json.dumps(manifest, indent=1) + "\n")
    return summary


def _write(
    files: Files, roles: FileRoles, cells: Cells, release: "Release", meta: Meta, drafts: Drafts, quiet: bool
) -> Any:
    """Write all but the manifest; return the cells that the file must hold when it is read back."""
    target = files.target
    assert target is not None
    stored = target.write(release.data, cells.computed, meta, drafts["out"], cells.categories)
    write_reports(release, files, roles, drafts, quiet)
    if "withheld" in drafts:
        write_withheld(drafts["withheld"], release.withheld_rows().tolist())
    return columns_of(stored, [*cells.categories, *roles.untouched]) if target.format.text else stored


def write_reports(
    release: "Release | FileRelease | Suppression", files: Files, roles: FileRoles, drafts: Drafts, quiet: bool
) -> None:
    """The pages that were requested; an external one does not say who ran which command."""
    for name, audience in REPORTS.items():
        if name in drafts:
            about = {}
            if audience == "internal":
                about = describe_run(files.source.path.name, release.manifest()["options"], roles)
            with bar("writing the report", quiet) as progress:
                release.report(drafts[name], overwrite=True, about=about, progress=progress, audience=audience)


def describe_run(source: str, options: dict[str, Any], roles: FileRoles) -> dict[str, str]:
    """The data, who masks it, and the command, without names of columns that are not published and seeds."""
    hidden = {*roles.drop, *roles.owners.values()}
    words = hide_words(command_line(), hidden, ("--seed",) if options.get("shuffle") else ())
    about = {"Data": source, "Command": shlex.join(["mag", *words])}
    with contextlib.suppress(KeyError, OSError):  # a process may have no user
        about["Made by"] = getpass.getuser()
    return about


def hide_words(words: Sequence[str], hidden: Collection[str], options: Collection[str]) -> list[str]:
    """A command line without these words, alone or around an equals sign, and without the values of these options."""
    shown: list[str] = []
    for place, word in enumerate(words):
        option, equals, _ = word.partition("=")
        if place and words[place - 1] in options:
            shown.append(HIDDEN)
        elif equals and option in options:
            shown.append(f"{option}={HIDDEN}")
        else:
            parts = word.split("=")
            shown.append("=".join(HIDDEN if part in hidden else part for part in parts))
    return shown


def verify_file(
    file: File, draft: pathlib.Path, guarantee: "Guarantee", stored: Any, owners: dict[str, list[Any]]
) -> dict[str, Any]:
    """Count k on the file read back; raise if k or the stored cells differ from the promise."""
    from mag._lib.errors import NotAnonymousError
    from mag.verify import require

    by, columns = [str(name) for name in guarantee.by], [str(name) for name in guarantee.columns]
    alone = [[*by, name] for name in columns] if guarantee.scope == "per-column" else []
    sets = [[*by, *map(str, own.columns)] for own in guarantee.sets]
    jointly, *singly = file.counts([*by, *columns], *alone, *sets, draft=draft, written=stored)
    n = sum(size * count for size, count in jointly.items())
    if n != guarantee.n_records:
        raise NotAnonymousError(
            f"The file holds {n} records where {guarantee.n_records} were written: nothing is published."
        )
    least = guarantee.k if isinstance(guarantee.k, dict) else dict.fromkeys(columns, guarantee.k)
    for name, sizes, cells in zip(columns, singly, alone, strict=False):
        require(smallest(sizes), least[name], cells, n)
    for own, sizes, cells in zip(guarantee.sets, singly, sets, strict=False):
        require(smallest(sizes), own.k, cells, n)
    if guarantee.scope == "joint":
        require(smallest(jointly), min(least.values()), [*by, *columns], n)
    how = "text of its cells" if file.format.text else "stored values"
    counts = {"counted": f"on the file read back, by the {how}", "records": n, "smallest": smallest(jointly)}
    if sets:
        counts["smallest_by_set"] = [smallest(sizes) for sizes in singly]
    if alone:
        counts["smallest_by_column"] = {name: smallest(sizes) for name, sizes in zip(columns, singly, strict=True)}
    return counts | (verify_owners(file, draft, guarantee, owners) if owners else {})


def verify_sensitive(file: File, draft: pathlib.Path, roles: FileRoles) -> list[dict[str, Any]]:
    """Diversity and closeness, counted on the file read back."""
    from mag.tables import recount_promises

    demands, classes = roles.demands, [*roles.by, *roles.columns]
    text = [name for name in demands.columns if name not in demands.ranked]
    frame, _ = file.read(demands.ranked, [*classes, *text], draft=draft)
    counted = recount_promises(frame, classes, demands.diversity or None, demands.closeness or None, demands.order)
    return [{"column": promise.name, **promise.require().facts()} for promise in counted]


def verify_owners(
    file: File, draft: pathlib.Path, guarantee: "Guarantee", owners: dict[str, list[Any]]
) -> dict[str, Any]:
    """Units and households of classes of the file read back; it does not hold them, but its records are in order."""
    from mag.verify import require_units

    by, columns = [str(name) for name in guarantee.by], [str(name) for name in guarantee.columns]
    frame, _ = file.read([], [*by, *columns], draft=draft)
    facts = {}
    for option, cells in owners.items():
        sets = [([*by, *map(str, own.columns)], own.k) for own in guarantee.sets]
        k: Any = guarantee.k if option == "unit" else guarantee.k_household
        if guarantee.scope == "per-column":
            ks = guarantee.k if isinstance(guarantee.k, dict) else dict.fromkeys(columns, guarantee.k)
            sets = [([*by, name], ks[name]) for name in columns]
        sets = sets or [([*by, *columns], k)]
        least = min(require_units(frame, names, cells, k, f"{option}s") for names, k in sets)
        how = f"on the file read back, with the {option}s of IN in the order of its records"
        facts[f"{option}s"] = {"counted": how, "smallest": least}
    return facts


def _stamp(path: pathlib.Path) -> tuple[int, int, int]:
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns
