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

// The same with weights.  Distances are from the heaviest value, so that light records take no digits from others.
struct SseWeighted : Sse {
    enum { terms = 3 };
    template <class Frame> static DEVICE void term(const Frame& f, int i, real* t)
    {
        const real y = f.value(i), w = f.weight(i);
        t[0] = w * y;
        t[1] = w * y * y;
        t[2] = w;
    }
    template <class Frame> static DEVICE real join(const Frame& f, real g, int i, int j, int)
    {
        const real s = f.total(0, j) - f.total(0, i), w = f.total(2, j) - f.total(2, i);
        return w > 0 ? g - s * s / w : g;
    }

    static DEVICE int heaviest(const Group& g)
    {
        int found = 0;
        for (int i = 1; i < g.size; ++i)
            if (g.weight(i) > g.weight(found)) found = i;
        return found;
    }
    static DEVICE double center(const Group& g)
    {
        const double weight = g.sum([&](int i) { return g.weight(i); });
        return g.sum([&](int i) { return g.weight(i) * g.at(i); }) / weight;
    }
    static DEVICE double representative(const Group& g, double c)
    {
        return min(max(g.first + c, g.value(0)), g.value(g.size - 1));
    }
    static DEVICE double gap(const Group& g, int i, double c) { return sqrt(g.weight(i)) * (g.at(i) - c); }
    static DEVICE double loss(const Group& g, double c)
    {
        return g.sum([&](int i) { return gap(g, i, c) * gap(g, i, c); });
    }
};
