"""The interface of a criterion."""

from typing import Protocol

import numpy as np


class Criterion(Protocol):
    """A condition on the sensitive values of every class; `counts` are classes × values, `totals` the whole table's."""

    @property
    def rises(self) -> bool:
        """Whether a larger measure is better."""

    def holds(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Whether each class satisfies it, decided in integers."""

    def measure(self, counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """The measure that the criterion bounds, as a float for each class."""

    def why_not(self, totals: np.ndarray, column: object) -> str | None:
        """Why no classes of this table can satisfy it, as a sentence; None where the table as one class does."""
