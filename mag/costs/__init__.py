"""Costs of groups.  One cost, one file, one line in the table."""

from mag.costs._cost import Cost
from mag.costs.maxdist import MAXDIST
from mag.costs.rounddown import ROUNDDOWN
from mag.costs.roundup import ROUNDUP
from mag.costs.sae import SAE
from mag.costs.sse import SSE
from mag.costs.sse_int import SSE_INT

COSTS = {
    "maxdist": MAXDIST,
    "rounddown": ROUNDDOWN,
    "roundup": ROUNDUP,
    "sae": SAE,
    "sse": SSE,
    "sse_int": SSE_INT,
}

__all__ = ["COSTS", "Cost"]
