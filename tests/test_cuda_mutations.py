"""Edits to the kernels, each of which some comparison must notice.  `pytest -m mutation`."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest

import mag
from mag._backends.cuda import sources
from mag._backends.cuda.columns import TOO_SMALL, Columns
from mag._backends.cuda.launch import Device, verify
from tests.cuda.host import DoesNotCompile
from tests.cuda.runs import differences, problem, table
from tests.hostile import real_columns
from tests.test_block import SHAPES

pytestmark = pytest.mark.mutation

# (file, what stands there, what an error would put there)
EDITS = [
    # a removed barrier
    ("block.cu", "+ Cost::left(f, p);\n        __syncwarp();", "+ Cost::left(f, p);"),
    ("block.cu", "    __syncwarp();\n    if (lane < 2 * Cost::terms)", "    if (lane < 2 * Cost::terms)"),
    # an off-by-one in the window, or in a loop
    ("narrow.cu", "for (int L = 1; L <= WINDOW; ++L)", "for (int L = 1; L < WINDOW; ++L)"),
    ("narrow.cu", "if (L >= K) {", "if (L > K) {"),
    ("narrow.cu", "for (int m = 1; m < WINDOW; ++m) base", "for (int m = 1; m < WINDOW - 1; ++m) base"),
    ("narrow.cu", "PANEL = MAG_PANEL", "PANEL = 124"),
    ("block.cu", "min(2 * k - 1, c + WIDTH - 1 - low)", "min(2 * k - 2, c + WIDTH - 1 - low)"),
    ("block.cu", "max(k, c - high)", "max(k + 1, c - high)"),
    ("block.cu", "last = max(largest, smallest + 4 * rounds - 1)", "last = largest - 1"),
    ("block.cu", "high = row;", "high = row - 1;"),
    ("block.cu", "low = max(low - columns, 1 - 2 * k);", "low = max(low - columns + 1, 1 - 2 * k);"),
    ("labels.cu", "i64 e = s.high - distance;", "i64 e = s.high - distance - 1;"),
    ("labels.cu", "distance = to[place];", "distance = to[place] + 1;"),
    ("groups.cu", ": n;", ": n - 1;"),
    # a wrong stride
    ("narrow.cu", "entry[m * stride] = F[m];", "entry[m] = F[m];"),
    (
        "narrow.cu",
        "sizes + col * stride, bases + (i64)col * panels,\n               entry",
        "sizes + col * n, bases + (i64)col * panels,\n               entry",
    ),
    ("block.cu", "3 * k + 16};", "3 * k};"),
    ("labels.cu", "labels[col * n + order[col * n + i]]", "labels[col * n + order[i]]"),
    ("labels.cu", "starts[col * most + place] = ", "starts[col + place] = "),
    ("groups.cu", "id / n * most + labels[id]", "id / n + labels[id]"),
    # a swapped side of the anchor, a wrong anchor, a wrong sign
    ("block.cu", "left ? carry - line[q] : carry + line[q]", "left ? carry + line[q] : carry - line[q]"),
    ("block.cu", "scaled(run.x[b - 1], run.scale)", "scaled(run.x[b], run.scale)"),
    ("narrow.cu", "sums[s][L - 1] - t[s]", "sums[s][L - 1] + t[s]"),
    ("costs/sse.cuh", "return -f.total(1, i);", "return f.total(1, i);"),
    ("costs/sse.cuh", "f.total(0, j) - f.total(0, i)", "f.total(0, j) + f.total(0, i)"),
    # a tie broken otherwise, another order of additions, a missing restart, a certificate that is not checked
    ("narrow.cu", "candidate < best", "candidate <= best"),
    ("block.cu", "value == mine.value && size < mine.size", "value == mine.value && size > mine.size"),
    ("block.cu", "(t[0][s] + t[1][s]) + (t[2][s] + t[3][s])", "t[0][s] + (t[1][s] + (t[2][s] + t[3][s]))"),
    ("group.cuh", "((r[0] + r[1]) + (r[2] + r[3]))", "(((r[0] + r[1]) + r[2]) + r[3])"),
    ("narrow.cu", "F[m] -= base;", "F[m] -= 0 * base;"),
    ("narrow.cu", "if (same) continue;", "continue;"),
    ("block.cu", "if (!__any_sync(ALL_LANES, differs)) continue;", "if (__any_sync(ALL_LANES, true)) continue;"),
    ("labels.cu", "here < least", "here < least - 1"),
]

CONSTANT = list(SHAPES).index("constant")


def notices(module):
    """Whether some comparison fails, or the runtime reports an error."""
    device = Device(np, module, shared=100 << 10)
    try:
        for k, chunks in ((3, None), (3, (2, 1)), (13, None), (13, (4, 2)), (100, None)):
            rows, redone = differences(device, table("sse", 903, k), "sse", k, chunks)
            if rows or (k == 3 and redone[CONSTANT]):  # constant values coalesce within a panel
                return True
        X = np.stack([real_columns(2503)[name] for name in ("uniform", "duplicates", "cauchy", "offset")])
        X = np.vstack([X, np.random.default_rng(0).standard_cauchy((4, 2503))])  # sums that are rounded
        for k in (3, 13, 200):
            columns = Columns(device, X, problem("sse", k))
            columns.finish()
            masked, costs = columns.masked, columns.cost
            for row, x in enumerate(X):
                expected = mag.univariate(x, k)
                same = np.array_equal(expected.labels, columns.labels[row]) and expected.cost == costs[row]
                if not (same and np.array_equal(expected.masked, masked[row])):
                    return True
        return not withheld(device)
    except DoesNotCompile:
        raise
    except RuntimeError:
        return True


def withheld(device):
    """Whether a group of k-1 records is flagged, and groups of k are not."""
    flags = []
    for labels in ([0, 1, 0, 1, 0], [0, 1, 0, 1, 1]), ([0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]):
        labels, found = np.array(labels, np.int32), np.zeros(2, np.int32)
        verify(device, labels, np.full(2, 2, np.int32), 3, np.zeros((2, 2), np.int32), found)
        flags.append(found.tolist())
    return flags == [[TOO_SMALL, TOO_SMALL], [0, 0]]


def in_a_process(file, old, new, home="tests.test_cuda_mutations"):
    """`notices` of a file of tests, where an edit may crash without harm."""
    code = (
        f"import sys; from {home} import notices; from tests.cuda.host import HostModule\n"
        "class Edited(HostModule):\n"
        "    def __init__(self, *, code, options=()):\n"
        "        super().__init__(code=code.replace(*sys.argv[1:]), options=options)\n"
        "sys.exit(7 if notices(Edited) else 0)\n"
    )
    command = [sys.executable, "-c", code, old, new]
    project = pathlib.Path(__file__).parents[1]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def test_without_an_edit_nothing_is_noticed():
    done = in_a_process("", "nothing like this", "")
    assert done.returncode == 0, done.stderr


def test_an_edit_that_does_not_compile_is_not_taken_for_noticed():
    done = in_a_process("", 'extern "C"', "extern nonsense")
    assert done.returncode == 1
    assert "DoesNotCompile" in done.stderr


@pytest.mark.parametrize(("file", "old", "new"), EDITS, ids=range(len(EDITS)))
def test_an_edit_is_noticed(file, old, new):
    assert (sources.folder() / file).read_text().count(old) >= 1, "the edit no longer applies"
    done = in_a_process(file, old, new)
    # noticed or refused by the runtime, or ended by a signal; an edit that does not compile shows nothing
    assert done.returncode == 7 or done.returncode < 0, done.stderr
