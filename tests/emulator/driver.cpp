// An emulated CUDA driver and runtime: devices without a GPU.  What CuPy calls of both APIs, on the host.
//
// Work is queued on streams.  By default it runs at once; with EMULATOR_LAZY=1 it runs only when something waits for
// it, and then no more than what is waited for, so that what was not ordered by streams and events shows.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <vector>

#include "device.h"
#include "profile.h"

#define API extern "C" __attribute__((visibility("default")))

namespace {
// ---------------------------------------------------------------- settings
long setting(const char* name, long otherwise) {
    const char* s = getenv(name);
    return s && *s ? atol(s) : otherwise;
}
// Numbers of the devices that CUDA_VISIBLE_DEVICES leaves, in its order: up to the first that there is not, none if one
// comes twice.
std::vector<int> visible_devices() {
    int all = (int)setting("EMULATOR_DEVICES", 1);
    const char* listed = getenv("CUDA_VISIBLE_DEVICES");
    std::vector<int> visible(listed ? 0 : all);
    std::iota(visible.begin(), visible.end(), 0);
    while (listed && *listed) {
        char* end;
        long number = strtol(listed, &end, 10);
        if (end == listed || (*end && *end != ',') || number < 0 || number >= all) break;
        if (std::count(visible.begin(), visible.end(), number)) return {};
        visible.push_back((int)number);
        listed = *end ? end + 1 : end;
    }
    return visible;
}
const std::vector<int> VISIBLE = visible_devices();
const int DEVICES = (int)VISIBLE.size();
const bool LAZY = setting("EMULATOR_LAZY", 0), LOG = setting("EMULATOR_LOG", 0);
const int STRICT =
    (int)setting("EMULATOR_STRICT", 1);  // 2: no barrier may be reached after a thread of the block returned
const bool SERIAL =
    setting("EMULATOR_SERIAL_PEERS", 1);  // copies between devices on a default stream wait for both, and both for them
const bool PEERS = setting("EMULATOR_PEERS", 1);
const int ORDER = (int)setting("EMULATOR_ORDER", 0);  // of threads: 0 forward, 1 reverse, 2 random
const uint64_t SEED = (uint64_t)setting("EMULATOR_SEED", 1);
const size_t TOTAL = (size_t)setting("EMULATOR_MEMORY", 8l << 30);
const int SMS = (int)setting("EMULATOR_SMS", 108), MAJOR = (int)setting("EMULATOR_CC", 80) / 10,
          MINOR = (int)setting("EMULATOR_CC", 80) % 10;
const size_t SHARED_DEFAULT = 48 << 10, SHARED_OPTIN = 163 << 10, SHARED_SM = 164 << 10;

void log(const char* format, ...) {
    if (!LOG) return;
    va_list a;
    va_start(a, format);
    fputs("emulator: ", stderr);
    vfprintf(stderr, format, a);
    fputc('\n', stderr);
    va_end(a);
}
void tell(const char* format, ...) {
    va_list a;
    va_start(a, format);
    fputs("emulator: ", stderr);
    vfprintf(stderr, format, a);
    fputc('\n', stderr);
    va_end(a);
}

std::recursive_mutex lock;
typedef std::lock_guard<std::recursive_mutex> Guard;
int sticky = 0;  // the error of a kernel that failed: all later calls return it
thread_local int device = 0, last = 0;
uint64_t launches = 0;
uint64_t queued = 0, interrupted = 0;  // pieces of work, and the number of the one that Ctrl-C follows
uint64_t copied[2];  // bytes from the host to devices, and back

// ---------------------------------------------------------------- memory
enum Kind { DEVICE, PINNED, MANAGED, REGISTERED, MODULE };
struct Block {
    size_t size;
    Kind kind;
    int device;
    void* base;
};
std::map<uintptr_t, Block> blocks;
size_t used[64];
emu::Api api;

const std::pair<const uintptr_t, Block>* find(const void* p) {
    auto i = blocks.upper_bound((uintptr_t)p);
    if (i == blocks.begin()) return nullptr;
    --i;
    return (uintptr_t)p < i->first + std::max<size_t>(1, i->second.size) ? &*i : nullptr;
}
bool on_device(const void* p) {
    auto b = find(p);
    return b && (b->second.kind == DEVICE || b->second.kind == MANAGED || b->second.kind == MODULE);
}
bool pageable(const void* p) { return !find(p); }
constexpr size_t POISONED = 1l << 30;  // larger ones would take as much memory of the host
int allocate(void** out, size_t size, Kind kind, int where) {
    *out = nullptr;
    if (!size) return 0;
    if (kind == DEVICE || kind == MANAGED) {
        if (used[where] + size > TOTAL) return cudaErrorMemoryAllocation;
        used[where] += size;
    }
    void* p = nullptr;
    if (posix_memalign(&p, 512, (size + 511) / 512 * 512)) return cudaErrorMemoryAllocation;
    if (size < POISONED) memset(p, 0xCB, size);  // nothing may count on zeros
    blocks[(uintptr_t)p] = {size, kind, where, p};
    *out = p;
    return 0;
}
int release(void* p, bool host) {
    if (!p) return 0;
    auto i = blocks.find((uintptr_t)p);
    if (i == blocks.end() || (i->second.kind == PINNED) != host || i->second.kind == MODULE ||
        i->second.kind == REGISTERED) {
        tell("free of %p, which was not allocated", p);
        return cudaErrorInvalidValue;
    }
    if (!host) used[i->second.device] -= i->second.size;
    if (i->second.size < POISONED) memset(p, 0xDD, i->second.size);
    free(p);
    blocks.erase(i);
    ++api.epoch;
    return 0;
}

// ---------------------------------------------------------------- streams and events
struct Stream;
struct Op {
    uint64_t number;
    std::function<void()> run;
    std::vector<std::pair<std::shared_ptr<Stream>, uint64_t>> after;
};
struct Stream {
    int device;
    bool blocking;
    unsigned flags;
    int priority;
    std::deque<Op> queue;
    uint64_t done = 0, tail = 0;
};
typedef std::shared_ptr<Stream> S;
struct Event {
    int device;
    unsigned flags;
    S stream;
    uint64_t number = 0;
    double time = 0;
    bool recorded = false;
};
std::map<void*, S> streams;
std::map<void*, std::shared_ptr<Event>> events;
S defaults[64];
double now() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

S stream_of(void* handle) {
    if ((uintptr_t)handle == 2) {  // the default stream of this thread, which no other thread can name
        static thread_local S own[64];
        static uintptr_t next = 0x70000000;
        if (!own[device]) {
            own[device] = std::make_shared<Stream>(Stream{device, true, 0, 0});
            streams[(void*)(next += 16)] = own[device];
        }
        return own[device];
    }
    if ((uintptr_t)handle < 2) {
        if (!defaults[device]) defaults[device] = std::make_shared<Stream>(Stream{device, true, 0, 0});
        return defaults[device];
    }
    auto i = streams.find(handle);
    return i == streams.end() ? nullptr : i->second;
}
void drain(const S& s, uint64_t upto) {
    while (s->done < upto && !s->queue.empty()) {
        for (auto& [other, number] : s->queue.front().after)
            if (other != s) drain(other, number);
        Op op = std::move(s->queue.front());
        s->queue.pop_front();
        int kept = device;
        device = s->device;
        if (!sticky) op.run();
        device = kept;
        s->done = op.number;
    }
}
void drain_all(int which) {
    if (defaults[which]) drain(defaults[which], defaults[which]->tail);
    std::vector<S> all;
    for (auto& [_, s] : streams)
        if (s->device == which) all.push_back(s);
    for (auto& s : all) drain(s, s->tail);
}
void push(const S& s, std::function<void()> run, std::vector<std::pair<S, uint64_t>> after = {}) {
    S zero = defaults[s->device];
    if (s == zero) {
        for (auto& [_, o] : streams)
            if (o->device == s->device && o->blocking && o->tail > o->done) after.push_back({o, o->tail});
    } else if (s->blocking && zero && zero->tail > zero->done)
        after.push_back({zero, zero->tail});
    s->queue.push_back({++s->tail, std::move(run), std::move(after)});
    if (!LAZY) drain(s, s->tail);
    if (++queued == interrupted) raise(SIGINT);
}

// ---------------------------------------------------------------- threads of a kernel
enum State : unsigned char { RUN, BAR, WARP, DONE };
struct Group;
struct Fiber : emu::Thread {
    State state;
    int line;
    const char* op;
    unsigned mask;
    uint64_t value, result;
    int arg, pred;
    void* sp;
    char* stack;
};
struct Group : emu::Warp {
    Fiber* lane[32];
    int n;
    unsigned waiting;
};
constexpr size_t STACK = 128 << 10;
char* stacks = nullptr;
std::vector<Fiber> fibers;
std::vector<Group> warps;
std::vector<unsigned> order;
Fiber scheduler;
unsigned count, arrived, finished;
int bar_line, bar_result;
const char* bar_op;
bool failed, together, traced;
std::string error;
int error_code;
const emu::Kernel* entry;
char** given;
uint64_t random_state = 1;
uint64_t draw() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}
const char* running = "";

extern "C" void emulator_switch(void** save, void* to);
__asm__(R"(
.text
.globl emulator_switch
.hidden emulator_switch
.type emulator_switch,@function
emulator_switch:
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
.size emulator_switch,.-emulator_switch
)");
void open_barrier() {
    arrived = 0;
    if (traced) {
        profile::replay_all(count);
        profile::pass_barrier();
    }
    for (auto& g : fibers)
        if (g.state == BAR) {
            g.state = RUN;
            g.result = bar_result;
        }
}
void leave() {
    Fiber* f = (Fiber*)api.cur;
    f->state = DONE;
    if (++finished + arrived == count && arrived) open_barrier();
    f->warp->alive &= ~(1u << f->lane);
    emulator_switch(&f->sp, scheduler.sp);
    abort();
}
void yield() {
    Fiber* f = (Fiber*)api.cur;
    emulator_switch(&f->sp, scheduler.sp);
    api.cur = f;
}
void note(int code, const char* format, va_list a) {
    if (failed) return;
    char b[1024], c[1500];
    vsnprintf(b, sizeof b, format, a);
    snprintf(c, sizeof c, "%s: %s [block (%u,%u,%u)", running, b, api.block.x, api.block.y, api.block.z);
    error = c;
    if (api.cur) {
        snprintf(c, sizeof c, ", thread (%u,%u,%u)", api.cur->tid.x, api.cur->tid.y, api.cur->tid.z);
        error += c;
    }
    error += "]";
    failed = true;
    error_code = code;
}
void fail(const char* format, ...) {
    va_list a;
    va_start(a, format);
    note(strstr(format, "misaligned") ? 716 : strstr(format, "access") ? 700 : 719, format, a);
    va_end(a);
    Fiber* f = (Fiber*)api.cur;
    emulator_switch(&f->sp, scheduler.sp);
    abort();  // its stack is left as it is
}
void stuck(const char* format, ...) {
    va_list a;
    va_start(a, format);
    note(719, format, a);
    va_end(a);
}
void range(emu::Site* s, const char* p, unsigned n, int line) {
    uintptr_t at = (uintptr_t)p, low = 0, high = 0;
    if (p >= api.shared && p < api.shared + api.shared_size)
        low = (uintptr_t)api.shared, high = low + api.shared_size;
    else if (p >= stacks && p < stacks + 1025 * STACK)
        low = (uintptr_t)stacks, high = low + 1025 * STACK;
    else if (auto b = find(p)) {
        if ((b->second.kind == DEVICE) && b->second.device != device && !PEERS)
            fail("access to memory of device %d on device %d, %u bytes at %p, PTX line %d", b->second.device, device, n,
                 p, line);
        low = b->first, high = low + b->second.size;
    } else
        fail("access to %u bytes at %p, which is memory of nobody on the device, PTX line %d", n, p, line);
    if (at + n > high)
        fail("access to %u bytes at %p, beyond %zu bytes that were allocated, PTX line %d", n, p, (size_t)(high - low),
             line);
    *s = {low, high, api.epoch};
}
int block_sync(const char* op, int line, int kind, int pred) {
    Fiber* f = (Fiber*)api.cur;
    f->state = BAR;
    f->line = line;
    f->op = op;
    if (!arrived) {
        bar_line = line;
        bar_op = op;
        bar_result = kind == 2;
    } else if (STRICT && bar_line != line)
        fail("divergent barrier: PTX line %d while others wait at line %d", line, bar_line);
    if (kind == 1)
        bar_result += pred != 0;
    else if (kind == 2)
        bar_result &= pred != 0;
    else if (kind == 3)
        bar_result |= pred != 0;
    if (STRICT > 1 && finished) fail("barrier at PTX line %d after %u threads returned", line, finished);
    if (++arrived + finished == count) open_barrier();
    yield();
    return (int)f->result;
}
uint64_t collective(const char* op, int kind, int line, unsigned mask, uint64_t value, int arg) {
    Fiber* f = (Fiber*)api.cur;
    Group* w = (Group*)f->warp;
    if (!(mask >> f->lane & 1)) fail("%s at PTX line %d: lane %u is not in mask %08x", op, line, f->lane, mask);
    unsigned exist = w->n == 32 ? ~0u : (1u << w->n) - 1;
    if (STRICT && (mask & exist & ~w->alive))
        fail("%s at PTX line %d: mask %08x names lanes that have returned (%08x are there)", op, line, mask, w->alive);
    f->state = WARP;
    f->line = line;
    f->op = op;
    f->mask = mask;
    f->value = value;
    f->arg = arg;
    w->waiting |= 1u << f->lane;
    unsigned need = mask & w->alive;
    if (unsigned o = w->waiting & mask & ~(1u << f->lane)) {
        Fiber* g = w->lane[__builtin_ctz(o)];
        if (g->mask != mask)
            fail("%s at PTX line %d: lane %u waits at line %d with mask %08x, this one has %08x", op, line, g->lane,
                 g->line, g->mask, mask);
        if (STRICT && g->line != line)
            fail("divergent %s at PTX line %d: lane %u is in %s, line %d", op, line, g->lane, g->op, g->line);
    }
    if ((w->waiting & need) == need) {
        unsigned ballot = 0;
        uint64_t reduced = 0;
        bool first = true, same = true;
        uint64_t one = 0;
        for (int l = 0; l < w->n; ++l)
            if (need >> l & 1) {
                uint64_t v = w->lane[l]->value;
                if (v) ballot |= 1u << l;
                if (first) one = v;
                same &= v == one;
                int32_t a = (int32_t)reduced, b = (int32_t)v;
                bool sign = w->lane[l]->arg;
                switch (kind) {
                    case emu::RADD: reduced = (uint32_t)(reduced + v); break;
                    case emu::RMIN:
                        reduced = first  ? v
                                  : sign ? (uint32_t)std::min(a, b)
                                         : std::min((uint32_t)reduced, (uint32_t)v);
                        break;
                    case emu::RMAX:
                        reduced = first  ? v
                                  : sign ? (uint32_t)std::max(a, b)
                                         : std::max((uint32_t)reduced, (uint32_t)v);
                        break;
                    case emu::RAND_: reduced = first ? v : reduced & v; break;
                    case emu::ROR: reduced |= v; break;
                    case emu::RXOR: reduced ^= v; break;
                    default: break;
                }
                first = false;
            }
        for (int l = 0; l < w->n; ++l)
            if (need >> l & 1) {
                Fiber* g = w->lane[l];
                switch (kind) {
                    case emu::SHFL:
                        g->result = (need >> (g->arg & 31) & 1) ? w->lane[g->arg & 31]->value : 0xDEADBEEF;
                        break;
                    case emu::BALLOT: g->result = ballot; break;
                    case emu::MATCH: {
                        unsigned m = 0;
                        for (int j = 0; j < w->n; ++j)
                            if ((need >> j & 1) && w->lane[j]->value == g->value) m |= 1u << j;
                        g->result = m;
                        break;
                    }
                    case emu::MATCHALL: g->result = same ? need : 0; break;
                    case emu::SYNC: break;
                    default: g->result = reduced;
                }
                g->state = RUN;
            }
        w->waiting &= ~need;
        if (traced && need == w->alive && (size_t)(f->trace->at - f->trace->begin) > profile::LONG)
            profile::replay(&profile::traces[f->linear / 32 * 32], w->n);
    }
    yield();
    return f->result;
}
void fiber_main() {
    entry->run(given);
    leave();
}
void start(Fiber& f, unsigned t) {
    const emu::Dim& d = api.block_dim;
    f.tid = {t % d.x, t / d.x % d.y, t / (d.x * d.y)};
    f.lane = t & 31;
    f.linear = t;
    f.state = RUN;
    f.trace = traced ? &profile::traces[t] : nullptr;
    void** s = (void**)(f.stack + STACK - (t * 192 & 8191));
    *--s = nullptr;
    *--s = (void*)fiber_main;
    for (int i = 0; i < 6; ++i) *--s = nullptr;
    f.sp = s;
}
void plain_main() {  // threads that do not wait for each other: one after the other, on one stack
    for (;;) {
        for (unsigned i = 0; i < count; ++i) {
            unsigned t = ORDER == 0 ? i : ORDER == 1 ? count - 1 - i : order[i];
            const emu::Dim& d = api.block_dim;
            Fiber& f = fibers[0];
            f.tid = {t % d.x, t / d.x % d.y, t / (d.x * d.y)};
            f.lane = t & 31;
            f.linear = t;
            if (traced) f.trace = &profile::traces[t];
            entry->run(given);
        }
        finished = count;
        yield();
    }
}
void run_block() {
    if (api.shared_size) memset(api.shared, 0xCB, api.shared_size);
    arrived = finished = 0;
    if (!together) {
        api.cur = &fibers[0];
        emulator_switch(&scheduler.sp, fibers[0].sp);
        api.cur = nullptr;
        return;
    }
    for (unsigned t = 0; t < count; ++t) {
        Fiber& f = fibers[t];
        Group& w = warps[t >> 5];
        f.warp = &w;
        w.lane[t & 31] = &f;
        start(f, t);
    }
    for (size_t i = 0; i < warps.size(); ++i) {
        Group& w = warps[i];
        w.n = std::min(32u, count - 32 * (unsigned)i);
        w.alive = w.n == 32 ? ~0u : (1u << w.n) - 1;
        w.waiting = 0;
    }
    while (finished < count && !failed) {
        bool progress = false;
        if (ORDER == 2)
            for (unsigned i = count - 1; i > 0; --i) std::swap(order[i], order[draw() % (i + 1)]);
        for (unsigned i = 0; i < count && !failed; ++i) {
            Fiber& f = fibers[ORDER == 0 ? i : ORDER == 1 ? count - 1 - i : order[i]];
            if (f.state != RUN) continue;
            progress = true;
            api.cur = &f;
            emulator_switch(&scheduler.sp, f.sp);
            api.cur = nullptr;
        }
        if (!progress && !failed)
            for (auto& f : fibers)
                if (f.state == BAR || f.state == WARP) {
                    stuck("deadlock: thread (%u,%u,%u) waits in %s, PTX line %d; %u returned", f.tid.x, f.tid.y,
                          f.tid.z, f.op, f.line, finished);
                    break;
                }
    }
}
struct Launch {
    const emu::Kernel* kernel;
    const emu::Basic* basics;
    emu::Dim grid, block;
    unsigned dynamic;
    std::vector<std::vector<char>> params;
    std::string name;
};
void run(Launch& l) {
    if (!stacks) {
        stacks = (char*)mmap(nullptr, 1025 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                             -1, 0);
        api.epoch++;
    }
    std::vector<char*> params;
    for (auto& p : l.params) params.push_back(p.data());
    entry = l.kernel;
    given = params.data();
    running = l.name.c_str();
    together = l.kernel->together;
    failed = false;
    api.block_dim = l.block;
    api.grid_dim = l.grid;
    count = l.block.x * l.block.y * l.block.z;
    unsigned fixed = (l.kernel->shared + 15) / 16 * 16;
    static char* memory = nullptr;
    free(memory);
    memory = nullptr;
    api.shared_size = fixed + l.dynamic;
    api.dynamic_size = l.dynamic;
    if (posix_memalign((void**)&memory, 1024, api.shared_size + 64)) abort();
    api.shared = memory;
    ++api.epoch;
    random_state = SEED * 0x9E3779B97F4A7C15ull | 1;
    fibers.assign(together ? count : 1, Fiber());
    warps.assign((count + 31) / 32, Group());
    for (size_t i = 0; i < fibers.size(); ++i) fibers[i].stack = stacks + i * STACK;
    order.resize(count);
    for (unsigned i = 0; i < count; ++i) order[i] = i;
    if (ORDER == 2)
        for (unsigned i = count - 1; i > 0; --i) std::swap(order[i], order[draw() % (i + 1)]);
    if (!together) {
        fibers[0].warp = &warps[0];
        warps[0].alive = ~0u;
        void** s = (void**)(fibers[0].stack + STACK);
        *--s = nullptr;
        *--s = (void*)plain_main;
        for (int i = 0; i < 6; ++i) *--s = nullptr;
        fibers[0].sp = s;
    }
    double begin = now();
    uint64_t all = (uint64_t)l.grid.x * l.grid.y * l.grid.z;
    traced = l.basics;
    if (traced) {
        profile::shared_low = api.shared;
        profile::shared_high = api.shared + api.shared_size;
        profile::stack_low = stacks;
        profile::stack_high = stacks + 1025 * STACK;
        size_t fit = std::min<size_t>({32, 2048 / ((count + 31) / 32 * 32), SHARED_SM / (api.shared_size + 1024)});
        profile::begin(l.name, l.basics, count, all, SMS * fit);
    }
    uint64_t step = draw() % (1u << 20) + 1, shift = draw() % all;  // of blocks in a random order
    while (std::gcd(step, all) > 1) ++step;
    for (uint64_t j = 0; j < all && !failed; ++j) {
        uint64_t b = ORDER == 0 ? j : ORDER == 1 ? all - 1 - j : (j * step + shift) % all;
        api.block = {(unsigned)(b % l.grid.x), (unsigned)(b / l.grid.x % l.grid.y),
                     (unsigned)(b / l.grid.x / l.grid.y)};
        run_block();
        if (traced && !failed) {
            profile::replay_all(count);
            profile::end_block();
        }
    }
    if (traced && !failed) profile::end();
    ++launches;
    if (LOG) log("%s<<<%u,%u>>> %.1f ms", running, l.grid.x, count, now() - begin);
    if (failed) {
        tell("kernel failed: %s", error.c_str());
        sticky = error_code;
    }
}

// ---------------------------------------------------------------- modules
struct Function {
    std::string name;
    const emu::Kernel* kernel;
    int dynamic;
    int device;
    const emu::Basic* basics;
};
struct Module {
    void* library;
    std::map<std::string, Function> functions;
    std::map<std::string, emu::Global> variables;
    int device;
};
typedef int (*Compile)(const char* ptx, char* path, int length);
Compile compile = nullptr;
int bad(int code) {
    if (code) {
        last = code;
        log("error %d", code);
    }
    return code;
}
bool there(int d) { return d >= 0 && d < DEVICES; }
char contexts[64];
}  // namespace

API void emulator_compiler(Compile f) { compile = f; }
API uint64_t emulator_launches() { return launches; }
API uint64_t emulator_queued() { return queued; }
API void emulator_interrupt(uint64_t after) { interrupted = after ? queued + after : 0; }
API uint64_t emulator_copied(int to_host) { return copied[to_host != 0]; }
API const char* emulator_error() { return error.c_str(); }
API void emulator_profile(uint64_t cache) {  // bytes of the second cache; 0: off
    Guard g(lock);
    profile::start(cache);
}
API const char* emulator_profiled() {
    Guard g(lock);
    static std::string kept;
    kept = profile::report();
    return kept.c_str();
}
API void emulator_forget() {
    sticky = 0;
    error.clear();
}

// ---------------------------------------------------------------- driver API
struct Name {
    int code;
    const char* name;
    const char* text;
};
static const Name NAMES[] = {{0, "SUCCESS", "no error"},
                             {1, "INVALID_VALUE", "invalid argument"},
                             {2, "OUT_OF_MEMORY", "out of memory"},
                             {3, "NOT_INITIALIZED", "initialization error"},
                             {100, "NO_DEVICE", "no CUDA-capable device is detected"},
                             {101, "INVALID_DEVICE", "invalid device ordinal"},
                             {200, "INVALID_IMAGE", "device kernel image is invalid"},
                             {201, "INVALID_CONTEXT", "invalid device context"},
                             {209, "NO_BINARY_FOR_GPU", "no kernel image is available for execution on the device"},
                             {218, "INVALID_PTX", "a PTX JIT compilation failed"},
                             {400, "INVALID_HANDLE", "invalid resource handle"},
                             {500, "NOT_FOUND", "named symbol not found"},
                             {600, "NOT_READY", "device not ready"},
                             {700, "ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
                             {701, "LAUNCH_OUT_OF_RESOURCES", "too many resources requested for launch"},
                             {704, "PEER_ACCESS_ALREADY_ENABLED", "peer access is already enabled"},
                             {705, "PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
                             {716, "MISALIGNED_ADDRESS", "misaligned address"},
                             {719, "LAUNCH_FAILED", "unspecified launch failure"},
                             {801, "NOT_SUPPORTED", "operation not supported"},
                             {999, "UNKNOWN", "unknown error"}};
static const Name& named(int code) {
    for (auto& n : NAMES)
        if (n.code == code) return n;
    return NAMES[sizeof NAMES / sizeof *NAMES - 1];
}
static const char* kept(const std::string& s) {
    static std::map<std::string, std::string> all;
    Guard g(lock);
    return (all[s] = s).c_str();
}

API CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
API CUresult cuGetExportTable(const void** table, const CUuuid*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}  // NVRTC asks for one, of its cache
API CUresult cuDriverGetVersion(int* v) {
    *v = CUDA_VERSION;
    return CUDA_SUCCESS;
}
API CUresult cuGetErrorName(CUresult e, const char** s) {
    *s = kept(std::string("CUDA_") + (e ? "ERROR_" : "") + named(e).name);
    return CUDA_SUCCESS;
}
API CUresult cuGetErrorString(CUresult e, const char** s) {
    *s = named(e).text;
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGetCount(int* n) {
    *n = DEVICES;
    return CUDA_SUCCESS;
}
API CUresult cuDeviceGet(CUdevice* d, int i) {
    *d = i;
    return there(i) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
#undef cuDevicePrimaryCtxRelease
#undef cuCtxCreate
#undef cuCtxDestroy
#undef cuLinkCreate
#undef cuLinkAddData
#undef cuLinkAddFile
#undef cuModuleGetGlobal
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) { return CUDA_SUCCESS; }
API CUresult cuCtxGetCurrent(CUcontext* c) {
    *c = (CUcontext)&contexts[device];
    return CUDA_SUCCESS;
}
API CUresult cuCtxSetCurrent(CUcontext c) {
    if (c) device = (int)((char*)c - contexts);
    return CUDA_SUCCESS;
}
API CUresult cuCtxCreate_v2(CUcontext* c, unsigned, CUdevice d) {
    *c = (CUcontext)&contexts[d];
    device = d;
    return CUDA_SUCCESS;
}
API CUresult cuCtxDestroy_v2(CUcontext) { return CUDA_SUCCESS; }
API CUresult cuCtxGetDevice(CUdevice* d) {
    *d = device;
    return CUDA_SUCCESS;
}
API CUresult cuStreamGetCtx(CUstream s, CUcontext* c) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) return CUDA_ERROR_INVALID_HANDLE;
    *c = (CUcontext)&contexts[x->device];
    return CUDA_SUCCESS;
}
struct Linking {
    std::string text;
};
API CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* s) {
    *s = (CUlinkState) new Linking;
    return CUDA_SUCCESS;
}
API CUresult cuLinkAddData_v2(CUlinkState s, CUjitInputType type, void* data, size_t size, const char*, unsigned,
                              CUjit_option*, void**) {
    if (type != CU_JIT_INPUT_PTX || !((Linking*)s)->text.empty()) {
        tell("only one PTX text can be linked");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    ((Linking*)s)->text.assign((char*)data, size);
    return CUDA_SUCCESS;
}
API CUresult cuLinkAddFile_v2(CUlinkState, CUjitInputType, const char* path, unsigned, CUjit_option*, void**) {
    log("%s is not linked", path);
    return CUDA_SUCCESS;
}
API CUresult cuLinkComplete(CUlinkState s, void** image, size_t* size) {
    auto& t = ((Linking*)s)->text;
    *image = (void*)t.c_str();
    *size = t.size() + 1;
    return CUDA_SUCCESS;
}
API CUresult cuLinkDestroy(CUlinkState s) {
    delete (Linking*)s;
    return CUDA_SUCCESS;
}

API CUresult cuModuleLoadData(CUmodule* out, const void* image) {
    const char* text = (const char*)image;
    if (!memcmp(text,
                "\x7f"
                "ELF",
                4) ||
        *(const uint32_t*)image == 0xBA55ED50) {
        tell("a module is machine code, not PTX: set CUPY_COMPILE_WITH_PTX=1");
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    if (!compile) {
        tell("there is no compiler for PTX: import tests.emulator first");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    char path[4096];
    if (compile(text, path, sizeof path)) {
        tell("PTX cannot be run: %s", path);
        return CUDA_ERROR_INVALID_PTX;
    }
    Guard g(lock);
    static std::map<std::string, int> loaded;
    static int copies = 0;
    char again[4200];
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        tell("%s", dlerror());
        return CUDA_ERROR_INVALID_IMAGE;
    }
    auto variables = (const emu::Global* (*)())dlsym(library, "emu_variables");
    if (variables()->name && loaded[path]++) {  // it has variables, which every module has of its own
        snprintf(again, sizeof again, "%s.%d.%d", path, (int)getpid(), ++copies);
        std::string copy = std::string("cp '") + path + "' '" + again + "'";
        if (system(copy.c_str())) return CUDA_ERROR_INVALID_IMAGE;
        dlclose(library);
        library = dlopen(again, RTLD_NOW | RTLD_LOCAL);
        unlink(again);
        if (!library) return CUDA_ERROR_INVALID_IMAGE;
        variables = (const emu::Global* (*)())dlsym(library, "emu_variables");
    }
    auto kernels = (const emu::Kernel* (*)(emu::Api*))dlsym(library, "emu_kernels");
    auto m = new Module;
    m->library = library;
    m->device = device;
    api.collective = collective;
    api.block_sync = block_sync;
    api.fail = fail;
    api.range = range;
    api.leave = leave;
    api.grow = profile::grow;
    auto basics = (const emu::Basic* (*)())dlsym(library, "emu_basics");  // where kernels are counted
    for (auto k = kernels(&api); k->name; ++k)
        m->functions[k->name] = {k->name, k, (int)(SHARED_DEFAULT - k->shared), device, basics ? basics() : nullptr};
    for (auto v = variables(); v->name; ++v) {
        m->variables[v->name] = *v;
        blocks[(uintptr_t)v->address] = {v->size, MODULE, device, v->address};
        ++api.epoch;
    }
    *out = (CUmodule)m;
    return CUDA_SUCCESS;
}
API CUresult cuModuleLoad(CUmodule* out, const char* name) {
    FILE* f = fopen(name, "rb");
    if (!f) return CUDA_ERROR_FILE_NOT_FOUND;
    std::string text;
    char b[4096];
    size_t n;
    while ((n = fread(b, 1, sizeof b, f))) text.append(b, n);
    fclose(f);
    return cuModuleLoadData(out, text.c_str());
}
API CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }  // it may still be queued
API CUresult cuModuleGetFunction(CUfunction* f, CUmodule m, const char* name) {
    auto i = ((Module*)m)->functions.find(name);
    if (i == ((Module*)m)->functions.end()) return CUDA_ERROR_NOT_FOUND;
    *f = (CUfunction)&i->second;
    return CUDA_SUCCESS;
}
API CUresult cuModuleGetGlobal_v2(CUdeviceptr* p, size_t* n, CUmodule m, const char* name) {
    auto i = ((Module*)m)->variables.find(name);
    if (i == ((Module*)m)->variables.end()) return CUDA_ERROR_NOT_FOUND;
    if (p) *p = (CUdeviceptr)i->second.address;
    if (n) *n = i->second.size;
    return CUDA_SUCCESS;
}
API CUresult cuFuncGetAttribute(int* v, CUfunction_attribute a, CUfunction f) {
    auto* x = (Function*)f;
    switch ((int)a) {
        case 0: *v = x->kernel->most; break;
        case 1: *v = (int)x->kernel->shared; break;
        case 2:
        case 3:
        case 7: *v = 0; break;
        case 4: *v = 32; break;
        case 5:
        case 6: *v = 10 * MAJOR + MINOR; break;
        case 8: *v = x->dynamic; break;
        case 9: *v = -1; break;
        default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
API CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute a, int v) {
    auto* x = (Function*)f;
    if (a == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (v < 0 || v + x->kernel->shared > SHARED_OPTIN) return CUDA_ERROR_INVALID_VALUE;
        x->dynamic = v;
    } else if (a != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned dynamic, CUstream stream, void** params, void** extra) {
    Guard g(lock);
    auto* x = (Function*)f;
    if (sticky) return (CUresult)sticky;
    uint64_t threads = (uint64_t)bx * by * bz;
    if (!threads || !gx || !gy || !gz || gy > 65535 || gz > 65535 || gx > 0x7fffffffu || bz > 64 || threads > 1024) {
        tell("%s: invalid launch of (%u,%u,%u) blocks of (%u,%u,%u) threads", x->name.c_str(), gx, gy, gz, bx, by, bz);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (threads > (unsigned)x->kernel->most) {
        tell("%s: %d threads, but it was compiled for %d", x->name.c_str(), (int)threads, x->kernel->most);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (dynamic > (unsigned)std::max(0, x->dynamic)) {
        tell("%s: %u bytes of dynamic shared memory, of %d", x->name.c_str(), dynamic, x->dynamic);
        return CUDA_ERROR_INVALID_VALUE;
    }
    S s = stream_of(stream);
    if (!s || s->device != device || x->device != device) {
        tell("%s: a stream or module of another device", x->name.c_str());
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (extra || (x->kernel->n && !params)) return CUDA_ERROR_NOT_SUPPORTED;
    auto l = std::make_shared<Launch>();
    l->kernel = x->kernel;
    l->basics = x->basics;
    l->grid = {gx, gy, gz};
    l->block = {bx, by, bz};
    l->dynamic = dynamic;
    l->name = x->name;
    for (int i = 0; i < x->kernel->n; ++i) {  // params are aligned as the device would
        l->params.emplace_back(x->kernel->sizes[i]);
        memcpy(l->params.back().data(), params[i], x->kernel->sizes[i]);
    }
    push(s, [l] { run(*l); });
    return CUDA_SUCCESS;
}
API CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                       CUstream, void**) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* n, CUfunction f, int size, size_t dynamic) {
    size_t each = ((Function*)f)->kernel->shared + dynamic + 1024;
    *n = (int)std::min<size_t>({32, 2048u / (unsigned)std::max(1, size), SHARED_SM / each});
    return CUDA_SUCCESS;
}
API CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f, CUoccupancyB2DSize, size_t,
                                              int limit) {
    *block = std::min(((Function*)f)->kernel->most, limit ? limit : 1024);
    *grid = SMS * 2;
    return CUDA_SUCCESS;
}

// ---------------------------------------------------------------- runtime API: devices
API const char* cudaGetErrorName(cudaError_t e) {
    switch ((int)e) {
        case 0: return "cudaSuccess";
        case 1: return "cudaErrorInvalidValue";
        case 2: return "cudaErrorMemoryAllocation";
        case 100: return "cudaErrorNoDevice";
        case 101: return "cudaErrorInvalidDevice";
        case 400: return "cudaErrorInvalidResourceHandle";
        case 600: return "cudaErrorNotReady";
        case 700: return "cudaErrorIllegalAddress";
        case 704: return "cudaErrorPeerAccessAlreadyEnabled";
        case 705: return "cudaErrorPeerAccessNotEnabled";
        case 716: return "cudaErrorMisalignedAddress";
        case 719: return "cudaErrorLaunchFailure";
        case 801: return "cudaErrorNotSupported";
        default: return "cudaErrorUnknown";
    }
}
API const char* cudaGetErrorString(cudaError_t e) { return named(e).text; }
API cudaError_t cudaGetLastError() {
    int e = last;
    last = 0;
    return (cudaError_t)(sticky ? sticky : e);
}
#define RT API cudaError_t
#define GIVE(code) return (cudaError_t)bad(code)
RT cudaDriverGetVersion(int* v) {
    *v = CUDA_VERSION;
    return cudaSuccess;
}
RT cudaRuntimeGetVersion(int* v) {
    *v = CUDART_VERSION;
    return cudaSuccess;
}
RT cudaGetDevice(int* d) {
    *d = device;
    return cudaSuccess;
}
RT cudaGetDeviceCount(int* n) {
    *n = DEVICES;
    if (!DEVICES) GIVE(cudaErrorNoDevice);
    return cudaSuccess;
}
RT cudaSetDevice(int d) {
    if (!there(d)) GIVE(cudaErrorInvalidDevice);
    device = d;
    return cudaSuccess;
}
RT cudaDeviceSynchronize() {
    Guard g(lock);
    drain_all(device);
    GIVE(sticky);
}
RT cudaDeviceGetAttribute(int* v, cudaDeviceAttr a, int d) {
    if (!there(d)) GIVE(cudaErrorInvalidDevice);
    switch ((int)a) {
        case cudaDevAttrMaxThreadsPerBlock:
        case cudaDevAttrMaxBlockDimX:
        case cudaDevAttrMaxBlockDimY: *v = 1024; break;
        case cudaDevAttrMaxBlockDimZ: *v = 64; break;
        case cudaDevAttrMaxGridDimX: *v = 0x7fffffff; break;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ: *v = 65535; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *v = SHARED_DEFAULT; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *v = SHARED_OPTIN; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *v = SHARED_SM; break;
        case cudaDevAttrReservedSharedMemoryPerBlock: *v = 1024; break;
        case cudaDevAttrTotalConstantMemory: *v = 65536; break;
        case cudaDevAttrWarpSize: *v = 32; break;
        case cudaDevAttrMaxRegistersPerBlock:
        case cudaDevAttrMaxRegistersPerMultiprocessor: *v = 65536; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *v = 2048; break;
        case cudaDevAttrMaxBlocksPerMultiprocessor: *v = 32; break;
        case cudaDevAttrClockRate: *v = 1410000; break;
        case cudaDevAttrMultiProcessorCount: *v = SMS; break;
        case cudaDevAttrComputeCapabilityMajor: *v = MAJOR; break;
        case cudaDevAttrComputeCapabilityMinor: *v = MINOR; break;
        case cudaDevAttrL2CacheSize: *v = 40 << 20; break;
        case cudaDevAttrUnifiedAddressing:
        case cudaDevAttrConcurrentKernels:
        case cudaDevAttrManagedMemory:
        case cudaDevAttrConcurrentManagedAccess:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrMemoryPoolsSupported:
        case cudaDevAttrStreamPrioritiesSupported: *v = 1; break;
        default: *v = 0;
    }
    return cudaSuccess;
}
RT cudaGetDeviceProperties(cudaDeviceProp* p, int d) {
    if (!there(d)) GIVE(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Emulated device %d", VISIBLE[d]);
    memset(p->uuid.bytes, 0x40 + VISIBLE[d], 16);
    p->totalGlobalMem = TOTAL;
    p->sharedMemPerBlock = SHARED_DEFAULT;
    p->regsPerBlock = 65536;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = MAJOR;
    p->minor = MINOR;
    p->textureAlignment = 512;
    p->multiProcessorCount = SMS;
    p->canMapHostMemory = 1;
    p->concurrentKernels = 1;
    p->pciBusID = 1 + VISIBLE[d];
    p->asyncEngineCount = 3;
    p->unifiedAddressing = 1;
    p->memoryBusWidth = 5120;
    p->l2CacheSize = 40 << 20;
    p->maxThreadsPerMultiProcessor = 2048;
    p->streamPrioritiesSupported = 1;
    p->sharedMemPerMultiprocessor = SHARED_SM;
    p->regsPerMultiprocessor = 65536;
    p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->sharedMemPerBlockOptin = SHARED_OPTIN;
    p->maxBlocksPerMultiProcessor = 32;
    p->reservedSharedMemPerBlock = 1024;
    p->memoryPoolsSupported = 1;
    p->cooperativeLaunch = 1;
#if CUDART_VERSION < 13000
    p->clockRate = 1410000;
    p->memoryClockRate = 1215000;
#endif
    return cudaSuccess;
}
RT cudaDeviceGetByPCIBusId(int* d, const char* id) {
    unsigned bus = 0;
    if (sscanf(id, "%*x:%x", &bus) != 1) GIVE(cudaErrorInvalidDevice);
    auto found = std::find(VISIBLE.begin(), VISIBLE.end(), (int)bus - 1);
    if (found == VISIBLE.end()) GIVE(cudaErrorInvalidDevice);
    *d = (int)(found - VISIBLE.begin());
    return cudaSuccess;
}
RT cudaDeviceGetPCIBusId(char* id, int n, int d) {
    if (!there(d)) GIVE(cudaErrorInvalidDevice);
    snprintf(id, n, "0000:%02x:00.0", VISIBLE[d] + 1);
    return cudaSuccess;
}
RT cudaDeviceCanAccessPeer(int* can, int d, int e) {
    *can = PEERS && d != e && there(d) && there(e);
    return cudaSuccess;
}
RT cudaDeviceEnablePeerAccess(int d, unsigned) {
    static bool enabled[64][64];
    if (!there(d) || !PEERS) GIVE(cudaErrorInvalidDevice);
    bool& e = enabled[device][d];
    if (e) GIVE(cudaErrorPeerAccessAlreadyEnabled);
    e = true;
    return cudaSuccess;
}
RT cudaDeviceDisablePeerAccess(int) { return cudaSuccess; }
static size_t limits[16] = {1024, 1 << 20, 8 << 20, 0, 0, 128, 0};
RT cudaDeviceGetLimit(size_t* v, cudaLimit l) {
    if ((unsigned)l > 15) GIVE(1);
    *v = limits[l];
    return cudaSuccess;
}
RT cudaDeviceSetLimit(cudaLimit l, size_t v) {
    if ((unsigned)l > 15) GIVE(1);
    limits[l] = v;
    return cudaSuccess;
}

// ---------------------------------------------------------------- memory
RT cudaMalloc(void** p, size_t n) {
    Guard g(lock);
    if (sticky) GIVE(sticky);
    GIVE(allocate(p, n, DEVICE, device));
}
RT cudaMallocManaged(void** p, size_t n, unsigned) {
    Guard g(lock);
    GIVE(allocate(p, n, MANAGED, device));
}
static int allocate_in_turn(void** p, size_t n) {
    int e = allocate(p, n, DEVICE, device);
    if (!e) return e;
    drain_all(device);  // a pool waits for memory that streams will free
    return allocate(p, n, DEVICE, device);
}
RT cudaMallocAsync(void** p, size_t n, cudaStream_t) {
    Guard g(lock);
    GIVE(allocate_in_turn(p, n));
}
RT cudaMallocFromPoolAsync(void** p, size_t n, cudaMemPool_t, cudaStream_t) {
    Guard g(lock);
    GIVE(allocate_in_turn(p, n));
}
RT cudaHostAlloc(void** p, size_t n, unsigned) {
    Guard g(lock);
    GIVE(allocate(p, n, PINNED, device));
}
RT cudaHostRegister(void* p, size_t n, unsigned) {
    Guard g(lock);
    blocks[(uintptr_t)p] = {n, REGISTERED, device, p};
    return cudaSuccess;
}
RT cudaHostUnregister(void* p) {
    Guard g(lock);
    drain_all(device);
    blocks.erase((uintptr_t)p);
    ++api.epoch;
    return cudaSuccess;
}
RT cudaFree(void* p) {
    Guard g(lock);
    for (int d = 0; d < DEVICES; ++d) drain_all(d);
    int e = release(p, false);
    GIVE(sticky ? sticky : e);
}
RT cudaFreeHost(void* p) {
    Guard g(lock);
    for (int d = 0; d < DEVICES; ++d) drain_all(d);
    int e = release(p, true);
    GIVE(sticky ? sticky : e);
}
RT cudaFreeAsync(void* p, cudaStream_t s) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    push(x, [p] { release(p, false); });
    GIVE(sticky);
}
RT cudaMemGetInfo(size_t* f, size_t* t) {
    Guard g(lock);
    *f = TOTAL - used[device];
    *t = TOTAL;
    return cudaSuccess;
}
static int check(const void* p, size_t n, bool must) {
    auto b = find(p);
    bool dev = b && (b->second.kind == DEVICE || b->second.kind == MANAGED || b->second.kind == MODULE);
    if (must && !dev) {
        tell("memory of the device was expected at %p, which is none", p);
        return cudaErrorInvalidValue;
    }
    if (b && n && (uintptr_t)p + n > b->first + b->second.size) {
        tell("%zu bytes at %p are copied or set, of %zu", n, p, (size_t)(b->first + b->second.size - (uintptr_t)p));
        return cudaErrorInvalidValue;
    }
    return 0;
}
static int copy(void* dst, const void* src, size_t n, cudaMemcpyKind kind, const S& s, bool wait) {
    if (sticky) return sticky;
    if (!n) return 0;
    if (!s) return cudaErrorInvalidResourceHandle;
    if (int e = check(dst, n, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice)) return e;
    if (int e = check(src, n, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)) return e;
    if ((kind == cudaMemcpyHostToDevice && on_device(src) && find(src)->second.kind != MANAGED) ||
        (kind == cudaMemcpyDeviceToHost && on_device(dst) && find(dst)->second.kind != MANAGED)) {
        tell("a copy in the wrong direction: kind %d", (int)kind);
        return cudaErrorInvalidValue;
    }
    bool from_host = !on_device(src), to_host = !on_device(dst);
    if (from_host != to_host) copied[to_host] += n;
    if (from_host && pageable(src)) {  // it is staged: the source may change after the call
        auto staged = std::make_shared<std::vector<char>>((const char*)src, (const char*)src + n);
        push(s, [=] { memcpy(dst, staged->data(), n); });
    } else {
        auto a = find(src), b = find(dst);
        int one = a ? a->second.device : s->device, two = b ? b->second.device : s->device;
        if (!from_host && !to_host && one != two && SERIAL &&
            s == defaults[s->device]) {  // waits for both devices, and both wait for it
            std::vector<S> all;
            std::vector<std::pair<S, uint64_t>> after;
            for (int d : {one, two}) {
                int kept = device;
                device = d;
                all.push_back(stream_of(nullptr));
                device = kept;
            }
            for (auto& [_, x] : streams)
                if (x->device == one || x->device == two) all.push_back(x);
            for (auto& x : all)
                if (x != s && x->tail > x->done) after.push_back({x, x->tail});
            push(s, [=] { memmove(dst, src, n); }, after);
            for (auto& x : all)
                if (x != s) push(x, [] {}, {{s, s->tail}});
        } else
            push(s, [=] { memmove(dst, src, n); });
    }
    if ((to_host && pageable(dst)) || (wait && (from_host || to_host))) drain(s, s->tail);
    return sticky;
}
RT cudaMemcpy(void* d, const void* s, size_t n, cudaMemcpyKind k) {
    Guard g(lock);
    GIVE(copy(d, s, n, k, stream_of(nullptr), true));
}
RT cudaMemcpyAsync(void* d, const void* s, size_t n, cudaMemcpyKind k, cudaStream_t st) {
    Guard g(lock);
    GIVE(copy(d, s, n, k, stream_of(st), false));
}
RT cudaMemcpyPeer(void* d, int, const void* s, int, size_t n) {
    Guard g(lock);
    for (int i = 0; i < DEVICES; ++i) drain_all(i);
    GIVE(copy(d, s, n, cudaMemcpyDeviceToDevice, stream_of(nullptr), true));
}
RT cudaMemcpyPeerAsync(void* d, int, const void* s, int, size_t n, cudaStream_t st) {
    Guard g(lock);
    GIVE(copy(d, s, n, cudaMemcpyDeviceToDevice, stream_of(st), false));
}
static int copy2(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, cudaMemcpyKind k, cudaStream_t st,
                 bool wait) {
    for (size_t i = 0; i < h; ++i)
        if (int e = copy((char*)d + i * dp, (const char*)s + i * sp, w, k, stream_of(st), wait)) return e;
    return 0;
}
RT cudaMemcpy2D(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, cudaMemcpyKind k) {
    Guard g(lock);
    GIVE(copy2(d, dp, s, sp, w, h, k, nullptr, true));
}
RT cudaMemcpy2DAsync(void* d, size_t dp, const void* s, size_t sp, size_t w, size_t h, cudaMemcpyKind k,
                     cudaStream_t st) {
    Guard g(lock);
    GIVE(copy2(d, dp, s, sp, w, h, k, st, false));
}
static int set(void* p, int v, size_t n, cudaStream_t st) {
    if (sticky) return sticky;
    if (!n) return 0;
    S s = stream_of(st);
    if (!s) return 400;
    if (int e = check(p, n, true)) return e;
    push(s, [=] {
        memset(p, v, n);
        profile::touch("fill", (char*)p, n, 2);
    });
    return sticky;
}
RT cudaMemset(void* p, int v, size_t n) {
    Guard g(lock);
    GIVE(set(p, v, n, nullptr));
}
RT cudaMemsetAsync(void* p, int v, size_t n, cudaStream_t s) {
    Guard g(lock);
    GIVE(set(p, v, n, s));
}
RT cudaPointerGetAttributes(cudaPointerAttributes* a, const void* p) {
    Guard g(lock);
    memset(a, 0, sizeof *a);
    auto b = find(p);
    if (!b) {
        a->type = cudaMemoryTypeUnregistered;
        a->device = -2;
        a->hostPointer = (void*)p;
        return cudaSuccess;
    }
    Kind k = b->second.kind;
    a->device = b->second.device;
    a->type = k == MANAGED                     ? cudaMemoryTypeManaged
              : k == PINNED || k == REGISTERED ? cudaMemoryTypeHost
                                               : cudaMemoryTypeDevice;
    a->devicePointer = (void*)p;
    a->hostPointer = k == DEVICE || k == MODULE ? nullptr : (void*)p;
    return cudaSuccess;
}
static char pools[64];
RT cudaDeviceGetDefaultMemPool(cudaMemPool_t* p, int d) {
    *p = (cudaMemPool_t)&pools[d];
    return cudaSuccess;
}
RT cudaDeviceGetMemPool(cudaMemPool_t* p, int d) {
    *p = (cudaMemPool_t)&pools[d];
    return cudaSuccess;
}
RT cudaDeviceSetMemPool(int, cudaMemPool_t) { return cudaSuccess; }
RT cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }
RT cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* v) {
    *(uint64_t*)v = 0;
    return cudaSuccess;
}
RT cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }

// ---------------------------------------------------------------- streams and events
RT cudaStreamCreateWithPriority(cudaStream_t* s, unsigned flags, int priority) {
    Guard g(lock);
    stream_of(nullptr);
    auto x = std::make_shared<Stream>(Stream{device, !(flags & cudaStreamNonBlocking), flags, priority});
    *s = (cudaStream_t)malloc(16);
    streams[*s] = x;
    return cudaSuccess;
}
RT cudaStreamCreateWithFlags(cudaStream_t* s, unsigned flags) { return cudaStreamCreateWithPriority(s, flags, 0); }
RT cudaStreamCreate(cudaStream_t* s) { return cudaStreamCreateWithPriority(s, 0, 0); }
RT cudaStreamGetFlags(cudaStream_t s, unsigned* f) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    *f = x->flags;
    return cudaSuccess;
}
RT cudaStreamGetPriority(cudaStream_t s, int* p) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    *p = x->priority;
    return cudaSuccess;
}
RT cudaStreamDestroy(cudaStream_t s) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x || (uintptr_t)s <= 2) GIVE(400);
    drain(x, x->tail);
    streams.erase(s);
    return cudaSuccess;
}  // what it has queued still runs
RT cudaStreamSynchronize(cudaStream_t s) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    drain(x, x->tail);
    GIVE(sticky);
}
static int query(const S& s, uint64_t upto) {  // work goes on only for those who ask again and again
    static int asked = 0;
    if (s->done >= upto || s->queue.empty()) return sticky;
    if (++asked % 64 == 0) drain(s, s->done + 1);
    return cudaErrorNotReady;
}
RT cudaStreamQuery(cudaStream_t s) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    return (cudaError_t)query(x, x->tail);
}
RT cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned) {
    Guard g(lock);
    S x = stream_of(s);
    auto i = events.find(e);
    if (!x || i == events.end()) GIVE(400);
    if (i->second->recorded) push(x, [] {}, {{i->second->stream, i->second->number}});
    GIVE(sticky);
}
RT cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t f, void* data, unsigned) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    push(x, [=] { f(s, cudaSuccess, data); });
    return cudaSuccess;
}
RT cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t f, void* data) {
    Guard g(lock);
    S x = stream_of(s);
    if (!x) GIVE(400);
    push(x, [=] { f(data); });
    return cudaSuccess;
}
RT cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* c) {
    *c = cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
RT cudaEventCreateWithFlags(cudaEvent_t* e, unsigned flags) {
    Guard g(lock);
    *e = (cudaEvent_t)malloc(16);
    events[*e] = std::make_shared<Event>(Event{device, flags});
    return cudaSuccess;
}
#undef cudaEventCreate
RT cudaEventCreate(cudaEvent_t* e) { return cudaEventCreateWithFlags(e, 0); }
RT cudaEventDestroy(cudaEvent_t e) {
    Guard g(lock);
    if (!events.erase(e)) GIVE(400);
    return cudaSuccess;
}
RT cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    Guard g(lock);
    auto i = events.find(e);
    S x = stream_of(s);
    if (!x || i == events.end()) GIVE(400);
    if (i->second->device != x->device) {
        tell("an event of device %d is recorded on a stream of device %d", i->second->device, x->device);
        GIVE(400);
    }
    auto v = i->second;
    v->stream = x;
    v->recorded = true;
    v->number = x->tail + 1;
    push(x, [v] { v->time = now(); });
    GIVE(sticky);
}
RT cudaEventSynchronize(cudaEvent_t e) {
    Guard g(lock);
    auto i = events.find(e);
    if (i == events.end()) GIVE(400);
    if (i->second->recorded) drain(i->second->stream, i->second->number);
    GIVE(sticky);
}
RT cudaEventQuery(cudaEvent_t e) {
    Guard g(lock);
    auto i = events.find(e);
    if (i == events.end()) GIVE(400);
    return (cudaError_t)(i->second->recorded ? query(i->second->stream, i->second->number) : sticky);
}
RT cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
    Guard g(lock);
    auto i = events.find(a), j = events.find(b);
    if (i == events.end() || j == events.end() || !i->second->recorded || !j->second->recorded) GIVE(400);
    if ((i->second->flags | j->second->flags) & cudaEventDisableTiming) GIVE(400);
    *ms = (float)(j->second->time - i->second->time);
    return cudaSuccess;
}
RT cudaProfilerStart() { return cudaSuccess; }
RT cudaProfilerStop() { return cudaSuccess; }
