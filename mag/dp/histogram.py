"""The counts of public cells with noise."""

import decimal
import math
from collections.abc import Hashable
from fractions import Fraction
from typing import Any, Literal, Never

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag.dp._budget import Budget, charge
from mag.dp._delta import CONTEXT, check_delta, positive
from mag.dp._domain import Integers
from mag.dp._random import Noise, source
from mag.dp._release import (
    PrivateRelease,
    check_contributions,
    check_neighbors,
    make_guarantee,
    promise,
    warn_about_delta,
)
from mag.dp._table import (
    COUNT_COLUMN,
    Coded,
    Columns,
    Names,
    Opened,
    check_columns,
    check_records,
    count_cells,
    label_cells,
    read_cells,
    refuse_options,
)

SENSITIVITY = {"add_remove": 1, "replace": 2}  # a record that is replaced leaves one cell and enters another


def histogram(
    table: Any,
    columns: Columns,
    epsilon: float,
    *,
    drop: Names = None,
    records: bool = False,
    neighbors: Literal["add_remove", "replace"] = "add_remove",
    nonnegative: bool = True,
    total: int | None = None,
    delta: float | None = None,
    max_cells: int = 10**6,
    contributions: int = 1,
    person: Hashable | None = None,
    budget: Budget | None = None,
    **refused: Never,
) -> PrivateRelease:
    """Count the records of every cell, empty ones too, and add discrete Laplace noise.

    Parameters
    ----------
    table : frame or dict of arrays
        The records.
    columns : mapping
        The domain of every column that is published; cells are all combinations of theirs.
    epsilon : float
        The privacy loss that may be spent.
    drop : name or list of names, optional
        Columns that are not published.
    records : bool
        Publish a synthetic table: every cell's center as often as it was counted.
    neighbors : {"add_remove", "replace"}
        Tables that must be indistinguishable: one record more or fewer, or one record replaced.
    nonnegative : bool
        Raise negative counts to 0.
    total : int, optional
        A public number of records, to which counts are scaled.
    delta : float, optional
        Count only cells that occur, and publish those whose noisy count reaches a threshold that follows from δ; for
        more cells than `max_cells`.
    max_cells : int
        The most cells.
    contributions, person, budget
        As in `sample`.

    Returns
    -------
    PrivateRelease
        One row for each cell with its count, sorted by cell.

    Examples
    --------
    >>> import numpy as np
    >>> import mag.dp
    >>> release = mag.dp.histogram({"age": np.arange(9000) % 90}, {"age": mag.dp.Numbers(0, 90, 30)}, epsilon=1)
    >>> release.data["age"].tolist(), (abs(release.data["count"] - 3000) < 100).tolist()
    (['[0, 30)', '[30, 60)', '[60, 90]'], [True, True, True])
    """
    refuse_options(refused, "histogram")
    asked, share, kind = positive("epsilon", epsilon), check_contributions(contributions), check_neighbors(neighbors)
    price = Fraction(0) if delta is None else check_delta(delta)
    if total is not None:
        checks.integer("total", total, 0, 10**8 if records else 10**9, "most")
    if not checks.flag("nonnegative", nonnegative) and (checks.flag("records", records) or total is not None):
        raise InputValueError("nonnegative must be True with records or total; got False.")
    opened = Opened(table)
    columns = check_columns(opened, columns, drop, person)
    sizes = [domain.n_cells for domain in columns.values()]
    limit = checks.integer("max_cells", max_cells, 1, 10**8, "10**8")
    if delta is None:
        check_cells(math.prod(sizes), limit)
    noise = Noise("counts", SENSITIVITY[kind] * share, asked)
    source().check(noise)
    if records and total is None:
        check_records(math.prod(sizes) if delta is None else 1, noise)
    if delta is None:  # memory before the budget
        cells, counts = _every_cell(sizes), np.zeros(math.prod(sizes), np.int64)
    ledger = charge(budget, "histogram", list(columns), asked, price, kind, share)

    occurring, occurrences = count_cells(read_cells(opened, columns, person, share), sizes)
    if delta is None:
        counts[np.ravel_multi_index(occurring, sizes)] = occurrences
        counts = source().add_noise(counts, noise)
    else:
        counts = source().add_noise(occurrences, noise)
        large = counts >= _threshold(noise, price, share)
        cells, counts = [column[large] for column in occurring], counts[large]
    if nonnegative:
        counts = np.maximum(counts, 0)
    if total is not None:
        counts = _scale(counts, total)
    published = label_cells(columns, cells, centers=records)
    if records:
        published = {name: np.repeat(values, counts) for name, values in published.items()}
    else:
        published[COUNT_COLUMN] = counts

    fixed = tuple(f"{name}: {domain.describe()}" for name, domain in columns.items())
    what = f"The counts of {math.prod(sizes)} cells of" if delta is None else "The counts of the most frequent cells of"
    sentence = (
        f"{what} {' × '.join(map(str, columns))} are {promise(asked, price, kind, share)}; cells, bounds and "
        f"categories were given beforehand ({'; '.join(fixed)})."
    )
    options = {"nonnegative": nonnegative, "total": total, "records": records, "max_cells": limit}
    guarantee = make_guarantee("histogram", (asked, price), kind, share, fixed, sentence)
    warnings = warn_about_delta(price, total)
    return PrivateRelease(opened.build(published), guarantee, ledger, options, (noise,), warnings=warnings)


def check_cells(cells: int, limit: int) -> None:
    """Not more than fit."""
    if cells > limit:
        many, most = (f"{number:,}".replace(",", " ") for number in (cells, limit))
        raise InputValueError(f"{many} cells are more than max_cells={most}: take larger steps or fewer columns.")


def _every_cell(sizes: list[int]) -> Coded:
    return [places.astype(np.int64) for places in np.unravel_index(np.arange(math.prod(sizes)), sizes)]


def _threshold(noise: Noise, delta: Fraction, records: int) -> int:
    """The least T for which cells that only one neighbor has are published with probability at most δ.

    They are at most c cells of at most c records, so c · P[c + noise ≥ T] = c a^{T-c} / (1+a) must not exceed δ.
    """
    with decimal.localcontext(CONTEXT):
        rate = decimal.Decimal(noise.epsilon.numerator) / noise.epsilon.denominator / noise.sensitivity
        rate *= 1 - decimal.Decimal("1e-12")  # the scale that is drawn may be rounded up
        allowed = decimal.Decimal(delta.numerator) / delta.denominator * (1 + (-rate).exp()) / records
        return records + max(0, math.ceil(-allowed.ln() / rate))


def _scale(counts: Integers, total: int) -> Integers:
    """Counts in the same proportions, whole, that add up to the total."""
    shares = counts if counts.any() else np.ones_like(counts)
    wanted = [Fraction(int(share) * total, int(shares.sum())) for share in shares.tolist()]
    whole = np.array([int(number) for number in wanted], np.int64)
    rest = [number - int(number) for number in wanted]
    order = sorted(range(len(rest)), key=lambda place: -rest[place])
    whole[order[: total - int(whole.sum())]] += 1
    return whole
