"""Values of a column that look like codes: codes for missing values, which would be averaged as amounts, and top codes.

The notes go to the terminal of the data's owner and into no file.  A value is named only where at least k records have
it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mag.commands._output import warn

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

AMOUNT = 20  # distinct values that a column has more of if it holds amounts, not categories
CODES = 5  # distinct negative values that may be codes; amounts below zero have more
HEAP = 5  # times the records of other values that make a heap of the largest
MIN_SHARED_RECORDS = 3  # records that must share a value, for every k, before it counts as a heap or is named


def note_codes(frame: "pl.DataFrame", columns: Sequence[str], k: Any, quiet: bool) -> None:
    """Print which columns have values that look like codes."""
    for name in () if quiet else columns:
        if frame[name].dtype.is_numeric():
            least = k.get(name, MIN_SHARED_RECORDS) if isinstance(k, Mapping) else k
            for sentence in describe_codes(frame[name], max(least, MIN_SHARED_RECORDS)):
                warn(sentence)


def describe_codes(column: "pl.Series", least: int) -> list[str]:
    """Sentences about one column; values that fewer than `least` records have are counted, not named."""
    import numpy as np
    import polars as pl

    cells = column.alias("").cast(pl.Float64).drop_nulls().drop_nans().to_numpy()
    if cells.size == 0 or ((cells == cells.max()).sum() == 1 and (cells < 0).sum() < 2):
        return []  # without the sorting
    values, counts = np.unique(cells, return_counts=True)
    if values.size <= AMOUNT:
        return []
    codes = _missing_codes(values, counts)
    sentences = []
    if codes:
        texts = [f"{value:.0f} ({count} records)" for value, count in codes.items() if count >= least]
        hidden = {value: count for value, count in codes.items() if count < least}
        if hidden:
            words = "rarer value" if len(hidden) == 1 else "rarer values"
            texts.append(f"{len(hidden)} {words} ({sum(hidden.values())} records)")
        declared = ",".join("CODE" if value in hidden else f"{value:.0f}" for value in codes)
        sentences.append(
            f"column {column.name!r} has values that look like missing codes: {', '.join(texts)}. They are averaged as "
            f"numbers unless you declare them: --null {column.name}={declared}"
        )
    amounts = counts[~np.isin(values, list(codes))]
    if amounts[-1] >= MIN_SHARED_RECORDS and amounts[-1] > HEAP * amounts.mean():
        sentences.append(
            f"the largest value of column {column.name!r} occurs in {amounts[-1]} records, like a top code; masking "
            "averages it with smaller values."
        )
    return sentences


def _missing_codes(values: "np.ndarray", counts: "np.ndarray") -> dict[float, int]:
    """Of ascending amounts: few repeated negative whole numbers, and a repeated largest number 99…9."""
    below = int((values < 0).sum())
    codes: dict[float, int] = {}
    if below <= CODES and (values[:below] % 1 == 0).all() and counts[:below].sum() <= counts.sum() / 2:
        codes = {float(values[place]): int(counts[place]) for place in range(below) if counts[place] > 1}
    top = f"{values[-1]:.0f}"
    if len(top) > 1 and set(top) == {"9"} and values[-1] % 1 == 0 and counts[-1] > max(1, counts[-2]):
        codes[float(values[-1])] = int(counts[-1])
    return codes
