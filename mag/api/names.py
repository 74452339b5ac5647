"""The names of costs and methods; written by `python -m tools.names`, do not edit."""

from typing import Literal, TypeAlias, get_args

# fmt: off
CostName: TypeAlias = Literal[
    "maxdist", "rounddown", "roundup", "sae", "sse", "sse_int",
]
MethodName: TypeAlias = Literal[
    "anneal", "auto", "cbfs_order", "dba", "kmeans_cleanup", "lmas", "matching", "md", "mdav", "mdav_order",
    "mdav_plus", "mdav_star", "mdav_star_gamma", "mona", "mona_2d", "mondrian", "mondrian_v", "mondrian_v2d", "mst",
    "mu_approx", "nearest_neighbor", "npn", "ona", "ona_local", "ona_star", "ona_star_gamma", "pcl", "projection",
    "sbm", "tfrp", "tsp", "v_mdav", "zscore",
]
FAMILIES: dict[str, list[str]] = {
    "Exchange (smallest loss)": [
        "anneal", "lmas", "ona", "ona_local", "ona_star", "ona_star_gamma",
    ],
    "Maximum distance": [
        "md", "mdav", "mdav_plus", "mdav_star", "mdav_star_gamma", "sbm", "tfrp", "v_mdav",
    ],
    "Halving (large tables)": [
        "mona", "mona_2d", "mondrian", "mondrian_v", "mondrian_v2d",
    ],
    "Order (consecutive records)": [
        "cbfs_order", "mdav_order", "npn", "projection", "tsp", "zscore",
    ],
    "Clustering": [
        "dba", "kmeans_cleanup", "mst", "mu_approx", "nearest_neighbor", "pcl",
    ],
    "Exact (k = 2 only)": [
        "matching",
    ],
}
# fmt: on
COST_NAMES: tuple[str, ...] = get_args(CostName)
