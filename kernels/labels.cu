// From sizes of last groups to the label of every record, exactly and in parallel.
//
// Following groups back from the end waits for memory at every step, so every segment of a column is followed from all
// 2k-1 places where a group could end near its right border; then the segments are linked from right to left.
// Segments are longer than 2k, so that no group spans two borders.

#include "common.cuh"

typedef MAG_SIZE size_type;  // u8 or u16

struct Segment {
    i64 low, high;  // group ends in (low, high] belong to the segment
};

DEVICE Segment segment_of(int segment, int length, int end)
{
    const Segment s = {(i64)segment * length, min((i64)(segment + 1) * length, (i64)end)};
    return s;
}

// walk: where the groups of a segment lead to, for every place where its last group could end.
//   mapping  one thread per (column, segment, distance of that end from the right border)
//   memory   sizes [cols][stride] and ends [cols] are read; to, count [cols][segments][2k-1] written
extern "C" __global__ void __launch_bounds__(128)
walk(const size_type* __restrict__ sizes, i64 stride, const int* __restrict__ ends, int k, int cols, int segments,
     int length, int* __restrict__ to, int* __restrict__ count)
{
    const i64 id = flat_thread();
    const int window = 2 * k - 1;
    if (id >= (i64)cols * segments * window) return;
    const int distance = (int)(id % window), segment = (int)(id / window % segments);
    const i64 col = id / window / segments;
    const Segment s = segment_of(segment, length, ends[col]);
    const size_type* mine = sizes + col * stride;
    i64 e = s.high - distance;
    int groups = 0;
    while (e > s.low) {
        e -= mine[e - 1];
        ++groups;
    }
    to[id] = (int)(s.low - e);
    count[id] = groups;
}

// Segments that are followed one after the other, first .. last-1, from the right; those behind the end of the column
// have no groups.
struct Span {
    int first, last, end;  // the last segment that has groups is `end`
};

DEVICE Span span_of(int span, int width, int segments, int length, int end)
{
    const Span s = {span * width, min((span + 1) * width, segments), (end - 1) / length};
    return s;
}

// compose: where the groups of a span of segments lead to, for every place where its last group could end.
//   mapping  one thread per (column, span, distance of that end from the right border)
//   memory   to, count [cols][segments][2k-1] and ends are read; span_to, span_count [cols][spans][2k-1] written
extern "C" __global__ void __launch_bounds__(128)
compose(const int* __restrict__ to, const int* __restrict__ count, const int* __restrict__ ends, int k, int cols,
        int segments, int length, int spans, int width, int* __restrict__ span_to, int* __restrict__ span_count)
{
    const i64 id = flat_thread();
    const int window = 2 * k - 1;
    if (id >= (i64)cols * spans * window) return;
    const i64 col = id / window / spans;
    const Span s = span_of((int)(id / window % spans), width, segments, length, ends[col]);
    int distance = (int)(id % window), groups = 0;
    for (int segment = min(s.last - 1, s.end); segment >= s.first; --segment) {
        const i64 place = (col * segments + segment) * window + distance;
        groups += count[place];
        distance = to[place];
    }
    span_to[id] = distance;
    span_count[id] = groups;
}

// spread: the end at which each segment is really entered, and how many groups come before it.
//   mapping  one thread per (column, span)
//   memory   to, count, ends and what `link` found of spans are read; enter, before [cols][segments] written
extern "C" __global__ void __launch_bounds__(128)
spread(const int* __restrict__ to, const int* __restrict__ count, const int* __restrict__ ends, int k, int cols,
       int segments, int length, int spans, int width, const int* __restrict__ span_enter,
       const int* __restrict__ span_before, const int* __restrict__ groups, int* __restrict__ enter,
       int* __restrict__ before)
{
    const i64 id = flat_thread();
    const int window = 2 * k - 1;
    if (id >= (i64)cols * spans) return;
    const i64 col = id / spans;
    const int span = (int)(id % spans);
    const Span s = span_of(span, width, segments, length, ends[col]);
    int distance = max(span_enter[id], 0), left = span + 1 < spans ? span_before[id + 1] : groups[col];
    for (int segment = s.last - 1; segment >= s.first; --segment) {
        const bool used = segment <= s.end;
        const i64 place = (col * segments + segment) * window + distance;
        enter[col * segments + segment] = used ? distance : -1;
        if (used) {
            left -= count[place];
            distance = to[place];
        }
        before[col * segments + segment] = left;
    }
}

