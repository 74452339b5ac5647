"""Groups within strata: the solvers are called once for each, labels are numbered through."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from mag._lib import workspace
from mag._lib.checks import seconds
from mag._lib.interrupt import interruptible
from mag._lib.threads import each
from mag.api.backends import backend_of
from mag.api.columns import columns
from mag.api.method import check_options, number_groups, run_method
from mag.api.options import generator_of, progress_of
from mag.api.ready import watch_for
from mag.api.univariate import univariate
from mag.costs import Cost
from mag.frames.cells import Units
from mag.methods import METHODS, Resources, automatic
from mag.methods.distances.standard import standardised
from mag.methods.mona.parts import LARGE, group_parts
from mag.table._request import Plan
from mag.table._strata import Strata, combined

SHORT = 0.1  # seconds of a stratum that are not worth annealing
WIDE = 2**21  # cells that are grouped at once, where columns are grouped by themselves


class Cells:
    """The records of each stratum, one stratum after the other."""

    def __init__(self, cell: np.ndarray) -> None:
        self.cell, self.sizes = cell, np.bincount(cell)
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
    if weights is None:
        labels, n_groups = all_columns(values[:, None], cells, [k], [cost], backend, threads)
        return labels[:, 0], int(n_groups[0])

    def group(c: int) -> tuple[np.ndarray, int]:
        members = cells.members(c)
        own = weights[members] if weights[members].any() else None  # nobody weighs anything: all weigh the same
        found = univariate(values[members], k, cost=cost, weights=own, backend=backend, threads=threads)
        return found._labels, found.n_groups

    return _numbered_through(each(group, range(cells.sizes.size), threads), cells, values.size)


def all_columns(
    table: np.ndarray, cells: Cells, ks: list[int], costs: list[Any], backend: str, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The optimal groups of every column in every stratum: labels (n, m) and how many there are in each column."""

    def group(c: int) -> tuple[np.ndarray, np.ndarray]:
        found = columns(table[cells.members(c)], ks, cost=costs, backend=backend, threads=threads if cells.whole else 1)
        return found._labels, found._n_groups

    if cells.whole:
        labels, n_groups = group(0)
        return labels.T, n_groups
    found = each(group, range(cells.sizes.size), threads)
    labels, n_groups = np.empty((table.shape[1], table.shape[0]), np.int32), np.zeros(table.shape[1], np.int64)
    for c, (own, count) in enumerate(found):
        labels[:, cells.members(c)] = own + n_groups[:, None].astype(np.int32)
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
    """Records grouped jointly in every stratum: labels, how many groups, the methods, whether none was cut short.

    Small strata, of which there may be many, are grouped together by ONA*, where that is the method.
    """
    n, d = z.shape
    limited = time_limit is not None and time_limit > SHORT * cells.sizes.size
    names = [automatic(size, d, k, limited) if method == "auto" else method for size in cells.sizes.tolist()]
    engine = backend_of(backend)
    for name in dict.fromkeys(names):
        seed = random_state if method != "auto" or METHODS[name].takes("random_state") else None
        check_options(name, k, options, seed, time_limit, engine, backend)
    sizes, generator = cells.sizes, generator_of(random_state)
    used = {name for name, size in zip(names, sizes.tolist(), strict=True) if size >= 2 * k > 2}
    if "ona_star" in used:
        used.add("mona")  # which groups small parts together as well
    watch = watch_for(sorted(used), k, options, False, progress_of(progress), seconds("time_limit", time_limit))
    seeds = [generator] if cells.whole else generator.spawn(sizes.size)
    labels = np.zeros(n, np.int64)  # strata of fewer than 2k records are one group
    many = np.array([name == "ona_star" for name in names]) & (sizes >= 2 * k) & (sizes <= LARGE) & (k > 1)
    together = float(sizes[many].sum()) / n
    if many.sum() > 1:
        turn, part = np.flatnonzero(many), watch.part(0.0, together)
        labels = interruptible(group_parts, z, k, cells.order, cells.starts, turn, threads, part)
    else:
        many[:], together = False, 0.0
    done = together
    for c in np.flatnonzero(~many & (sizes >= 2 * k)).tolist():
        members, share = cells.members(c), float(sizes[c]) / n
        part = watch.share(done, min(done + share, 1.0))
        own = z[members]
        if not cells.whole:
            own -= own.mean(axis=0)
        details: dict[str, Any] = {}
        if k == 1:
            labels[members] = np.arange(len(own))
        else:
            resources = Resources(seeds[c], part, threads, engine)
            labels[members], details = run_method(METHODS[names[c]], own, k, resources, options)
        if "init" not in options and details.get("init", "ona_star") != "ona_star":
            names[c] += f" from {details['init']}"
        watch.stopped |= part.stopped
        done = min(done + share, 1.0)
    watch.done()
    labels, n_groups = number_groups(labels + (int(labels.max()) + 1) * cells.cell, n)
    return labels, n_groups, list(dict.fromkeys(names)), not watch.stopped


