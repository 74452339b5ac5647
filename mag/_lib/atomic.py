"""Files that appear whole or not at all, and never over what was read."""

import contextlib
import errno
import hashlib
import hmac
import os
import pathlib
import secrets
import stat
from collections.abc import Collection, Iterator, Sequence

from mag._lib.errors import ValueMistake

MANIFEST = ".manifest.json"  # behind the name of a published file
SECRET = ".manifest.secret"  # the salt of the input's digest, which stays with the holder of the data
PRIVATE = 0o600


@contextlib.contextmanager
def writing(
    *targets: os.PathLike[str] | str, sources: Collection[os.PathLike[str] | str] = (), overwrite: bool = False
) -> Iterator[list[pathlib.Path]]:
    """Drafts beside the targets, which get their names when the block ends well.

    The drafts are removed on any exception.  They are published from the last to the first, so that the first file is
    there only when all are.  A file that is replaced keeps its permissions; the file of a secret is its owner's alone.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mag._lib.atomic import writing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "out.csv")
    ...     with writing(target) as [draft]:
    ...         _ = draft.write_text("x")
    ...         before = target.exists()
    ...     before, target.read_text()
    (False, 'x')
    """
    places = [check_target(target, sources, overwrite) for target in targets]
    if len(set(places)) < len(places):
        raise ValueMistake(f"the files to write must have different names; got {_list_names(places)}.")
    drafts = [place.with_name(f".{place.stem}.{secrets.token_hex(4)}.part{place.suffix}") for place in places]
    published: list[pathlib.Path] = []
    try:
        for draft, place in zip(drafts, places, strict=True):
            mode = _mode(place)
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else PRIVATE))
            if mode is not None:
                os.chmod(draft, mode)
        yield drafts
        for draft in drafts:
            _sync(draft)
        for draft, place in reversed(list(zip(drafts, places, strict=True))):
            _publish(draft, place, overwrite)
            published.append(place)
        for folder in {place.parent for place in places}:
            _sync(folder)
    except BaseException:
        for path in [*drafts, *([] if overwrite else published)]:
            path.unlink(missing_ok=True)
        raise


def _mode(place: pathlib.Path) -> int | None:
    """The permissions of a file to write; None for the usual ones."""
    if place.name.endswith(SECRET):
        return PRIVATE
    return stat.S_IMODE(place.stat().st_mode) & 0o777 if place.exists() else None


def digest(path: os.PathLike[str] | str, salt: bytes | None = None) -> str:
    """The SHA-256 of a file; with a salt the HMAC, which says nothing to those who do not know the salt."""
    with open(path, "rb") as file:
        if salt is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        return hashlib.file_digest(file, lambda: hmac.new(salt, digestmod="sha256")).hexdigest()


def check_target(
    target: os.PathLike[str] | str, sources: Collection[os.PathLike[str] | str] = (), overwrite: bool = False
) -> pathlib.Path:
    """Where the target really is, through links; neither a source nor, unless told so, an existing file."""
    place = pathlib.Path(os.path.realpath(target))
    for source in sources:
        if place == pathlib.Path(os.path.realpath(source)) or (place.exists() and os.path.samefile(place, source)):
            raise ValueMistake(f"{str(target)!r} is the input, {str(source)!r}; choose another name.")
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(place.parent))
    if place.exists() and not place.is_file():
        raise ValueMistake(f"{str(target)!r} is not a file; choose another name.")
    if place.exists() and not overwrite:
        raise FileExistsError(errno.EEXIST, "the file exists; choose another name, or pass overwrite=True", str(target))
    return place


def _publish(draft: pathlib.Path, place: pathlib.Path, overwrite: bool) -> None:
    """A link fails where a file has appeared in the meantime; a replacement would not."""
    if not overwrite:
        try:
            os.link(draft, place)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if place.exists():
                raise FileExistsError(errno.EEXIST, "the file exists", str(place)) from None
        else:
            draft.unlink()
            return
    os.replace(draft, place)


def _sync(path: pathlib.Path) -> None:
    """On the disk, not only in memory; folders cannot be opened everywhere."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _list_names(paths: Sequence[pathlib.Path]) -> str:
    return ", ".join(repr(path.name) for path in paths)
