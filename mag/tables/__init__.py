"""Tables: the request, and the steps from a table to its release; `parquet` has those of files out of core."""

import os
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeVar, Unpack, overload

from mag._lib.checks import unused
from mag._lib.errors import InputTypeError
from mag.api.table_options import Options
from mag.api.types import AnyCost, BackendName, MethodName, ProgressReport, RandomState, TableMethodOptions
from mag.files import FORMATS
from mag.tables._analysis import AnalysisComparison
from mag.tables._guarantee import CountedSet, Guarantee
from mag.tables._pipeline import release_table
from mag.tables._release import LatticeNode, Release, TableGrouping
from mag.tables._sensitive import Promise, constrain_values, recount_promises
from mag.tables.parquet import CodedFile, FileRelease, is_source, release_file, release_joint_file
from mag.tables.recode.generalize import generalize
from mag.tables.suppression.guarantee import SuppressionGuarantee
from mag.tables.suppression.release import Suppression
from mag.tables.suppression.suppress import suppress
from mag.tables.types import (
    Aggregate,
    ClosenessByColumn,
    DiversityByColumn,
    Enforce,
    Missing,
    Names,
    Other,
    Rest,
    Scope,
    SmallStrata,
    TableOptions,
)

__all__ = [
    "AnalysisComparison",
    "CodedFile",
    "CountedSet",
    "FileRelease",
    "Guarantee",
    "LatticeNode",
    "Promise",
    "Release",
    "Suppression",
    "SuppressionGuarantee",
    "TableGrouping",
    "constrain_values",
    "generalize",
    "microaggregate",
    "recount_promises",
    "suppress",
]

Name = TypeVar("Name", bound=Hashable)
Table = TypeVar("Table")


