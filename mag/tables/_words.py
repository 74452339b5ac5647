"""Words in names of columns that identifiers, units, weights and sensitive columns have."""

import re
from collections.abc import Hashable


def split_words(name: Hashable) -> frozenset[str]:
    """The words of a name: hhId, hh_id and "HH id" have the words hh and id."""
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", str(name))
    return frozenset(word.casefold() for word in re.findall(r"[^\W\d_]+", split))


IDENTIFIERS = split_words(
    "id uid uuid name surname firstname lastname forename fullname ssn passport email mail phone telephone mobile "
    "fax address street iban account url ip login user pid hid hhid"
)
HOUSEHOLDS = split_words("household hh family hid hhid")
UNITS = split_words("person patient firm customer client pupil student subject pid") | HOUSEHOLDS
SENSITIVE = split_words(
    "disease diagnosis diagnoses illness health hiv disability medication drug drugs religion belief party vote "
    "crime conviction sexuality orientation"
)
KNOWN = split_words(
    "age sex gender birth born birthday dob zip zipcode plz postcode postal city town municipality region county "
    "state district country nationality citizenship race ethnicity marital education degree school job occupation "
    "profession workclass industry children language height"
)
WEIGHTS = split_words("weight weights wt wgt pweight")


def is_name_of_units(name: Hashable) -> bool:
    """Whether a column is called like an identifier of people or households."""
    words = split_words(name)
    return bool(words & UNITS and words & IDENTIFIERS)
