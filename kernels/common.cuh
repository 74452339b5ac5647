// What every kernel shares.  Nothing but CUDA C++ is used: no inline PTX, no headers, no library.
//
// A column is n sorted values x[0..n).  F[j] is the least cost of the first j of them, sizes[j - 1] the size of the last
// group of these j values.  Positions inside a frame count from the column (narrow) or the block (block) that is solved.

typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned u32;
typedef unsigned long long u64;
typedef MAG_REAL real;  // what is computed in: double, or float

#define DEVICE __device__ __forceinline__
#define ALL_LANES 0xffffffffu

DEVICE double infinite() { return __longlong_as_double(0x7ff0000000000000LL); }

// Values far from 1 are divided by a power of two, so that no square overflows or vanishes.
DEVICE double scaled(double value, int scale) { return scale ? ldexp(value, -scale) : value; }

DEVICE i64 flat_thread() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }
