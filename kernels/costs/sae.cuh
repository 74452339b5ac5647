// Sum of absolute distances to the median: what lies above it minus what lies below it.  See mag/costs/sae.py.
struct Sae {
    enum { terms = 1 };
    template <class Frame> static DEVICE void term(const Frame& f, int i, real* t) { t[0] = f.value(i); }
    template <class Frame> static DEVICE real left(const Frame& f, int i) { return f.total(0, i); }
    template <class Frame> static DEVICE real right(const Frame& f, int j) { return f.total(0, j); }
    template <class Frame> static DEVICE real join(const Frame& f, real g, int i, int j, int size)
    {
        int half = size >> 1;
        return g - (f.total(0, i + half) + f.total(0, j - half));
    }

    static DEVICE double center(const Group& g) { return (g.at((g.size - 1) / 2) + g.at(g.size / 2)) / 2; }
    static DEVICE double representative(const Group& g, double)
    {
        return half_way(g.value((g.size - 1) / 2), g.value(g.size / 2));
    }
    static DEVICE double loss(const Group& g, double c)
    {
        return g.sum([&](int i) { return fabs(g.at(i) - c); });
    }
    enum { degree = 1 };
};
