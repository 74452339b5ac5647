"""`mag.assess`: the risk of a table before it is masked."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag._lib.roles import Sentences, assign_roles, is_name, name_of_one
from mag._lib.wording import named
from mag.frames import frame_of, is_lazy
from mag.frames.build import build_frame
from mag.frames.lazy import names_of_lazy
from mag.risk.subsets import largest_size
from mag.tables._assessment import Assessment
from mag.tables._keys import Key, KeyTable, ReadingOfMissing
from mag.tables._lazy_risks import assess_lazily, largest_lazy_size
from mag.tables._owners import read_owners
from mag.tables._pipeline import read_weights
from mag.tables._risks import Columns, Risks
from mag.tables.types import Names

__all__ = ["Assessment", "assess"]
MAX_KEYS = 62  # bits of a number that a subset is
MAX_LISTED_SUBSETS = 10**6
ONE_ROLE = Sentences(shared="a column must have one role; {name} is in {role} and {other}.")


def assess(
    table: Any,
    qi: Names,
    *,
    weights: Any = None,
    unit: Hashable | None = None,
    household: Hashable | None = None,
    sensitive: Names | None = None,
    missing: ReadingOfMissing = "value",
    alpha: float | None = None,
    max_size: int | None = None,
    sampling_fraction: float | None = None,
) -> Assessment:
    """Assess the risk that an intruder finds people in a table, before you mask it.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, dictionary of arrays, or lazy frame
        The original; it is not changed, and the result does not hold it.  A lazy frame is counted by its engine, one
        query a subset; ``records``, ``classes`` and ``levels`` of the result are then None, and there are no scores.
    qi : column name or list of them
        The quasi-identifiers: the columns that an intruder may know.
    weights : column name or array, optional
        Sampling weights: how many persons of the population a record represents.  Without them, risks are those of an
        intruder who knows who is in the table, ``1 / f``.
    unit : column name, optional
        The column of persons, households or firms with several records: classes count distinct units.
    household : column name, optional
        The column of households: an intruder who finds one member finds all.
    sensitive : column name or list of them, optional
        Columns that an intruder wants to learn: their distinct values are counted in every class.
    missing : {"value", "wildcard"}
        Whether a missing cell of a quasi-identifier is a value of its own, or matches every value.
    alpha : float, optional
        With ``missing="wildcard"``: what a record counts that matches by a missing cell of its own, from 0 to 1, the
        default.
    max_size : int, optional
        The largest subset of the quasi-identifiers to look at; by default all, or the largest size up to which there
        are at most 5000 subsets (100 of a lazy frame).
    sampling_fraction : float, optional
        The share of the population that the table holds, for DIS-SUDA and population uniques; by default n / Σ weights.
        Without weights DIS-SUDA takes 0.01, and population uniques are not estimated.

    Returns
    -------
    Assessment
        Prints as a table; its frames are of the library of `table`.

    Notes
    -----
    The guide on risk before masking has the formulas and their sources.  Records that are unique on more than
    `max_size` columns only have a score of 0.

    Examples
    --------
    >>> import mag
    >>> people = {"sex": ["f", "m", "f", "m", "f"], "age": [31, 31, 44, 60, 44], "weight": [90, 110, 80, 120, 100]}
    >>> assessment = mag.assess(people, ["sex", "age"], weights="weight")
    >>> assessment
    5 records, 2 quasi-identifiers, subsets of up to 2
    <BLANKLINE>
    smallest class                    1
    records in classes of 1           3   60 %
    records in classes below 3        5  100 %
    records in classes below 5        5  100 %
    expected re-identifications   0.155  3.1 %
    largest individual risk      0.0506
    population uniques, Zayatz      181   36 %
    <BLANKLINE>
    column  values  missing  unique alone  unique without  SUDA share
    age          3        0             1               0       100 %
    sex          2        0             0               1        67 %
    >>> assessment.records["fk"], assessment.records["suda"]
    (array([1, 1, 2, 1, 2]), array([1., 1., 0., 1., 0.]))
    """
    if is_lazy(table):
        roles = _read_roles(names_of_lazy(table), qi, weights, unit, household, sensitive)
        wildcard = None if checks.one_of("missing", missing, ["value", "wildcard"]) == "value" else missing
        rows = {"weights": weights, "unit": unit, "household": household, "alpha": alpha, "missing": wildcard}
        for option, setting in rows.items():
            checks.unused(option, setting, "a lazy frame, of which only sizes of classes are counted (collect it)")
        names = roles["qi"]
        size = _read_size(max_size, len(names), largest_lazy_size(len(names)))
        fraction = None if sampling_fraction is None else _read_fraction(sampling_fraction)
        return assess_lazily(table, names, roles["sensitive"], size, fraction)
    frame = frame_of(table)
    if not frame.n:
        raise InputValueError("table must hold at least one record; got none.")
    roles = _read_roles(frame.names, qi, weights, unit, household, sensitive)
    owners = read_owners(frame, roles["unit"], roles["household"])
    keys = KeyTable(
        keys=[Key.read("qi", frame, name) for name in roles["qi"]],
        weights=read_weights(frame, weights),
        units=owners.units,
        homes=owners.homes,
        sensitive={name: Key.read("sensitive", frame, name).codes for name in roles["sensitive"]},
        alpha=_read_alpha(missing, alpha, unit),
    )
    fraction = None if sampling_fraction is None else _read_fraction(sampling_fraction)
    risks = Risks(keys, _read_size(max_size, len(keys.keys), largest_size(len(keys.keys))), fraction)
    columns = risks.describe_columns()

    def build(cells: Columns) -> Any:
        return build_frame(cells, frame.native)

    return Assessment(
        records=build(risks.list_records()),
        classes=build(risks.list_classes()),
        subsets=build(risks.list_subsets()),
        columns=build(risks.list_columns(columns)),
        levels=build(risks.list_levels(frame)),
        summary=risks.summarize(),
        column_risks=tuple(columns),
        worst_subsets=tuple(risks.find_worst_subsets()),
    )


def _read_roles(
    names: Sequence[Hashable], qi: Any, weights: Any, unit: Any, household: Any, sensitive: Any
) -> dict[str, list[Hashable]]:
    """The columns of every role, each in one."""
    requested = {"qi": qi, "unit": unit, "household": household, "sensitive": sensitive, "others": None}
    for role, name in (("unit", unit), ("household", household)):
        requested[role] = None if name is None else [name_of_one(role, name, names)]
    requested["weights"] = weights if is_name(weights, names) else None
    roles = assign_roles(requested, names, "the table", ONE_ROLE, "others")
    if len(roles["qi"]) > MAX_KEYS:
        raise InputValueError(f"qi must name at most {MAX_KEYS} columns; got {len(roles['qi'])}.")
    return roles


def _read_alpha(missing: Any, alpha: Any, unit: Any) -> float | None:
    """What a match by a missing cell counts; None where a missing cell is a value."""
    if checks.one_of("missing", missing, ["value", "wildcard"]) == "value":
        checks.unused("alpha", alpha, named("missing", "value"))
        return None
    checks.unused("unit", unit, f"{named('missing', 'wildcard')}, which counts records")
    return 1.0 if alpha is None else checks.fraction("alpha", alpha)


def _read_fraction(fraction: Any) -> float:
    if checks.fraction("sampling_fraction", fraction) == 0:
        raise InputValueError(f"{named('sampling_fraction')} must be above 0; got 0.")
    return float(fraction)


def _read_size(max_size: Any, m: int, unasked: int) -> int:
    """The largest size of subsets; `unasked` where the caller gives none."""
    if max_size is None:
        return unasked
    size = checks.integer("max_size", max_size, 1, m, "the number of quasi-identifiers")
    subsets = sum(math.comb(m, own) for own in range(1, size + 1))
    if subsets > MAX_LISTED_SUBSETS:
        raise InputValueError(
            f"{named('max_size')} must leave at most {MAX_LISTED_SUBSETS} subsets; {size} of {m} columns have "
            f"{subsets}."
        )
    return size
