"""Disclosure risk of a published table.  Each measure is a file, and a line of the table."""

from mag.privacy._interval import IntervalDisclosure
from mag.privacy._linkage import Linkage
from mag.privacy.class_sizes import class_sizes
from mag.privacy.closeness_utility import closeness_utility
from mag.privacy.distance_linkage import distance_linkage
from mag.privacy.distinct_l_diversity import distinct_l_diversity
from mag.privacy.entropy_l_diversity import entropy_l_diversity
from mag.privacy.k_anonymity import k_anonymity
from mag.privacy.k_degree import k_degree
from mag.privacy.mt_closeness import mt_closeness
from mag.privacy.rank_interval_disclosure import rank_interval_disclosure
from mag.privacy.rank_linkage import rank_linkage
from mag.privacy.reidentification_risk import reidentification_risk
from mag.privacy.sd_interval_disclosure import sd_interval_disclosure
from mag.privacy.t_closeness import t_closeness
from mag.privacy.uniques import uniques

MEASURES = {
    "class_sizes": class_sizes,
    "closeness_utility": closeness_utility,
    "distance_linkage": distance_linkage,
    "distinct_l_diversity": distinct_l_diversity,
    "entropy_l_diversity": entropy_l_diversity,
    "k_anonymity": k_anonymity,
    "k_degree": k_degree,
    "mt_closeness": mt_closeness,
    "rank_interval_disclosure": rank_interval_disclosure,
    "rank_linkage": rank_linkage,
    "reidentification_risk": reidentification_risk,
    "sd_interval_disclosure": sd_interval_disclosure,
    "t_closeness": t_closeness,
    "uniques": uniques,
}
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
