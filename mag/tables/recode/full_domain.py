"""`mag.generalize`: read → search the lattice → recode → build → recount → publish."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.number import number_rows
from mag._lib.wording import named
from mag.api.table_options import GENERALIZE, OPTIONS, Options
from mag.frames import Frame, collect_frame
from mag.frames.categories import CategoryCodes, is_category, publish_text
from mag.hierarchy import ROOT, Hierarchy, text_of
from mag.tables._grouping import TableGroups
from mag.tables._manifest import Provenance
from mag.tables._owners import read_owners
from mag.tables._pipeline import (
    Clock,
    TableColumns,
    build,
    make_release,
    permute,
    read_categories,
    require_true,
)
from mag.tables._recount import recount
from mag.tables._release import LatticeNode, Release
from mag.tables._request import Request, check_names_of, check_request, left_out, record_options
from mag.tables._sensitive import constrain, orders_of, promises_of
from mag.tables._strata import Strata
from mag.tables.criteria.enforce import Constraint
from mag.tables.recode import Ladder, Lattice, Recoding, Rules, search
from mag.tables.repeats import warn_of_units

MAX_NODES = 10**7  # each node takes some 20 bytes
METHOD = "full-domain"


@dataclass(frozen=True)
class Limits:
    """The caller's limits of the search, checked."""

    max_suppressed: float
    show_suppressed_as: str
    max_nodes: int

    @classmethod
    def checked(cls, options: Options) -> "Limits":
        """All that can be checked before a column is read."""
        return cls(
            checks.fraction("max_suppressed", options.max_suppressed),
            checks.one_of("show_suppressed_as", options.show_suppressed_as, OPTIONS["show_suppressed_as"].choices),
            checks.integer("max_nodes", options.max_nodes, 1, MAX_NODES, "10**7"),
        )


@dataclass(frozen=True)
class Recoded:
    """The result of the search for every record: class, whether suppressed, whether withheld."""

    levels: tuple[int, ...]
    classes: np.ndarray
    suppressed: np.ndarray
    withheld: np.ndarray


def release_recoded(table: Any, options: Options) -> Release:
    """Recode a table, verify k on the published table, and return both."""
    clock, limits = Clock(), Limits.checked(options)
    frame = collect_frame(table, lambda names: left_out(names, options))
    request = _check(frame, options)
    columns, rows = _read(frame, request)
    if not columns.owners:
        warn_of_units(frame, request.roles.drop, request.roles.keep)
    stratum = number_rows([frame.column(name).codes()[rows] for name in request.roles.by] or [np.zeros_like(rows)])
    orders = orders_of(frame, request.roles.sensitive, request.options.order)
    constraints = constrain(frame, rows, request.demands, orders)
    clock.lap("read")
    everyone = columns.owners.constrain(request.plan)
    lattice, recoding, recoded = _search(columns, stratum, [*constraints, *everyone], request, limits)
    stays = ~recoded.withheld
    strata = Strata(frame.n, rows[stays], stratum[stays], [None] * len(request.roles.by))
    columns = columns.select(np.flatnonzero(stays))
    suppressed = recoded.suppressed[stays]
    labels = number_rows([*_codes_of_labels(columns, recoded.levels, suppressed), stratum[stays]])
    groups = TableGroups(labels, [int(labels.max()) + 1], METHOD, True)
    clock.lap("search")
    permutation = permute(labels.size, request)
    masked = _mask(frame, columns, recoded.levels, suppressed, permutation)
    published = build(frame, masked, strata, request, permutation)
    clock.lap("recode")
    levels = dict(zip(columns.units, recoded.levels, strict=True))
    require_true(frame, published, columns.units, request)
    promises = promises_of(request.demands, constraints, orders)
    counted = recount(frame, published.data, published.rows, strata, groups, promises, request)
    guarantee = replace(counted, levels=levels, suppressed=int(suppressed.sum()))
    clock.lap("recount")
    release = make_release(frame, columns, published, strata, groups, guarantee, request, clock.seconds)
    return _complete(release, frame, request, limits, lattice, recoding)


