"""Edits to kernels, which the comparison `notices` of a file of tests must notice."""

import subprocess
import sys

from mag._backends.cuda import sources
from tests.data.paths import PROJECT


def in_a_process(file, old, new, home):
    """`notices` of a file of tests, where an edit may crash without harm."""
    code = (
        f"import sys; from {home} import notices; from tests.cuda.host import HostModule\n"
        "class Edited(HostModule):\n"
        "    def __init__(self, *, code, options=()):\n"
        "        super().__init__(code=code.replace(*sys.argv[1:]), options=options)\n"
        "sys.exit(7 if notices(Edited) else 0)\n"
    )
    command = [sys.executable, "-c", code, old, new]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def assert_noticed(file, old, new, home):
    """That `notices` of a file of tests finds an edit, and nothing where there is none."""
    edits = (sources.folder() / file).read_text().count(old)
    done = in_a_process(file, old, new, home)
    if not new:
        assert (edits, done.returncode) == (0, 0), done.stderr
        return
    assert edits >= 1, "the edit no longer applies"
    assert done.returncode == 7 or done.returncode < 0, done.stderr
