// Sum of squared distances to the mean: the sum of y² minus (the sum of y)²/size.  See mag/costs/sse.py.
struct Sse {
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
        real s = f.total(0, j) - f.total(0, i);
        return g - s * s * f.reciprocal(size);
    }

    static DEVICE double center(const Group& g) { return g.sum([&](int i) { return g.at(i); }) / g.size; }
    static DEVICE double representative(const Group& g, double c)  // never outside the group
    {
        const double placed = g.unit == 1 ? g.first + c : (g.first / g.unit + c) * g.unit;
        return min(max(placed, g.first), g.value(g.size - 1));
    }
    static DEVICE double loss(const Group& g, double c)
    {
        return g.sum([&](int i) { return (g.at(i) - c) * (g.at(i) - c); });
    }
    enum { degree = 2 };  // of the loss, where values are counted in another unit
};
