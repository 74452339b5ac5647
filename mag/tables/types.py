"""Types of the options of `mag.microaggregate` and `mag.generalize`, for type checkers."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal, TypeAlias, TypedDict

from mag.api.types import AnyCost, BackendName, MethodName, ProgressReport, RandomState, TableMethodOptions
from mag.tables.criteria import Closeness

Names: TypeAlias = Hashable | Iterable[Hashable]
AggregateName: TypeAlias = Literal["ancestor", "max", "mean", "median", "medoid", "mid_range", "min", "mode", "range"]
Aggregate: TypeAlias = AggregateName | Mapping[Any, AggregateName]
Diversity: TypeAlias = int | tuple[Literal["distinct", "entropy"], float] | tuple[Literal["recursive"], float, int]
DiversityByColumn: TypeAlias = Mapping[Any, Diversity]
ClosenessByColumn: TypeAlias = Mapping[Any, float | Fraction | Closeness]
# options: written by tools.names from mag.api.table_options
Scope: TypeAlias = Literal["joint", "per-column"]
Enforce: TypeAlias = Literal["auto", "buckets", "cut", "exchange", "merge", "swap"]
Other: TypeAlias = Literal["error", "root"]
ShowSuppressedAs: TypeAlias = Literal["root", "withhold"]
Missing: TypeAlias = Literal["drop", "error", "group"]
SmallStrata: TypeAlias = Literal["error", "merge", "suppress"]
Rest: TypeAlias = Literal["drop", "error", "keep"]


class TableOptions(TableMethodOptions, total=False):
    """Keywords of `microaggregate`, for its overloads."""

    by: Names | None
    unit: Any
    household: Any
    household_columns: Names
    k_household: int | None
    sets: Sequence[Any] | None
    method: MethodName
    scope: Scope
    cost: AnyCost | None
    aggregate: Aggregate | None
    hierarchies: Mapping[Any, Any] | None
    order: Mapping[Any, Sequence[Any]] | None
    importance: Mapping[Any, float] | None
    sensitive: Names
    diversity: DiversityByColumn | None
    closeness: ClosenessByColumn | None
    enforce: Enforce
    other: Other
    weights: Any
    standardize: bool | Literal["range"] | None
    missing: Missing
    special: Mapping[Any, Sequence[float]] | None
    follow: Mapping[Any, Any] | None
    sums: Mapping[Any, Sequence[Any]] | None
    small_strata: SmallStrata
    round: int | dict[Any, int] | None
    keep: Names
    drop: Names
    rest: Rest
    shuffle: bool
    random_state: RandomState
    backend: BackendName
    threads: int | None
    progress: ProgressReport
    time_limit: float | None
    overwrite: bool
    memory: int | str | None


class RecodingOptions(TypedDict, total=False):
    """Keywords of `generalize`, for its overloads."""

    by: Names | None
    unit: Any
    household: Any
    k_household: int | None
    hierarchies: Mapping[Any, Any] | None
    order: Mapping[Any, Sequence[Any]] | None
    importance: Mapping[Any, float] | None
    sensitive: Names
    diversity: DiversityByColumn | None
    closeness: ClosenessByColumn | None
    max_suppressed: float
    show_suppressed_as: ShowSuppressedAs
    levels: Mapping[Any, int | tuple[int, int]] | None
    max_nodes: int
    missing: Missing
    keep: Names
    drop: Names
    rest: Rest
    shuffle: bool
    random_state: RandomState
