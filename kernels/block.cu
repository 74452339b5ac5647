// Large k: mag/solvers/block.py on the device, operation by operation.
//
// The columns of a diagonal block do not depend on each other; x[b-1] is their anchor.  Sums, restart and G of a block are
// computed by all lanes at once.  The search takes WIDTH columns and SIZES group sizes at a time, within the bounds of
// the CPU's search: its first row is the best row of the columns before, and where that leaves LONG sizes or more the
// columns are split at their middle.  Rounding could tell other bounds apart, so these are part of the result.
//
// Chunks of whole blocks, as in narrow.cu: a warm start, a comparison bit by bit, a repair.

#include "common.cuh"
#include "costs.cuh"
#include "frame.cuh"

typedef MAG_SIZE size_type;  // u8 or u16
enum { LANES = 32, WIDTH = MAG_WIDTH, SIZES = LANES / WIDTH, LONG = MAG_LONG, DEPTH = 32 };

// Lines of one column of data, in shared memory (MAG_SHARED) or in scratch memory where k is too large for that.
// Positions count from b: rows are negative, columns of the block are 0 .. k-1.
struct Lines {
    real* F;     // a ring of 2k: column i stands at i mod 2k; the columns of a block replace rows that G holds
    real* G;     // F + left, of rows; G[0] would be that of b
    real* sums;  // a line of `length` per term; sums[0] is the total at b, 0
    int k, length;
};

// The lines take 4k + terms·(3k + 16) numbers.
DEVICE Lines lines_of(real* scratch, i64 scratch_length, int k)
{
#if MAG_SHARED
    extern __shared__ double shared_lines[];
    real* memory = (real*)shared_lines;
#else
    real* memory = scratch + blockIdx.x * scratch_length;
#endif
    const Lines lines = {memory, memory + 4 * k, memory + 6 * k + 8, k, 3 * k + 16};
    return lines;
}

struct Found {
    real value;
    int size;
};

// The smaller value of all lanes that differ in the bits from `low` to 16; the smaller size of equals.
DEVICE Found best_of(Found mine, int low)
{
    #pragma unroll
    for (int distance = low; distance < LANES; distance <<= 1) {
        const real value = __shfl_xor_sync(ALL_LANES, mine.value, distance);
        const int size = __shfl_xor_sync(ALL_LANES, mine.size, distance);
        if (value < mine.value || (value == mine.value && size < mine.size)) {
            mine.value = value;
            mine.size = size;
        }
    }
    return mine;
}

DEVICE real least_of(real mine)
{
    #pragma unroll
    for (int distance = 1; distance < LANES; distance <<= 1) {
        const real other = __shfl_xor_sync(ALL_LANES, mine, distance);
        mine = other < mine ? other : mine;
    }
    return mine;
}

// Where column b + position stands in the ring; `slot` is where b stands.
DEVICE int in_ring(int slot, int position, int k)
{
    const int place = slot + position;
    return place < 0 ? place + 2 * k : place >= 2 * k ? place - 2 * k : place;
}

