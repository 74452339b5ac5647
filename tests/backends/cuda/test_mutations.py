"""Edits to the kernels, each of which some comparison must notice.  `pytest -m mutation`."""

from unittest import mock

import numpy as np
import pytest

import mag
from mag._backends import cpu, cuda
from mag._backends.cuda.columns import TOO_SMALL, UNSORTED, ColumnBatch
from mag._backends.cuda.launch import Device, label, verify
from mag._backends.cuda.lines import DeviceProjections
from mag._backends.cuda.sort import TILE
from mag._backends.cuda.totals import integer_means, squares_within
from mag.methods.orders import consecutive
from tests.cuda import records, runs, sorting, tables
from tests.cuda.host import ORDERS, DoesNotCompile
from tests.cuda.mutations import assert_applicable, assert_noticed, in_a_process
from tests.cuda.runs import differences, problem, table
from tests.data.columns import SHAPES
from tests.data.hostile import real_columns

# (file, code there, the code with an error)
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
    ("block.cu", "max(largest, smallest + 4 * rounds - 1)", "largest - 1"),
    ("block.cu", "rounds - 1), j - bottom);", "rounds - 1), j - bottom - 1);"),
    ("block.cu", "c % LANES == 0 || c >= columns", "c >= columns"),
    ("block.cu", "(c & (LANES - 1)) == (lane & -WIDTH)", "(c & (LANES - 1)) >= (lane & -WIDTH)"),
    ("block.cu", "high = row;", "high = row - 1;"),
    ("block.cu", "low = max(low - columns, 1 - 2 * k);", "low = max(low - columns + 1, 1 - 2 * k);"),
    ("labels.cu", "i64 e = s.high - distance;", "i64 e = s.high - distance - 1;"),
    ("labels.cu", "distance = to[place];", "distance = to[place] + 1;"),
    ("groups.cu", ": n;", ": n - 1;"),
    # a wrong stride
    ("narrow.cu", "entry[m * stride] = F[m];", "entry[m] = F[m];"),
    (
        "narrow.cu",
        "own, F, sizes + col * stride,\n               bases",
        "own, F, sizes + col * n,\n               bases",
    ),
    ("block.cu", "3 * k + 16};", "3 * k};"),
    ("labels.cu", "labels[col * n + order[col * n + i]]", "labels[col * n + order[i]]"),
    ("labels.cu", "starts[col * most + place] = ", "starts[col + place] = "),
    ("groups.cu", "id / n * most + labels[id]", "id / n + labels[id]"),
    # a swapped side of the anchor, a wrong anchor, a wrong sign
    ("block.cu", "p < 0 ? -here : here", "p < 0 ? here : -here"),
    ("block.cu", "left ? -*at : *at", "left ? *at : -*at"),
    ("block.cu", "(lane & ~3) + (p < 0 ? 2 : 0)", "(lane & ~3)"),
    ("block.cu", "scaled(run.x[b - 1], run.scale)", "scaled(run.x[b], run.scale)"),
    ("narrow.cu", "sums[s][L - 1] - t[s]", "sums[s][L - 1] + t[s]"),
    ("costs/sse.cuh", "return -f.total(1, i);", "return f.total(1, i);"),
    ("costs/sse.cuh", "f.total(0, j) - f.total(0, i)", "f.total(0, j) + f.total(0, i)"),
    # a tie broken otherwise, another order of additions, a missing restart, a certificate that is not checked
    ("narrow.cu", "candidate < best", "candidate <= best"),
    ("block.cu", "value == mine.value && size < mine.size", "value == mine.value && size > mine.size"),
    ("block.cu", "? sum + nearer : sum", "? t[s] + nearer + (sum - t[s]) : sum"),
    ("group.cuh", "((r[0] + r[1]) + (r[2] + r[3]))", "(((r[0] + r[1]) + r[2]) + r[3])"),
    ("narrow.cu", "F[m] -= base;", "F[m] -= 0 * base;"),
    ("narrow.cu", "if (same) continue;", "continue;"),
    ("block.cu", "if (!__any_sync(ALL_LANES, differs)) continue;", "if (__any_sync(ALL_LANES, true)) continue;"),
    ("labels.cu", "here < least", "here < least - 1"),
    # a sort that is not stable, or not of all bits, types, parts and tiles, or that waits too little
    ("radix.cuh", "if (bits == sign) return sign;", "if (bits == sign) return 0;"),
    ("radix.cuh", "return bits & sign ? (key_type)~bits", "return bits & sign ? (key_type)bits"),
    ("radix.cuh", "return (key_type)(bits ^ sign);", "return bits;"),
    ("sort.cu", "word >> 8 * (pass % 4)", "word >> 7 * (pass % 4)"),
    ("sort.cu", "mine |= (key_type)(key ^ first);", "mine = (key_type)(key ^ first);"),
    ("sort.cu", "mine |= __shfl_xor_sync(ALL_LANES, mine, distance);", "mine |= mine;"),
    ("radix.cuh", "if (lane >= distance) sum += other;", "if (lane > distance) sum += other;"),
    ("radix.cuh", "for (int w = 0; w < warp; ++w) before", "for (int w = 1; w < warp; ++w) before"),
    ("radix.cuh", "((1u << threadIdx.x % 32) - 1)", "((2u << threadIdx.x % 32) - 1)"),
    ("radix.cuh", "counts[digit] : 0;\n    __syncwarp();", "counts[digit] : 0;"),
    ("sort.cu", "moves ? mine[i] : i : 0", "moves > 9 ? mine[i] : i : 0"),
    ("sort.cu", "moves_before(differ[p.col], 4)", "moves_before(differ[p.col], 3)"),
    (
        "radix.cuh",
        "(end - tile - 32 * items * (int)(threadIdx.x / 32) + 31) / 32",
        "(end - tile - 32 * items * (int)(threadIdx.x / 32)) / 32",
    ),
    ("sort.cu", "        next += here;\n", "        next += 0 * here;\n"),
    ("sort.cu", "        next += sum;\n", ""),
    ("sort.cu", "moves ? records_in[i] : i;", "moves > 1 ? records_in[i] : i;"),
    ("sort.cu", "after(moves + 1, words, other_words)", "after(moves, words, other_words)"),
    ("radix.cuh", "        seen[w][threadIdx.x] = next;\n", ""),
    ("sort.cu", "if (i < n && (moves % 2 || !moves)) records", "if (i < n && moves % 2) records"),
    ("sort.cu", "if (lane == 0 && inside) previous = ", "if (lane == 1 && inside) previous = "),
    ("sort.cu", "if (lane == 0) other = ", "if (lane == 1) other = "),
    ("sort.cu", "done[col] ? 2 : ", "done[col] ? 1 : "),
    # buckets that are not in order, not stable, too large, or sorted by too few bits
    ("buckets.cu", "s.tree[(buckets + place) / (2 * lowest)]", "s.tree[(buckets + place) / lowest / 4]"),
    ("buckets.cu", "(s.tree[node] < key)", "(s.tree[node] <= key)"),
    ("buckets.cu", "(s.ordered[below] == key)", "(s.ordered[below] != key)"),
    ("buckets.cu", "splitters[bucket - 1] == splitters[bucket]", "splitters[bucket - 1] != splitters[bucket]"),
    ("buckets.cu", "done[blockIdx.x] = !too_wide;", "done[blockIdx.x] = !too_wide || parts;"),
    ("buckets.cu", "sum <= CAPACITY || ", "sum <= 2 * CAPACITY || "),
    ("buckets.cu", "shelf.carried[i] = dealt[row + i];", "shelf.carried[i] = i;"),
    ("buckets.cu", "if (is_sorted(s, size)) return;\n    for (int shift = max", "return;\n    for (int shift = max"),
    ("buckets.cu", "if (is_sorted(s, size)) return;\n    for (int shift = 0", "return;\n    for (int shift = 0"),
    ("buckets.cu", "descends = descends || s.keys", "descends = s.keys"),
    ("buckets.cu", "(s.keys[j] == mine && j < i)", "(s.keys[j] == mine && j > i)"),
    ("buckets.cu", "s.seen[0][digit + 1] : size;", "s.seen[0][digit + 1] : size - 1;"),
    ("buckets.cu", "            place[r] = begin;\n", "            place[r] = i;\n"),
    ("buckets.cu", "complement = largest_of(complement, 32);", "complement = largest_of(complement, 16);"),
    ("buckets.cu", "s.largest[0][lane % WARPS]", "s.largest[0][lane % WARPS / 2]"),
    ("buckets.cu", "if (range >> (top + step - 1)) top += step;", "if (range >> (top + step)) top += step;"),
    ("buckets.cu", "tile_items[place] = (u16)(i - tile);", "tile_items[place] = (u16)(i - p.begin);"),
    ("buckets.cu", "        next += sum;\n", ""),
    ("buckets.cu", "s.carried[place] = carried[r];", "s.carried[place] = carried[0];"),
    ("buckets.cu", "const bool any = __any_sync(ALL_LANES, mine);", "const bool any = mine;"),
    (
        "transpose.cu",
        "tile[r][lane] = x[(i64)(row + r) * d + col + lane];",
        "tile[lane][r] = x[(i64)(row + r) * d + col + lane];",
    ),
    ("transpose.cu", "col + c < d && row + lane < n", "col + c < d - 1 && row + lane < n"),
    ("sort.cu", "key_of(bits) - key_of(smallest)", "key_of(bits)"),
    ("sort.cu", "exponent - 25", "exponent - 24"),
    ("sort.cu", "if (!right) atomicOr", "if (!right && n < 0) atomicOr"),
    ("sort.cu", "key > previous || (key == previous && own > other)", "key >= previous"),
    ("labels.cu", "|| flags[col] & MAG_UNSORTED) return;", ") return;"),
    # a projection, or its score, in another order of operations
    ("records.cu", "const double x = X[(i64)c * n + i];", "const double x = X[(i64)(d - 1 - c) * n + i];"),
    ("records.cu", "if (first + q < m) lines", "if (first + q < m - 1) lines"),
    ("records.cu", "before += mine[p] < record;", "before += mine[p] > record;"),
    ("records.cu", "if (c + q < d) sums[q] += row[c + q];", "if (c + q < d - 1) sums[q] += row[c + q];"),
    ("records.cu", "g + 1 < groups[line] ? starts[id + 1] : n;", "g + 1 < groups[line] ? starts[id + 1] : n - 1;"),
    ("records.cu", "sum += X[a * n + i] * X[b * n + i];", "sum += X[b * n + i] * X[b * n + i];"),
    # the best groups in an order, and their means, otherwise
    ("consecutive.cu", "for (int size = 2; size < 2 * k; ++size)", "for (int size = 2; size < 2 * k - 1; ++size)"),
    ("consecutive.cu", "(lane[3] + lane[2]) + (lane[1] + lane[0])", "((lane[3] + lane[2]) + lane[1]) + lane[0]"),
    ("consecutive.cu", "value <= best && value", "value < best && value"),
    ("consecutive.cu", "other_size > found", "other_size < found"),
    ("consecutive.cu", "x + (i64)order[end - 1] * d", "x + (i64)order[end - 2] * d"),
    ("consecutive.cu", "here[end % ring] = best;", "here[end % ring] = 0;"),
    (
        "consecutive.cu",
        "    if (shared)\n        for (int p = lane; p < ring; p += 32) mine[p] = here[p];\n}",
        "}",
    ),
    ("totals.cu", "squared ? row[i] * row[i] : row[i]", "squared ? row[i] : row[i]"),
    ("totals.cu", "1, m.size - 1);\n    const double mean = (first", "1, m.size - 2);\n    const double mean = (first"),
    ("totals.cu", "m.at(i) - first - mean;", "m.at(i) - (first + mean);"),
    ("totals.cu", "is_signed ? (u64)1 << 63 : 0;", "is_signed ? (u64)1 << 62 : 0;"),
    ("totals.cu", "for (int p = begin; p < end; ++p) sum +=", "for (int p = begin; p < end - 1; ++p) sum +="),
    ("totals.cu", "> MAG_HUGE ?", "> 1e300 * MAG_HUGE ?"),
    # parts that are divided by another direction, or into others
    ("halving.cu", "high = max(high, column", "high = max(low, column"),
    ("halving.cu", "sum / (end - begin)", "sum / (end - begin + 1)"),
    ("halving.cu", "squares += t * t;", "squares += t;"),
    ("halving.cu", "sum += (rows", "sum -= (rows"),
    ("halving.cu", "width[best] * (rule == RANGE ? 1 : clearly)", "width[best] * (2 - clearly)"),
    ("halving.cu", "sign = product >= 0 ? 1 : -1;", "sign = 1;"),
    ("halving.cu", "if (both > most * clearly) {", "if (both >= most) {"),
    ("halving.cu", "? starts[part + 1] : n; }", "? starts[part + 1] : n - 1; }"),
    ("halving.cu", "columns[2 * part + 1] = other;", "columns[2 * part + 1] = best + 0 * other;"),
    # a tree of sums, spans of segments, or restarts that are put together otherwise
    ("group.cuh", "count = right ? count - half : half;", "count = right ? count - half - 1 : half;"),
    ("group.cuh", "own && count > LEAF) sums[thread]", "own) sums[thread]"),
    ("group.cuh", "own = own && !right;", "own = own && right;"),
    ("labels.cu", "segment = min(s.last - 1, s.end);", "segment = s.last - 1;"),
    ("labels.cu", "            left -= count[place];\n", ""),
    ("labels.cu", "int distance = max(span_enter[id], 0),", "int distance = 0 * span_enter[id],"),
    ("ending.cu", "__shfl_sync(ALL_LANES, here, other)", "__shfl_sync(ALL_LANES, here, count - 1 - other)"),
    ("ending.cu", "mine[(window - 1) * step]", "mine[0]"),
    # a list that misses records, holds some twice, or breaks ties otherwise
    ("nearest.cu", "a < b || (a == b && i < j)", "a < b || (a == b && i > j)"),
    ("nearest.cu", "bound_of(f, b, point, sign) <= worst", "bound_of(f, b, point, sign) * 1.05 <= worst"),
    ("nearest.cu", "bound_of(f, b, point, sign) <= worst", "bound_of(f, b, point, sign) < worst"),
    ("nearest.cu", "(sign > 0 ? below > above : below < above)", "(below > above)"),
    ("nearest.cu", "if (key <= worst) {", "if (key < worst) {"),
    ("nearest.cu", "|| b * LANES + lane == itself) continue;", ") continue;"),
    ("nearest.cu", "b != home && ", ""),
    ("nearest.cu", "f.gone[b] >> lane & 1 || ", ""),
    ("nearest.cu", "t += WARPS) {", "t += WARPS + 1) {"),
    ("nearest.cu", "have + WARPS * LANES > room || have >= 2 * m", "have > room"),
    (
        "nearest.cu",
        "for (int lane = threadIdx.x % 32; lane < LANES; lane += 32)",
        "for (int lane = threadIdx.x % 32; lane < 32; lane += 32)",
    ),
    ("nearest.cu", "(u64)1 << places[id] % LANES", "(u64)2 << places[id] % LANES"),
    ("records.cu", "sum += kept[line * most + g];", "sum += kept[line * most + groups[line] - 1 - g];"),
]

