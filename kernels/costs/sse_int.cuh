// Sum of squared distances to the rounded mean, for integers that float64 sums exactly.  See mag/costs/sse_int.py.
#include "costs/sse.cuh"
struct SseInt : Sse {
    template <class Frame> static DEVICE real join(const Frame& f, real g, int i, int j, int size)
    {
        const real to_integer = sizeof(real) == 8 ? (real)6755399441055744.0 : (real)12582912.0;  // rounds to an integer
        real s = f.total(0, j) - f.total(0, i);
        real c = (s * f.reciprocal(size) + to_integer) - to_integer;
        return g + c * (c * (real)size - (s + s));
    }

    static DEVICE double center(const Group& g)  // half away from zero, exactly
    {
        const i64 total = (i64)g.sum([&](int i) { return g.at(i); }), quotient = total / g.size;
        const i64 rest = total - quotient * g.size;
        const bool up = 2 * rest > g.size || (2 * rest == g.size && g.origin + (i64)g.first + quotient >= 0);
        return (double)(quotient + up);
    }
};
