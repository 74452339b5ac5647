"""Groups within strata: the solvers are called once per stratum, and labels are numbered consecutively."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from mag._lib import workspace
from mag._lib.checks import seconds
from mag._lib.errors import InputValueError
from mag._lib.interrupt import interruptible
from mag._lib.notice import working_on
from mag._lib.number import number_rows
from mag._lib.progress import Progress
from mag._lib.threads import each
from mag._lib.wording import named
from mag.api.backends import backend_of
from mag.api.columns import columns
from mag.api.method import check_options, number_groups, run_method
from mag.api.options import progress_of
from mag.api.types import AnyCost, BackendName
from mag.api.univariate import univariate
from mag.api.warm_up import progress_for
from mag.frames.categories import CategoryCodes
from mag.frames.units import Units
from mag.hierarchy import axes_of, variance_of
from mag.methods import Resources, automatic
from mag.methods.distances.hierarchies import CategoryColumn, CategoryColumns
from mag.methods.distances.standard import center_columns
from mag.methods.mona.parts import RECORDS_WORTH_ALL_THREADS, group_parts
from mag.tables._request import GroupingPlan, Request
from mag.tables._strata import Strata
from mag.tables.criteria.enforce import Constraint, enforce, is_affordable, warm_up

MIN_ANNEAL_SECONDS = 0.1  # seconds of a stratum that are not worth annealing
FEW_LEAVES = 64  # leaves of a tree that every method gets as coordinates
IN_PARTS = ("mona", "mondrian", "ona_local")  # methods that compare records in small parts, or not at all
CUT_FIRST = "mondrian"  # method whose groups say how many would fail a criterion
MIN_HOLDING = 0.7  # of these groups; below that, cutting anew loses less than merging (Adult, benchmarks/criteria.py)
SHARE_FOR_GROUPS = 0.5  # of the time limit; the rest is for criteria
MANY_CELLS = 2**24  # numbers in tables of places and categories, above which "auto" takes parts
MOST_CELLS = 2**27  # the same, above which methods that compare all records refuse: they keep several GB
CELLS_PER_CALL = 2**21  # cells that are grouped at once, where columns are grouped by themselves


@dataclass(frozen=True)
class TableGroups:
    """The groups of the published records: one division for all columns, or one for each.

    `labels` have the shape (n,) or (n, m), and `n_groups` one entry or m; `method` names the methods that found them;
    `complete` is False if a time limit stopped one.  `n_before` is the number of groups before constraints changed any.
    Where whole records have groups although columns have coarser ones, `classes` number them.
    """

    labels: np.ndarray
    n_groups: list[int]
    method: str
    complete: bool
    n_before: int | None = None
    classes: np.ndarray | None = None

    def of_column(self, j: int) -> tuple[np.ndarray, int]:
        """The labels of a column, and the number of its groups."""
        return (self.labels, self.n_groups[0]) if self.labels.ndim == 1 else (self.labels[:, j], self.n_groups[j])

    @property
    def of_records(self) -> np.ndarray:
        """The labels of whole records, or those of every column if records have none."""
        return self.labels if self.classes is None else self.classes


class StratumIndex:
    """The records of each stratum, one stratum after the other."""

    def __init__(self, stratum: np.ndarray) -> None:
        self.stratum, self.sizes = stratum, np.bincount(stratum)
        self.is_one = self.sizes.size == 1
        self.order = None if self.is_one else np.argsort(stratum, kind="stable")
        self.starts = np.cumsum(self.sizes) - self.sizes

    def members(self, s: int) -> Any:
        """The positions of the records of a stratum."""
        if self.order is None:
            return slice(None)
        return self.order[self.starts[s] : self.starts[s] + self.sizes[s]]


def group_column(
    values: np.ndarray,
    index: StratumIndex,
    k: int,
    cost: AnyCost,
    weights: np.ndarray | None,
    backend: BackendName,
    threads: int,
) -> tuple[np.ndarray, int]:
    """The optimal groups of one column in every stratum: labels and the number of groups."""
    values = solvable(values)
    if weights is None:
        labels, n_groups = group_columns(values[:, None], index, [k], [cost], backend, threads)
        return labels[:, 0], int(n_groups[0])

    def group(s: int) -> tuple[np.ndarray, int]:
        members = index.members(s)
        # without any positive weight, all records count the same
        own = weights[members] if weights[members].any() else None
        result = univariate(values[members], k, cost=cost, weights=own, backend=backend, threads=threads)
        return result._labels, result.n_groups

    return _numbered_through(each(group, range(index.sizes.size), threads), index, values.size)


def group_columns(
    table: np.ndarray, index: StratumIndex, ks: list[int], costs: list[Any], backend: BackendName, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The optimal groups of every column in every stratum: labels (n, m) and the number of groups of each column."""

    def group(s: int) -> tuple[np.ndarray, np.ndarray]:
        own = threads if index.is_one else 1
        result = columns(table[index.members(s)], ks, cost=costs, backend=backend, threads=own)
        return result._labels, result._n_groups

    if index.is_one:
        labels, n_groups = group(0)
        return labels.T, n_groups
    results = each(group, range(index.sizes.size), threads)
    labels, n_groups = np.empty((table.shape[1], table.shape[0]), np.int32), np.zeros(table.shape[1], np.int64)
    for s, (own, count) in enumerate(results):
        labels[:, index.members(s)] = own + n_groups[:, None].astype(np.int32)
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