CONSTANT = list(SHAPES).index("constant")


def notices(module):
    """Whether some comparison fails, or the runtime reports an error."""
    device = Device(np, module, shared=100 << 10)
    try:
        if not (sorts(module) and scores(device) and finds_neighbors(device)):
            return True
        for k, chunks in ((3, None), (3, (2, 1)), (13, None), (13, (4, 2)), (100, None)):
            rows, redone = differences(device, table("sse", 903, k), "sse", k, chunks)
            if rows or (k == 3 and redone[CONSTANT]):  # constant values coalesce within a panel
                return True
        if not sums_alike(device):
            return True
        X = np.stack([real_columns(2503)[name] for name in ("uniform", "duplicates", "cauchy", "offset")])
        X = np.vstack([X, np.random.default_rng(0).standard_cauchy((4, 2503))])  # sums that are rounded
        for k in (3, 13, 200):
            columns = ColumnBatch.compute(device, X, problem("sse", k))
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


def sorts(module):
    """Whether columns of several types are sorted, in every order of threads, and a wrong order is flagged."""
    for order in ORDERS:
        device = Device(np, type("Ordered", (module,), {"order": order}), lanes=128)
        try:
            for dtype, n in ((np.float64, 2 * TILE + 33), (np.float16, 300), (np.int32, 1500), (np.int64, 700)):
                with sorting.by_radix():
                    sorting.check(device, sorting.columns(dtype, n))
            sorting.check_buckets(device)
            tables.check_transposes(device)
        except AssertionError:
            return False
    return flags_wrong_orders(module) and not scatters_wrong_orders(device)


