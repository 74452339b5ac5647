"""Small k, known to the compiler: every column is its own anchor, all sizes k .. 2k-1 are tried, no sums are stored.

k = 2 and 3 in panels: the costs of all groups that end in a panel, in SIMD lanes; then the recurrence, which waits for
itself, in registers; then which size it was.  Larger k in one pass: up to k columns do not depend on each other.
"""

from collections import namedtuple

import numpy as np
from numba import types
from numba.extending import intrinsic, overload

from mag._compiled.anchored_sums import AnchoredSums
from mag._compiled.cost import Number, join, left, number, right, terms
from mag._compiled.jit import INLINE, inlined, jit
from mag._compiled.lanes import lanes_at, select, spread, stripe_at
from mag._compiled.memory import Part, part, stack
from mag._compiled.work import layout, length_for, reals, space_in

PAD = 32  # copies of the first and of the last value around the values; at least 2·LARGEST_K
LARGEST_K = 11
LARGEST_PANEL_K = 3
COLUMNS_PER_STEP = 8  # columns at once, for costs that do not wait for F
PANEL = 128  # columns after which F restarts
LINE = PAD * COLUMNS_PER_STEP  # lanes of one line of sums

NUMBERS = {k: Number(k) for k in range(2, LARGEST_K + 1)}


NarrowBuffers = namedtuple("NarrowBuffers", "F inverse costs ending")


@layout
def buffers_at(space, k):
    """The memory of a solver."""
    return NarrowBuffers(
        F=reals(space, PAD + PANEL),  # column b + t of the panel at b stands at PAD + t
        inverse=reals(space, PAD),  # 1/size
        costs=reals(space, k, PANEL),  # of groups of k, k + 1 … values that end at the columns of a panel
        ending=reals(space, 2 * k - 1),  # F of the last columns
    )


def memory(k):
    """How many float64 it takes."""
    return length_for(buffers_at, k)


def solver_for(k):
    """The compiled function for this k."""
    return _panels if k <= LARGEST_PANEL_K else _fused


def resumer_for(k):
    """As `solver_for`, for the function that goes on from a state."""
    return _resume_panels if k <= LARGEST_PANEL_K else _resume_fused


@inlined
def start(tag, work):
    """The lines before the first panel."""
    memory = buffers_at(space_in(work), number(tag))
    for t in range(PAD):
        memory.F[t] = np.inf
        memory.inverse[t] = 1.0 / t
    memory.F[PAD - 1] = 0.0
    return memory


@inlined
def resume(F, state):
    """F of the columns before the first panel, from `ending` of a run that reached it."""
    known, last = part(state, 0), part(F, PAD - len(state))
    for t in range(len(state)):
        last[t] = known[t]


@inlined
def restart(F, k, m):
    """The last columns move to the front and restart near 0: the smallest that is still needed is subtracted."""
    base = np.inf
    for t in range(PAD + m - 2 * k + 1, PAD + m):
        base = min(base, F[t])
    for t in range(PAD):
        F[t] = F[t + m] - base
    return base


@inlined
def end(memory, k):
    """The ending: F of the last 2k-1 columns."""
    last = part(memory.F, PAD - (2 * k - 1))
    for t in range(2 * k - 1):
        memory.ending[t] = last[t]


@jit
def _panels(cost, tag, x, w, sizes, work):
    return in_panels(cost, tag, x, w, sizes, start(tag, work))


@jit
def _resume_panels(cost, tag, x, w, sizes, work, state):
    memory = start(tag, work)
    resume(memory.F, state)
    return in_panels(cost, tag, x, w, sizes, memory)


@jit
def _fused(cost, tag, x, w, sizes, work):
    return in_one_pass(cost, tag, x, w, sizes, start(tag, work))


@jit
def _resume_fused(cost, tag, x, w, sizes, work, state):
    memory = start(tag, work)
    resume(memory.F, state)
    return in_one_pass(cost, tag, x, w, sizes, memory)


@inlined
def in_panels(cost, tag, x, w, sizes, memory):
    k = number(tag)
    n = len(x) - 2 * PAD
    F, inverse, C = memory.F, memory.inverse, memory.costs
    values, weights, sizes = part(x, PAD), part(w, PAD), part(sizes, 0)
    sums = stripes(cost)
    past = before(tag, F)
    spent = 0.0
    for b in range(1, n + 1, PANEL):
        m = min(PANEL, n + 1 - b)
        for t in range(0, m, COLUMNS_PER_STEP):
            now = lanes_at(t, COLUMNS_PER_STEP)
            j = stripe_at(2 * k, COLUMNS_PER_STEP)
            f = AnchoredSums(values, weights, b + t - 2 * k, values[now + (b - 1)], sums, inverse)
            carry = clear(sums, j)
            for L in range(1, k):
                carry = add(sums, terms(cost, f, j - L), carry, j - L)
            for L in range(k, 2 * k):
                carry = add(sums, terms(cost, f, j - L), carry, j - L)
                C[L - k, now] = group_costs(cost, f, j, L)
        for t in range(m):
            best = past[2 * k - 2] + C[k - 1, t]
            for L in range(2 * k - 2, k - 1, -1):
                candidate = past[L - 1] + C[L - k, t]
                best = select(candidate < best, candidate, best)
            past = (best,) + past[:-1]
            F[PAD + t] = best
        for t in range(0, m, COLUMNS_PER_STEP):
            now = lanes_at(t, COLUMNS_PER_STEP)
            best, size = F[now + PAD], spread(2 * k - 1, COLUMNS_PER_STEP)
            for L in range(2 * k - 2, k - 1, -1):
                same = F[now + (PAD - L)] + C[L - k, now] == best
                size = select(same, spread(L, COLUMNS_PER_STEP), size)
            sizes[now + b] = size
        base = restart(F, k, m)
        past = minus(past, base)
        spent += base
    end(memory, k)
    return spent + F[PAD - 1]


