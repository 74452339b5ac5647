// What groups lose of all that varies, SSE / SST: Groups.information_loss of mag/_compiled/groups.py on the device.

#include "common.cuh"
#include "costs.cuh"

// Values so far apart that sums of them could overflow are counted in a larger unit.
DEVICE double unit_of(double first, double last)
{
    return last / 2 - first / 2 > MAG_HUGE ? ldexp(1.0, MAG_LARGE) : 1.0;
}

// deviations: the distance of every value from what replaces its group, in the unit of its column.
//   mapping  one thread per (column, group)
//   memory   x [cols][n] sorted, starts [cols][most], groups and origins [cols] are read; within [cols][n] written.
//            Of integers, x are distances from origins
extern "C" __global__ void __launch_bounds__(128, 1)
deviations(const double* __restrict__ x, const int* __restrict__ starts, i64 most, const int* __restrict__ groups,
           const i64* __restrict__ origins, int n, int cols, double* __restrict__ within)
{
    const i64 id = flat_thread(), col = id / most, g = id % most;
    if (col >= cols || g >= groups[col]) return;
    const int begin = starts[id], end = g + 1 < groups[col] ? starts[id + 1] : n;
    const double *column = x + col * n, *values = column + begin;
    const double unit = unit_of(values[0], values[end - begin - 1]), whole = unit_of(column[0], column[n - 1]);
    const Group group = {values, nullptr, end - begin, values[0], unit, origins[col]};
    const double center = Cost::center(group);
    for (int i = 0; i < group.size; ++i) within[col * n + begin + i] = (group.at(i) - center) * (unit / whole);
}

// share: SSE / SST of every column, from sums in NumPy's order.
//   mapping  one thread per column
//   memory   x and within [cols][n] are read; shares [cols] written
extern "C" __global__ void __launch_bounds__(64, 1)
share(const double* __restrict__ x, const double* __restrict__ within, int n, int cols, double* __restrict__ shares)
{
    const int col = (int)flat_thread();
    if (col >= cols) return;
    const double *column = x + (i64)col * n, *mine = within + (i64)col * n;
    const Group whole = {column, nullptr, n, column[0], unit_of(column[0], column[n - 1]), 0};
    const double mean = whole.sum([&](int i) { return whole.at(i); }) / n;
    double widest = 0;
    for (int i = 0; i < n; ++i) widest = max(widest, fabs(whole.at(i) - mean));
    const double unit = widest > 0 ? widest : 1;
    const double sse = whole.sum([&](int i) { return mine[i] / unit * (mine[i] / unit); });
    const double sst = whole.sum([&](int i) { return (whole.at(i) - mean) / unit * ((whole.at(i) - mean) / unit); });
    shares[col] = sst > 0 ? sse / sst : 0;
}
