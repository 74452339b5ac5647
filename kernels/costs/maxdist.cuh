// Largest distance to the mid-range, half of the range.  See mag/costs/maxdist.py.
struct Maxdist {
    enum { terms = 0 };
    template <class Frame> static DEVICE void term(const Frame&, int, real*) {}
    template <class Frame> static DEVICE real left(const Frame& f, int i) { return (real)-0.5 * f.value(i); }
    template <class Frame> static DEVICE real right(const Frame& f, int j) { return (real)0.5 * f.value(j - 1); }
    template <class Frame> static DEVICE real join(const Frame&, real g, int, int, int) { return g; }

    static DEVICE double center(const Group& g) { return g.at(g.size - 1) / 2; }
    static DEVICE double representative(const Group& g, double) { return half_way(g.first, g.value(g.size - 1)); }
    static DEVICE double loss(const Group& g, double) { return g.at(g.size - 1) / 2; }
    enum { degree = 1 };
};