# ---- check and read


def _check(frame: Frame, options: Options) -> Request:
    if frame.n == 0:
        raise InputValueError("table must hold at least one record that can be published; got none.")
    checks.integer("k", options.k, 1, frame.n, "n")
    request = check_request(frame.names, options, lambda name: "nominal with a hierarchy")
    check_names_of("levels", options.levels, request.roles.columns, "recoded")
    if wrong := [repr(name) for name in options.order or () if name in request.roles.columns]:
        raise InputValueError(f"order must name sensitive columns; got {', '.join(wrong)}.")
    return request


def _read(frame: Frame, request: Request) -> tuple[TableColumns, np.ndarray]:
    """The columns as categories with a hierarchy, of the records that are not withheld for a missing cell."""
    verify.require_comparable(frame, request.roles.by)
    units: dict[Hashable, Any] = {name: _read_column(frame, name, request) for name in request.roles.columns}
    missing = {name: unit.missing for name, unit in units.items() if unit.missing is not None}
    rows = np.arange(frame.n)
    if missing and request.options.missing == "error":
        listed = ", ".join(f"{int(mask.sum())} in {name!r}" for name, mask in missing.items())
        raise InputValueError(
            f"columns have missing values: {listed}; pass {named('missing', 'group')} to make missing a value of its "
            f"own, or {named('missing', 'drop')} to withhold these records."
        )
    columns = TableColumns(units, {}, None, read_owners(frame, request.roles.unit, request.roles.household))
    if missing and request.options.missing == "drop":
        rows = np.flatnonzero(~np.logical_or.reduce(list(missing.values())))
        if rows.size == 0:
            raise InputValueError("table must hold at least one record that can be published; got none.")
        checks.integer("k", request.options.k, 1, rows.size, "n")
        columns = columns.select(rows)
    _check_owners(columns, rows.size, request)
    return columns, rows


def _check_owners(columns: TableColumns, n: int, request: Request) -> None:
    """The sizes of classes that count units and households."""
    units, homes = columns.owners.count(np.zeros(n, np.int64))
    if columns.owners.units is not None:
        checks.integer("k", request.options.k, 1, int(units[0]), "the number of units")
    if columns.owners.homes is not None:
        checks.integer("k_household", request.plan.k_household, 1, int(homes[0]), "the number of households")


def _read_column(frame: Frame, name: Hashable, request: Request) -> CategoryCodes:
    source = (request.options.hierarchies or {}).get(name)
    if source is None:
        if not is_category(frame.column(name)):
            raise InputTypeError(
                f"hierarchies must have an entry for {name!r}, which holds no categories; mag.Hierarchy.intervals "
                "makes one for numbers, mag.Hierarchy.dates for dates."
            )
        source = _flat
    remedy = "--other root of the command or its method with_other takes them for its root"
    categories = read_categories(frame, name, source, remedy=remedy)
    tree = categories.tree
    assert tree is not None
    if categories.missing is not None and tree.levels.shape[1] == 1:  # its root would be the value of missing cells
        tree = Hierarchy([[*row, ROOT] for row in tree.to_levels()], tree.warnings)
    return replace(categories, ordered=False, tree=tree)


def _flat(values: list[Any]) -> Hierarchy:
    """All values below one root: published as they are, or not at all; an empty text is a value, too."""
    texts = dict.fromkeys(map(text_of, values))  # the published form: 1 is "1"
    return Hierarchy([[text, ROOT] for text in texts] or [[ROOT, ROOT]])


# ---- search


