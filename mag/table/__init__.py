"""Tables: check, read, stratify, group, mask, count again, publish."""

import os
import time
from collections.abc import Callable, Hashable
from importlib.metadata import PackageNotFoundError, version
from typing import Any, overload

import numpy as np

from mag import verify
from mag._lib import checks
from mag._lib.errors import TypeMistake, ValueMistake
from mag._lib.progress import Watch
from mag.api.options import generator_of, progress_of
from mag.costs import Cost
from mag.frames import Frame, frame_of
from mag.frames.cells import Refused, Units
from mag.table._aggregate import representatives
from mag.table._grouping import by_column, jointly
from mag.table._parquet import FileRelease, Source, columnwise, is_source
from mag.table._release import WITHHELD, Guarantee, Release, TableGrouping
from mag.table._request import SCOPES, Plan, Roles, draws, is_name, plan_of, roles_of, sizes_by_column
from mag.table._strata import SmallStrata, Strata, combined, settled, sizes_of

MISSING = ("drop", "error", "group")
SMALL = ("error", "merge", "suppress")


@overload
def microaggregate(table: str | os.PathLike[str], k: Any, columns: Any, **options: Any) -> FileRelease: ...
@overload
def microaggregate(table: Any, k: Any, columns: Any, **options: Any) -> Release: ...
def microaggregate(
    table: Any,
    k: int | dict[Hashable, int],
    columns: Any,
    *,
    by: Any = None,
    method: str = "auto",
    scope: str = "joint",
    cost: str | Cost | None = None,
    aggregate: str | None = None,
    weights: Any = None,
    standardize: bool | None = None,
    missing: str = "error",
    small_strata: str = "error",
    round: int | dict[Hashable, int] | None = None,  # noqa: A002 - what it is called everywhere
    keep: Any = (),
    drop: Any = (),
    shuffle: bool = False,
    random_state: Any = None,
    backend: str = "auto",
    threads: int | None = None,
    progress: bool | Callable[[float], Any] | None = None,
    time_limit: float | None = None,
    output: Any = None,
    overwrite: bool = False,
    **options: Any,
) -> Release | FileRelease:
    """Mask columns of a table so that every record is like at least k-1 others, and prove it on the result.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays; or Parquet
        The original; it is not changed.  With ``scope="per-column"``, also the path of a Parquet file or of a folder of
        them, or a `pyarrow.dataset.Dataset`, of any length: it is read and written column by column.
    k : int or dict
        The smallest group size.  With ``scope="per-column"`` it may be a dictionary by column.
    columns : column name or list of them
        What to mask: integers, floats, decimals, dates, times, durations.
    by : column name or list of them, optional
        Groups never cross the combinations of values of these columns, which are published as they are; a missing value
        is a value.
    method : str
        How to group several columns jointly, see `mag.multivariate`; further keywords are options of the method.
    scope : {"joint", "per-column"}
        Whether records are grouped as a whole, or every column by itself.  The latter loses far less and is no joint
        k-anonymity.
    cost : str or mag.Cost, optional
        What to minimise where columns are grouped by themselves, see `mag.univariate`; "sse" by default.
    aggregate : {"max", "mean", "median", "mid_range", "min"}, optional
        What the values of a group are replaced by; the mean by default.  Where columns are grouped by themselves the
        cost decides.
    weights : column name or array, optional
        How much records count in means and medians, and in the optimum of a single column.  Groups count records.
    standardize : bool, optional
        With several columns: measure each in standard deviations of the whole table's column, the same in all strata;
        True by default.
    missing : {"drop", "error", "group"}
        What becomes of records with missing cells in `columns` (null, NaN, NaT): they are withheld, or an error, or
        grouped with records that miss the same cells, which stay missing.
    small_strata : {"error", "merge", "suppress"}
        What becomes of strata with fewer than k records: an error, or pooled (with each other, then with the next
        smallest; where pooled records differ in a column of `by` that cell becomes missing), or withheld.
    round : int or dict, optional
        Decimals that floats are published with; may be a dictionary by column.
    keep, drop : column name or list of them
        Columns that are published as they are and not covered by the guarantee, and that are not published.  Every
        column of the table must be named somewhere.
    shuffle : bool
        Publish the records in random order; the index of a pandas frame and the groups are then numbered anew.
    random_state : int, numpy.random.Generator, optional
        Seeds the methods that draw random numbers, with 0 if it is None; and `shuffle`, which is random if it is None:
        whoever knows the seed can undo it.
    backend, threads, progress, time_limit
        As in `mag.multivariate`.
    output : path, optional
        For Parquet: the file to write, which appears, with its manifest beside it, when it is finished and counted.  A
        run that did not end is continued behind the columns that it had finished, if these hold the same cells still;
        two runs into one output exclude each other.
    overwrite : bool
        Whether `output` may exist already; it is never a file that is read.

    Returns
    -------
    Release, or FileRelease for Parquet
        The published table, the groups, and the guarantee as counted on the published table.

    Raises
    ------
    mag.NotAnonymous
        Where the recount finds fewer than k equal records: nothing is returned.

    Notes
    -----
    What is published is built from its values into fresh memory, without metadata and unused categories.

    Integers, dates, times and decimals keep their dtype: representatives are rounded to the column's unit, half away
    from zero, exactly; with weights, to float64's precision within the group.

    Examples
    --------
    >>> import mag
    >>> people = {"age": [31, 52, 30, 33, 29, 55, 50], "income": [2.5, 4.0, 2.0, 3.0, 2.5, 4.5, 5.0]}
    >>> release = mag.microaggregate(people, 3, ["age", "income"])
    >>> release.data["age"]
    array([31, 52, 31, 31, 31, 52, 52])
    >>> print(release.guarantee)
    Every record shares its values of age, income with at least 2 others: k = 3, counted on the published table, \
smallest class 3 of 7 records.
    """
    if is_source(table):
        refused = {
            "method": method != "auto", "aggregate": aggregate is not None, "standardize": standardize is not None,
            "missing='drop'": missing == "drop", "small_strata": small_strata != "error",
            "shuffle": checks.flag("shuffle", shuffle), "random_state": random_state is not None,
            "time_limit": time_limit is not None, **dict.fromkeys(options, True),
        }  # fmt: skip
        parts = {"columns": columns, "by": by, "keep": keep, "drop": drop}
        how = {"cost": cost, "missing": missing, "round": round, "backend": backend, "threads": threads}
        no = [option for option in refused if refused[option]]
        return _streamed(table, k, parts, weights, how, no, scope, output, overwrite, progress)
    for option, given in {"output": output is not None, "overwrite": overwrite}.items():
        if given:
            raise TypeMistake(f"{option} is used for Parquet files only; write the data of the result yourself.")
    began = time.perf_counter()
    frame = frame_of(table)
    roles = roles_of(frame, {"columns": columns, "by": by, "keep": keep, "drop": drop})
    checks.one_of("missing", missing, MISSING)
    checks.one_of("small_strata", small_strata, SMALL)
    plan = plan_of(roles.columns, k, scope, cost, aggregate, method, standardize, weights is not None, options)
    checks.flag("shuffle", shuffle)
    if random_state is not None and not shuffle and (plan.single or not draws(method, time_limit)):
        raise ValueMistake(
            f"random_state is not used by method {plan.method_name!r} without shuffle=True; leave it out."
        )
    generator = generator_of(random_state)
    threads = checks.thread_count("threads", threads)
    if plan.single:
        checks.unused("time_limit", time_limit, "columns that are grouped by themselves")
    progress = progress_of(progress)
    if small_strata != "error" and not roles.by and missing != "group":
        raise ValueMistake(f"small_strata is not used without by= or missing='group'; got {small_strata!r}.")
    verify.require_comparable(frame, roles.by)
    units = {name: _units(frame, name) for name in roles.columns}
    digits = _digits(round, [name for name, unit in units.items() if not unit.whole])
    heavy = _weights(frame, weights)
    strata, withheld = _stratified(frame, roles, plan, units, missing, small_strata)
    rows = strata.rows
    if rows.size == 0:
        raise ValueMistake("table must hold at least one record that can be published; got none.")
    for name, size in plan.ks.items():
        checks.integer("k" if plan.k_is_one else f"k[{name!r}]", size, 1, rows.size, "n")

    everything = rows.size == frame.n
    picked = {name: _picked(unit, None if everything else rows) for name, unit in units.items()}
    heavy = heavy if heavy is None or everything else heavy[rows]
    read = time.perf_counter()
    n_groups: Any  # one number, or one for each column
    if plan.scope == "per-column":
        labels, n_groups, used, complete = by_column(picked, strata, plan, heavy, backend, threads)
    else:
        labels, n_groups, used, complete = jointly(
            picked, strata, plan, heavy, backend, threads,
            generator if random_state is not None and draws(method, time_limit) else None, progress, time_limit,
            options,
        )  # fmt: skip
    if plan.single:
        Watch(progress).done()  # compiled in one go: nothing to tell on the way
    grouped = time.perf_counter()

    place = None
    if shuffle:  # what a known seed has mixed, anyone can put back
        place = (np.random.default_rng() if random_state is None else generator).permutation(rows.size)
    masked: dict[Hashable, Any] = {}
    for j, (name, unit) in enumerate(picked.items()):
        own, count = (labels, n_groups) if plan.scope == "joint" else (labels[:, j], int(n_groups[j]))
        found = _replaced(unit, own, count, plan.aggregates[name], heavy, digits.get(name))
        gone = unit.missing
        if place is not None:
            own, gone = own[place], None if gone is None else gone[place]
        masked[name] = frame.column(name).publish(found, own, gone)
    order = rows if place is None else rows[place]
    shown = None if everything and place is None else order
    for name, blank in zip(roles.by, strata.blank, strict=True):
        if blank is not None:
            masked[name] = _blanked(frame, name, shown, blank if place is None else blank[place])
    published = [name for name in frame.names if name not in roles.drop]
    data = frame.built(shown, published, masked, shuffle)
    built = time.perf_counter()

    covered = [*roles.by, *roles.columns]
    smallest, alone = verify.recounts(data, roles.by, roles.columns, each=plan.scope == "per-column")
    if plan.scope == "joint":
        verify.require(smallest, plan.ks[roles.columns[0]], covered, rows.size)
    for name, least in alone.items():
        verify.require(least, plan.ks[name], [*roles.by, name], rows.size)
    counted = time.perf_counter()

    per_column = plan.scope == "per-column"
    if shown is not None:  # groups are numbered as they came in the original, which is another order now
        labels = _numbered(labels if place is None else labels[place])
    asked = plan.ks[roles.columns[0]] if plan.k_is_one else dict(plan.ks)
    counts = dict(zip(roles.columns, map(int, n_groups), strict=True)) if per_column else int(n_groups)
    guarantee = Guarantee(
        plan.scope, asked, tuple(roles.columns), tuple(roles.by), tuple(roles.keep), rows.size, withheld, counts,
        smallest, alone,
    )  # fmt: skip
    sizes: Any = np.bincount(labels) if not per_column else {
        name: np.bincount(labels[:, j]) for j, name in enumerate(roles.columns)
    }  # fmt: skip
    grouping = TableGrouping(
        labels, sizes, counts, asked, plan.scope, tuple(roles.columns), tuple(roles.by), used, complete
    )
    seconds = {"read": read - began, "group": grouped - read, "mask": built - grouped, "recount": counted - built}
    facts = {
        "options": {
            "k": k, "columns": roles.columns, "by": roles.by, "method": method, "scope": scope, "cost": _name(cost),
            "aggregate": aggregate, "weights": None if weights is None else _name(weights), "standardize": standardize,
            "missing": missing, "small_strata": small_strata, "round": round, "keep": roles.keep, "drop": roles.drop,
            "shuffle": shuffle, "random_state": WITHHELD if shuffle else random_state, "backend": backend,
            "threads": threads, "time_limit": time_limit, **options,
        },
        "versions": _versions(),
        "seconds": seconds,
    }  # fmt: skip
    return Release(
        data,
        guarantee,
        grouping,
        _warnings(frame, roles, strata, shuffle, complete),
        source=frame,
        rows=shown,
        facts=facts,
    )


