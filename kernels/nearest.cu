// The records nearest to some of them, or farthest from them: the lists of mag/methods/mdav/nearest_lists.py, made as
// mag/methods/distances/blocks.py makes them, with the same distances, bounds and ties, so that they are equal bit by bit.
//
// Records lie in blocks of LANES, column by column, at the places that they had when all were free; a box stands around
// each block.  A query visits the block whose box promises most, and then all whose box is not too far.

#include "common.cuh"

enum { THREADS = 128, WARPS = THREADS / 32, LANES = MAG_LANES, NOBODY = 0x7fffffff };

struct Field {
    const double *x, *low, *high;  // [blocks][d][LANES]; [d][boxes]
    const u64* gone;               // [blocks]: a bit for every lane that is not a free record
    int d, blocks, boxes;
};

DEVICE bool comes_before(double a, int i, double b, int j) { return a < b || (a == b && i < j); }

// A lower bound of sign · distance of all records of a block, rounded like a distance.
DEVICE double bound_of(const Field& f, int b, const double* point, double sign)
{
    double total = 0;
    for (int j = 0; j < f.d; ++j) {
        const double below = f.low[(i64)j * f.boxes + b] - point[j], above = point[j] - f.high[(i64)j * f.boxes + b];
        double t = (sign > 0 ? below > above : below < above) ? below : above;
        if (sign > 0 && !(t > 0)) t = 0;
        total = total + t * t;
    }
    return total * sign;
}

// The best records so far, in shared memory.
struct Best {
    double* keys;
    int *ids, *filled;
    double* worst;  // of m records, once there are so many
    int m;
};

// Keep the m best, sorted; `have` is how many there are.
DEVICE void keep_best(const Best& best, int have)
{
    int size = 2;
    while (size < have) size <<= 1;
    for (int p = have + (int)threadIdx.x; p < size; p += THREADS) {
        best.keys[p] = infinite();
        best.ids[p] = NOBODY;
    }
    __syncthreads();
    for (int width = 2; width <= size; width <<= 1) {
        for (int step = width >> 1; step > 0; step >>= 1) {
            for (int p = (int)threadIdx.x; p < size / 2; p += THREADS) {
                const int a = 2 * p - (p & (step - 1)), b = a + step;
                const double left = best.keys[a], right = best.keys[b];
                const int i = best.ids[a], j = best.ids[b];
                if (comes_before(right, j, left, i) == ((a & width) == 0)) {
                    best.keys[a] = right;
                    best.keys[b] = left;
                    best.ids[a] = j;
                    best.ids[b] = i;
                }
            }
            __syncthreads();
        }
    }
    if (threadIdx.x == 0) {
        *best.filled = min(have, best.m);
        *best.worst = have < best.m ? infinite() : best.keys[best.m - 1];
    }
    __syncthreads();
}

// The free records of block b, by one warp; whoever may be among the best is added.
DEVICE void visit(const Field& f, const int* ids, int b, int itself, const double* point, double sign, double worst,
                  const Best& best)
{
    for (int lane = threadIdx.x % 32; lane < LANES; lane += 32) {
        if (f.gone[b] >> lane & 1 || b * LANES + lane == itself) continue;
        double key = 0;
        for (int j = 0; j < f.d; ++j) {
            const double t = f.x[((i64)b * f.d + j) * LANES + lane] - point[j];
            key = key + t * t;
        }
        key = key * sign;
        if (key <= worst) {
            const int p = atomicAdd(best.filled, 1);
            best.keys[p] = key;
            best.ids[p] = ids[b * LANES + lane];
        }
    }
}

// nearest: for every query, the m free records with the smallest (sign · distance, number), without itself.
//   mapping  one thread block of 128 per query; boxes by a thread each, blocks by a warp each
//   memory   x, low, high, ids [blocks][LANES], gone and places [queries] are read; keys, found [queries][m] and lengths
//            [queries] written; 12·room + 8·d bytes of shared memory, room ≥ m + 4·LANES a power of two
extern "C" __global__ void __launch_bounds__(128)
nearest(const double* __restrict__ x, const double* __restrict__ low, const double* __restrict__ high,
        const int* __restrict__ ids, const u64* __restrict__ gone, int d, int blocks, int boxes,
        const int* __restrict__ places, int m, int room, double sign, double* __restrict__ keys, int* __restrict__ found,
        int* __restrict__ lengths)
{
    extern __shared__ double shared_memory[];
    __shared__ int filled, promising, waiting, todo[THREADS];
    __shared__ double worst, least[THREADS];
    double* point = shared_memory + room;
    const Field f = {x, low, high, gone, d, blocks, boxes};
    const Best best = {shared_memory, (int*)(point + d), &filled, &worst, m};
    const int thread = (int)threadIdx.x, warp = thread / 32, itself = places[blockIdx.x];
    for (int j = thread; j < d; j += THREADS) point[j] = x[((i64)(itself / LANES) * d + j) * LANES + itself % LANES];
    __syncthreads();
    double mine = infinite();
    int block = -1;
    for (int b = thread; b < blocks; b += THREADS) {
        if (!~gone[b]) continue;
        const double bound = bound_of(f, b, point, sign);
        if (bound < mine) {
            mine = bound;
            block = b;
        }
    }
    least[thread] = mine;
    todo[thread] = block;
    __syncthreads();
    if (thread == 0) {
        for (int t = 1; t < THREADS; ++t) {
            if (least[t] < mine) {
                mine = least[t];
                block = todo[t];
            }
        }
        promising = block;
        filled = 0;
        worst = infinite();
    }
    __syncthreads();
    const int home = promising;
    if (warp == 0 && home >= 0) visit(f, ids, home, itself, point, sign, infinite(), best);
    __syncthreads();
    int have = filled;
    __syncthreads();
    keep_best(best, have);
    for (int first = 0; first < blocks; first += THREADS) {
        if (thread == 0) waiting = 0;
        __syncthreads();
        const int b = first + thread;
        if (b < blocks && b != home && ~gone[b] && bound_of(f, b, point, sign) <= worst) todo[atomicAdd(&waiting, 1)] = b;
        __syncthreads();
        const int count = waiting;
        for (int t = 0; t < count; t += WARPS) {
            have = filled;
            __syncthreads();
            if (have + WARPS * LANES > room || have >= 2 * m) keep_best(best, have);
            if (t + warp < count) visit(f, ids, todo[t + warp], itself, point, sign, worst, best);
            __syncthreads();
        }
    }
    have = filled;
    __syncthreads();
    keep_best(best, have);
    const int length = min(have, m);
    for (int p = thread; p < length; p += THREADS) {
        keys[(i64)blockIdx.x * m + p] = best.keys[p];
        found[(i64)blockIdx.x * m + p] = best.ids[p];
    }
    if (thread == 0) lengths[blockIdx.x] = length;
}

// take: records that are not free any more.
//   mapping  one thread per record
//   memory   places [count] are read; gone [blocks] is marked
extern "C" __global__ void __launch_bounds__(128)
take(const int* __restrict__ places, int count, u64* __restrict__ gone)
{
    const i64 id = flat_thread();
    if (id < count) atomicOr(gone + places[id] / LANES, (u64)1 << places[id] % LANES);
}
