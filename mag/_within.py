"""Groups within strata: the solvers are called once for each, labels are numbered through."""

import time
from typing import Any

import numpy as np

from mag.api import columns, univariate
from mag.backends._threads import each
from mag.costs import Cost
from mag.joint import _generator, _progress, multivariate
from mag.methods import automatic
from mag.methods._watch import Watch


class Cells:
    """The records of each stratum, one stratum after the other."""

    def __init__(self, cell: np.ndarray) -> None:
        self.sizes = np.bincount(cell)
        self.whole = self.sizes.size == 1
        self.order = None if self.whole else np.argsort(cell, kind="stable")
        self.starts = np.cumsum(self.sizes) - self.sizes

    def members(self, c: int) -> Any:
        """Where the records of a stratum stand."""
        if self.order is None:
            return slice(None)
        return self.order[self.starts[c] : self.starts[c] + self.sizes[c]]


def one_column(
    values: np.ndarray, cells: Cells, k: int, cost: str | Cost, weights: np.ndarray | None, backend: str, threads: int
) -> tuple[np.ndarray, int]:
    """The optimal groups of one column in every stratum: labels and how many there are."""
    values = solvable(values)

    def group(c: int) -> tuple[np.ndarray, int]:
        members = cells.members(c)
        weight = None if weights is None else weights[members]
        if weight is not None and not weight.any():
            weight = None  # nobody weighs anything: all weigh the same
        found = univariate(
            values[members], k, cost=cost, weights=weight, backend=backend, threads=threads if cells.whole else 1
        )
        return found._labels, found.n_groups

    return _numbered_through(each(group, range(cells.sizes.size), threads), cells, values.size)


def all_columns(
    table: np.ndarray, cells: Cells, ks: list[int], costs: list[Any], backend: str, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The optimal groups of every column in every stratum: labels (n, m) and how many there are in each column."""

    def group(c: int) -> tuple[np.ndarray, np.ndarray]:
        found = columns(table[cells.members(c)], ks, cost=costs, backend=backend, threads=threads if cells.whole else 1)
        return found._labels, found._n_groups

    found = each(group, range(cells.sizes.size), threads)
    labels, n_groups = np.empty((table.shape[1], table.shape[0]), np.int32), np.zeros(table.shape[1], np.int64)
    for c, (own, count) in enumerate(found):
        labels[:, cells.members(c)] = own + n_groups[:, None]
        n_groups += count
    return labels.T, n_groups


def solvable(values: np.ndarray) -> np.ndarray:
    """Numbers that the solvers take: exact differences where integers exceed 64 bits."""
    return values if values.dtype != object else differences(values)


def differences(values: np.ndarray) -> np.ndarray:
    """Distances of integers from the smallest: in 64 bits if they fit, otherwise rounded to float64 once."""
    if values.dtype != object:
        return values.view(np.uint64) - values.min().view(np.uint64)
    away = values - values.min()
    return away.astype(np.uint64 if away.max() < 2**64 else np.float64)


def records(
    z: np.ndarray,
    cells: Cells,
    k: int,
    *,
    method: str,
    backend: str,
    threads: int,
    random_state: Any,
    progress: Any,
    time_limit: float | None,
    options: dict[str, Any],
) -> tuple[np.ndarray, int, list[str], bool]:
    """Records grouped jointly in every stratum: labels, how many groups, the methods, whether none was cut short."""
    report, done = _reporter(progress), 0
    n, complete = len(z), True
    used: dict[str, None] = {}
    seeds = _generator(random_state).integers(2**63, size=cells.sizes.size) if not cells.whole else None
    began, found = time.monotonic(), []
    for c, size in enumerate(cells.sizes.tolist()):
        name = automatic(size, z.shape[1], k) if method == "auto" else method
        seed = random_state if seeds is None or random_state is None else int(seeds[c])
        left = None
        if time_limit is not None:
            left = max((time_limit - (time.monotonic() - began)) * size / (n - done), 1e-3)
        part = multivariate(
            z[cells.members(c)],
            k,
            method=name,
            standardize=False,
            backend=backend,
            threads=threads,
            random_state=seed,
            progress=report and (lambda share, done=done, size=size: report((done + share * size) / n)),
            time_limit=left,
            **options,
        )
        found.append((part._labels, part.n_groups))
        used[part.method], complete = None, complete and part.complete
        done += size
    labels, n_groups = _numbered_through(found, cells, n)
    return labels, n_groups, list(used), complete


def _reporter(progress: Any) -> Any:
    if _progress(progress) in (None, False):
        return None
    return Watch(progress).step if progress is True else progress


def _numbered_through(found: list[tuple[np.ndarray, int]], cells: Cells, n: int) -> tuple[np.ndarray, int]:
    labels, total = np.empty(n, np.int32), 0
    for c, (own, count) in enumerate(found):
        labels[cells.members(c)] = own + total
        total += count
    return labels, total
