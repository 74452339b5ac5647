"""Stable argsort of numbers: deal them into buckets that follow the distribution, then sort each inside the cache.

Numbers travel as int64 words: the bits of a float64, or the integer itself.  `rank` turns a word into an integer of
the same order; -0.0 and 0.0 rank alike, so that ties stay in index order.

1. Every value gets a place, an integer that never descends as values ascend (`place`).  Its upper bits name a bucket,
   the 32 bits below go with the record: 16 bytes, the word, then that lower place next to the index.
2. `sort_by_buckets` counts the buckets and fills them, in index order.
3. `sort_bucket` deals each bucket once more, by the lower place and straight into the result, two slots or more per
   value, and exchanges values that are still out of order.  Nothing is read at random from outside the cache.
4. Buckets that are too large for that, or would take too many exchanges, are pending: `resolve` deals each again, by
   rank.  Every such round consumes at least LEAST_BITS bits of the rank, so that no input takes more than nine.

On an AMD Zen 3 (32 MB of third-level cache), numpy 2.4, a million random float64 take 9 ns each, where np.argsort takes
40 and kind="stable" 140: places 0.7, counts 0.6, buckets 2, slots 3.5, exchanges 2.2.  A million of each of the hostile
inputs in tests/compiled/test_sort.py took 21 ns or less.  `python -m benchmarks.sort` compares sizes and distributions.
"""

import itertools
from collections import namedtuple

import numpy as np
from numba import types

from mag._compiled.bits import ahead, recast, width
from mag._compiled.jit import called, inlined, jit
from mag._compiled.memory import grid, part, part_of
from mag._lib.threads import each
from mag._lib.workspace import borrow

U = np.uint64
MAX, TOP = np.int64(2**63 - 1), U(2**63)

FEWEST = 100  # values; numpy sorts fewer: at 100, 9 µs by numpy and 6 to 9 µs here, and nothing to compile
SAMPLE = 32  # values that choose the center and the scale of the places
PER_BUCKET = 9  # 2**9 values a bucket: its records and slots share 32 KB of first-level cache; 8 and 10 are no faster
LEAST_BITS, MOST_BITS = 8, 12  # of a bucket's name
SLOT_BITS = 13  # largest number of bits of a slot's name
DIRECT = 2**12 - 1  # values that are dealt into slots without buckets
MAX_BUCKET_VALUES = 2**14  # values in a bucket that `sort_bucket` takes
MOVES = 4  # that insertion may take per value; 512 more are free, so that a pending bucket holds 37 values or more

WORD, TAIL = 0, 1  # of a record: the word; the lower place next to the index
BEGIN, END = 0, 1  # of a pending bucket

# How places become buckets: the lowest place, shifts up and down from it, and the bits of a bucket's name.
KeyScale = namedtuple("KeyScale", "low up down bits")

as_reals, as_integers, as_counts = part_of(types.float64), part_of(types.int64), part_of(types.uint32)


@inlined
def rank(word, real):
    """An integer in the order of the values; `real` is -1 for the bits of a float64 and 0 for integers."""
    sign = (word >> 63) & real
    return (word ^ (sign & MAX)) - sign


@inlined
def place(value, center, scale):
    """Linear in the value near the center, logarithmic far from it: the bits of |value - center| + scale, signed.

    Every step rounds monotonically, so no place descends, even where the difference overflows.
    """
    offset = value - center
    size = recast(abs(offset) + scale, 0) - recast(scale, 0)
    return -size if offset < 0 else size


@inlined
def add_up(counts, bits, start):
    """Replace counts by where their values start."""
    for i in range(1 << bits):
        count = counts[i]
        counts[i] = start
        start += count


@inlined
def insert_misplaced(words, order, begin, end, real):
    """Move entries that are out of order to their places; False if that takes too many moves."""
    # With two slots per value, one in eleven values still moves.  Exchanging neighbors without a branch, by carrying
    # the largest value along, was slower.
    moves = MOVES * (end - begin) + 512
    last = rank(words[begin], real)
    for i in range(begin + 1, end):
        word = words[i]
        here = rank(word, real)
        if here < last:
            index, j = order[i], i
            while j > begin and rank(words[j - 1], real) > here:
                words[j] = words[j - 1]
                order[j] = order[j - 1]
                j -= 1
            words[j] = word
            order[j] = index
            moves -= i - j
            if moves < 0:
                return False
        else:
            last = here
    return True


