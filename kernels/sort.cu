// The stable order of every column: a radix sort from the lowest digit of 8 bits to the highest, by many thread blocks.
//
// Keys are sorted one word of 32 bits after the other: what a pass moves is one word and the record that it belongs to,
// 8 bytes for any type.  Digits that all keys of a column share are not moved, so every column counts its own moves: what
// it holds lies in the first or the second of two buffers, and before the first move record i stands at i.  Columns that
// are done, because buckets.cu has sorted them, have no digit to move.

#include "common.cuh"
#include "radix.cuh"

enum { WORD = 32, ITEMS = 16, TILE = THREADS * ITEMS };

DEVICE double real_of(key_type bits)
{
    if (BITS == 64) return __longlong_as_double((i64)bits);
    if (BITS == 32) return __int_as_float((int)bits);
    const int exponent = (int)(bits >> 10 & 31), fraction = (int)(bits & 1023);  // float16
    const double size = exponent == 31  ? (fraction ? infinite() - infinite() : infinite())
                        : exponent == 0 ? ldexp((double)fraction, -24)
                                        : ldexp((double)(fraction + 1024), exponent - 25);
    return bits >> 15 & 1 ? -size : size;
}

// What the solvers read: reals as they are, integers as distances from the smallest.
DEVICE double value_of(key_type bits, key_type smallest)
{
    return KIND == REAL ? real_of(bits) : (double)(u64)(key_type)(key_of(bits) - key_of(smallest));
}

DEVICE int digit_of(u32 word, int pass) { return (int)(word >> 8 * (pass % 4) & 255); }

DEVICE bool moves_in(u64 differ, int pass) { return differ >> 8 * pass & 255; }

// How many passes before this one have moved the column.
DEVICE int moves_before(u64 differ, int pass)
{
    int moves = 0;
    for (int p = 0; p < pass; ++p) moves += moves_in(differ, p);
    return moves;
}

// Of two buffers, the one that a column lies in after so many moves.
template <class Entry> DEVICE Entry* after(int moves, Entry* even, Entry* odd) { return moves % 2 ? odd : even; }

DEVICE void load(const u32* words, int tile, int end, u32 (&word)[ITEMS])
{
    #pragma unroll
    for (int r = 0; r < ITEMS; ++r) word[r] = item(tile, ITEMS, r) < end ? words[item(tile, ITEMS, r)] : 0;
}

// keys: the lowest word of every key, how often each of its lowest digits occurs in each part, and which bits are not the
// same in all keys of a column.
//   mapping  one thread block of 256 per (column, part)
//   memory   x [cols][n] and done [cols] are read; words [cols][n] and counts [cols][parts][256] written; differ [cols],
//            zeros at first, is marked
extern "C" __global__ void __launch_bounds__(256)
keys(const key_type* __restrict__ x, const int* __restrict__ done, int n, int parts, int length, u32* __restrict__ words,
     u64* __restrict__ differ, int* __restrict__ counts)
{
    __shared__ int seen[WARPS][DIGITS];
    const Part p = part_of(n, parts, length);
    if (done[p.col]) return;
    const key_type first = key_of(x[p.row]);
    u64 mine = 0;
    for (int w = 0; w < WARPS; ++w) seen[w][threadIdx.x] = 0;
    __syncthreads();
    for (int begin = p.begin; begin < p.end; begin += THREADS) {
        const int i = begin + (int)threadIdx.x;
        const key_type key = i < p.end ? key_of(x[p.row + i]) : first;
        if (i < p.end) words[p.row + i] = (u32)key;
        mine |= (key_type)(key ^ first);
        count_digit(i < p.end ? digit_of((u32)key, 0) : DIGITS, seen[threadIdx.x / 32]);
    }
    #pragma unroll
    for (int distance = 1; distance < 32; distance <<= 1) mine |= __shfl_xor_sync(ALL_LANES, mine, distance);
    if (threadIdx.x % 32 == 0 && mine) atomicOr(differ + p.col, mine);
    __syncthreads();
    write_counts(seen, p, parts, counts);
}

