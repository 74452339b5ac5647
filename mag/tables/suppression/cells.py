"""`mag.suppress`: check → read → stratify → suppress → build → recount → publish."""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import number_rows
from mag._lib.roles import list_names
from mag._lib.wording import named
from mag.api.options import generator_of
from mag.api.table_options import OPTIONS, SUPPRESS, Options
from mag.frames import Frame, collect_frame, frame_of
from mag.frames.units import RefusedColumnError
from mag.tables._column_sets import read_sets
from mag.tables._compared import Original
from mag.tables._guarantee import CountedSet, describe_kept
from mag.tables._manifest import Provenance
from mag.tables._owners import Owners, read_owners
from mag.tables._pipeline import Clock, blank_cells
from mag.tables._request import ColumnRoles, check_names_of, left_out, record_options, roles_of
from mag.tables._strata import SmallStrataError, Strata, form_strata
from mag.tables.repeats import warn_of_units
from mag.tables.suppression import READINGS, Demand
from mag.tables.suppression.guarantee import SuppressionGuarantee
from mag.tables.suppression.release import Suppression

MAX_SUBSETS = 1000  # sets of quasi-identifiers that can be asked for at once


@dataclass(frozen=True)
class SuppressionRequest:
    """Checked options; `demands` are of places in `roles.columns`, `owners` the units of all records."""

    options: Options
    roles: ColumnRoles
    demands: list[Demand]
    prices: np.ndarray
    owners: Owners
    generator: np.random.Generator

    @property
    def k(self) -> int:
        """The largest k that is demanded."""
        return max(demand.k for demand in self.demands)

    def names(self, demand: Demand) -> tuple[Hashable, ...]:
        """The columns of a demand."""
        return tuple(self.roles.columns[j] for j in demand.columns)


def release_suppressed(table: Any, options: Options) -> Suppression:
    """Suppress cells of a table, verify k on the published table, and return both."""
    clock, frame = Clock(), collect_frame(table, lambda names: left_out(names, options))
    request = check_request(frame, options)
    if not request.roles.unit:
        warn_of_units(frame, request.roles.drop, request.roles.keep)
    strata = stratify(frame, request)
    codes = read_codes(frame, request.roles.columns)[strata.rows]
    clock.lap("read")
    published = suppress_codes(codes, strata, request)
    clock.lap("suppress")
    permutation = request.generator.permutation(strata.rows.size) if options.shuffle else None
    data, rows = build(frame, request, published == 0, strata, permutation)
    clock.lap("mask")
    units = verify.cells_of_unit(frame, request.roles.unit[0], rows) if request.roles.unit else None
    guarantee = recount(data, request, codes != published, strata, units)
    clock.lap("recount")
    warnings = warn(frame, request, codes, strata)
    recorded = record_options(options, request.roles, SUPPRESS)
    provenance = Provenance.of(recorded, frame.n, frame.names, clock.seconds)
    return Suppression(data, guarantee, warnings, provenance, Original(frame, rows))


# ---- check


def check_request(frame: Frame, options: Options) -> SuppressionRequest:
    """Make all checks that need no cell, but for units."""
    checks.one_of("missing", options.missing, READINGS)
    checks.flag("shuffle", options.shuffle)
    for name in ("rest", "small_strata"):
        checks.one_of(name, getattr(options, name), OPTIONS[name].choices)
    roles = roles_of(frame.names, options, [])
    if frame.n == 0:
        raise InputValueError("table must hold at least one record that can be published; got none.")
    if options.small_strata != "error" and not roles.by:
        raise InputValueError(f"{named('small_strata')} is not used without by=; got {options.small_strata!r}.")
    check_names_of("importance", options.importance, roles.columns, "quasi-identifiers")
    prices = [
        checks.positive(f"importance[{name!r}]", (options.importance or {}).get(name, 1.0)) for name in roles.columns
    ]
    owners = read_owners(frame, roles.unit, [])
    most, of = (frame.n, "n") if owners.units is None else (int(owners.units.max()) + 1, "the number of units")
    demands = _of_sets(options, roles.columns, most, of) + _of_subsets(options.subsets, roles.columns, most, of)
    demands = list(dict.fromkeys(Demand(tuple(sorted(columns)), k) for columns, k in demands))
    least = [demand for demand in demands if not any(_implies(other, demand) for other in demands)]
    generator = np.random.default_rng() if options.random_state is None else generator_of(options.random_state)
    return SuppressionRequest(options, roles, least, np.array(prices), owners, generator)


