"""Numbers of rows and groups, compared with sorting and with dictionaries."""

import numpy as np
import pytest

from mag._lib.number import find_first_rows, number_by_first_row, number_rows


@pytest.mark.parametrize("n", [0, 1, 50, 3000])
@pytest.mark.parametrize("size", [3, 900, 10**6, 2**40, 2**61])
@pytest.mark.parametrize("is_told", [False, True])
def test_rows_are_numbered_however_many_combinations_there_are(n, size, is_told):
    rng = np.random.default_rng(2)
    columns = [rng.choice(rng.integers(0, size, 3), n) for _ in range(4)]
    numbers = number_rows(columns, [size] * 4 if is_told else None)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    kinds = sorted(set(rows))
    assert numbers.tolist() == [kinds.index(row) for row in rows]
    assert find_first_rows(numbers).tolist() == [rows.index(kind) for kind in kinds]


def test_groups_are_numbered_by_their_first_rows():
    labels = np.random.default_rng(3).permutation(np.repeat(np.arange(40, dtype=np.int32), 3))
    seen = {}
    expected = [seen.setdefault(label, len(seen)) for label in labels.tolist()]
    numbers = number_by_first_row(labels)
    assert numbers.tolist() == expected
    assert numbers.dtype == np.int32
