"""`mag.suppress`: cells of quasi-identifiers that become missing."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mag.api.table_options import Options
from mag.api.types import RandomState
from mag.tables.suppression.cells import release_suppressed
from mag.tables.suppression.release import Suppression
from mag.tables.types import Names, Rest, SmallStrata


def suppress(
    table: Any,
    k: int,
    columns: Names,
    *,
    # options: written by tools.names from mag.api.table_options
    by: Names | None = None,
    unit: Any = None,
    sets: Sequence[Any] | None = None,
    importance: Mapping[Any, float] | None = None,
    subsets: Mapping[int, int] | None = None,
    missing: Literal["value", "wildcard"] = "value",
    small_strata: SmallStrata = "error",
    keep: Names = (),
    drop: Names = (),
    rest: Rest = "error",
    shuffle: bool = False,
    random_state: RandomState = None,
    # end of options
) -> Suppression:
    """Suppress the fewest cells of quasi-identifiers so that every record equals at least k-1 others.

    Cells that are suppressed become missing; all others stay as they are.  k is counted on the result, under the
    reading of missing cells that was asked for.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    k : int
        The smallest class.
    columns : column name or list of them
        The quasi-identifiers, of any type.
    by : column name or list of them, optional
        Quasi-identifiers whose cells stay: classes never mix their values.  A missing value is a value.
    unit : column name, optional
        The column that names the person, household or firm of each record.  k then counts these units instead of
        records: every class has records of at least k of them, and strata with fewer than k units are small.  The
        column is not published.
    sets : sequence, optional
        Several sets of `columns`, each a list of names, or a pair of such a list and its own k: records are alike in
        the columns of each set, but not in all columns.  Sets may share columns.
    importance : dict, optional
        By column: how much a suppressed cell counts, 1 by default.
    subsets : dict, optional
        By size: the k of every subset of that many columns, besides that of all of them: ``{2: 10}`` for all pairs.
    missing : {"value", "wildcard"}
        How to read a missing cell: "value", where it equals missing cells only, so that classes are of at least k equal
        records; "wildcard" is weaker: it equals every value.
    small_strata : {"error", "merge", "suppress"}
        How to treat strata with fewer than k records, or units: raise an error, pool them (with each other, then with
        the next smallest; where pooled records differ in a column of `by`, that cell becomes missing), or withhold
        them.
    keep, drop : column name or list of them
        Columns that are published unchanged and not covered by the guarantee, and columns that are not published.
    rest : {"drop", "error", "keep"}
        The role of columns that no argument names: an error by default, so that no column is published by oversight.
    shuffle : bool
        Publish the records in random order; the index of a pandas frame and the groups are then renumbered.
    random_state : int, numpy.random.Generator, optional
        Seeds `shuffle`; None, the default, is an irreproducible order.

    Returns
    -------
    Suppression
        The published table with its guarantee.

    Raises
    ------
    mag.NotAnonymousError
        If the recount finds a record that equals fewer than k: nothing is returned.

    Notes
    -----
    With ``missing="value"`` the fewest cells are not known in general (the problem is NP-hard); records and classes are
    moved wherever that saves cells.  With ``missing="wildcard"`` a record of a class below k loses the cheapest cells
    without which k records of the original equal it, and gets back those beyond the first that others make
    unnecessary.  Of columns that cost the same, those with more values are suppressed first.

    Integers of NumPy, which cannot be missing, are published as nullable integers in pandas, and as objects in a
    dictionary of arrays.

    Examples
    --------
    >>> import mag
    >>> people = {"age": [31, 31, 52, 52, 40], "job": ["nurse", "nurse", "cook", "cook", "cook"]}
    >>> release = mag.suppress(people, 2, ["age", "job"])
    >>> release.data["age"].tolist()
    [31, 31, None, None, None]
    """
    return release_suppressed(table, Options.of(locals()))