@overload
def microaggregate(
    table: Any,
    k: int | dict[Any, int],
    columns: Names,
    *,
    output: str | os.PathLike[str],
    **options: Unpack[TableOptions],
) -> FileRelease: ...
@overload
def microaggregate(
    table: Mapping[Name, Any],
    k: int | dict[Any, int],
    columns: Names,
    *,
    output: None = None,
    **options: Unpack[TableOptions],
) -> Release[dict[Name, Any]]: ...
@overload
def microaggregate(
    table: Table, k: int | dict[Any, int], columns: Names, *, output: None = None, **options: Unpack[TableOptions]
) -> Release[Table]: ...
def microaggregate(
    table: Any,
    k: int | dict[Any, int],
    columns: Names,
    *,
    # options: written by tools.names from mag.api.table_options
    by: Names | None = None,
    unit: Any = None,
    household: Any = None,
    household_columns: Names = (),
    k_household: int | None = None,
    sets: Sequence[Any] | None = None,
    method: MethodName = "auto",
    scope: Scope = "joint",
    cost: AnyCost | None = None,
    aggregate: Aggregate | None = None,
    hierarchies: Mapping[Any, Any] | None = None,
    order: Mapping[Any, Sequence[Any]] | None = None,
    importance: Mapping[Any, float] | None = None,
    sensitive: Names = (),
    diversity: DiversityByColumn | None = None,
    closeness: ClosenessByColumn | None = None,
    enforce: Enforce = "auto",
    other: Other = "error",
    weights: Any = None,
    standardize: bool | Literal["range"] | None = None,
    missing: Missing = "error",
    special: Mapping[Any, Sequence[float]] | None = None,
    follow: Mapping[Any, Any] | None = None,
    sums: Mapping[Any, Sequence[Any]] | None = None,
    small_strata: SmallStrata = "error",
    round: int | dict[Any, int] | None = None,  # noqa: A002 - what it is called everywhere
    keep: Names = (),
    drop: Names = (),
    rest: Rest = "error",
    shuffle: bool = False,
    random_state: RandomState = None,
    backend: BackendName = "auto",
    threads: int | None = None,
    progress: ProgressReport = None,
    time_limit: float | None = None,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    memory: int | str | None = None,
    # end of options
    **options: Unpack[TableMethodOptions],
) -> Release[Any] | FileRelease:
    """Mask columns of a table so that every record equals at least k-1 others, and count that on the result.

    Parameters
    ----------
    table : frame of pandas, polars or pyarrow, or dictionary of arrays; or Parquet
        The original; it is not changed.  Also the path of a Parquet file or of a folder of them, or a
        `pyarrow.dataset.Dataset`, of any length: with ``scope="per-column"`` it is masked column by column, with
        ``scope="joint"`` in parts of records that lie close together.
    k : int or dict
        The smallest group size.  With ``scope="per-column"`` it may be a dictionary by column.
    columns : column name or list of them
        The columns to mask: integers, floats, decimals, dates, times, durations; with ``scope="joint"`` also
        categories: text, categorical columns, booleans, and any column with a hierarchy.
    by : column name or list of them, optional
        Strata: groups never mix combinations of values of these columns, which are published unchanged.  A missing
        value is a value.
    unit : column name, optional
        The column that names the person, household or firm of each record.  k then counts these units instead of
        records: every class has records of at least k of them, and strata with fewer than k units are small.  The
        column is not published.
    household : column name, optional
        The column that names the household of each record.  Every class then has records of at least `k_household`
        households as well.  The column is not published.
    household_columns : column name or list of them
        Those of `columns` that have one value in every household, such as its income: grouped one row a household,
        published with one value a household.  The others are grouped by records within these groups.
    k_household : int, optional
        The smallest number of households of a class; `k` by default.
    sets : sequence, optional
        Several sets of `columns`, each a list of names, or a pair of such a list and its own k: records are alike in
        the columns of each set, but not in all columns.  Sets may share columns.
    method : str
        How to group several columns jointly, see `mag.multivariate`; further keywords are options of the method.
    scope : {"joint", "per-column"}
        Whether whole records are grouped, or every column by itself.  The latter loses far less and is not joint
        k-anonymity.
    cost : str or mag.Cost, optional
        The cost to minimize if each column is grouped by itself, see `mag.univariate`; "sse" by default.
    aggregate : {"ancestor", "max", "mean", "median", "medoid", "mid_range", "min", "mode", "range"} or dict, optional
        The representative of a group, one for all columns or a dictionary by column.  By default the mean for numbers,
        the closest common ancestor for categories with a hierarchy, the lower median for ordered ones, and the mode for
        others; "medoid" is the category nearest to all of the group, "range" the text ``[20, 39]``.  If a column of
        numbers is grouped by itself, the cost decides.
    hierarchies : dict, optional
        By column: a `mag.Hierarchy`, the path of a file of ARX, a frame of levels, a dictionary of parents, or a
        function that makes a hierarchy of the column's distinct values.  The distance of two categories is the loss of
        their closest common ancestor.
    order : dict, optional
        By column, masked or sensitive: the categories in order; their distance is then the difference of ranks.
        Ordered categoricals and Enums need no entry.
    importance : dict, optional
        By column: a factor of its distances, 1 by default.
    sensitive : column name or list of them
        Columns that classes should not reveal.  They are published unchanged.
    diversity : dict, optional
        By sensitive column: the number of distinct values of every class; or ``("entropy", l)``, at least the entropy
        of l equally frequent values; or ``("recursive", c, l)``, the most frequent value rarer than c times all from
        the l-th on.  A tuple of columns is for their combined values.
    closeness : dict, optional
        By sensitive column: how far its distribution in a class may be from that of the published table, as earth
        mover's distance from 0 to 1: a number, or a `mag.Closeness` with a ground distance.
    enforce : {"auto", "buckets", "cut", "exchange", "merge", "swap"}
        How to meet diversity and closeness: merge groups that fail, let them swap records with near groups first,
        exchange records at a price of what groups lack, draw groups from buckets of the sensitive values, cut all
        records while both demands hold, or whichever of these loses least.
    other : {"error", "root"}
        How to treat values that have no leaf in their hierarchy: raise an error, or publish the root for them and for
        all of their group, see `mag.Hierarchy.with_other`.
    weights : column name or array, optional
        The weights of records in means and medians, and in the optimum of a single column.  k does not count them.
    standardize : bool or "range", optional
        With several columns: True measures each in standard deviations of the whole table's column, the same in all
        strata; "range" measures numbers in their range and categories by their loss, to minimize `Release.ncp`.  By
        default "range" if there are categories, and numbers only with the aggregate "range"; otherwise True.
    missing : {"drop", "error", "group"}
        How to treat records with missing cells in `columns` (null, NaN, NaT): withhold them, raise an error, or group
        them with records that miss the same cells; missing cells stay missing.
    special : dict, optional
        By column of numbers: values that are codes, such as ``{"income": [0, -9]}``.  They are published as they are
        and never averaged: records with the same special values are grouped with each other, like records that miss the
        same cells.  Those with a code that fewer than k records share are a small stratum.
    follow : dict, optional
        By column: the masked column whose groups it is published from, as the mean of each group: ``{"income_usd":
        "income"}``.  It does not influence the groups, and both columns count in every class.
    sums : dict, optional
        By column: the masked columns whose published values it is the sum of: ``{"total": ["wage", "rent"]}``, in the
        column's own units and decimals.
    small_strata : {"error", "merge", "suppress"}
        How to treat strata with fewer than k records: raise an error, pool them (with each other, then with the next
        smallest; where pooled records differ in a column of `by`, that cell becomes missing), or withhold them.
        "suppress" also withholds strata in which no group could meet `diversity` or `closeness`.
    round : int or dict, optional
        Number of decimals of published floats, rounded in exact arithmetic, ends of ranges outwards; may be a
        dictionary by column.
    keep, drop : column name or list of them
        Columns that are published unchanged and not covered by the guarantee, and columns that are not published.
    rest : {"drop", "error", "keep"}
        The role of columns that no argument names: an error by default, so that no column is published by oversight.
    shuffle : bool
        Publish the records in random order; the index of a pandas frame and the groups are then renumbered.
    random_state : int, numpy.random.Generator, optional
        Seeds `shuffle` and the methods that draw random numbers; other methods ignore it.  None, the default, is 0 for
        methods, and an irreproducible order for `shuffle`: anyone who knows the seed can undo it.
    backend, threads, progress, time_limit
        As in `mag.multivariate`.
    output : path, optional
        For Parquet: the file to write; it appears, with its manifest next to it, once it is complete and recounted.  An
        unfinished run resumes after the columns that it had completed, if their input is unchanged; two runs into one
        output exclude each other.
    overwrite : bool
        Whether `output` may exist already; it must not be a file that is read.
    memory : int or str, optional
        For Parquet with ``scope="joint"``: memory for the data in bytes, or text such as "2GB"; 1 GiB by default.  It
        determines the number of parts.

    Returns
    -------
    Release, or FileRelease for Parquet
        The published table, the groups, and the guarantee as counted on the published table.

    Raises
    ------
    mag.NotAnonymousError
        If the recount finds a class of fewer than k equal records, or one that breaks a criterion: nothing is
        returned.

    Notes
    -----
    The published table is built from values alone in fresh memory, without metadata and unused categories.

    Missing values of sensitive columns are a value.

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

    Two different diseases in every class:

    >>> people["disease"] = ["flu", "flu", "flu", "flu", "flu", "cough", "cough"]
    >>> release = mag.microaggregate(people, 3, ["age", "income"], diversity={"disease": 2})
    >>> release.guarantee.diversity["disease"].counted
    2.0
    """
    requested = Options.of(locals())
    _check_ending(table)
    if is_source(table) and scope == "joint":
        return release_joint_file(table, requested)
    unused("memory", memory, "files that are masked column by column" if is_source(table) else "tables in memory")
    if is_source(table):
        return release_file(table, requested)
    for name in ("output", "overwrite"):
        if requested.is_used(name):
            raise InputTypeError(f"{name} is used for Parquet files only; write the data of the result yourself.")
    return release_table(table, requested)


def _check_ending(table: Any) -> None:
    """The path of a file of another format than Parquet is a mistake."""
    ending = os.path.splitext(os.fspath(table))[1].lower() if isinstance(table, (str, os.PathLike)) else ""
    others = {one for name, form in FORMATS.items() if name != "parquet" for one in form.endings}
    if ending in others:
        raise InputTypeError(
            f"table must be a frame, a dictionary of arrays or the path of Parquet; got the path of a {ending} file, "
            "read it first (such as by polars or pandas), or use the command mag mask."
        )
