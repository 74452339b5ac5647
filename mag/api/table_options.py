# ruff: noqa: RUF009 - `option` makes fields
"""The options of tables, the only list of them: defaults, allowed values, documentation, and who accepts each.

Signatures, docstrings and types of `mag.microaggregate`, `mag.generalize`, `mag.suppress`, `mag.compare` and
`mag.Microaggregator` are written from it by `python -m tools.names`; commands and manifests read it.  Nothing else is
imported here, so that a shell can complete words at once.
"""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# ---- who accepts options: functions, the two engines of `microaggregate` for Parquet files, and commands

MICROAGGREGATE, GENERALIZE, COMPARE, ESTIMATOR = "microaggregate", "generalize", "compare", "Microaggregator"
SUPPRESS = "suppress"
PARQUET_BY_COLUMN, PARQUET_JOINTLY = "Parquet by column", "Parquet jointly"
OF_CATEGORIES = ("ancestor", "medoid", "mode")  # aggregates that apply to categories only
MASK = "mask"  # commands have the names of their functions, except for this one
TABLES = (MICROAGGREGATE, PARQUET_BY_COLUMN, PARQUET_JOINTLY)

ALWAYS, IF_USED, NEVER = "always", "if used", "never"  # whether a manifest records an option
COLUMNS_PANEL, GROUPING_PANEL, LEVELS_PANEL, MISSING_PANEL, OUTPUT_PANEL = (
    "Columns",
    "Grouping",
    "Levels",
    "Missing values",
    "Output",
)  # help panels


@dataclass(frozen=True)
class Flag:
    """An option as the `commands` show it; `names` if its name differs there.

    An option with a `type` is passed on as it is; one without is read by the command itself.
    """

    help: str
    panel: str
    commands: Sequence[str] = (MASK,)
    type: Any = None
    names: Sequence[str] = ()
    metavar: str | None = None
    words: Sequence[str] = ()  # that a shell completes, if these are not the choices


@dataclass(frozen=True)
class Option:
    """The properties of an option besides its name and default.

    `hint` is its type for type checkers, `kind` the type in docstrings, `text` its paragraph there; with `choices`,
    hint and kind follow from them; `by_column` if a dictionary may set it for some columns.  `defaults`, `hints`,
    `kinds` and `texts` hold values that differ for a function.
    """

    text: str
    accepted_by: Sequence[str]
    choices: Sequence[str] = ()
    hint: str = ""
    kind: str = ""
    recorded: str = ALWAYS
    by_column: bool = False
    flags: Sequence[Flag] = ()
    defaults: Mapping[str, Any] = field(default_factory=dict)
    hints: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)

    def flag_of(self, command: str) -> Flag | None:
        """As this command shows it."""
        return next((flag for flag in self.flags if command in flag.commands), None)


def option(default: Any, text: str, accepted_by: Sequence[str], **about: Any) -> Any:
    """A field of `Options`."""
    return field(default=default, metadata={"option": Option(text, accepted_by, **about)})