// Sums from the anchor, four values at a time: every quad by itself, then from quad to quad, then both together.  Lanes
// take neighboring numbers, so that none waits for another one's bank; both sides of the anchor take the same way.
DEVICE void add_up(const Frame& f, real* sums, int low, int columns)
{
    const int lane = threadIdx.x, length = f.length;
    const int before = (-low + 3) / 4, after = (columns + 3) / 4;  // quads
    for (int from = -4 * before; from < 4 * after; from += LANES) {
        const int p = from + lane, away = p < 0 ? 3 - (p & 3) : p & 3;  // how many of the quad are nearer to the anchor
        real t[Cost::terms + 1];
        Cost::term(f, p, t);
        #pragma unroll
        for (int s = 0; s < Cost::terms; ++s) {
            const real pair = t[s] + __shfl_xor_sync(ALL_LANES, t[s], 1);
            const real nearer = __shfl_sync(ALL_LANES, pair, (lane & ~3) + (p < 0 ? 2 : 0));
            const real sum = away & 1 ? pair : t[s];
            if (p < 4 * after) sums[s * length + p + (p >= 0)] = away & 2 ? sum + nearer : sum;
        }
    }
    __syncwarp();
    if (lane < 2 * Cost::terms) {  // a lane per term and side
        const bool left = lane & 1;
        const int quads = left ? before : after, step = left ? -4 : 4;
        real* at = sums + lane / 2 * length;
        real carry = 0;
        if (left) *at = 0;
        for (int quad = 0; quad < quads; ++quad) {
            at += step;
            *at = carry = carry + (left ? -*at : *at);
        }
    }
    __syncwarp();
    for (int p = lane - 4 * before; p < 4 * after; p += LANES) {
        const int within = p & 3, from = p - within;
        #pragma unroll
        for (int s = 0; s < Cost::terms; ++s) {
            real* line = sums + s * length;
            const real carry = line[p < 0 ? from + 4 : from], here = line[p];
            if (within) line[p] = carry + (p < 0 ? -here : here);
        }
    }
    __syncwarp();
}

// The best row of one column among first .. last, the last of equals.
DEVICE int best_row(const Frame& f, const real* G, int column, int first, int last)
{
    Found mine = {(real)infinite(), 0x7fffffff};
    for (int i = first + threadIdx.x; i <= last; i += LANES) {
        const real value = Cost::join(f, G[i], i, column, column - i);
        if (value <= mine.value) {
            mine.value = value;
            mine.size = column - i;
        }
    }
    const int size = best_of(mine, 1).size;
    return size < 0x7fffffff ? column - size : last;  // nothing compares with NaN, which is refused in the end
}

// WIDTH columns from c on: lane & 3 is the column, lane >> 2 one of SIZES sizes.  `bottom` is the first row of the block.
DEVICE Found search(const Frame& f, const real* G, int c, int smallest, int largest, int bottom, int k)
{
    const int j = c + (threadIdx.x & (WIDTH - 1));
    int rounds = (largest - smallest + 4) >> 2;  // the CPU looks at sizes four at a time, also beyond the largest
    if (smallest + 4 * rounds > 2 * k) --rounds;
    const int last = min(max(largest, smallest + 4 * rounds - 1), j - bottom);
    Found mine = {(real)infinite(), 0x7fffffff};
    for (int size = smallest + threadIdx.x / WIDTH; size <= last; size += SIZES) {
        const int i = j - size;
        const real value = Cost::join(f, G[i], i, j, size);
        if (value < mine.value) {
            mine.value = value;
            mine.size = size;
        }
    }
    Found found = best_of(mine, WIDTH);
    if (found.size >= 2 * k) found.size = k;  // only NaN compares like that; whoever launched refuses it in the end
    return found;
}

// F and sizes of the block's columns, whose best rows are at `low` or later; returns the best row of the last column.
DEVICE int search_columns(const Frame& f, const Lines& lines, int* stack, int slot, int low, int columns,
                          size_type* sizes, bool mine)
{
    const int k = lines.k, bottom = low, lane = threadIdx.x;
    const real* G = lines.G;
    int depth = 0, c = 0, end = columns, high = -1;
    Found kept = {0, 0};  // of column (c & -LANES) + lane: 32 columns are written at once
    for (;;) {  // columns c .. end-1 have their best rows in low .. high
        while (c < end) {
            const int smallest = max(k, c - high), largest = min(2 * k - 1, c + WIDTH - 1 - low);
            if (largest - smallest >= LONG && end - c >= 2 * WIDTH) {
                const int middle = c + (end - c) / (2 * WIDTH) * WIDTH, column = middle - 1;
                const int first = max(low, column - 2 * k + 1), last = min(high, column - k);
                if (last - first >= WIDTH) {
                    const int row = best_row(f, G, column, first, last);
                    if (lane == 0) {
                        int* top = stack + 4 * depth;
                        top[0] = middle;
                        top[1] = end;
                        top[2] = row;
                        top[3] = high;
                    }
                    ++depth;
                    end = middle;
                    high = row;
                    continue;
                }
            }
            const Found found = search(f, G, c, smallest, largest, bottom, k);
            if ((c & (LANES - 1)) == (lane & -WIDTH)) kept = found;
            const int final_lane = min(WIDTH, columns - c) - 1, column = (c & -LANES) + lane;
            low = c + final_lane - __shfl_sync(ALL_LANES, found.size, final_lane);
            c += WIDTH;
            if ((c % LANES == 0 || c >= columns) && column < columns) {
                lines.F[in_ring(slot, column, k)] = kept.value + Cost::right(f, column);
                if (mine) sizes[f.b + column - 1] = (size_type)kept.size;
            }
        }
        if (depth == 0) return low;
        __syncwarp();
        --depth;
        const int* top = stack + 4 * depth;
        c = top[0];
        end = top[1];
        low = max(low, top[2]);
        high = top[3];
        __syncwarp();  // before a later split writes here
    }
}