// link: the end at which each span is really entered, and how many groups come before it.
//   mapping  one thread per column
//   memory   to, count [cols][segments][2k-1] and ends are read, of spans as of segments; enter, before [cols][segments]
//            and groups [cols] written
extern "C" __global__ void __launch_bounds__(64)
link(const int* __restrict__ to, const int* __restrict__ count, const int* __restrict__ ends, int k, int cols,
     int segments, int length, int* __restrict__ enter, int* __restrict__ before, int* __restrict__ groups)
{
    const int col = (int)flat_thread(), window = 2 * k - 1;
    if (col >= cols) return;
    const i64 row = (i64)col * segments;
    const int last = (ends[col] - 1) / length;
    int distance = 0, sum = 0;
    for (int segment = segments - 1; segment >= 0; --segment) {
        const i64 place = (row + segment) * window + distance;
        enter[row + segment] = segment > last ? -1 : distance;
        before[row + segment] = segment > last ? 0 : count[place];
        if (segment <= last) distance = to[place];
    }
    for (int segment = 0; segment < segments; ++segment) {
        const int here = before[row + segment];
        before[row + segment] = sum;
        sum += here;
    }
    groups[col] = sum;
}

// cut: where groups start.
//   mapping  one thread per (column, segment)
//   memory   sizes, ends, enter, before are read; starts [cols][most] written.  Values that were mirrored for the solver
//            (mirrored = how many there are in all, else 0) are groups from the end on: `groups` counts them, `others`
//            the groups that come before all of them
extern "C" __global__ void __launch_bounds__(128)
cut(const size_type* __restrict__ sizes, i64 stride, const int* __restrict__ ends, const int* __restrict__ enter,
    const int* __restrict__ before, int cols, int segments, int length, int mirrored, const int* __restrict__ groups,
    const int* __restrict__ others, int* __restrict__ starts, i64 most)
{
    const i64 id = flat_thread();
    if (id >= (i64)cols * segments) return;
    const i64 col = id / segments;
    const int segment = (int)(id % segments);
    if (enter[id] < 0) return;
    const Segment s = segment_of(segment, length, ends[col]);
    const size_type* mine = sizes + col * stride;
    i64 e = s.high - enter[id];
    int g = segment + 1 < segments ? before[id + 1] : groups[col];
    while (e > s.low) {
        const i64 i = e - mine[e - 1];
        --g;
        const i64 place = mirrored ? others[col] + groups[col] - 1 - g : g;
        if (place >= 0 && place < most)  // more groups than there can be are for `check` to find
            starts[col * most + place] = (int)(mirrored ? mirrored - e : max(i, (i64)0));
        e = i;
    }
}

// label: every record gets the number of its group; `flags` marks columns whose tiny cost may have lost bits to
// underflow although some group is not constant: those are for the CPU.  Columns whose order is none are left alone.
//   mapping  `lanes` threads per (column, group)
//   memory   starts, groups, order [cols][n], x [cols][n] and total [cols] are read; labels [cols][n] written
extern "C" __global__ void __launch_bounds__(128)
label(const int* __restrict__ starts, i64 most, const int* __restrict__ groups, const int* __restrict__ order,
      const double* __restrict__ x, const double* __restrict__ total, double tiny, int n, int cols, int lanes,
      int* __restrict__ labels, int* __restrict__ flags)
{
    const i64 id = flat_thread();
    const int lane = (int)(id % lanes);
    const i64 g = id / lanes % most, col = id / lanes / most;
    if (col >= cols || flags[col] & MAG_UNSORTED) return;
    const i64 count = min((i64)groups[col], most);
    if (g >= count) return;
    const int* mine = starts + col * most;
    const int begin = mine[g], end = g + 1 < count ? mine[g + 1] : n;
    for (int i = begin + lane; i < end; i += lanes) labels[col * n + order[col * n + i]] = (int)g;
    if (lane == 0 && total[col] < tiny && x[col * n + begin] != x[col * n + end - 1]) atomicOr(flags + col, MAG_FOR_THE_CPU);
}

// tally: how many records each group has, from the labels alone.
//   mapping  one thread per record
//   memory   labels are read; counts [cols][most] are added to (integers, so the order does not matter)
extern "C" __global__ void __launch_bounds__(256)
tally(const int* __restrict__ labels, int n, int cols, i64 most, int* __restrict__ counts, int* __restrict__ flags)
{
    const i64 id = flat_thread();
    if (id >= (i64)n * cols) return;
    const i64 col = id / n;
    const int g = labels[id];
    if (g >= 0 && g < most)
        atomicAdd(counts + col * most + g, 1);
    else
        atomicOr(flags + col, MAG_TOO_SMALL);
}

// check: marks columns with a group of fewer than k records, or with records or groups that cannot be.
//   mapping  one thread per (column, group)
//   memory   counts and groups are read; flags [cols] are marked
extern "C" __global__ void __launch_bounds__(256)
check(const int* __restrict__ counts, const int* __restrict__ groups, int k, int cols, i64 most, int* __restrict__ flags)
{
    const i64 id = flat_thread();
    if (id >= (i64)cols * most) return;
    const i64 col = id / most;
    const int least = id % most < groups[col] ? k : 0, here = counts[id];
    if (here < least || (!least && here) || groups[col] > most) atomicOr(flags + col, MAG_TOO_SMALL);
}