@called
def sort_bucket(records, begin, end, slots, words, order, real):
    """Sort one bucket into the result; False if that takes too many moves."""
    n = end - begin
    bits = width(n) + 1 if 2 * n < 1 << SLOT_BITS else SLOT_BITS
    down = U(64 - bits)
    for slot in range(1 << bits):
        slots[slot] = 0
    for i in range(begin, end):
        slot = records[i, TAIL] >> down
        slots[slot] += 1
        ahead(words, i)  # with the one in `sort_by_buckets`: 8.6 instead of 10 ns per value
        ahead(order, i)
    add_up(slots, bits, begin)
    for i in range(begin, end):
        tail = records[i, TAIL]
        slot = tail >> down
        position = slots[slot]
        slots[slot] = position + 1
        words[position] = records[i, WORD]
        order[position] = tail
    return insert_misplaced(words, order, begin, end, real)


@inlined
def scale_of(low, high, bits):
    """The shifts up and down of a place above the lowest after which the bucket is above bit 32."""
    taken = width(high - low)
    if taken > bits + 32:
        return KeyScale(low, U(0), U(taken - bits - 32), bits)
    return KeyScale(low, U(bits + 32 - taken), U(0), bits)


@inlined
def count(places, n, scale, counts):
    """Count the values of every bucket."""
    for i in range(n):
        bucket = ((U(places[i] - scale.low) << scale.up) >> scale.down) >> U(32)
        counts[bucket] += 1


@inlined
def scatter_records(source, indexes, first, n, places, scale, counts, records):
    """Write records to their buckets; their indexes are `first` and those that follow, or given if that is -1."""
    for i in range(n):
        here = (U(places[i] - scale.low) << scale.up) >> scale.down
        bucket = here >> U(32)
        position = counts[bucket]
        counts[bucket] = position + 1
        index = indexes[i] if first < 0 else first + i
        records[position, WORD] = source[i]
        records[position, TAIL] = (here << U(32)) | U(index)
        ahead(records[position], 8)


@called
def sort_by_buckets(source, indexes, n, begin, scale, work, n_pending, real):
    """Fill the buckets of n values, whose places are in the words, and finish them: return the number pending."""
    records, pending, counts, slots, words, order = work
    places, bits = part(words, begin), scale.bits
    for bucket in range(1 << bits):
        counts[bucket] = 0
    count(places, n, scale, counts)
    add_up(counts, bits, begin)
    # -1 pending: the first round, indexes are yet to come
    scatter_records(source, indexes, -1 if n_pending >= 0 else 0, n, places, scale, counts, records)
    n_pending = n_pending if n_pending > 0 else 0
    for bucket in range(1 << bits):
        end = np.int64(counts[bucket])
        if begin < end and (
            end - begin > MAX_BUCKET_VALUES or not sort_bucket(records, begin, end, slots, words, order, real)
        ):
            pending[n_pending, BEGIN] = begin
            pending[n_pending, END] = end
            n_pending += 1
        begin = end
    return n_pending


