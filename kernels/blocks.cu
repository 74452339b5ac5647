// Cost blocks for a search on the host: mag/solvers/extensions/diagonal.py on the device, operation by operation.
//
// Diagonal block t of a column has the columns j = b .. b+k-1, b = k(t+1), and the rows i = b-2k+1 .. b-1; x[b-1] is its
// anchor.  The cost of [i, j) is left(i) + joint(i, j) + right(j); costs do not depend on F, so that all blocks are
// computed at once, ahead of the search.

#include "common.cuh"
#include "costs.cuh"
#include "frame.cuh"

// A line of 3k sums per term and block: row -2k+1 is its second.
DEVICE Frame frame_of(const double* x, int scale, const real* inverse, int n, int k, i64 first, i64 t, real* sums)
{
    const int b = (int)((first + t + 1) * k), length = 3 * k;
    const int anchor = min(b, n) - 1;  // blocks behind the end are not looked at
    return {x, x, scale, n, b, scaled(x[anchor], scale), sums + t * Cost::terms * length + 2 * k, inverse, length};
}

// The first row that a group of the block may start in: nothing but 0 before column 2k.
DEVICE int first_row(int b, int k) { return b < 2 * k ? -b : max(k, b - 2 * k + 1) - b; }

// block_sums: the sums of a block's terms from its anchor on, one value after the other, and what depends on one end.
//   mapping  one thread per (block, side of the anchor)
//   memory   x [n] sorted and inverse [2k] are read; sums [blocks][terms][3k], left [blocks][2k-1] and right [blocks][k]
//            written
extern "C" __global__ void __launch_bounds__(128, 1)
block_sums(const double* __restrict__ x, int scale, const real* __restrict__ inverse, int n, int k, int first, int blocks,
           real* sums, real* __restrict__ left, real* __restrict__ right)
{
    const i64 t = flat_thread() / 2;
    if (t >= blocks) return;
    const Frame f = frame_of(x, scale, inverse, n, k, first, t, sums);
    const int columns = min(k, n + 1 - f.b);
    if (columns <= 0) return;
    real* line = sums + t * Cost::terms * f.length + 2 * k;
    real total[Cost::terms + 1] = {}, term[Cost::terms + 1];
    if (flat_thread() % 2) {
        for (int p = -1; p >= first_row(f.b, k); --p) {
            Cost::term(f, p, term);
            #pragma unroll
            for (int s = 0; s < Cost::terms; ++s) line[s * f.length + p] = total[s] = total[s] - term[s];
            left[t * (2 * k - 1) + p + 2 * k - 1] = Cost::left(f, p);
        }
    } else {
        for (int p = 0; p < columns; ++p) {
            #pragma unroll
            for (int s = 0; s < Cost::terms; ++s) line[s * f.length + p] = total[s];
            right[t * k + p] = Cost::right(f, p);
            if (p + 1 == columns) break;
            Cost::term(f, p, term);
            #pragma unroll
            for (int s = 0; s < Cost::terms; ++s) total[s] = total[s] + term[s];
        }
    }
}

// block_costs: what depends on both ends, for every column of a block and every size.
//   mapping  one thread per (block, column, size)
//   memory   x [n], inverse [2k] and sums [blocks][terms][3k] are read; joint [blocks][k][k] written, 0 where no group is
extern "C" __global__ void __launch_bounds__(256, 1)
block_costs(const double* __restrict__ x, int scale, const real* __restrict__ inverse, int n, int k, int first, int blocks,
            real* sums, real* __restrict__ joint)
{
    const i64 id = flat_thread(), t = id / ((i64)k * k);
    if (t >= blocks) return;
    const Frame f = frame_of(x, scale, inverse, n, k, first, t, sums);
    const int column = (int)(id / k % k), size = k + (int)(id % k), row = column - size;
    const bool group = f.b + column <= n && (f.b < 2 * k ? row == -f.b : row >= first_row(f.b, k));
    joint[id] = group ? Cost::join(f, (real)0, row, column, size) : (real)0;
}
