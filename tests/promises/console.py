"""Commands of the documentation, run as a reader would: blocks ```console with `$ command` and what it prints.

A command continues after a backslash, and in lines that begin with `> `, as in a shell.
"""

import doctest
import os
import pathlib
import re
import shutil
import subprocess

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE  # lines of the documentation are wrapped
END = "=== end of a command ==="


def commands(text: str) -> list[tuple[str, str]]:
    """The commands of a page, and their output."""
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    found = []
    for entry in (entry for block in blocks for entry in re.split(r"^\$ ", block, flags=re.M)[1:]):
        lines = entry.splitlines()
        length = 1
        while length < len(lines) and (lines[length - 1].endswith("\\") or lines[length].startswith("> ")):
            length += 1
        command = "\n".join(line.removeprefix("> ") for line in lines[:length])
        found.append((command, "\n".join(lines[length:])))
    return found


def run(text: str, folder: pathlib.Path, bin_folder: pathlib.Path | None = None, **environment: str) -> list[str]:
    """Run the commands of a page in one shell; a sentence for every one that prints something else."""
    shown = commands(text)
    path = os.pathsep.join(map(str, [*([bin_folder] if bin_folder else []), os.environ["PATH"]]))
    script = "".join(f"{command}\ncode=$?; echo '{END}'; (exit $code)\n" for command, _ in shown)
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-c", f"exec 2>&1\n{script}"],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "140", "PYTHONUTF8": "1", **environment},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=False,
    )
    printed = done.stdout.split(f"{END}\n")[:-1]
    checker = doctest.OutputChecker()
    assert len(printed) == len(shown), done.stdout
    return [
        f"$ {command}\nprinted\n{got}\nwhere the documentation has\n{wanted}"
        for (command, wanted), got in zip(shown, printed, strict=True)
        if not checker.check_output(_comparable(wanted), _comparable(got), FLAGS)
    ]


def _comparable(text: str) -> str:
    """Lines below the heads of tables are as long as the tables are wide, which depends on the seconds in them."""
    return re.sub("─+", "─", text.strip()) + "\n"
