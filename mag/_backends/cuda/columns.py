"""Columns grouped on a device: order, prepare, solve, label, count; the same steps as on the CPU, all columns at once.

Steps follow each other on the device without waiting.  Facts that the host needs are collected in one flag per column,
and read when a result is requested: `ColumnBatch.finish`.  Columns that are few and hard to cut into chunks take
the hybrid way: sorted values go to the host when the result is requested, and the starts of groups come back.  Labels
never depend on changes of X after the call.
"""

from collections.abc import Iterator
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np

from mag._backends import cpu
from mag._backends.cuda.hybrid import searches_blocks, starts_by_blocks
from mag._backends.cuda.launch import (
    COSTS,
    WEIGHTED,
    Device,
    Solved,
    cut,
    host_is_sooner,
    label,
    size_type,
    solve,
    trace,
    verify,
)
from mag._backends.cuda.per_stream import per_stream
from mag._backends.cuda.shares import shares_of
from mag._backends.cuda.sort import VALUES_PER_DEAL, gather, sort
from mag._backends.cuda.sources import FOR_THE_CPU, NOT_FINITE, ON_THE_HOST, TOO_SMALL, UNSORTED
from mag._backends.cuda.weights import immoderate, misleading, uneven
from mag._backends.problem import Problem
from mag._backends.safety import FLOAT64_EXACT, MODERATE, UNDERFLOW_COST
from mag._compiled.groups import Groups, halves
from mag._lib.arrays import warn_about_copy
from mag._lib.errors import REPORT, InputRuntimeError, group_below
from mag._lib.interrupt import surely
from mag._lib.threads import each
from mag.costs import Cost
from mag.results import as_data_dtype
from mag.solvers.block import PANEL

SPARE = 0.8  # of the free memory that a batch may take
RESULT_BATCH_BYTES = 2**26  # bytes of the values that results are computed from at once


