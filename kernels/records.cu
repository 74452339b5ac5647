// Records of several columns on lines: projected, and their groups scored by all columns, as mag/methods/orders/projection.py
// does, operation by operation.

#include "common.cuh"

enum { AT_ONCE = 8 };  // directions, or columns of records, that a thread works on

// project: the records on every line, Σ direction[c] · X[c], column after column.
//   mapping  one thread per (AT_ONCE directions, record)
//   memory   X [d][n] and directions [m][d] are read; lines [m][n] written
extern "C" __global__ void __launch_bounds__(256)
project(const double* __restrict__ X, const double* __restrict__ directions, int n, int d, int m,
        double* __restrict__ lines)
{
    const i64 id = flat_thread(), i = id % n;
    const int first = (int)(id / n) * AT_ONCE;
    if (first >= m) return;
    double sums[AT_ONCE];
    for (int c = 0; c < d; ++c) {
        const double x = X[(i64)c * n + i];
        #pragma unroll
        for (int q = 0; q < AT_ONCE; ++q) {
            const double term = directions[(i64)min(first + q, m - 1) * d + c] * x;
            sums[q] = c ? sums[q] + term : term;
        }
    }
    #pragma unroll
    for (int q = 0; q < AT_ONCE; ++q)
        if (first + q < m) lines[(i64)(first + q) * n + i] = sums[q];
}

// gram: the products of all rows with each other, one value after the other.
//   mapping  one thread per pair of rows
//   memory   X [rows][n] is read; products [rows][rows] written
extern "C" __global__ void __launch_bounds__(128, 1)
gram(const double* __restrict__ X, int rows, int n, double* __restrict__ products)
{
    const i64 id = flat_thread(), a = id / rows, b = id % rows;
    if (a >= rows || b < a) return;
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += X[a * n + i] * X[b * n + i];
    products[id] = products[b * rows + a] = sum;
}

// rank: the records of every group in the order of their numbers, in which the CPU adds them up.
//   mapping  one thread per (line, place in its order)
//   memory   order, labels [m][n], starts [m][most] and groups [m] are read; ranked [m][n] written
extern "C" __global__ void __launch_bounds__(256)
rank(const int* __restrict__ order, const int* __restrict__ labels, const int* __restrict__ starts,
     const int* __restrict__ groups, int n, int m, i64 most, int* __restrict__ ranked)
{
    const i64 id = flat_thread(), line = id / n;
    if (line >= m) return;
    const int *mine = order + line * n, *begins = starts + line * most, record = order[id];
    const int g = labels[line * n + record], begin = begins[g], end = g + 1 < groups[line] ? begins[g + 1] : n;
    int before = 0;
    for (int p = begin; p < end; ++p) before += mine[p] < record;
    ranked[line * n + begin + before] = record;
}

// squares: |the sum of its records|² / size, of every group.
//   mapping  one thread per (line, group)
//   memory   X [n][d], ranked, starts and groups are read; kept [m][most] written
extern "C" __global__ void __launch_bounds__(128)
squares(const double* __restrict__ X, const int* __restrict__ ranked, const int* __restrict__ starts,
        const int* __restrict__ groups, int n, int d, int m, i64 most, double* __restrict__ kept)
{
    const i64 id = flat_thread(), line = id / most, g = id % most;
    if (line >= m || g >= groups[line]) return;
    const int begin = starts[id], end = g + 1 < groups[line] ? starts[id + 1] : n;
    double total = 0;
    for (int c = 0; c < d; c += AT_ONCE) {
        double sums[AT_ONCE];
        #pragma unroll
        for (int q = 0; q < AT_ONCE; ++q) sums[q] = 0;
        for (int p = begin; p < end; ++p) {
            const double* row = X + (i64)ranked[line * n + p] * d;
            #pragma unroll
            for (int q = 0; q < AT_ONCE; ++q)
                if (c + q < d) sums[q] += row[c + q];
        }
        #pragma unroll
        for (int q = 0; q < AT_ONCE; ++q) total += sums[q] * sums[q];
    }
    kept[id] = total / (double)(end - begin);
}

// score: the sum of squares that the groups of each line leave.
//   mapping  one thread per line
//   memory   kept [m][most] and groups are read; scores [m] written
extern "C" __global__ void __launch_bounds__(64)
score(const double* __restrict__ kept, const int* __restrict__ groups, double total, int m, i64 most,
      double* __restrict__ scores)
{
    const int line = (int)flat_thread();
    if (line >= m) return;
    double sum = 0;
    for (int g = 0; g < groups[line]; ++g) sum += kept[line * most + g];
    const double left = total - sum;
    scores[line] = left > 0 ? left : 0.0;
}
