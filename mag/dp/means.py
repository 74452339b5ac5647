"""Means of groups of consecutive values, with noise that shrinks with k: insensitive microaggregation of one column.

Ordered by value, one replaced record moves at most one record over each border between groups, and the changes of all
group sums add up to at most the whole range (Soria-Comas et al. 2014): the noise of one record serves all groups.  That
holds for one column, ordered by itself; rows that join columns ranked one by one are not private at all.
"""

from collections.abc import Hashable
from typing import Any, Never

import numpy as np

from mag._lib import checks
from mag._lib.errors import InputValueError
from mag.dp._budget import Budget, charge
from mag.dp._delta import positive
from mag.dp._domain import Numbers, plain
from mag.dp._random import Noise, source
from mag.dp._release import PrivateRelease, check_contributions, make_guarantee, promise
from mag.dp._table import COUNT_COLUMN, Names, Opened, check_columns, check_domain, refuse_options


def means(
    table: Any,
    column: Hashable,
    domain: Numbers,
    k: int,
    epsilon: float,
    n: int,
    *,
    drop: Names = None,
    records: bool = True,
    contributions: int = 1,
    budget: Budget | None = None,
    **refused: Never,
) -> PrivateRelease:
    """Replace the values of one column by noisy means of groups of `k` consecutive ones.

    Neighbors have one record replaced; the number of records is public.

    Parameters
    ----------
    table : frame or dict of arrays
        The records.
    column : name
        The column.
    domain : Numbers
        Its bounds, and the grid that values are rounded to.
    k : int
        Records of a group; the last one has up to 2k-1.
    epsilon : float
        The privacy loss that may be spent.
    n : int
        The number of records, which counts as public.
    drop : name or list of names, optional
        Columns that are not published.
    records : bool
        Publish a row for each record; otherwise one for each group, with its size.
    contributions, budget
        As in `sample`.

    Returns
    -------
    PrivateRelease
        Means sorted by value; nothing links them to records or to other columns.

    Examples
    --------
    >>> import numpy as np
    >>> import mag.dp
    >>> incomes = {"income": np.arange(6000) * 10}
    >>> domain = mag.dp.Numbers(0, 60000, 10)
    >>> release = mag.dp.means(incomes, "income", domain, k=3000, epsilon=1, n=6000, records=False)
    >>> bool(abs(release.data["income"] - [14995, 44995]).max() < 500)
    True
    """
    refuse_options(refused, "means")
    asked, share = positive("epsilon", epsilon), check_contributions(contributions)
    check_domain("domain", domain, (Numbers,))
    size = checks.integer("n", n, 1, 2**31, "2**31")
    least = checks.integer("k", k, 1, size, "n")
    checks.flag("records", records)
    opened = Opened(table)
    check_columns(opened, {column: domain}, drop)
    noise = Noise("sums", domain.n_cells * share, asked)
    source().check(noise)
    ledger = charge(budget, "means", [column], asked, asked * 0, "replace", share)

    points = np.sort(domain.locate_points(opened.read(column)))
    if len(points) != size:
        raise InputValueError(f"n must be the number of records of the table, which is public here; got {n}.")
    starts = np.arange(size // least) * least
    sizes = np.diff(starts, append=size)
    sums = source().add_noise(np.add.reduceat(points, starts), noise)
    noisy = np.sort(np.clip(sums / sizes, 0, domain.n_cells))  # as the true means are sorted
    values = noisy * float(domain.step) + float(domain.low)
    published = {column: np.repeat(values, sizes)} if records else {column: values, COUNT_COLUMN: sizes}

    fixed = (f"{column}: {domain.describe()}", f"n = {size}", f"k = {least}")
    sentence = (
        f"Means of {len(sizes)} groups of at least {least} consecutive values of {column} are "
        f"{promise(asked, asked * 0, 'replace', share)}, where n = {size} is public; bounds {plain(domain.low)} to "
        f"{plain(domain.high)} were given. Nothing links rows to persons or to other columns."
    )
    guarantee = make_guarantee("means", (asked, asked * 0), "replace", share, fixed, sentence)
    return PrivateRelease(opened.build(published), guarantee, ledger, {"k": least, "n": size}, (noise,))
