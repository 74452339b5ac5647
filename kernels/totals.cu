// Sums of records and of their groups in NumPy's order: what mag/methods/distances/standard.py, RecordGrouping and
// record_means of mag/_compiled/groups.py compute, with the same bits.

#include "common.cuh"
#include "group.cuh"

enum { THREADS = 256, DEPTH = 8 };

// total: the sum of every row, or of its squares.
//   mapping  one thread block of 256 per row
//   memory   x [rows][count] is read; sums [rows] written
extern "C" __global__ void __launch_bounds__(256, 1)
total(const double* __restrict__ x, int count, int squared, double* __restrict__ sums)
{
    __shared__ double parts[THREADS];
    const double* row = x + (i64)blockIdx.x * count;
    const double sum =
        sum_by_block<DEPTH>([&](int i) { return squared ? row[i] * row[i] : row[i]; }, 0, count, parts);
    if (threadIdx.x == 0) sums[blockIdx.x] = 0.0 + sum;
}

// A column of the records of one group, in the order of their numbers.
struct Members {
    const double* x;     // [n][d], from the column on
    const int* records;  // of the group
    int size, d;
    DEVICE double at(int i) const { return x[(i64)records[i] * d]; }
};

DEVICE Members members_of(const double* x, const int* order, const int* starts, i64 g, int groups, int n, int d, int c)
{
    const int begin = starts[g], end = g + 1 < groups ? starts[g + 1] : n;
    return {x + c, order + begin, end - begin, d};
}

// means: the mean of every group in every column, never outside the group; sums that could overflow are counted in a
// larger unit.
//   mapping  one thread per (group, column)
//   memory   x [n][d], order [n] and starts [groups] are read; centers [groups][d] written
extern "C" __global__ void __launch_bounds__(128, 1)
means(const double* __restrict__ x, const int* __restrict__ order, const int* __restrict__ starts, int groups, int n,
      int d, double* __restrict__ centers)
{
    const i64 id = flat_thread();
    if (id >= (i64)groups * d) return;
    const Members m = members_of(x, order, starts, id / d, groups, n, d, (int)(id % d));
    double low = m.at(0), high = low;
    for (int i = 1; i < m.size; ++i) {
        low = min(low, m.at(i));
        high = max(high, m.at(i));
    }
    const double unit = high / 2 - low / 2 > MAG_HUGE ? ldexp(1.0, MAG_LARGE) : 1.0, first = m.at(0) / unit;
    const double sum = pairwise_sum([&](int i) { return m.at(i) / unit - first; }, 1, m.size - 1);
    const double mean = (first + (m.size > 1 ? 0.0 + sum : 0.0) / m.size) * unit;
    centers[id] = min(max(mean, low), high);
}

// integer_means: the same of integers of 64 bits, with or without a sign; sums of distances from the smallest are exact.
//   mapping  one thread per (group, column)
//   memory   as `means`
extern "C" __global__ void __launch_bounds__(128, 1)
integer_means(const u64* __restrict__ x, int is_signed, const int* __restrict__ order, const int* __restrict__ starts,
              int groups, int n, int d, double* __restrict__ centers)
{
    const i64 id = flat_thread(), g = id / d;
    if (g >= groups) return;
    const int begin = starts[g], end = g + 1 < groups ? starts[g + 1] : n;
    const u64 *column = x + id % d, flip = is_signed ? (u64)1 << 63 : 0;  // which makes their order that of the bits
    u64 low = column[(i64)order[begin] * d] ^ flip, sum = 0;
    for (int p = begin + 1; p < end; ++p) low = min(low, column[(i64)order[p] * d] ^ flip);
    for (int p = begin; p < end; ++p) sum += (column[(i64)order[p] * d] ^ flip) - low;
    const double smallest = is_signed ? (double)(i64)(low ^ flip) : (double)low;
    centers[id] = smallest + (double)sum / (end - begin);
}

// apart: how far every record is from the mean of its group, group after group.
//   mapping  one thread per (group, column)
//   memory   z [n][d], order [n] and starts [groups] are read; away [n][d] written
extern "C" __global__ void __launch_bounds__(128, 1)
apart(const double* __restrict__ z, const int* __restrict__ order, const int* __restrict__ starts, int groups, int n, int d,
      double* __restrict__ away)
{
    const i64 id = flat_thread();
    if (id >= (i64)groups * d) return;
    const int c = (int)(id % d);
    const Members m = members_of(z, order, starts, id / d, groups, n, d, c);
    const double first = m.at(0);
    const double sum = pairwise_sum([&](int i) { return m.at(i) - first; }, 1, m.size - 1);
    const double mean = (m.size > 1 ? 0.0 + sum : 0.0) / m.size;
    for (int i = 0; i < m.size; ++i) away[(i64)(starts[id / d] + i) * d + c] = m.at(i) - first - mean;
}
