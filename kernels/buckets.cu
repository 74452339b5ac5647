// The stable order of columns of some ten thousand values: records are dealt into at most 256 buckets, by splitters that
// a sample of the column gives, and every bucket is sorted in shared memory.
//
// A column is read three times and moved twice, where the radix sort (sort.cu) moves it once for every 8 bits that differ.
// Splitter b is the largest key of bucket b.  A key that is two splitters at once has the second one's bucket to itself,
// which may then hold any number of records, because they are in order already.  A column with another bucket that is
// larger than CAPACITY is left to the radix sort: `done` marks the columns that are sorted here.

#include "common.cuh"
#include "radix.cuh"

enum { ITEMS = 12, TILE = THREADS * ITEMS, CAPACITY = 2048, ROUNDS = CAPACITY / THREADS, LEADING = 24, NEAR = 32 };

// Keys that are sorted in shared memory, and what they carry.
struct Shelf {
    key_type keys[CAPACITY];
    int carried[CAPACITY], seen[WARPS][DIGITS], of_warps[WARPS], crowded;
    u64 largest[2][WARPS];
};

// The digit of a key from bit `shift` on, counted from the least key.
DEVICE int digit_of(key_type key, key_type least, int shift) { return (int)((key_type)(key - least) >> shift & 255); }

// One pass: keys go where their digit belongs, stably.  seen[0] tells where every digit begins, `crowded` whether one has
// more than NEAR keys.
DEVICE void sort_digit(Shelf& s, int size, key_type least, int shift)
{
    const int warp = (int)threadIdx.x / 32, rounds = (size + THREADS - 1) / THREADS;
    key_type key[ROUNDS];
    int carried[ROUNDS], rank[ROUNDS], sum;
    for (int w = 0; w < WARPS; ++w) s.seen[w][threadIdx.x] = 0;
    if (threadIdx.x == 0) s.crowded = 0;
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
        if (r < rounds) {
            const int i = item(0, rounds, r);
            key[r] = i < size ? s.keys[i] : 0;
            carried[r] = i < size ? s.carried[i] : 0;
            rank[r] = count_digit(i < size ? digit_of(key[r], least, shift) : DIGITS, s.seen[warp]);
        }
    __syncthreads();
    places_of(s.seen, s.of_warps, sum);
    if (__any_sync(ALL_LANES, sum > NEAR) && threadIdx.x % 32 == 0) atomicOr(&s.crowded, 1);
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
        if (r < rounds && item(0, rounds, r) < size) {
            const int place = s.seen[warp][digit_of(key[r], least, shift)] + rank[r];
            s.keys[place] = key[r];
            s.carried[place] = carried[r];
        }
    __syncthreads();
}

// Keys of one digit follow each other; each goes behind those of them that come before it, stably.
DEVICE void order_digits(Shelf& s, int size, key_type least, int shift)
{
    const int rounds = (size + THREADS - 1) / THREADS;
    key_type key[ROUNDS];
    int carried[ROUNDS], place[ROUNDS];
    #pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {
        const int i = item(0, rounds, r);
        if (r < rounds && i < size) {
            const key_type mine = s.keys[i];
            const int digit = digit_of(mine, least, shift), begin = s.seen[0][digit];
            const int end = digit < DIGITS - 1 ? s.seen[0][digit + 1] : size;
            place[r] = begin;
            for (int j = begin; j < end; ++j) place[r] += s.keys[j] < mine || (s.keys[j] == mine && j < i);
        }
    }
    #pragma unroll
    for (int r = 0; r < ROUNDS; ++r) {  // not before: registers would spill
        const int i = item(0, rounds, r);
        if (r < rounds && i < size) {
            key[r] = s.keys[i];
            carried[r] = s.carried[i];
        }
    }
    __syncthreads();
    #pragma unroll
    for (int r = 0; r < ROUNDS; ++r)
        if (r < rounds && item(0, rounds, r) < size) {
            s.keys[place[r]] = key[r];
            s.carried[place[r]] = carried[r];
        }
    __syncthreads();
}