// One column of data, or a chunk of it.
struct Run {
    const double *x, *w;
    int scale, n, k;
    size_type* sizes;
    real *bases, *entry, *leave;
    const real* inverse;
};

DEVICE void store_state(const Lines& lines, int slot, int low, real* state)
{
    const int k = lines.k;
    for (int p = threadIdx.x; p < 2 * k - 1; p += LANES) state[p] = lines.F[in_ring(slot, p - 2 * k + 1, k)];
    if (threadIdx.x == 0) state[2 * k - 1] = (real)low;
}

// F restarts near 0: the least of the rows from `low` on is subtracted from all rows.
DEVICE real restart(const Lines& lines, int slot, int low)
{
    const int k = lines.k;
    real base = (real)infinite();
    for (int p = low + (int)threadIdx.x; p < 0; p += LANES) {
        const real here = lines.F[in_ring(slot, p, k)];
        base = here < base ? here : base;
    }
    base = least_of(base);
    __syncwarp();
    for (int p = (int)threadIdx.x - 2 * k + 1; p < 0; p += LANES) lines.F[in_ring(slot, p, k)] -= base;
    __syncwarp();
    return base;
}

// The blocks first .. last-1 from the state in F and `low` on, which has restarted.  Sizes and bases are written from
// block `own` on, where `entry` gets the state; `leave` gets the state behind the last block.
DEVICE void run_blocks(const Run& run, const Lines& lines, int* stack, int first, int last, int own, int low)
{
    const int k = run.k, whole = k - k % WIDTH, lane = threadIdx.x;
    int slot = (k + first * whole) % (2 * k);
    for (int block = first; block < last; ++block) {
        const int b = k + block * whole, columns = min(whole, run.n + 1 - b);
        const bool mine = block >= own;
        if (block == own) store_state(lines, slot, low, run.entry);
        const double center = scaled(run.x[b - 1], run.scale);
        const Frame f = {run.x, run.w, run.scale, run.n, b, center, lines.sums, run.inverse, lines.length};
        add_up(f, lines.sums, low, columns);
        for (int p = low + lane; p < 0; p += LANES) lines.G[p] = lines.F[in_ring(slot, p, k)] + Cost::left(f, p);
        __syncwarp();
        low = search_columns(f, lines, stack, slot, low, columns, run.sizes, mine);
        __syncwarp();
        low = max(low - columns, 1 - 2 * k);
        slot = (b + columns) % (2 * k);
        if (b + columns <= run.n) {
            const real base = restart(lines, slot, low);
            if (mine && lane == 0) run.bases[block + 1] = base;
        }
    }
    store_state(lines, slot, low, run.leave);
}