// lift: the highest word of every key, in the order so far, and how often each of its lowest digits occurs in each part.
//   mapping  one thread block of 256 per (column, part)
//   memory   x, done, differ and records [cols][n], two buffers, are read; words [cols][n], two buffers, and counts
//            [cols][parts][256] written
extern "C" __global__ void __launch_bounds__(256)
lift(const key_type* __restrict__ x, const int* __restrict__ done, const u64* __restrict__ differ, int n, int parts,
     int length, u32* words, u32* other_words, int* records, int* other_records, int* __restrict__ counts)
{
    __shared__ int seen[WARPS][DIGITS];
    const Part p = part_of(n, parts, length);
    if (done[p.col]) return;
    const int moves = moves_before(differ[p.col], 4);
    const int* mine = after(moves, records, other_records) + p.row;
    u32* out = after(moves, words, other_words) + p.row;
    for (int w = 0; w < WARPS; ++w) seen[w][threadIdx.x] = 0;
    __syncthreads();
    for (int begin = p.begin; begin < p.end; begin += THREADS) {
        const int i = begin + (int)threadIdx.x;
        const int record = i < p.end ? moves ? mine[i] : i : 0;
        const u32 word = (u32)((u64)key_of(x[p.row + record]) >> WORD % BITS);
        if (i < p.end) out[i] = word;
        count_digit(i < p.end ? digit_of(word, 0) : DIGITS, seen[threadIdx.x / 32]);
    }
    __syncthreads();
    write_counts(seen, p, parts, counts);
}

// count: how often each digit occurs in each part.
//   mapping  one thread block of 256 per (column, part)
//   memory   words [cols][n], two buffers, and differ are read; counts [cols][parts][256] written
extern "C" __global__ void __launch_bounds__(256)
count(const u32* words, const u32* other_words, const u64* __restrict__ differ, int n, int parts, int length, int pass,
      int* __restrict__ counts)
{
    __shared__ int seen[WARPS][DIGITS];
    const Part p = part_of(n, parts, length);
    if (!moves_in(differ[p.col], pass)) return;
    const u32* mine = after(moves_before(differ[p.col], pass), words, other_words) + p.row;
    for (int w = 0; w < WARPS; ++w) seen[w][threadIdx.x] = 0;
    __syncthreads();
    for (int tile = p.begin; tile < p.end; tile += TILE) {
        u32 word[ITEMS];
        load(mine, tile, p.end, word);
        const int rounds = rounds_of(tile, ITEMS, p.end);
        #pragma unroll
        for (int r = 0; r < ITEMS; ++r)
            if (r < rounds) {
                const bool inside = item(tile, ITEMS, r) < p.end;
                count_digit(inside ? digit_of(word[r], pass) : DIGITS, seen[threadIdx.x / 32]);
            }
    }
    __syncthreads();
    write_counts(seen, p, parts, counts);
}

// offsets: where the digits of each part go, from how many there are.
//   mapping  one thread block of 256 per column, a thread per digit
//   memory   differ is read; counts [cols][parts][256] are replaced
extern "C" __global__ void __launch_bounds__(256)
offsets(const u64* __restrict__ differ, int parts, int pass, int* __restrict__ counts)
{
    __shared__ int of_warps[WARPS];
    if (!moves_in(differ[blockIdx.x], pass)) return;
    int* mine = counts + (i64)blockIdx.x * parts * DIGITS + threadIdx.x;
    int sum = 0;
    #pragma unroll 8
    for (int part = 0; part < parts; ++part) sum += mine[part * DIGITS];
    int next = sum_before(sum, of_warps);
    #pragma unroll 8
    for (int part = 0; part < parts; ++part) {
        const int here = mine[part * DIGITS];
        mine[part * DIGITS] = next;
        next += here;
    }
}