// The largest of `lanes` neighboring lanes.
DEVICE u64 largest_of(u64 mine, int lanes)
{
    #pragma unroll
    for (int distance = 1; distance < lanes; distance <<= 1) mine = max(mine, __shfl_xor_sync(ALL_LANES, mine, distance));
    return mine;
}

// The least key; `range` is the distance of the largest from it.
DEVICE key_type least_of(Shelf& s, int size, key_type& range)
{
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    u64 key = 0, complement = 0;
    for (int i = (int)threadIdx.x; i < size; i += THREADS) {
        key = max(key, (u64)s.keys[i]);
        complement = max(complement, (u64)(key_type)~s.keys[i]);
    }
    key = largest_of(key, 32);
    complement = largest_of(complement, 32);
    if (lane == 0) {
        s.largest[0][warp] = key;
        s.largest[1][warp] = complement;
    }
    __syncthreads();
    const key_type least = (key_type)~largest_of(s.largest[1][lane % WARPS], WARPS);
    range = (key_type)(largest_of(s.largest[0][lane % WARPS], WARPS) - least);
    return least;
}

// Whether this is true in some thread of the block.
DEVICE bool any_of(bool mine, int* of_warps)
{
    const bool any = __any_sync(ALL_LANES, mine);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = any;
    __syncthreads();
    const bool found = __any_sync(ALL_LANES, of_warps[threadIdx.x % WARPS]);
    __syncthreads();
    return found;
}

DEVICE bool is_sorted(Shelf& s, int size)
{
    bool descends = false;
    for (int i = (int)threadIdx.x + 1; i < size; i += THREADS) descends = descends || s.keys[i] < s.keys[i - 1];
    return !any_of(descends, s.of_warps);
}

// Sort stably, by the distance from the least key: by its first 8 bits, and then within digits of at most NEAR keys.
// Where a digit has more, these may be equal; else all keys are sorted by the LEADING bits, which nearly always is
// enough, or by all bits.
DEVICE void sort_shelf(Shelf& s, int size)
{
    key_type range;
    const key_type least = least_of(s, size, range);
    int top = range != 0;  // where the highest bit ends
    for (int step = BITS / 2; step; step /= 2)
        if (range >> (top + step - 1)) top += step;
    const int first = max(top - 8, 0);
    sort_digit(s, size, least, first);
    if (first == 0) return;
    if (!s.crowded) {
        order_digits(s, size, least, first);
        return;
    }
    if (is_sorted(s, size)) return;
    for (int shift = max(top - LEADING, 0); shift < top; shift += 8) sort_digit(s, size, least, shift);
    if (is_sorted(s, size)) return;
    for (int shift = 0; shift < top; shift += 8) sort_digit(s, size, least, shift);
}

// The splitters of a column: a search tree whose levels follow each other, so that lanes that part meet few conflicts of
// banks; in their order; and a bit for each that equals the next one.
struct Limits {
    key_type tree[DIGITS], ordered[DIGITS];
    u32 twice[WARPS];
};

DEVICE void load_limits(Limits& s, const key_type* splitters, int buckets)
{
    const int thread = (int)threadIdx.x, place = thread + 1, lowest = place & -place;  // the lowest bit is the height
    if (thread < WARPS) s.twice[thread] = 0;
    __syncthreads();
    if (place < buckets) {
        const key_type mine = splitters[thread];
        s.tree[(buckets + place) / (2 * lowest)] = s.ordered[thread] = mine;
        if (place + 1 < buckets && splitters[place] == mine) atomicOr(s.twice + thread / 32, 1u << thread % 32);
    }
    __syncthreads();
}

// How many splitters are below a key; of one that is several splitters, the first is.
DEVICE int bucket_of(key_type key, const Limits& s, int buckets)
{
    int node = 1;
    while (node < buckets) node = 2 * node + (s.tree[node] < key);
    const int below = node - buckets;
    if (s.twice[below / 32] >> below % 32 & 1) return below + (s.ordered[below] == key);
    return below;
}