# ---- files


def _streamed(
    table: Any,
    k: Any,
    asked: dict[str, Any],
    weights: Any,
    how: dict[str, Any],
    refused: list[str],
    scope: str,
    output: Any,
    overwrite: bool,
    progress: Any,
) -> FileRelease:
    """One column after the other, each as a table of its own with its strata and weights."""
    if checks.one_of("scope", scope, SCOPES) != "per-column":
        raise ValueMistake("scope must be 'per-column' for a file; read it into a frame for 'joint', or see mag.scale.")
    if refused:
        raise TypeMistake(f"{', '.join(refused)} is not used for files; leave it out, or read the file into a frame.")
    if output is None:
        raise TypeMistake("output must be the path of the file to write; got None.")
    from pyarrow.types import is_floating

    source = Source(table)
    roles = roles_of(source, asked)
    ks = sizes_by_column(k, roles.columns, scope)
    if weights is not None and not is_name(weights, source.names):
        raise ValueMistake("weights must name a column of the file.")
    reads = [*roles.by, *([weights] if weights is not None and weights not in roles.by else [])]
    floats = [name for name in roles.columns if is_floating(source.schema.field(name).type)]
    asked_digits, how = how["round"], {name: one for name, one in how.items() if name != "round"}
    digits = _digits(asked_digits, floats)

    def masked(name: Any, part: Any) -> tuple[Any, int]:
        own = [other for other in reads if other != name]
        found = microaggregate(
            part, ks[name], name, by=roles.by, drop=[other for other in own if other not in roles.by],
            weights=weights, scope=scope, round=digits.get(name), **how,
        )  # fmt: skip
        return found.data.column(name), int(found.grouping.n_groups[name])

    options = {"k": k, **vars(roles), "weights": weights, "scope": scope, "round": asked_digits, **how}
    options["cost"] = _name(how["cost"])
    return columnwise(
        masked, source, output, ks=ks, k=k, by=roles.by, keep=roles.keep, drop=roles.drop, reads=reads,
        options=options, versions=_versions(), again=how["cost"] is None or isinstance(how["cost"], str),
        overwrite=checks.flag("overwrite", overwrite), watch=Watch(progress_of(progress)),
    )  # fmt: skip


