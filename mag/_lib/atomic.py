"""Files that appear complete or not at all, and never replace a file that is read."""

import contextlib
import errno
import hashlib
import hmac
import os
import pathlib
import secrets
import stat
from collections.abc import Collection, Iterator, Sequence

from mag._lib.errors import InputValueError
from mag._lib.identity import identify
from mag._lib.lock import exclusive_lock
from mag._lib.wording import named

MANIFEST = ".manifest.json"  # suffix of the name of a published file
SECRET = ".manifest.secret"  # the salt of the input's digest; it stays with the data's owner
LEDGER_MARKER_SUFFIX = ".spent"  # suffix of the hidden name of a ledger's marker
PRIVATE = 0o600


class Reserved:
    """Files that this run alone may write, where they really are: no later `chdir` and no new link moves them."""

    def __init__(self, places: Sequence[pathlib.Path], overwrite: bool) -> None:
        self.places, self.overwrite = list(places), overwrite

    @contextlib.contextmanager
    def drafts(self) -> Iterator[list[pathlib.Path]]:
        """Drafts next to the files; they get their names when the block succeeds, and are removed when it fails.

        The first file has its name only when all have: of several files that are replaced, the old ones go before the
        new ones come.  A file that is replaced keeps its permissions; the file of a secret is its owner's alone.
        """
        names = [_hidden(place, "part") for place in self.places]
        try:
            for name, place in zip(names, self.places, strict=True):
                mode = _mode(place)
                os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else PRIVATE))
                if mode is not None:
                    os.chmod(name, mode)
            yield names
            for name in names:
                _sync(name)
            self._publish(names)
        finally:
            for name in names:
                name.unlink(missing_ok=True)

    def _publish(self, drafts: Sequence[pathlib.Path]) -> None:
        """Give all drafts their names, or none of them."""
        published: list[pathlib.Path] = []
        aside: dict[pathlib.Path, pathlib.Path] = {}
        replaced = self.overwrite and len(self.places) == 1  # in one step
        try:
            if self.overwrite and not replaced:
                for place in filter(pathlib.Path.exists, self.places):
                    aside[place] = _hidden(place, "old")
                    os.replace(place, aside[place])
            for draft, place in reversed(list(zip(drafts, self.places, strict=True))):
                _publish(draft, place, self.overwrite)
                published.append(place)
            for folder in {place.parent for place in self.places}:
                _sync(folder)
        except BaseException:
            for place in () if replaced else published:
                place.unlink(missing_ok=True)
            for place, old in reversed(aside.items()):
                with contextlib.suppress(FileNotFoundError):
                    os.replace(old, place)
            raise
        for old in aside.values():
            old.unlink(missing_ok=True)


@contextlib.contextmanager
def reserving(
    *targets: os.PathLike[str] | str,
    sources: Collection[os.PathLike[str] | str] = (),
    overwrite: bool = False,
    dry_run: bool = False,
) -> Iterator[Reserved]:
    """Files that can be written, checked and locked before anything long begins; a dry run checks only.

    None of them is one of the `sources`, all files that the run reads, and no two are one file, by any name or link.
    Until the block ends, other runs that try to write one of them get one sentence.
    """
    from mag._lib import checks  # imported here: it needs NumPy

    checks.flag("overwrite", overwrite)
    places = [check_target(target, sources, overwrite) for target in targets]
    if len({identify(place) for place in places}) < len(places):
        raise InputValueError(f"the files to write must be different files; got {_list_names(targets)}.")
    with contextlib.nullcontext() if dry_run else exclusive_lock(*targets):
        for target in targets:
            check_target(target, sources, overwrite)  # again: a run may have ended in between
        yield Reserved(places, overwrite)


@contextlib.contextmanager
def writing(
    *targets: os.PathLike[str] | str, sources: Collection[os.PathLike[str] | str] = (), overwrite: bool = False
) -> Iterator[list[pathlib.Path]]:
    """Drafts next to the targets; they get their names when the block succeeds.

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
    with reserving(*targets, sources=sources, overwrite=overwrite) as reserved, reserved.drafts() as drafts:
        yield drafts


def _hidden(place: pathlib.Path, what: str) -> pathlib.Path:
    """A new name next to a file, with its ending."""
    return place.with_name(f".{place.stem}.{secrets.token_hex(4)}.{what}{place.suffix}")


def _mode(place: pathlib.Path) -> int | None:
    """The permissions of a file to write; None for the usual ones."""
    if place.name.endswith(SECRET):
        return PRIVATE
    return stat.S_IMODE(place.stat().st_mode) & 0o777 if place.exists() else None


def digest(path: os.PathLike[str] | str, salt: bytes | None = None) -> str:
    """The SHA-256 of a file; with a salt the HMAC, which reveals nothing to anyone without the salt."""
    with open(path, "rb") as file:
        if salt is None:
            return hashlib.file_digest(file, "sha256").hexdigest()
        return hashlib.file_digest(file, lambda: hmac.new(salt, digestmod="sha256")).hexdigest()


def check_target(
    target: os.PathLike[str] | str, sources: Collection[os.PathLike[str] | str] = (), overwrite: bool = False
) -> pathlib.Path:
    """The target's real path, through links; it must not be a source nor, unless allowed, an existing file."""
    place = pathlib.Path(os.path.realpath(target))
    own = identify(place)
    for source in sources:
        if own == identify(source):
            raise InputValueError(f"{str(target)!r} is read by this run, as {str(source)!r}; choose another name.")
    if not place.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(place.parent))
    if place.exists() and not place.is_file():
        raise InputValueError(f"{str(target)!r} is not a file; choose another name.")
    if is_ledger(place):
        raise InputValueError(
            f"{str(target)!r} is the ledger of a budget, which is never replaced; choose another name."
        )
    if place.exists() and not overwrite:
        raise FileExistsError(
            errno.EEXIST, f"the file exists; choose another name, or pass {named('overwrite', True)}", str(target)
        )
    return place


def is_ledger(place: pathlib.Path) -> bool:
    """Whether a file is, or was, the ledger of a budget, or its marker."""
    return marker_of(place).exists() or (place.name.startswith(".") and place.name.endswith(LEDGER_MARKER_SUFFIX))


def marker_of(ledger: pathlib.Path) -> pathlib.Path:
    """The file that stays when a ledger is lost."""
    return ledger.with_name(f".{ledger.name}{LEDGER_MARKER_SUFFIX}")


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
    """Flush to the disk; not every system can open folders."""
    if path.is_dir() and not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _list_names(paths: Sequence[os.PathLike[str] | str]) -> str:
    return ", ".join(repr(os.path.basename(path)) for path in paths)
