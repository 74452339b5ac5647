"""While code is compiled for more than a second, one line on a terminal says so, and nothing anywhere else."""

import os
import subprocess
import sys
import tempfile

import pytest

from mag._lib import notice

pty = pytest.importorskip("pty")

# Code that takes as long to compile as the test wants, whatever is on the disk.
SLOW = """
import sys, time
import numpy as np
from mag._compiled import jit, linking
from mag._lib import notice
from mag._lib.notice import working_on
from mag._lib.progress import Progress
notice.NOTICE_AFTER_SECONDS = 0.2
compile_extra = linking.Compiler.compile_extra
def slow(self, func):
    time.sleep(0.4)
    return compile_extra(self, func)
linking.Compiler.compile_extra = slow
increase, double = jit.uncached(lambda x: x + 1), jit.uncached(lambda x: 2 * x)
"""


def run(code, terminal, **environment):
    """What a process writes on its standard error stream, a terminal or a pipe."""
    environment = {name: value for name, value in os.environ.items() if name != "MAG_QUIET"} | environment
    command = [sys.executable, "-c", SLOW + code]
    if not terminal:
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stderr
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        written = b""
        try:
            while part := os.read(ours, 4096):
                written += part
        except OSError:  # Linux: nobody holds the other end
            pass
    os.close(ours)
    assert process.returncode == 0, written
    return written.decode().replace("\r\n", "\n")


BOTH = "with working_on('ona_star'): increase(1), increase(1.0), double(1)"


def test_a_terminal_is_told_once():
    assert run(BOTH, True) == "mag: compiling ona_star (once, about 10 s) …\n"


@pytest.mark.parametrize(
    ("code", "terminal", "environment"),
    [
        (BOTH, False, {}),
        (BOTH, True, {"MAG_QUIET": "1"}),
        ("with working_on('ona_star', Progress(False).span(0.0, 0.5).quiet): increase(1)", True, {}),
        ("with working_on(quiet=True), working_on('ona_star'): increase(1)", True, {}),
        ("notice.NOTICE_AFTER_SECONDS = 60.0; increase(1)", True, {}),
    ],
)
def test_nothing_is_written_where_nobody_wants_it(code, terminal, environment):
    assert run(code, terminal, **environment) == ""


def test_short_compilations_add_up_and_a_method_is_named_as_users_call_it():
    """On a terminal, through the public function, and from an empty cache: that is, for real."""
    code = """
linking.Compiler.compile_extra = compile_extra
import mag
notice.NOTICE_AFTER_SECONDS = 0.05
mag.multivariate(np.arange(40.0).reshape(20, 2) ** 2, 3, method="zscore", progress=False)
mag.multivariate(np.arange(40.0).reshape(20, 2) ** 2, 3, method="mondrian")
mag.univariate([1.0, 2.0, 3.0, 4.0], 2, solver="quadratic")
"""
    with tempfile.TemporaryDirectory() as cache:
        written = run(code, True, NUMBA_CACHE_DIR=cache)
        assert written == "".join(f"mag: compiling {name} (once, about {seconds} s) …\n" for name, seconds in (
            ("mondrian", notice.SECONDS_OF_OTHER_METHODS), ("univariate", notice.SECONDS["univariate"]),
        ))  # fmt: skip
        assert run(code, True, NUMBA_CACHE_DIR=cache) == ""  # loaded


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("mag._backends.cpu.batch", "columns"),
        ("mag._compiled.sort", "univariate"),
        ("mag.bounds.neighbor", "bound"),
        ("mag.methods.ona.phases", "ona"),
        ("mag.solvers.block", "univariate"),
    ],
)
def test_what_nobody_named_is_named_by_its_module(module, name):
    assert notice._part_of(module) == name