@called
def middle(numbers, n, sample):
    """Where most values are: the median of a sample, and how far its quartiles are apart."""
    for i in range(SAMPLE):
        value = numbers[i * n // SAMPLE]
        j = i
        while j > 0 and sample[j - 1] > value:
            sample[j] = sample[j - 1]
            j -= 1
        sample[j] = value
    scale = sample[3 * SAMPLE // 4] - sample[SAMPLE // 4]
    if scale == 0:
        scale = (sample[SAMPLE - 1] - sample[0]) / 16
    return sample[SAMPLE // 2], scale if scale > 0 else 1.0


@inlined
def parts(memory, words, order):
    """The workspace in its parts: records, pending buckets, counts of buckets and of slots; and the result."""
    n = len(order)
    counts = as_counts(memory, 2 * n + n // 16 + 4)
    slots = part(counts, 1 << MOST_BITS)
    records, pending = grid(memory, 2), grid(as_integers(memory, 2 * n), 2)
    return records, pending, counts, slots, part(words, 0), part(order, 0)


@called
def at_once(source, n, places, low, high, work, real):
    """Sort values that fit into the cache without buckets; False if that takes too many moves."""
    slots, words, order = work[3], work[4], work[5]
    bits, taken = width(n) + 1, width(high - low)
    down = U(taken - bits) if taken > bits else U(0)
    for slot in range(1 << bits):
        slots[slot] = 0
    for i in range(n):
        slot = U(places[i] - low) >> down
        slots[slot] += 1
    add_up(slots, bits, 0)
    for i in range(n):
        slot = U(places[i] - low) >> down
        position = slots[slot]
        slots[slot] = position + 1
        words[position] = source[i]
        order[position] = i
    return insert_misplaced(words, order, 0, n, real)


@inlined
def ascends(source, first, last, real):
    """Whether no value from `first` on, up to `last`, is below the one before it."""
    i = first
    while i < last and rank(source[i - 1], real) <= rank(source[i], real):
        i += 1
    return i == last


@inlined
def place_each(numbers, center, scale, first, last, places):
    """Places of values, the lowest and the highest."""
    low = high = place(numbers[first], center, scale)
    for i in range(first, last):
        here = place(numbers[i], center, scale)
        places[i] = here
        low, high = here if here < low else low, here if here > high else high
    return low, high


@inlined
def bucket_bits(n):
    """Bits of a bucket's name."""
    return min(max(width(n) - PER_BUCKET, 0), MOST_BITS)


@called
def sort_words(numbers, source, n, real, work):
    """Sort n words that represent `numbers`: return the number of pending buckets, or -1 if they are sorted."""
    if ascends(source, 1, n, real):
        return -1
    records, words, order = work[0], work[4], work[5]
    center, scale = middle(numbers, n, as_reals(records, 0))
    places = as_integers(records, 0) if n <= DIRECT else words
    low, high = place_each(numbers, center, scale, 0, n, places)
    if n <= DIRECT:
        if at_once(source, n, places, low, high, work, real):
            return 0
        for i in range(n):
            words[i] = places[i]
    return sort_by_buckets(source, order, n, np.int64(0), scale_of(low, high, bucket_bits(n)), work, np.int64(-1), real)


@jit
def sort_array_words(numbers, source, real, memory, words, order):
    """As `sort_words`, for arrays."""
    return sort_words(part(numbers, 0), part(source, 0), len(source), real, parts(memory, words, order))


@jit
def resolve(n_pending, real, memory, words, order):
    """Deal pending buckets again by rank, until none is left."""
    work = parts(memory, words, order)
    records, pending, words, order = work[0], work[1], work[4], work[5]
    longest = 0
    for i in range(n_pending):
        longest = max(longest, pending[i, END] - pending[i, BEGIN])
    source, indexes = np.empty(longest, np.int64), np.empty(longest, np.int32)
    while n_pending:
        n_pending -= 1
        begin, end = pending[n_pending, BEGIN], pending[n_pending, END]
        n = end - begin
        low = high = rank(np.int64(records[begin, WORD]), real)
        for i in range(n):
            word = np.int64(records[begin + i, WORD])
            here = rank(word, real)
            source[i] = word
            indexes[i] = records[begin + i, TAIL]
            words[begin + i] = here
            low, high = here if here < low else low, here if here > high else high
        if low == high:
            for i in range(n):
                words[begin + i] = source[i]
                order[begin + i] = indexes[i]
        else:
            bits = min(max(width(n) - PER_BUCKET, LEAST_BITS), MOST_BITS)
            scale = scale_of(low, high, bits)
            n_pending = sort_by_buckets(part(source, 0), part(indexes, 0), n, begin, scale, work, n_pending, real)


@jit
def take(values, order, padding, taken):
    """taken[padding + i] = values[order[i]]: in half the time of numpy, which converts the order first."""
    n, inside = len(order), part(taken, padding)
    values, order = part(values, 0), part(order, 0)
    for i in range(n):
        inside[i] = values[order[i]]


# ---- the same by several threads, a part of the values or of the buckets each


@jit
def part_ascends(source, first, last, real):
    """As `ascends`, for arrays."""
    return ascends(part(source, 0), max(first, 1), last, real)


@jit
def middle_of(numbers, memory):
    """As `middle`, for arrays."""
    return middle(part(numbers, 0), len(numbers), as_reals(memory, 0))


@jit
def place_part(numbers, center, scale, first, last, words):
    """As `place_each`, for arrays."""
    return place_each(part(numbers, 0), center, scale, first, last, part(words, 0))


@jit
def count_part(words, first, last, span, counts):
    """As `count`, for arrays; `span` : the lowest and the highest place, the bits of a bucket's name."""
    low, high, bits = span
    counts[:] = 0
    count(part(words, first), last - first, scale_of(low, high, bits), part(counts, 0))


@jit
def fill_part(source, words, first, last, span, counts, memory):
    """As `scatter_records`, for arrays; indexes are those of the values."""
    low, high, bits = span
    places, source, scale = part(words, first), part(source, first), scale_of(low, high, bits)
    scatter_records(source, places, first, last - first, places, scale, part(counts, 0), grid(memory, 2))


@jit
def finish_part(ends, first, last, work, real, pending):
    """Sort the buckets first .. last-1 into the result: how many are pending.

    Shared with `sort_by_buckets`, it is slower.
    """
    memory, slots, words, order = work
    records, slots, words, order = grid(memory, 2), part(slots, 0), part(words, 0), part(order, 0)
    begin, n_pending = np.int64(ends[first - 1]) if first > 0 else np.int64(0), np.int64(0)
    for bucket in range(first, last):
        end = ends[bucket]
        if begin < end and (
            end - begin > MAX_BUCKET_VALUES or not sort_bucket(records, begin, end, slots, words, order, real)
        ):
            pending[n_pending, BEGIN] = begin
            pending[n_pending, END] = end
            n_pending += 1
        begin = end
    return n_pending


def _arrange_in_parts(numbers, source, real, memory, words, order, threads):
    """As `sort_array_words`, on threads: buckets are filled part by part, so that equal values stay in order."""
    n = source.size
    edges = [n * i // threads for i in range(threads + 1)]
    parts = list(itertools.pairwise(edges))
    if all(each(lambda part: part_ascends(source, *part, real), parts, threads)):
        return -1
    center, scale = middle_of(numbers, memory)
    ranges = each(lambda part: place_part(numbers, center, scale, *part, words), parts, threads)
    low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
    bits = min(max(n.bit_length() - PER_BUCKET, 0), MOST_BITS)
    counts = np.empty((threads, 1 << bits), np.uint32)
    each(lambda i: count_part(words, *parts[i], (low, high, bits), counts[i]), range(threads), threads)
    ends = counts.sum(axis=0, dtype=np.int64).cumsum()
    counts[:] = np.cumsum(counts, axis=0, dtype=np.int64) - counts + np.append(0, ends[:-1])
    each(lambda i: fill_part(source, words, *parts[i], (low, high, bits), counts[i], memory), range(threads), threads)
    buckets = [0, *np.searchsorted(ends, edges[1:-1]).tolist(), 1 << bits]

    def finish_some(part):
        pending, slots = np.empty((part[1] - part[0], 2), np.int64), borrow("slots", 1 << SLOT_BITS, np.uint32)
        return pending[: finish_part(ends, *part, (memory, slots, words, order), real, pending)]

    pending = np.concatenate(each(finish_some, list(itertools.pairwise(buckets)), threads))
    memory[2 * n : 2 * n + pending.size] = pending.ravel()
    return len(pending)


# ---- public functions

PARALLEL_FROM_N = 2**21  # values from which on threads sort a part each
OWN = np.dtype(np.float64), np.dtype(np.int64)  # sorted where they are, others from a copy


def sort(x, padding=0, threads=1, name="values"):
    """The sorted values, and their order as np.argsort(x, kind="stable"), or None where x is sorted already.

    Floats come back as float64, integers in their own type.  The values are surrounded by `padding` copies of the
    first and the last.  The values are borrowed, this thread's next sort under the same name overwrites them; the
    order is not.
    """
    if x.size < FEWEST or x.size >= 2**31 or x.dtype.itemsize <= 2:
        padded, order = _compare(x, padding, name)
    else:
        padded, order = _deal(x, padding, name, threads if x.size >= PARALLEL_FROM_N else 1)
    if padding:
        padded[:padding], padded[-padding:] = padded[padding], padded[-padding - 1]
    return padded, order


def memory_for(n):
    """How many float64 `sort_words` works in: see `parts`."""
    return 2 * n + n // 16 + 4 + (1 << MOST_BITS) // 2 + (1 << SLOT_BITS) // 2


def _deal(x, padding, name, threads):
    n, dtype, real = x.size, x.dtype, -1 if x.dtype.kind == "f" else 0
    padded, order = borrow(name, n + 2 * padding, np.int64), np.empty(n, np.int32)
    words = padded[padding : padding + n]
    # the solver works in the same memory afterwards
    memory = borrow("work", memory_for(n), np.float64).view(U)
    if dtype in OWN and x.flags.c_contiguous and x.flags.aligned:
        source = x.view(np.int64)
    else:
        copy = borrow("copy", n, U)
        copy.view(np.float64 if real else U if dtype.kind == "u" else np.int64)[:] = x
        if dtype.kind == "u":
            copy ^= TOP
        source = copy.view(np.int64)
    numbers = source.view(np.float64)
    if not real:
        numbers = words.view(np.float64)  # every number is read before a place is written over it
        numbers[:] = x
    source.flags.writeable = numbers.flags.writeable = False  # of these views: one type for numba, for any owner
    if threads > 1:
        n_pending = _arrange_in_parts(numbers, source, real, memory, words, order, threads)
    else:
        n_pending = sort_array_words(numbers, source, real, memory, words, order)
    if n_pending < 0:
        words[:], order = source, None
    elif n_pending:
        resolve(n_pending, real, memory, words, order)
    if real:
        return padded.view(np.float64), order
    if dtype.kind == "u":
        padded = padded.view(U)
        padded ^= TOP
    return padded.astype(dtype.newbyteorder("="), copy=False), order


def _compare(x, padding, name):
    dtype = np.float64 if x.dtype.kind == "f" else x.dtype.newbyteorder("=")
    padded, order = borrow(name, x.size + 2 * padding, dtype), None
    if (x[1:] < x[:-1]).any():
        order = np.argsort(x, kind="stable").astype(np.int32 if x.size < 2**31 else np.int64)
        x = x[order]
    padded[padding : padding + x.size] = x
    return padded, order