def scores(device):
    """Whether projections have the scores and labels of the CPU."""
    options = {"method": "projection", "n_projections": 11, "return_scores": True, "ordered": False}
    for n, d, k in ((301, 3, 3), (200, 9, 13)):
        X = records.table(n, d)
        expected = mag.multivariate(X, k, **options)
        with runs.device(), mock.patch.object(cuda, "current", return_value=device):
            found = mag.multivariate(X, k, backend="cuda", **options)
        same = found.details["scores"].tobytes() == expected.details["scores"].tobytes()
        if not (same and np.array_equal(found.labels, expected.labels)):
            return False
    return orders_alike(device) and records_alike(device) and parts_alike(device)


def parts_alike(device):
    """Whether parts are divided as on the CPU, by columns that vary alike too."""
    X = records.table(300, 4).round(1)
    X = np.column_stack([X, X[::-1, 0], -X[:, 1]])
    for method in ("mondrian", "mondrian_v", "mondrian_v2d"):
        for k in (3, 16):
            with runs.device(), mock.patch.object(cuda, "current", return_value=device):
                found = mag.multivariate(X, k, method=method, backend="cuda").labels
            if not np.array_equal(found, mag.multivariate(X, k, method=method).labels):
                return False
    return True


def orders_alike(device):
    """Whether groups in orders, some ends at a time, are those of the CPU; of constant records all are equally good."""
    X, constant = records.table(250, 8), np.ones((250, 3))
    orders = np.stack([np.argsort(X[:, c]).astype(np.int32) for c in range(3)])
    with mock.patch.object(DeviceProjections, "scratch", 90 * 3 * 30):
        for rows, k in ((X, 3), (X, 40), (constant, 4), (constant, 40)):
            sizes, costs = DeviceProjections(device, rows, problem("sse", k))._solved_in(orders)
            for order, own, cost in zip(orders, sizes, costs, strict=True):
                expected, d = np.full(251, k), rows.shape[1]
                padded = np.zeros((250, -(-d // 4) * 4))
                padded[:, :d] = rows[order]
                if consecutive.solve(padded, np.ones(padded.shape[1]), False, k, expected) != cost:
                    return False
                if not np.array_equal(expected[1:], own):
                    return False
    return True


def records_alike(device):
    """Whether results of records on the device have the bits of the CPU."""
    X = np.random.default_rng(0).standard_cauchy((400, 2))
    X[:, 0] = 3.5e307 * np.random.default_rng(1).integers(-5, 6, 400)
    expected = mag.multivariate(X, 150, method="projection", n_projections=2)
    with runs.device(), mock.patch.object(cuda, "current", return_value=device):
        found = mag.multivariate(runs.live(X), 150, method="projection", n_projections=2)
        same = found.cost == expected.cost and np.array_equal(found.masked, expected.masked)
    order, starts = np.arange(5, dtype=np.int32), np.array([0, 3], np.int32)
    whole = np.array([[-5], [7], [1], [2], [-1]])
    same = same and np.array_equal(integer_means(device, whole, order, starts), [[1.0], [0.5]])
    for z in np.random.default_rng(0).normal(size=(9, 5, 1)):
        away = z - np.repeat(z[starts], [3, 2], axis=0)
        away -= np.repeat(np.add.reduceat(away, starts, axis=0) / [[3], [2]], [3, 2], axis=0)
        same = same and squares_within(device, z, order, starts) == np.square(away).sum()
    return same


def sums_alike(device):
    """Whether losses are summed as NumPy sums them, and long columns are cut as they are on the CPU."""
    groups = np.array([1, 2, 9, 129, 300, 1025, 5000], np.int32)
    losses = np.random.default_rng(0).standard_cauchy((len(groups), groups.max()))
    expected = [np.add.reduceat(row[:count], [0])[0] for row, count in zip(losses, groups, strict=True)]
    if tables.price(device, losses, groups).tolist() != expected:
        return False
    X = np.random.default_rng(0).integers(0, 250, (2, 9000)).astype(np.uint8)  # sorted soon, in nine segments
    if not labels_alike(device, X, 3):
        return False
    with mock.patch.object(
        cpu, "BOTH_ENDS_FROM_N", 4000
    ):  # from both ends, which meet on either side of a segment's border
        return labels_alike(device, np.random.default_rng(0).random((6, 2 * 4056)).astype(np.float16), 40)


def labels_alike(device, X, k):
    columns = ColumnBatch.compute(device, X, problem("sse", k))
    return columns.finish() and all(
        np.array_equal(columns.labels[row], mag.univariate(x, k).labels) for row, x in enumerate(X)
    )


def finds_neighbors(device):
    """Whether lists hold the nearest and the farthest."""
    try:
        records.check_edges(device)
        for n, d, m in ((700, 3, 5), (130, 2, 40), (2000, 2, 300)):
            for sign in (1.0, -1.0):
                records.check_lists(device, n, d, m, sign)
    except AssertionError:
        return False
    return True


def flags_wrong_orders(module):
    """Whether `place` flags records that are not sorted, ties turned around, and a record that is met twice."""
    X = np.array([[1.0, 2.0, 3.0, 3.0]] * 4)
    records = np.array([[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 3, 2], [0, 1, 2, 2]], np.int32)
    flags, met, values = np.zeros(4, np.int32), np.zeros((4, 1), np.uint32), np.empty((4, 4))
    differ = np.full(4, 0x0101, np.uint64)  # two moves: the records are in the first buffer
    given = X, np.zeros(4, np.int32), differ, np.int32(8), np.int32(4), records, records, values, met, flags
    Device(np, module).launch("sort", "place", 4 * 256, 256, given)
    return flags.tolist() == [0, UNSORTED, UNSORTED, UNSORTED]


def scatters_wrong_orders(device):
    """Whether labels are written where a column is flagged."""
    labels, starts, one = np.full((1, 4), -1, np.int32), np.zeros((1, 1), np.int32), np.ones(1, np.int32)
    flags = np.full(1, UNSORTED, np.int32)
    label(device, starts, one, np.zeros((1, 4), np.int32), np.zeros(1), np.ones(1), 0.0, labels, flags)
    return bool((labels != -1).any())


def withheld(device):
    """Whether a group of k-1 records is flagged, and groups of k are not."""
    flags = []
    for labels in ([0, 1, 0, 1, 0], [0, 1, 0, 1, 1]), ([0, 1, 0, 1, 0, 1], [1, 1, 1, 0, 0, 0]):
        labels, found = np.array(labels, np.int32), np.zeros(2, np.int32)
        verify(device, labels, np.full(2, 2, np.int32), 3, np.zeros((2, 2), np.int32), found)
        flags.append(found.tolist())
    return flags == [[TOO_SMALL, TOO_SMALL], [0, 0]]


def test_every_edit_can_still_be_made():
    assert_applicable(EDITS)


@pytest.mark.mutation
def test_without_an_edit_nothing_is_noticed():
    assert_noticed("block.cu", "nothing like this", "", __name__)


@pytest.mark.mutation
def test_an_edit_that_does_not_compile_is_not_taken_for_noticed():
    done = in_a_process("", 'extern "C"', "extern nonsense", __name__)
    assert done.returncode == 1
    assert "DoesNotCompile" in done.stderr


@pytest.mark.mutation
@pytest.mark.parametrize(("file", "old", "new"), EDITS, ids=range(len(EDITS)))
def test_an_edit_is_noticed(file, old, new):
    assert_noticed(file, old, new, __name__)
