"""Information loss of a masked table.  Each measure is a file, and a line of the table."""

from mag.metrics.c_avg import c_avg
from mag.metrics.correlation_difference import correlation_difference
from mag.metrics.discernibility import discernibility
from mag.metrics.eigenvalue_difference import eigenvalue_difference
from mag.metrics.gower_distance import gower_distance
from mag.metrics.il1 import il1
from mag.metrics.il1s import il1s
from mag.metrics.il_correl import il_correl
from mag.metrics.information_loss import information_loss
from mag.metrics.ncp import ncp
from mag.metrics.propensity_mse import propensity_mse
from mag.metrics.sse import sse
from mag.metrics.sst import sst
from mag.metrics.total_il import total_il
from mag.metrics.total_variation import total_variation

METRICS = {
    "c_avg": c_avg,
    "correlation_difference": correlation_difference,
    "discernibility": discernibility,
    "eigenvalue_difference": eigenvalue_difference,
    "gower_distance": gower_distance,
    "il1": il1,
    "il1s": il1s,
    "il_correl": il_correl,
    "information_loss": information_loss,
    "ncp": ncp,
    "propensity_mse": propensity_mse,
    "sse": sse,
    "sst": sst,
    "total_il": total_il,
    "total_variation": total_variation,
}
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
    "sse",
    "sst",
    "total_il",
    "total_variation",
]
