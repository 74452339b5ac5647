// A number that counts what is done with it: with -DMAG_REAL=Counted a kernel counts its arithmetic as it runs.
struct Counted {
    double value;
    static inline long long operations = 0;
    Counted() = default;
    template <class Number> Counted(Number number) : value((double)number) {}
    operator double() const { return value; }
};

inline Counted counted(double value)
{
    ++Counted::operations;
    return value;
}

#define COUNTED(result, sign)                                                                                  \
    inline result operator sign(Counted a, Counted b) { return counted(a.value sign b.value); }                \
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>                            \
    result operator sign(Counted a, Number b) { return a sign Counted(b); }                                    \
    template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>                            \
    result operator sign(Number a, Counted b) { return Counted(a) sign b; }
COUNTED(Counted, +)
COUNTED(Counted, -)
COUNTED(Counted, *)
COUNTED(Counted, /)
COUNTED(bool, <)
COUNTED(bool, <=)
COUNTED(bool, >)
COUNTED(bool, ==)
COUNTED(bool, !=)
inline Counted operator-(Counted a) { return -a.value; }
inline Counted& operator+=(Counted& a, Counted b) { return a = a + b; }
inline Counted& operator-=(Counted& a, Counted b) { return a = a - b; }

extern "C" long long operations_so_far() { return Counted::operations; }
