"""`mag.generalize`: the same recoding for all records."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar, Unpack, overload

from mag.api.table_options import Options
from mag.api.types import RandomState
from mag.tables._release import Release
from mag.tables.recode.full_domain import release_recoded
from mag.tables.types import (
    ClosenessByColumn,
    DiversityByColumn,
    Missing,
    Names,
    RecodingOptions,
    Rest,
    ShowSuppressedAs,
)

Name = TypeVar("Name", bound=Hashable)
Table = TypeVar("Table")


@overload
def generalize(
    table: Mapping[Name, Any], k: int, columns: Names, **options: Unpack[RecodingOptions]
) -> Release[dict[Name, Any]]: ...
@overload
def generalize(table: Table, k: int, columns: Names, **options: Unpack[RecodingOptions]) -> Release[Table]: ...
def generalize(
    table: Any,
    k: int,
    columns: Names,
    *,
    # options: written by tools.names from mag.api.table_options
    by: Names | None = None,
    unit: Any = None,
    household: Any = None,
    k_household: int | None = None,
    hierarchies: Mapping[Any, Any] | None = None,
    order: Mapping[Any, Sequence[Any]] | None = None,
    importance: Mapping[Any, float] | None = None,
    sensitive: Names = (),
    diversity: DiversityByColumn | None = None,
    closeness: ClosenessByColumn | None = None,
    max_suppressed: float = 0.05,
    show_suppressed_as: ShowSuppressedAs = "root",
    levels: Mapping[Any, int | tuple[int, int]] | None = None,
    max_nodes: int = 1_000_000,
    missing: Missing = "error",
    keep: Names = (),
    drop: Names = (),
    rest: Rest = "error",
    shuffle: bool = False,
    random_state: RandomState = None,
    # end of options
) -> Release[Any]:
    """Recode columns of a table, each to one level of its hierarchy, so that every record equals at least k-1 others.

    Full-domain recoding: records with one value get one label.  Of all combinations of levels the one with the
    least loss is published, and k is counted on the result.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays
        The original; it is not changed.
    k : int
        The smallest class size.
    columns : column name or list of them
        The columns to recode.  Numbers and dates need a hierarchy; categories without one show their values, or ``*``.
    by : column name or list of them, optional
        Quasi-identifiers that are not recoded: classes never mix their values, which are published unchanged.
    unit : column name, optional
        The column that names the person, household or firm of each record.  k then counts these units instead of
        records: every class has records of at least k of them, and strata with fewer than k units are small.  The
        column is not published.
    household : column name, optional
        The column that names the household of each record.  Every class then has records of at least `k_household`
        households as well.  The column is not published.
    k_household : int, optional
        The smallest number of households of a class; `k` by default.
    hierarchies : dict, optional
        By column: a `mag.Hierarchy`, the path of a file of ARX, a dictionary of parents, or a function that makes a
        hierarchy of the column's distinct values.
    order : dict, optional
        By sensitive column: its categories in order, for closeness over ranks.
    importance : dict, optional
        By column: how much its loss counts, 1 by default.
    sensitive, diversity, closeness
        As in `mag.microaggregate`, but classes that fail are suppressed.  Classes are compared with the distribution of
        the published records.
    max_suppressed : float
        The largest share of the records that may be suppressed: those in classes that are too small on the chosen
        levels.  0 suppresses no record.
    show_suppressed_as : {"root", "withhold"}
        Whether suppressed records are published with the most general label in every column, or not published.  If
        those with the same `by` would form a class of fewer than k records, or one that fails `diversity` or
        `closeness`, they are withheld in either case.
    levels : dict, optional
        By column: the level of its hierarchy to publish it on, 0 for the values themselves, or the least and the
        largest one: ``{"age": 2, "job": (1, 3)}``.
    max_nodes : int
        The largest number of combinations of levels that are searched with proof, up to 10**7.  If there are more, only
        some paths are searched, and `Release.proven` is False.
    missing : {"drop", "error", "group"}
        How to treat records with missing cells in `columns`: withhold them, raise an error, or treat missing as a value
        of its own, which only the most general label covers.
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
    Release
        The published table with its guarantee; `Release.levels`, `Release.lattice` and `Release.proven` describe the
        search.

    Raises
    ------
    mag.NotAnonymousError
        If the recount finds a class of fewer than k equal records, or one that breaks a criterion: nothing is
        returned.

    Notes
    -----
    The loss of a cell is the share of its hierarchy's leaves that is below the published label, 0 for a single one; a
    suppressed record, published or not, loses 1 in every column.  Losses are compared in exact arithmetic; of equal
    ones the combination with fewer suppressed records is taken, then that with lower levels in the order of `columns`.

    Numbers are published as text; text and categorical columns keep their dtype.

    Examples
    --------
    >>> import mag
    >>> people = {"age": [31, 34, 38, 52, 55, 57], "job": ["nurse", "cook", "smith", "cook", "baker", "nurse"]}
    >>> release = mag.generalize(
    ...     people, 3, ["age", "job"], hierarchies={"age": mag.Hierarchy.intervals(20, 60, [5, 20])}, max_suppressed=0
    ... )
    >>> release.levels
    {'age': 1, 'job': 1}
    >>> release.data["age"].tolist()
    ['[20, 40)', '[20, 40)', '[20, 40)', '[40, 60)', '[40, 60)', '[40, 60)']
    """
    return release_recoded(table, Options.of(locals()))
