"""Kernels under g++'s sanitizers: addresses and undefined behavior, and races between the threads of a block.

Each run is a process of its own, because a sanitizer must be loaded first.  `pytest -m sanitize`.
"""

import os
import subprocess
import sys

import pytest

from tests.cuda.host import compiler
from tests.data.paths import PROJECT

pytestmark = [
    pytest.mark.sanitize,
    pytest.mark.skipif(compiler() != ["g++"], reason="no g++, whose sanitizers these are"),
]

SET_UP = """
import sys
import numpy as np
from tests.cuda.host import HostModule
HostModule.sanitize, HostModule.order = sys.argv[1:3]
from mag._backends.cuda.launch import Device, solve
device = Device(np, HostModule, shared=100 << 10)
"""
SORT = """
from tests.cuda.sorting import bucket_columns, sorted_by_buckets
assert sorted_by_buckets(device, bucket_columns(4500)[[3, 8]]) == [True, True]
print("clean")
"""
RUN = """
from mag._backends.cuda.columns import ColumnBatch
from mag._backends.cuda.lines import DeviceProjections
from tests.cuda.runs import problem
from tests.cuda.records import check_lists
rng = np.random.default_rng(0)
for k in (3, 13):
    for n in (2 * k, 5 * k + 1, 300):
        X = np.stack([rng.random(n), np.arange(n) * 1.0, rng.integers(0, 5, n) * 1.0])
        columns = ColumnBatch.compute(device, X, problem("sse", k))
        assert columns.finish()
        columns.masked
        solve(device, np.sort(X, axis=1), np.zeros(3, np.int32), "sse", k, (2, 1))
solve(Device(np, HostModule, shared=0), np.sort(X, axis=1), np.zeros(3, np.int32), "sse", 13)
from mag._backends.cuda.hybrid import starts_by_blocks
from tests.cuda.runs import staggered
for k in (3, 13):
    for n in (2 * k, 5 * k + 1, 300):
        assert starts_by_blocks(device, np.sort(rng.random(n)), staggered("sse", k))[0] == 0
lines = DeviceProjections(device, rng.normal(size=(90, 9)), problem("sse", 3))
lines.score(rng.normal(size=(10, 9)))
lines.labels_in_orders(rng.normal(size=(3, 9)))
lines.products()
from mag._backends.cuda.halving import Halving
from mag._backends.cuda.totals import group_means, squares_within
weights = rng.uniform(1, 9, 300)
for k in (3, 13):
    columns = ColumnBatch.compute(device, X, problem("sse", k), weights=weights)
    assert columns.finish()
    columns.masked, columns.shares
rows, order, starts = rng.normal(size=(90, 3)), np.arange(90, dtype=np.int32), np.array([0, 7, 40], np.int32)
group_means(device, rows, order, starts)
squares_within(device, rows, order, starts)
for rule in range(3):
    Halving(device, rows, rule, 1.0).run(lambda sizes: sizes > 8, lambda: None)
for sign in (1.0, -1.0):
    check_lists(device, 300, 2, 40, sign)
print("clean")
"""


def run(sanitizer, order="forward", edit=("", ""), kernels=RUN):
    library = {"address,undefined": "libasan.so", "thread": "libtsan.so"}[sanitizer]
    found = subprocess.run(["g++", f"-print-file-name={library}"], capture_output=True, text=True, check=True)
    quiet = "detect_leaks=0:verify_asan_link_order=0"
    environment = os.environ | {"LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": quiet}
    environment |= {"TSAN_OPTIONS": "report_bugs=1:exitcode=66", "UBSAN_OPTIONS": "halt_on_error=1"}
    code = SET_UP + kernels
    if edit[0]:
        start = "import tests.cuda.host as h\nold = h.HostModule.__init__\ndef changed(self, *, code, options=()):\n"
        start += f"    old(self, code=code.replace({edit[0]!r}, {edit[1]!r}), options=options)\n"
        code = start + "h.HostModule.__init__ = changed\n" + code
    return subprocess.run(
        [sys.executable, "-c", code, sanitizer, order],
        env=environment,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
@pytest.mark.parametrize("order", ["forward", "random"])
@pytest.mark.parametrize("kernels", [RUN, SORT], ids=["solve", "sort"])
def test_kernels_are_clean(kernels, sanitizer, order):
    done = run(sanitizer, order, kernels=kernels)
    assert done.stdout.strip() == "clean", done.stderr[-3000:]
    assert done.returncode == 0, done.stderr[-3000:]


def test_an_address_outside_is_found():
    done = run("address,undefined", edit=("sums[s * length + p +", "sums[40000 + s * length + p +"))
    assert "AddressSanitizer" in done.stderr


@pytest.mark.parametrize(
    "barrier",
    [
        "    base = least_of(base);\n    __syncwarp();\n",
        "+ Cost::left(f, p);\n        __syncwarp();\n",
        "columns, run.sizes, mine);\n        __syncwarp();\n",
        "counts[digit] = seen + __popc(equal);\n    __syncwarp();\n",
    ],
)
def test_a_removed_barrier_is_a_race(barrier):
    done = run("thread", edit=(barrier, barrier.replace("__syncwarp();", "")))
    assert "data race" in done.stderr


@pytest.mark.parametrize(
    "line", ["    places_of(s.seen, s.of_warps, sum);\n", "            s.carried[place] = carried[r];\n        }\n"]
)
def test_a_removed_barrier_of_the_sort_is_a_race(line):
    before, after = (
        (f"    __syncthreads();\n{line}", line) if "places" in line else (f"{line}    __syncthreads();\n", line)
    )
    done = run("thread", edit=(before, after), kernels=SORT)
    assert "data race" in done.stderr
