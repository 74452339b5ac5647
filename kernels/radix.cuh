// What the sorts share: keys, digits of 8 bits, thread blocks of 256 that rank and add up.
//
// A value becomes an unsigned key of its width that is ordered like it; −0.0 counts as 0.0, and NaN goes to either end.

typedef MAG_KEY key_type;  // unsigned, as wide as a value
enum Kind { UNSIGNED, SIGNED, REAL };
const Kind KIND = MAG_KIND;
enum { BITS = 8 * sizeof(key_type), DIGITS = 256, THREADS = 256, WARPS = THREADS / 32 };

// Keys in the order of the values.
DEVICE key_type key_of(key_type bits)
{
    const key_type sign = (key_type)((key_type)1 << (BITS - 1));
    if (KIND == UNSIGNED) return bits;
    if (KIND == SIGNED) return (key_type)(bits ^ sign);
    if (bits == sign) return sign;  // −0.0
    return bits & sign ? (key_type)~bits : (key_type)(bits | sign);
}

// Columns are cut into `parts` of `length` values, whole tiles, for one thread block each; those of one column
// follow each other, so that the second cache keeps what they share.
struct Part {
    i64 row;  // where the column begins
    int col, part, begin, end;
};

DEVICE Part part_of(int n, int parts, int length)
{
    const int col = (int)(blockIdx.x / parts), part = (int)(blockIdx.x % parts);
    const Part p = {(i64)col * n, col, part, part * length, (int)min((i64)(part + 1) * length, (i64)n)};
    return p;
}

// A tile from `tile` on: each warp takes `items` rounds of 32 values, so that warps, rounds and lanes follow each other.
DEVICE int item(int tile, int items, int round)
{
    return tile + 32 * (items * (int)(threadIdx.x / 32) + round) + (int)(threadIdx.x % 32);
}

// How many rounds this warp has work in.
DEVICE int rounds_of(int tile, int items, int end)
{
    return min(items, (end - tile - 32 * items * (int)(threadIdx.x / 32) + 31) / 32);
}

// The sum of `mine` over the threads before this one, by a thread block of THREADS.
DEVICE int sum_before(int mine, int* of_warps)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = mine;
    #pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) {
        const int other = __shfl_sync(ALL_LANES, sum, lane - distance);
        if (lane >= distance) sum += other;
    }
    if (lane == 31) of_warps[warp] = sum;
    __syncthreads();
    int before = 0;
    for (int w = 0; w < warp; ++w) before += of_warps[w];
    return before + sum - mine;
}

// How many of the same digit this warp has seen before, lane by lane; counts[digit] is how many it has seen.
DEVICE int count_digit(int digit, int* counts)
{
    const u32 equal = __match_any_sync(ALL_LANES, digit);
    const int before = __popc(equal & ((1u << threadIdx.x % 32) - 1));
    const int seen = digit < DIGITS ? counts[digit] : 0;
    __syncwarp();
    if (digit < DIGITS && before == 0) counts[digit] = seen + __popc(equal);
    __syncwarp();
    return seen + before;
}

// What the warps have counted, by a thread per digit.
DEVICE void write_counts(const int (&seen)[WARPS][DIGITS], const Part& p, int parts, int* counts)
{
    int sum = 0;
    for (int w = 0; w < WARPS; ++w) sum += seen[w][threadIdx.x];
    counts[((i64)p.col * parts + p.part) * DIGITS + threadIdx.x] = sum;
}

// Counts become places: where the first value of each warp and digit goes, digits in their order, then warps.  Returns
// where the digit of this thread begins; `sum` is how many values have it.
DEVICE int places_of(int (&seen)[WARPS][DIGITS], int* of_warps, int& sum)
{
    sum = 0;
    for (int w = 0; w < WARPS; ++w) sum += seen[w][threadIdx.x];
    const int start = sum_before(sum, of_warps);
    int next = start;
    for (int w = 0; w < WARPS; ++w) {
        const int here = seen[w][threadIdx.x];
        seen[w][threadIdx.x] = next;
        next += here;
    }
    return start;
}