# ---- numbers


def _units(frame: Frame, name: Hashable) -> Units:
    try:
        units = frame.column(name).units()
    except Refused as refused:
        raise TypeMistake(f"columns must hold numbers or moments; {name!r} holds {refused}.") from None
    except ValueMistake as error:
        raise ValueMistake(f"column {name!r} has {error}") from None
    if not units.whole and not np.isfinite(units.values).all():
        count = int((~np.isfinite(units.values)).sum())
        raise ValueMistake(f"column {name!r} has {count} infinite values; drop or replace them first.")
    return units


def _digits(asked: Any, floats: list[Hashable]) -> dict[Hashable, int]:
    """How many decimals each column of floats is rounded to."""
    if asked is None:
        return {}
    each = asked if isinstance(asked, dict) else dict.fromkeys(floats, asked)
    wrong = [repr(name) for name in each if name not in floats]
    if wrong or not each:
        listed = ", ".join(wrong) or "none"
        raise ValueMistake(f"round is for columns of floats among columns; got {listed}.")
    return {name: checks.integer("round", digits, -300, 300, "most") for name, digits in each.items()}


def _weights(frame: Frame, weights: Any) -> np.ndarray | None:
    if weights is None:
        return None
    if is_name(weights, frame.names):
        units = _units(frame, weights)
        if units.missing is not None:
            raise ValueMistake(f"weights must not be missing; got {int(units.missing.sum())} missing in {weights!r}.")
        values = units.values
    elif isinstance(weights, (str, bytes)):
        raise ValueMistake(f"weights must name a column of the table or be an array; got {weights!r}.")
    else:
        from mag._lib.arrays import read

        values = read("weights", weights)[0]
    return checks.weights_for(values, frame.n).astype(np.float64)


