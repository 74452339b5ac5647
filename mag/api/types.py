"""The types of arguments, for type checkers and editors; other arguments are also rejected at run time."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np

from mag.api.names import CostName as CostName
from mag.api.names import MethodName as MethodName
from mag.costs import Cost

AnyCost: TypeAlias = CostName | Cost
SolverName: TypeAlias = Literal[
    "auto", "block", "galil_park", "growing", "quadratic", "simple", "simple_plus", "staggered", "wilber"
]
BackendName: TypeAlias = Literal["auto", "cpu", "cuda"]
BoundName: TypeAlias = Literal["branch", "lp", "neighbor"]
DegreeCost: TypeAlias = Literal["rounddown", "roundup", "sae", "sse_int"]
KeepName: TypeAlias = Literal["degrees", "edges", "nodes"]
RandomState: TypeAlias = int | np.random.Generator | None
ProgressReport: TypeAlias = bool | Callable[[float], Any] | None
Array: TypeAlias = np.ndarray[Any, Any]


class TableMethodOptions(TypedDict, total=False):
    """Options of methods that `mag.microaggregate` takes; the guide to records describes them."""

    closest: Literal["centroid", "cost", "member"]
    directions: Literal["gaussian", "pca", "uniform"] | Array | Sequence[Sequence[float]]
    exchanges: float
    factor: float
    gamma: float | Literal["search"]
    init: MethodName | Array | Sequence[int]
    iterations: float
    n_projections: int
    ordered: bool
    refine: int
    restarts: int
    rho: float
    split: Literal["md", "mdav", "mdav_plus"] | None


class MethodOptions(TableMethodOptions, total=False):
    """Options of methods, those about arrays included."""

    integer: bool
    return_scores: bool
