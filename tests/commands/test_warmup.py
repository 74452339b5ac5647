"""After `mag warmup`, first calls of new processes compile nothing."""

import os
import subprocess
import sys

import pytest

# What a new process compiles; each call is one that people begin with.
CALLS = """
import contextlib, io, sys, warnings
from mag._compiled import linking
compiled, compile_extra = [], linking.Compiler.compile_extra
def note(self, function):
    compiled.append(f"{function.__module__}.{function.__qualname__} for {self.state.args}")
    return compile_extra(self, function)
linking.Compiler.compile_extra = note

import numpy as np
import polars
import mag
from mag.commands.cli import main

X = np.random.default_rng(1).normal(size=(400, 3)).round(4)
people = {"x": X[:, 0], "y": (10 * X[:, 1]).astype(np.int64), "s": np.arange(400) % 3}
for column in (X[:, 0], np.sort(X[:, 0]), people["y"], people["y"].astype(np.int32), X[:, 0].astype(np.float32)):
    grouping = mag.univariate(column, 5)
    grouping.labels, grouping.masked, grouping.cost, grouping.information_loss, grouping.representatives
for table in (X, X.T.copy().T, np.arange(600).reshape(-1, 3)):
    groupings = mag.columns(table, 5)
    groupings.labels, groupings.masked, groupings.cost
for options in ({}, {"method": "mona"}, {"time_limit": 0.05}):
    grouping = mag.multivariate(X, 5, **options)
    grouping.labels, grouping.masked, grouping.cost, grouping.information_loss
for options in ({"drop": "s"}, {"by": "s"}, {"by": "s", "time_limit": 1.0}, {"drop": "s", "scope": "per-column"}):
    for table in (people, polars.DataFrame(people)):
        release = mag.microaggregate(table, 5, ["x", "y"], **options)
release.risk(), release.utility()
mag.assess(people, ["y", "s"])
mag.assess(polars.DataFrame(people), ["x"], unit="s", weights=np.ones(400))
polars.DataFrame(people).write_csv("people.csv")
polars.DataFrame(people).write_parquet("people.parquet")
with contextlib.redirect_stdout(io.StringIO()):
    for line in (
        "mask people.csv -o joint.csv -k 5 -c x -c y --by s --report joint.html",
        "mask people.csv -o limited.csv -k 5 -c x -c y --keep s --time-limit 0.05",
        "mask people.parquet -o each.parquet -k 5 -c x -c y --drop s --scope per-column",
        "check joint.csv --qi s --qi x --qi y -k 5",
        "risk people.csv joint.csv",
        "utility people.csv joint.csv",
        "compare people.csv -c x -c y -k 5",
        "demo --folder demo",
    ):
        assert main(line.split()) == 0, line
print(*compiled, sep="\\n")
"""


def test_first_calls_after_warmup_compile_nothing(tmp_path):
    """One k, because each takes a second to compile; the others differ in nothing but a number."""
    pytest.importorskip("polars")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    warmup = [sys.executable, "-m", "mag.commands.cli", "warmup", "-k", "5"]
    said = subprocess.run(warmup, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment).stdout
    assert said.splitlines()[-1] == f"Compiled code is kept in {tmp_path / 'cache'}."
    calls = [sys.executable, "-c", CALLS]
    done = subprocess.run(calls, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == ["", ""]
