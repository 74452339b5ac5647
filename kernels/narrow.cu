// Small k, known to the compiler (-DMAG_K): mag/solvers/_narrow.py on the device, operation by operation.
//
// Every column of the program is its own anchor, all sizes k .. 2k-1 are tried, the smallest of equals wins, and F
// restarts near 0 after every PANEL columns.
//
// Columns of data are cut into chunks of whole panels, so that there are threads enough.  A chunk starts `warm` panels
// early from a forced cut; what it holds where it begins is compared, bit by bit, with what the chunk before it ends
// with.  Where the two are equal the chunk is what a run from the start would have computed; where they are not,
// `narrow_repair` computes the chunk again.

#include "common.cuh"
#include "costs.cuh"

enum { K = MAG_K, WINDOW = 2 * MAG_K - 1, PANEL = MAG_PANEL, QUAD = 4 };

// The frame of one column j: position 0 is j, position -L the start of a group of L values.  All in registers.
struct Column {
    const double (&x)[WINDOW];                       // x[m] is value j-1-m; x[0] is the anchor
    real (&sums)[Cost::terms + 1][WINDOW + 1];       // sums[t][L] is the total at position -L
    const double* w;                                 // weights of the data, read by some costs
    int j;
    DEVICE real value(int i) const { return (real)(x[-i - 1] - x[0]); }
    DEVICE real weight(int i) const { return (real)w[max(j + i, 0)]; }
    DEVICE real total(int t, int i) const { return sums[t][-i]; }
    DEVICE real reciprocal(int size) const { return (real)1 / (real)size; }  // a constant once loops are unrolled
};

// F[m] is F of column j-1-m; on return F[0] is that of column j.  Returns the size of its last group.
DEVICE int solve_column(const double (&x)[WINDOW], const double* w, int j, real (&F)[WINDOW])
{
    real sums[Cost::terms + 1][WINDOW + 1], t[Cost::terms + 1], best = 0;
    int size = K;
    const Column f = {x, sums, w, j};
    #pragma unroll
    for (int s = 0; s < Cost::terms; ++s) sums[s][0] = 0;
    #pragma unroll
    for (int L = 1; L <= WINDOW; ++L) {
        Cost::term(f, -L, t);
        #pragma unroll
        for (int s = 0; s < Cost::terms; ++s) sums[s][L] = sums[s][L - 1] - t[s];
        if (L >= K) {
            real candidate = F[L - 1] + Cost::join(f, Cost::left(f, -L) + Cost::right(f, 0), -L, 0, L);
            if (L == K || candidate < best) {
                best = candidate;
                size = L;
            }
        }
    }
    #pragma unroll
    for (int m = WINDOW - 1; m > 0; --m) F[m] = F[m - 1];
    F[0] = best;
    return size;
}

DEVICE void push(double (&x)[WINDOW], double value)
{
    #pragma unroll
    for (int m = WINDOW - 1; m > 0; --m) x[m] = x[m - 1];
    x[0] = value;
}

// The panels first .. last-1, from state F on; sizes and bases are written from panel `own` on, where `entry` gets F.
DEVICE void run_panels(const double* __restrict__ data, const double* __restrict__ w, int scale, int n, int first,
                       int last, int own, real (&F)[WINDOW], u8* __restrict__ sizes, real* __restrict__ bases,
                       real* __restrict__ entry, i64 stride)
{
    double x[WINDOW];
    #pragma unroll
    for (int m = 0; m < WINDOW; ++m) x[m] = scaled(data[max(first * PANEL - 1 - m, 0)], scale);
    for (int panel = first; panel < last; ++panel) {
        const bool mine = panel >= own;
        if (panel == own) {
            #pragma unroll
            for (int m = 0; m < WINDOW; ++m) entry[m * stride] = F[m];
        }
        const int begin = panel * PANEL, end = min(begin + PANEL, n);  // values; value l belongs to column l+1
        int l = begin;
        for (; l + QUAD <= end; l += QUAD) {
            double next[QUAD];
            unsigned found = 0;
            #pragma unroll
            for (int q = 0; q < QUAD; ++q) next[q] = scaled(data[l + q], scale);
            #pragma unroll
            for (int q = 0; q < QUAD; ++q) {
                push(x, next[q]);
                found |= (unsigned)solve_column(x, w, l + q + 1, F) << 8 * q;
            }
            if (mine) *(unsigned*)(sizes + l) = found;  // rows of sizes are a multiple of four bytes
        }
        for (; l < end; ++l) {
            push(x, scaled(data[l], scale));
            const int size = solve_column(x, w, l + 1, F);
            if (mine) sizes[l] = (u8)size;
        }
        real base = F[0];
        #pragma unroll
        for (int m = 1; m < WINDOW; ++m) base = F[m] < base ? F[m] : base;
        #pragma unroll
        for (int m = 0; m < WINDOW; ++m) F[m] -= base;
        if (mine) bases[panel] = base;
    }
}