def group_records(
    z: np.ndarray,
    index: StratumIndex,
    k: int,
    *,
    method: str,
    backend: BackendName,
    threads: int,
    random_state: np.random.Generator,
    progress: Any,
    time_limit: float | None,
    options: dict[str, Any],
    trees: CategoryColumns | None = None,
) -> tuple[np.ndarray, int, list[str], bool]:
    """Group records jointly in every stratum: labels, number of groups, methods, and whether all methods completed.

    If the method is ONA*, small strata, which may be many, are grouped together.  `trees` are those of columns of
    categories.
    """
    n, d = len(z), z.shape[1] if trees is None else trees.effort
    limited = time_limit is not None and time_limit > MIN_ANNEAL_SECONDS * index.sizes.size
    kind: Literal["averaged", "range"] | None = None if trees is None else "range" if trees.by_range else "averaged"
    names = [
        automatic(size, d, k, limited, categories=kind, strata=index.sizes.size) if method == "auto" else method
        for size in index.sizes.tolist()
    ]
    if trees is not None and trees.is_sparse:
        names = [_affordable(name, method, trees.select(index.members(s)), k) for s, name in enumerate(names)]
    engine = backend_of(backend)
    for name in dict.fromkeys(names):
        check_options(name, k, options, time_limit, engine, backend)
    sizes, generator = index.sizes, random_state
    used = {name for name, size in zip(names, sizes.tolist(), strict=True) if size >= 2 * k > 2}
    if "ona_star" in used:
        used.add("mona")  # it also groups small parts together
    limit, categories = seconds("time_limit", time_limit), trees is not None
    bar = progress_for(sorted(used), k, options, False, progress_of(progress), limit, categories)
    seeds = [generator] if index.is_one else generator.spawn(sizes.size)
    labels = np.zeros(n, np.int64)  # strata of fewer than 2k records are one group
    many = (
        np.array([name == "ona_star" for name in names])
        & (sizes >= 2 * k)
        & (sizes <= RECORDS_WORTH_ALL_THREADS)
        & (k > 1)
    )
    together = float(sizes[many].sum()) / n
    if many.sum() > 1:
        turn, part = np.flatnonzero(many), bar.span(0.0, together)
        with working_on("ona_star", bar.quiet):
            labels = interruptible(group_parts, z, k, index.order, index.starts, turn, threads, part, trees)
    else:
        many[:], together = False, 0.0
    done = together
    for s in np.flatnonzero(~many & (sizes >= 2 * k)).tolist():
        members, share = index.members(s), float(sizes[s]) / n
        part = bar.share(done, min(done + share, 1.0))
        own = z[members]
        if not index.is_one:
            own -= own.mean(axis=0)
        details: dict[str, Any] = {}
        if k == 1:
            labels[members] = np.arange(len(own))
        else:
            own_trees = trees if trees is None or index.is_one else trees.select(members)
            if own_trees is not None and names[s] not in IN_PARTS:
                own, own_trees = own_trees.expand(own)
            resources = Resources(seeds[s], part, threads, engine, trees=own_trees)
            labels[members], details = run_method(names[s], own, k, resources, options)
        if "init" not in options and details.get("init", "ona_star") != "ona_star":
            names[s] += f" from {details['init']}"
        if part.stopped:
            bar.stop()
        done = min(done + share, 1.0)
    bar.finish()
    labels, n_groups = number_groups(labels + (int(labels.max()) + 1) * index.stratum, n)
    return labels, n_groups, list(dict.fromkeys(names)), not bar.stopped


