"""The risk that an intruder finds one member of a household, and with it all of them."""

import numpy as np

from mag._lib.number import number_rows


def household_risk(risk: np.ndarray, household: np.ndarray, units: np.ndarray | None = None) -> np.ndarray:
    """For every record, ``1 − Π (1 − r)`` over the members of its household.

    With units, each is one member, with the largest risk of its records in the household.

    Examples
    --------
    >>> import numpy as np
    >>> from mag.risk.household import household_risk
    >>> household_risk(np.array([0.5, 0.5, 0.1]), np.array([0, 0, 1]))
    array([0.75, 0.75, 0.1 ])
    """
    home = number_rows([household])
    member = np.arange(home.size) if units is None else number_rows([home, units])
    risks, homes = np.zeros(int(member.max(initial=-1)) + 1), np.zeros(int(member.max(initial=-1)) + 1, np.int64)
    np.maximum.at(risks, member, risk)
    homes[member] = home
    with np.errstate(divide="ignore"):  # a risk of 1
        logs = np.bincount(homes, np.log1p(-risks))
    return -np.expm1(logs)[home]
