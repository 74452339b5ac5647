"""Classes counted in little memory: as many, and as large, as all at once."""

import collections

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mag._lib import class_counter
from mag._lib.class_counter import ClassCounter
from mag._lib.rowhash import count_classes, uncounted

BLOCKS = st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=30), max_size=8)


def hashes(rows):
    """Words whose leading bits differ, so that they fall into several ranges."""
    first, second = np.array(rows, np.uint64).reshape(-1, 2).T
    return first << np.uint64(61), second.copy()


@given(blocks=BLOCKS, memory=st.sampled_from([1, 128, 1280, 10**6]), counted=st.booleans())
def test_sizes_are_those_of_all_blocks_at_once(blocks, memory, counted):
    counter = ClassCounter(memory)
    for rows in blocks:
        counter.add((count_classes if counted else uncounted)(hashes(rows)))
    expected = collections.Counter(row for rows in blocks for row in rows)
    assert sorted(np.concatenate(list(counter.sizes())).tolist()) == sorted(expected.values())


def test_few_rows_are_in_memory_at_a_time(monkeypatch, tmp_path):
    collected = []
    original = class_counter.sizes_of_classes

    def measured(blocks):
        collected.append(sum(block.first.size for block in blocks))
        return original(blocks)

    monkeypatch.setattr(class_counter, "sizes_of_classes", measured)
    counter = ClassCounter(128 * 1000, tmp_path)
    rng = np.random.default_rng(0)
    for _ in range(20):
        words = rng.integers(0, 2**64, 900, np.uint64)
        counter.add(uncounted((words, words[::-1].copy())))
    assert sum(sizes.sum() for sizes in counter.sizes()) == 18_000
    assert max(collected) <= 1000
    assert not list(tmp_path.iterdir())


def test_a_file_that_was_cut_is_noticed():
    counter = ClassCounter(128)
    words = np.arange(4, dtype=np.uint64)
    counter.add(uncounted((words, words.copy())))
    counter._file.truncate(8)
    with pytest.raises(OSError, match="incomplete"):
        list(counter.sizes())