def _implies(other: Demand, demand: Demand) -> bool:
    """Whether a demand holds wherever another one does: it has fewer columns, or a smaller k."""
    return other != demand and other.k >= demand.k and {*demand.columns} <= {*other.columns}


def _of_sets(options: Options, columns: list[Hashable], most: int, of: str) -> list[Demand]:
    if options.sets is None:
        return [Demand(tuple(range(len(columns))), checks.integer("k", options.k, 1, most, of))]
    places = {name: j for j, name in enumerate(columns)}
    sets = read_sets(options.sets, columns, options.k)
    return [
        Demand(tuple(places[name] for name in own.columns), checks.integer("k", own.k, 1, most, of)) for own in sets
    ]


def _of_subsets(subsets: Any, columns: list[Hashable], most: int, of: str) -> list[Demand]:
    if subsets is None:
        return []
    if not isinstance(subsets, Mapping):
        raise InputTypeError(f"subsets must be a dictionary of k by size; got {checks.describe(subsets)}.")
    demands: list[Demand] = []
    for size, k in subsets.items():
        checks.integer("the sizes of subsets", size, 1, len(columns), "the number of columns")
        least = checks.integer(f"subsets[{size}]", k, 1, most, of)
        if len(demands) + (many := math.comb(len(columns), size)) > MAX_SUBSETS:
            raise InputValueError(f"subsets must be at most {MAX_SUBSETS} sets of columns; got {many} of size {size}.")
        demands += [Demand(chosen, least) for chosen in itertools.combinations(range(len(columns)), size)]
    return demands


# ---- read


def read_codes(frame: Frame, columns: Sequence[Hashable]) -> np.ndarray:
    """Records × columns: equal cells have one number from 1 on, missing cells 0."""
    verify.require_comparable(frame, columns)
    codes = np.empty((frame.n, len(columns)), np.int64)
    for j, name in enumerate(columns):
        column = frame.column(name)
        absent = np.fromiter(map(is_missing, column.cells()), bool, frame.n)
        codes[:, j] = np.where(absent, 0, 1 + number_rows([column.codes() - column.codes().min()]))
    return codes


# ---- stratify


def stratify(frame: Frame, request: SuppressionRequest) -> Strata:
    """Which records are published, and which of them may be in one class."""
    verify.require_comparable(frame, request.roles.by)
    by = [frame.column(name).codes() for name in request.roles.by]
    rows, policy = np.arange(frame.n), request.options.small_strata
    if not by:
        return Strata(frame.n, rows, np.zeros(frame.n, np.int64), [])

    def too_small(rows: np.ndarray, stratum: np.ndarray) -> np.ndarray:
        return request.owners.select(rows).count(stratum)[0] < request.k

    try:
        strata = form_strata(frame.n, by, None, rows, too_small, policy)
    except SmallStrataError as error:
        what = "records" if request.owners.units is None else "units"
        ways = ("suppress",) if policy == "merge" else ("merge", "suppress")
        raise InputValueError(
            f"every stratum must have at least k={request.k} {what}: {error}; pass {named('small_strata', *ways)}, or "
            "a smaller k."
        ) from None
    if not strata.rows.size:
        raise InputValueError("table must hold at least one record that can be published; got none.")
    return strata


# ---- suppress


def suppress_codes(codes: np.ndarray, strata: Strata, request: SuppressionRequest) -> np.ndarray:
    """The codes with suppressed cells; columns with many values come first, where there is a choice."""
    order = np.argsort([-np.unique(column).size for column in codes.T], kind="stable")
    place = np.argsort(order).tolist()
    demands = [Demand(tuple(sorted(place[j] for j in demand.columns)), demand.k) for demand in request.demands]
    units, reading = request.owners.select(strata.rows).units, READINGS[request.options.missing]
    found = np.empty_like(codes)
    for members in strata.members():
        own = None if units is None else units[members]
        found[members] = reading(codes[members][:, order], demands, request.prices[order], own)
    return found[:, place]