DEVICE bool is_constant(const key_type* splitters, int bucket, int buckets)
{
    return bucket > 0 && bucket + 1 < buckets && splitters[bucket - 1] == splitters[bucket];
}

// sample: the splitters of every column, from 16 values a bucket, or CAPACITY, at equal distances.
//   mapping  one thread block of 256 per column
//   memory   x [cols][n] is read; splitters [cols][256] written, of which buckets - 1 are used; buckets is a power of two
extern "C" __global__ void __launch_bounds__(256, 3)
sample(const key_type* __restrict__ x, int n, int buckets, key_type* __restrict__ splitters)
{
    __shared__ Shelf shelf;
    const int thread = (int)threadIdx.x, taken = min(16 * buckets, (int)CAPACITY);
    for (int i = thread; i < taken; i += THREADS) {
        shelf.keys[i] = key_of(x[(i64)blockIdx.x * n + (i64)i * n / taken]);
        shelf.carried[i] = 0;
    }
    __syncthreads();
    sort_shelf(shelf, taken);
    if (thread + 1 < buckets) splitters[blockIdx.x * DIGITS + thread] = shelf.keys[(thread + 1) * (taken / buckets)];
}

// assign: how many records of each part belong to each bucket.
//   mapping  one thread block of 256 per (column, part)
//   memory   x and splitters are read; counts [cols][parts][256] written
extern "C" __global__ void __launch_bounds__(256)
assign(const key_type* __restrict__ x, const key_type* __restrict__ splitters, int n, int buckets, int parts, int length,
       int* __restrict__ counts)
{
    __shared__ int seen[WARPS][DIGITS];
    __shared__ Limits limits;
    const Part p = part_of(n, parts, length);
    const int thread = (int)threadIdx.x;
    for (int w = 0; w < WARPS; ++w) seen[w][thread] = 0;
    load_limits(limits, splitters + p.col * DIGITS, buckets);
    for (int begin = p.begin; begin < p.end; begin += THREADS) {
        const int i = begin + thread;
        const bool inside = i < p.end;
        count_digit(inside ? bucket_of(key_of(x[p.row + i]), limits, buckets) : DIGITS, seen[thread / 32]);
    }
    __syncthreads();
    write_counts(seen, p, parts, counts);
}

// lay_out: where buckets begin, and where the records of each part go in them; columns whose buckets all fit are done.
//   mapping  one thread block of 256 per column, a thread per bucket
//   memory   splitters are read; counts [cols][parts][256] are replaced; starts [cols][256] and done [cols] written
extern "C" __global__ void __launch_bounds__(256)
lay_out(const key_type* __restrict__ splitters, int buckets, int parts, int* __restrict__ counts,
        int* __restrict__ starts, int* __restrict__ done)
{
    __shared__ int of_warps[WARPS], wide[WARPS];
    const int thread = (int)threadIdx.x;
    int* mine = counts + (i64)blockIdx.x * parts * DIGITS + thread;
    int sum = 0;
    #pragma unroll 8
    for (int part = 0; part < parts; ++part) sum += mine[part * DIGITS];
    int next = sum_before(sum, of_warps);
    starts[blockIdx.x * DIGITS + thread] = next;
    #pragma unroll 8
    for (int part = 0; part < parts; ++part) {
        const int here = mine[part * DIGITS];
        mine[part * DIGITS] = next;
        next += here;
    }
    const bool fits = sum <= CAPACITY || is_constant(splitters + blockIdx.x * DIGITS, thread, buckets);
    const bool too_wide = any_of(!fits, wide);
    if (thread == 0) done[blockIdx.x] = !too_wide;
}

