"""Cell suppression, written down plainly: what equals what, and the fewest cells by trying all patterns."""

import itertools


def equal(first, second, wildcard):
    """Whether two records, tuples with None for missing cells, count as equal."""
    if wildcard:
        return all(a is None or b is None or a == b for a, b in zip(first, second, strict=True))
    return first == second


def holds(records, demands, wildcard, units=None, strata=None):
    """Whether every record equals k records, itself included, in the columns of every demand (columns, k).

    With units, the units of these records count; with strata, records equal those of their stratum only.
    """
    return all(count(records, columns, wildcard, units, strata) >= k for columns, k in demands)


def count(records, columns, wildcard, units=None, strata=None):
    """The least number of records, or units, that equal a record in some columns."""
    units = range(len(records)) if units is None else units
    strata = [None] * len(records) if strata is None else strata
    rows = [(tuple(record[j] for j in columns), *own) for record, *own in zip(records, units, strata, strict=True)]
    return min(
        len({unit for other, unit, place in rows if place == stratum and equal(cells, other, wildcard)})
        for cells, _, stratum in rows
    )


def fewest(records, demands, prices, wildcard):
    """The least price of suppressed cells, over all patterns of all records."""
    patterns = list(itertools.product([False, True], repeat=len(prices)))
    best = None
    for chosen in itertools.product(patterns, repeat=len(records)):
        price = sum(p for pattern in chosen for p, gone in zip(prices, pattern, strict=True) if gone)
        if best is not None and price >= best:
            continue
        table = [
            tuple(None if gone else cell for cell, gone in zip(record, pattern, strict=True))
            for record, pattern in zip(records, chosen, strict=True)
        ]
        if holds(table, demands, wildcard):
            best = price
    return best