class ColumnBatch:
    """The rows of X, [cols][n] on the device, each grouped by itself: `ColumnBatch.compute`.

    `order` is each row's stable order, `starts` [cols][n // k] and `n_groups` define the groups, `labels` are int32.
    All are on the device, and final after `finish`.  `dtype` is that of masked values if X represents another dtype;
    `weights` are those of the records, in NumPy, see `weights.supports`.
    """

    def __init__(self, device: Device, X: Any, problem: Problem, dtype: Any, weights: np.ndarray | None) -> None:
        self.dtype, self._final = np.dtype(dtype or X.dtype), False
        self.redone: list[int] = []
        self._kept: dict[int, Any] = {}  # sorted values of the rows that the host solves
        X = device.xp.ascontiguousarray(X)
        self.device, self.X, self.problem = device, X.view(np.uint8) if X.dtype.kind == "b" else X, problem
        self.weights = weights
        self.device_weights: Any = None if weights is None else device.xp.asarray(weights)
        (cols, n), k = X.shape, problem.k
        most = max(1, n // k)
        self.labels, self.order = device.empty(cols, n), device.empty(cols, n)
        self.starts, self.n_groups = device.empty(cols, most), device.empty(cols)
        self.flags, self.counts = device.xp.zeros(cols, np.int32), device.xp.zeros((cols, most), np.int32)
        self._queued, self._stream = None, device.stream()
        self._computed_flags: np.ndarray | None = None  # before columns are labeled again
        self._finishing = Lock()

    @classmethod
    def compute(
        cls, device: Device, X: Any, problem: Problem, *, dtype: Any = None, weights: np.ndarray | None = None
    ) -> "ColumnBatch":
        """Group all rows, in batches that the memory has room for; nothing is waited for."""
        columns = cls(device, X, problem, dtype, weights)
        (cols, n), free = columns.X.shape, device.free_bytes()  # the memory that results do not hold
        taken = bytes_per_column(n, problem.k, weights is not None)
        rows = cols if free is None else max(1, min(cols, int(SPARE * free) // taken))
        first = 0
        while first < cols:
            try:
                columns._group(slice(first, first + rows))
            except Exception as error:  # a limit that only the allocator knows
                if rows == 1 or not device.lacks_memory(error):
                    raise
                rows = -(-rows // 2)
            else:
                first += rows
        columns._record_queued()
        return columns

    def _group(self, rows: slice) -> None:
        """Everything from order to count for some rows of X."""
        device, problem, xp = self.device, self.problem, self.device.xp
        x, cost, k = self.X[rows], problem.cost, problem.k
        cols, n = x.shape
        flags, groups, starts = self.flags[rows], self.n_groups[rows], self.starts[rows]
        flags[:] = 0
        values = sort(device, x, self.order[rows], flags)
        scale, found = prepare(xp, values, x.dtype.kind, cost, k)
        flags |= found
        w = None if self.weights is None else self.device_weights[self.order[rows]]
        if w is not None and x.dtype.kind == "f":
            flags |= xp.where(immoderate(xp, values), FOR_THE_CPU, 0).astype(np.int32)
        if n >= 2 * k > 2 and (searches_blocks(problem) or host_is_sooner(device, cols, n, k)):
            flags |= ON_THE_HOST
            self._kept.update(zip(range(rows.start, rows.start + cols), values, strict=True))
            return
        if n < 2 * k or k == 1:
            sizes = xp.full((cols, n), n if n < 2 * k else 1, size_type(k))
            solved = Solved(sizes, None, xp.full(cols, np.inf), None)
            _cut_whole(device, solved, n, k, starts, groups)
        elif n >= max(cpu.BOTH_ENDS_FROM_N, 8 * k):
            solved = _from_both_ends(device, values, w, scale, cost, k, starts, groups)
        else:
            solved = solve(device, values, scale, cost.name, k, weights=w)
            _cut_whole(device, solved, n, k, starts, groups)
        if w is not None and n >= 2 * k > 2 and uneven(self.weights, k):
            flags |= xp.where(misleading(xp, values, w, k, solved.total), FOR_THE_CPU, 0).astype(np.int32)
        tiny = 0.0 if cost.integer or w is not None else UNDERFLOW_COST  # without bits to lose, see `immoderate`
        label(device, starts, groups, self.order[rows], values, solved.total, tiny, self.labels[rows], flags)
        verify(device, self.labels[rows], groups, k, self.counts[rows], flags)

    def finish(self) -> bool:
        """Wait, redo columns on the CPU, withhold groups below k; False if there are values that are not finite."""
        with self._finishing:  # threads may read one result together, and columns are labeled again in place
            if self._final:
                return True
            self.device.wait_for(self._queued)  # first: Ctrl-C in between must leave the event of the call
            try:
                return self._finish()
            finally:  # queued work writes to labels after an error or Ctrl-C, too: the next reader waits for it
                surely(self._record_queued)

    def _record_queued(self) -> None:
        self._queued = self.device.record_event()

    def _finish(self) -> bool:
        if self._computed_flags is None:
            self._computed_flags = self.device.host(self.flags)
        flags = self._computed_flags
        if (flags & UNSORTED).any():  # first: sorted values that were never written may look like infinity
            raise RuntimeError(f"The device's sort returned no permutation, and no groups were computed; {REPORT}")
        if (flags & NOT_FINITE).any():
            return False
        self.redone = np.flatnonzero(flags & FOR_THE_CPU).tolist()
        self.warn_about_copy(len(self.redone))
        by_host = np.flatnonzero(flags & (FOR_THE_CPU | ON_THE_HOST)).tolist()
        threads = min(self.device.threads, max(1, len(by_host)))
        found = each(lambda col: self._starts_by_the_host(col, self.device.threads // threads), by_host, threads)
        for col, starts in zip(by_host, found, strict=True):
            self._label_again(slice(col, col + 1), starts)
        if ((self.device.host(self.flags) if by_host else flags) & TOO_SMALL).any():
            raise group_below(self.problem.k)
        self._final = True
        self._kept.clear()
        return True

    def defer_reuse(self) -> None:
        """Keep memory that the current stream reads from being used again on the stream of the call."""
        self.device.defer_reuse(self._stream)

    def own(self, array: Any) -> Any:
        """An array of the call for users of the current stream: a copy if the call ran on another one."""
        return array if self.device.stream() == self._stream else array.copy()

    def warn_about_copy(self, cols: int) -> None:
        """Warn once if this many columns, which float64 cannot represent, are many bytes for the host to read."""
        row = self.X.nbytes // len(self.X)
        warn_about_copy(f"X, {{:.0f}} MB in {cols} columns whose sums float64 would round, is copied", cols * row)

    def _starts_by_the_host(self, col: int, threads: int) -> np.ndarray:
        """The hybrid way of one column: it is sorted, labeled and counted by the device, and solved by the CPU."""
        if searches_blocks(self.problem) and col in self._kept and col not in self.redone:
            with self.device.active():  # also where this is another thread, with a stream of its own
                self.device.wait_for(self._queued)
                found = starts_by_blocks(self.device, self._kept[col], self.problem)
            if found is not None:
                return found
        if col in self.redone or col not in self._kept:
            x = self._sorted_on_the_host(col)
        else:
            x = self.device.host(self._kept[col])
            x = x if self.X.dtype.kind == "f" else x.astype(np.int64)  # distances, which give the same groups
        weights = self.weights_of(col)
        padded = None if weights is None else cpu.padded(weights, "weights")
        return cpu.solve(cpu.padded(x), padded, self.problem, threads)

    def weights_of(self, col: int) -> np.ndarray | None:
        """Those of a column's records, in order."""
        return None if self.weights is None else self.weights[self.device.host(self.order[col])]

    @property
    def kernel(self) -> str:
        """The name of the cost in the kernels."""
        return self.problem.cost.name + WEIGHTED * (self.weights is not None)

    def _label_again(self, row: slice, found: np.ndarray) -> None:
        """Labels and their count of a column whose groups start where the host has found."""
        device, xp = self.device, self.device.xp
        self.starts[row, : found.size] = xp.asarray(found)
        self.n_groups[row], self.flags[row], self.counts[row] = found.size, 0, 0
        starts, groups, flags, labels = self.starts[row], self.n_groups[row], self.flags[row], self.labels[row]
        unknown = xp.zeros(1, np.float64)  # nothing is flagged for the CPU again
        label(device, starts, groups, self.order[row], unknown, unknown, 0.0, labels, flags)
        verify(device, labels, groups, self.problem.k, self.counts[row], flags)

    def _sorted_on_the_host(self, col: int) -> np.ndarray:
        """The data of one column in order; they must not have changed since they were sorted."""
        x = self.device.host(self.X[col])[self.device.host(self.order[col])]
        if not (x[1:] >= x[:-1]).all():
            raise InputRuntimeError(
                "The data changed between the call and the first access to its result; copy them first."
            )
        return x.astype(np.float64, copy=False) if x.dtype.kind == "f" else x

    @property
    def _real(self) -> Any:
        """Where groups are in arrays that have room for n // k of them."""
        return self.device.xp.arange(self.counts.shape[1])[None, :] < self.n_groups[:, None]

    @property
    def sizes(self) -> Any:
        """The number of records in each group, [cols][n // k], counted from the labels; 0 after the last group."""
        return self.device.xp.where(self._real, self.counts, 0)

    @property
    def least(self) -> Any:
        """The size of each column's smallest group."""
        return self.device.xp.where(self._real, self.counts, self.X.shape[1]).min(axis=1)

    def batches(self) -> Iterator[slice]:
        """The rows in batches of bounded memory, at least one each."""
        cols, n = self.X.shape
        height = max(1, RESULT_BATCH_BYTES // (8 * n))
        return (slice(first, min(first + height, cols)) for first in range(0, cols, height))

    def _represented(self, rows: slice, losses: Any) -> Any:
        """The representatives of the groups of some rows; fills in the loss of each group."""
        device, X, order, starts = self.device, self.X[rows], self.order[rows], self.starts[rows]
        xp, (cols, n), most = device.xp, X.shape, starts.shape[1]
        integers = X.dtype.kind != "f"  # distances; reals are read in their order
        values = gather(device, X, order) if integers else X.astype(np.float64, copy=False)
        if integers:  # described by the CPU
            values[[col - rows.start for col in self.redone if rows.start <= col < rows.stop]] = 0
        within = xp.clip(starts, 0, n - 1)
        first: Any = xp.take_along_axis(X, xp.take_along_axis(order, within, axis=1), axis=1) if integers else None
        # they decide which way a half is rounded, so they matter for signed integers only
        origins = first[:, 0].astype(np.int64) if X.dtype.kind == "i" else xp.zeros(cols, np.int64)
        centers, shape = device.empty(cols, most, dtype=np.float64), (np.int32(integers), np.int32(n), np.int32(cols))
        weights, heaviest = (values, self.n_groups) if self.weights is None else (self.device_weights, within)
        read = values, order, starts, np.int64(most), self.n_groups[rows], origins, weights
        given = *read, *shape, centers, losses, heaviest
        device.launch("groups", "represent", cols * most, 128, given, cost=self.kernel)
        if integers and self.weights is not None:  # their centers count from these
            first = xp.take_along_axis(X, xp.take_along_axis(order, heaviest, axis=1), axis=1)
        centers = (self._placed(first, centers) if integers else centers).astype(self.published, copy=False)
        return centers + 0.0 if centers.dtype.kind == "f" else centers  # as `results.as_data_dtype`

    @per_stream
    def _described(self) -> tuple[Any, Any]:
        """Representatives of all groups, [cols][n // k], unused after the last one; cost per column."""
        device, cost = self.device, self.problem.cost
        xp, cols, most = device.xp, len(self.X), self.starts.shape[1]
        centers, losses = (device.empty(cols, most, dtype=dtype) for dtype in (self.published, np.float64))
        for rows in self.batches():
            centers[rows] = self._represented(rows, losses[rows])
        costs = device.empty(cols, dtype=np.float64)
        summed = losses, np.int64(most), self.n_groups, costs
        device.launch("groups", "price", 128 * cols, 128, summed, cost=self.kernel)
        if cost.integer:  # every loss is exact; their sum may need more than float64
            costs = losses.astype(np.int64).sum(axis=1)
            costs = device.host(costs).astype(object) if self.redone else costs
        for col in self.redone:
            center, loss = self._on_the_cpu(col)
            centers[col, : center.size] = xp.asarray(center)
            costs[col] = loss
        return centers, costs

    def _placed(self, first: Any, centers: Any) -> Any:
        """Representatives of integers, from the smallest value of each group and the distances from it."""
        name = self.problem.cost.representative
        if name == "mean":
            return first.astype(np.float64) + centers
        below = shifted(first, centers.astype(np.uint64))
        return halves(self.device.xp, below, centers % 1 > 0) if name in ("median", "mid-range") else below

    @property
    def published(self) -> np.dtype:
        """The dtype of masked values: that of the data, except that means and the like of integers are float64."""
        kept = self.problem.cost.keeps_integers or self.dtype.kind == "f"
        return self.dtype if kept else np.dtype(np.float64)

    def _on_the_cpu(self, col: int) -> tuple[np.ndarray, float | int]:
        """Representatives of a column's groups, and its cost, by the CPU."""
        host, cost = self.device.host, self.problem.cost
        x = self._sorted_on_the_host(col)
        groups = Groups(x, host(self.starts[col])[: int(self.n_groups[col])], self.weights_of(col))
        with np.errstate(over="ignore"):
            (total,) = np.add.reduceat(cost.losses(groups, x), [0])  # as `Grouping` sums
        return as_data_dtype(cost.representatives(groups), self.dtype), int(total) if cost.integer else float(total)

    @property
    def representatives(self) -> Any:
        """The representatives of each group, [cols][n // k]; 0 after the last group."""
        return self.device.xp.where(self._real, self._described[0], self._described[0].dtype.type(0))

    @property
    def masked(self) -> Any:
        """The data with each record replaced."""
        return self.masked_rows(slice(None))

    def masked_rows(self, rows: slice) -> Any:
        """The same of some rows."""
        device, labels, centers = self.device, self.labels[rows], self.representatives[rows]
        if centers.dtype != np.float64:
            return device.xp.take_along_axis(centers, labels.astype(np.int64), axis=1)
        cols, n = labels.shape
        masked = device.empty(cols, n, dtype=np.float64)
        given = labels, centers, np.int64(centers.shape[1]), np.int32(n), np.int32(cols), masked
        device.launch("groups", "mask", cols * n, 256, given, cost=self.kernel)
        return masked

    @per_stream
    def shares(self) -> Any:
        """SSE / SST of each column."""
        shares = self.device.empty(len(self.X), dtype=np.float64)
        for rows in self.batches():
            shares[rows] = shares_of(self, rows)
        return shares

    @property
    def cost(self) -> Any:
        """The cost of each column, from the data; Python integers if 64 bits may not suffice."""
        return self._described[1]


def bytes_per_column(n: int, k: int, weighted: bool = False) -> int:
    """Device memory that one column takes while it is grouped, in addition to its input and the results.

    While it is sorted, two words and the other records per value; while it is solved, sorted values, twice if it is
    solved from both ends, sizes, and the states of segments and chunks.  Weights are in the order of the values.
    """
    sorting = 12 * n + 4 * 256 * (n // VALUES_PER_DEAL + 4)
    known = 16 * (2 * k) * (n // max(1024, 8 * k) + 64) + 8 * n // min(PANEL, k)
    solving = (24 if n >= max(cpu.BOTH_ENDS_FROM_N, 8 * k) else 8) * n + 2 * np.dtype(size_type(k)).itemsize * n + known
    return max(sorting, 13 * n, solving) + (56 * n if weighted else 0)


def shifted(integers: Any, offset: Any) -> Any:
    """Integers plus uint64 offsets; both wrap around to the right answer."""
    same = np.dtype(np.int64 if integers.dtype.kind == "i" else np.uint64)
    return (integers.astype(same, copy=False).view(np.uint64) + offset).view(same)


def prepare(xp: Any, values: Any, kind: str, cost: Cost, k: int) -> tuple[Any, Any]:
    """The power of two to divide sorted values of this kind of type by, and flags: see `_backends/safety.prepare`."""
    first, last = values[:, 0], values[:, -1]
    if kind == "f":
        finite = xp.isfinite(first) & xp.isfinite(last)  # NaN and infinity are sorted to the ends
        largest, exponent = xp.frexp(xp.where(finite, xp.maximum(-first, last), 0.0))
        scale = xp.where((largest != 0) & (abs(exponent) > MODERATE), exponent, 0).astype(np.int32)
        return scale, xp.where(finite, 0, NOT_FINITE).astype(np.int32)
    n, inexact = values.shape[1], last >= FLOAT64_EXACT
    if cost.integer:
        reach = min(4 * k, n)
        widest = (values[:, reach:] - values[:, :-reach]).max(axis=1) if reach < n else last
        inexact |= 8.0 * reach * widest * widest >= FLOAT64_EXACT  # products below EXACT are exact
    return xp.zeros(len(values), np.int32), xp.where(inexact, FOR_THE_CPU, 0).astype(np.int32)


def _cut_whole(device: Device, solved: Solved, n: int, k: int, starts: Any, groups: Any) -> None:
    ends = device.xp.full(starts.shape[0], n, np.int32)
    traced = trace(device, solved, ends, k)
    cut(device, traced, starts)
    groups[:] = traced.groups


def _from_both_ends(
    device: Device, values: Any, w: Any, scale: Any, cost: Cost, k: int, starts: Any, groups: Any
) -> Solved:
    """Long columns as the CPU solves them: the left half forwards, the right half backwards, joined at the best cut."""
    xp, n = device.xp, values.shape[1]
    middle = n // 2
    ahead, back = slice(0, middle + 2 * k - 2), slice(None, middle - 1 if middle else None, -1)
    ours, theirs = (None if w is None else xp.ascontiguousarray(w[:, part]) for part in (ahead, back))
    left = solve(device, xp.ascontiguousarray(values[:, ahead]), scale, cost.name, k, weights=ours)
    mirrored = xp.ascontiguousarray(-values[:, back])
    right = solve(device, mirrored, scale, COSTS[cost.name].mirror, k, weights=theirs)
    at = middle + xp.argmin(left.ending + right.ending[:, ::-1], axis=1).astype(np.int32)
    before, behind = trace(device, left, at, k), trace(device, right, n - at, k)
    cut(device, before, starts)
    cut(device, behind, starts, n, before.groups)
    groups[:] = before.groups + behind.groups
    return replace(left, total=left.total + right.total)
