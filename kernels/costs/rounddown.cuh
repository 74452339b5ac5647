// Sum of distances to the minimum, the sum minus size·min.  See mag/costs/rounddown.py.
struct Rounddown {
    enum { terms = 1 };
    template <class Frame> static DEVICE void term(const Frame& f, int i, real* t) { t[0] = f.value(i); }
    template <class Frame> static DEVICE real left(const Frame& f, int i) { return -f.total(0, i); }
    template <class Frame> static DEVICE real right(const Frame& f, int j) { return f.total(0, j); }
    template <class Frame> static DEVICE real join(const Frame& f, real g, int i, int, int size)
    {
        return g - f.value(i) * (real)size;
    }

    static DEVICE double center(const Group&) { return 0; }
    static DEVICE double representative(const Group& g, double) { return g.first; }
    static DEVICE double loss(const Group& g, double)
    {
        return g.sum([&](int i) { return g.at(i); });
    }
    enum { degree = 1 };
};
