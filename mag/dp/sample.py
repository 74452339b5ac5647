"""A sample of true records in public cells, small cells withheld: k-anonymity that is differentially private."""

from collections.abc import Hashable
from fractions import Fraction
from typing import Any, Never

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag.dp._budget import Budget, charge
from mag.dp._delta import (
    CHANCES,
    chance_of,
    check_delta,
    default_chance,
    exact_delta,
    group_delta,
    least_k,
    positive,
    round_up,
)
from mag.dp._random import source
from mag.dp._release import PrivateRelease, check_contributions, make_guarantee, promise, warn_about_delta
from mag.dp._table import (
    COUNT_COLUMN,
    Columns,
    Names,
    Opened,
    check_columns,
    count_cells,
    label_cells,
    read_cells,
    refuse_options,
)


def sample(
    table: Any,
    columns: Columns,
    epsilon: float,
    delta: float | None = None,
    *,
    beta: float | None = None,
    k: int | None = None,
    drop: Names = None,
    records: bool = True,
    contributions: int = 1,
    person: Hashable | None = None,
    budget: Budget | None = None,
    **refused: Never,
) -> PrivateRelease:
    """Keep each record with probability `beta`, replace it by its public cell, and withhold cells of fewer than `k`.

    The published cell of a record is true, except for clamping.  Neighbors have one record more or fewer.  Works
    without OpenDP.

    Parameters
    ----------
    table : frame or dict of arrays
        The records.
    columns : mapping
        The domain of every column that is published.
    epsilon, delta : float
        The privacy loss that may be spent.  Without `delta`, it follows from `k`.
    beta : float, optional
        The probability of a record; default: 1 - e^-ε.
    k : int, optional
        The least number of sampled records of a cell; default: the least that `delta` allows.
    drop : name or list of names, optional
        Columns that are not published.
    records : bool
        Publish a row for each sampled record; otherwise one for each cell, with its count.
    contributions : int
        The most records of one person.
    person : name, optional
        A column that identifies a person, not published; of each, `contributions` records are used, and records where
        it is missing are not.
    budget : Budget, optional
        The budget to charge.

    Returns
    -------
    PrivateRelease
        Rows sorted by cell; nothing else is computed from the table.

    Examples
    --------
    >>> import numpy as np
    >>> import mag.dp
    >>> people = {"age": np.arange(3000) % 90, "name": np.arange(3000)}
    >>> release = mag.dp.sample(people, {"age": mag.dp.Numbers(0, 120, 30)}, epsilon=1, delta=1e-6, drop="name")
    >>> sorted(set(release.data["age"]))
    ['[0, 30)', '[30, 60)', '[60, 90)']
    """
    refuse_options(refused, "sample")
    asked, share = positive("epsilon", epsilon), check_contributions(contributions)
    checks.flag("records", records)
    chance = default_chance(asked / share) if beta is None else chance_of(beta)
    least, price = choose_k(k, delta, chance, asked, share)
    opened = Opened(table)
    columns = check_columns(opened, columns, drop, person)
    ledger = charge(budget, "sample", list(columns), asked, price, "add_remove", share)

    coded = read_cells(opened, columns, person, share)
    kept = source().keep(len(coded[0]), chance)
    cells, counts = count_cells([column[kept] for column in coded], [domain.n_cells for domain in columns.values()])
    large = counts >= least
    cells, counts = [column[large] for column in cells], counts[large]
    published = label_cells(columns, cells)
    if records:
        published = {name: np.repeat(labels, counts) for name, labels in published.items()}
    else:
        published[COUNT_COLUMN] = counts

    fixed = tuple(f"{name}: {domain.describe()}" for name, domain in columns.items())
    sentence = (
        f"Drawn with probability {chance / CHANCES:.3g} and withheld where fewer than {least} records fell into a "
        f"cell: {promise(asked, price, 'add_remove', share)}. Cells were fixed beforehand ({'; '.join(fixed)}). "
        f"Published: {int(counts.sum())} records in {len(counts)} cells, each true for a drawn record up to clamping."
    )
    options = {"beta": chance / CHANCES, "k": least, "exact_delta": round_up(exact_delta(least, chance, asked / share))}
    guarantee = make_guarantee("sample", (asked, price), "add_remove", share, fixed, sentence)
    return PrivateRelease(opened.build(published), guarantee, ledger, options, warnings=warn_about_delta(price))


def choose_k(k: int | None, delta: float | None, chance: int, epsilon: Fraction, share: int) -> tuple[int, Fraction]:
    """k and the δ that is charged, of all `share` records of one person."""
    each, size = epsilon / share, None if k is None else checks.integer("k", k, 1, 10**6, "10**6")
    if delta is None:
        if size is None:
            raise InputValueError("delta or k must be passed; got neither.")
        return size, min(exact_delta(size, chance, each) / group_delta(Fraction(1), epsilon, share), Fraction(1))
    whole = check_delta(delta)
    allowed = group_delta(whole, epsilon, share)
    if size is None:
        return least_k(each, allowed, chance), whole
    if exact_delta(size, chance, each) > allowed:
        raise InputValueError(f"k={k} is too small for delta={delta}; take k={least_k(each, allowed, chance)}.")
    return size, whole
