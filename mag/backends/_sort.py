"""Stable argsort of numbers: deal them into buckets that follow the distribution, then sort each inside the cache.

Numbers travel as int64 words: the bits of a float64, or the integer itself.  `rank` turns a word into an integer of
the same order; -0.0 and 0.0 rank alike, so that ties stay in index order.

1. Every value gets a place, an integer that never descends as values ascend (`place`).  Its upper bits name a bucket,
   the 32 bits below go with the record: 16 bytes, the word, then the lower place beside the index.
2. `deal` counts the buckets and fills them, in index order.
3. `finish` deals each bucket once more, by the lower place and straight into the result, about one slot per value, and
   exchanges what is still out of order.  Nothing is read at random from outside the cache.
4. Buckets that are too large for that, or would take too many exchanges, are pending: `resolve` deals each again, by
   rank.  Every such round consumes at least LEAST_BITS bits of the rank, so that no input takes more than nine.
"""

import threading

import numpy as np
from numba.core import types
from numba.extending import intrinsic

from mag._jit import called, inlined, jit
from mag._lanes import at, put

U = np.uint64
MAX, TOP = np.int64(2**63 - 1), U(2**63)

FEWEST = 200  # below this many values, numpy's own sort
SAMPLE = 32  # values that choose the centre and the scale of the places
PER_BUCKET = 9  # 2**9 values a bucket, so that its records and slots stay in 32 KB of first-level cache
LEAST_BITS, MOST_BITS = 8, 12  # of a bucket's name
SLOT_BITS = 13  # of a slot's name
LARGEST = 2**14  # values in a bucket that `finish` takes
MOVES = 4  # that insertion may take per value