// block: sizes of all columns, chunk by chunk.
//   mapping  one thread block of 32 lanes per (column of data, chunk); blockIdx.x = chunk · cols + column
//   memory   x and w [cols][n], scale [cols] and inverse [2k] are read; sizes [cols][stride] and bases [cols][blocks] written;
//            entry, leave [cols][chunks][2k]: the state of a chunk where it begins and where it ends;
//            4k + terms·(3k + 16) numbers of shared memory, or of scratch memory per thread block
extern "C" __global__ void __launch_bounds__(32, 1)
block(const double* __restrict__ x, const double* __restrict__ w, const int* __restrict__ scale,
      const real* __restrict__ inverse, int n, int k, int cols, int chunks, int length, int warm,
      size_type* __restrict__ sizes, i64 stride, real* __restrict__ bases, real* __restrict__ entry,
      real* __restrict__ leave, real* __restrict__ scratch, i64 scratch_length)
{
    __shared__ int stack[4 * DEPTH];
    const Lines lines = lines_of(scratch, scratch_length, k);
    const int col = blockIdx.x % cols, chunk = blockIdx.x / cols, whole = k - k % WIDTH;
    const int blocks = (n + 1 - k + whole - 1) / whole, own = chunk * length, first = max(own - warm, 0);
    const int zero = first * whole % (2 * k);  // where the forced cut stands, at b - k
    for (int p = threadIdx.x; p < 2 * k; p += LANES) lines.F[p] = p == zero ? (real)0 : (real)infinite();
    size_type* mine = sizes + col * stride;
    if (chunk == 0) {
        for (int j = threadIdx.x; j < k - 1; j += LANES) mine[j] = (size_type)k;  // no groups end here
    }
    if (chunk == 0 && threadIdx.x == 0) bases[(i64)col * blocks] = 0;
    __syncwarp();
    const i64 state = ((i64)col * chunks + chunk) * 2 * k;
    const Run run = {x + (i64)col * n, w + (i64)col * n, scale[col], n, k, mine, bases + (i64)col * blocks,
                     entry + state, leave + state, inverse};
    run_blocks(run, lines, stack, first, min(own + length, blocks), own, -k);
}

// block_repair: computes again, in order, the chunks that did not begin with what their predecessor ended with.
//   mapping  one thread block of 32 lanes per column of data
//   memory   as `block`; redone [cols] counts the chunks
extern "C" __global__ void __launch_bounds__(32, 1)
block_repair(const double* __restrict__ x, const double* __restrict__ w, const int* __restrict__ scale,
             const real* __restrict__ inverse, int n, int k, int cols, int chunks, int length,
             size_type* __restrict__ sizes, i64 stride, real* __restrict__ bases, real* __restrict__ entry,
             real* __restrict__ leave, real* __restrict__ scratch, i64 scratch_length, int* __restrict__ redone)
{
    __shared__ int stack[4 * DEPTH];
    const Lines lines = lines_of(scratch, scratch_length, k);
    const int col = blockIdx.x, whole = k - k % WIDTH, blocks = (n + 1 - k + whole - 1) / whole;
    int count = 0;
    for (int chunk = 1; chunk < chunks; ++chunk) {
        const i64 state = ((i64)col * chunks + chunk) * 2 * k;
        real* before = leave + state - 2 * k;
        bool differs = false;
        for (int p = threadIdx.x; p < 2 * k; p += LANES) differs = differs || before[p] != entry[state + p];
        if (!__any_sync(ALL_LANES, differs)) continue;
        const int own = chunk * length, b = k + own * whole, slot = b % (2 * k);
        for (int p = threadIdx.x; p < 2 * k - 1; p += LANES) lines.F[in_ring(slot, p - 2 * k + 1, k)] = before[p];
        __syncwarp();
        const Run run = {x + (i64)col * n,
                         w + (i64)col * n,
                         scale[col],
                         n,
                         k,
                         sizes + col * stride,
                         bases + (i64)col * blocks,
                         entry + state,
                         leave + state,
                         inverse};
        run_blocks(run, lines, stack, own, min(own + length, blocks), own, (int)before[2 * k - 1]);
        __syncwarp();
        ++count;
    }
    if (threadIdx.x == 0) redone[col] = count;
}
