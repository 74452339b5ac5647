"""Values of a column that look like codes: of missing answers, of the largest amounts, or of categories."""

from dataclasses import dataclass

import numpy as np

MAX_CATEGORIES = 20  # distinct whole numbers that may be codes of categories; amounts have more
MAX_NEGATIVE_CODES = 5  # distinct negative numbers that may be codes among amounts; debts have more
MIN_RECORDS = 3  # that share a value before it is a heap or is named
MIN_HEAP = 5  # times the records of other values that make a heap
MIN_CATEGORY_RECORDS = 20  # below which few values say nothing
MIN_VALLEY = 5  # standard deviations of a count that make a valley between two peaks
MIN_GAP = 0.1  # of the range of amounts, between the largest amount and a code
MAX_AMOUNT = 2.0**1000  # differences of larger numbers overflow
MIN_ZERO_SHARE = 0.05  # of records that make zeros a group of their own


@dataclass(frozen=True)
class Codes:
    """Values of one column that look like codes.

    `missing` : how many records have each value that looks like a missing code; `top` : how many have the largest
    value, if that looks like a top code, else 0; `categories` : how many whole values there are, if they look like
    categories, else 0; `zeros` : how many records are 0, if zeros are many among amounts, else 0.
    """

    missing: dict[float, int]
    top: int = 0
    categories: int = 0
    zeros: int = 0

    def describe_missing(self, least: int) -> str:
        """The missing codes and their records; values of fewer than `least` records are counted, not named."""
        least = max(least, MIN_RECORDS)
        texts = [f"{value:.0f} ({count} records)" for value, count in self.missing.items() if count >= least]
        hidden = [count for count in self.missing.values() if count < least]
        if hidden:
            texts.append(f"{len(hidden)} rarer {'value' if len(hidden) == 1 else 'values'} ({sum(hidden)} records)")
        return ", ".join(texts)

    def named_missing(self, least: int) -> list[str]:
        """The missing codes as options take them, CODE for one that is not named."""
        least = max(least, MIN_RECORDS)
        return [f"{value:.0f}" if count >= least else "CODE" for value, count in self.missing.items()]


def find_codes(values: np.ndarray) -> Codes:
    """Codes among the numbers of a column, without its missing cells.

    Numbers such as −9, −8, 98, 999 or 88888 look like missing codes where they are heaps, or lie far from all other
    numbers.  Few whole numbers look like categories unless their frequencies have a single peak without gaps, as those
    of counts do: persons of a household, say.
    """
    cells = np.asarray(values, np.float64)
    if cells.size and not (np.rint(cells) == cells).any() and (cells == cells.max()).sum() < MIN_RECORDS:
        return Codes({})  # codes are whole numbers, or the largest of all
    cells = cells[np.abs(cells) < MAX_AMOUNT]
    values, counts = np.unique(cells, return_counts=True)
    if values.size < 2:
        return Codes({})
    is_code = _missing_codes(values, counts)
    missing = dict(zip(values[is_code].tolist(), counts[is_code].tolist(), strict=True))
    values, counts = values[~is_code], counts[~is_code]
    if values.size <= MAX_CATEGORIES:
        return Codes(missing, categories=values.size if _are_categories(values, counts) else 0)
    top = int(counts[-1]) if counts[-1] >= max(MIN_RECORDS, MIN_HEAP * counts.mean() + 1e-9) else 0
    zeros = int(counts[values == 0].sum())
    return Codes(missing, top, zeros=zeros if zeros >= max(MIN_RECORDS, MIN_ZERO_SHARE * cells.size) else 0)


def _missing_codes(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Which of the ascending values look like missing codes."""
    usual = np.zeros(values.size, bool)
    repeated = np.flatnonzero((counts > 1) & (np.rint(values) == values))
    usual[repeated] = _are_usual_codes(values[repeated])
    amounts = np.flatnonzero(~usual)
    if amounts.size < 2:
        return np.zeros(values.size, bool)
    is_code = usual.copy()
    is_code[usual] = _are_heaps(values, counts, usual)
    low, high, spread = values[amounts[0]], values[amounts[-1]], np.ptp(values[amounts])
    many = amounts.size > MAX_CATEGORIES
    negative = values < 0
    if many and negative.sum() <= MAX_NEGATIVE_CODES and (values[negative] % 1 == 0).all():
        is_code |= negative & (counts > 1)
    for place in np.flatnonzero(usual & (values < low) & (low >= 0))[::-1]:
        apart = low - values[place] > 1
        is_code[place] |= apart
        low = low if apart else values[place]
    for place in np.flatnonzero(usual & (values > high)):
        frequent = counts[place] > max(1, counts[amounts[-1]]) if many else values[place] - high > spread
        apart = values[place] - high > max(1, MIN_GAP * spread)
        is_code[place] |= apart and frequent
        high = high if apart else values[place]
    return is_code


def _are_usual_codes(values: np.ndarray) -> np.ndarray:
    """Which whole numbers are −1 to −9, or of either sign 77, 88, 97, 98, 99, 777, 888, 997 …"""
    size = np.abs(values)
    with np.errstate(divide="ignore", over="ignore"):
        power = 10.0 ** np.ceil(np.log10(size + 1))
    repeated = np.isin(size, [(10**digits - 1) // 9 * digit for digits in range(2, 16) for digit in (7, 8)])
    long = (size >= 10) & (size < 1e15) & ((size >= power - 3) | repeated)
    return long | ((values < 0) & (size < 10))


def _are_heaps(values: np.ndarray, counts: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Which usual codes many more records have than other values and than the next whole numbers."""
    codes = values[usual]
    least = np.full(codes.size, max(MIN_RECORDS, MIN_HEAP * counts[~usual].mean()))
    for step in (-1, 1):
        place = np.minimum(np.searchsorted(values, codes + step), values.size - 1)
        beside = np.where(values[place] == codes + step, counts[place], 0)
        least = np.maximum(least, MIN_HEAP * beside)
    return counts[usual] >= least


def _are_categories(values: np.ndarray, counts: np.ndarray) -> bool:
    """Whether few whole numbers are more likely names of categories than counts of something."""
    if (
        values.size < 2
        or counts.sum() < MIN_CATEGORY_RECORDS
        or (values % 1 != 0).any()
        or np.abs(values).max() > 2**53
    ):
        return False
    steps = np.diff(values).astype(np.int64)
    if values.size == 2:
        return bool(steps[0] > 1)
    gaps = steps > np.gcd.reduce(steps)
    heights = np.insert(counts, np.flatnonzero(gaps) + 1, 0)
    peak = np.minimum(np.maximum.accumulate(heights), np.maximum.accumulate(heights[::-1])[::-1])
    return bool((peak - heights > MIN_VALLEY * np.sqrt(peak)).any())