// deal: every part puts its keys and records into their buckets, in their order.
//   mapping  one thread block of 256 per (column, part), a tile of 3072 values at a time
//   memory   x, splitters, done and counts are read; keys and records [cols][n] written
extern "C" __global__ void __launch_bounds__(256, 2)
deal(const key_type* __restrict__ x, const key_type* __restrict__ splitters, const int* __restrict__ done, int n,
     int buckets, int parts, int length, const int* __restrict__ counts, key_type* __restrict__ keys,
     int* __restrict__ records)
{
    __shared__ int seen[WARPS][DIGITS], shift[DIGITS], of_warps[WARPS];
    __shared__ Limits limits;
    __shared__ key_type tile_keys[TILE];
    __shared__ u16 tile_items[TILE];
    __shared__ u8 tile_buckets[TILE];
    const Part p = part_of(n, parts, length);
    if (!done[p.col]) return;
    const int thread = (int)threadIdx.x, warp = thread / 32;
    load_limits(limits, splitters + p.col * DIGITS, buckets);
    int next = counts[((i64)p.col * parts + p.part) * DIGITS + thread];  // where this thread's bucket is filled
    for (int tile = p.begin; tile < p.end; tile += TILE) {
        key_type key[ITEMS];
        int known[ITEMS], sum;  // bucket << 16 | rank
        #pragma unroll
        for (int r = 0; r < ITEMS; ++r) {
            const int i = item(tile, ITEMS, r);
            key[r] = i < p.end ? key_of(x[p.row + i]) : 0;
        }
        for (int w = 0; w < WARPS; ++w) seen[w][thread] = 0;
        __syncthreads();
        const int rounds = rounds_of(tile, ITEMS, p.end);
        #pragma unroll
        for (int r = 0; r < ITEMS; ++r)
            if (r < rounds) {
                const int bucket = item(tile, ITEMS, r) < p.end ? bucket_of(key[r], limits, buckets) : DIGITS;
                known[r] = bucket << 16 | count_digit(bucket, seen[warp]);
            }
        __syncthreads();
        const int start = places_of(seen, of_warps, sum);
        shift[thread] = next - start;
        next += sum;
        __syncthreads();
        #pragma unroll
        for (int r = 0; r < ITEMS; ++r) {
            const int i = item(tile, ITEMS, r);
            if (i < p.end) {
                const int bucket = known[r] >> 16, place = seen[warp][bucket] + (known[r] & 0xffff);
                tile_keys[place] = key[r];
                tile_items[place] = (u16)(i - tile);
                tile_buckets[place] = (u8)bucket;
            }
        }
        __syncthreads();
        const int filled = min(TILE, p.end - tile);
        for (int place = thread; place < filled; place += THREADS) {
            const i64 i = p.row + shift[tile_buckets[place]] + place;
            keys[i] = tile_keys[place];
            records[i] = tile + tile_items[place];
        }
        __syncthreads();
    }
}

// settle: the records of every bucket in the order of their keys.
//   mapping  one thread block of 256 per (column, bucket)
//   memory   splitters, starts, done, keys and dealt [cols][n] are read; records [cols][n] written
extern "C" __global__ void __launch_bounds__(256, 3)
settle(const key_type* __restrict__ splitters, const int* __restrict__ starts, const int* __restrict__ done, int n,
       int buckets, const key_type* __restrict__ keys, const int* __restrict__ dealt, int* __restrict__ records)
{
    __shared__ Shelf shelf;
    const int thread = (int)threadIdx.x, col = (int)(blockIdx.x / buckets), bucket = (int)(blockIdx.x % buckets);
    if (!done[col]) return;
    const int begin = starts[col * DIGITS + bucket], end = bucket + 1 < buckets ? starts[col * DIGITS + bucket + 1] : n;
    const int size = end - begin;
    const i64 row = (i64)col * n + begin;
    if (is_constant(splitters + col * DIGITS, bucket, buckets)) {
        for (int i = thread; i < size; i += THREADS) records[row + i] = dealt[row + i];
        return;
    }
    for (int i = thread; i < size; i += THREADS) {
        shelf.keys[i] = keys[row + i];
        shelf.carried[i] = dealt[row + i];
    }
    __syncthreads();
    sort_shelf(shelf, size);
    for (int i = thread; i < size; i += THREADS) records[row + i] = shelf.carried[i];
}
