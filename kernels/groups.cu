// What groups are replaced by and what that loses, from the data themselves: mag/_compiled/groups.py on the device.

#include "common.cuh"
#include "costs.cuh"

// represent: the representative and the loss of every group.
//   mapping  one thread per (column, group)
//   memory   x [cols][n], starts, groups and origins [cols] are read; centers, losses [cols][most] written.  Reals are
//            read in the order of `records` [cols][n].  Of integers (`relative`), x are sorted distances from origins,
//            and centers those from the group's smallest value; with weights [n] of records, from its heaviest one, the
//            place of which is written to heaviest [cols][most]
extern "C" __global__ void __launch_bounds__(128, 1)
represent(const double* __restrict__ x, const int* __restrict__ records, const int* __restrict__ starts, i64 most,
          const int* __restrict__ groups, const i64* __restrict__ origins, const double* __restrict__ weights,
          int relative, int n, int cols, double* __restrict__ centers, double* __restrict__ losses,
          int* __restrict__ heaviest)
{
    const i64 id = flat_thread(), col = id / most, g = id % most;
    if (col >= cols) return;
    if (g >= groups[col]) {
        centers[id] = losses[id] = 0;
#if MAG_WEIGHTED
        heaviest[id] = 0;
#endif
        return;
    }
    const int begin = starts[id], end = g + 1 < groups[col] ? starts[id + 1] : n;
    Group group = {relative ? x + col * n + begin : x + col * n, relative ? nullptr : records + col * n + begin,
                   end - begin, 0, 1, origins[col]};
    group.first = group.value(0);
#if MAG_WEIGHTED
    group.weights = weights;
    group.order = records + col * n + begin;
    heaviest[id] = begin + Cost::heaviest(group);
    group.first = group.value(heaviest[id] - begin);
#else
    if (group.value(end - begin - 1) / 2 - group.first / 2 > MAG_HUGE) group.unit = ldexp(1.0, MAG_LARGE);
#endif
    const double center = Cost::center(group), loss = Cost::loss(group, center);
    centers[id] = relative ? center : Cost::representative(group, center) + 0.0;  // −0.0 + 0.0 is 0.0
    losses[id] = group.unit == 1 ? loss : loss * (Cost::degree == 2 ? group.unit * group.unit : group.unit);
}

// mask: every record replaced by its group's representative.
//   mapping  one thread per record
//   memory   labels [cols][n] and centers [cols][most] are read; masked [cols][n] written
extern "C" __global__ void __launch_bounds__(256)
mask(const int* __restrict__ labels, const double* __restrict__ centers, i64 most, int n, int cols,
     double* __restrict__ masked)
{
    const i64 id = flat_thread();
    if (id < (i64)n * cols) masked[id] = centers[id / n * most + labels[id]];
}

// price: the cost of every column, the sum of its losses in NumPy's order.
//   mapping  one thread block of 128 per column
//   memory   losses [cols][most] and groups are read; costs [cols] written
extern "C" __global__ void __launch_bounds__(128)
price(const double* __restrict__ losses, i64 most, const int* __restrict__ groups, double* __restrict__ costs)
{
    __shared__ double sums[128];
    const double* mine = losses + blockIdx.x * most;
    const int rest = groups[blockIdx.x] - 1;
    const double sum = sum_by_block<7>([&](int g) { return mine[g]; }, 1, rest, sums);
    if (threadIdx.x == 0) costs[blockIdx.x] = rest ? mine[0] + sum : mine[0];
}