@inlined
def in_one_pass(cost, tag, x, w, sizes, memory):
    k = number(tag)
    n = len(x) - 2 * PAD
    F, inverse = memory.F, memory.inverse
    values, weights, sizes = part(x, PAD), part(w, PAD), part(sizes, 0)
    sums = stripes(cost)
    spent = 0.0
    for b in range(1, n + 1, PANEL):
        m = min(PANEL, n + 1 - b)
        for t in range(0, m, width(tag)):
            now = lanes_at(PAD + t, width(tag))
            j = stripe_at(2 * k, width(tag))
            f = AnchoredSums(values, weights, b + t - 2 * k, values[now + (b - 1 - PAD)], sums, inverse)
            carry = clear(sums, j)
            for L in range(1, k + 1):
                carry = add(sums, terms(cost, f, j - L), carry, j - L)
            best, size = F[now - k] + group_costs(cost, f, j, k), spread(k, width(tag))
            for L in range(k + 1, 3 * k // 2):  # two short loops: LLVM unrolls each of them
                carry, best, size = consider(cost, f, F, now, j, L, (carry, best, size))
            for L in range(3 * k // 2, 2 * k):
                carry, best, size = consider(cost, f, F, now, j, L, (carry, best, size))
            F[now] = best
            sizes[now + (b - PAD)] = size
        spent += restart(F, k, m)
    end(memory, k)
    return spent + F[PAD - 1]


@inlined
def group_costs(cost, f, j, size):
    """The cost of the groups of this size that end at j."""
    i = j - size
    return join(cost, f, left(cost, f, i) + right(cost, f, j), i, j, size)


@inlined
def consider(cost, f, F, now, j, size, found):
    """Go on to groups of one value more; `found` are the sums carried on, the least cost and its size so far."""
    carry, best, best_size = found
    carry = add(f.sums, terms(cost, f, j - size), carry, j - size)
    candidate = F[now - size] + group_costs(cost, f, j, size)
    better = candidate < best
    return carry, select(better, candidate, best), select(better, size, best_size)


# ---- what depends on the number of terms or on k


@intrinsic
def stripes(typing_context, cost):
    """A line of sums per term, on the stack of the caller: that of a compiled function would end with it."""
    lines = types.UniTuple(Part(types.float64), cost.kernel.n_terms)

    def codegen(context, builder, sig, args):
        return context.make_tuple(builder, lines, [stack(builder, LINE) for _ in range(cost.kernel.n_terms)])

    return lines(cost), codegen


def clear(sums, j):
    """Every line is 0 at the column, its own anchor."""


def add(sums, values, carry, i):
    """Continue every line downwards to i; `carry` are the sums above."""


def width(tag):
    """How many columns are computed at once: no more than k, which do not depend on each other."""


def before(tag, F):
    """The 2k-1 values of F before the first column, the latest first."""


def minus(past, base):
    """Subtract from every value."""


@overload(clear, **INLINE)
def _clear(sums, j):
    if len(sums) == 0:
        return lambda sums, j: ()
    lanes = j.width

    def each(sums, j):
        nought = spread(0.0, lanes)
        sums[0][j] = nought
        return (nought,) + clear(sums[1:], j)

    return each


@overload(add, **INLINE)
def _add(sums, values, carry, i):
    if len(sums) == 0:
        return lambda sums, values, carry, i: ()

    def each(sums, values, carry, i):
        here = carry[0] - values[0]
        sums[0][i] = here
        return (here,) + add(sums[1:], values[1:], carry[1:], i)

    return each


@overload(width, **INLINE)
def _width(tag):
    lanes = 4 if tag.value < COLUMNS_PER_STEP else COLUMNS_PER_STEP
    return lambda tag: lanes


@overload(before, **INLINE)
def _before(tag, F):
    if tag.value == 2:
        return lambda tag, F: (F[PAD - 1], F[PAD - 2], F[PAD - 3])
    return lambda tag, F: (F[PAD - 1], F[PAD - 2], F[PAD - 3], F[PAD - 4], F[PAD - 5])


@overload(minus, **INLINE)
def _minus(past, base):
    if len(past) == 1:
        return lambda past, base: (past[0] - base,)
    return lambda past, base: (past[0] - base,) + minus(past[1:], base)
