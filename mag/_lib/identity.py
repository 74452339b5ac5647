"""Which file a name means: files are distinguished by identity, not by name."""

import os
import pathlib
import re
import unicodedata
from collections.abc import Hashable, Iterator
from typing import Any


def identify(path: os.PathLike[str] | str) -> Hashable:
    """The key that all names of one file share: its device and inode.

    A file that is not there yet is its folder and its name, in any case and normal form: file systems differ in whether
    these are one file.

    Examples
    --------
    >>> from mag._lib.identity import identify
    >>> identify("new.csv") == identify("./New.csv"), identify("new.csv") == identify("old.csv")
    (True, False)
    """
    place = os.path.realpath(path)
    try:
        return _number(place)
    except OSError:
        folder, name = os.path.split(place)
    folded = unicodedata.normalize("NFC", name).casefold()
    try:
        return *_number(folder), folded
    except OSError:  # no folder either
        return folder, folded


def _number(place: str) -> tuple[int, int]:
    status = os.stat(place)
    return status.st_dev, status.st_ino


def find_files(*arguments: Any) -> Iterator[pathlib.Path]:
    """The files that arguments of a call name: paths, words such as NAME=FILE, and containers of these.

    A word may be cut in several ways.  All that lead to a file count: it is better to spare a file than to replace one
    that is read.  A path counts in any case.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mag._lib.identity import find_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tree = pathlib.Path(folder, "a=b.csv")
    ...     _ = tree.write_text("x;*")
    ...     [path == tree for path in find_files([f"job=0.2:{tree}", "income=0.3"], None)]
    [True]
    """
    for argument in arguments:
        if isinstance(argument, os.PathLike):
            yield pathlib.Path(argument)  # the call itself may create it, as a ledger
        elif isinstance(argument, str):
            starts = [0, *(cut.end() for cut in re.finditer("[=:,]", argument))]
            ends = [*(cut.start() for cut in re.finditer("[:,]", argument)), len(argument)]
            yield from _existing([argument[start:end] for start in starts for end in ends if start < end])
        elif isinstance(argument, (list, tuple)):
            yield from find_files(*argument)


def _existing(names: list[str]) -> Iterator[pathlib.Path]:
    for name in names:
        try:
            if os.path.isfile(name):
                yield pathlib.Path(name)
        except ValueError:  # a name that no file can have
            continue
