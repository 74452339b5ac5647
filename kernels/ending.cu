// What the solvers leave behind: F of the last columns, and the cost of each column of data.

#include "common.cuh"

// ending: F of the last 2k-1 columns, and the sum of all restarts and the last F, in the order of the CPU.
//   mapping  one warp per column of data: lanes read, and all add up the same
//   memory   bases [cols][restarts] and leave are read; F of place p of a column stands at leave[first + column · apart +
//            p · step]; ending [cols][window] and total [cols] written
extern "C" __global__ void __launch_bounds__(32)
ending(const real* __restrict__ bases, int restarts, const real* __restrict__ leave, i64 first, i64 apart, i64 step,
       int window, double* __restrict__ ending, double* __restrict__ total)
{
    const i64 col = blockIdx.x;
    const int lane = (int)threadIdx.x;
    const real* mine = leave + first + col * apart;
    for (int p = lane; p < window; p += 32) ending[col * window + p] = mine[p * step];
    double spent = 0;
    for (int begin = 0; begin < restarts; begin += 32) {
        const double here = begin + lane < restarts ? (double)bases[col * restarts + begin + lane] : 0.0;
        const int count = min(32, restarts - begin);
        for (int other = 0; other < count; ++other) spent += __shfl_sync(ALL_LANES, here, other);
    }
    if (lane == 0) total[col] = spent + (double)mine[(window - 1) * step];
}
