"""The strata of partitions, numbered alike in all: combinations of cells that `verify` counts as equal."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._lib.rowhash import classes
from mag.distributed._cells import hash_records
from mag.methods.distances.partition import require_strata


@dataclass(frozen=True)
class LocalStrata:
    """The strata of one partition: the number of each record's, the hashes of each stratum, and how many records."""

    numbers: np.ndarray
    hashes: list[tuple[int, int]]
    sizes: np.ndarray


def find_strata(partition: Any, by: Sequence[Hashable]) -> LocalStrata:
    """The strata of a pandas frame."""
    hashes = hash_records(partition[list(by)])
    _, first, numbers = np.unique(classes(list(hashes)), return_index=True, return_inverse=True)
    pairs = zip(*(lane[first].tolist() for lane in hashes), strict=True)
    return LocalStrata(numbers, list(pairs), np.bincount(numbers, minlength=first.size))


def drop_numbers(local: LocalStrata) -> LocalStrata:
    """The strata of a partition, without those of its records."""
    return LocalStrata(local.numbers[:0], local.hashes, local.sizes)


def number_strata(partitions: list[LocalStrata], k: int) -> dict[tuple[int, int], int]:
    """How many records each stratum has, in the order of their numbers; raise an error where these are fewer than k."""
    sizes: dict[tuple[int, int], int] = {}
    for local in partitions:
        for pair, size in zip(local.hashes, local.sizes.tolist(), strict=True):
            sizes[pair] = sizes.get(pair, 0) + size
    require_strata(np.array([*sizes.values()], np.int64), k)
    return dict(sorted(sizes.items()))


def take_numbers(local: LocalStrata, sizes: dict[tuple[int, int], int]) -> np.ndarray:
    """The number of the stratum of every record of a partition."""
    number = {pair: i for i, pair in enumerate(sizes)}
    return np.array([number[pair] for pair in local.hashes], np.int64)[local.numbers]


def take_sizes(sizes: dict[tuple[int, int], int]) -> np.ndarray:
    """How many records each stratum has."""
    return np.array([*sizes.values()], np.int64)