def _numbered_through(found: list[tuple[np.ndarray, int]], cells: Cells, n: int) -> tuple[np.ndarray, int]:
    labels, total = np.empty(n, np.int32), 0
    for c, (own, count) in enumerate(found):
        labels[cells.members(c)] = own + total
        total += count
    return labels, total


# ---- tables


def by_column(
    units: dict[Hashable, Units], strata: Strata, plan: Plan, heavy: np.ndarray | None, backend: str, threads: int
) -> tuple[np.ndarray, np.ndarray, str, bool]:
    """Labels (n, m), missing cells in a group of their own, and the number of groups of each column."""
    n = strata.rows.size
    labels, n_groups = np.empty((n, len(units)), np.int32, order="F"), np.zeros(len(units), np.int64)
    blocks: dict[Any, list[int]] = {}
    for j, unit in enumerate(units.values()):
        alone = unit.missing is not None or heavy is not None or unit.values.dtype == object
        blocks.setdefault(j if alone else unit.values.dtype, []).append(j)
    everyone, names = Cells(strata.cell), list(units)
    few = max(threads, WIDE // n)  # columns at a time: their copies and the solvers' memory stay small
    parts = [(kind, block[at : at + few]) for kind, block in blocks.items() for at in range(0, len(block), few)]
    for kind, block in parts:
        if not isinstance(kind, int):
            table = np.empty((n, len(block)), kind)
            for at, j in enumerate(block):
                table[:, at] = units[names[j]].values
            found = all_columns(
                table, everyone, [plan.ks[names[j]] for j in block], [plan.cost] * len(block), backend, threads
            )
            if len(block) == len(names):
                return *found, "univariate", True
            for at, j in enumerate(block):
                labels[:, j], n_groups[j] = found[0][:, at], found[1][at]
            continue
        unit = units[names[kind]]
        there = slice(None) if unit.missing is None else np.flatnonzero(~unit.missing)
        cell = combined([strata.cell[there]])
        labels[there, kind], count = one_column(
            unit.values[there], Cells(cell), plan.ks[names[kind]], plan.cost,
            None if heavy is None else heavy[there], backend, threads,
        )  # fmt: skip
        if unit.missing is not None:
            lost = np.flatnonzero(unit.missing)
            own = combined([strata.cell[lost]])
            labels[lost, kind] = own + count
            count += int(own.max()) + 1
        n_groups[kind] = count
    if n > WIDE // 2:
        workspace.release()
    return labels, n_groups, "univariate", True


def jointly(
    units: dict[Hashable, Units],
    strata: Strata,
    plan: Plan,
    heavy: np.ndarray | None,
    backend: str,
    threads: int,
    random_state: Any,
    progress: Any,
    time_limit: float | None,
    options: dict[str, Any],
) -> tuple[np.ndarray, int, str, bool]:
    """Labels, the number of groups, what found them, and whether the search was completed."""
    k = next(iter(plan.ks.values()))
    cells = Cells(strata.cell)
    if plan.single:
        (unit,) = units.values()
        return *one_column(unit.values, cells, k, plan.cost, heavy, backend, threads), "univariate", True
    z = _comparable(list(units.values()), plan.standardize)
    labels, n_groups, used, complete = records(
        z, cells, k, method=plan.method, backend=backend, threads=threads, random_state=random_state,
        progress=progress, time_limit=time_limit, options=options,
    )  # fmt: skip
    return labels, n_groups, ", ".join(used), complete


def _comparable(units: list[Units], standardize: bool) -> np.ndarray:
    """Columns around 0, in their standard deviations or in one unit that squares do not exceed; 0 where missing."""
    z, scales = np.zeros((units[0].values.size, len(units))), []
    for j, unit in enumerate(units):
        there = slice(None) if unit.missing is None else ~unit.missing
        values = unit.values[there]
        if values.size:
            standard = standardised((differences(values) if unit.whole else values)[:, None], standardize)
            z[there, j] = standard.z[:, 0]
        scales.append(standard.scale if values.size else 0)
    for j, scale in enumerate(scales):
        if scale != max(scales):
            z[:, j] = np.ldexp(z[:, j], scale - max(scales))
    return z
