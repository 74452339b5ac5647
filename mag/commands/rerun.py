"""`mag rerun`."""

import json
import pathlib
import tempfile
from typing import Annotated, Any

import typer

from mag._lib.atomic import MANIFEST, check_target
from mag._lib.errors import InputValueError
from mag.commands import _options as opt
from mag.commands._output import dump, say
from mag.commands._plan import defaults_of

WHOLE_FILE = ""  # in the place of a column


def rerun(
    manifest: Annotated[pathlib.Path, typer.Argument(metavar="MANIFEST", help="The manifest of a release.")],
    source: Annotated[pathlib.Path, typer.Argument(metavar="IN", help="The file that was masked.")],
    more: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- OPTIONS]", help="Options of mag mask that a manifest does not hold."),
    ] = None,
    out: opt.Out = None,
    overwrite: opt.Overwrite = False,
    as_json: opt.Json = False,
) -> int:
    """Mask a file again as its manifest says, and compare: exits with 1 if a column differs.

    The manifest holds the options, but no hierarchies, no orders of categories, and no names of columns that are not
    published: columns that it does not name are dropped, and the other options follow --.  Without --out the new file
    is removed after the comparison.

    Examples:
    mag rerun masked.csv.manifest.json people.csv
    mag rerun masked.csv.manifest.json people.csv -o again.csv -- --hierarchy job=jobs.csv --unit person
    """
    before = _read(manifest)
    if before["options"].get("shuffle"):
        raise InputValueError(f"{manifest.name!r} is of shuffled records, whose order no manifest holds.")
    if out is not None:
        for place in (out, out.with_name(out.name + MANIFEST)):
            check_target(place, [manifest, source], overwrite)
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / _file_of(before)["name"] if out is None else out
        after = _mask_again(before, source, target, [*(more or []), *(["--overwrite"] if overwrite else [])])
    found = compare_manifests(before, after)
    if as_json:
        dump(found)
    else:
        for sentence in _sentences(found):
            say(sentence)
    return int(bool(found["different"]))


def _read(path: pathlib.Path) -> dict[str, Any]:
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        complete = {*manifest["options"]} and {*manifest["published"]["sha256"]} and _file_of(manifest)["name"]
    except (ValueError, KeyError, TypeError):
        complete = ""
    if not complete:
        raise InputValueError(f"{path.name!r} must be a manifest that mag mask wrote next to a file.")
    others = {"generalize": "max_suppressed" in manifest["options"], "suppress": "below_k" in manifest["guarantee"]}
    for command, is_of in others.items():
        if is_of:
            raise InputValueError(f"{path.name!r} is a manifest of mag {command}; mag rerun takes those of mag mask.")
    return dict(manifest)


def _file_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """The name and the hash of the published file; of one that was never whole in memory columns have no hashes."""
    is_whole = isinstance(manifest["published"]["sha256"], str)
    return dict(manifest["published"] if is_whole else manifest["files"]["output"])


def _hashes_of(manifest: dict[str, Any]) -> dict[str, str]:
    """The hash of every column, or of the file where columns have none."""
    hashes = manifest["published"]["sha256"]
    return {WHOLE_FILE: hashes} if isinstance(hashes, str) else dict(hashes)


def _mask_again(before: dict[str, Any], source: pathlib.Path, target: pathlib.Path, more: list[str]) -> dict[str, Any]:
    """Run `mag mask` with the options of a manifest as its defaults; the new manifest."""
    from mag.commands import application
    from mag.tables.plan import plan_of_manifest

    command: Any = application()
    defaults = defaults_of(plan_of_manifest(before), command.commands["mask"].params)
    arguments = ["mask", str(source), "--out", str(target), "--quiet", *more]
    command(arguments, prog_name="mag", standalone_mode=False, default_map={"mask": defaults})
    return dict(json.loads(target.with_name(target.name + MANIFEST).read_text(encoding="utf-8")))


def compare_manifests(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The columns that are equal and that differ, whether all bytes are equal, and versions that differ."""
    old, new = _hashes_of(before), _hashes_of(after)
    versions = [{"mag": manifest["mag"], **manifest["versions"]} for manifest in (before, after)]
    return {
        "equal": [name for name in old if old[name] == new.get(name)],
        "different": [name for name in {**old, **new} if old.get(name) != new.get(name)],
        "bytes_equal": _file_of(before)["sha256"] == _file_of(after)["sha256"],
        "versions": {
            name: [own.get(name) for own in versions]
            for name in {**versions[0], **versions[1]}
            if versions[0].get(name) != versions[1].get(name)
        },
        "time_limit": before["options"].get("time_limit"),
    }


def _sentences(found: dict[str, Any]) -> list[str]:
    said = []
    if not found["different"]:
        bytes_too = "all bytes of the file" if found["bytes_equal"] else "not all bytes of the file"
        columns = "" if found["equal"] == [WHOLE_FILE] else f"all {len(found['equal'])} columns, and "
        said.append(f"Equal: {columns}{bytes_too}.")
    elif found["different"] == [WHOLE_FILE]:
        said.append("Different: the file, of whose columns the manifest holds no hashes.")
    else:
        said.append(f"Different: {', '.join(found['different'])}; equal columns: {len(found['equal'])}.")
    changed = [
        f"{name} {old or 'not installed'}, now {new or 'not installed'}"
        for name, (old, new) in found["versions"].items()
    ]
    if changed:
        said.append(f"Note: other versions: {'; '.join(changed)}.")
    if found["different"] and found["time_limit"] is not None:
        said.append("Note: a search with a time limit may find other groups each time.")
    return said