@intrinsic
def recast(typing_context, number, like):
    """The bits of a number as a number of the other's type."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], args[1].type)

    return like(number, like), codegen


@intrinsic
def width(typing_context, number):
    """How many bits an unsigned number takes."""

    def codegen(context, builder, signature, args):
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, False))
        return builder.sub(context.get_constant(types.int64, 64), zeros)

    return types.int64(types.uint64), codegen


@inlined
def rank(word, real):
    """An integer in the order of the values; `real` is -1 for the bits of a float64 and 0 for integers."""
    sign = (word >> 63) & real
    return (word ^ (sign & MAX)) - sign


@inlined
def place(word, real, centre, scale):
    """Linear in the value near the centre, logarithmic far from it: the bits of |value - centre| + scale, signed.

    Every step rounds monotonically, so no place descends, even where the difference overflows.
    """
    offset = (recast(word, 0.0) if real else float(word)) - centre
    size = recast(abs(offset) + scale, word) - recast(scale, word)
    return -size if offset < 0 else size


@called
def finish(records, begin, end, counts, words, order, real):
    """Sort one bucket into the result; False if that takes too many moves."""
    n = end - begin
    bits = width(n) if n < 1 << SLOT_BITS else SLOT_BITS
    down = U(64 - bits)
    for slot in range(1 << bits):
        put(counts, slot, 0)
    for i in range(begin, end):
        slot = at(records, 2 * i + 1) >> down
        put(counts, slot, at(counts, slot) + 1)
    start = begin
    for slot in range(1 << bits):
        count = at(counts, slot)
        put(counts, slot, start)
        start += count
    for i in range(begin, end):
        tail = at(records, 2 * i + 1)
        slot = tail >> down
        position = at(counts, slot)
        put(counts, slot, position + 1)
        put(words, position, at(records, 2 * i))
        put(order, position, tail)
    # Most disorder is two neighbours exchanged.  Carrying the largest value so far along mends that without a branch
    # to mispredict; what remains is inserted where it belongs.
    moves = MOVES * n + 512
    most_word, most_index = at(words, begin), at(order, begin)
    most = rank(most_word, real)
    last = most
    for i in range(begin + 1, end):
        word, index = at(words, i), at(order, i)
        here = rank(word, real)
        below = here < most
        least_word = word if below else most_word
        least_index = index if below else most_index
        least = here if below else most
        most_word = most_word if below else word
        most_index = most_index if below else index
        most = most if below else here
        j = i - 1
        if least < last and j > begin:
            while j > begin and rank(at(words, j - 1), real) > least:
                put(words, j, at(words, j - 1))
                put(order, j, at(order, j - 1))
                j -= 1
            moves -= i - j
            if moves < 0:
                return False
        else:
            last = least
        put(words, j, least_word)
        put(order, j, least_index)
    put(words, end - 1, most_word)
    put(order, end - 1, most_index)
    return True


@called
def deal(source, indexes, begin, low, high, bits, records, counts, slots, pending, words, order, n_pending, real):
    """Fill the buckets from the source, whose places stand in `words`, and finish them; how many are pending now."""
    taken = width(high - low)
    up, down = U(bits + 32 - taken), U(0)
    if taken > bits + 32:
        up, down = down, U(taken - bits - 32)
    for bucket in range(1 << bits):
        put(counts, bucket, 0)
    for i in range(len(source)):
        bucket = ((U(at(words, begin + i) - low) << up) >> down) >> U(32)
        put(counts, bucket, at(counts, bucket) + 1)
    start = begin
    for bucket in range(1 << bits):
        count = at(counts, bucket)
        put(counts, bucket, start)
        start += count
    for i in range(len(source)):
        here = (U(at(words, begin + i) - low) << up) >> down
        bucket = here >> U(32)
        position = at(counts, bucket)
        put(counts, bucket, position + 1)
        put(records, 2 * position, at(source, i))
        put(records, 2 * position + 1, (here << U(32)) | U(at(indexes, i) if len(indexes) else i))
    for bucket in range(1 << bits):
        end = np.int64(at(counts, bucket))
        if begin < end and (end - begin > LARGEST or not finish(records, begin, end, slots, words, order, real)):
            put(pending, 2 * n_pending, begin)
            put(pending, 2 * n_pending + 1, end)
            n_pending += 1
        begin = end
    return n_pending


@called
def middle(source, real, sample):
    """Where most values are: the median of a sample, and how far its quartiles are apart."""
    for i in range(SAMPLE):
        word = at(source, i * len(source) // SAMPLE)
        value = recast(word, 0.0) if real else float(word)
        j = i
        while j > 0 and at(sample, j - 1) > value:
            put(sample, j, at(sample, j - 1))
            j -= 1
        put(sample, j, value)
    scale = at(sample, 3 * SAMPLE // 4) - at(sample, SAMPLE // 4)
    if scale == 0:
        scale = (at(sample, SAMPLE - 1) - at(sample, 0)) / 16
    return at(sample, SAMPLE // 2), scale if scale > 0 else 1.0


@jit
def arrange(source, real, bits, nothing, sample, records, counts, slots, pending, words, order):
    """Sort the source into words and order, but for the buckets left pending: their number, or -1 if it is sorted."""
    n, i, before = len(source), 1, rank(at(source, 0), real)
    while i < n:
        here = rank(at(source, i), real)
        if here < before:
            break
        before = here
        i += 1
    if i >= n:
        return -1
    centre, scale = middle(source, real, sample)
    low = high = place(at(source, 0), real, centre, scale)
    for i in range(n):
        here = place(at(source, i), real, centre, scale)
        put(words, i, here)
        low, high = here if here < low else low, here if here > high else high
    none = np.int64(0)  # a literal 0 would compile `deal` and `finish` twice
    return deal(source, nothing, none, low, high, bits, records, counts, slots, pending, words, order, none, real)


@jit
def resolve(n_pending, real, records, counts, slots, pending, words, order):
    """Deal pending buckets again by rank, until none is left."""
    longest = 0
    for i in range(n_pending):
        longest = max(longest, pending[2 * i + 1] - pending[2 * i])
    source, indexes = np.empty(longest, np.int64), np.empty(longest, np.uint32)
    while n_pending:
        n_pending -= 1
        begin, end = pending[2 * n_pending], pending[2 * n_pending + 1]
        n = end - begin
        low = high = rank(np.int64(at(records, 2 * begin)), real)
        for i in range(n):
            word = np.int64(at(records, 2 * (begin + i)))
            here = rank(word, real)
            put(source, i, word)
            put(indexes, i, at(records, 2 * (begin + i) + 1))
            put(words, begin + i, here)
            low, high = min(low, here), max(high, here)
        if low == high:
            for i in range(n):
                words[begin + i], order[begin + i] = source[i], indexes[i]
        else:
            bits = min(max(width(n) - PER_BUCKET, LEAST_BITS), MOST_BITS)
            part, of = source[:n], indexes[:n]
            n_pending = deal(
                part, of, begin, low, high, bits, records, counts, slots, pending, words, order, n_pending, real
            )


# ---- memory

KEPT = 2**28  # bytes that a thread keeps for its next sort: page faults of fresh memory cost more than the sort itself
NOTHING = np.empty(0, np.uint32)
_own = threading.local()


def workspace(n):
    """Sample, records, counts of buckets and of slots, and pending buckets of this thread, for n values."""
    kept = getattr(_own, "kept", None)
    if kept is None or kept[1].size < 2 * n:
        counts, slots = np.empty(1 << MOST_BITS, np.uint32), np.empty(1 << SLOT_BITS, np.uint32)
        kept = np.empty(SAMPLE), np.empty(2 * n, U), counts, slots, np.empty(n // 16 + 4, np.int64)
        if 16 * n <= KEPT:
            _own.kept = kept
    return kept


def release():
    """Give back the memory that this thread keeps for its next sort."""
    _own.kept = None


# ---- what callers see


def sort(x, padding=0):
    """The sorted values, and their order as np.argsort(x, kind="stable"), or None where x is sorted already.

    Floats come back as float64, integers in their own type, in memory of their own.  Before and behind the values
    stand `padding` copies of the first and of the last.
    """
    dealt = FEWEST <= x.size < 2**31 and x.dtype.itemsize > 2
    padded, order = (_deal if dealt else _compare)(x, padding)
    if padding:
        padded[:padding], padded[-padding:] = padded[padding], padded[-padding - 1]
    return padded, order


def _deal(x, padding):
    n, real = x.size, -1 if x.dtype.kind == "f" else 0
    if real:
        source = np.ascontiguousarray(x, np.float64).view(np.int64)[:]
    elif x.dtype.kind == "u" and x.dtype.itemsize == 8:
        source = (x.astype(U) ^ TOP).view(np.int64)
    else:
        source = np.ascontiguousarray(x, np.int64)[:]
    source.flags.writeable = False  # of this view: one type for numba, whoever owns the memory
    padded, order = np.empty(n + 2 * padding, np.int64), np.empty(n, np.int32)
    words = padded[padding : padding + n]
    bits = min(max(n.bit_length() - PER_BUCKET, 0), MOST_BITS)
    sample, *memory = workspace(n)
    n_pending = arrange(source, real, bits, NOTHING, sample, *memory, words, order)
    if n_pending < 0:
        words[:], order = source, None
    elif n_pending:
        resolve(n_pending, real, *memory, words, order)
    if real:
        return padded.view(np.float64), order
    if x.dtype.kind == "u" and x.dtype.itemsize == 8:
        return padded.view(U) ^ TOP, order
    return padded.astype(x.dtype.newbyteorder("="), copy=False), order


def _compare(x, padding):
    dtype = np.dtype(np.float64) if x.dtype.kind == "f" else x.dtype.newbyteorder("=")
    padded, order = np.empty(x.size + 2 * padding, dtype), None
    if (x[1:] < x[:-1]).any():
        order = np.argsort(x, kind="stable").astype(np.int32 if x.size < 2**31 else np.int64)
        x = x[order]
    padded[padding : padding + x.size] = x
    return padded, order
