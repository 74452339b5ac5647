// The frame of a diagonal block: what costs see of it.  Positions count from b: rows are negative, columns 0 and more.
struct Frame {
    const double *x, *w;  // values and weights of a column; only some costs read weights
    int scale, n, b;
    double center;     // x[b - 1]
    const real* sums;  // at position 0
    const real* inverse;
    int length;  // of a line of sums
    DEVICE int at(int i) const { return min(max(b + i, 0), n - 1); }
    DEVICE real value(int i) const { return (real)(scaled(x[at(i)], scale) - center); }
    DEVICE real weight(int i) const { return (real)w[at(i)]; }
    DEVICE real total(int t, int i) const { return sums[t * length + i]; }
    DEVICE real reciprocal(int size) const { return inverse[size]; }
};
