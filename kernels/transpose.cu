// Columns of a table as rows: tiles go through shared memory, so that reads and writes are of whole sectors.

#include "common.cuh"

typedef MAG_ENTRY entry;    // unsigned, as wide as a value
typedef MAG_STAGED staged;  // at least a word: banks are words
enum { SIDE = 32, THREADS = 256 };

// transpose: rows become columns.
//   mapping  one thread block of 256 per tile of 32 x 32
//   memory   x [n][d] is read; out [d][n] written
extern "C" __global__ void __launch_bounds__(256)
transpose(const entry* __restrict__ x, int n, int d, entry* __restrict__ out)
{
    __shared__ staged tile[SIDE][SIDE + 1];
    const int across = (d + SIDE - 1) / SIDE, lane = (int)(threadIdx.x % SIDE), first = (int)(threadIdx.x / SIDE);
    const int row = (int)(blockIdx.x / across) * SIDE, col = (int)(blockIdx.x % across) * SIDE;
    for (int r = first; r < SIDE; r += THREADS / SIDE)
        if (row + r < n && col + lane < d) tile[r][lane] = x[(i64)(row + r) * d + col + lane];
    __syncthreads();
    for (int c = first; c < SIDE; c += THREADS / SIDE)
        if (col + c < d && row + lane < n) out[(i64)(col + c) * n + row + lane] = (entry)tile[lane][c];
}
