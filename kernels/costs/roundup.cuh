// Sum of distances to the maximum, size·max minus the sum.  See mag/costs/roundup.py.
struct Roundup {
    enum { terms = 1 };
    template <class Frame> static DEVICE void term(const Frame& f, int i, real* t) { t[0] = f.value(i); }
    template <class Frame> static DEVICE real left(const Frame& f, int i) { return f.total(0, i); }
    template <class Frame> static DEVICE real right(const Frame& f, int j) { return -f.total(0, j); }
    template <class Frame> static DEVICE real join(const Frame& f, real g, int, int j, int size)
    {
        return g + f.value(j - 1) * (real)size;
    }

    static DEVICE double center(const Group& g) { return g.at(g.size - 1); }
    static DEVICE double representative(const Group& g, double) { return g.value(g.size - 1); }
    static DEVICE double loss(const Group& g, double c)
    {
        return g.sum([&](int i) { return c - g.at(i); });
    }
    enum { degree = 1 };
};
