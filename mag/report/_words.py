"""What each number means, in one sentence, and where it comes from."""

from collections.abc import Callable
from typing import NamedTuple

from mag.report._text import figure, share, tally

DOMINGO = "Domingo-Ferrer & Torra 2001"
MATEO = "Mateo-Sanz, Sebé & Domingo-Ferrer 2004"


class Measure(NamedTuple):
    """A row of the tables of risk and utility."""

    label: str
    meaning: str
    source: str
    text: Callable[[float], str]


LOOKED_AT = {
    "records": "Computed on",
    "incomplete_records": "left out because of missing cells:",
    "linkage_sample": "linkage on",
    "propensity_records": "the model on",
}

RISK = {
    "k_anonymity": Measure(
        "Smallest class",
        "The smallest number of records with equal values in the masked columns.",
        "Sweeney 2002",
        tally,
    ),
    "uniques": Measure(
        "Unique records",
        "Records that no other record equals in the masked columns.",
        "Hundepool et al. 2012",
        tally,
    ),
    "distance_linkage": Measure(
        "Linked by distance",
        "Share of the records that an intruder identifies who knows the true values exactly and picks the nearest "
        "published record. At most 1/k in a k-anonymous table.",
        DOMINGO,
        share,
    ),
    "rank_linkage": Measure(
        "Linked by rank",
        "The same for an intruder who compares ranks instead of values.",
        "Muralidhar & Domingo-Ferrer 2016",
        share,
    ),
    "sd_interval_disclosure": Measure(
        "Interval disclosure (standard deviation)",
        "Share of the values within a small part of a standard deviation of the published value. High where a "
        "column has few distinct values, even if no record is identified.",
        MATEO,
        share,
    ),
    "rank_interval_disclosure": Measure(
        "Interval disclosure (rank)",
        "Share of the values between the published values of about the same rank.",
        DOMINGO,
        share,
    ),
}

UTILITY = {
    "ncp": Measure(
        "Normalized certainty penalty",
        "How much wider than a value groups are: ranges of numbers, shares of the leaves of hierarchies.",
        "Xu et al. 2006",
        share,
    ),
    "gower_distance": Measure(
        "Distance of published cells",
        "How far a published cell is from the value: differences in the range of a column, ranks, the loss of the "
        "closest common ancestor, 0 or 1 without a hierarchy.",
        "Gower 1971",
        share,
    ),
    "total_variation": Measure(
        "Change of frequencies",
        "Share of the records that would have to move between categories to restore their frequencies. A published "
        "ancestor counts evenly for all categories below it.",
        "Levin & Peres 2017",
        share,
    ),
    "information_loss": Measure(
        "Information loss",
        "Share of the variation between records that is lost by averaging: SSE / SST of standardized columns.",
        "Domingo-Ferrer & Mateo-Sanz 2002",
        share,
    ),
    "il1s": Measure(
        "Mean change of a value (IL1s)",
        "Mean absolute change of a value, in standard deviations of its column times √2.",
        MATEO,
        figure,
    ),
    "share_change": Measure(
        "Largest change of a share",
        "Every column is divided into up to 20 bins of equal counts: the largest change of the share of the records "
        "in a bin, over all bins and columns.",
        "mag",
        share,
    ),
    "correlation_difference": Measure(
        "Mean change of a correlation",
        "Mean absolute change of the correlation of two columns, from 0 (none) to 2.",
        DOMINGO,
        figure,
    ),
    "eigenvalue_difference": Measure(
        "Change of the principal components",
        "Relative change of the eigenvalues of the correlation matrix, summed.",
        "Templ & Meindl 2008",
        figure,
    ),
    "propensity_mse": Measure(
        "Distinguishability (pMSE)",
        "How well a logistic regression separates published from original records: 0 not at all, 0.25 perfectly.",
        "Woo, Reiter, Oganian & Karr 2009",
        figure,
    ),
}
