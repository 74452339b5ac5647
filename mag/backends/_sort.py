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

from mag._jit import called, inlined, jit
from mag._lanes import at, put

U = np.uint64
MAX = np.int64(2**63 - 1)
TOP = U(2**63)
ONE = np.uint32(1)

FEWEST = 200  # below this many values, numpy's own sort
SAMPLE = 32  # values that choose the centre and the scale of the places
PER_BUCKET = 9  # 2**9 values a bucket, so that its records and slots stay in 32 KB of first-level cache
LEAST_BITS, MOST_BITS = 8, 12  # of a bucket's name
SLOT_BITS = 13  # of a slot's name
LARGEST = 2**14  # values in a bucket that `finish` takes
MOVES = 4  # that insertion may take per value


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
    offset = (np.int64(word).view(np.float64) if real else float(word)) - centre
    size = np.float64(abs(offset) + scale).view(np.int64) - np.float64(scale).view(np.int64)
    return -size if offset < 0 else size


@called
def width(number):
    """How many bits an unsigned number takes."""
    bits = 0
    while number > U(0):
        number >>= U(1)
        bits += 1
    return bits


@called
def running(counts, size, start):
    """Turn counts into where each begins."""
    for i in range(size):
        count = at(counts, i)
        put(counts, i, start)
        start = np.uint32(start + count)


@called
def finish(records, begin, end, counts, words, order, real):
    """Sort one bucket into the result; False if that takes too many moves."""
    n = end - begin
    bits = min(width(U(n)), SLOT_BITS)
    down, size = U(64 - bits), 1 << bits
    for slot in range(size):
        put(counts, slot, np.uint32(0))
    for i in range(begin, end):
        slot = np.int64(at(records, 2 * i + 1) >> down)
        put(counts, slot, np.uint32(at(counts, slot) + ONE))
    running(counts, size, np.uint32(begin))
    for i in range(begin, end):
        tail = at(records, 2 * i + 1)
        slot = np.int64(tail >> down)
        position = at(counts, slot)
        put(counts, slot, np.uint32(position + ONE))
        put(words, np.int64(position), np.int64(at(records, 2 * i)))
        put(order, np.int64(position), np.int32(tail))
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
        least_word, least_index, least = (word, index, here) if below else (most_word, most_index, most)
        most_word, most_index, most = (most_word, most_index, most) if below else (word, index, here)
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
def deal(source, indexes, begin, low, high, bits, records, counts, words, order, pending, n_pending, real):
    """Fill the buckets from the source, whose places stand in `words`, and finish them; how many are pending now."""
    n = len(source)
    taken = width(U(high - low))
    up, down = U(max(0, bits + 32 - taken)), U(max(0, taken - bits - 32))
    buckets = 1 << bits
    for bucket in range(buckets):
        put(counts, bucket, np.uint32(0))
    for i in range(n):
        bucket = np.int64(((U(at(words, begin + i) - low) << up) >> down) >> U(32))
        put(counts, bucket, np.uint32(at(counts, bucket) + ONE))
    running(counts, buckets, np.uint32(begin))
    for i in range(n):
        here = (U(at(words, begin + i) - low) << up) >> down
        bucket = np.int64(here >> U(32))
        position = at(counts, bucket)
        put(counts, bucket, np.uint32(position + ONE))
        index = U(at(indexes, i)) if len(indexes) else U(i)
        put(records, 2 * np.int64(position), U(at(source, i)))
        put(records, 2 * np.int64(position) + 1, (here << U(32)) | index)
    slots = counts[1 << MOST_BITS :]
    for bucket in range(buckets):
        end = np.int64(at(counts, bucket))
        if begin < end and (end - begin > LARGEST or not finish(records, begin, end, slots, words, order, real)):
            put(pending, 2 * n_pending, begin)
            put(pending, 2 * n_pending + 1, end)
            n_pending += 1
        begin = end
    return n_pending


@called
def bits_for(n):
    """How many bits the names of the buckets of n values take."""
    return min(max(width(U(n - 1)) - PER_BUCKET, 0), MOST_BITS)


@called
def middle(source, real):
    """Where most values are: the median of a sample, and how far its quartiles are apart."""
    sample = np.empty(SAMPLE)
    n = len(source)
    for i in range(SAMPLE):
        word = at(source, i * n // SAMPLE)
        value = np.int64(word).view(np.float64) if real else float(word)
        j = i
        while j > 0 and sample[j - 1] > value:
            sample[j] = sample[j - 1]
            j -= 1
        sample[j] = value
    scale = sample[3 * SAMPLE // 4] - sample[SAMPLE // 4]
    if scale == 0:
        scale = (sample[SAMPLE - 1] - sample[0]) / 16
    return sample[SAMPLE // 2], scale if scale > 0 else 1.0


@jit
def arrange(source, real, nothing, records, counts, words, order, pending):
    """Sort the source into words and order, but for the buckets left pending: their number, or -1 if it is sorted."""
    n = len(source)
    i, before = 1, rank(at(source, 0), real)
    while i < n:
        here = rank(at(source, i), real)
        if here < before:
            break
        before = here
        i += 1
    if i >= n:
        return -1
    centre, scale = middle(source, real)
    low = high = place(at(source, 0), real, centre, scale)
    for i in range(n):
        here = place(at(source, i), real, centre, scale)
        put(words, i, here)
        low, high = min(low, here), max(high, here)
    return deal(source, nothing, 0, low, high, bits_for(n), records, counts, words, order, pending, 0, real)


@jit
def resolve(n_pending, real, records, counts, words, order, pending):
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
            word, tail = np.int64(at(records, 2 * (begin + i))), at(records, 2 * (begin + i) + 1)
            here = rank(word, real)
            put(source, i, word)
            put(indexes, i, np.uint32(tail))
            put(words, begin + i, here)
            low, high = min(low, here), max(high, here)
        if low == high:
            for i in range(n):
                words[begin + i], order[begin + i] = source[i], indexes[i]
        else:
            bits = max(bits_for(n), LEAST_BITS)
            n_pending = deal(
                source[:n], indexes[:n], begin, low, high, bits, records, counts, words, order, pending, n_pending, real
            )


# ---- memory

KEPT = 2**28  # bytes that a thread keeps for its next sort: page faults of fresh memory cost more than the sort itself
NOTHING = np.empty(0, np.uint32)
_own = threading.local()


def workspace(n):
    """Records, counts and pending buckets of this thread, for n values."""
    kept = getattr(_own, "kept", None)
    if kept is None or kept[0].size < 2 * n:
        counts = np.empty((1 << MOST_BITS) + (1 << SLOT_BITS), np.uint32)
        kept = np.empty(2 * n, np.uint64), counts, np.empty(n // 16 + 4, np.int64)
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
    records, counts, pending = workspace(n)
    n_pending = arrange(source, real, NOTHING, records, counts, words, order, pending)
    if n_pending < 0:
        words[:], order = source, None
    elif n_pending:
        resolve(n_pending, real, records, counts, words, order, pending)
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