def _search(
    columns: TableColumns, stratum: np.ndarray, constraints: list[Constraint], request: Request, limits: Limits
) -> tuple[Lattice, Recoding, Recoded]:
    ladders, codes = [], []
    for name, unit in columns.units.items():
        assert isinstance(unit, CategoryCodes)
        assert unit.tree is not None
        assert unit.leaves is not None
        ladder = Ladder.of(unit.tree, unit.leaves, unit.missing is not None)
        ladders.append(ladder.between(*_bounds_of(name, request.options.levels, ladder.n_levels)))
        codes.append(unit.values if unit.missing is None else np.where(unit.missing, len(unit.labels), unit.values))
    importance = [request.plan.importance.get(name, 1.0) for name in columns.units]
    sensitive = [(constraint.codes, constraint.totals.size) for constraint in constraints]
    lattice = Lattice(ladders, np.stack(codes, axis=1), stratum, sensitive, importance)
    most = math.floor(Fraction(str(limits.max_suppressed)) * lattice.n)
    criteria = [(place, constraint.criterion) for place, constraint in enumerate(constraints)]
    rules = Rules(request.options.k, most, limits.show_suppressed_as == "root", criteria)
    reasons = [constraint.criterion.why_not(constraint.totals, constraint.column) for constraint in constraints]
    reason = next((reason for reason in reasons if reason), None)
    if reason is not None and rules.is_monotone:  # no suppression helps
        raise InputValueError(reason)
    recoding = search(lattice, rules, limits.max_nodes)
    if not recoding.best:
        raise InputValueError(reason or _describe_failure(lattice, rules, limits, bool(columns.owners)))
    levels = recoding.best[0].levels
    return lattice, recoding, Recoded(lattice.in_hierarchies(levels), *lattice.records(levels, rules))


def _bounds_of(name: Hashable, levels: Any, n_levels: int) -> tuple[int, int]:
    """The least and the largest level that a column may be published on."""
    asked = (levels or {}).get(name, (0, n_levels - 1))
    bounds = asked if isinstance(asked, (tuple, list)) and len(asked) == 2 else (asked, asked)
    if not all(isinstance(level, (int, np.integer)) and not isinstance(level, bool) for level in bounds):
        raise InputTypeError(
            f"levels[{name!r}] must be a level or the least and the largest one; got {checks.describe(asked)}."
        )
    if not 0 <= bounds[0] <= bounds[1] < n_levels:
        raise InputValueError(
            f"levels[{name!r}] must be levels of its hierarchy, from 0 to {n_levels - 1}; got {asked}."
        )
    return int(bounds[0]), int(bounds[1])


def _describe_failure(lattice: Lattice, rules: Rules, limits: Limits, owned: bool) -> str:
    """Why no node is allowed."""
    counts = lattice.classes(lattice.top).counts
    small = int(counts[counts < rules.k].sum())
    allowed = f"max_suppressed={limits.max_suppressed:g} allows {rules.most} of {lattice.n} records to be suppressed"
    if small > rules.most or not rules.criteria:
        return (
            f"{allowed}, but even on the highest levels {small} records are in strata of fewer than k={rules.k}; pass "
            "a larger max_suppressed, a smaller k, or fewer columns of by."
        )
    what = "units and households of every class" if owned else "diversity= and closeness="
    return (
        f"{allowed}, which is too few for {what} on any levels; pass a larger max_suppressed, weaker criteria, or "
        "fewer columns of by."
    )


# ---- recode


def _mask(
    frame: Frame,
    columns: TableColumns,
    levels: tuple[int, ...],
    suppressed: np.ndarray,
    permutation: np.ndarray | None,
) -> dict[Hashable, Any]:
    """The recoded columns, in the order that they are published in."""
    masked: dict[Hashable, Any] = {}
    for (name, unit), level in zip(columns.units.items(), levels, strict=True):
        nodes, missing = _nodes(unit, level, suppressed)
        assert isinstance(unit, CategoryCodes)
        assert unit.tree is not None
        if permutation is not None:
            nodes, missing = nodes[permutation], None if missing is None else missing[permutation]
        masked[name] = _texts(frame, name, unit.tree, nodes, missing)
    return masked


