"""`mag.suppress`: check → read → suppress → build → recount → publish."""

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import InputTypeError, InputValueError
from mag._lib.missing import is_missing
from mag._lib.number import number_rows
from mag._lib.roles import SENTENCES, assign_roles
from mag._lib.wording import named
from mag.api.options import generator_of
from mag.api.table_options import SUPPRESS, Options
from mag.frames import Frame, frame_of
from mag.frames.units import RefusedColumnError
from mag.tables._column_sets import read_sets
from mag.tables._guarantee import CountedSet
from mag.tables._manifest import Provenance, digest_column, make_manifest
from mag.tables._pipeline import Clock
from mag.tables._request import ColumnRoles, check_names_of, record_options
from mag.tables.suppression import READINGS, Demand
from mag.tables.suppression.guarantee import SuppressionGuarantee

MAX_SUBSETS = 1000  # sets of quasi-identifiers that can be asked for at once
UNASSIGNED = SENTENCES.unassigned.replace("columns, by, keep or drop", "columns, keep or drop")


@dataclass(frozen=True, eq=False, repr=False)
class Suppression:
    """A published table with suppressed cells, as returned by `mag.suppress`.

    Attributes
    ----------
    data : frame or dict
        The published table, in the library of the original.
    guarantee : SuppressionGuarantee
        The guarantee, counted on `data`.
    warnings : tuple of str
        Advice for the publisher.
    """

    data: Any
    guarantee: SuppressionGuarantee
    warnings: tuple[str, ...]
    _provenance: Provenance

    @property
    def suppressed(self) -> dict[Hashable, int]:
        """By column: how many cells were suppressed."""
        return dict(self.guarantee.suppressed)

    def count_with_kept(self) -> tuple[int, int] | None:
        """The smallest class in all published columns, and the records in classes of fewer than k, cell by cell.

        None if no column is kept.
        """
        if not self.guarantee.kept:
            return None
        sizes = verify.sizes_of_classes(self.data, frame_of(self.data).names)
        return int(sizes.min()), int(sizes[sizes < self.guarantee.k].sum())

    def with_options(self, **options: Any) -> "Suppression":
        """The same release, with these options in its manifest, for columns that were not even read."""
        provenance = replace(self._provenance, options=self._provenance.options | options)
        return replace(self, _provenance=provenance)

    def manifest(self) -> dict[str, Any]:
        """Versions, options, shape, hashes and the guarantee, in the types of JSON."""
        published = frame_of(self.data)
        hashes = {str(name): digest_column(published, name) for name in published.names}
        facts = {"records": published.n, "sha256": hashes}
        manifest = make_manifest(self._provenance, self.guarantee, facts, "cell suppression", True, self.warnings)
        return manifest | {"seconds": self._provenance.seconds}

    def __repr__(self) -> str:
        return "\n".join([str(self.guarantee), *(f"Note: {warning}" for warning in self.warnings)])


@dataclass(frozen=True)
class SuppressionRequest:
    """Checked options; `demands` are of places in `roles.columns`."""

    options: Options
    roles: ColumnRoles
    demands: list[Demand]
    prices: np.ndarray
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
    clock, frame = Clock(), frame_of(table)
    request = check_request(frame, options)
    codes = read_codes(frame, request.roles.columns)
    clock.lap("read")
    published = suppress_codes(codes, request)
    clock.lap("suppress")
    gone, absent = (codes != published), published == 0
    permutation = request.generator.permutation(frame.n) if options.shuffle else None
    data = build(frame, request, absent, permutation)
    clock.lap("mask")
    guarantee = recount(data, request, gone, frame.n)
    clock.lap("recount")
    warnings = warn(frame, request, codes)
    recorded = record_options(options, request.roles, SUPPRESS)
    provenance = Provenance.of(recorded, frame.n, frame.names, clock.seconds)
    return Suppression(data, guarantee, warnings, provenance)


# ---- check


def check_request(frame: Frame, options: Options) -> SuppressionRequest:
    """Make all checks that need no cell."""
    checks.one_of("missing", options.missing, READINGS)
    checks.flag("shuffle", options.shuffle)
    requested = {"columns": options.columns, "keep": options.keep, "drop": options.drop}
    rest = None if checks.one_of("rest", options.rest, ("drop", "error", "keep")) == "error" else options.rest
    sentences = type(SENTENCES)(unassigned=UNASSIGNED)
    roles = ColumnRoles(by=[], **assign_roles(requested, frame.names, say=sentences, rest=rest))
    if frame.n == 0:
        raise InputValueError("table must hold at least one record that can be published; got none.")
    check_names_of("importance", options.importance, roles.columns, "quasi-identifiers")
    prices = [
        checks.positive(f"importance[{name!r}]", (options.importance or {}).get(name, 1.0)) for name in roles.columns
    ]
    demands = _of_sets(options, roles.columns, frame) + _of_subsets(options.subsets, roles.columns, frame.n)
    demands = list(dict.fromkeys(Demand(tuple(sorted(columns)), k) for columns, k in demands))
    least = [demand for demand in demands if not any(_implies(other, demand) for other in demands)]
    generator = np.random.default_rng() if options.random_state is None else generator_of(options.random_state)
    return SuppressionRequest(options, roles, least, np.array(prices), generator)


