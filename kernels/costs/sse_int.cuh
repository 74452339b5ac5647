// Sum of squared distances to the rounded mean, for integers that float64 sums exactly.  See mag/costs/sse_int.py.
struct SseInt {
    enum { terms = 2 };
    template <class Frame> static DEVICE void term(const Frame& f, int i, real* t)
    {
        real y = f.value(i);
        t[0] = y;
        t[1] = y * y;
    }
    template <class Frame> static DEVICE real left(const Frame& f, int i) { return -f.total(1, i); }
    template <class Frame> static DEVICE real right(const Frame& f, int j) { return f.total(1, j); }
    template <class Frame> static DEVICE real join(const Frame& f, real g, int i, int j, int size)
    {
        const real to_integer = sizeof(real) == 8 ? (real)6755399441055744.0 : (real)12582912.0;  // rounds to an integer
        real s = f.total(0, j) - f.total(0, i);
        real c = (s * f.reciprocal(size) + to_integer) - to_integer;
        return g + c * (c * (real)size - (s + s));
    }
};
