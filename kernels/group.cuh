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

// The same sum by a thread block of 2^DEPTH threads: the tree's nodes at that depth by a thread each, then their sums.  A
// node of LEAF numbers or fewer is not split further: its value stands at the leftmost place below it.
template <int DEPTH, class Value> DEVICE double sum_by_block(const Value& value, int begin, int n, double* sums)
{
    const int thread = (int)threadIdx.x;
    int first = begin, count = n;
    bool own = true;
    for (int level = DEPTH - 1; level >= 0; --level) {
        const int right = thread >> level & 1;
        if (count <= LEAF) {
            own = own && !right;
            continue;
        }
        const int half = first_half(count);
        first += right ? half : 0;
        count = right ? count - half : half;
    }
    if (own) sums[thread] = pairwise_sum(value, first, count);
    __syncthreads();
    for (int level = 0; level < DEPTH; ++level) {
        count = n;  // of the node of this thread at the depth above
        for (int above = DEPTH - 1; above > level; --above) {
            if (count > LEAF) count = thread >> above & 1 ? count - first_half(count) : first_half(count);
        }
        if (thread % (2 << level) == 0 && own && count > LEAF) sums[thread] = sums[thread] + sums[thread + (1 << level)];
        __syncthreads();
    }
    return sums[0];
}

// The double nearest to the middle of two.
DEVICE double half_way(double low, double high)
{
    const double total = low + high;
    return fabs(total) < infinite() ? total / 2 : low / 2 + high / 2;
}

struct Group {
    const double* x;     // the column's values
    const int* records;  // those of the group, in order; null where x are its sorted values
    int size;
    double first, unit;  // groups so wide that sums could overflow are counted in a larger unit
    i64 origin;          // what integers were counted from
    const double* weights = nullptr;  // of the column's records, read by some costs
    const int* order = nullptr;       // the records of the group
    DEVICE double weight(int i) const { return weights[order[i]]; }
    DEVICE double value(int i) const { return records ? x[records[i]] : x[i]; }
    DEVICE double at(int i) const { return unit == 1 ? value(i) - first : value(i) / unit - first / unit; }
    template <class Value> DEVICE double sum(const Value& value) const
    {
        return size > 1 ? value(0) + pairwise_sum(value, 1, size - 1) : value(0);
    }
};
