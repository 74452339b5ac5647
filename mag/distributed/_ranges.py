"""A column in chunks, dealt into ranges of values: every range is a stretch of the stable sort of the whole column.

Chunks are sorted, regular samples of them determine the cuts (Shi & Schaeffer 1992), and ranges merge the values
between two cuts.  A cut is a value with its position among equal ones, so that a constant column is divided as evenly
as any other.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mag._backends.safety import FLOAT64_EXACT, MODERATE
from mag._compiled.groups import distance
from mag._compiled.sort import sort
from mag._lib.checks import not_finite, refuse
from mag._lib.errors import InputValueError

SAMPLES = 32  # of each chunk, per range


@dataclass(frozen=True)
class Arranged:
    """A chunk, sorted: floats as float64; `order` as np.argsort gives it, None where the chunk was sorted already.

    `nans` and `infinities` were counted; where there are any, nothing was sorted.
    """

    values: np.ndarray
    order: np.ndarray | None
    size: int
    nans: int
    infinities: int


@dataclass(frozen=True)
class Deal:
    """Where ranges begin: a value, the chunk it was seen in, and its place there.  How values are read by the solver.

    Integers are read as distances from `base`, floats divided by 2**`scale`.
    """

    cuts: list[tuple[Any, int, int]]
    base: Any
    scale: int


@dataclass(frozen=True)
class Range:
    """Consecutive values of the sorted column, their positions in the pieces put together, and the sizes of these."""

    values: np.ndarray
    order: np.ndarray | None
    sizes: list[int]


def arrange(chunk: Any) -> Arranged:
    """Sort one chunk."""
    x = np.asarray(chunk)
    x = x.view(np.uint8) if x.dtype.kind == "b" else x
    nans, infinities = not_finite(x)
    if nans or infinities or not x.size:
        return Arranged(x[:0], None, x.size, nans, infinities)
    return Arranged(*_sort(x), x.size, 0, 0)


def sample(arranged: Arranged, ranges: int) -> tuple[Arranged, np.ndarray]:
    """Summarize a chunk for the deal: its counts, its ends, and the positions of the sampled values."""
    places = np.unique(np.linspace(0, max(arranged.values.size - 1, 0), SAMPLES * ranges).astype(np.int64))
    places = places[: arranged.values.size]
    values = arranged.values[places]
    return Arranged(values, None, arranged.size, arranged.nans, arranged.infinities), places


def deal(samples: list[tuple[Arranged, np.ndarray]], ranges: int, name: str) -> Deal:
    """Cuts between ranges of about the same size, from the samples of all chunks."""
    nans, infinities = (sum(getattr(one, what) for one, _ in samples) for what in ("nans", "infinities"))
    if nans or infinities:
        refuse(name, nans, infinities)
    values = np.concatenate([one.values for one, _ in samples])
    chunks = np.repeat(np.arange(len(samples)), [places.size for _, places in samples])
    places = np.concatenate([places for _, places in samples])
    # a sampled value represents those up to the next one
    share = np.concatenate([np.diff(np.append(places, one.size)) for one, places in samples])
    order = np.lexsort([places, chunks, values])
    below = np.cumsum(share[order]) - share[order]
    targets = np.arange(1, ranges) * (share.sum() / ranges)
    cuts = [
        (values[i], int(chunks[i]), int(places[i])) for i in order[np.searchsorted(below, targets)[: ranges - 1] - 1]
    ]
    low, high = values[order[0]], values[order[-1]]
    if values.dtype.kind == "f":
        exponent = math.frexp(max(-low, high))[1]
        return Deal(cuts, None, exponent if abs(exponent) > MODERATE else 0)
    if int(high) - int(low) >= FLOAT64_EXACT:
        raise InputValueError(f"{name} must hold integers within a range of 2**53; use mag.univariate for wider ones.")
    return Deal(cuts, low, 0)


def split(arranged: Arranged, chunk: int, dealt: Deal) -> list[np.ndarray]:
    """The values of a chunk that belong to each range."""
    values, edges = arranged.values, [0]
    for value, seen_in, place in dealt.cuts:
        if seen_in == chunk:
            edges.append(place)
        else:
            edges.append(int(np.searchsorted(values, value, "left" if seen_in < chunk else "right")))
    edges.append(values.size)
    return [values[begin:end] for begin, end in itertools.pairwise(edges)]


def merge(pieces: list[np.ndarray]) -> Range:
    """A range from its pieces, one of each chunk in order."""
    values, order = _sort(np.concatenate(pieces))
    return Range(values, order, [piece.size for piece in pieces])


def split_results(results: np.ndarray, merged: Range) -> list[np.ndarray]:
    """Results for the values of a range, as the pieces that these came in."""
    if merged.order is not None:
        scattered = np.empty_like(results)
        scattered[merged.order] = results
        results = scattered
    return np.split(results, np.cumsum(merged.sizes)[:-1])


def restore(arranged: Arranged, pieces: list[np.ndarray]) -> np.ndarray:
    """Results for the values of a chunk, in its own order, from the pieces of all ranges."""
    results = np.concatenate(pieces)
    if arranged.order is None:
        return results
    restored = np.empty_like(results)
    restored[arranged.order] = results
    return restored


def numbers(merged: Range, dealt: Deal) -> np.ndarray:
    """The values as the solver reads them."""
    values = merged.values
    if values.dtype.kind != "f":
        return distance(values, np.asarray(dealt.base).reshape(1)).astype(np.float64)
    return np.ldexp(values, -dealt.scale) if dealt.scale else values


def _sort(x: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    if not x.size:
        return x.astype(np.float64 if x.dtype.kind == "f" else x.dtype), None
    values, order = sort(np.ascontiguousarray(x, np.float64 if x.dtype.kind == "f" else None))
    return values.copy(), order
