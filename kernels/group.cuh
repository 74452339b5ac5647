// The values of one group relative to its smallest, and their sums in NumPy's order: the same bits as mag/_compiled/groups.py.

enum { LEAF = 128, LEVELS = 24 };

// A sum of value(0) .. value(n-1) as NumPy adds up to LEAF numbers: eight running sums, then the rest.
template <class Value> DEVICE double leaf_sum(const Value& value, int begin, int n)
{
    double sum = -0.0;
    int i = 0;
    if (n >= 8) {
        double r[8];
        #pragma unroll
        for (int q = 0; q < 8; ++q) r[q] = value(begin + q);
        for (i = 8; i < n - n % 8; i += 8) {
            #pragma unroll
            for (int q = 0; q < 8; ++q) r[q] += value(begin + i + q);
        }
        sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; ++i) sum += value(begin + i);
    return sum;
}

DEVICE int first_half(int n) { return n / 2 - n / 2 % 8; }

// As NumPy adds any number of them: halves by themselves.  An explicit stack, because recursion costs registers.
template <class Value> DEVICE double pairwise_sum(const Value& value, int begin, int n)
{
    if (n <= LEAF) return leaf_sum(value, begin, n);
    int first[LEVELS], count[LEVELS], depth = 0;
    double left[LEVELS];
    bool second[LEVELS];
    first[0] = begin;
    count[0] = n;
    for (;;) {
        while (count[depth] > LEAF) {
            second[depth] = false;
            first[depth + 1] = first[depth];
            count[depth + 1] = first_half(count[depth]);
            ++depth;
        }
        double sum = leaf_sum(value, first[depth], count[depth]);
        for (;;) {
            if (depth == 0) return sum;
            --depth;
            if (!second[depth]) break;
            sum = left[depth] + sum;
        }
        const int half = first_half(count[depth]);
        left[depth] = sum;
        second[depth] = true;
        first[depth + 1] = first[depth] + half;
        count[depth + 1] = count[depth] - half;
        ++depth;
    }
}

// The double nearest to the middle of two.
DEVICE double half_way(double low, double high)
{
    const double total = low + high;
    return fabs(total) < infinite() ? total / 2 : low / 2 + high / 2;
}

struct Group {
    const double* x;  // its sorted values
    int size;
    double first, unit;  // groups so wide that sums could overflow are counted in a larger unit
    i64 origin;          // what integers were counted from
    DEVICE double at(int i) const { return unit == 1 ? x[i] - first : x[i] / unit - first / unit; }
    template <class Value> DEVICE double sum(const Value& value) const
    {
        return size > 1 ? value(0) + pairwise_sum(value, 1, size - 1) : value(0);
    }
};