// narrow: sizes of all columns, chunk by chunk.
//   mapping  one thread per (column of data, chunk); neighboring threads have neighboring columns
//   memory   x and w [cols][n] and scale [cols] are read; sizes [cols][stride] and bases [cols][panels] written;
//            entry, leave [chunks][2k-1][cols]: the state of a chunk where it begins and where it ends
extern "C" __global__ void __launch_bounds__(64, 1)
narrow(const double* __restrict__ x, const double* __restrict__ w, const int* __restrict__ scale, int n, int cols,
       int chunks, int length, int warm, u8* __restrict__ sizes, i64 stride, real* __restrict__ bases,
       real* __restrict__ entry, real* __restrict__ leave)
{
    const i64 id = flat_thread();
    if (id >= (i64)cols * chunks) return;
    const int col = (int)(id % cols), chunk = (int)(id / cols), panels = (n + PANEL - 1) / PANEL;
    const int own = chunk * length, last = min(own + length, panels), first = max(own - warm, 0);
    real F[WINDOW];
    #pragma unroll
    for (int m = 0; m < WINDOW; ++m) F[m] = m ? (real)infinite() : (real)0;  // a forced cut before the first panel
    const i64 place = (i64)chunk * WINDOW * cols + col;
    run_panels(x + (i64)col * n, w + (i64)col * n, scale[col], n, first, last, own, F, sizes + col * stride,
               bases + (i64)col * panels, entry + place, cols);
    #pragma unroll
    for (int m = 0; m < WINDOW; ++m) leave[place + (i64)m * cols] = F[m];
}

// narrow_repair: computes again, in order, the chunks that did not begin with what their predecessor ended with.
//   mapping  one thread per column of data
//   memory   as `narrow`; redone [cols] counts the chunks
extern "C" __global__ void __launch_bounds__(64, 1)
narrow_repair(const double* __restrict__ x, const double* __restrict__ w, const int* __restrict__ scale, int n,
              int cols, int chunks, int length, u8* __restrict__ sizes, i64 stride, real* __restrict__ bases,
              real* __restrict__ entry, real* __restrict__ leave, int* __restrict__ redone)
{
    const int col = (int)flat_thread(), panels = (n + PANEL - 1) / PANEL;
    if (col >= cols) return;
    int count = 0;
    for (int chunk = 1; chunk < chunks; ++chunk) {
        const i64 place = (i64)chunk * WINDOW * cols + col, before = place - (i64)WINDOW * cols;
        real F[WINDOW];
        bool same = true;
        #pragma unroll
        for (int m = 0; m < WINDOW; ++m) {
            F[m] = leave[before + (i64)m * cols];
            same = same && F[m] == entry[place + (i64)m * cols];
        }
        if (same) continue;
        const int own = chunk * length, last = min(own + length, panels);
        run_panels(x + (i64)col * n, w + (i64)col * n, scale[col], n, own, last, own, F, sizes + col * stride,
                   bases + (i64)col * panels, entry + place, cols);
        #pragma unroll
        for (int m = 0; m < WINDOW; ++m) leave[place + (i64)m * cols] = F[m];
        ++count;
    }
    redone[col] = count;
}