def _affordable(name: str, method: str, trees: CategoryColumns, k: int) -> str:
    """The method for records with this number of categories: that of "auto" takes parts where tables would be large."""
    n, cells = trees.columns[0].codes.size, trees.count_cells()
    if name in IN_PARTS or n < 2 * k or cells <= (MANY_CELLS if method == "auto" else MOST_CELLS):
        return name
    if method == "auto":
        return "ona_local"
    raise InputValueError(
        f"{named('method', method)} stores a number for every record and category, {cells} here, and at most "
        f"{MOST_CELLS} are allowed; choose method 'ona_local', 'mona' or 'mondrian', or a column of fewer categories."
    )


def _numbered_through(results: list[tuple[np.ndarray, int]], index: StratumIndex, n: int) -> tuple[np.ndarray, int]:
    labels, total = np.empty(n, np.int32), 0
    for s, (own, count) in enumerate(results):
        labels[index.members(s)] = own + total
        total += count
    return labels, total


# ---- tables


def group_each(units: dict[Hashable, Any], strata: Strata, weights: np.ndarray | None, request: Request) -> TableGroups:
    """Every column by itself; its missing cells are groups of their own."""
    plan, backend, threads = request.plan, request.options.backend, request.threads
    n = strata.rows.size
    labels, n_groups = np.empty((n, len(units)), np.int32, order="F"), np.zeros(len(units), np.int64)
    blocks: dict[Any, list[int]] = {}
    for j, unit in enumerate(units.values()):
        alone = unit.missing is not None or weights is not None or unit.values.dtype == object
        blocks.setdefault(j if alone else unit.values.dtype, []).append(j)
    everyone, names = StratumIndex(strata.stratum), list(units)
    few = max(threads, CELLS_PER_CALL // n)  # columns at a time: their copies and the solvers' memory stay small
    parts = [(kind, block[at : at + few]) for kind, block in blocks.items() for at in range(0, len(block), few)]
    for kind, block in parts:
        if not isinstance(kind, int):
            table = np.empty((n, len(block)), kind)
            for at, j in enumerate(block):
                table[:, at] = units[names[j]].values
            ks, costs = [plan.ks[names[j]] for j in block], [plan.cost] * len(block)
            own_labels, counts = group_columns(table, everyone, ks, costs, backend, threads)
            if len(block) == len(names):
                return TableGroups(own_labels, counts.tolist(), "univariate", True)
            for at, j in enumerate(block):
                labels[:, j], n_groups[j] = own_labels[:, at], counts[at]
            continue
        unit = units[names[kind]]
        there = slice(None) if unit.missing is None else np.flatnonzero(~unit.missing)
        index = StratumIndex(number_rows([strata.stratum[there]]))
        labels[there, kind], count = group_column(
            unit.values[there], index, plan.ks[names[kind]], plan.cost,
            None if weights is None else weights[there], backend, threads,
        )  # fmt: skip
        if unit.missing is not None:
            absent = np.flatnonzero(unit.missing)
            own = number_rows([strata.stratum[absent]])
            labels[absent, kind] = own + count
            count += int(own.max()) + 1
        n_groups[kind] = count
    if n > CELLS_PER_CALL // 2:
        workspace.release()
    return TableGroups(labels, n_groups.tolist(), "univariate", True)


class Comparable:
    """Columns as coordinates and trees, from which distances are computed; built once, on first use."""

    def __init__(self, units: dict[Hashable, Units | CategoryCodes], plan: GroupingPlan) -> None:
        self.units, self.plan = units, plan
        self._known: dict[bool, tuple[np.ndarray, CategoryColumns | None]] = {}

    def read(self, places: bool = False) -> tuple[np.ndarray, CategoryColumns | None]:
        """Coordinates, and trees if there are any; with `places`, large trees have coordinates for every method."""
        places = places or self.plan.method != "mondrian" or not _without_places(self.units)
        if places not in self._known:
            self._known[places] = _comparable(self.units, self.plan, places)
        return self._known[places]


def group_jointly(
    comparable: Comparable,
    strata: Strata,
    weights: np.ndarray | None,
    request: Request,
    constraints: Sequence[Constraint] = (),
) -> TableGroups:
    """Whole records; the optimum where there is a single column.

    Groups that are made anew for the constraints need no search: those of Mondrian say how many would fail.
    """
    plan, options, units = request.plan, request.options, comparable.units
    k = next(iter(plan.ks.values()))
    index = StratumIndex(strata.stratum)
    if plan.single:
        (unit,) = units.values()
        labels, n_groups = group_column(unit.values, index, k, plan.cost, weights, options.backend, request.threads)
        return TableGroups(labels, [n_groups], "univariate", True)
    z, trees = comparable.read()
    if plan.method == "mondrian" and trees is None and _without_places(units):  # it then halves coordinates
        z, trees = comparable.read(places=True)
    if trees is not None and constraints and _is_cut_first(z, index, k, request):
        groups = _group_with(CUT_FIRST, z, trees, index, request, None, None)
        held = np.logical_and.reduce([constraint.judge_groups(groups.labels)[0] for constraint in constraints])
        if np.mean(held) < MIN_HOLDING:
            return groups
    share = SHARE_FOR_GROUPS if constraints and options.time_limit is not None else 1.0
    return group_points(z, trees, index, weights, request, share)


def group_points(
    z: np.ndarray,
    trees: CategoryColumns | None,
    index: StratumIndex,
    weights: np.ndarray | None,
    request: Request,
    share: float = 1.0,
) -> TableGroups:
    """Rows of comparable numbers, in a share of the time limit; the optimum on a line, where weights count."""
    plan, options = request.plan, request.options
    if z.shape[1] == 1 and trees is None:
        k = next(iter(plan.ks.values()))
        labels, n_groups = group_column(z[:, 0], index, k, plan.cost, weights, options.backend, request.threads)
        return TableGroups(labels, [n_groups], "univariate", True)
    limit = options.time_limit and options.time_limit * share
    return _group_with(plan.method, z, trees, index, request, request.progress, limit)


def _group_with(
    method: str,
    z: np.ndarray,
    trees: CategoryColumns | None,
    index: StratumIndex,
    request: Request,
    progress: Any,
    time_limit: float | None,
) -> TableGroups:
    k, options = next(iter(request.plan.ks.values())), request.options
    labels, n_groups, methods, complete = group_records(
        z, index, k, method=method, backend=options.backend, threads=request.threads,
        random_state=request.generator, progress=progress, time_limit=time_limit, options=options.of_method,
        trees=trees,
    )  # fmt: skip
    return TableGroups(labels, [n_groups], ", ".join(methods), complete)


def _is_cut_first(z: np.ndarray, index: StratumIndex, k: int, request: Request) -> bool:
    """Whether a large table is left to "auto"."""
    largest, left = int(index.sizes.max()), request.plan.method == request.options.enforce == "auto"
    return left and k > 1 and not is_affordable(largest, z.shape[1], k)


def constrain_groups(
    groups: TableGroups,
    comparable: Comparable,
    strata: Strata,
    constraints: list[Constraint],
    request: Request,
) -> TableGroups:
    """Groups for which the constraints hold: the same where they do already."""
    k, (z, trees) = next(iter(request.plan.ks.values())), comparable.read(places=True)
    how, limit = request.options.enforce, request.options.time_limit
    anew = request.plan.method == "auto" and groups.method == CUT_FIRST  # too many of these groups fail
    if limit is not None:
        warm_up(z, k, constraints, trees)
    progress = Progress(None, limit and limit * (1.0 - SHARE_FOR_GROUPS))
    enforced = enforce(
        z, k, groups.labels.astype(np.int64), strata.members(), constraints, how, trees, progress,
        threads=request.threads, anew=anew,
    )  # fmt: skip
    if not enforced.ways:
        return groups
    labels, n_groups = number_groups(enforced.labels, len(z))
    method = ", ".join([groups.method, *enforced.ways])
    complete = groups.complete and not progress.stopped
    return TableGroups(labels, [n_groups], method, complete, groups.n_groups[0])


def _comparable(
    units: dict[Hashable, Units | CategoryCodes], plan: GroupingPlan, places: bool = False
) -> tuple[np.ndarray, CategoryColumns | None]:
    """Columns around 0, in their standard deviations, ranges or one unit that squares do not exceed; 0 where missing.

    Categories are blocks of coordinates, divided by the root of the block's variance, or for a range by the loss.
    Nominal ones are trees as well, in the second result; None if there are no trees.  Large trees are sparse if there
    would be too many coordinates, one for every node in every record, or if the method cuts trees and measures no
    distances, unless it needs `places`: then one coordinate, positions on a line, represents them.
    """
    n = next(iter(units.values())).values.size
    sparse = _without_places(units)
    if (places or plan.method != "mondrian") and n * sum(map(_width, units.values())) <= MANY_CELLS:
        sparse = []
    categories = {name: unit for name, unit in units.items() if isinstance(unit, CategoryCodes)}
    points = {name: _nowhere(unit) if name in sparse else unit.embedding() for name, unit in categories.items()}
    widths = [max(points[name].shape[1], 1) if name in points else 1 for name in units]
    z, scales = np.zeros((n, sum(widths))), []
    starts = np.cumsum([0, *widths])
    axes, trees = {}, []
    for (name, unit), j, width in zip(units.items(), starts.tolist(), widths, strict=False):
        there = slice(None) if unit.missing is None else ~unit.missing
        values, scale = unit.values[there], 0
        if values.size and name in sparse and isinstance(unit, CategoryCodes):
            unit_of_loss = _unit_of_loss(unit, values, plan.standardize is True)
            z[there, j] = _tree(replace(unit, values=values, missing=None), points[name], j, unit_of_loss, 1.0).line()
        elif values.size and name in points:
            centered, unit_of_loss = _block(points[name], values, plan.standardize is True)
            z[there, j : j + width] = centered[values]
        elif values.size:
            numbers = (differences(values) if unit.is_integer else values)[:, None]
            standard = center_columns(numbers, plan.standardize is not False)
            z[there, j], scale = standard.z[:, 0], standard.scale
            if plan.standardize == "range":
                z[there, j] /= np.ptp(z[there, j]) or 1.0
        if name in plan.importance:
            z[:, j : j + width] *= plan.importance[name]
        if isinstance(unit, CategoryCodes) and not unit.is_line and values.size:
            trees.append(_tree(unit, points[name], j, unit_of_loss, plan.importance.get(name, 1.0)))
        elif width == 1:
            axes[j] = plan.importance.get(name, 1.0)
        scales += [scale] * width
    for j, scale in enumerate(scales):
        if scale != max(scales):
            z[:, j] = np.ldexp(z[:, j], scale - max(scales))
    if not trees or any(scales):
        return z, None
    by_range = plan.standardize == "range"
    return z, CategoryColumns(np.array([*axes], np.int64), trees, np.array([*axes.values()]), by_range)


def _without_places(units: dict[Hashable, Units | CategoryCodes]) -> list[Hashable]:
    """Columns of many categories in a tree."""
    trees = {name: unit for name, unit in units.items() if isinstance(unit, CategoryCodes) and not unit.is_line}
    return [name for name, unit in trees.items() if len(unit.labels) > FEW_LEAVES]


def _nowhere(unit: CategoryCodes) -> np.ndarray:
    return np.zeros((len(unit.labels), 0))


def _width(unit: Units | CategoryCodes) -> int:
    """How many numbers methods keep of each record, its place and its distance from every category."""
    if not isinstance(unit, CategoryCodes) or unit.is_line:
        return 1
    return len(unit.labels) + axes_of(*unit.levels())[2]


def _unit_of_loss(unit: CategoryCodes, codes: np.ndarray, standardize: bool) -> float:
    """The square of the unit of coordinates, as `_block` has it."""
    variance = variance_of(*unit.levels(), np.bincount(codes, minlength=len(unit.labels)) / codes.size)
    return 1.0 if not standardize else 1.0 / variance if variance > 0 else 0.0


def _block(points: np.ndarray, codes: np.ndarray, standardize: bool) -> tuple[np.ndarray, float]:
    """The coordinates of categories, around 0, and the square of their unit.

    If `standardize`, the variances of these codes add up to 1.
    """
    shares = np.bincount(codes, minlength=len(points)) / codes.size
    points = points - shares @ points
    variance = float(shares @ np.square(points).sum(axis=1))
    if not standardize:
        return points, 1.0
    return (points / np.sqrt(variance), 1.0 / variance) if variance > 0 else (np.zeros_like(points), 0.0)


def _tree(unit: CategoryCodes, points: np.ndarray, first: int, scale: float, importance: float) -> CategoryColumn:
    (levels, loss), m, scale = unit.levels(), len(unit.labels), scale * importance**2
    places = points * np.sqrt(scale)
    if unit.missing is None:
        return CategoryColumn(unit.values, levels, loss, places, first, scale, importance)
    alone = np.append(np.full(levels.shape[1] - 1, loss.size), levels[0, -1])
    places = np.concatenate([places, np.zeros((1, places.shape[1]))])
    codes = np.where(unit.missing, m, unit.values)
    levels, loss = np.vstack([levels, alone]), np.append(loss, 0.0)
    return CategoryColumn(codes, levels, loss, places, first, scale, importance, m)
