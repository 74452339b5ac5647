"""Raw memory that is read and written like arrays, and layouts that cut it."""

from collections import namedtuple

import numba
import numpy as np
import pytest

from mag._compiled.jit import called
from mag._compiled.lanes import falling, lanes_at, spread, stripe_at
from mag._compiled.memory import grid, part
from mag._compiled.work import Room, integers, layout, reals, rest_of, space_in, work_for

WIDE = 4


@numba.njit
def _parts(x, out):
    a, b = part(x, 3), part(out, 0)
    b[0] = a[0]
    b[1] += a[1]
    b[2] -= a[np.uint8(2)]
    b[3] *= 2


def test_a_part_is_read_and_written_like_an_array():
    out = np.array([0.0, 1.0, 2.0, 3.0])
    _parts(np.arange(10.0), out)
    assert out.tolist() == [3.0, 5.0, -3.0, 6.0]


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32, np.int64, np.float32, np.float64])
def test_a_part_keeps_the_type_of_its_array(dtype):
    @numba.njit
    def add(x):
        a = part(x, 1)
        a[0] = a[1] + 300
        return a[0]

    x = np.array([1, 2, 3, 4], dtype)
    with np.errstate(over="ignore"):
        expected = np.array(303).astype(dtype)
    assert add(x) == expected  # cut to the array's size
    assert x.tolist() == [1, expected, 3, 4]


@numba.njit
def _with_lanes(x, out):
    a, b = part(x, 0), grid(out, WIDE)
    b[0, lanes_at(0, WIDE)] = a[lanes_at(5, WIDE)] + a[lanes_at(0, WIDE)]
    b[1, lanes_at(0, WIDE)] = a[falling(7, WIDE)]
    b[2, lanes_at(0, WIDE)] = a[stripe_at(2, WIDE)]
    b[3, lanes_at(0, WIDE)] = spread(1.5, WIDE)
    b[3, lanes_at(0, WIDE)] += a[lanes_at(1, WIDE)]
    b[4, lanes_at(0, WIDE)] = a[spread(6, WIDE) + lanes_at(0, WIDE)]


def test_an_index_with_lanes_loads_and_stores_neighbors():
    out = np.zeros((5, WIDE))
    _with_lanes(np.arange(20.0), out)
    assert out.tolist() == [[5, 7, 9, 11], [7, 6, 5, 4], [8, 9, 10, 11], [2.5, 3.5, 4.5, 5.5], [6, 7, 8, 9]]


@numba.njit
def _cube(x, rows, columns):
    cube, total = grid(x, rows, columns), 0.0
    for i in range(2):
        for r in range(rows):
            for c in range(columns):
                total += cube[i, r, c] * cube[i][r, c] * cube[i, r][c] * cube[i][r][c]
    cube[1, 2, 3] = -1.0
    cube[0][1, 0] = -2.0
    return total


@numba.njit
def _cube_of_constants(x):
    cube = grid(x, 3, WIDE)
    return cube[1, 2, 3], cube[1][2][3], cube[1, 2][3]


def test_a_grid_has_as_many_dimensions_as_lengths_and_one():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert _cube_of_constants(x) == (23.0, 23.0, 23.0)
    assert _cube(x, 3, 4) == (np.arange(24.0) ** 4).sum()
    assert (x[1, 2, 3], x[0, 1, 0]) == (-1.0, -2.0)


@pytest.mark.parametrize("wrong", ["a[0, 0]", "a[0.5]", "rows[0, 0, 0]", "rows[lanes_at(0, 4)]"])
def test_an_index_that_fits_nothing_is_refused_by_the_compiler(wrong):
    names = {"part": part, "grid": grid, "lanes_at": lanes_at}
    exec(f"def f(x):\n    a, rows = part(x, 0), grid(x, 2)\n    return {wrong}", names)
    with pytest.raises(numba.TypingError, match="getitem"):
        numba.njit(names["f"])(np.zeros(8))


Little = namedtuple("Little", "x ids rows n")


@layout
def _little_at(space, rows, n, d):
    return Little(
        x=reals(space, n, d, WIDE),
        ids=integers(space, n),
        rows=rows,
        n=n,
    )


@layout
def _two_at(space, n, d):
    return _little_at(space, reals(space, d), n, d), integers(space, 2, n)


@called
def _spend(space, value):
    own = rest_of(space)
    memory = reals(own, 2)
    memory[0] = memory[1] = value


@numba.njit
def _fill_two(work, n, d):
    space = space_in(work)
    little, pairs = _two_at(space, n, d)
    for i in range(n):
        little.ids[i] = 10 + i
        pairs[0, i] = 20 + i
        pairs[1, i] = 30 + i
        for j in range(d):
            little.rows[j] = 40.0 + j
            for lane in range(WIDE):
                little.x[i, j, lane] = 100 * i + 10 * j + lane
    _spend(space, 1.0)
    _spend(space, 2.0)
    return space.used[0], space.used[1]


def test_a_layout_measures_in_python_what_it_cuts_in_compiled_code():
    n, d = 3, 2
    room = Room()
    _two_at(room, n, d)
    assert (room.reals, room.integers) == (d + n * d * WIDE, 3 * n)
    work = work_for(_two_and_rest_at, n, d)
    assert _fill_two(work, n, d) == (room.reals, room.integers)
    coordinates = [100 * i + 10 * j + lane for i in range(n) for j in range(d) for lane in range(WIDE)]
    assert work.reals.tolist() == [40.0, 41.0, *coordinates, 2.0, 2.0]  # what `_spend` took is free again
    assert work.integers.tolist() == [10, 11, 12, 20, 21, 22, 30, 31, 32]


def _two_and_rest_at(space, n, d):
    _two_at(space, n, d)
    reals(space, 2)
