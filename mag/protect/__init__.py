"""Protection of single columns that gives no k: coding, rounding, swapping and randomizing.

Each function returns a table of the same kind with some columns changed.  None of them promises that records are equal
to others: use them before `mag.microaggregate`, or for columns that are kept.  One function a file, `top_bottom` with
two.
"""

from mag.protect.pram import invariant_matrix, pram
from mag.protect.round_to import round_to
from mag.protect.swap import swap
from mag.protect.top_bottom import bottom_code, top_code

__all__ = ["bottom_code", "invariant_matrix", "pram", "round_to", "swap", "top_code"]
