// Mondrian's halving: the directions that all parts of a level are divided by, mag/methods/mondrian/halving.py on the
// device, operation by operation.  Where parts begin does not depend on the data; they are sorted by sort.cu.

#include "common.cuh"

enum { RANGE, VARIANCE, PAIRS };

DEVICE int end_of(const int* starts, i64 part, int parts, int n) { return part + 1 < parts ? starts[part + 1] : n; }

// extents: the range of every part in every column; or the mean, and the sum of squares around it.
//   mapping  one thread per (part, column)
//   memory   rows [n][d], part after part, and starts [parts] are read; means and widths [parts][d] written
extern "C" __global__ void __launch_bounds__(128, 1)
extents(const double* __restrict__ rows, const int* __restrict__ starts, int parts, int n, int d, int rule,
        double* __restrict__ means, double* __restrict__ widths)
{
    const i64 id = flat_thread(), part = id / d;
    if (part >= parts) return;
    const int begin = starts[part], end = end_of(starts, part, parts, n);
    const double* column = rows + id % d;
    if (rule == RANGE) {
        double low = column[(i64)begin * d], high = low;
        for (int p = begin; p < end; ++p) {
            low = min(low, column[(i64)p * d]);
            high = max(high, column[(i64)p * d]);
        }
        widths[id] = high - low;
        return;
    }
    double sum = 0, squares = 0;
    for (int p = begin; p < end; ++p) sum += column[(i64)p * d];
    const double mean = sum / (end - begin);
    for (int p = begin; p < end; ++p) {
        const double t = column[(i64)p * d] - mean;
        squares += t * t;
    }
    means[id] = mean;
    widths[id] = squares;
}

// products: those of two columns around their means, of every part.
//   mapping  one thread per (part, pair of columns)
//   memory   rows, starts and means are read; products [parts][d][d] written above the diagonal
extern "C" __global__ void __launch_bounds__(128, 1)
products(const double* __restrict__ rows, const int* __restrict__ starts, int parts, int n, int d,
         const double* __restrict__ means, double* __restrict__ products)
{
    const i64 id = flat_thread(), part = id / d / d;
    const int i = (int)(id / d % d), j = (int)(id % d);
    if (part >= parts || j <= i) return;
    const int begin = starts[part], end = end_of(starts, part, parts, n);
    const double first = means[part * d + i], second = means[part * d + j];
    double sum = 0;
    for (int p = begin; p < end; ++p) sum += (rows[(i64)p * d + i] - first) * (rows[(i64)p * d + j] - second);
    products[id] = sum;
}

// choose: the column, or the sum or difference of two, that a part is divided by.
//   mapping  one thread per part
//   memory   widths [parts][d] and, for PAIRS, products [parts][d][d] are read; columns [parts][2] and signs [parts]
//            written, where 0 stands for one column
extern "C" __global__ void __launch_bounds__(128)
choose(const double* __restrict__ widths, const double* __restrict__ products, int parts, int d, int rule, double clearly,
       int* __restrict__ columns, double* __restrict__ signs)
{
    const i64 part = flat_thread();
    if (part >= parts) return;
    const double* width = widths + part * d;
    int best = 0, other = 0;
    double sign = 0;
    for (int j = 1; j < d; ++j)
        if (width[j] > width[best] * (rule == RANGE ? 1 : clearly)) best = j;
    if (rule == PAIRS) {
        double most = width[best];
        for (int i = 0; i < d; ++i) {
            for (int j = i + 1; j < d; ++j) {
                const double product = products[(part * d + i) * d + j];
                const double both = (width[i] + width[j]) / 2 + fabs(product);
                if (both > most * clearly) {
                    best = i;
                    other = j;
                    sign = product >= 0 ? 1 : -1;
                    most = both;
                }
            }
        }
    }
    columns[2 * part] = best;
    columns[2 * part + 1] = other;
    signs[part] = sign;
}

// along: what records are sorted by within their part; where a part is not divided, that changes nothing.
//   mapping  one thread per record
//   memory   rows [n][d], member [n], the part of each record, columns and signs are read; values [n] written
extern "C" __global__ void __launch_bounds__(256)
along(const double* __restrict__ rows, const int* __restrict__ member, int n, int d, const int* __restrict__ columns,
      const double* __restrict__ signs, double* __restrict__ values)
{
    const i64 p = flat_thread();
    if (p >= n) return;
    const int part = member[p];
    const double *row = rows + p * d, sign = signs[part], first = row[columns[2 * part]];
    values[p] = sign != 0 ? first + sign * row[columns[2 * part + 1]] : first;
}