def _nodes(unit: Any, level: int, suppressed: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """The node that every record shows, and where it shows nothing."""
    tree, is_root = unit.tree, suppressed | (level == unit.tree.levels.shape[1] - 1)
    missing = None if unit.missing is None else unit.missing & ~is_root
    nodes = np.full(is_root.size, tree.root)
    plain = ~is_root if missing is None else ~is_root & ~missing
    nodes[plain] = tree.levels[unit.leaves[unit.values[plain]], level]
    return nodes, missing


def _codes_of_labels(columns: TableColumns, levels: tuple[int, ...], suppressed: np.ndarray) -> list[np.ndarray]:
    """Numbers of the published labels: two nodes may have the same, the root and one on a lower level."""
    codes, units = [], list[Any](columns.units.values())
    for unit, level in zip(units, levels, strict=True):
        nodes, missing = _nodes(unit, level, suppressed)
        present, place = np.unique(nodes, return_inverse=True)
        numbers: dict[str, int] = {}
        of_node = [numbers.setdefault(text_of(unit.tree.labels[node]), len(numbers)) for node in present.tolist()]
        code = np.array(of_node)[place]
        codes.append(code if missing is None else np.where(missing, len(numbers), code))
    return codes


def _texts(frame: Frame, name: Hashable, tree: Hierarchy, nodes: np.ndarray, missing: np.ndarray | None) -> Any:
    """The labels of every record's node, and no other."""
    column = frame.column(name)
    if missing is not None and not missing.any():
        missing = None
    if missing is not None and missing.all():
        return column.take(np.arange(nodes.size), missing)
    there = nodes if missing is None else nodes[~missing]
    present, place = np.unique(there, return_inverse=True)
    places = np.zeros(nodes.size, np.int64)
    places[slice(None) if missing is None else ~missing] = place
    return publish_text(column, [text_of(tree.labels[node]) for node in present.tolist()], places, missing)


# ---- publish


def _complete(
    release: Release, frame: Frame, request: Request, limits: Limits, lattice: Lattice, recoding: Recoding
) -> Release:
    """The release with the attributes that only a full-domain recoding has."""
    names = release.guarantee.columns
    nodes = tuple(
        LatticeNode(
            levels=dict(zip(names, lattice.in_hierarchies(outcome.levels), strict=True)),
            loss=float(outcome.value * lattice.unit),
            suppressed=outcome.suppressed,
            withheld=outcome.withheld,
            smallest=outcome.smallest,
        )
        for outcome in recoding.best
    )
    recorded = record_options(request.options, request.roles, GENERALIZE)
    provenance = Provenance.of(recorded, frame.n, frame.names, release._provenance.seconds)
    return replace(
        release,
        warnings=(*release.warnings, *_warnings(frame, request, limits, recoding)),
        grouping=replace(release.grouping, complete=recoding.is_proven),
        _provenance=provenance,
        levels=dict(nodes[0].levels),
        proven=recoding.is_proven,
        lattice=nodes,
        _ncp=float(lattice.ncp(recoding.best[0])),
    )


def _warnings(frame: Frame, request: Request, limits: Limits, recoding: Recoding) -> list[str]:
    warnings = []
    hierarchies = request.options.hierarchies or {}
    if flat := [str(name) for name in request.roles.columns if name not in hierarchies]:
        warnings.append(f"Without a hierarchy a column shows its values or nothing but {ROOT!r}: {', '.join(flat)}.")
    if withheld := recoding.best[0].withheld if limits.show_suppressed_as == "root" else 0:
        records = "suppressed record is" if withheld == 1 else "suppressed records are"
        fails = "of fewer than k, or one that fails a criterion" if request.demands else "of fewer than k"
        warnings.append(f"{withheld} {records} withheld: together they would be a class {fails}.")
    if not recoding.is_proven:
        warnings.append(too_many_nodes(recoding.n_nodes, limits.max_nodes))
    return warnings


def too_many_nodes(n_nodes: int, max_nodes: int, local: str = "mag.microaggregate") -> str:
    """The warning about a lattice that is too large, in one sentence."""
    return (
        f"There are {n_nodes} combinations of levels, more than max_nodes={max_nodes}: these are the best found along "
        f"some paths, not proven; {local} recodes locally, which needs no search and loses less."
    )