# ---- build


def build(
    frame: Frame, request: SuppressionRequest, absent: np.ndarray, strata: Strata, permutation: np.ndarray | None
) -> tuple[Any, np.ndarray | None]:
    """The table to publish, in fresh memory, and the places of its records in the original, None for all in order.

    All missing cells of a column are missing alike.
    """
    order = strata.rows if permutation is None else strata.rows[permutation]
    rows = order if strata.withheld or permutation is not None else None
    masked = {}
    for name, blank in zip(request.roles.columns, absent.T, strict=True):
        if blank.any():
            own = blank if permutation is None else blank[permutation]
            try:
                masked[name] = frame.column(name).take_nullable(rows, own)
            except RefusedColumnError as refused:
                raise InputTypeError(
                    f"cells of {name!r} must be suppressed, but it holds {refused}; convert it."
                ) from None
    for name, mixed in zip(request.roles.by, strata.blank, strict=True):
        if mixed is not None:
            masked[name] = blank_cells(frame, name, rows, mixed if permutation is None else mixed[permutation])
    names = [name for name in frame.names if name not in request.roles.unpublished]
    return frame.build(rows, names, masked, request.options.shuffle), rows


# ---- recount


def count_set(
    data: Any,
    names: Sequence[Hashable],
    k: int,
    missing: str,
    by: Sequence[Hashable] = (),
    units: Sequence[Any] | None = None,
) -> CountedSet:
    """The least number of records, or units, that equal a record in these columns; raise if it is below k."""
    every = [*by, *names]
    is_value = missing == "value"
    smallest = verify.recount(data, every) if is_value else verify.count_wildcard(data, names, by, None)
    if units is None:
        verify.require(smallest, k, every, frame_of(data).n)
        return CountedSet(tuple(names), k, smallest)
    if is_value:
        return CountedSet(tuple(names), k, smallest, verify.require_units(data, every, units, k))
    least = verify.require_enough(verify.count_wildcard(data, names, by, units), k, every)
    return CountedSet(tuple(names), k, smallest, least)


def recount(
    data: Any, request: SuppressionRequest, gone: np.ndarray, strata: Strata, units: Sequence[Any] | None
) -> SuppressionGuarantee:
    """Count the guarantee on the published table; raise if it is not as requested."""
    options, roles = request.options, request.roles
    counted = [
        count_set(data, request.names(demand), demand.k, options.missing, roles.by, units) for demand in request.demands
    ]
    below = 0
    if options.missing == "wildcard":
        of_records = np.ones(len(gone), bool)
        for demand in request.demands:
            of_records &= verify.class_sizes(data, [*roles.by, *request.names(demand)], units) >= demand.k
        below = int((~of_records).sum())
    return SuppressionGuarantee(
        missing=options.missing,
        k=request.k,
        columns=tuple(roles.columns),
        by=tuple(roles.by),
        kept=tuple(roles.keep),
        sets=tuple(counted),
        suppressed=dict(zip(roles.columns, gone.sum(axis=0).tolist(), strict=True)),
        n_records=len(gone),
        withheld=strata.withheld,
        changed=int(gone.any(axis=1).sum()),
        below_k=below,
        unit=roles.unit[0] if roles.unit else None,
    )


# ---- publish


def warn(frame: Frame, request: SuppressionRequest, codes: np.ndarray, strata: Strata) -> tuple[str, ...]:
    """Advice for the publisher."""
    warnings, roles = [], request.roles
    published = [*roles.by, *roles.columns, *roles.keep]
    if not request.options.shuffle and (note := frame.index_note(published, strata.withheld > 0)):
        warnings.append(note)
    if merged := [str(name) for name, blank in zip(roles.by, strata.blank, strict=True) if blank is not None]:
        warnings.append(f"Small strata were pooled: cells of {list_names(merged)} are missing there.")
    if request.roles.keep:
        warnings.append(describe_kept(request.roles.keep))
    if request.options.missing == "wildcard":
        warnings.append(
            "Records equal each other through missing cells: who knows a person's values may still find the one "
            f"published record that shows them; {named('missing', 'value')} prevents that."
        )
    if (codes == 0).any():
        warnings.append("Cells that were missing before are published like suppressed ones.")
    return tuple(warnings)
