// Records in a fixed order: the best groups of consecutive ones, mag/methods/orders/consecutive.py on the device,
// operation by operation.  What groups cost does not depend on F: all are computed at once, some ends at a time.

#include "common.cuh"

typedef MAG_SIZE size_type;  // u8 or u16
enum { LANES = 4 };          // columns are summed in as many parts

DEVICE double of_lanes(const double (&lane)[LANES]) { return (lane[3] + lane[2]) + (lane[1] + lane[0]); }

// costs: what the groups of k .. 2k-1 records cost that end at some places of every order; sums start at the last record.
//   mapping  one thread per (order, end)
//   memory   x [n][d] and records [orders][n] are read; costs [orders][ends][k] written, infinite where no group is;
//            sums [2][d rounded up to LANES][threads] is scratch
extern "C" __global__ void __launch_bounds__(128, 1)
costs(const double* __restrict__ x, const int* __restrict__ records, int n, int d, int orders, int k, int first, int ends,
      double* __restrict__ sums, double* __restrict__ costs)
{
    const i64 id = flat_thread(), threads = (i64)orders * ends;
    if (id >= threads) return;
    const int end = first + (int)(id % ends), wide = (d + LANES - 1) / LANES * LANES;
    const int* order = records + id / ends * n;
    double *total = sums + id, *squares = total + wide * threads, *mine = costs + id * k;
    for (int c = 0; c < wide; ++c) total[c * threads] = squares[c * threads] = 0;
    if (end < k || end > n) return;  // no group ends there
    const double* last = x + (i64)order[end - 1] * d;
    for (int size = 2; size < 2 * k; ++size) {
        if (size > end) {
            if (size >= k) mine[size - k] = infinite();
            continue;
        }
        const double* row = x + (i64)order[end - size] * d;
        double all_squares[LANES] = {0, 0, 0, 0}, square_of_total[LANES] = {0, 0, 0, 0};
        for (int c = 0; c < d; c += LANES) {
            #pragma unroll
            for (int q = 0; q < LANES; ++q) {
                if (c + q >= d) break;
                const double y = row[c + q] - last[c + q];
                const i64 here = (c + q) * threads;
                const double t = total[here] + y, s = squares[here] + y * y;
                total[here] = t;
                squares[here] = s;
                square_of_total[q] = square_of_total[q] + t * t;
                all_squares[q] = all_squares[q] + s;
            }
        }
        if (size >= k) mine[size - k] = of_lanes(all_squares) - of_lanes(square_of_total) / size;
    }
}

// follow: the size of the last group for every end, the larger of equals; from the ends before on.
//   mapping  one warp per order
//   memory   costs [orders][ends][k] is read; F [orders][2k], of end j at j mod 2k, is continued; sizes [orders][stride]
//            written; 2k numbers of shared memory where `shared`
extern "C" __global__ void __launch_bounds__(32)
follow(const double* __restrict__ costs, int n, int k, int first, int ends, int shared, double* F,
       size_type* __restrict__ sizes, i64 stride)
{
    extern __shared__ double shared_ring[];
    const int lane = (int)threadIdx.x, ring = 2 * k;
    double *mine = F + (i64)blockIdx.x * ring, *here = shared ? shared_ring : mine;
    if (shared)
        for (int p = lane; p < ring; p += 32) here[p] = mine[p];
    __syncwarp();
    for (int end = first; end < min(first + ends, n + 1); ++end) {
        double best = infinite();
        int found = k;  // where no group ends
        const double* cost = costs + ((i64)blockIdx.x * ends + (end - first)) * k;
        for (int size = k + lane; size < 2 * k && size <= end && end >= k; size += 32) {
            const double value = here[(end - size) % ring] + cost[size - k];
            if (value <= best && value < infinite()) {
                best = value;
                found = size;
            }
        }
        #pragma unroll
        for (int distance = 1; distance < 32; distance <<= 1) {
            const double other = __shfl_xor_sync(ALL_LANES, best, distance);
            const int other_size = __shfl_xor_sync(ALL_LANES, found, distance);
            if (other < best || (other == best && other_size > found)) {
                best = other;
                found = other_size;
            }
        }
        if (lane == 0) {
            here[end % ring] = best;
            sizes[blockIdx.x * stride + end - 1] = (size_type)found;
        }
        __syncwarp();
    }
    if (shared)
        for (int p = lane; p < ring; p += 32) mine[p] = here[p];
}