# ---- strata


def _stratified(
    frame: Frame, roles: Roles, plan: Plan, units: dict[Hashable, Units], missing: str, small: str
) -> tuple[Strata, int]:
    """Which records are published, and which of them may share a group."""
    gone = {name: unit.missing for name, unit in units.items() if unit.missing is not None}
    rows, pattern = np.arange(frame.n), None
    if gone and missing == "error":
        listed = ", ".join(f"{int(mask.sum())} in {name!r}" for name, mask in gone.items())
        raise ValueMistake(
            f"columns have missing values: {listed}; pass missing='group' to group records that miss the same cells, "
            "or missing='drop' to withhold them."
        )
    if gone and missing == "drop":
        rows = np.flatnonzero(~np.logical_or.reduce(list(gone.values())))
        gone = {}
    if gone and plan.scope == "joint":
        pattern = combined([mask.astype(np.int64) for mask in gone.values()])
    least = max(plan.ks.values()) if _all_whole(plan) else 1
    by = [frame.column(name).codes() for name in roles.by]

    def too_small(rows: np.ndarray, cell: np.ndarray) -> np.ndarray:
        sizes = sizes_of(cell)
        small = sizes < least
        if plan.scope == "per-column":
            for name, mask in gone.items():
                missed = np.bincount(cell, mask[rows], sizes.size)
                for count in (missed, sizes - missed):
                    small |= (count > 0) & (count < plan.ks[name])
        return small

    if not by and pattern is None and not (plan.scope == "per-column" and gone):
        return Strata(rows, np.zeros(rows.size, np.int64), []), frame.n - rows.size
    try:
        strata = settled(by, pattern, rows, too_small, small)
    except SmallStrata as error:
        least_k = f"k={plan.ks[roles.columns[0]]}" if plan.k_is_one else "the k of each column"
        also = " (records that miss the same cells are one)" if gone else ""
        ways = "'suppress'" if small == "merge" else "'merge' or 'suppress'"
        raise ValueMistake(
            f"every stratum{also} must have at least {least_k} records: {error}; pass small_strata={ways}, or a "
            "smaller k."
        ) from None
    return strata, frame.n - strata.rows.size


