"""Information loss of a masked table: the names that users call; the code is in `mag.measures`."""

from mag.measures.changes import gower_distance, il1, il1s, total_variation
from mag.measures.classes import c_avg, discernibility
from mag.measures.correlation import correlation_difference, eigenvalue_difference, il_correl
from mag.measures.penalty import ncp, total_il
from mag.measures.propensity import propensity_mse, propensity_ratio
from mag.measures.shares import share_change
from mag.measures.squares import information_loss, sse, sst

__all__ = [  # in words, so that type checkers can read it
    "c_avg",
    "correlation_difference",
    "discernibility",
    "eigenvalue_difference",
    "gower_distance",
    "il1",
    "il1s",
    "il_correl",
    "information_loss",
    "ncp",
    "propensity_mse",
    "propensity_ratio",
    "share_change",
    "sse",
    "sst",
    "total_il",
    "total_variation",
]
METRICS = {name: globals()[name] for name in __all__}
