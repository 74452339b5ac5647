"""Edits to kernels, which the comparison `notices` of a file of tests must notice."""

import subprocess
import sys

from mag._backends.cuda import sources
from tests.data.paths import PROJECT

MAX_CPU_SECONDS = 300  # of one edit, which may make a kernel run forever; a signal ends it then


def in_a_process(file, old, new, home):
    """`notices` of a file of tests, where an edit may crash without harm."""
    code = (
        "import resource, sys\n"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({MAX_CPU_SECONDS}, {MAX_CPU_SECONDS}))\n"
        f"from {home} import notices; from tests.cuda.host import HostModule\n"
        "class Edited(HostModule):\n"
        "    def __init__(self, *, code, options=()):\n"
        "        super().__init__(code=code.replace(*sys.argv[1:]), options=options)\n"
        "sys.exit(7 if notices(Edited) else 0)\n"
    )
    command = [sys.executable, "-c", code, old, new]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


def assert_applicable(edits):
    """That the code of every edit is still there: code that moves must not leave an edit behind."""
    for file, old, new in edits:
        assert old in (sources.folder() / file).read_text(), (file, old)
        assert old != new, (file, old)


def assert_noticed(file, old, new, home):
    """That `notices` of a file of tests finds an edit, and nothing where there is none."""
    done = in_a_process(file, old, new, home)
    if not new:
        assert (old in (sources.folder() / file).read_text(), done.returncode) == (False, 0), done.stderr
        return
    assert_applicable([(file, old, new)])
    assert done.returncode == 7 or done.returncode < 0, done.stderr