def _all_whole(plan: Plan) -> bool:
    """Whether k is a number; what else it is is told later."""
    return all(isinstance(size, (int, np.integer)) for size in plan.ks.values())


def _picked(unit: Units, rows: np.ndarray | None) -> Units:
    if rows is None:
        return unit
    gone = None if unit.missing is None else unit.missing[rows]
    return Units(unit.values[rows], gone if gone is not None and gone.any() else None, unit.kind, unit.step)


# ---- masking


def _replaced(
    unit: Units, labels: np.ndarray, n_groups: int, how: str, heavy: np.ndarray | None, digits: int | None
) -> np.ndarray:
    """The representative of every group."""
    values = unit.values
    if unit.missing is not None:
        there = ~unit.missing
        values, labels, heavy = values[there], labels[there], None if heavy is None else heavy[there]
    if values.size == 0:
        return np.zeros(n_groups, values.dtype)
    found = representatives(how, values, labels, n_groups, heavy)
    return found if digits is None else np.round(found, digits) + 0.0


def _blanked(frame: Frame, name: Hashable, rows: np.ndarray | None, blank: np.ndarray) -> Any:
    try:
        return frame.column(name).take(rows, blank)
    except Refused as refused:
        raise ValueMistake(
            f"small_strata='merge' would leave cells of {name!r} missing, but its dtype is {refused}; convert it or "
            "pass small_strata='suppress'."
        ) from None


def _warnings(frame: Frame, roles: Roles, strata: Strata, shuffle: bool, complete: bool) -> tuple[str, ...]:
    found = []
    if not shuffle and (note := frame.index_note(strata.rows.size < frame.n)):
        found.append(note)
    if roles.keep:
        found.append(f"Published as they are: {', '.join(map(str, roles.keep))}; the guarantee does not cover them.")
    merged = [str(name) for name, blank in zip(roles.by, strata.blank, strict=True) if blank is not None]
    if merged:
        found.append(f"Small strata were pooled: cells of {', '.join(merged)} are missing there.")
    if not complete:
        found.append("The search was ended by time_limit: the groups are those found until then.")
    return tuple(found)


def _numbered(labels: np.ndarray) -> np.ndarray:
    """The same groups, numbered in the order of their first records; of every column where each has its own."""
    if labels.ndim == 2:
        return np.stack([_numbered(own) for own in labels.T], axis=1)
    first = np.empty(int(labels.max()) + 1, np.int64)
    first[labels[::-1]] = np.arange(labels.size)[::-1]
    place = np.empty(first.size, labels.dtype)
    place[np.argsort(first)] = np.arange(first.size)
    return place[labels]


def _name(given: Any) -> Any:
    return given if given is None or isinstance(given, (str, int)) else getattr(given, "name", type(given).__name__)


def _versions() -> dict[str, str]:
    found = {}
    for name in ("narwhals", "numba", "numpy", "pandas", "polars", "pyarrow"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
