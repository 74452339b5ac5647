// What groups lose of all that varies, SSE / SST: Groups.information_loss of mag/_compiled/groups.py on the device.

#include "common.cuh"
#include "costs.cuh"

// Values so far apart that sums of them could overflow are counted in a larger unit.
DEVICE double unit_of(double first, double last)
{
    return last / 2 - first / 2 > MAG_HUGE ? ldexp(1.0, MAG_LARGE) : 1.0;
}

// A value's distance from what replaces its group; with weights, times the root of its own.
DEVICE double gap_of(const Group& group, int i, double center)
{
#if MAG_WEIGHTED
    return Cost::gap(group, i, center);
#else
    return group.at(i) - center;
#endif
}

// deviations: the distance of every value from what replaces its group, in the unit of its column.
//   mapping  one thread per (column, group)
//   memory   x [cols][n] sorted, order [cols][n], weights [n], starts [cols][most], groups and origins [cols] are read;
//            within [cols][n] written.  Of integers, x are distances from origins
extern "C" __global__ void __launch_bounds__(128, 1)
deviations(const double* __restrict__ x, const int* __restrict__ order, const double* __restrict__ weights,
           const int* __restrict__ starts, i64 most, const int* __restrict__ groups, const i64* __restrict__ origins, int n,
           int cols, double* __restrict__ within)
{
    const i64 id = flat_thread(), col = id / most, g = id % most;
    if (col >= cols || g >= groups[col]) return;
    const int begin = starts[id], end = g + 1 < groups[col] ? starts[id + 1] : n;
    const double *column = x + col * n, *values = column + begin;
    const double unit = unit_of(values[0], values[end - begin - 1]), whole = unit_of(column[0], column[n - 1]);
    Group group = {values, nullptr, end - begin, values[0], unit, origins[col], weights, order + col * n + begin};
#if MAG_WEIGHTED
    group.first = values[Cost::heaviest(group)];
#endif
    const double center = Cost::center(group);
    for (int i = 0; i < group.size; ++i) within[col * n + begin + i] = gap_of(group, i, center) * (unit / whole);
}

// share: SSE / SST of every column, from sums in NumPy's order.
//   mapping  one thread per column
//   memory   x, order and within [cols][n] and weights [n] are read; shares [cols] written
extern "C" __global__ void __launch_bounds__(64, 1)
share(const double* __restrict__ x, const int* __restrict__ order, const double* __restrict__ weights,
      const double* __restrict__ within, int n, int cols, double* __restrict__ shares)
{
    const int col = (int)flat_thread();
    if (col >= cols) return;
    const double *column = x + (i64)col * n, *mine = within + (i64)col * n;
    const double large = unit_of(column[0], column[n - 1]);
    Group whole = {column, nullptr, n, column[0], large, 0, weights, order + (i64)col * n};
#if MAG_WEIGHTED
    whole.first = column[Cost::heaviest(whole)];
    const double mean = Cost::center(whole);
#else
    const double mean = whole.sum([&](int i) { return whole.at(i); }) / n;
#endif
    double widest = 0;
    for (int i = 0; i < n; ++i) widest = max(widest, fabs(gap_of(whole, i, mean)));
    const double unit = widest > 0 ? widest : 1;
    const double sse = whole.sum([&](int i) { return mine[i] / unit * (mine[i] / unit); });
    const double sst = whole.sum([&](int i) { return gap_of(whole, i, mean) / unit * (gap_of(whole, i, mean) / unit); });
    shares[col] = sst > 0 ? sse / sst : 0;
}