def _implies(other: Demand, demand: Demand) -> bool:
    """Whether a demand holds wherever another one does: it has fewer columns, or a smaller k."""
    return other != demand and other.k >= demand.k and {*demand.columns} <= {*other.columns}


def _of_sets(options: Options, columns: list[Hashable], frame: Frame) -> list[Demand]:
    if options.sets is None:
        return [Demand(tuple(range(len(columns))), checks.integer("k", options.k, 1, frame.n, "n"))]
    places = {name: j for j, name in enumerate(columns)}
    sets = read_sets(options.sets, columns, options.k)
    return [
        Demand(tuple(places[name] for name in own.columns), checks.integer("k", own.k, 1, frame.n, "n")) for own in sets
    ]


def _of_subsets(subsets: Any, columns: list[Hashable], n: int) -> list[Demand]:
    if subsets is None:
        return []
    if not isinstance(subsets, Mapping):
        raise InputTypeError(f"subsets must be a dictionary of k by size; got {checks.describe(subsets)}.")
    demands: list[Demand] = []
    for size, k in subsets.items():
        checks.integer("the sizes of subsets", size, 1, len(columns), "the number of columns")
        least = checks.integer(f"subsets[{size}]", k, 1, n, "n")
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


# ---- suppress


def suppress_codes(codes: np.ndarray, request: SuppressionRequest) -> np.ndarray:
    """The codes with suppressed cells; columns with many values come first, where there is a choice."""
    order = np.argsort([-np.unique(column).size for column in codes.T], kind="stable")
    place = np.argsort(order).tolist()
    demands = [Demand(tuple(sorted(place[j] for j in demand.columns)), demand.k) for demand in request.demands]
    found = READINGS[request.options.missing](codes[:, order], demands, request.prices[order])
    return found[:, place]


# ---- build


def build(frame: Frame, request: SuppressionRequest, absent: np.ndarray, permutation: np.ndarray | None) -> Any:
    """The table to publish, in fresh memory; all missing cells of a column are missing alike."""
    masked = {}
    for name, blank in zip(request.roles.columns, absent.T, strict=True):
        if blank.any():
            own = blank if permutation is None else blank[permutation]
            try:
                masked[name] = frame.column(name).take_nullable(permutation, own)
            except RefusedColumnError as refused:
                raise InputTypeError(
                    f"cells of {name!r} must be suppressed, but it holds {refused}; convert it."
                ) from None
    names = [name for name in frame.names if name not in request.roles.unpublished]
    return frame.build(permutation, names, masked, request.options.shuffle)


# ---- recount


def count_set(data: Any, names: Sequence[Hashable], k: int, missing: str) -> int:
    """The least number of records that equal a record in these columns; raise if it is below k."""
    smallest = verify.recount(data, names) if missing == "value" else verify.recount_wildcard(data, names)
    verify.require(smallest, k, names, frame_of(data).n)
    return smallest


def recount(data: Any, request: SuppressionRequest, gone: np.ndarray, n: int) -> SuppressionGuarantee:
    """Count the guarantee on the published table; raise if it is not as requested."""
    counted = []
    for demand in request.demands:
        names = request.names(demand)
        counted.append(CountedSet(names, demand.k, count_set(data, names, demand.k, request.options.missing)))
    below = 0
    if request.options.missing == "wildcard":
        of_records = np.ones(n, bool)
        for demand in request.demands:
            of_records &= verify.class_sizes(data, request.names(demand)) >= demand.k
        below = int((~of_records).sum())
    return SuppressionGuarantee(
        missing=request.options.missing,
        k=request.k,
        columns=tuple(request.roles.columns),
        kept=tuple(request.roles.keep),
        sets=tuple(counted),
        suppressed=dict(zip(request.roles.columns, gone.sum(axis=0).tolist(), strict=True)),
        n_records=n,
        changed=int(gone.any(axis=1).sum()),
        below_k=below,
    )


# ---- publish


def warn(frame: Frame, request: SuppressionRequest, codes: np.ndarray) -> tuple[str, ...]:
    """Advice for the publisher."""
    warnings = []
    if not request.options.shuffle and (note := frame.index_note([*request.roles.columns, *request.roles.keep], False)):
        warnings.append(note)
    if request.roles.keep:
        listed = ", ".join(map(str, request.roles.keep))
        warnings.append(f"Published unchanged: {listed}; the guarantee does not cover them.")
    if request.options.missing == "wildcard":
        warnings.append(
            "Records equal each other through missing cells: who knows a person's values may still find the one "
            f"published record that shows them; {named('missing', 'value')} prevents that."
        )
    if (already := int((codes == 0).sum())) > 0:
        warnings.append(f"{already} cells were missing before; they are published like suppressed ones.")
    return tuple(warnings)