// scatter: one pass; every part puts its words and records where its digits go.
//   mapping  one thread block of 256 per (column, part), a tile of 4096 values at a time, 512 of them by each warp
//   memory   differ and counts are read; words and records [cols][n] are read in one buffer and written in the other
extern "C" __global__ void __launch_bounds__(256, 3)
scatter(u32* words, u32* other_words, int* records, int* other_records, const u64* __restrict__ differ, int n, int parts,
        int length, int pass, const int* __restrict__ counts)
{
    __shared__ int seen[WARPS][DIGITS], shift[DIGITS], of_warps[WARPS], tile_records[TILE];
    __shared__ u32 tile_words[TILE];
    const Part p = part_of(n, parts, length);
    if (!moves_in(differ[p.col], pass)) return;
    const int thread = (int)threadIdx.x, warp = thread / 32, moves = moves_before(differ[p.col], pass);
    const u32* words_in = after(moves, words, other_words) + p.row;
    const int* records_in = after(moves, records, other_records) + p.row;
    u32* words_out = after(moves + 1, words, other_words) + p.row;
    int* records_out = after(moves + 1, records, other_records) + p.row;
    int next = counts[((i64)p.col * parts + p.part) * DIGITS + thread];  // where this thread's digit goes
    for (int tile = p.begin; tile < p.end; tile += TILE) {
        u32 word[ITEMS];
        int rank[ITEMS];
        load(words_in, tile, p.end, word);
        for (int w = 0; w < WARPS; ++w) seen[w][thread] = 0;
        __syncthreads();
        const int rounds = rounds_of(tile, ITEMS, p.end);
        #pragma unroll
        for (int r = 0; r < ITEMS; ++r)
            if (r < rounds) {
                const bool inside = item(tile, ITEMS, r) < p.end;
                rank[r] = count_digit(inside ? digit_of(word[r], pass) : DIGITS, seen[warp]);
            }
        __syncthreads();
        int sum;
        const int start = places_of(seen, of_warps, sum);
        shift[thread] = next - start;
        next += sum;
        __syncthreads();
        #pragma unroll
        for (int r = 0; r < ITEMS; ++r) {
            const int i = item(tile, ITEMS, r);
            if (i < p.end) {
                const int place = seen[warp][digit_of(word[r], pass)] + rank[r];
                tile_words[place] = word[r];
                tile_records[place] = moves ? records_in[i] : i;
            }
        }
        __syncthreads();
        const int filled = min(TILE, p.end - tile);
        for (int place = thread; place < filled; place += THREADS) {
            const u32 here = tile_words[place];
            const int i = shift[digit_of(here, pass)] + place;
            words_out[i] = here;
            records_out[i] = tile_records[place];
        }
        __syncthreads();
    }
}

// place: sorted values and their records.  A column whose records are not a permutation, or not in the order of the keys
// and among equals in their own, is flagged, so that nothing is scattered by them.
//   mapping  one thread block of 256 per (column, 256 values)
//   memory   x, done, differ and records [cols][n], two buffers, are read; values [cols][n] and the first buffer written;
//            met [cols][⌈n/32⌉], zeros at first, has a bit per record; flags [cols] are marked
extern "C" __global__ void __launch_bounds__(256)
place(const key_type* __restrict__ x, const int* __restrict__ done, const u64* __restrict__ differ, int passes, int n,
      int* records, const int* other_records, double* __restrict__ values, u32* __restrict__ met, int* __restrict__ flags)
{
    const int blocks = (n + THREADS - 1) / THREADS, col = (int)(blockIdx.x / blocks);
    const int i = (int)(blockIdx.x % blocks) * THREADS + (int)threadIdx.x;
    const int moves = done[col] ? 2 : moves_before(differ[col], passes);  // two, and records are in the first buffer
    const i64 row = (i64)col * n;
    const int* mine = after(moves, (const int*)records, other_records) + row;
    const int at = min(i, n - 1), before = max(at - 1, 0), own = moves ? mine[at] : at, lane = (int)(threadIdx.x % 32);
    const int smallest = moves && KIND != REAL ? mine[0] : 0;
    int other = __shfl_sync(ALL_LANES, own, max(lane - 1, 0));  // the record before, and its value, are the next lane's
    if (lane == 0) other = moves ? mine[before] : before;
    const bool inside = (unsigned)own < (unsigned)n && (unsigned)other < (unsigned)n && (unsigned)smallest < (unsigned)n;
    const key_type here = x[row + (inside ? own : 0)], key = key_of(here);
    key_type previous = (key_type)__shfl_sync(ALL_LANES, (u64)key, max(lane - 1, 0));
    if (lane == 0 && inside) previous = key_of(x[row + other]);
    bool right = inside;
    if (inside && i < n) {
        const u32 bit = 1u << own % 32;
        values[row + i] = value_of(here, x[row + smallest]);
        right = i == 0 || key > previous || (key == previous && own > other);
        if (atomicOr(met + col * (i64)((n + 31) / 32) + own / 32, bit) & bit) right = false;
    }
    if (!right) atomicOr(flags + col, MAG_UNSORTED);
    if (i < n && (moves % 2 || !moves)) records[row + i] = own;
}

// gather: values in an order that is known to be one.
//   mapping  one thread per value
//   memory   x and records [cols][n] are read; values [cols][n] written
extern "C" __global__ void __launch_bounds__(256)
gather(const key_type* __restrict__ x, const int* __restrict__ records, int n, int cols, double* __restrict__ values)
{
    const i64 id = flat_thread(), row = id / n * n;
    if (id < (i64)n * cols) values[id] = value_of(x[row + records[id]], x[row + records[row]]);
}
