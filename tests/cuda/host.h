// CUDA C++ on the host: `g++ -include host.h` compiles a kernel's source as it is, host.py launches it.
//
// Blocks run one after another.  A thread is a plain call where the source never synchronizes, else a fiber that runs
// until it waits for others.  The caller chooses in which order threads run.  Shared memory is poisoned before every
// block; a barrier that some threads skip, lanes that meet in different places, and waiting for ever are reported.
#pragma once
#include <sys/mman.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__SANITIZE_THREAD__)
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned);
void __tsan_destroy_fiber(void*);
void __tsan_switch_to_fiber(void*, unsigned);
void __tsan_acquire(void*);
void __tsan_release(void*);
}
#define UNCHECKED __attribute__((no_sanitize("thread")))
#else
#define UNCHECKED
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if !defined(__x86_64__) || defined(__SANITIZE_ADDRESS__)
#define PORTABLE_FIBERS 1
#include <ucontext.h>
#endif

// ---- the language

#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("cuda_shared"), used))
struct uint3 { unsigned x, y, z; };

extern "C" {
extern char __start_cuda_shared[] __attribute__((weak));
extern char __stop_cuda_shared[] __attribute__((weak));
}

namespace host {

enum Waiting { RUNNING, AT_BARRIER, IN_WARP, RETURNED };
enum Order { FORWARD, REVERSE, RANDOM };
const size_t STACK = 128 << 10;
const unsigned LANES = 32;

struct Fiber {
    uint3 thread;
    Waiting waiting;
    int line;
    unsigned meetings;
    uint64_t given, received;
    char* stack;
#ifdef PORTABLE_FIBERS
    ucontext_t context;
#else
    void* pointer;
#endif
    void *checker, *fake;  // what the sanitizers know of it
};

struct Abort {};

inline Fiber scheduler, *current = nullptr;
inline std::vector<Fiber> fibers;
inline std::vector<char*> stacks;
inline std::vector<unsigned> turns;
inline uint3 block_index, block_size, grid_size;
inline std::string error;
inline char *dynamic = nullptr, started, ended, met[64][2];
inline uint64_t random_state = 1;
inline bool plain = false;
inline int order = FORWARD;
inline void (*entry)(void*) = nullptr;
inline void* arguments = nullptr;

inline void acquire(void* token)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(token);
#else
    (void)token;
#endif
}

inline void release(void* token)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_release(token);
#else
    (void)token;
#endif
}

UNCHECKED inline void fail(const std::string& what)
{
    if (error.empty()) error = what + " [block " + std::to_string(block_index.x) + "]";
    throw Abort();
}

// The threads of a warp, or of the block, that wait, and where.
struct Meeting {
    unsigned waiting, returned;
    Waiting kind;
    int line;
};

inline Meeting of_warps[LANES], of_block;

// ---- fibers

#ifndef PORTABLE_FIBERS
extern "C" void host_switch(void** save, void* to);
__asm__(R"(
.text
.globl host_switch
.hidden host_switch
.type host_switch,@function
host_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size host_switch,.-host_switch
)");
#endif

UNCHECKED inline void change(Fiber* from, Fiber* to)
{
#if defined(__SANITIZE_THREAD__)
    __tsan_switch_to_fiber(to->checker, 1);  // a switch orders nothing: only barriers and collectives do
#endif
#if defined(__SANITIZE_ADDRESS__)
    void** fake = from->waiting == RETURNED ? nullptr : &from->fake;
    __sanitizer_start_switch_fiber(fake, to == &scheduler ? nullptr : to->stack, to == &scheduler ? 0 : STACK);
#endif
#ifdef PORTABLE_FIBERS
    swapcontext(&from->context, &to->context);
#else
    host_switch(&from->pointer, to->pointer);
#endif
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(from->fake, nullptr, nullptr);
#endif
}

UNCHECKED inline void run_thread()
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
    Fiber* self = current;
    acquire(&started);
    try {
        entry(arguments);
    } catch (Abort&) {
    }
    release(&ended);
    self->waiting = RETURNED;
    ++of_warps[(self - fibers.data()) / LANES].returned;
    ++of_block.returned;
    change(self, &scheduler);
}

UNCHECKED inline void prepare(Fiber& fiber, char* stack)
{
    fiber.stack = stack;
    fiber.waiting = RUNNING;
    fiber.fake = nullptr;
    fiber.meetings = 0;
#ifdef PORTABLE_FIBERS
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = stack;
    fiber.context.uc_stack.ss_size = STACK;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, run_thread, 0);
#else
    void** top = (void**)(stack + STACK);
    *--top = nullptr;  // where run_thread would return to
    *--top = (void*)run_thread;
    for (int saved = 0; saved < 6; ++saved) *--top = nullptr;
    fiber.pointer = top;
#endif
#if defined(__SANITIZE_THREAD__)
    fiber.checker = __tsan_create_fiber(0);
#endif
}

// ---- meeting: a barrier of the block, or a collective of a warp

UNCHECKED inline void arrive(Meeting& meeting, Waiting kind, int line)
{
    if (meeting.returned) fail("line " + std::to_string(line) + " waits for a thread that has returned");
    if (meeting.waiting && (meeting.kind != kind || meeting.line != line))
        fail("threads meet in line " + std::to_string(line) + " and in line " + std::to_string(meeting.line));
    meeting.kind = kind;
    meeting.line = line;
    ++meeting.waiting;
}

UNCHECKED inline void leave(unsigned first, unsigned past)
{
    for (unsigned t = first; t < past; ++t) {
        fibers[t].waiting = RUNNING;
        of_warps[t / LANES].waiting = 0;
    }
}

UNCHECKED inline void meet(Waiting kind, int line)
{
    Fiber* self = current;
    const unsigned count = (unsigned)fibers.size(), id = (unsigned)(self - fibers.data());
    const unsigned first = id / LANES * LANES, past = first + LANES < count ? first + LANES : count;
    self->waiting = kind;
    self->line = line;
    arrive(of_warps[id / LANES], kind, line);  // warps may reach a barrier one after the other, their lanes may not
    if (kind == AT_BARRIER) {
        arrive(of_block, kind, line);
        if (of_block.waiting == count) {
            of_block.waiting = 0;
            leave(0, count);
        }
    } else if (of_warps[id / LANES].waiting == past - first)
        leave(first, past);
    change(self, &scheduler);
    if (!error.empty()) throw Abort();
    current = self;
}

// A barrier, which orders memory.  Two tokens in turn: who arrives early for the next must not be taken for the last.
UNCHECKED inline void together(Waiting kind, int line)
{
    if (plain) fail("a barrier in a kernel that was launched as independent threads");
    Fiber* self = current;
    const unsigned id = (unsigned)(self - fibers.data());
    void* token = &met[kind == IN_WARP ? id / LANES : 63][self->meetings++ & 1];
    release(token);
    meet(kind, line);
    acquire(token);
}

// A collective of a warp, which orders no memory.
template <class T> UNCHECKED inline T exchange(unsigned lanes, T value, unsigned source, int line)
{
    static_assert(sizeof(T) <= 8, "at most eight bytes");
    if (plain) fail("a collective in a kernel that was launched as independent threads");
    if (lanes != 0xffffffffu || fibers.size() % LANES) fail("only whole warps are supported");
    Fiber* self = current;
    self->given = 0;
    memcpy(&self->given, &value, sizeof value);
    meet(IN_WARP, line);
    const unsigned id = (unsigned)(self - fibers.data());
    self->received = fibers[id / LANES * LANES + source % LANES].given;
    meet(IN_WARP, -line);  // nobody gives again before all have received
    memcpy(&value, &self->received, sizeof value);
    return value;
}

inline unsigned lane() { return (unsigned)(current - fibers.data()) % LANES; }

UNCHECKED inline int any(unsigned lanes, int condition, int line)
{
    int found = condition != 0;
    for (unsigned distance = 1; distance < LANES; distance <<= 1)
        found |= exchange(lanes, found, lane() ^ distance, line);
    return found;
}

// The lanes whose value equals this lane's, as bits.
UNCHECKED inline unsigned match(unsigned lanes, int value, int line)
{
    if (lanes != 0xffffffffu || fibers.size() % LANES) fail("only whole warps are supported");
    if (plain) fail("a collective in a kernel that was launched as independent threads");
    Fiber* self = current;
    self->given = (uint64_t)(int64_t)value;
    meet(IN_WARP, line);
    const Fiber* warp = fibers.data() + (self - fibers.data()) / LANES * LANES;
    unsigned equal = 0;
    for (unsigned other = 0; other < LANES; ++other) equal |= (unsigned)(warp[other].given == self->given) << other;
    meet(IN_WARP, -line);
    return equal;
}

// ---- launches

UNCHECKED inline uint64_t random_number()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

UNCHECKED inline void poison(char* memory, size_t bytes)
{
    for (volatile char* place = memory; bytes--;) *place++ = (char)0xCB;
}

UNCHECKED inline unsigned turn(unsigned i, unsigned count)
{
    return order == FORWARD ? i : order == REVERSE ? count - 1 - i : turns[i];
}

UNCHECKED inline void shuffle_turns(unsigned count)
{
    if (order != RANDOM) return;
    for (unsigned i = count - 1; i > 0; --i) std::swap(turns[i], turns[random_number() % (i + 1)]);
}

UNCHECKED inline void run_plain(unsigned count)
{
    static Fiber only;
    current = &only;
    shuffle_turns(count);
    for (unsigned i = 0; i < count && error.empty(); ++i) {
        only.thread = {turn(i, count), 0, 0};
        try {
            entry(arguments);
        } catch (Abort&) {
        }
    }
}

UNCHECKED inline void run_fibers(unsigned count)
{
    fibers.resize(count);
    of_block = Meeting();
    for (Meeting& meeting : of_warps) meeting = Meeting();
    while (stacks.size() < count)
        stacks.push_back((char*)mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (unsigned t = 0; t < count; ++t) {
        fibers[t].thread = {t, 0, 0};
        prepare(fibers[t], stacks[t]);
    }
#if defined(__SANITIZE_THREAD__)
    scheduler.checker = __tsan_get_current_fiber();
#endif
    scheduler.waiting = RUNNING;
    release(&started);
    for (bool moved = true; moved && error.empty();) {
        moved = false;
        shuffle_turns(count);
        for (unsigned i = 0; i < count && error.empty(); ++i) {
            Fiber& fiber = fibers[turn(i, count)];
            if (fiber.waiting != RUNNING) continue;
            moved = true;
            current = &fiber;
            change(&scheduler, &fiber);
        }
    }
    for (unsigned t = 0; t < count && error.empty(); ++t)
        if (fibers[t].waiting != RETURNED) error = "thread " + std::to_string(t) + " waits for ever in line " + std::to_string(fibers[t].line);
    acquire(&ended);
#if defined(__SANITIZE_THREAD__)
    for (unsigned t = 0; t < count; ++t) __tsan_destroy_fiber(fibers[t].checker);
#endif
}

template <class... A, size_t... I>
int launch(void (*kernel)(A...), void** values, std::index_sequence<I...>, unsigned grid, unsigned threads, size_t bytes,
           int independent, int chosen, uint64_t seed)
{
    struct Call { void (*kernel)(A...); void** values; } call{kernel, values};
    entry = [](void* p) { auto c = (Call*)p; c->kernel(*(std::remove_reference_t<A>*)c->values[I]...); };
    arguments = &call;
    error.clear();
    plain = independent;
    order = chosen;
    random_state = seed * 0x9E3779B97F4A7C15ull | 1;
    grid_size = {grid, 1, 1};
    block_size = {threads, 1, 1};
    turns.resize(threads);
    for (unsigned t = 0; t < threads; ++t) turns[t] = t;
    std::vector<double> memory(bytes / 8 + 1);
    dynamic = (char*)memory.data();
    for (unsigned b = 0; b < grid && error.empty(); ++b) {
        block_index = {order == REVERSE ? grid - 1 - b : b, 0, 0};
        if (__start_cuda_shared) poison(__start_cuda_shared, __stop_cuda_shared - __start_cuda_shared);
        poison(dynamic, bytes);
        plain ? run_plain(threads) : run_fibers(threads);
    }
    return !error.empty();
}

// What a parameter is: its size, and whether it is a pointer (0), an integer (1) or a floating-point number (2).
template <class... A> int describe(void (*)(A...), unsigned char* out)
{
    const unsigned char kinds[][2] = {{(unsigned char)sizeof(A), (unsigned char)(std::is_pointer<A>::value ? 0 : std::is_integral<A>::value ? 1 : 2)}...};
    memcpy(out, kinds, sizeof kinds);
    return sizeof...(A);
}

template <class... A>
int start(void (*kernel)(A...), void** values, unsigned grid, unsigned threads, size_t bytes, int independent, int chosen, uint64_t seed)
{
    return launch(kernel, values, std::index_sequence_for<A...>(), grid, threads, bytes, independent, chosen, seed);
}

}  // namespace host

#define HOST_KERNEL(name)                                                                                             \
    extern "C" int host_start_##name(void** values, unsigned grid, unsigned threads, size_t bytes, int independent,   \
                                     int order, uint64_t seed)                                                        \
    {                                                                                                                 \
        return host::start(name, values, grid, threads, bytes, independent, order, seed);                             \
    }                                                                                                                 \
    extern "C" int host_describe_##name(unsigned char* out) { return host::describe(name, out); }
#define HOST_END extern "C" const char* host_error() { return host::error.c_str(); }

// ---- what kernels use

#define threadIdx (host::current->thread)
#define blockIdx (host::block_index)
#define blockDim (host::block_size)
#define gridDim (host::grid_size)
#define __syncthreads() host::together(host::AT_BARRIER, __LINE__)
#define __syncwarp() host::together(host::IN_WARP, __LINE__)
#define __shfl_sync(lanes, value, source) host::exchange(lanes, value, (unsigned)(source), __LINE__)
#define __shfl_xor_sync(lanes, value, distance) host::exchange(lanes, value, host::lane() ^ (unsigned)(distance), __LINE__)
#define __any_sync(lanes, condition) host::any(lanes, condition, __LINE__)
#define __match_any_sync(lanes, value) host::match(lanes, value, __LINE__)

inline double __longlong_as_double(long long bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}
inline float __int_as_float(int bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}
inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int atomicAdd(int* place, int value) { return __atomic_fetch_add(place, value, __ATOMIC_RELAXED); }
template <class Bits> inline Bits atomicOr(Bits* place, Bits value) { return __atomic_fetch_or(place, value, __ATOMIC_RELAXED); }
template <class A, class B> inline std::common_type_t<A, B> min(A a, B b) { return b < a ? b : a; }
template <class A, class B> inline std::common_type_t<A, B> max(A a, B b) { return a < b ? b : a; }
