"""Disclosure risk of a published table: the names that users call; the code is in `mag.measures`."""

from mag.measures.classes import class_sizes, k_anonymity, k_degree, reidentification_risk, uniques
from mag.measures.closeness import mt_closeness, t_closeness
from mag.measures.diversity import closeness_utility, distinct_l_diversity, entropy_l_diversity
from mag.measures.intervals import IntervalDisclosure, rank_interval_disclosure, sd_interval_disclosure
from mag.measures.linkage import Linkage, distance_linkage, rank_linkage

__all__ = [  # in words, so that type checkers can read it
    "IntervalDisclosure",
    "Linkage",
    "class_sizes",
    "closeness_utility",
    "distance_linkage",
    "distinct_l_diversity",
    "entropy_l_diversity",
    "k_anonymity",
    "k_degree",
    "mt_closeness",
    "rank_interval_disclosure",
    "rank_linkage",
    "reidentification_risk",
    "sd_interval_disclosure",
    "t_closeness",
    "uniques",
]
MEASURES = {name: globals()[name] for name in __all__[2:]}