ONE_OR_MORE = "column name or list of them"
ALL_TABLES = (*TABLES, GENERALIZE)
AS_IN_MULTIVARIATE = "As in `mag.multivariate`."
CRITERIA_OF_CLASSES = (
    "As in `mag.microaggregate`, but classes that fail are suppressed.  Classes are compared with the distribution of "
    "the published records."
)
SEEDS_SHUFFLE = "Seeds `shuffle`; None, the default, is an irreproducible order."
FOR_FRAMES = (
    "For pandas or polars frames with categories, as in `mag.microaggregate`, but hierarchies cannot be functions."
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The arguments of `mag.microaggregate`, `mag.generalize` or `mag.suppress`, unchecked."""

    k: Any
    columns: Any
    by: Any = option(
        None,
        "Strata: groups never mix combinations of values of these columns, which are published unchanged.  A missing "
        "value is a value.",
        (*ALL_TABLES, SUPPRESS, COMPARE),
        hint="Names | None",
        kind=f"{ONE_OR_MORE}, optional",
        texts={
            GENERALIZE: "Quasi-identifiers that are not recoded: classes never mix their values, which are published "
            "unchanged.",
            SUPPRESS: "Quasi-identifiers whose cells stay: classes never mix their values.  A missing value is a "
            "value.",
        },
        flags=[
            Flag(
                "A stratum column: groups never mix its values; published unchanged. Repeatable.",
                COLUMNS_PANEL,
                (MASK, COMPARE),
            ),
            Flag(
                "A quasi-identifier that is not recoded: classes never mix its values. Repeatable.",
                COLUMNS_PANEL,
                (GENERALIZE,),
            ),
            Flag(
                "A quasi-identifier whose cells stay: classes never mix its values. Repeatable.",
                COLUMNS_PANEL,
                (SUPPRESS,),
            ),
        ],
    )
    unit: Any = option(
        None,
        "The column that names the person, household or firm of each record.  k then counts these units instead of "
        "records: every class has records of at least k of them, and strata with fewer than k units are small.  The "
        "column is not published.",
        (*ALL_TABLES, SUPPRESS, COMPARE),
        hint="Any",
        kind="column name, optional",
        recorded=IF_USED,
        flags=[
            Flag(
                "The column that names the person or household of each record: k counts them; not published.",
                COLUMNS_PANEL,
                (MASK, GENERALIZE, SUPPRESS, COMPARE),
            )
        ],
    )
    household: Any = option(
        None,
        "The column that names the household of each record.  Every class then has records of at least `k_household` "
        "households as well.  The column is not published.",
        (MICROAGGREGATE, PARQUET_JOINTLY, GENERALIZE, COMPARE),
        hint="Any",
        kind="column name, optional",
        recorded=IF_USED,
        flags=[
            Flag(
                "The column that names the household of each record: every class has several; not published.",
                COLUMNS_PANEL,
                (MASK, GENERALIZE, COMPARE),
            )
        ],
    )
    household_columns: Any = option(
        (),
        "Those of `columns` that have one value in every household, such as its income: grouped one row a household, "
        "published with one value a household.  The others are grouped by records within these groups.",
        (MICROAGGREGATE,),
        hint="Names",
        kind=ONE_OR_MORE,
        recorded=IF_USED,
        flags=[
            Flag(
                "One of -c that has one value in every household, which it keeps. Repeatable.",
                COLUMNS_PANEL,
                type=list[str] | None,
                names=("--household-column",),
                metavar="NAME",
            )
        ],
    )
    k_household: int | None = option(
        None,
        "The smallest number of households of a class; `k` by default.",
        (MICROAGGREGATE, PARQUET_JOINTLY, GENERALIZE, COMPARE, ESTIMATOR),
        hint="int | None",
        kind="int, optional",
        texts={
            ESTIMATOR: "The smallest number of households of a group, where `fit` gets `household`; `k` by default."
        },
        recorded=IF_USED,
        flags=[
            Flag(
                "Smallest number of households of a class (default: k).",
                GROUPING_PANEL,
                (MASK, GENERALIZE, COMPARE),
                type=int | None,
                metavar="K",
            )
        ],
    )
    sets: Any = option(
        None,
        "Several sets of `columns`, each a list of names, or a pair of such a list and its own k: records are alike in "
        "the columns of each set, but not in all columns.  Sets may share columns.",
        (MICROAGGREGATE, SUPPRESS),
        hint="Sequence[Any] | None",
        kind="sequence, optional",
        recorded=IF_USED,
        flags=[
            Flag(
                "A set of columns that has classes of its own, e.g. age+sex, or age+sex=5 with its own k. Repeatable.",
                GROUPING_PANEL,
                (MASK, SUPPRESS),
                names=("--set",),
                metavar="NAME+NAME[=K]",
            )
        ],
    )
    method: str = option(
        "auto",
        "How to group several columns jointly, see `mag.multivariate`; further keywords are options of the method.",
        (MICROAGGREGATE, PARQUET_JOINTLY, ESTIMATOR),
        hint="MethodName",
        kind="str",
        texts={ESTIMATOR: "How to group, see `mag.multivariate`."},
        flags=[
            Flag(
                "How to group whole records; see the list below.",
                GROUPING_PANEL,
                type=str,
                names=("--method", "-m"),
                metavar="NAME",
            )
        ],
    )
    scope: str = option(
        "joint",
        "Whether whole records are grouped, or every column by itself.  The latter loses far less and is not joint "
        "k-anonymity.",
        TABLES,
        choices=("joint", "per-column"),
        flags=[
            Flag(
                "joint: whole records are equal; per-column: each column alone, a weaker guarantee.",
                GROUPING_PANEL,
                type=str,
            ),
        ],
    )
    cost: Any = option(
        None,
        'The cost to minimize if each column is grouped by itself, see `mag.univariate`; "sse" by default.',
        TABLES,
        hint="AnyCost | None",
        kind="str or mag.Cost, optional",
        flags=[
            Flag("Cost minimized with --scope per-column: {words}.", GROUPING_PANEL, type=str | None, metavar="NAME")
        ],
    )
    aggregate: Any = option(
        None,
        "The representative of a group, one for all columns or a dictionary by column.  By default the mean for "
        "numbers, the closest common ancestor for categories with a hierarchy, the lower median for ordered ones, and "
        'the mode for others; "medoid" is the category nearest to all of the group, "range" the text '
        "``[20, 39]``.  If a column of numbers is grouped by itself, the cost decides.",
        (MICROAGGREGATE, PARQUET_JOINTLY, COMPARE, ESTIMATOR),
        hint="Aggregate | None",
        kind='{"ancestor", "max", "mean", "median", "medoid", "mid_range", "min", "mode", "range"} or dict, optional',
        kinds={ESTIMATOR: "optional"},
        texts={ESTIMATOR: FOR_FRAMES},
        hints={ESTIMATOR: "Any"},
        by_column=True,
        flags=[
            Flag(
                "Representative of a group: max, mean (default), median, mid_range, min or range; for categories "
                "ancestor, medoid or mode. For one column: NAME=HOW, repeatable.",
                GROUPING_PANEL,
                (MASK, COMPARE),
                metavar="HOW",
                words=("ancestor", "max", "mean", "median", "medoid", "mid_range", "min", "mode", "range"),
            )
        ],
    )
    hierarchies: Any = option(
        None,
        "By column: a `mag.Hierarchy`, the path of a file of ARX, a frame of levels, a dictionary of parents, or a "
        "function that makes a hierarchy of the column's distinct values.  The distance of two categories is the loss "
        "of their closest common ancestor.",
        (MICROAGGREGATE, PARQUET_BY_COLUMN, GENERALIZE, COMPARE, ESTIMATOR),
        hint="Mapping[Any, Any] | None",
        kind="dict, optional",
        kinds={ESTIMATOR: "optional"},
        texts={
            GENERALIZE: "By column: a `mag.Hierarchy`, the path of a file of ARX, a dictionary of parents, or a "
            "function that makes a hierarchy of the column's distinct values.",
            ESTIMATOR: FOR_FRAMES,
        },
        hints={ESTIMATOR: "Any"},
        recorded=IF_USED,
        by_column=True,
        flags=[
            Flag(
                "A column of categories and its hierarchy, a CSV file in the format of ARX. Repeatable.",
                GROUPING_PANEL,
                (MASK, COMPARE),
                names=("--hierarchy",),
                metavar="NAME=FILE",
            ),
            Flag(
                "A column and its hierarchy, a CSV file in the format of ARX. Repeatable.",
                LEVELS_PANEL,
                (GENERALIZE,),
                names=("--hierarchy",),
                metavar="NAME=FILE",
            ),
        ],
    )
    order: Any = option(
        None,
        "By column, masked or sensitive: the categories in order; their distance is then the difference of ranks.  "
        "Ordered categoricals and Enums need no entry.",
        (MICROAGGREGATE, PARQUET_BY_COLUMN, GENERALIZE, COMPARE, ESTIMATOR),
        hint="Mapping[Any, Sequence[Any]] | None",
        kind="dict, optional",
        kinds={ESTIMATOR: "optional"},
        texts={
            GENERALIZE: "By sensitive column: its categories in order, for closeness over ranks.",
            ESTIMATOR: FOR_FRAMES,
        },
        hints={ESTIMATOR: "Any"},
        recorded=IF_USED,
        by_column=True,
        flags=[
            Flag(
                "A column of categories and all of them in order, e.g. degree=low,mid,high; one with a comma in "
                "quotes. Repeatable.",
                GROUPING_PANEL,
                (MASK, COMPARE),
                metavar="NAME=A,B,...",
            ),
            Flag(
                "A sensitive column and its values in order, for --closeness, e.g. degree=low,mid,high. Repeatable.",
                COLUMNS_PANEL,
                (GENERALIZE,),
                metavar="NAME=A,B,...",
            ),
        ],
    )
    importance: Any = option(
        None,
        "By column: a factor of its distances, 1 by default.",
        (*ALL_TABLES, SUPPRESS, COMPARE, ESTIMATOR),
        hint="Mapping[Any, float] | None",
        kind="dict, optional",
        kinds={ESTIMATOR: "optional"},
        texts={
            GENERALIZE: "By column: how much its loss counts, 1 by default.",
            SUPPRESS: "By column: how much a suppressed cell counts, 1 by default.",
            ESTIMATOR: FOR_FRAMES,
        },
        hints={ESTIMATOR: "Any"},
        recorded=IF_USED,
        by_column=True,
        flags=[
            Flag(
                "How much the distances of a column count (default: 1). Repeatable.",
                GROUPING_PANEL,
                (MASK, COMPARE),
                metavar="NAME=NUMBER",
            ),
            Flag(
                "How much the loss of a column counts (default: 1). Repeatable.",
                LEVELS_PANEL,
                (GENERALIZE,),
                metavar="NAME=NUMBER",
            ),
            Flag(
                "How much a suppressed cell of a column counts (default: 1). Repeatable.",
                GROUPING_PANEL,
                (SUPPRESS,),
                metavar="NAME=NUMBER",
            ),
        ],
    )
    subsets: Any = option(
        None,
        "By size: the k of every subset of that many columns, besides that of all of them: ``{2: 10}`` for all pairs.",
        (SUPPRESS,),
        hint="Mapping[int, int] | None",
        kind="dict, optional",
        recorded=IF_USED,
        flags=[
            Flag(
                "The k of every subset of SIZE columns, e.g. 2=10. Repeatable.",
                GROUPING_PANEL,
                (SUPPRESS,),
                names=("--subsets",),
                metavar="SIZE=K",
            )
        ],
    )
    sensitive: Any = option(
        (),
        "Columns that classes should not reveal.  They are published unchanged.",
        (MICROAGGREGATE, PARQUET_BY_COLUMN, GENERALIZE),
        hint="Names",
        kind=ONE_OR_MORE,
        kinds={GENERALIZE: ""},
        texts={GENERALIZE: CRITERIA_OF_CLASSES},
        recorded=IF_USED,
        flags=[
            Flag(
                "A sensitive column: published unchanged, see --diversity, --closeness. Repeatable.",
                COLUMNS_PANEL,
                (MASK, GENERALIZE),
            )
        ],
    )
    diversity: Any = option(
        None,
        'By sensitive column: the number of distinct values of every class; or ``("entropy", l)``, at least the '
        'entropy of l equally frequent values; or ``("recursive", c, l)``, the most frequent value rarer than c times '
        "all from the l-th on.  A tuple of columns is for their combined values.",
        (MICROAGGREGATE, PARQUET_BY_COLUMN, GENERALIZE, ESTIMATOR),
        hint="DiversityByColumn | None",
        kind="dict, optional",
        kinds={GENERALIZE: "", ESTIMATOR: "int or tuple, optional"},
        texts={
            GENERALIZE: CRITERIA_OF_CLASSES,
            ESTIMATOR: "How many different sensitive values every group must hold, or another criterion: see "
            "`mag.microaggregate`.  The values themselves are for `fit`.",
        },
        hints={ESTIMATOR: "Any"},
        recorded=NEVER,  # the guarantee holds it
        by_column=True,
        flags=[
            Flag(
                "A sensitive column, and how many values every class must hold, e.g. disease=3; or "
                "disease=entropy:2.5, disease=recursive:2,3 (c and l); disease+income=3 counts combined values. "
                "Repeatable.",
                COLUMNS_PANEL,
                (MASK, GENERALIZE),
                metavar="NAME=L",
            )
        ],
    )
    closeness: Any = option(
        None,
        "By sensitive column: how far its distribution in a class may be from that of the published table, as earth "
        "mover's distance from 0 to 1: a number, or a `mag.Closeness` with a ground distance.",
        (MICROAGGREGATE, PARQUET_BY_COLUMN, GENERALIZE, ESTIMATOR),
        hint="ClosenessByColumn | None",
        kind="dict, optional",
        kinds={GENERALIZE: "", ESTIMATOR: "float or mag.Closeness, optional"},
        texts={
            GENERALIZE: CRITERIA_OF_CLASSES,
            ESTIMATOR: "How far the distribution of the sensitive values in a group may be from that of all records.",
        },
        hints={ESTIMATOR: "Any"},
        recorded=NEVER,
        by_column=True,
        flags=[
            Flag(
                "A sensitive column, and how far its distribution in a class may be from the table's, e.g. income=0.2; "
                "optionally followed by :ordered, :equal or :FILE (a hierarchy). Repeatable.",
                COLUMNS_PANEL,
                (MASK, GENERALIZE),
                metavar="NAME=T[:FILE]",
            )
        ],
    )
    enforce: str = option(
        "auto",
        "How to meet diversity and closeness: merge groups that fail, let them swap records with near groups first, "
        "exchange records at a price of what groups lack, draw groups from buckets of the sensitive values, cut all "
        "records while both demands hold, or whichever of these loses least.",
        (*TABLES, ESTIMATOR),
        choices=("auto", "buckets", "cut", "exchange", "merge", "swap"),
        texts={ESTIMATOR: "How to meet both, see `mag.microaggregate`."},
        recorded=IF_USED,
    )
    other: str = option(
        "error",
        "How to treat values that have no leaf in their hierarchy: raise an error, or publish the root for them and "
        "for all of their group, see `mag.Hierarchy.with_other`.",
        TABLES,
        choices=("error", "root"),
        recorded=IF_USED,
        flags=[
            Flag(
                "Values without a leaf in their hierarchy: error, or root (published as the most general label).",
                GROUPING_PANEL,
                (MASK, COMPARE),
            ),
            Flag(
                "Values without a leaf in their hierarchy: error, or root (published as the most general label).",
                LEVELS_PANEL,
                (GENERALIZE,),
            ),
        ],
    )
    max_suppressed: float = option(
        0.05,
        "The largest share of the records that may be suppressed: those in classes that are too small on the chosen "
        "levels.  0 suppresses no record.",
        (GENERALIZE,),
        hint="float",
        kind="float",
        flags=[Flag("The largest share of records that may be suppressed.", LEVELS_PANEL, (GENERALIZE,), type=float)],
    )
    show_suppressed_as: str = option(
        "root",
        "Whether suppressed records are published with the most general label in every column, or not published.  If "
        "those with the same `by` would form a class of fewer than k records, or one that fails `diversity` or "
        "`closeness`, they are withheld in either case.",
        (GENERALIZE,),
        choices=("root", "withhold"),
        flags=[
            Flag(
                "Suppressed records: root (shows the most general label in every column) or withhold.",
                LEVELS_PANEL,
                (GENERALIZE,),
                type=str,
            )
        ],
    )
    levels: Any = option(
        None,
        "By column: the level of its hierarchy to publish it on, 0 for the values themselves, or the least and the "
        'largest one: ``{"age": 2, "job": (1, 3)}``.',
        (GENERALIZE,),
        hint="Mapping[Any, int | tuple[int, int]] | None",
        kind="dict, optional",
        recorded=IF_USED,
        flags=[
            Flag(
                "The level that a column is published on, e.g. age=2, or the least and the largest one, e.g. age=1:3. "
                "Repeatable.",
                LEVELS_PANEL,
                (GENERALIZE,),
                names=("--level",),
                metavar="NAME=LEVELS",
            )
        ],
    )
    max_nodes: int = option(
        10**6,
        "The largest number of combinations of levels that are searched with proof, up to 10**7.  If there are more, "
        "only some paths are searched, and `Release.proven` is False.",
        (GENERALIZE,),
        hint="int",
        kind="int",
        flags=[
            Flag(
                "Largest number of combinations of levels that are searched with proof.",
                LEVELS_PANEL,
                (GENERALIZE,),
                type=int,
                metavar="N",
            )
        ],
    )
    weights: Any = option(
        None,
        "The weights of records in means and medians, and in the optimum of a single column.  k does not count them.",
        (*TABLES, COMPARE),
        hint="Any",
        kind="column name or array, optional",
        flags=[Flag("A column of weights.", COLUMNS_PANEL, (MASK, COMPARE))],
    )
    standardize: Any = option(
        None,
        "With several columns: True measures each in standard deviations of the whole table's column, the same in all "
        'strata; "range" measures numbers in their range and categories by their loss, to minimize `Release.ncp`.  By '
        'default "range" if there are categories, and numbers only with the aggregate "range"; otherwise True.',
        (MICROAGGREGATE, PARQUET_JOINTLY, COMPARE, ESTIMATOR),
        hint='bool | Literal["range"] | None',
        kind='bool or "range", optional',
        defaults={ESTIMATOR: True},
        hints={ESTIMATOR: 'bool | Literal["range"]'},
        kinds={ESTIMATOR: 'bool or "range"'},
        texts={
            ESTIMATOR: 'Measure each column in its standard deviations; "range", of frames with categories, numbers '
            "in their range."
        },
        flags=[
            Flag(
                "Divide columns by their standard deviations before distances are computed (default: yes).",
                GROUPING_PANEL,
                type=bool | None,
                names=("--standardize/--no-standardize",),
            )
        ],
    )
    missing: str = option(
        "error",
        "How to treat records with missing cells in `columns` (null, NaN, NaT): withhold them, raise an error, or "
        "group them with records that miss the same cells; missing cells stay missing.",
        (*ALL_TABLES, SUPPRESS, COMPARE),
        choices=("drop", "error", "group"),
        defaults={SUPPRESS: "value"},
        hints={SUPPRESS: 'Literal["value", "wildcard"]'},
        kinds={SUPPRESS: '{"value", "wildcard"}'},
        texts={
            SUPPRESS: 'How to read a missing cell: "value", where it equals missing cells only, so that classes are of '
            'at least k equal records; "wildcard" is weaker: it equals every value.',
            GENERALIZE: "How to treat records with missing cells in `columns`: withhold them, raise an error, or treat "
            "missing as a value of its own, which only the most general label covers.",
        },
        flags=[
            Flag(
                "Records with missing numbers: error, group (with those that miss the same cells) or drop.",
                MISSING_PANEL,
                (MASK, COMPARE),
                type=str,
            ),
            Flag(
                "Records with missing cells: error, group (missing is a value) or drop.",
                MISSING_PANEL,
                (GENERALIZE,),
                type=str,
            ),
            Flag(
                "Reading of a missing cell: value (equals missing cells only) or wildcard (equals all; weaker).",
                MISSING_PANEL,
                (SUPPRESS,),
                words=("value", "wildcard"),
            ),
        ],
    )
    special: Any = option(
        None,
        'By column of numbers: values that are codes, such as ``{"income": [0, -9]}``.  They are published as they are '
        "and never averaged: records with the same special values are grouped with each other, like records that miss "
        "the same cells.  Those with a code that fewer than k records share are a small stratum.",
        (MICROAGGREGATE,),
        hint="Mapping[Any, Sequence[float]] | None",
        kind="dict, optional",
        recorded=IF_USED,
        by_column=True,
        flags=[
            Flag(
                "Values of a column that are codes: published as they are and never averaged, e.g. income=0,-9. "
                "Repeatable.",
                MISSING_PANEL,
                metavar="NAME=CODES",
            )
        ],
    )
    follow: Any = option(
        None,
        "By column: the masked column whose groups it is published from, as the mean of each group: "
        '``{"income_usd": "income"}``.  It does not influence the groups, and both columns count in every class.',
        (MICROAGGREGATE,),
        hint="Mapping[Any, Any] | None",
        kind="dict, optional",
        recorded=IF_USED,
        by_column=True,
        flags=[
            Flag(
                "A column that is published as means of the groups of another one, e.g. usd=income. Repeatable.",
                GROUPING_PANEL,
                metavar="NAME=NAME",
            )
        ],
    )
    sums: Any = option(
        None,
        'By column: the masked columns whose published values it is the sum of: ``{"total": ["wage", "rent"]}``, '
        "in the column's own units and decimals.",
        (MICROAGGREGATE,),
        hint="Mapping[Any, Sequence[Any]] | None",
        kind="dict, optional",
        recorded=IF_USED,
        by_column=True,
        flags=[
            Flag(
                "A column that is published as the sum of masked ones, e.g. total=wage+rent. Repeatable.",
                GROUPING_PANEL,
                names=("--sum",),
                metavar="NAME=NAME+NAME",
            )
        ],
    )
    small_strata: str = option(
        "error",
        "How to treat strata with fewer than k records: raise an error, pool them (with each other, then with the next "
        "smallest; where pooled records differ in a column of `by`, that cell becomes missing), or withhold them.  "
        '"suppress" also withholds strata in which no group could meet `diversity` or `closeness`.',
        (MICROAGGREGATE, SUPPRESS, COMPARE),
        choices=("error", "merge", "suppress"),
        texts={
            SUPPRESS: "How to treat strata with fewer than k records, or units: raise an error, pool them (with each "
            "other, then with the next smallest; where pooled records differ in a column of `by`, that cell becomes "
            "missing), or withhold them.",
        },
        flags=[
            Flag(
                "Strata of fewer than k records: error, merge (blanks the --by cells) or suppress (withholds the "
                "records).",
                MISSING_PANEL,
                (MASK, SUPPRESS, COMPARE),
                type=str,
            )
        ],
    )
    round: Any = option(
        None,
        "Number of decimals of published floats, rounded in exact arithmetic, ends of ranges outwards; may be a "
        "dictionary by column.",
        TABLES,
        hint="int | dict[Any, int] | None",
        kind="int or dict, optional",
        by_column=True,
        flags=[
            Flag(
                "Number of decimals, or NAME=DECIMALS. Repeatable.",
                OUTPUT_PANEL,
                names=("--round",),
                metavar="DECIMALS",
            )
        ],
    )
    keep: Any = option(
        (),
        "Columns that are published unchanged and not covered by the guarantee, and columns that are not published.",
        (*ALL_TABLES, SUPPRESS),
        hint="Names",
        kind=ONE_OR_MORE,
        flags=[
            Flag(
                "Publish this column unchanged: it is not protected. Repeatable.",
                COLUMNS_PANEL,
                (MASK, GENERALIZE, SUPPRESS),
            ),
        ],
    )
    drop: Any = option(
        (),
        "Columns that are published unchanged and not covered by the guarantee, and columns that are not published.",
        (*ALL_TABLES, SUPPRESS),
        hint="Names",
        kind=ONE_OR_MORE,
        flags=[Flag("Do not publish this column. Repeatable.", COLUMNS_PANEL, (MASK, GENERALIZE, SUPPRESS))],
    )
    rest: str = option(
        "error",
        "The role of columns that no argument names: an error by default, so that no column is published by oversight.",
        (*ALL_TABLES, SUPPRESS),
        choices=("drop", "error", "keep"),
        recorded=NEVER,  # these columns are in keep or drop by then
        flags=[
            Flag(
                "Columns that no option names: error, drop (not published) or keep (unchanged, not protected).",
                COLUMNS_PANEL,
                (MASK, GENERALIZE, SUPPRESS),
                metavar="ROLE",
            )
        ],
    )
    shuffle: bool = option(
        False,
        "Publish the records in random order; the index of a pandas frame and the groups are then renumbered.",
        (MICROAGGREGATE, GENERALIZE, SUPPRESS),
        hint="bool",
        kind="bool",
        flags=[
            Flag(
                "Publish the records in random order.",
                OUTPUT_PANEL,
                (MASK, GENERALIZE, SUPPRESS),
                type=bool,
                names=("--shuffle",),
            )
        ],
    )
    random_state: Any = option(
        None,
        "Seeds `shuffle` and the methods that draw random numbers; other methods ignore it.  None, the default, is 0 "
        "for methods, and an irreproducible order for `shuffle`: anyone who knows the seed can undo it.",
        (*ALL_TABLES, SUPPRESS, COMPARE, ESTIMATOR),
        hint="RandomState",
        kind="int, numpy.random.Generator, optional",
        defaults={COMPARE: 0, ESTIMATOR: 0},
        hints={ESTIMATOR: "int | np.random.Generator | np.random.RandomState | None"},
        kinds={ESTIMATOR: "int, numpy.random.Generator, numpy.random.RandomState"},
        texts={
            GENERALIZE: SEEDS_SHUFFLE,
            SUPPRESS: SEEDS_SHUFFLE,
            ESTIMATOR: "Seeds the methods that draw random numbers; None is 0 too.  Other methods ignore it.",
        },
        flags=[
            Flag(
                "Seed of methods that draw random numbers, and of --shuffle.",
                GROUPING_PANEL,
                (MASK, COMPARE),
                type=int | None,
                names=("--seed",),
            ),
            Flag("Seed of --shuffle.", OUTPUT_PANEL, (GENERALIZE, SUPPRESS), type=int | None, names=("--seed",)),
        ],
    )
    backend: Any = option(
        "auto",
        AS_IN_MULTIVARIATE,
        (*TABLES, ESTIMATOR),
        hint="BackendName",
        kinds={ESTIMATOR: '{"auto", "cpu"}'},
        texts={ESTIMATOR: "Where to compute."},
    )
    threads: int | None = option(
        None,
        AS_IN_MULTIVARIATE,
        (*TABLES, COMPARE, ESTIMATOR),
        hint="int | None",
        kinds={ESTIMATOR: "int, optional"},
        texts={ESTIMATOR: "The number of threads; all processors by default.  The result does not depend on it."},
        flags=[Flag("Number of threads (default: all CPUs).", GROUPING_PANEL, (MASK, COMPARE), type=int | None)],
    )
    progress: Any = option(
        None,
        AS_IN_MULTIVARIATE,
        (*TABLES, COMPARE),
        hint="ProgressReport",
        kinds={COMPARE: "bool or callable, optional"},
        texts={COMPARE: "As in `mag.multivariate`, of all runs together."},
        recorded=NEVER,
    )
    time_limit: float | None = option(
        None,
        AS_IN_MULTIVARIATE,
        (MICROAGGREGATE, COMPARE, ESTIMATOR),
        hint="float | None",
        kinds={COMPARE: "float, optional", ESTIMATOR: "float, optional"},
        texts={
            COMPARE: "Seconds for each run of a method that can be limited.",
            ESTIMATOR: "Seconds after which the best grouping so far is taken; `complete_` is then False.",
        },
        flags=[Flag("Seconds to search for better groups.", GROUPING_PANEL, (MASK, COMPARE), type=float | None)],
    )
    output: Any = option(
        None,
        "For Parquet: the file to write; it appears, with its manifest next to it, once it is complete and recounted.  "
        "An unfinished run resumes after the columns that it had completed, if their input is unchanged; two runs into "
        "one output exclude each other.",
        TABLES,
        hint="str | os.PathLike[str] | None",
        kind="path, optional",
        recorded=NEVER,
    )
    overwrite: bool = option(
        False,
        "Whether `output` may exist already; it must not be a file that is read.",
        TABLES,
        hint="bool",
        kind="bool",
        recorded=NEVER,
    )
    memory: Any = option(
        None,
        'For Parquet with ``scope="joint"``: memory for the data in bytes, or text such as "2GB"; 1 GiB by default.  '
        "It determines the number of parts.",
        TABLES,
        hint="int | str | None",
        kind="int or str, optional",
        recorded=NEVER,  # but in bytes
        flags=[
            Flag(
                "From Parquet to Parquet, jointly: group in parts, so that the data take at most this memory.",
                GROUPING_PANEL,
                metavar="SIZE",
            )
        ],
    )
    of_method: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> "Options":
        """Of a function's arguments by name; its keyword `options`, if it has one, are those of the method."""
        own = {name: arguments[name] for name in ("k", "columns", *OPTIONS) if name in arguments}
        return cls(**own, of_method=dict(arguments.get("options", {})))

    def is_used(self, name: str) -> bool:
        """Whether the caller set an option to something else than its default."""
        setting, default = getattr(self, name), DEFAULTS[name]
        if default is None:
            return setting is not None
        if default == ():  # names: a single one, or any sequence of them, such as an array or an index
            return not hasattr(setting, "__len__") or len(setting) > 0
        return bool(setting != default)

    def refused_by(self, function: str) -> list[str]:
        """The options that are set, but not accepted by this function."""
        return [name for name in OPTIONS if name not in accepted(function) and self.is_used(name)]

    def files(self) -> list[pathlib.Path]:
        """The files that the call reads because these options name them."""
        from mag._lib.identity import find_files

        trees = self.hierarchies.values() if isinstance(self.hierarchies, Mapping) else ()
        return [path.absolute() for path in find_files(*trees)]


OPTIONS: dict[str, Option] = {
    one.name: one.metadata["option"] for one in dataclasses.fields(Options) if "option" in one.metadata
}
DEFAULTS: dict[str, Any] = {one.name: one.default for one in dataclasses.fields(Options) if one.name in OPTIONS}


def accepted(function: str) -> dict[str, Option]:
    """The options that a function accepts."""
    return {name: option for name, option in OPTIONS.items() if function in option.accepted_by}
